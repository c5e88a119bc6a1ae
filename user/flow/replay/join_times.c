/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * join_times: when events of a ring are missing, and from when on none are. Not for all the time of a gap's laps: a file may
 * end within its first lap, and another one begin within its last.
 */
#include <stdlib.h>

#include "flow/replay/join_int.h"

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
	*out = (struct stretch){a->horizon_ns, fr_join_last_ns(s, r), fr_gaps_end(s, a)};
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
static u64 begin_ns(const struct fr_snap *s, const struct fr_join_ring *r, u64 horizon_ns)
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

		if (a && !g->file[i]->is_cut && begin_ns(g->file[i]->snap, r, a->horizon_ns) < least)
			least = begin_ns(g->file[i]->snap, r, a->horizon_ns);
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
