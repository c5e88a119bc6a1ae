/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* join_rings: the accounts and holes that are written. */
#include <errno.h>
#include <stdlib.h>

#include "flow/replay/join_int.h"

/* ---- holes ---- */

/* Take the reason from holes that an input tells of, and all if one of them is just that gap. */
static bool take_told(const struct fr_snap_hole *h, size_t cnt, const struct fr_join_ring *r, const struct fr_join_gap *gap,
		      bool is_end, struct fr_snap_hole *out)
{
	size_t k;

	for (k = 0; k < cnt; k++) {
		if (!fr_join_is_hole_of(&h[k], r) || h[k].first_seq > gap->lap.last || h[k].last_seq < gap->lap.first)
			continue;
		out->why = h[k].why;
		if (h[k].first_seq != gap->lap.first || h[k].last_seq != gap->lap.last || (!h[k].until_ns && !is_end))
			continue;
		*out = h[k];
		return true;
	}
	return false;
}

/* A gap as an input tells of it, if it does; else its laps were gone before the later snapshot was taken. */
static struct fr_snap_hole hole_at(const struct fr_join_group *g, const struct fr_join_ring *r, const struct fr_join_gap *gap)
{
	struct fr_snap_hole hole = {.cpu = r->cpu, .tier = r->tier, .why = FR_HOLE_overwritten};
	bool is_told = false;
	size_t cnt;
	u32 i;

	for (i = 0; i < g->file_cnt && !is_told; i++) {
		const struct fr_snap_hole *h = fr_snap_holes(g->file[i]->snap, &cnt);
		struct fr_snap_hole *damage;

		is_told = take_told(h, cnt, r, gap, fr_join_is_end(g, r, gap), &hole);
		damage = is_told ? NULL : fr_join_find_damage(g->file[i]->snap, r, &cnt);
		if (damage)
			take_told(damage, cnt, r, gap, false, &hole);
		free(damage);
	}
	if (is_told)
		return hole;
	hole.first_seq = gap->lap.first;
	hole.last_seq = gap->lap.last;
	hole.since_ns = fr_join_gap_since(g, r, gap);
	if (!fr_join_gap_until(g, r, gap, &hole.until_ns))
		hole.until_ns = 0;
	return hole;
}

/* What is before the first whole lap is no hole. */
static int put_holes(const struct fr_join_group *g, const struct fr_join_ring *r, struct fr_snap_writer *w)
{
	struct fr_snap_hole *h;
	u32 i;
	int err;

	if (r->gap_cnt < 2)
		return 0;
	h = malloc((r->gap_cnt - 1) * sizeof(*h));
	for (i = 1; i < r->gap_cnt && h; i++)
		h[i - 1] = hole_at(g, r, &r->gap[i]);
	err = h ? fr_snap_put_holes(w, h, r->gap_cnt - 1) : -ENOMEM;
	free(h);
	return err;
}

/* Of one file alone it is as it was. */
static int copy_holes(const struct fr_snap *s, struct fr_snap_writer *w)
{
	size_t cnt;
	const struct fr_snap_hole *h = fr_snap_holes(s, &cnt);

	return fr_snap_put_holes(w, h, cnt);
}

static int put_all_holes(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	int err = 0;
	u32 i;

	if (g->all_cut && g->file_cnt == 1 && !fr_snap_damage(g->file[0]->snap))
		return copy_holes(g->file[0]->snap, w);
	for (i = 0; i < g->ring_cnt && !err; i++)
		err = g->all_cut ? fr_join_put_cut_holes(g, &g->ring[i], w) : put_holes(g, &g->ring[i], w);
	return err;
}

/* ---- accounts ---- */

/* The first that is whole, if one is. */
static u64 first_lap(const struct fr_join_ring *r)
{
	u64 whole = r->gap_cnt && r->gap[0].behind_ns ? r->gap[0].lap.last + 1 : 0;

	return whole > r->first_seq ? whole : r->first_seq;
}

/* What a later snapshot lacks, an earlier one may have. */
static u64 least_overwritten(const struct fr_join_group *g, const struct fr_join_ring *r, u64 least)
{
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		const struct fr_snap_ring *a = fr_join_account_of(g->file[i]->snap, r);

		if (a && a->slot_cnt && a->overwritten < least)
			least = a->overwritten;
	}
	return least;
}

/* The account of who was last to ask, of what is in the file now; overwritten is what no file has. */
static struct fr_snap_ring account(const struct fr_join_group *g, const struct fr_snap_ring *a)
{
	const struct fr_join_ring empty = {.cpu = a->cpu, .tier = a->tier};
	struct fr_snap_ring out = *a;
	u32 i;

	if (a->present) /* unless some of them are left: see below */
		out.horizon_ns = fr_join_behind_all(g);
	else if (g->all_cut)
		out.horizon_ns = fr_join_cut_horizon(g, &empty);
	out.present = out.first_seq = out.last_seq = 0;
	for (i = 0; i < g->ring_cnt; i++) {
		const struct fr_join_ring *r = &g->ring[i];

		if (r->cpu != a->cpu || r->tier != a->tier)
			continue;
		out.overwritten = least_overwritten(g, r, a->overwritten);
		out.present += r->present;
		out.first_seq = first_lap(r);
		out.last_seq = fr_join_last_lap(g->file[fr_join_newest(g, r)]->snap, r);
		out.horizon_ns = g->all_cut ? fr_join_cut_horizon(g, r) : fr_join_horizon(g, r);
	}
	return out;
}

/* Is there an account of this ring in a file behind this one, or, if this one was lost, in any? */
static bool comes_again(const struct fr_join_group *g, u32 file, const struct fr_snap_ring *a)
{
	struct fr_join_ring r = {.cpu = a->cpu, .tier = a->tier};
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		const struct fr_snap_ring *other = fr_join_account_of(g->file[i]->snap, &r);

		if (other && (!other->slot_cnt == !a->slot_cnt ? i > file : other->slot_cnt))
			return true;
	}
	return false;
}

static int put_accounts(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	struct fr_snap_ring *out;
	size_t cnt, k, all = 0, kept = 0;
	u32 i;
	int err;

	for (i = 0; i < g->file_cnt; i++, all += cnt)
		fr_snap_rings(g->file[i]->snap, &cnt);
	out = malloc((all + 1) * sizeof(*out));
	if (!out)
		return -ENOMEM;
	for (i = 0; i < g->file_cnt; i++) {
		const struct fr_snap_ring *a = fr_snap_rings(g->file[i]->snap, &cnt);

		for (k = 0; k < cnt; k++)
			if (!comes_again(g, i, &a[k]))
				out[kept++] = account(g, &a[k]);
	}
	err = fr_snap_put_rings(w, out, kept);
	free(out);
	return err;
}

int fr_join_put_rings(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	int err = 0;
	u32 i;

	for (i = 0; i < g->ring_cnt && g->all_cut && !err; i++)
		err = fr_join_find_cut_gaps(g, &g->ring[i]);
	err = err ? err : put_accounts(g, w);
	return err ? err : put_all_holes(g, w);
}
