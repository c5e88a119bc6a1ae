/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* timeline_event: events are not kept in memory. An event's chunk is read again, and cached for the next request. */
#include <errno.h>
#include <stdlib.h>

#include "read/timeline/timeline.h"

#define SLOT_CNT 32u

struct slot {
	struct fr_batch batch;
	u32 file, chunk;
	u64 used; /* number of the last request for it; 0: empty */
};

struct fr_tl_reader {
	const struct fr_timeline *tl;
	struct slot slot[SLOT_CNT];
	u64 now;
};

struct fr_tl_reader *fr_tl_reader_new(const struct fr_timeline *t)
{
	struct fr_tl_reader *r = calloc(1, sizeof(*r));

	if (r)
		r->tl = t;
	return r;
}

void fr_tl_reader_free(struct fr_tl_reader *r)
{
	u32 i;

	for (i = 0; r && i < SLOT_CNT; i++)
		fr_batch_free(&r->slot[i].batch);
	free(r);
}

/* The slot that has the chunk, else the one to read it into. */
static struct slot *event_find_slot(struct fr_tl_reader *r, u32 file, u32 chunk)
{
	struct slot *oldest = &r->slot[0];
	u32 i;

	for (i = 0; i < SLOT_CNT; i++) {
		struct slot *s = &r->slot[i];

		if (s->used && s->file == file && s->chunk == chunk)
			return s;
		if (s->used < oldest->used)
			oldest = s;
	}
	return oldest;
}

static int event_fill(struct fr_tl_reader *r, struct slot *s, u32 file, u32 chunk)
{
	int err;

	if (s->used && s->file == file && s->chunk == chunk)
		return 0;
	s->used = 0;
	err = fr_snap_read_chunk(fr_replay_file(r->tl->replay, file), chunk, &s->batch);
	s->file = file;
	s->chunk = chunk;
	return err;
}

int fr_tl_reader_row(struct fr_tl_reader *r, u32 row, struct fr_row *out, const struct fr_view **view)
{
	const struct fr_tl_event *e = &r->tl->event[row];
	struct slot *s = event_find_slot(r, e->file, e->chunk);
	int err = event_fill(r, s, e->file, e->chunk);

	if (err)
		return err;
	s->used = ++r->now;
	if (e->row >= s->batch.row_cnt)
		return -EBADMSG;
	*out = fr_batch_row(&s->batch, e->row);
	*view = fr_replay_view(r->tl->replay, e->file);
	return 0;
}
