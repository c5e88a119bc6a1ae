/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tail_know: what a tail knows around the events: names, stacks, cgroups. It starts with the session's task table and the
 * rings' contents, then learns from new records; it is loaded again when it has grown too large, or records were skipped.
 */
#ifndef FR_TAIL_KNOW_H
#define FR_TAIL_KNOW_H

#include "base/rows/view.h"
#include "live/session/sess.h"
#include "read/cut/lapbatch.h"

struct fr_know {
	struct fr_sess *s;
	struct fr_lapbatch *lapbatch; /* the tail's */
	struct fr_names *names;
	struct fr_stacks *stacks;
	struct fr_cgroups *cgroups; /* NULL: not needed */
	bool with_cgroups;
	bool unready;	/* names were added: they must be sorted */
	bool stale;	/* records were skipped */
	u64 learnt;	/* rows since it was loaded */
	u64 in_vain_ns; /* CLOCK_MONOTONIC: when the task table did not know a task either, 0 */
};

/* Load everything, dropping what was known before unless that fails. 0 or -errno. */
int fr_know_load(struct fr_know *k);
void fr_know_free(struct fr_know *k);

/* Learn from rows of the tier that has names, and of that with stacks. 0 or -ENOMEM. */
int fr_know_names(struct fr_know *k, const struct fr_batch *b);
int fr_know_stacks(struct fr_know *k, const struct fr_batch *b);

/* Call it before lookups. 0 or -errno. */
int fr_know_ready(struct fr_know *k);

/* The task of a row is unknown: look for it in the task table, unless that failed a moment ago. 0 or -ENOMEM. */
int fr_know_look(struct fr_know *k, u32 tid, u64 ts);

/* Let v use what is known. */
void fr_know_view(const struct fr_know *k, struct fr_view *v);

#endif
