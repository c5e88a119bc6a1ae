/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * join_laps: which laps of a ring the files hold together, and when events of it are missing.
 *
 * A file holds the laps from its first to its last as a whole, but for its holes; the last one was being written when the
 * snapshot was taken. Of a file that was cut, and of the first lap of one that begins at a time of choice, nobody knows.
 *
 * Events are not missing for all the time of a gap's laps: a file may end within its first lap, and another one begin within
 * its last.
 */
#include <errno.h>
#include <stdlib.h>

#include "read/cut/join_int.h"

/* ---- what one file has of a ring ---- */

const struct fr_snap_ring *fr_join_account_of(const struct fr_snap *s, const struct fr_join_ring *r)
{
	size_t cnt, i;
	const struct fr_snap_ring *a = fr_snap_rings(s, &cnt);

	for (i = 0; i < cnt; i++)
		if (a[i].cpu == r->cpu && a[i].tier == r->tier)
			return &a[i];
	return NULL;
}

/* First and last lap that it has events of. False: none. */
static bool file_laps_of(const struct fr_snap *s, const struct fr_join_ring *r, u64 *first, u64 *last)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	const size_t *nr = fr_snap_chunks_of(s, r->epoch, r->cpu, r->tier, &cnt);

	for (i = 0; i < cnt; i++) {
		if (!i || c[nr[i]].first_seq < *first)
			*first = c[nr[i]].first_seq;
		if (!i || c[nr[i]].last_seq > *last)
			*last = c[nr[i]].last_seq;
	}
	return cnt;
}

u64 fr_join_last_lap(const struct fr_snap *s, const struct fr_join_ring *r)
{
	const struct fr_snap_ring *a = fr_join_account_of(s, r);
	u64 first = 0, last = 0;

	file_laps_of(s, r, &first, &last);
	return a && a->last_seq > last ? a->last_seq : last;
}

/* The time of its last event of a ring. */
static u64 file_last_ns(const struct fr_snap *s, const struct fr_join_ring *r)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	const size_t *nr = fr_snap_chunks_of(s, r->epoch, r->cpu, r->tier, &cnt);
	u64 last_ns = 0;

	for (i = 0; i < cnt; i++)
		last_ns = c[nr[i]].last_ts > last_ns ? c[nr[i]].last_ts : last_ns;
	return last_ns;
}

struct fr_snap_hole *fr_join_find_damage(const struct fr_snap *s, const struct fr_join_ring *r, size_t *found)
{
	size_t cnt, i, max = fr_gaps_lost_max(s);
	const struct fr_chunk *chunks = fr_snap_chunks(s, &cnt), *c;
	const size_t *nr = fr_snap_chunks_of(s, r->epoch, r->cpu, r->tier, &cnt);
	const struct fr_snap_ring *a = fr_join_account_of(s, r);
	struct fr_snap_hole *h = malloc((cnt + max + 1) * sizeof(*h));

	*found = 0;
	for (i = 0; i < cnt && h; i++) {
		c = &chunks[nr[i]];
		if (c->damaged)
			h[(*found)++] = fr_gaps_hole_of(c);
	}
	if (h && a)
		*found += fr_gaps_find_lost(s, a, h + *found, max);
	return h;
}

/* ---- laps ---- */

/* Rings that all begin at the same moment were told to (`--last`): their first lap is not whole. */
static bool begins_by_choice(const struct fr_snap *s, const struct fr_snap_ring *a)
{
	size_t cnt, i;
	const struct fr_snap_ring *all = fr_snap_rings(s, &cnt);

	for (i = 0; i < cnt && a->horizon_ns; i++)
		if (&all[i] != a && all[i].horizon_ns == a->horizon_ns)
			return true;
	return false;
}

static int cut_holes(const struct fr_snap *s, const struct fr_join_ring *r, struct fr_spans *have)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(s, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		if (fr_join_is_hole_of(&h[i], r))
			err = fr_spans_cut(have, h[i].first_seq, h[i].last_seq);
	return err;
}

static int cut_damage(const struct fr_snap *s, const struct fr_join_ring *r, struct fr_spans *have)
{
	size_t cnt, i;
	struct fr_snap_hole *h = fr_join_find_damage(s, r, &cnt);
	int err = h ? 0 : -ENOMEM;

	for (i = 0; i < cnt && !err; i++)
		err = fr_spans_cut(have, h[i].first_seq, h[i].last_seq);
	free(h);
	return err;
}

/* Complete laps of one file. newest: its last lap is as complete as it will get. */
static int add_whole(const struct fr_join_file *f, const struct fr_join_ring *r, bool newest, struct fr_spans *have)
{
	const struct fr_snap_ring *a = fr_join_account_of(f->snap, r);
	struct fr_spans whole = {};
	u64 first, last = 0;
	size_t i;
	int err;

	if (f->is_cut || !a || !file_laps_of(f->snap, r, &first, &last))
		return 0;
	last = a->last_seq > last ? a->last_seq : last;
	first = a->first_seq > first ? a->first_seq : first;
	first += !a->slot_cnt || begins_by_choice(f->snap, a); /* without an account, nobody knows */
	err = fr_spans_add(&whole, first, newest ? last : last - 1);
	err = err ? err : cut_holes(f->snap, r, &whole);
	err = err ? err : cut_damage(f->snap, r, &whole);
	for (i = 0; i < whole.cnt && !err; i++)
		err = fr_spans_add(have, whole.span[i].first, whole.span[i].last);
	fr_spans_free(&whole);
	return err;
}

/* The last lap, with those that its snapshot could not read: of a hole at the ring's end. */
static u64 last_known_lap(const struct fr_snap *s, const struct fr_join_ring *r)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(s, &cnt);
	u64 last = fr_join_last_lap(s, r);

	for (i = 0; i < cnt; i++)
		if (fr_join_is_hole_of(&h[i], r) && h[i].last_seq > last)
			last = h[i].last_seq;
	return last;
}

static bool is_newer(const struct fr_join_file *f, const struct fr_join_file *than, const struct fr_join_ring *r)
{
	u64 lap = fr_join_last_lap(f->snap, r), other = fr_join_last_lap(than->snap, r), ns = file_last_ns(f->snap, r),
	    other_ns = file_last_ns(than->snap, r);

	if (lap != other)
		return lap > other;
	return ns != other_ns ? ns > other_ns : !f->is_cut || than->is_cut;
}

u32 fr_join_newest(const struct fr_join_group *g, const struct fr_join_ring *r)
{
	u32 i, best = 0;

	for (i = 1; i < g->file_cnt; i++)
		if (is_newer(g->file[i], g->file[best], r))
			best = i;
	return best;
}

/* Laps that are complete in at least one file. */
static int find_whole(const struct fr_join_group *g, const struct fr_join_ring *r, u32 newest, struct fr_spans *have)
{
	u32 i;
	int err = 0;

	for (i = 0; i < g->file_cnt && !err; i++)
		err = add_whole(g->file[i], r, i == newest, have);
	return err;
}

/* *before: how many laps there may have been before the first whole one; *missing: those behind it that are not. */
static int laps_find_missing(const struct fr_join_group *g, const struct fr_join_ring *r, u64 *before, struct fr_spans *missing)
{
	struct fr_spans have = {};
	u32 newest = fr_join_newest(g, r);
	const struct fr_snap *s = g->file[newest]->snap;
	u64 last = fr_join_last_lap(s, r);
	size_t k;
	int err = find_whole(g, r, newest, &have);

	*before = last;
	if (have.cnt) {
		*before = have.span[0].first ? have.span[0].first - 1 : 0;
		err = err ? err : fr_spans_add(missing, have.span[0].first, last_known_lap(s, r));
	}
	for (k = 0; k < have.cnt && !err; k++)
		err = fr_spans_cut(missing, have.span[k].first, have.span[k].last);
	fr_spans_free(&have);
	return err;
}

static int make_gaps(struct fr_join_ring *r, u64 before, const struct fr_spans *missing)
{
	size_t i;

	r->gap = calloc(missing->cnt + 1, sizeof(*r->gap));
	if (!r->gap)
		return -ENOMEM;
	r->gap[r->gap_cnt++].lap.last = before;
	for (i = 0; i < missing->cnt; i++)
		r->gap[r->gap_cnt++].lap = missing->span[i];
	return 0;
}

int fr_join_find_gaps(const struct fr_join_group *g, struct fr_join_ring *r)
{
	struct fr_spans missing = {};
	u64 before;
	int err = 0;

	free(r->gap);
	*r = (struct fr_join_ring){.epoch = r->epoch, .cpu = r->cpu, .tier = r->tier};
	if (g->all_cut)
		return 0;
	err = laps_find_missing(g, r, &before, &missing);
	err = err ? err : make_gaps(r, before, &missing);
	fr_spans_free(&missing);
	return err;
}

void fr_join_note(struct fr_join_ring *r, u64 ts, u64 seq)
{
	if (!r->present++) {
		r->first_seq = seq;
		r->first_ns = ts;
	}
	r->last_seq = seq;
	while (r->gap_at < r->gap_cnt && seq > r->gap[r->gap_at].lap.last) {
		r->gap[r->gap_at++].behind_ns = ts;
		if (r->gap_at < r->gap_cnt)
			r->gap[r->gap_at].before_ns = r->last_ns;
	}
	if (r->gap_at < r->gap_cnt && seq < r->gap[r->gap_at].lap.first)
		r->gap[r->gap_at].before_ns = ts;
	r->last_ns = ts;
}

/* ---- times ---- */

/* A time through which a file has all of a ring. */
struct stretch {
	u64 from_ns, to_ns; /* to_ns: its last event; ~0: to the ring's end */
	u64 end_ns;	    /* the file's last event: nothing came in between */
};

/* Without memory to find out: yes. */
static bool is_damaged_from(const struct fr_snap *s, const struct fr_join_ring *r, u64 from_ns)
{
	size_t cnt, i;
	struct fr_snap_hole *h = fr_join_find_damage(s, r, &cnt);
	bool is_damaged = !h;

	for (i = 0; i < cnt && !is_damaged; i++)
		is_damaged = !h[i].until_ns || h[i].until_ns >= from_ns;
	free(h);
	return is_damaged;
}

/* But for one at the ring's end. */
static bool has_hole_behind(const struct fr_snap *s, const struct fr_join_ring *r, u64 from_ns)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(s, &cnt);

	for (i = 0; i < cnt; i++)
		if (fr_join_is_hole_of(&h[i], r) && h[i].until_ns > from_ns)
			return true;
	return false;
}

/* When the hole at the ring's end begins, ~0: there is none. */
static u64 end_hole_ns(const struct fr_snap *s, const struct fr_join_ring *r)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(s, &cnt);
	u64 since_ns = ~0ULL;

	for (i = 0; i < cnt; i++)
		if (fr_join_is_hole_of(&h[i], r) && !h[i].until_ns && h[i].since_ns < since_ns)
			since_ns = h[i].since_ns;
	return since_ns;
}

/* From the file's horizon of the ring to its last event there. False: not even that is known to be whole. */
static bool find_stretch(const struct fr_join_group *g, const struct fr_join_ring *r, u32 file, struct stretch *out)
{
	const struct fr_snap *s = g->file[file]->snap;
	const struct fr_snap_ring *a = fr_join_account_of(s, r);

	if (!a || g->file[file]->is_cut || is_damaged_from(s, r, a->horizon_ns) || has_hole_behind(s, r, a->horizon_ns))
		return false;
	*out = (struct stretch){a->horizon_ns, file_last_ns(s, r), fr_gaps_end(s, a)};
	if (end_hole_ns(s, r) != ~0ULL)
		out->to_ns = out->end_ns = end_hole_ns(s, r);
	else if (file == fr_join_newest(g, r))
		out->to_ns = ~0ULL;
	return true;
}

u64 fr_join_gap_since(const struct fr_join_group *g, const struct fr_join_ring *r, const struct fr_join_gap *gap)
{
	u64 before_ns = gap->before_ns, behind_ns = gap->behind_ns ? gap->behind_ns : ~0ULL, since_ns = before_ns;
	struct stretch s;
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		if (!find_stretch(g, r, i, &s) || s.from_ns > before_ns || s.to_ns < before_ns || s.to_ns >= behind_ns)
			continue;
		if (s.end_ns < behind_ns)
			s.to_ns = s.end_ns;
		since_ns = s.to_ns > since_ns ? s.to_ns : since_ns;
	}
	return since_ns;
}

bool fr_join_gap_until(const struct fr_join_group *g, const struct fr_join_ring *r, const struct fr_join_gap *gap,
		       u64 *until_ns)
{
	u64 since_ns = fr_join_gap_since(g, r, gap), end_ns = gap->behind_ns ? gap->behind_ns : ~0ULL, best = end_ns;
	struct stretch s;
	u32 i;

	for (i = 0; i < g->file_cnt; i++)
		if (find_stretch(g, r, i, &s) && s.from_ns >= since_ns && s.from_ns < best && s.to_ns >= end_ns)
			best = s.from_ns;
	*until_ns = best;
	return best != ~0ULL;
}

/* From when on a file has a ring, but for its holes: a horizon that lies behind one says nothing of what is before it. */
static u64 laps_begin_ns(const struct fr_snap *s, const struct fr_join_ring *r, u64 horizon_ns)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(s, &cnt);
	const struct fr_chunk *c;
	bool has_hole = false;
	u64 ns = horizon_ns;

	for (i = 0; i < cnt; i++)
		has_hole |= fr_join_is_hole_of(&h[i], r) && h[i].until_ns == horizon_ns;
	c = fr_snap_chunks(s, &cnt);
	for (i = 0; i < cnt && has_hole; i++)
		if (fr_join_is_chunk_of(&c[i], r) && c[i].first_ts < ns)
			ns = c[i].first_ts;
	return ns;
}

static u64 earliest_horizon(const struct fr_join_group *g, const struct fr_join_ring *r)
{
	u64 least = ~0ULL;
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		const struct fr_snap_ring *a = fr_join_account_of(g->file[i]->snap, r);

		if (a && !g->file[i]->is_cut && laps_begin_ns(g->file[i]->snap, r, a->horizon_ns) < least)
			least = laps_begin_ns(g->file[i]->snap, r, a->horizon_ns);
	}
	return least;
}

bool fr_join_is_end(const struct fr_join_group *g, const struct fr_join_ring *r, const struct fr_join_gap *gap)
{
	return gap->lap.first > fr_join_last_lap(g->file[fr_join_newest(g, r)]->snap, r);
}

u64 fr_join_behind_all(const struct fr_join_group *g)
{
	return g->file[g->file_cnt - 1]->taken_ns + 1;
}

u64 fr_join_horizon(const struct fr_join_group *g, const struct fr_join_ring *r)
{
	const struct fr_join_gap *gap = &r->gap[r->gap_cnt - 1];
	u64 until_ns, least;

	if (gap > r->gap && fr_join_is_end(g, r, gap))
		gap--;
	if (!fr_join_gap_until(g, r, gap, &until_ns))
		return fr_join_behind_all(g);
	least = earliest_horizon(g, r);
	return until_ns > least ? until_ns : least;
}
