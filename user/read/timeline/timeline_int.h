/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* timeline_int: shared by the parts of timeline: timeline.c loads, timeline_rows.c interprets events. */
#ifndef FR_TIMELINE_INT_H
#define FR_TIMELINE_INT_H

#include <errno.h>
#include <stdlib.h>

#include "base/rows/pair.h"
#include "base/rows/subscribe.h"
#include "base/schema/syscalls.h"
#include "base/set/tidmap.h"
#include "read/replay/wakers.h"
#include "read/timeline/timeline.h"

#define FR_TL_FIELD_MAX 3

struct fr_tl_fed {
	const struct fr_row *row;
	u64 key; /* its time with shift_ns: may be before the window */
	u64 at;
	u32 nr; /* of the event, or FR_TL_NO_ROW */
	u32 cpu, task;
	u32 boot;
	u64 v[FR_TL_FIELD_MAX];
	const struct fr_span_row *span;
};

typedef int (*fr_tl_fn)(struct fr_timeline *t, const struct fr_tl_fed *f);

struct fr_tl_rule {
	struct fr_sub_want want;
	fr_tl_fn fn; /* NULL: no more rules */
};
extern const struct fr_tl_rule fr_tl_rules[];

/* The meaning of the events of a file's schema. */
struct fr_tl_bind {
	fr_tl_fn fn[FR_EVENT_MAX];
	struct fr_sub sub[FR_EVENT_MAX];
	struct fr_pair_rule pair[FR_EVENT_MAX]; /* of what tells of tasks and wakers alone: none of calls */
};

struct fr_tl_boot {
	struct fr_tidmap by_tid; /* index of the current owner, + 1 */
	u32 *by_cpu;		 /* index in the list of CPUs, + 1 */
	const struct fr_view *view;
	struct fr_syscall_odd odd;
	struct fr_pairs *pairs; /* what rows mean for tasks; times are those of rows */
	struct fr_wakers *wakers;
	u64 shift_ns;
	u64 blind_key; /* all its CPUs' events are complete from here on, as far as known by now */
};

struct fr_timeline_work {
	struct fr_tl_bind *bind; /* of each file */
	struct fr_tl_boot *boot;
	struct fr_replay_run run;
	u32 run_at; /* next row of it */
	bool has_run;
	u32 hole_at;		      /* holes up to here are told */
	struct fr_replay_lost *early; /* found damaged before there was a row */
	u32 early_cnt, early_cap;
};

/* Events of a CPU are missing until then. */
static inline void fr_tl_blind(struct fr_tl_boot *b, u16 cpu_nr, u64 until_key)
{
	fr_pairs_gap(b->pairs, cpu_nr, until_key == ~0ULL ? until_key : until_key - b->shift_ns);
	b->blind_key = until_key > b->blind_key ? until_key : b->blind_key;
}

/* Room for one more of v. 0 or -ENOMEM. */
static inline int fr_tl_grow(void **v, u32 cnt, u32 *cap, size_t sz)
{
	u32 more = *cap ? *cap + *cap / 2 : 16;
	void *p;

	if (cnt < *cap)
		return 0;
	p = cnt < (~0u >> 1) ? realloc(*v, more * sz) : NULL;
	if (!p)
		return -ENOMEM;
	*v = p;
	*cap = more;
	return 0;
}

#define FR_TL_ROOM(list) fr_tl_grow((void **)&(list)->v, (list)->cnt, &(list)->cap, sizeof(*(list)->v))

static inline int fr_tl_put_row(struct fr_tl_rows *r, u32 row)
{
	int err = FR_TL_ROOM(r);

	if (!err)
		r->v[r->cnt++] = row;
	return err;
}

/* The current owner of this tid: its index. 0 or -ENOMEM. */
int fr_tl_task_nr(struct fr_timeline *t, u32 boot, u32 tid, u32 *nr);
int fr_tl_new_task(struct fr_timeline *t, u32 boot, u32 tid, u32 *nr); /* the tid's next owner */

/* A moment on a CPU's axis. */
static inline u64 fr_tl_at(const struct fr_timeline *t, u64 key)
{
	return key > t->origin_key ? key - t->origin_key : 0;
}

/* Who has a CPU of which no row tells? If the files know, that is in its account and its lane. 0 or -ENOMEM. */
int fr_tl_ask_holder(struct fr_timeline *t, u32 cpu);

/* It is news who has this CPU: since its account says. 0 or -ENOMEM. */
int fr_tl_rows_held(struct fr_timeline *t, u32 cpu, u32 task);

/* Events of a CPU are missing here. End of input: everything in progress ends with the window. 0 or -ENOMEM */
int fr_tl_rows_gap(struct fr_timeline *t, const struct fr_tl_hole *hole);
int fr_tl_rows_end(struct fr_timeline *t);

#endif
