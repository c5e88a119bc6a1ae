/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * softirqs: what the kernel counts of softirqs itself, whether they are recorded or not: how many of each vector, and how long
 * they ran on each CPU, as a rule by the tick of the clock that found one running. Both since the machine began.
 */
#ifndef FR_SOFTIRQS_H
#define FR_SOFTIRQS_H

#include <stddef.h>

#define FR_SOFTIRQS_SZ 8000 /* is enough for either text, of some 450 CPUs; a fact has room for it */

/* "HI=0;TIMER=4711;...", of all CPUs; "0=120;1=30", ms of each CPU that is online. 0, or -errno: it is not known, or has no
 * room; text is empty then. */
int fr_softirqs_read(char *text, size_t sz);
int fr_softirqs_read_ms(char *text, size_t sz);

#endif
