/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tail_know: what a tail knows around the events: names, stacks, cgroups. From the session's task table and what is in the
 * rings, then from what comes; all anew when it has grown too much, or something was skipped.
 */
#ifndef FR_TAIL_KNOW_H
#define FR_TAIL_KNOW_H

#include "flow/snapshot/lapbatch.h"
#include "io/session/sess.h"
#include "pure/text/view.h"

struct fr_know {
	struct fr_sess *s;
	struct fr_lapbatch *lapbatch; /* the tail's */
	struct fr_names *names;
	struct fr_stacks *stacks;
	struct fr_cgroups *cgroups; /* NULL: nobody asks */
	bool with_cgroups;
	bool unready;	/* names came: they are to be put in order */
	bool stale;	/* something was skipped */
	u64 learnt;	/* rows since it was loaded */
	u64 in_vain_ns; /* CLOCK_MONOTONIC: when the task table did not know a task either, 0 */
};

/* Load all; what was known before is dropped, unless that fails. 0 or -errno. */
int fr_know_load(struct fr_know *k);
void fr_know_free(struct fr_know *k);

/* Of the tier that tells names, and of that of stacks. 0 or -ENOMEM. */
int fr_know_names(struct fr_know *k, const struct fr_batch *b);
int fr_know_stacks(struct fr_know *k, const struct fr_batch *b);

/* Before it is asked. 0 or -errno. */
int fr_know_ready(struct fr_know *k);

/* The task of a row is not known: look for it in the task table, unless that was in vain a moment ago. 0 or -ENOMEM. */
int fr_know_look(struct fr_know *k, u32 tid, u64 ts);

/* Point v at what is known. */
void fr_know_view(const struct fr_know *k, struct fr_view *v);

#endif
