/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/replay/ringsrc.h"

#include <errno.h>
#include <stdlib.h>

#include "base/rows/columns.h"
#include "base/rows/unfold.h"
#include "base/set/vec.h"

/* A reader's position in one snapshot: rows [row, end) of batch are next, then the following chunks. */
struct cursor {
	struct fr_snap *snap;
	u64 since_ns, until_ns;
	size_t *chunk; /* indices, by position */
	size_t chunk_cnt, chunk_at;
	struct fr_ahead *ahead; /* NULL: chunks are decoded when they are needed */
	size_t first_nr;	/* of them in ahead */
	struct fr_batch batch;
	u32 row, end;
	u64 *pos; /* of each row of batch, where several snapshots must be compared */
	u32 pos_cap;
};

struct fr_ringsrc {
	u32 epoch;
	u16 cpu;
	u8 tier;
	struct cursor *cur;
	u32 cnt;
	u64 lost_since_ns, lost_until_ns; /* in damaged chunks, until 0: none */
};

struct fr_ringsrc *fr_ringsrc_new(u32 epoch, u16 cpu, u8 tier)
{
	struct fr_ringsrc *r = calloc(1, sizeof(*r));

	if (r)
		*r = (struct fr_ringsrc){.epoch = epoch, .cpu = cpu, .tier = tier};
	return r;
}

void fr_ringsrc_free(struct fr_ringsrc *r)
{
	u32 i;

	if (!r)
		return;
	for (i = 0; i < r->cnt; i++) {
		fr_batch_free(&r->cur[i].batch);
		free(r->cur[i].chunk);
		free(r->cur[i].pos);
	}
	free(r->cur);
	free(r);
}

static int find_chunks(const struct fr_ringsrc *r, struct cursor *cur)
{
	size_t cnt, of_ring, i;
	const struct fr_chunk *c = fr_snap_chunks(cur->snap, &cnt);
	const size_t *nr = fr_snap_chunks_of(cur->snap, r->epoch, r->cpu, r->tier, &of_ring);

	cur->chunk = malloc((of_ring + 1) * sizeof(*cur->chunk));
	if (!cur->chunk)
		return -ENOMEM;
	for (i = 0; i < of_ring; i++)
		if (c[nr[i]].first_ts <= cur->until_ns && c[nr[i]].last_ts >= cur->since_ns)
			cur->chunk[cur->chunk_cnt++] = nr[i];
	return 0;
}

int fr_ringsrc_add(struct fr_ringsrc *r, struct fr_snap *s, u64 since_ns, u64 until_ns)
{
	struct cursor *cur = fr_vec_more(&r->cur, r->cnt);

	if (!cur)
		return -ENOMEM;
	*cur = (struct cursor){.snap = s, .since_ns = since_ns, .until_ns = until_ns};
	if (find_chunks(r, cur))
		return -ENOMEM;
	r->cnt++;
	return 0;
}

static int cursor_ahead(struct cursor *cur, struct fr_ahead *a, u64 shift_ns)
{
	size_t cnt, i, nr;
	const struct fr_chunk *c = fr_snap_chunks(cur->snap, &cnt);

	for (i = 0; i < cur->chunk_cnt; i++) {
		if (fr_ahead_add(a, cur->snap, cur->chunk[i], c[cur->chunk[i]].first_ts + shift_ns, &nr))
			return -ENOMEM;
		cur->first_nr = nr - i;
	}
	cur->ahead = a;
	return 0;
}

int fr_ringsrc_ahead(struct fr_ringsrc *r, struct fr_ahead *a, u64 shift_ns)
{
	u32 i;
	int err = 0;

	for (i = 0; i < r->cnt && !err; i++)
		err = cursor_ahead(&r->cur[i], a, shift_ns);
	return err;
}

static u64 cursor_least_sz(const struct cursor *cur)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(cur->snap, &cnt);
	u64 most = 0, sz;

	for (i = 0; i < cur->chunk_cnt; i++) {
		sz = fr_batch_least_sz(c[cur->chunk[i]].row_cnt, c[cur->chunk[i]].raw_sz);
		most = sz > most ? sz : most;
	}
	return most;
}

u64 fr_ringsrc_least_sz(const struct fr_ringsrc *r)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < r->cnt; i++)
		sum += cursor_least_sz(&r->cur[i]);
	return sum;
}

void fr_ringsrc_want(struct fr_ringsrc *r, const struct fr_wants *w)
{
	u32 i;

	for (i = 0; i < r->cnt; i++)
		r->cur[i].batch.wants = w;
}

static void ringsrc_trim(struct cursor *cur)
{
	const struct fr_batch *b = &cur->batch;

	cur->row = cur->since_ns ? fr_batch_lower(b, 0, cur->since_ns) : 0;
	cur->end = cur->until_ns < ~0ULL ? fr_batch_lower(b, 0, cur->until_ns + 1) : b->row_cnt;
}

static int find_positions(struct cursor *cur)
{
	u32 i, off;
	u64 seq;

	if (cur->pos_cap < cur->batch.row_cnt) {
		free(cur->pos);
		cur->pos_cap = cur->batch.row_cnt;
		cur->pos = malloc(cur->pos_cap * sizeof(*cur->pos));
		if (!cur->pos) {
			cur->pos_cap = 0;
			return -ENOMEM;
		}
	}
	for (i = cur->row; i < cur->end; i++) {
		fr_batch_pos(&cur->batch, i, &seq, &off);
		cur->pos[i] = seq << FR_PLACE_BITS | off;
	}
	return 0;
}

/* The chunk before the next one is damaged. */
static void lose(struct fr_ringsrc *r, const struct cursor *cur)
{
	size_t cnt;
	const struct fr_chunk *c = fr_snap_chunks(cur->snap, &cnt);

	c += cur->chunk[cur->chunk_at - 1];
	if (!r->lost_until_ns || c->first_ts < r->lost_since_ns)
		r->lost_since_ns = c->first_ts;
	if (c->last_ts > r->lost_until_ns)
		r->lost_until_ns = c->last_ts;
}

bool fr_ringsrc_lost(struct fr_ringsrc *r, u64 *since_ns, u64 *until_ns)
{
	if (!r->lost_until_ns)
		return false;
	*since_ns = r->lost_since_ns;
	*until_ns = r->lost_until_ns;
	r->lost_until_ns = 0;
	return true;
}

/* As fr_snap_read_chunk(). */
static int read_next(struct cursor *cur)
{
	size_t at = cur->chunk_at++;

	if (cur->ahead)
		return fr_ahead_take(cur->ahead, cur->first_nr + at, &cur->batch);
	return fr_snap_read_chunk(cur->snap, cur->chunk[at], &cur->batch);
}

/* Have rows, if there are any left: 1, 0 or -errno. */
static int ringsrc_fill(struct fr_ringsrc *r, struct cursor *cur, bool with_pos)
{
	int err;

	while (cur->row >= cur->end && cur->chunk_at < cur->chunk_cnt) {
		err = read_next(cur);
		if (err == -EBADMSG) {
			lose(r, cur);
			continue;
		}
		if (err)
			return err;
		ringsrc_trim(cur);
		if (with_pos && find_positions(cur))
			return -ENOMEM;
	}
	return cur->row < cur->end;
}

static u64 head_pos(const struct cursor *cur)
{
	return cur->row < cur->end ? cur->pos[cur->row] : ~0ULL;
}

/* The cursor with the earliest head, other than but; NULL: all have ended. */
static struct cursor *ringsrc_earliest(struct fr_ringsrc *r, const struct cursor *but)
{
	struct cursor *best = NULL;
	u32 i;

	for (i = 0; i < r->cnt; i++) {
		struct cursor *cur = &r->cur[i];

		if (cur != but && cur->row < cur->end && (!best || head_pos(cur) < head_pos(best)))
			best = cur;
	}
	return best;
}

/* Heads at the same place as the returned row are the same event. False: one of them has no row left to compare with. */
static bool pass_over(struct fr_ringsrc *r, const struct cursor *but, u64 pos)
{
	bool have_all = true;
	u32 i;

	for (i = 0; i < r->cnt; i++) {
		struct cursor *cur = &r->cur[i];

		if (cur == but || head_pos(cur) != pos || cur->row >= cur->end)
			continue;
		cur->row++;
		have_all &= cur->row < cur->end;
	}
	return have_all;
}

/* Rows of cur that come before the other snapshots' next ones, or are the same. */
static void take_until_others(struct fr_ringsrc *r, struct cursor *cur)
{
	bool go_on = true;

	while (go_on && cur->row < cur->end) {
		struct cursor *other = ringsrc_earliest(r, cur);

		if (other && head_pos(other) < head_pos(cur))
			return;
		go_on = pass_over(r, cur, head_pos(cur));
		cur->row++;
	}
}

int fr_ringsrc_next(struct fr_ringsrc *r, struct fr_stretch *s)
{
	struct cursor *cur;
	u32 i;
	int got;

	for (i = 0; i < r->cnt; i++) {
		got = ringsrc_fill(r, &r->cur[i], r->cnt > 1);
		if (got < 0)
			return got;
	}
	cur = ringsrc_earliest(r, NULL);
	if (!cur)
		return 0;
	s->b = &cur->batch;
	s->from = cur->row;
	if (r->cnt > 1)
		take_until_others(r, cur);
	else
		cur->row = cur->end;
	s->to = cur->row;
	return 1;
}
