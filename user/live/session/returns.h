/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* returns: does the kernel protect its returns, so that each call of a helper costs 20 ns and more (docs/notes/hotpath.md)? */
#ifndef FR_RETURNS_H
#define FR_RETURNS_H

#include <stdbool.h>

/* Of the running kernel. */
bool fr_returns_are_slow(void);

/* Of one that says this of SRSO in sysfs (arch/x86/kernel/cpu/bugs.c, srso_strings). */
bool fr_returns_are_slow_with(const char *srso);

#endif
