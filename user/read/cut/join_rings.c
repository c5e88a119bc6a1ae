/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* join_rings: the accounts and holes of a merged snapshot. Of cuts alone laps are whole in none: time tells what is missing. */
#include <errno.h>
#include <stdlib.h>

#include "read/cut/join_int.h"
#include "read/replay/summary.h"

/* ---- cuts alone: horizon and holes ---- */

/* Find when events of a ring are missing, once all are noted. 0 or -ENOMEM. */
static int find_cut_gaps(const struct fr_join_group *g, struct fr_join_ring *r)
{
	u32 i;
	int err = 0;

	r->missing = (struct fr_gaps){.tier = r->tier, .is_read = true};
	for (i = 0; i < g->file_cnt && !err; i++)
		err = fr_gaps_add(&r->missing, g->file[i]->snap);
	return err ? err : fr_gaps_ready(&r->missing);
}

/*
 * What could not be read is missing, too. What is before all files is not: horizons tell of what was overwritten,
 * and events from before all programs were attached are real.
 */
static u64 behind_gaps(const struct fr_join_ring *r, u64 horizon_ns)
{
	size_t i;

	for (i = 0; i < r->missing.gap.cnt; i++) {
		const struct fr_gap *gap = &r->missing.gap.g[i];

		if (gap->cpu != r->cpu || gap->why == FR_GAP_before || gap->until_ns == FR_GAP_OPEN)
			continue;
		if (gap->until_ns > horizon_ns)
			horizon_ns = gap->until_ns;
	}
	return horizon_ns;
}

/* NULL also where the CPU was cut away. */
static const struct fr_snap_ring *account_of_cut(const struct fr_snap *s, const struct fr_join_ring *r)
{
	return fr_cut_has_cpu(s, r->cpu) ? fr_join_account_of(s, r) : NULL;
}

/* Until when a cut has everything. */
static u64 join_rings_end_of(const struct fr_join_file *file)
{
	s64 until_ns;

	return fr_snap_fact_num(file->snap, "cut_until", &until_ns) ? (u64)until_ns : file->taken_ns;
}

/* A window before the ring's history has only what other rings remember: then nothing of this one is complete. */
static const struct fr_snap_ring *complete_part(const struct fr_join_file *file, const struct fr_join_ring *r)
{
	const struct fr_snap_ring *a = account_of_cut(file->snap, r);

	return a && a->horizon_ns <= join_rings_end_of(file) ? a : NULL;
}

/* If no window has a complete part, that is so until behind all that is known of. */
static u64 latest_horizon(const struct fr_join_group *g, const struct fr_join_ring *r)
{
	const struct fr_snap_ring *a;
	bool is_there = false, is_complete = false;
	u64 horizon_ns = 0;
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		a = complete_part(g->file[i], r);
		horizon_ns = a && a->horizon_ns > horizon_ns ? a->horizon_ns : horizon_ns;
		is_complete |= a != NULL;
		is_there |= account_of_cut(g->file[i]->snap, r) != NULL;
	}
	return is_there && !is_complete ? fr_join_behind_all(g) : horizon_ns;
}

/* The latest horizon, or that of a window that reaches to it, and so on. */
static u64 cut_horizon(const struct fr_join_group *g, const struct fr_join_ring *r)
{
	u64 horizon_ns = latest_horizon(g, r);
	const struct fr_snap_ring *a;
	bool more = true;
	u32 i;

	while (more) {
		more = false;
		for (i = 0; i < g->file_cnt; i++) {
			a = complete_part(g->file[i], r);
			if (!a || a->horizon_ns >= horizon_ns || join_rings_end_of(g->file[i]) < horizon_ns)
				continue;
			horizon_ns = a->horizon_ns;
			more = true;
		}
	}
	return behind_gaps(r, horizon_ns);
}

static void take_laps(struct fr_snap_hole *to, u64 first, u64 last)
{
	to->first_seq = to->first_seq && to->first_seq < first ? to->first_seq : first;
	to->last_seq = to->last_seq > last ? to->last_seq : last;
}

static bool overlaps(const struct fr_snap_hole *hole, u64 since_ns, u64 until_ns)
{
	return since_ns < (hole->until_ns ?: FR_GAP_OPEN) && until_ns > hole->since_ns;
}

/* Those of holes and damaged parts of the files, if it is they who lack it. */
static bool find_told_laps(const struct fr_join_group *g, const struct fr_join_ring *r, struct fr_snap_hole *to)
{
	size_t cnt, k;
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		const struct fr_snap_hole *h = fr_snap_holes(g->file[i]->snap, &cnt);
		const struct fr_chunk *c;

		for (k = 0; k < cnt; k++)
			if (fr_join_is_hole_of(&h[k], r) && overlaps(to, h[k].since_ns, h[k].until_ns ?: FR_GAP_OPEN))
				take_laps(to, h[k].first_seq, h[k].last_seq);
		c = fr_snap_chunks(g->file[i]->snap, &cnt);
		for (k = 0; k < cnt; k++)
			if (fr_join_is_chunk_of(&c[k], r) && c[k].damaged && overlaps(to, c[k].first_ts, c[k].last_ts))
				take_laps(to, c[k].first_seq, c[k].last_seq);
	}
	return to->last_seq;
}

/* The laps of the last event before a gap and of the first one behind. */
static void find_laps(const struct fr_join_group *g, const struct fr_join_ring *r, struct fr_snap_hole *hole)
{
	u64 before = 0, behind = ~0ULL;
	size_t cnt, k;
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		const struct fr_chunk *c = fr_snap_chunks(g->file[i]->snap, &cnt);

		for (k = 0; k < cnt; k++) {
			if (!fr_join_is_chunk_of(&c[k], r))
				continue;
			if (c[k].last_ts <= hole->since_ns && c[k].last_seq > before)
				before = c[k].last_seq;
			if (hole->until_ns && c[k].first_ts >= hole->until_ns && c[k].first_seq < behind)
				behind = c[k].first_seq;
		}
	}
	hole->first_seq = before ?: behind != ~0ULL ? behind : r->first_seq;
	hole->last_seq = behind != ~0ULL && behind > hole->first_seq ? behind : hole->first_seq;
}

static struct fr_snap_hole hole_of_gap(const struct fr_join_group *g, const struct fr_join_ring *r, const struct fr_gap *gap)
{
	struct fr_snap_hole hole = {
		.cpu = r->cpu,
		.tier = r->tier,
		.why = gap->why < FR_HOLE_CNT ? gap->why : FR_HOLE_cut,
		.since_ns = gap->since_ns,
		.until_ns = gap->until_ns == FR_GAP_OPEN ? 0 : gap->until_ns,
	};

	if (!find_told_laps(g, r, &hole))
		find_laps(g, r, &hole);
	return hole;
}

/* What is before all that the files have is none, but where some events of it are there; nor a CPU that was cut away from all.
 */
static bool is_hole(const struct fr_join_ring *r, const struct fr_gap *gap)
{
	if (gap->cpu != r->cpu)
		return false;
	return gap->since_ns || (gap->until_ns > r->first_ns && gap->until_ns != FR_GAP_OPEN);
}

static int find_cut_holes(const struct fr_join_group *g, const struct fr_join_ring *r, struct fr_meta *m)
{
	const struct fr_gap_list *gap = &r->missing.gap;
	struct fr_snap_hole h;
	int err = 0;
	size_t i;

	for (i = 0; i < gap->cnt && !err; i++) {
		if (!is_hole(r, &gap->g[i]))
			continue;
		h = hole_of_gap(g, r, &gap->g[i]);
		err = fr_vec_add(&m->hole, &h, 1);
	}
	return err;
}

/* ---- holes of whole files ---- */

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
static int join_rings_find_holes(const struct fr_join_group *g, const struct fr_join_ring *r, struct fr_meta *m)
{
	struct fr_snap_hole h;
	int err = 0;
	u32 i;

	for (i = 1; i < r->gap_cnt && !err; i++) {
		h = hole_at(g, r, &r->gap[i]);
		err = fr_vec_add(&m->hole, &h, 1);
	}
	return err;
}

/* Of one file alone they are as they were. */
static int find_all_holes(const struct fr_join_group *g, struct fr_meta *m)
{
	const struct fr_snap_hole *h;
	size_t cnt;
	int err = 0;
	u32 i;

	if (g->all_cut && g->file_cnt == 1 && !fr_snap_damage(g->file[0]->snap)) {
		h = fr_snap_holes(g->file[0]->snap, &cnt);
		return fr_vec_add(&m->hole, h, cnt);
	}
	for (i = 0; i < g->ring_cnt && !err; i++)
		err = g->all_cut ? find_cut_holes(g, &g->ring[i], m) : join_rings_find_holes(g, &g->ring[i], m);
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
static struct fr_snap_ring join_rings_account(const struct fr_join_group *g, const struct fr_snap_ring *a)
{
	const struct fr_join_ring empty = {.cpu = a->cpu, .tier = a->tier};
	struct fr_snap_ring out = *a;
	u32 i;

	if (a->present) /* unless some of them are left: see below */
		out.horizon_ns = fr_join_behind_all(g);
	else if (g->all_cut)
		out.horizon_ns = cut_horizon(g, &empty);
	out.present = out.first_seq = out.last_seq = 0;
	for (i = 0; i < g->ring_cnt; i++) {
		const struct fr_join_ring *r = &g->ring[i];

		if (r->cpu != a->cpu || r->tier != a->tier)
			continue;
		out.overwritten = least_overwritten(g, r, a->overwritten);
		out.present += r->present;
		out.first_seq = first_lap(r);
		out.last_seq = fr_join_last_lap(g->file[fr_join_newest(g, r)]->snap, r);
		out.horizon_ns = g->all_cut ? cut_horizon(g, r) : fr_join_horizon(g, r);
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

static int join_rings_find_accounts(const struct fr_join_group *g, struct fr_meta *m)
{
	struct fr_snap_ring r;
	size_t cnt, k;
	int err = 0;
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		const struct fr_snap_ring *a = fr_snap_rings(g->file[i]->snap, &cnt);

		for (k = 0; k < cnt && !err; k++) {
			if (comes_again(g, i, &a[k]))
				continue;
			r = join_rings_account(g, &a[k]);
			err = fr_vec_add(&m->ring, &r, 1);
		}
	}
	return err;
}

int fr_join_account(const struct fr_part *p, struct fr_meta *m, struct fr_snap_writer *w)
{
	const struct fr_join_group *g = (const struct fr_join_group *)p;
	int err = 0;
	u32 i;

	(void)w;
	for (i = 0; i < g->ring_cnt && g->all_cut && !err; i++)
		err = find_cut_gaps(g, &g->ring[i]);
	err = err ?: join_rings_find_accounts(g, m);
	return err ?: find_all_holes(g, m);
}
