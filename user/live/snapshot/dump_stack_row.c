/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dump_stack_row: a stack that a snapshot's writer knows, as other stacks are in a file. */
#include "live/snapshot/dump_int.h"
#include "read/snapfile/snapfile_rows.h"

#define COL_MAX 3u
#define ROW_OFF (FR_PAGE_SZ / 2) /* between the two rows of a stack, as if they were in a ring */

/* An event with numbers of a stack, as one row of a batch. */
struct one_row {
	struct fr_batch b;
	struct fr_col col[COL_MAX];
	u64 ts, id, frame_cnt;
	u32 tid, in_type, off[2];
	u8 ev;
};

static void set_col(struct one_row *r, const struct fr_field *f, u64 *num)
{
	if (f && f->col >= 0 && f->col < (int)COL_MAX)
		r->col[f->col] = (struct fr_col){.num = num, .off = f->type == FR_TYPE_u64s ? r->off : NULL};
}

int fr_dump_put_stack_row(struct fr_dump *d, const struct fr_dump_stack_row *s)
{
	const struct fr_event *ev = fr_schema_find(d->schema, s->event);
	struct one_row r = {.ts = s->ts, .id = s->id, .frame_cnt = s->frame_cnt, .tid = s->tid, .off = {0, s->cnt}};
	struct fr_row row;

	if (!ev || ev->col_cnt > COL_MAX)
		return 0;
	r.ev = ev->nr;
	r.b = (struct fr_batch){
		.schema = d->schema,
		.epoch = d->src->map->epoch,
		.cpu = d->src->map->cpu,
		.tier = FR_TIER_STACK,
		.row_cnt = 1,
		.ts = &r.ts,
		.ev = &r.ev,
		.tid = &r.tid,
		.in_type = &r.in_type,
	};
	r.b.type[ev->nr] = (struct fr_type_cols){.cnt = 1, .col = r.col};
	set_col(&r, fr_event_field(ev, "frame_cnt"), &r.frame_cnt);
	set_col(&r, fr_event_field(ev, "stack_id"), &r.id);
	set_col(&r, fr_event_field(ev, s->field), s->num);
	row = fr_batch_row(&r.b, 0);
	/* a place that no other stack has, also where snapshots are merged: no ring has so many laps */
	return fr_snap_put_row(d->w, &row, s->id >> 16 | 1ULL << 48, s->frame_cnt ? ROW_OFF : 0, true);
}
