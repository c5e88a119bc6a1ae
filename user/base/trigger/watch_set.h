/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch_set: a filter expression as programs that BPF runs (bpf/watch.h), one for each event for which it may hold. Pure.
 *
 * They decide as fr_filter_match() does on the same event read back (tests/unit/test_watch.c compares the two). What BPF cannot
 * know is refused, with its place and the reason: names of other tasks, samples and stacks, the recorder's own marks, the tier,
 * comparisons of two texts.
 */
#ifndef FR_WATCH_SET_H
#define FR_WATCH_SET_H

#include "base/filter/filter.h"
#include "watch.h"

#define FR_WATCH_EVENT_MAX 8u /* that one expression may watch: more is a forgotten `event ==` */

/* Programs of all rules, ordered by event after fr_watch_ready(). Empty if all zero. */
struct fr_watch_set {
	struct fr_watch_prog *prog;
	u32 prog_cnt;
	struct fr_watch_table *table;
	u32 table_cnt;
	struct fr_watch_of of[FR_EVENT_MAX];
};

/*
 * Add the expression of a rule, for a machine of that arch. Returns 0; -EINVAL and *error: wrong, or BPF cannot decide it;
 * -ENOMEM. What was added before stays in any case.
 */
int fr_watch_add(struct fr_watch_set *s, u32 rule, const char *expr, const char *arch, struct fr_filter_error *error);

/* The same of a schema that has one event alone; its machine and words are the file's. */
int fr_watch_add_one(struct fr_watch_set *s, u32 rule, const char *expr, const struct fr_filter_file *file,
		     struct fr_filter_error *error);

/*
 * Add a condition on event nr of a schema, whose fields alone it may use. Returns 0 and in *prog its number in the set, or
 * FR_WATCH_ALWAYS: it holds for each; -EINVAL and *error: wrong, or BPF cannot decide it, or it never holds; -ENOMEM. file: its
 * schema, machine and words.
 */
#define FR_WATCH_ALWAYS (~0u)
int fr_watch_add_for(struct fr_watch_set *s, u32 nr, const char *expr, const struct fr_filter_file *file, u32 *prog,
		     struct fr_filter_error *error);

/* All are added: sort them, so that of[event] names an event's programs. */
void fr_watch_ready(struct fr_watch_set *s);

void fr_watch_free(struct fr_watch_set *s); /* leaves it empty */

/* Can this expression be watched? Returns as fr_watch_add(). */
int fr_watch_check(const char *expr, const char *arch, struct fr_filter_error *error);

/* By the event's name alone: why it cannot be watched, NULL if it can. */
const char *fr_watch_refuses(const struct fr_event *ev);

#endif
