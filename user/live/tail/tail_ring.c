/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/tail/tail_ring.h"

#include <errno.h>
#include <stdlib.h>

#include "base/offbound.h"

#define PIECES_MOST 64 /* at a time: others are waiting */

int fr_tail_ring_open(struct fr_tail_ring *r, const struct fr_ring_map *m, u32 room, bool shown, u64 since_ns)
{
	int err = -ENOMEM;

	*r = (struct fr_tail_ring){.room = room, .shown = shown};
	r->buf = fr_off_bound_new(m->subbuf_pages);
	r->piece = calloc(room, sizeof(*r->piece));
	if (r->buf && r->piece)
		err = fr_ring_follow_begin(&r->follow, m, r->buf, since_ns);
	if (err)
		fr_tail_ring_free(r);
	return err;
}

void fr_tail_ring_free(struct fr_tail_ring *r)
{
	u32 i;

	for (i = 0; r->piece && i < r->room; i++)
		fr_batch_free(&r->piece[i].b);
	free(r->piece);
	fr_off_bound_free(r->buf);
	*r = (struct fr_tail_ring){};
}

/* ---- what is skipped ---- */

static u64 skipped_now(const struct fr_tail_ring *r)
{
	return r->follow.skipped + r->damaged;
}

/* All that was skipped until now comes before p; NULL: before what is not read yet. */
static u64 take_skipped(struct fr_tail_ring *r, u64 *laps)
{
	u64 skipped = skipped_now(r) - r->told;

	*laps = r->follow.skipped_laps - r->told_laps;
	r->told += skipped;
	r->told_laps += *laps;
	return skipped;
}

u64 fr_tail_ring_skipped(struct fr_tail_ring *r, u64 *laps)
{
	struct fr_tail_piece *p = &r->piece[r->first];
	u64 skipped;

	if (!r->cnt)
		return take_skipped(r, laps);
	skipped = p->skipped;
	*laps = p->laps;
	p->skipped = p->laps = 0;
	return skipped;
}

/* ---- reading ---- */

static void drop_read(struct fr_tail_ring *r)
{
	while (r->cnt && r->piece[r->first].row >= r->piece[r->first].b.row_cnt) {
		r->first = (r->first + 1) % r->room;
		r->cnt--;
	}
}

static struct fr_snap_lap tail_ring_lap_of(const struct fr_ring_map *m, const void *buf, u64 seq, u32 units)
{
	return (struct fr_snap_lap){
		.buf = buf,
		.sz = (size_t)units * FR_UNIT_SZ,
		.epoch = m->epoch,
		.cpu = m->cpu,
		.tier = m->tier,
		.seq = seq,
	};
}

/* Decode a piece into the queue's next place. What its lap's word counts but is no record is damage. */
static int tail_ring_take(struct fr_tail_ring *r, struct fr_lapbatch *l, const struct fr_ring_piece *p,
			  struct fr_tail_piece *to)
{
	const struct fr_snap_lap lap = tail_ring_lap_of(&r->follow.map, r->buf, p->seq, p->to);
	int err = fr_lapbatch_read(l, &lap, p->from * FR_UNIT_SZ, r->last_ts, &to->b, &to->row);
	u32 cnt = to->b.row_cnt - to->row;

	if (err == -ENOMEM)
		return err;
	r->damaged += cnt < p->cnt ? p->cnt - cnt : 0;
	if (cnt)
		r->last_ts = to->b.ts[to->b.row_cnt - 1];
	return 0;
}

static void tail_ring_put(struct fr_tail_ring *r, struct fr_tail_piece *p)
{
	if (!r->shown || p->row >= p->b.row_cnt)
		return;
	p->skipped = take_skipped(r, &p->laps);
	r->cnt++;
}

int fr_tail_ring_read(struct fr_tail_ring *r, struct fr_lapbatch *l, u64 before_ns, fr_tail_learn_fn learn, void *arg)
{
	struct fr_ring_piece piece;
	struct fr_tail_piece *to;
	u32 i;
	int got = 1, err = 0;

	drop_read(r);
	for (i = 0; i < PIECES_MOST && r->cnt < r->room && (got = fr_ring_follow_next(&r->follow, &piece)) > 0; i++) {
		to = &r->piece[(r->first + r->cnt) % r->room];
		err = tail_ring_take(r, l, &piece, to);
		if (!err && learn)
			err = learn(arg, &to->b);
		if (err)
			return err;
		tail_ring_put(r, to);
	}
	if (r->last_ts > r->known_ns)
		r->known_ns = r->last_ts;
	if (!got && before_ns > r->known_ns)
		r->known_ns = before_ns;
	return got == -EAGAIN ? 0 : got;
}

int fr_tail_ring_scan(const struct fr_ring_map *m, u8 *buf, struct fr_lapbatch *l, fr_tail_learn_fn learn, void *arg)
{
	struct fr_batch b = {};
	u64 seq, last;
	u32 first_row;
	int err = 0;

	if (fr_ring_read_range(m, &seq, &last))
		return 0;
	for (; seq <= last && !err; seq++) {
		struct fr_lap lap;

		if (fr_ring_look(m, seq, buf, 0, &lap))
			continue;
		const struct fr_snap_lap copy = tail_ring_lap_of(m, buf, seq, lap.com_units);

		err = fr_lapbatch_read(l, &copy, 0, 0, &b, &first_row);
		err = err ? (err == -EBADMSG ? 0 : err) : learn(arg, &b);
	}
	fr_batch_free(&b);
	return err;
}

/* ---- handing out ---- */

int fr_tail_ring_next(struct fr_tail_ring *r, u64 limit_ns, struct fr_stretch *s)
{
	struct fr_tail_piece *p;
	u32 to;

	drop_read(r);
	if (!r->cnt)
		return 0;
	p = &r->piece[r->first];
	to = fr_batch_lower(&p->b, p->row, limit_ns);
	if (to == p->row)
		return 0;
	*s = (struct fr_stretch){.b = &p->b, .from = p->row, .to = to};
	p->row = to;
	return 1;
}
