/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * format_json: events as NDJSON, one object per line. Pure.
 *
 *	{"ts":8123456789,"cpu":1,"event":"sched_waking","pid":71,"tid":71,"comm":"nginx","target_comm":"worker",...}
 *
 * Integers are exact, and unsigned if their type is; unknown values are null. Bytes that are not text: see escape.h.
 */
#ifndef FR_FORMAT_JSON_H
#define FR_FORMAT_JSON_H

#include "base/rows/stacktexts.h"
#include "base/rows/view.h"
#include "base/text/out.h"

struct fr_json; /* opaque: what does not change from row to row */

/* For events of s, which must live as long. with_pos: add "pos":{"epoch","tier","seq","offset"}. NULL: no memory. */
struct fr_json *fr_json_new(const struct fr_schema *s, bool with_pos);

/*
 * From now on, after each stack, as "kstack":[...], its frames in words: "kstack_sym":["inner+0x1","outer+0x2"]; unknown: null.
 */
void fr_json_stacks(struct fr_json *j, struct fr_stacktexts stacks);

/* From now on numbers that have names are those, "id":"openat"; and each row has its time,
 * "wall":"2026-01-31T14:02:11.500000000Z". */
void fr_json_words(struct fr_json *j, bool words, bool wall);
void fr_json_free(struct fr_json *j); /* NULL is fine */

/* Write a row as a line of NDJSON (docs/json.md). v: that of its file. */
void fr_json_row(const struct fr_json *j, struct fr_out *o, const struct fr_view *v, const struct fr_row *r);

#endif
