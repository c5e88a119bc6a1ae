/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/replay/gaps.h"

#include <errno.h>
#include <stdlib.h>

#include "base/set/vec.h"
#include "read/replay/summary.h"

/* ---- words ---- */

static const char *const words[FR_GAP_CNT][2] = {
	[FR_HOLE_overwritten] = {"overwritten", "overwritten while it was read"},
	[FR_HOLE_inflight] = {"inflight", "still being written"},
	[FR_HOLE_damaged] = {"damaged", "damaged"},
	[FR_HOLE_cut] = {"cut", "cut away"},
	[FR_GAP_before] = {"before", "overwritten earlier, not recorded yet, or not asked for"},
	[FR_GAP_between] = {"between", "in none of the snapshots"},
	[FR_GAP_after] = {"after", "after its ring was copied"},
};

const char *fr_gap_word(u8 why)
{
	return why < FR_GAP_CNT ? words[why][0] : NULL;
}

const char *fr_gap_text(u8 why)
{
	return why < FR_GAP_CNT ? words[why][1] : NULL;
}

/* ---- lists ---- */

int fr_gap_list_add(struct fr_gap_list *to, struct fr_gap gap)
{
	struct fr_gap *more;

	if (gap.since_ns > gap.until_ns)
		return 0;
	more = fr_vec_more(&to->g, to->cnt);
	if (!more)
		return -ENOMEM;
	to->cnt++;
	*more = gap;
	return 0;
}

static int gaps_by_begin(const void *a, const void *b)
{
	const struct fr_gap *x = a, *y = b;

	return x->since_ns < y->since_ns ? -1 : x->since_ns > y->since_ns;
}

static int gaps_by_cpu(const void *a, const void *b)
{
	const struct fr_gap *x = a, *y = b;

	return x->cpu != y->cpu ? (int)x->cpu - (int)y->cpu : gaps_by_begin(a, b);
}

static void gaps_sort(struct fr_gap_list *l, int (*order)(const void *, const void *))
{
	if (l->cnt)
		qsort(l->g, l->cnt, sizeof(*l->g), order);
}

void fr_gaps_clear(struct fr_gaps *g)
{
	free(g->covered.g);
	free(g->hole.g);
	free(g->end.g);
	free(g->gap.g);
}

/* ---- chunks that were lost with their headers ---- */

static bool gaps_is_of(const struct fr_chunk *c, const struct fr_snap_ring *r)
{
	return c->cpu == r->cpu && c->tier == r->tier;
}

/* Are all events of the ring's account present, in readable parts or not? If it was lost, nobody knows. */
static bool has_all(const struct fr_snap_ring *r, const struct fr_chunk *c, size_t cnt)
{
	u64 row_cnt = 0;
	size_t i;

	for (i = 0; i < cnt; i++)
		row_cnt += gaps_is_of(&c[i], r) ? c[i].row_cnt : 0;
	return r->slot_cnt && row_cnt >= r->present;
}

/* The recorder's chunks hold whole laps; those of rows, which cut and merge write, may end within one. */
static bool splits_laps(const struct fr_snap *snap)
{
	return fr_snap_fact(snap, "merge_cnt") || fr_snap_fact(snap, "cut_from");
}

/* What may be missing from a ring between two of its chunks; NULL: before the first, after the last. */
static struct fr_snap_hole hole_between(const struct fr_snap *snap, const struct fr_snap_ring *r, const struct fr_chunk *before,
					const struct fr_chunk *after)
{
	struct fr_snap_hole hole = {
		.cpu = r->cpu,
		.tier = r->tier,
		.why = FR_HOLE_damaged,
		.first_seq = before ? before->last_seq + 1 : r->first_seq,
		.last_seq = after ? after->first_seq - 1 : r->last_seq,
		.since_ns = before ? before->last_ts : 0,
		.until_ns = after ? after->first_ts : 0,
	};

	if (before && (splits_laps(snap) || hole.first_seq > hole.last_seq))
		hole.first_seq = before->last_seq;
	if (after && (splits_laps(snap) || hole.first_seq > hole.last_seq))
		hole.last_seq = after->first_seq;
	if (hole.last_seq < hole.first_seq)
		hole.last_seq = hole.first_seq;
	return hole;
}

static bool is_lost_between(const struct fr_snap *snap, const struct fr_chunk *before, const struct fr_chunk *after)
{
	size_t cnt, i;
	const u64 *off = fr_snap_lost_chunks(snap, &cnt);

	for (i = 0; i < cnt; i++)
		if ((!before || before->file_off < off[i]) && (!after || off[i] < after->file_off))
			return true;
	return false;
}

struct fr_snap_hole fr_gaps_hole_of(const struct fr_chunk *c)
{
	return (struct fr_snap_hole){
		.cpu = c->cpu,
		.tier = c->tier,
		.why = FR_HOLE_damaged,
		.first_seq = c->first_seq,
		.last_seq = c->last_seq,
		.since_ns = c->first_ts,
		.until_ns = c->last_ts,
	};
}

/* A ring's chunks are in its order. For a chunk without a header, the accounts tell which rings miss events. */
size_t fr_gaps_find_lost(const struct fr_snap *snap, const struct fr_snap_ring *r, struct fr_snap_hole *lost, size_t max)
{
	size_t cnt, i, lost_cnt = 0;
	const struct fr_chunk *c = fr_snap_chunks(snap, &cnt), *before = NULL;

	if (!max || has_all(r, c, cnt))
		return 0;
	for (i = 0; i <= cnt && lost_cnt < max; i++) {
		const struct fr_chunk *after = i < cnt ? &c[i] : NULL;

		if (after && !gaps_is_of(after, r))
			continue;
		if (is_lost_between(snap, before, after))
			lost[lost_cnt++] = hole_between(snap, r, before, after);
		before = after;
	}
	return lost_cnt;
}

size_t fr_gaps_lost_max(const struct fr_snap *snap)
{
	size_t chunk_cnt, ring_cnt, lost_cnt;

	fr_snap_chunks(snap, &chunk_cnt);
	fr_snap_rings(snap, &ring_cnt);
	fr_snap_lost_chunks(snap, &lost_cnt);
	return lost_cnt ? chunk_cnt + ring_cnt : 0;
}

/* ---- what is covered ---- */

/* Parts that were found damaged, of which no more than the header is known. */
static int gaps_find_damage(const struct fr_snap *snap, const struct fr_snap_ring *r, struct fr_gap_list *holes)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(snap, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		if (gaps_is_of(&c[i], r) && c[i].damaged)
			err = fr_gap_list_add(holes, (struct fr_gap){r->cpu, FR_HOLE_damaged, c[i].first_ts, c[i].last_ts});
	return err;
}

static int gaps_add_holes(const struct fr_snap_ring *r, const struct fr_snap_hole *h, size_t cnt, struct fr_gap_list *holes)
{
	size_t i;
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		if (h[i].cpu == r->cpu && h[i].tier == r->tier)
			err = fr_gap_list_add(holes, (struct fr_gap){.cpu = r->cpu,
								     .why = h[i].why,
								     .since_ns = h[i].since_ns,
								     .until_ns = h[i].until_ns ?: FR_GAP_OPEN});
	return err;
}

static int gaps_add_lost(const struct fr_snap *snap, const struct fr_snap_ring *r, struct fr_gap_list *holes)
{
	size_t max = fr_gaps_lost_max(snap);
	struct fr_snap_hole *lost = malloc((max + 1) * sizeof(*lost));
	int err = lost ? gaps_add_holes(r, lost, fr_gaps_find_lost(snap, r, lost, max), holes) : -ENOMEM;

	free(lost);
	return err;
}

/* The holes of a ring, by time; one that does not say when it begins does so with the ring. */
static int gaps_find_holes(const struct fr_gaps *g, const struct fr_snap *snap, const struct fr_snap_ring *r,
			   struct fr_gap_list *holes)
{
	size_t cnt;
	const struct fr_snap_hole *h = fr_snap_holes(snap, &cnt);
	int err = gaps_add_lost(snap, r, holes);

	err = err || !g->is_read ? err : gaps_find_damage(snap, r, holes);
	err = err ?: gaps_add_holes(r, h, cnt, holes);
	gaps_sort(holes, gaps_by_begin);
	return err;
}

/* The first event of the laps that a ring's account is of; from the first lap ever on the ring is as complete as any. */
static u64 first_event_ns(const struct fr_snap *snap, const struct fr_snap_ring *r)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(snap, &cnt);
	u64 first_ns = ~0ULL;

	for (i = 0; i < cnt; i++)
		if ((c[i].cpu == r->cpu || r->first_seq == 1) && c[i].tier == r->tier && c[i].first_seq >= r->first_seq &&
		    c[i].first_ts < first_ns)
			first_ns = c[i].first_ts;
	return first_ns;
}

/* The same, but from before all programs of the session were attached events of some kinds are missing. */
static u64 first_known_ns(const struct fr_snap *snap, const struct fr_snap_ring *r)
{
	u64 first_ns = first_event_ns(snap, r);
	s64 attached_ns = 0;

	fr_snap_fact_num(snap, "begin_ns", &attached_ns);
	return first_ns < (u64)attached_ns ? (u64)attached_ns : first_ns;
}

u64 fr_gaps_begin(const struct fr_snap *snap, const struct fr_snap_ring *r)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(snap, &cnt);
	u64 horizon_ns = fr_ring_horizon(snap, r), first_ns = horizon_ns;

	for (i = 0; i < cnt; i++)
		if (h[i].cpu == r->cpu && h[i].tier == r->tier)
			first_ns = first_known_ns(snap, r);
	return first_ns < horizon_ns ? first_ns : horizon_ns;
}

/* A hole that ends after all that the snapshot has is closed by another one that reaches as far. */
static int gaps_add_end(struct fr_gaps *g, const struct fr_gap *h, u64 end_ns)
{
	struct fr_gap end = *h;

	if (h->until_ns <= end_ns)
		return 0;
	end.until_ns = h->until_ns == FR_GAP_OPEN ? end_ns : h->until_ns;
	return fr_gap_list_add(&g->end, end);
}

/* The parts before, between and after the holes of a ring, to the snapshot's end. If there is none, all is missing. */
static int cover_around(struct fr_gaps *g, u16 cpu, const struct fr_gap_list *holes, u64 from_ns, u64 end_ns)
{
	size_t i, was = g->covered.cnt, ends = g->end.cnt;
	int err = 0;

	for (i = 0; i < holes->cnt && !err; i++) {
		const struct fr_gap *h = &holes->g[i];

		err = fr_gap_list_add(&g->hole, *h);
		if (!err && h->since_ns > from_ns && from_ns <= end_ns)
			err = fr_gap_list_add(&g->covered, (struct fr_gap){cpu, 0, from_ns, h->since_ns});
		err = err ?: gaps_add_end(g, h, end_ns);
		if (h->until_ns > from_ns)
			from_ns = h->until_ns;
	}
	err = err ?: fr_gap_list_add(&g->covered, (struct fr_gap){cpu, 0, from_ns, end_ns});
	if (err || g->covered.cnt > was)
		return err;
	g->end.cnt = ends;
	return fr_gap_list_add(&g->end, (struct fr_gap){cpu, holes->cnt ? holes->g[0].why : FR_GAP_before, 0, end_ns});
}

static int cover(struct fr_gaps *g, const struct fr_snap *snap, const struct fr_snap_ring *r, u64 end_ns)
{
	struct fr_gap_list holes = {0};
	int err = gaps_find_holes(g, snap, r, &holes);

	err = err ?: cover_around(g, r->cpu, &holes, fr_gaps_begin(snap, r), end_ns);
	free(holes.g);
	return err;
}

/* The time until which a cut has everything its snapshot had; 0: it is no cut. */
static u64 cut_end(const struct fr_snap *snap)
{
	s64 until_ns, taken_ns;

	if (!fr_snap_fact_num(snap, "cut_until", &until_ns) || !fr_snap_fact_num(snap, "snapshot_ns", &taken_ns))
		return 0;
	return until_ns < taken_ns ? until_ns : taken_ns;
}

/* The last event, or the end of a window that was cut out: between it and that, nothing happened. */
static u64 gaps_end_of(const struct fr_snap *snap)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(snap, &cnt);
	u64 end_ns = cut_end(snap);

	for (i = 0; i < cnt; i++)
		end_ns = c[i].last_ts > end_ns ? c[i].last_ts : end_ns;
	return end_ns;
}

u64 fr_gaps_end(const struct fr_snap *snap, const struct fr_snap_ring *r)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(snap, &cnt);
	u64 end_ns = r->end_ns;

	for (i = 0; i < cnt && r->end_ns; i++)
		if (gaps_is_of(&c[i], r) && c[i].last_ts > end_ns)
			end_ns = c[i].last_ts;
	return r->end_ns ? end_ns : gaps_end_of(snap);
}

/* When the last of the rings of a tier ends. */
static u64 end_of_all(const struct fr_snap *snap, u8 tier)
{
	size_t cnt, i;
	const struct fr_snap_ring *r = fr_snap_rings(snap, &cnt);
	u64 last_ns = 0;

	for (i = 0; i < cnt; i++)
		if (r[i].tier == tier && fr_gaps_end(snap, &r[i]) > last_ns)
			last_ns = fr_gaps_end(snap, &r[i]);
	return last_ns;
}

/* What the ring covers, and from where on it does not while others do. */
static int cover_to_end(struct fr_gaps *g, const struct fr_snap *snap, const struct fr_snap_ring *r)
{
	u64 end_ns = fr_gaps_end(snap, r), last_ns = g->ends ? end_of_all(snap, g->tier) : 0;
	int err = cover(g, snap, r, end_ns);

	return err || last_ns <= end_ns ? err
					: fr_gap_list_add(&g->end, (struct fr_gap){r->cpu, FR_GAP_after, end_ns, last_ns});
}

/* CPUs that were cut away are not covered. A file without an account of its rings counts as complete. */
int fr_gaps_add(struct fr_gaps *g, const struct fr_snap *snap)
{
	size_t cnt, i;
	const struct fr_snap_ring *r = fr_snap_rings(snap, &cnt);
	u64 end_ns = gaps_end_of(snap);
	int err = 0;

	for (i = 0; i < cnt && !err; i++) {
		if (r[i].tier != g->tier)
			continue;
		if (fr_cut_has_cpu(snap, r[i].cpu))
			err = cover_to_end(g, snap, &r[i]);
		else
			err = fr_gap_list_add(&g->end, (struct fr_gap){r[i].cpu, FR_HOLE_cut, 0, end_ns});
	}
	return err;
}

/* ---- gaps ---- */

/* Why events of a CPU are missing at that time: a hole says so itself. */
static u8 gaps_why_of(const struct fr_gaps *g, const struct fr_gap *gap)
{
	size_t i;

	for (i = 0; i < g->hole.cnt; i++) {
		const struct fr_gap *h = &g->hole.g[i];

		if (h->cpu == gap->cpu && h->since_ns < gap->until_ns && h->until_ns > gap->since_ns)
			return h->why;
	}
	return gap->since_ns ? FR_GAP_between : FR_GAP_before;
}

static int add_gap(struct fr_gaps *g, u16 cpu, u64 since_ns, u64 until_ns)
{
	struct fr_gap gap = {.cpu = cpu, .since_ns = since_ns, .until_ns = until_ns};

	gap.why = gaps_why_of(g, &gap);
	return fr_gap_list_add(&g->gap, gap);
}

/* What lies before and between the stretches of each CPU. */
static int find_between(struct fr_gaps *g)
{
	const struct fr_gap_list *c = &g->covered;
	u64 covered_ns = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < c->cnt && !err; i++) {
		if (!i || c->g[i].cpu != c->g[i - 1].cpu)
			covered_ns = 0;
		if (c->g[i].since_ns > covered_ns)
			err = add_gap(g, c->g[i].cpu, covered_ns, c->g[i].since_ns);
		if (c->g[i].until_ns > covered_ns)
			covered_ns = c->g[i].until_ns;
	}
	return err;
}

static u64 covered_until(const struct fr_gaps *g, u16 cpu)
{
	u64 until_ns = 0;
	size_t i;

	for (i = 0; i < g->covered.cnt; i++)
		if (g->covered.g[i].cpu == cpu && g->covered.g[i].until_ns > until_ns)
			until_ns = g->covered.g[i].until_ns;
	return until_ns;
}

/* Several snapshots may know nothing of a CPU from some time on: the earliest one counts. */
static int add_open_gap(struct fr_gaps *g, const struct fr_gap *gap)
{
	size_t i;

	for (i = 0; i < g->gap.cnt; i++) {
		struct fr_gap *other = &g->gap.g[i];

		if (other->cpu != gap->cpu || other->until_ns != FR_GAP_OPEN)
			continue;
		if (gap->since_ns < other->since_ns)
			*other = *gap;
		return 0;
	}
	return fr_gap_list_add(&g->gap, *gap);
}

/* What a snapshot misses at its end is covered by another one that continues; otherwise nothing is known after it. */
static int find_ends(struct fr_gaps *g)
{
	size_t i;
	int err = 0;

	for (i = 0; i < g->end.cnt && !err; i++) {
		struct fr_gap gap = g->end.g[i];
		u64 until_ns = covered_until(g, gap.cpu);

		if (until_ns >= gap.until_ns)
			continue;
		gap.since_ns = until_ns > gap.since_ns ? until_ns : gap.since_ns;
		gap.until_ns = FR_GAP_OPEN;
		err = add_open_gap(g, &gap);
	}
	return err;
}

int fr_gaps_ready(struct fr_gaps *g)
{
	int err;

	gaps_sort(&g->covered, gaps_by_cpu);
	err = find_between(g) ?: find_ends(g);
	gaps_sort(&g->gap, gaps_by_begin);
	return err;
}
