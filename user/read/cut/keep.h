/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keep: what to keep of a snapshot when it is cut: a bit for each event, and the sources of names and stacks: tasks and stacks
 * that the kept events refer to.
 */
#ifndef FR_KEEP_H
#define FR_KEEP_H

#include "read/snapfile/snapfile.h"

struct fr_keep; /* opaque */

/* For s, which must live as long. NULL: no memory. */
struct fr_keep *fr_keep_new(const struct fr_snap *s);
void fr_keep_free(struct fr_keep *k); /* NULL is fine */

/* Keep a row of one of fr_snap_chunks(). 0 or -ENOMEM. */
int fr_keep_row(struct fr_keep *k, const struct fr_row *r);

/* Keep what is known about a task. */
void fr_keep_task(struct fr_keep *k, u32 tid);

/* Keep state i of fr_snap_states(), and what is known about its task, its waker and its stack. 0 or -ENOMEM. */
int fr_keep_state(struct fr_keep *k, size_t i);

/* Since when a task was in a state that is kept, where the file's switches tell it, not the state itself. 0 or -ENOMEM. */
int fr_keep_since(struct fr_keep *k, size_t i, u64 since_ns);

/*
 * After all rows: also keep what is known about their tasks' processes, about parents, and about tasks that share a cgroup with
 * them.
 */
int fr_keep_ready(struct fr_keep *k);

/* The number of events kept, of a chunk and in total. */
u32 fr_keep_cnt(const struct fr_keep *k, size_t chunk);
u64 fr_keep_all(const struct fr_keep *k);

/* Is this event kept; what is known about this task? */
bool fr_keep_has(const struct fr_keep *k, size_t chunk, u32 row);
bool fr_keep_has_task(const struct fr_keep *k, u32 tid);
bool fr_keep_has_state(const struct fr_keep *k, size_t i);
u64 fr_keep_since_of(const struct fr_keep *k, size_t i); /* what fr_keep_since() was told, 0: nothing */

/*
 * Does a row that is not kept supply a name or a stack that is needed, or tell what was never recorded of others? True only
 * once per stack: the caller keeps that row; but for what is context already: more may be known there of a stack that the rings
 * have, too.
 */
bool fr_keep_explains(struct fr_keep *k, const struct fr_row *r, bool context);

/* A row with a stack is written: no other row need supply it. */
void fr_keep_told(struct fr_keep *k, const struct fr_row *r);

#endif
