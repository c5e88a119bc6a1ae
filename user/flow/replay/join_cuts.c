/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* join_cuts: horizon and holes where all files are cuts: laps are whole in none, so it is time that tells what is missing. */
#include <errno.h>
#include <stdlib.h>

#include "flow/replay/join_int.h"
#include "flow/replay/summary.h"

int fr_join_find_cut_gaps(const struct fr_join_group *g, struct fr_join_ring *r)
{
	u32 i;
	int err = 0;

	r->missing = (struct fr_gaps){.tier = r->tier, .is_read = true};
	for (i = 0; i < g->file_cnt && !err; i++)
		err = fr_gaps_add(&r->missing, g->file[i]->snap);
	return err ? err : fr_gaps_ready(&r->missing);
}

/* ---- the horizon ---- */

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
static u64 end_of(const struct fr_join_file *file)
{
	s64 until_ns;

	return fr_snap_fact_num(file->snap, "cut_until", &until_ns) ? (u64)until_ns : file->taken_ns;
}

/* A window before the ring's history has only what other rings remember: then nothing of this one is complete. */
static const struct fr_snap_ring *complete_part(const struct fr_join_file *file, const struct fr_join_ring *r)
{
	const struct fr_snap_ring *a = account_of_cut(file->snap, r);

	return a && a->horizon_ns <= end_of(file) ? a : NULL;
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

u64 fr_join_cut_horizon(const struct fr_join_group *g, const struct fr_join_ring *r)
{
	u64 horizon_ns = latest_horizon(g, r);
	const struct fr_snap_ring *a;
	bool more = true;
	u32 i;

	while (more) {
		more = false;
		for (i = 0; i < g->file_cnt; i++) {
			a = complete_part(g->file[i], r);
			if (!a || a->horizon_ns >= horizon_ns || end_of(g->file[i]) < horizon_ns)
				continue;
			horizon_ns = a->horizon_ns;
			more = true;
		}
	}
	return behind_gaps(r, horizon_ns);
}

/* ---- holes ---- */

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

int fr_join_put_cut_holes(const struct fr_join_group *g, const struct fr_join_ring *r, struct fr_snap_writer *w)
{
	const struct fr_gap_list *gap = &r->missing.gap;
	struct fr_snap_hole *h = malloc((gap->cnt + 1) * sizeof(*h));
	size_t i, cnt = 0;
	int err;

	for (i = 0; i < gap->cnt && h; i++)
		if (is_hole(r, &gap->g[i]))
			h[cnt++] = hole_of_gap(g, r, &gap->g[i]);
	err = h ? fr_snap_put_holes(w, h, cnt) : -ENOMEM;
	free(h);
	return err;
}
