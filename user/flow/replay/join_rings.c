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

/* First and last lap that a file has events of. False: none. */
static bool laps_of(const struct fr_snap *s, const struct fr_join_ring *r, u64 *first, u64 *last)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	bool any = false;

	for (i = 0; i < cnt; i++) {
		if (c[i].epoch != r->epoch || c[i].cpu != r->cpu || c[i].tier != r->tier)
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

/* The damaged chunks of a file, of which no more than the header is known. */
static int cut_damage(const struct fr_snap *s, const struct fr_join_ring *r, struct fr_spans *have)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		if (c[i].damaged && c[i].epoch == r->epoch && c[i].cpu == r->cpu && c[i].tier == r->tier)
			err = fr_spans_cut(have, c[i].first_seq, c[i].last_seq);
	return err;
}

/* Whole laps of one file. newest: its last lap is as whole as it will get. */
static int add_whole(const struct fr_join_file *f, const struct fr_join_ring *r, bool newest, struct fr_spans *have)
{
	const struct fr_snap_ring *a = account_of(f->snap, r);
	struct fr_spans whole = {};
	u64 first, last;
	size_t i;
	int err;

	if (f->is_cut || !a || !laps_of(f->snap, r, &first, &last))
		return 0;
	last = a->last_seq > last ? a->last_seq : last;
	first += begins_by_choice(f->snap, a);
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

/* The file that knows the ring's latest lap; of several the one taken last. */
static u32 newest_of(const struct fr_join_group *g, const struct fr_join_ring *r)
{
	u32 i, best = 0;

	for (i = 1; i < g->file_cnt; i++)
		if (last_lap(g->file[i], r) >= last_lap(g->file[best], r))
			best = i;
	return best;
}

int fr_join_missing(const struct fr_join_group *g, const struct fr_join_ring *r, struct fr_spans *missing)
{
	struct fr_spans have = {};
	u32 i, newest = newest_of(g, r);
	u64 first = ~0ULL, last = last_lap(g->file[newest], r);
	size_t k;
	int err = 0;

	*missing = (struct fr_spans){};
	for (i = 0; i < g->file_cnt && !err; i++)
		err = add_whole(g->file[i], r, i == newest, &have);
	if (have.cnt)
		first = have.span[0].first;
	err = err ? err : fr_spans_add(missing, first, last);
	for (k = 0; k < have.cnt && !err; k++)
		err = fr_spans_cut(missing, have.span[k].first, have.span[k].last);
	fr_spans_free(&have);
	return err;
}

int fr_join_find_complete(const struct fr_join_group *g, struct fr_join_ring *r)
{
	struct fr_spans missing;
	int err = fr_join_missing(g, r, &missing);

	if (!err)
		r->complete_seq = missing.cnt ? missing.span[missing.cnt - 1].last + 1 : 0;
	fr_spans_free(&missing);
	return err;
}

/* ---- what is written ---- */

/*
 * From when on a ring is complete. With no lap missing: since the earliest file is. Else what a file says that begins behind
 * the gap, if one does; or since the first event there.
 */
static u64 horizon(const struct fr_join_group *g, const struct fr_join_ring *r)
{
	u64 best = r->complete_seq ? r->complete_ns : ~0ULL;
	u64 from = 0, least = ~0ULL;
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		const struct fr_snap_ring *a = account_of(g->file[i]->snap, r);

		if (!a || (g->file[i]->is_cut && !g->all_cut))
			continue;
		if (a->horizon_ns < least)
			least = a->horizon_ns;
		if (a->horizon_ns > r->before_ns && a->horizon_ns < best)
			from = a->horizon_ns > from ? a->horizon_ns : from;
	}
	if (!r->complete_seq)
		return least == ~0ULL ? 0 : least;
	return from ? from : best;
}

/* What an input says of a hole; if none does: its laps were gone before the later snapshot was taken. */
static struct fr_snap_hole hole_at(const struct fr_join_group *g, const struct fr_join_ring *r, const struct fr_span *s)
{
	struct fr_snap_hole hole = {.cpu = r->cpu, .tier = r->tier, .why = FR_HOLE_overwritten};
	size_t cnt, k;
	u32 i;

	for (i = g->file_cnt; i-- > 0;) {
		const struct fr_snap_hole *h = fr_snap_holes(g->file[i]->snap, &cnt);

		for (k = 0; k < cnt; k++) {
			if (is_hole_of(&h[k], r) && h[k].first_seq <= s->last && h[k].last_seq >= s->first) {
				hole = h[k];
				i = 0;
				break;
			}
		}
	}
	hole.first_seq = s->first;
	hole.last_seq = s->last;
	return hole;
}

static int put_holes(const struct fr_join_group *g, const struct fr_join_ring *r, struct fr_snap_writer *w)
{
	struct fr_snap_hole *h = NULL;
	struct fr_spans missing;
	int err = fr_join_missing(g, r, &missing);
	size_t i;

	if (err || !missing.cnt)
		goto out;
	h = malloc(missing.cnt * sizeof(*h));
	for (i = 0; i < missing.cnt && h; i++)
		h[i] = hole_at(g, r, &missing.span[i]);
	err = h ? fr_snap_put_holes(w, h, missing.cnt) : -ENOMEM;
out:
	free(h);
	fr_spans_free(&missing);
	return err;
}

/* The account of who was last to ask, of what is in the file now. */
static struct fr_snap_ring account(const struct fr_join_group *g, const struct fr_snap_ring *a)
{
	struct fr_snap_ring out = *a;
	u32 i;

	out.present = out.first_seq = out.last_seq = 0;
	for (i = 0; i < g->ring_cnt; i++) {
		const struct fr_join_ring *r = &g->ring[i];

		if (r->cpu != a->cpu || r->tier != a->tier)
			continue;
		out.present += r->present;
		out.first_seq = r->first_seq;
		out.last_seq = last_lap(g->file[newest_of(g, r)], r);
		out.horizon_ns = horizon(g, r);
	}
	return out;
}

/* Is there an account of this ring in a file behind this one? */
static bool comes_again(const struct fr_join_group *g, u32 file, const struct fr_snap_ring *a)
{
	struct fr_join_ring r = {.cpu = a->cpu, .tier = a->tier};
	u32 i;

	for (i = file + 1; i < g->file_cnt; i++)
		if (account_of(g->file[i]->snap, &r))
			return true;
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
	int err = put_accounts(g, w);
	u32 i;

	for (i = 0; i < g->ring_cnt && !err; i++)
		err = put_holes(g, &g->ring[i], w);
	return err;
}
