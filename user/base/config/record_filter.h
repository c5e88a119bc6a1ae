/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * record_filter: the part of a filter expression that BPF can decide while recording. Pure.
 *
 * An expression chooses events, tasks, or both: EVENTS, TASKS, EVENTS && TASKS. EVENTS is anything that the
 * event's name alone decides; TASKS is pid == N, comm == "NAME" and comm ~ "PREFIX*", joined by ||. Everything else is
 * refused with the reason: replay evaluates the whole language.
 */
#ifndef FR_RECORD_FILTER_H
#define FR_RECORD_FILTER_H

#include "base/filter/filter.h"
#include "session.h"

struct fr_record_filter {
	bool event[FR_EVENT_MAX]; /* may be recorded */
	u32 pid[FR_PID_FILTER_MAX];
	u32 pid_cnt;
	struct fr_comm_filter comm[FR_COMM_FILTER_MAX];
	u32 comm_cnt;
};

/* Returns 0 and *out; -EINVAL and *error: wrong, or BPF cannot decide it; -ENOMEM. */
int fr_record_filter(const char *expr, struct fr_record_filter *out, struct fr_filter_error *error);

#endif
