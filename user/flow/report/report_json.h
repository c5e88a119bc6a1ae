/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_json: shared by its parts: report_json.c has the tables, report_json_focus.c has the trigger and the file. */
#ifndef FR_REPORT_JSON_H
#define FR_REPORT_JSON_H

#include "flow/report/report.h"
#include "pure/text/jsonw.h"

/* Write key: the figures of a histogram in ns; with its buckets that are not empty, if asked. */
void fr_report_put_hist(struct fr_jsonw *w, const char *key, const struct fr_hist *h, bool buckets);

/* Write keys of the open object: the waker (nr: tid, interrupt or softirq); what a task was in when it left its CPU. */
void fr_report_put_by(struct fr_jsonw *w, u8 by, u32 nr);
void fr_report_put_in(struct fr_jsonw *w, const struct fr_report *r, u16 state, u8 in, u8 abi, s32 id);

/* Write the keys of the open object that these parts are. */
void fr_report_json_trigger(struct fr_jsonw *w, const struct fr_report *r);
void fr_report_json_focus(struct fr_jsonw *w, struct fr_report *r);
void fr_report_json_cpus(struct fr_jsonw *w, const struct fr_report *r);
void fr_report_json_health(struct fr_jsonw *w, const struct fr_report *r);

#endif
