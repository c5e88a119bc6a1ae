/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* flood: what flood.c writes and laps.c checks. */
#ifndef FR_TESTS_FLOOD_H
#define FR_TESTS_FLOOD_H

#define FLOOD_NR  1003 /* no such system call: six arguments n, ~n, n * KEY, n ^ KEY, n + KEY, cpu */
#define FLOOD_KEY 0x9e3779b97f4a7c15ul

#endif
