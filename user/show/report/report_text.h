/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_text: shared by its parts: report_text.c assembles the report, _focus has the trigger, _states, _waits, _lanes,
 * _tables, _draw. */
#ifndef FR_REPORT_TEXT_H
#define FR_REPORT_TEXT_H

#include "show/report/report.h"

#define FR_REPORT_LABEL_COLS 13u /* of a label at the begin of a line */

struct fr_report_page {
	struct fr_report *r;
	struct fr_out *o;
	u32 width; /* columns of the page */
	bool fits; /* the output has a limited width: cut tables and timelines there */
};

/* ---- pieces (report_draw.c) ---- */

void fr_report_title(struct fr_report_page *p, const char *title, const char *note);
const char *fr_report_moment_name(const struct fr_report_page *p); /* what times are compared with, as people call it */
void fr_report_label(struct fr_report_page *p, const char *label);
void fr_report_count(struct fr_out *o, u64 v, int width); /* 1,234; right-aligned in width columns, 0: unpadded */
void fr_report_duration(struct fr_out *o, u64 ns, int width);
/* Untrusted text in a number of columns: truncated with a dot, or padded. 0: unchanged. */
void fr_report_cell(struct fr_out *o, const char *s, size_t len, u32 width);
void fr_report_who(struct fr_report_page *p, u32 tid, u64 ts, u16 cpu); /* comm/tid */
void fr_report_share(struct fr_out *o, u64 part, u64 whole);		/* 12.3 % in 7 columns */
/* A histogram: its figures, and, if they are asked for, its bars, one line per power of two; prints nothing if it is empty. */
void fr_report_hist(struct fr_report_page *p, const char *title, const struct fr_hist *h);

/* ---- of a wait, or one that goes on (report_text_waits.c) ---- */

void fr_report_wait_who(struct fr_report_page *p, const struct fr_waited *w, bool with_tid);
void fr_report_wait_state(struct fr_report_page *p, const struct fr_waited *w);
void fr_report_wait_call(struct fr_report_page *p, const struct fr_waited *w);
void fr_report_wait_waker(struct fr_report_page *p, const struct fr_waited *w, bool with_tid);
void fr_report_wait_place(struct fr_report_page *p, const struct fr_waited *w); /* on its object, in these kernel functions */

/* ---- parts ---- */

/* In this order on the page; each prints nothing where there is nothing to say. */
void fr_report_put_verdict(struct fr_report_page *p);
void fr_report_put_trigger(struct fr_report_page *p);
void fr_report_put_beside(struct fr_report_page *p);	/* other snapshots of this moment */
void fr_report_put_klog_line(struct fr_report_page *p); /* what there is of the kernel log (report_klog.c) */
void fr_report_put_counters(struct fr_report_page *p);	/* those that moved notably around the trigger (report_counters.c) */
void fr_report_put_klog(struct fr_report_page *p);	/* its lines around the trigger */
void fr_report_put_said(struct fr_report_page *p); /* the end of what the process wrote to standard error (report_said.c) */
void fr_report_put_rare_line(struct fr_report_page *p);			   /* what there is of rare events (report_rare.c) */
void fr_report_put_rare(struct fr_report_page *p);			   /* of what, how often, how long */
void fr_report_counters_words(struct fr_report *r, char *text, size_t sz); /* in a line of what changed; empty: nothing */
void fr_report_rare_words(struct fr_report *r, u64 from_ns, u64 to_ns, char *text, size_t sz);
void fr_report_put_task(struct fr_report_page *p);
void fr_report_put_waits_line(struct fr_report_page *p); /* how many there are, and what is not known of others */
void fr_report_put_states(struct fr_report_page *p);
void fr_report_put_waits(struct fr_report_page *p);
void fr_report_put_focus(struct fr_report_page *p);
void fr_report_put_scene(struct fr_report_page *p); /* what the process had as it died (report_scene.c) */
void fr_report_put_timeline(struct fr_report_page *p);
void fr_report_put_tables(struct fr_report_page *p);
void fr_report_put_samples(struct fr_report_page *p);
void fr_report_put_health(struct fr_report_page *p);

#endif
