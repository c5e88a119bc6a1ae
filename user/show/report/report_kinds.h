/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_kinds: what a report shows of each kind of record: base/show/table.h. All of them are of a struct fr_report. */
#ifndef FR_REPORT_KINDS_H
#define FR_REPORT_KINDS_H

#include "base/show/table.h"
#include "show/report/report.h"

/* Records: the struct fr_an_... of that name. */
extern const struct fr_table fr_report_kind_task, fr_report_kind_process, fr_report_kind_cgroup, fr_report_kind_program,
	fr_report_kind_container, fr_report_kind_wait, fr_report_kind_reason, fr_report_kind_call, fr_report_kind_error,
	fr_report_kind_block, fr_report_kind_irq, fr_report_kind_softirq, fr_report_kind_cpu;

extern const struct fr_table fr_report_kind_focus;   /* struct fr_an_focus */
extern const struct fr_table fr_report_kind_verdict; /* struct fr_finding */
extern const struct fr_table fr_report_kind_changes; /* struct fr_changes */
extern const struct fr_table fr_report_kind_waits;   /* struct fr_waits */
extern const struct fr_table fr_report_kind_states;  /* of the report itself, as the next one */
extern const struct fr_table fr_report_kind_klog;
extern const struct fr_table fr_report_kind_scene;
extern const struct fr_table fr_report_kind_said;

extern const struct fr_table fr_report_kind_rare;
extern const struct fr_table fr_report_kind_counters;
extern const struct fr_table fr_report_kind; /* struct fr_report: all of it */

/* What a task was in when it left its CPU. */
struct fr_report_in {
	u16 state;
	u8 in; /* enum fr_span_in */
	u8 abi;
	s32 id;
};
extern const struct fr_table fr_report_kind_in;

/* Who woke it. */
struct fr_report_by {
	u8 by;	/* enum fr_span_by */
	u32 nr; /* tid, number of the interrupt or softirq */
};
extern const struct fr_table fr_report_kind_by;

/* What woke it in words, if that is no task but the idle one: "irq virtio1-req.0", "a timer". Escape them. */
#define FR_REPORT_BY_SZ 32u
const char *fr_report_by_words(const struct fr_report *r, const struct fr_report_by *b, char text[FR_REPORT_BY_SZ]);

/* Values of several kinds: the comm of a tid at a time; a fact of the file, whose name is the column's arg. */
struct fr_value fr_report_comm(const struct fr_report *r, u32 tid, u64 ts, u16 cpu);
struct fr_value fr_report_fact(const struct fr_at *at);
struct fr_value fr_report_fact_nr(const struct fr_at *at);

#endif
