/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * join_laps: which laps of a ring the files hold together.
 *
 * A file holds the laps from its first to its last as a whole, but for its holes; the last one was being written when the
 * snapshot was taken. Of a file that was cut, and of the first lap of one that begins at a time of choice, nobody knows.
 */
#include <errno.h>
#include <stdlib.h>

#include "flow/replay/join_int.h"

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

	if (f->is_cut || !a || !fr_join_laps_of(f->snap, r, &first, &last))
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
	u64 lap = fr_join_last_lap(f->snap, r), other = fr_join_last_lap(than->snap, r), ns = fr_join_last_ns(f->snap, r),
	    other_ns = fr_join_last_ns(than->snap, r);

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
static int find_missing(const struct fr_join_group *g, const struct fr_join_ring *r, u64 *before, struct fr_spans *missing)
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
	err = find_missing(g, r, &before, &missing);
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
