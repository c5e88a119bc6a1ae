/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page_index: what a page says of all its pieces and tasks beside them, so that it can be shown before they are read.
 *
 *	tile	the rows of FR_PAGE_TILE pieces in a row, and the spans that begin, or go on, in their time: from its first
 *		row (of the first tile: the window's begin) until the next tile's
 *	piece	u32 pieces of a tile, pieces, tasks that have rows, tasks that have states or calls, pids; then columns:
 *		of each piece	rows, time of the first
 *		of each task that has rows	tid, how many, time of the first, its name by the last one (a text)
 *		of each task that has states or calls	tid, when its first known state begins, how long it was in each
 *			state from FR_TL_RUNS on
 *		of each pid	row from which on its task is of it, -1 (not known) too; the pid; tid
 *	column	as user/show/export/page_column.h says
 */
#ifndef FR_PAGE_INDEX_H
#define FR_PAGE_INDEX_H

#include "base/set/idmap.h"
#include "read/timeline/timeline.h"
#include "show/export/page_column.h"

#define FR_PAGE_TILE 8u /* pieces */

/* begin with fr_page_index_init() */
struct fr_page_index {
	struct fr_page_nums piece[2], task[4];
	struct fr_idmap nr_of; /* u32 by tid: number in task[] */
};

void fr_page_index_init(struct fr_page_index *x);
void fr_page_index_free(struct fr_page_index *x);

/* A row of a task, `at` behind the window's begin; text: its name, 0 unknown. 0 or -ENOMEM. */
int fr_page_index_row(struct fr_page_index *x, u32 tid, u64 at, u32 text);

/* One more piece. 0 or -ENOMEM. */
int fr_page_index_piece(struct fr_page_index *x, u32 rows, u64 at);

/* How many tiles there are, at least 1; where a tile's rows and its time begin, behind the last one: where all end. */
struct fr_page_border {
	u64 at;
	u32 row;
};
u32 fr_page_index_tiles(const struct fr_page_index *x);
struct fr_page_border fr_page_index_border(const struct fr_page_index *x, u32 tile);

/* The piece, packed: malloc'ed *out, *sz bytes. 0 or -ENOMEM. The timeline has ended. The index and pids are gone then. */
int fr_page_index_pack(struct fr_page_index *x, const struct fr_timeline *t, struct fr_page_nums pid[3], u8 **out, size_t *sz);

#endif
