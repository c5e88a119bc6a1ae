/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * softirqs: what the kernel counts of softirqs itself, whether they are recorded or not: how many of each vector, and how long
 * all of them ran, by the tick of the clock that found one running.
 */
#ifndef FR_SOFTIRQS_H
#define FR_SOFTIRQS_H

#include <stddef.h>

#define FR_SOFTIRQS_SZ 512 /* is enough for the text */

/*
 * "HI=0;TIMER=4711;...;time_ms=120", since the machine began, of all CPUs. 0, or -errno: it is not known, or has no room; text
 * is empty then.
 */
int fr_softirqs_read(char *text, size_t sz);

#endif
