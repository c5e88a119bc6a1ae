/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * join_rings: which laps of a ring the files hold together, and so what its account and its holes are.
 *
 * A file holds the laps from its first to its last as a whole, but for its holes; the last one was being written when the
 * snapshot was taken. Of a file that was cut, and of the first lap of one that begins at a time of choice, nobody knows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow/replay/join_int.h"
#include "flow/replay/summary.h"

static const struct fr_snap_ring *account_of(const struct fr_snap *s, const struct fr_join_ring *r)
{
	size_t cnt, i;
	const struct fr_snap_ring *a = fr_snap_rings(s, &cnt);

	for (i = 0; i < cnt; i++)
		if (a[i].cpu == r->cpu && a[i].tier == r->tier)
			return &a[i];
	return NULL;
}

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

static bool is_chunk_of(const struct fr_chunk *c, const struct fr_join_ring *r)
{
	return c->epoch == r->epoch && c->cpu == r->cpu && c->tier == r->tier;
}

/* First and last lap that a file has events of. False: none. */
static bool laps_of(const struct fr_snap *s, const struct fr_join_ring *r, u64 *first, u64 *last)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	bool any = false;

	for (i = 0; i < cnt; i++) {
		if (!is_chunk_of(&c[i], r))
			continue;
		if (!any || c[i].first_seq < *first)
			*first = c[i].first_seq;
		if (!any || c[i].last_seq > *last)
			*last = c[i].last_seq;
		any = true;
	}
	return any;
}

static bool is_hole_of(const struct fr_snap_hole *h, const struct fr_join_ring *r)
{
	return h->cpu == r->cpu && h->tier == r->tier;
}

static int cut_holes(const struct fr_snap *s, const struct fr_join_ring *r, struct fr_spans *have)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(s, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		if (is_hole_of(&h[i], r))
			err = fr_spans_cut(have, h[i].first_seq, h[i].last_seq);
	return err;
}

/* The damaged chunks of a file, of which no more than the header is known, or not even that; malloc'ed. NULL: no memory. */
static struct fr_snap_hole *find_damage(const struct fr_snap *s, const struct fr_join_ring *r, size_t *found)
{
	size_t cnt, i, max = fr_gaps_lost_max(s);
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	const struct fr_snap_ring *a = account_of(s, r);
	struct fr_snap_hole *h = malloc((cnt + max + 1) * sizeof(*h));

	*found = 0;
	for (i = 0; i < cnt && h; i++)
		if (c[i].damaged && is_chunk_of(&c[i], r))
			h[(*found)++] = (struct fr_snap_hole){.cpu = r->cpu,
							      .tier = r->tier,
							      .why = FR_HOLE_damaged,
							      .first_seq = c[i].first_seq,
							      .last_seq = c[i].last_seq,
							      .since_ns = c[i].first_ts,
							      .until_ns = c[i].last_ts};
	if (h && a)
		*found += fr_gaps_find_lost(s, a, h + *found, max);
	return h;
}

static int cut_damage(const struct fr_snap *s, const struct fr_join_ring *r, struct fr_spans *have)
{
	size_t cnt, i;
	struct fr_snap_hole *h = find_damage(s, r, &cnt);
	int err = h ? 0 : -ENOMEM;

	for (i = 0; i < cnt && !err; i++)
		err = fr_spans_cut(have, h[i].first_seq, h[i].last_seq);
	free(h);
	return err;
}

/* Complete laps of one file. newest: its last lap is as complete as it will get. */
static int add_whole(const struct fr_join_file *f, const struct fr_join_ring *r, bool newest, struct fr_spans *have)
{
	const struct fr_snap_ring *a = account_of(f->snap, r);
	struct fr_spans whole = {};
	u64 first, last = 0;
	size_t i;
	int err;

	if (f->is_cut || !a || !laps_of(f->snap, r, &first, &last))
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

static u64 last_lap(const struct fr_join_file *f, const struct fr_join_ring *r)
{
	const struct fr_snap_ring *a = account_of(f->snap, r);
	u64 first = 0, last = 0;

	laps_of(f->snap, r, &first, &last);
	return a && a->last_seq > last ? a->last_seq : last;
}

/* The same, with laps that its snapshot could not read: of a hole at the ring's end. */
static u64 last_known_lap(const struct fr_join_file *f, const struct fr_join_ring *r)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(f->snap, &cnt);
	u64 last = last_lap(f, r);

	for (i = 0; i < cnt; i++)
		if (is_hole_of(&h[i], r) && h[i].last_seq > last)
			last = h[i].last_seq;
	return last;
}

/* Of a ring; NULL: of all. */
static u64 last_event_ns(const struct fr_snap *s, const struct fr_join_ring *r)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	u64 last_ns = 0;

	for (i = 0; i < cnt; i++)
		if (c[i].last_ts > last_ns && (!r || is_chunk_of(&c[i], r)))
			last_ns = c[i].last_ts;
	return last_ns;
}

static bool is_newer(const struct fr_join_file *f, const struct fr_join_file *than, const struct fr_join_ring *r)
{
	u64 lap = last_lap(f, r), other = last_lap(than, r), ns = last_event_ns(f->snap, r),
	    other_ns = last_event_ns(than->snap, r);

	if (lap != other)
		return lap > other;
	return ns != other_ns ? ns > other_ns : !f->is_cut || than->is_cut;
}

/* The file with the latest account of the ring; of several, one that was not cut, and of these the one taken last. */
static u32 newest_of(const struct fr_join_group *g, const struct fr_join_ring *r)
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
	u32 newest = newest_of(g, r);
	u64 last = last_lap(g->file[newest], r);
	size_t k;
	int err = find_whole(g, r, newest, &have);

	*before = last;
	if (have.cnt) {
		*before = have.span[0].first ? have.span[0].first - 1 : 0;
		err = err ? err : fr_spans_add(missing, have.span[0].first, last_known_lap(g->file[newest], r));
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

/* ---- when ---- */

/* A time through which a file has all of a ring. */
struct stretch {
	u64 from_ns, to_ns; /* to_ns: its last event; ~0: to the ring's end */
	u64 end_ns;	    /* the file's last event: nothing came in between */
};

/* Without memory to find out: yes. */
static bool is_damaged_from(const struct fr_snap *s, const struct fr_join_ring *r, u64 from_ns)
{
	size_t cnt, i;
	struct fr_snap_hole *h = find_damage(s, r, &cnt);
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
		if (is_hole_of(&h[i], r) && h[i].until_ns > from_ns)
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
		if (is_hole_of(&h[i], r) && !h[i].until_ns && h[i].since_ns < since_ns)
			since_ns = h[i].since_ns;
	return since_ns;
}

/* From the file's horizon of the ring to its last event there. False: not even that is known to be whole. */
static bool find_stretch(const struct fr_join_group *g, const struct fr_join_ring *r, u32 file, struct stretch *out)
{
	const struct fr_snap *s = g->file[file]->snap;
	const struct fr_snap_ring *a = account_of(s, r);

	if (!a || g->file[file]->is_cut || is_damaged_from(s, r, a->horizon_ns) || has_hole_behind(s, r, a->horizon_ns))
		return false;
	*out = (struct stretch){a->horizon_ns, last_event_ns(s, r), last_event_ns(s, NULL)};
	if (end_hole_ns(s, r) != ~0ULL)
		out->to_ns = out->end_ns = end_hole_ns(s, r);
	else if (file == newest_of(g, r))
		out->to_ns = ~0ULL;
	return true;
}

/* The last time before a gap up to which nothing is missing: a file may end within its first lap. */
static u64 gap_since(const struct fr_join_group *g, const struct fr_join_ring *r, const struct fr_join_gap *gap)
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

/* The time from which nothing is missing again: a file may begin within its last lap. False: no file has what follows. */
static bool gap_until(const struct fr_join_group *g, const struct fr_join_ring *r, const struct fr_join_gap *gap, u64 *until_ns)
{
	u64 since_ns = gap_since(g, r, gap), end_ns = gap->behind_ns ? gap->behind_ns : ~0ULL, best = end_ns;
	struct stretch s;
	u32 i;

	for (i = 0; i < g->file_cnt; i++)
		if (find_stretch(g, r, i, &s) && s.from_ns >= since_ns && s.from_ns < best && s.to_ns >= end_ns)
			best = s.from_ns;
	*until_ns = best;
	return best != ~0ULL;
}

/* What could not be read is missing, too. */
static u64 behind_gaps(const struct fr_join_ring *r, u64 horizon_ns)
{
	size_t i;

	for (i = 0; i < r->missing.gap.cnt; i++) {
		const struct fr_gap *gap = &r->missing.gap.g[i];

		if (gap->cpu == r->cpu && gap->until_ns != FR_GAP_OPEN && gap->until_ns > horizon_ns)
			horizon_ns = gap->until_ns;
	}
	return horizon_ns;
}

/* NULL also where the CPU was cut away. */
static const struct fr_snap_ring *account_of_cut(const struct fr_snap *s, const struct fr_join_ring *r)
{
	return fr_cut_has_cpu(s, r->cpu) ? account_of(s, r) : NULL;
}

/* Of cuts alone: the latest horizon, or that of a window that reaches to it, and so on. */
static u64 horizon_of_cuts(const struct fr_join_group *g, const struct fr_join_ring *r)
{
	const struct fr_snap_ring *a;
	u64 horizon_ns = 0;
	bool more = true;
	s64 until_ns;
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		a = account_of_cut(g->file[i]->snap, r);
		horizon_ns = a && a->horizon_ns > horizon_ns ? a->horizon_ns : horizon_ns;
	}
	while (more) {
		more = false;
		for (i = 0; i < g->file_cnt; i++) {
			a = account_of_cut(g->file[i]->snap, r);
			if (!fr_snap_fact_num(g->file[i]->snap, "cut_until", &until_ns))
				until_ns = g->file[i]->taken_ns;
			if (!a || a->horizon_ns >= horizon_ns || (u64)until_ns < horizon_ns)
				continue;
			horizon_ns = a->horizon_ns;
			more = true;
		}
	}
	return behind_gaps(r, horizon_ns);
}

/* ---- what is written ---- */

/* From when on a file has a ring, but for its holes: a horizon that lies behind one says nothing of what is before it. */
static u64 begin_ns(const struct fr_snap *s, const struct fr_join_ring *r, u64 horizon_ns)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(s, &cnt);
	const struct fr_chunk *c;
	bool has_hole = false;
	u64 ns = horizon_ns;

	for (i = 0; i < cnt; i++)
		has_hole |= is_hole_of(&h[i], r) && h[i].until_ns == horizon_ns;
	c = fr_snap_chunks(s, &cnt);
	for (i = 0; i < cnt && has_hole; i++)
		if (is_chunk_of(&c[i], r) && c[i].first_ts < ns)
			ns = c[i].first_ts;
	return ns;
}

static u64 earliest_horizon(const struct fr_join_group *g, const struct fr_join_ring *r)
{
	u64 least = ~0ULL;
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		const struct fr_snap_ring *a = account_of(g->file[i]->snap, r);

		if (a && !g->file[i]->is_cut && begin_ns(g->file[i]->snap, r, a->horizon_ns) < least)
			least = begin_ns(g->file[i]->snap, r, a->horizon_ns);
	}
	return least;
}

/* Does a gap lie behind all laps there are? A snapshot tells of it as a hole without an end. */
static bool is_end(const struct fr_join_group *g, const struct fr_join_ring *r, const struct fr_join_gap *gap)
{
	return gap->lap.first > last_lap(g->file[newest_of(g, r)], r);
}

static u64 behind_all(const struct fr_join_group *g)
{
	return g->file[g->file_cnt - 1]->taken_ns + 1;
}

/*
 * From when on a ring is complete: behind its last gap, or the one before a hole at its end, and not before a file says so. If
 * nobody has what is behind the gap: behind all that is known of.
 */
static u64 horizon(const struct fr_join_group *g, const struct fr_join_ring *r)
{
	const struct fr_join_gap *gap = &r->gap[r->gap_cnt - 1];
	u64 until_ns, least;

	if (g->all_cut)
		return horizon_of_cuts(g, r);
	if (gap > r->gap && is_end(g, r, gap))
		gap--;
	if (!gap_until(g, r, gap, &until_ns))
		return behind_all(g);
	least = earliest_horizon(g, r);
	return until_ns > least ? until_ns : least;
}

/* Take the reason from holes that an input tells of, and all if one of them is just that gap. */
static bool take_told(const struct fr_snap_hole *h, size_t cnt, const struct fr_join_ring *r, const struct fr_join_gap *gap,
		      bool is_end, struct fr_snap_hole *out)
{
	size_t k;

	for (k = 0; k < cnt; k++) {
		if (!is_hole_of(&h[k], r) || h[k].first_seq > gap->lap.last || h[k].last_seq < gap->lap.first)
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

		is_told = take_told(h, cnt, r, gap, is_end(g, r, gap), &hole);
		damage = is_told ? NULL : find_damage(g->file[i]->snap, r, &cnt);
		if (damage)
			take_told(damage, cnt, r, gap, false, &hole);
		free(damage);
	}
	if (is_told)
		return hole;
	hole.first_seq = gap->lap.first;
	hole.last_seq = gap->lap.last;
	hole.since_ns = gap_since(g, r, gap);
	if (!gap_until(g, r, gap, &hole.until_ns))
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

/* ---- holes of cuts alone: laps are whole in none, so it is time that tells what is missing ---- */

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
			if (is_hole_of(&h[k], r) && overlaps(to, h[k].since_ns, h[k].until_ns ?: FR_GAP_OPEN))
				take_laps(to, h[k].first_seq, h[k].last_seq);
		c = fr_snap_chunks(g->file[i]->snap, &cnt);
		for (k = 0; k < cnt; k++)
			if (is_chunk_of(&c[k], r) && c[k].damaged && overlaps(to, c[k].first_ts, c[k].last_ts))
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
			if (!is_chunk_of(&c[k], r))
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

static int put_holes_of_cuts(const struct fr_join_group *g, const struct fr_join_ring *r, struct fr_snap_writer *w)
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

/* When events of a ring are missing. */
static int find_gaps_of_cuts(const struct fr_join_group *g, struct fr_join_ring *r)
{
	u32 i;
	int err = 0;

	r->missing = (struct fr_gaps){.tier = r->tier, .is_read = true};
	for (i = 0; i < g->file_cnt && !err; i++)
		err = fr_gaps_add(&r->missing, g->file[i]->snap);
	return err ? err : fr_gaps_ready(&r->missing);
}

/* Of one file alone it is as it was. */
static int copy_holes(const struct fr_snap *s, struct fr_snap_writer *w)
{
	size_t cnt;
	const struct fr_snap_hole *h = fr_snap_holes(s, &cnt);

	return fr_snap_put_holes(w, h, cnt);
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
		const struct fr_snap_ring *a = account_of(g->file[i]->snap, r);

		if (a && a->slot_cnt && a->overwritten < least)
			least = a->overwritten;
	}
	return least;
}

/* The account of who was last to ask, of what is in the file now; overwritten is what no file has. */
static struct fr_snap_ring account(const struct fr_join_group *g, const struct fr_snap_ring *a)
{
	struct fr_snap_ring out = *a;
	u32 i;

	if (a->present) /* unless some of them are left: see below */
		out.horizon_ns = behind_all(g);
	out.present = out.first_seq = out.last_seq = 0;
	for (i = 0; i < g->ring_cnt; i++) {
		const struct fr_join_ring *r = &g->ring[i];

		if (r->cpu != a->cpu || r->tier != a->tier)
			continue;
		out.overwritten = least_overwritten(g, r, a->overwritten);
		out.present += r->present;
		out.first_seq = first_lap(r);
		out.last_seq = last_lap(g->file[newest_of(g, r)], r);
		out.horizon_ns = horizon(g, r);
	}
	return out;
}

/* Is there an account of this ring in a file behind this one, or, if this one was lost, in any? */
static bool comes_again(const struct fr_join_group *g, u32 file, const struct fr_snap_ring *a)
{
	struct fr_join_ring r = {.cpu = a->cpu, .tier = a->tier};
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		const struct fr_snap_ring *other = account_of(g->file[i]->snap, &r);

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

static int put_all_holes(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	int err = 0;
	u32 i;

	if (g->all_cut && g->file_cnt == 1 && !fr_snap_damage(g->file[0]->snap))
		return copy_holes(g->file[0]->snap, w);
	for (i = 0; i < g->ring_cnt && !err; i++)
		err = g->all_cut ? put_holes_of_cuts(g, &g->ring[i], w) : put_holes(g, &g->ring[i], w);
	return err;
}

int fr_join_put_rings(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	int err = 0;
	u32 i;

	for (i = 0; i < g->ring_cnt && g->all_cut && !err; i++)
		err = find_gaps_of_cuts(g, &g->ring[i]);
	err = err ? err : put_accounts(g, w);
	return err ? err : put_all_holes(g, w);
}
