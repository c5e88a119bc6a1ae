/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* softirqs_text: what the kernel itself counts of softirqs, in words, from a snapshot's facts. */
#ifndef FR_SOFTIRQS_TEXT_H
#define FR_SOFTIRQS_TEXT_H

#include <stdbool.h>

#include "base/text/out.h"

/* The facts; NULL: there is none. */
struct fr_softirqs_told {
	const char *cnt_begin, *cnt; /* softirqs_begin, softirqs */
	const char *ms_begin, *ms;   /* softirq_ms_begin, softirq_ms */
};

/*
 * "4,711 NET_RX, 815 TIMER": the vectors that came at all, sep between them, counts so wide. False, and nothing: there are
 * none, or it is not known.
 */
bool fr_softirqs_put_counts(struct fr_out *o, const struct fr_softirqs_told *t, int width, const char *sep);

/* "CPU 0 1.2 s, CPU 1 30 ms"; of more than some CPUs, the sum, and those with most. Nothing where it is not known. */
void fr_softirqs_put_time(struct fr_out *o, const struct fr_softirqs_told *t);

/* How exact the time is. */
#define FR_SOFTIRQS_STEP "in steps of a tick"

#endif
