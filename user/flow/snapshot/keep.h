/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keep: what of a snapshot is kept when it is cut: a bit for each event, and what its names and stacks come from: tasks and
 * stacks that the events kept speak of.
 */
#ifndef FR_KEEP_H
#define FR_KEEP_H

#include "io/snapfile/snapfile.h"

struct fr_keep; /* opaque */

/* Of s, which must live as long. NULL: no memory. */
struct fr_keep *fr_keep_new(const struct fr_snap *s);
void fr_keep_free(struct fr_keep *k); /* NULL is fine */

/* Keep a row of one of fr_snap_chunks(). 0 or -ENOMEM. */
int fr_keep_row(struct fr_keep *k, const struct fr_row *r);

/* Keep what is known of a task. */
void fr_keep_task(struct fr_keep *k, u32 tid);

/* All rows are in: keep too what is known of the processes of their tasks, of parents, and of who shares a cgroup with them. */
int fr_keep_ready(struct fr_keep *k);

/* Events kept of a chunk, and of all. */
u32 fr_keep_cnt(const struct fr_keep *k, size_t chunk);
u64 fr_keep_all(const struct fr_keep *k);

bool fr_keep_has(const struct fr_keep *k, size_t chunk, u32 row);
bool fr_keep_has_task(const struct fr_keep *k, u32 tid);

/* Does a row that is not kept tell of a name or a stack that is needed? Of a stack only once: it is taken to be kept then. */
bool fr_keep_explains(struct fr_keep *k, const struct fr_row *r);

/* A row of a stack goes out: no other need tell of it. */
void fr_keep_told(struct fr_keep *k, const struct fr_row *r);

#endif
