/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page_spans: who had each CPU, what each task was doing, as read/timeline found it, and what rows end, as replay --pairs tells
 * it. The page draws and counts these. Times are ns after the window's begin; what is not known has no span. There is a piece
 * for each tile (page_index.h): what begins in its time, and what had begun and goes on into it, which its begin tells.
 *
 *	piece	u32 the tile's number, how many CPUs, tasks, calls that ended, waits that ended, others that ended, then
 *		columns (page_column.h):
 *		of each CPU	its number, how many runs
 *		of each run	begin, length, tid (0 idle), row
 *		of each task	tid, how many states, how many calls; those that have none here are left out
 *		of each state	begin, length, state (enum fr_tl_state), row
 *		of each call	begin, length, row
 *		of each call that ended	its end's row, how long it took, id, abi; as replay --pairs tells it
 *		of each wait that ended	row of the switch, how long the next task was runnable; likewise
 *		of each other one	its row, its latency_ns; likewise
 *	row	number of the event that began it among the page's, -1: it is not there
 */
#ifndef FR_PAGE_SPANS_H
#define FR_PAGE_SPANS_H

#include "base/set/idmap.h"
#include "read/timeline/timeline.h"
#include "show/export/page_column.h"
#include "show/export/page_index.h"

/* What rows end, and of which process their tasks are; begin with fr_page_ended_init(). */
struct fr_page_ended {
	struct fr_page_nums call[4], wait[2], took[2], pid[3];
	struct fr_idmap pid_of; /* s64 by tid: as of the last row */
};

void fr_page_ended_init(struct fr_page_ended *e);

/* What row nr of the page ends, if that is known. 0 or -ENOMEM. */
int fr_page_ended_add(struct fr_page_ended *e, const struct fr_view *v, const struct fr_row *r, u64 nr);
void fr_page_ended_free(struct fr_page_ended *e);

/* Has this task anything to be shown? */
bool fr_page_spans_has_any(const struct fr_tl_task *k);

/*
 * Give put() the piece of each tile, packed, in order. 0 or -ENOMEM. The timeline has ended. *asked_cnt, which may be NULL: how
 * often a task was looked at, most of what it takes.
 */
int fr_page_spans(const struct fr_timeline *t, const struct fr_page_ended *e, const struct fr_page_index *x,
		  void (*put)(void *arg, const u8 *piece, size_t sz), void *arg, u64 *asked_cnt);

#endif
