/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * record_filter: what of a filter expression can be decided while recording, in BPF. Pure.
 *
 * An expression is a choice of events, of tasks, or both: EVENTS, TASKS, EVENTS && TASKS. EVENTS is anything that the
 * event's name alone decides; TASKS is pid == N, comm == "NAME" and comm ~ "PREFIX*", joined by ||. Everything else is
 * refused with the reason: replay evaluates all of the language.
 */
#ifndef FR_RECORD_FILTER_H
#define FR_RECORD_FILTER_H

#include "pure/filter/filter.h"
#include "session.h"

#define FR_PID_FILTER_MAX 1024u

struct fr_record_filter {
	bool event[FR_EVENT_MAX]; /* may be recorded */
	u32 pid[FR_PID_FILTER_MAX];
	u32 pid_cnt;
	struct fr_comm_filter comm[FR_COMM_FILTER_MAX];
	u32 comm_cnt;
};

/* 0 and *out; -EINVAL and *error: wrong, or not to be decided in BPF; -ENOMEM. */
int fr_record_filter(const char *expr, struct fr_record_filter *out, struct fr_filter_error *error);

#endif
