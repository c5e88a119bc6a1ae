/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * snapfile_rings: rings whose accounts were lost with a part of the file. Accounts are written last, so a file that ends too
 * early has none. Then its chunks tell what there is, and nothing tells what came after them.
 *
 * If accounts are there and holes were lost, a ring is complete from its horizon to its last event: the lost holes lie before
 * or behind that.
 */
#include <errno.h>
#include <stdlib.h>

#include "read/snapfile/snapfile_int.h"

/* What is known of a ring: its end as a hole, at the same place behind the holes that the file tells of. */
struct guess {
	struct fr_snap *s;
	size_t ring_cnt, hole_cnt;   /* those of the file */
	u64 attached_ns;	     /* before that, events of some kinds are missing */
	struct fr_snap_list skipped; /* holes within the rings */
};

static size_t snapfile_rings_find_ring(const struct fr_snap *s, const struct fr_chunk *c)
{
	const struct fr_snap_ring *r = s->rings.items;
	size_t i;

	for (i = 0; i < s->rings.cnt; i++)
		if (r[i].cpu == c->cpu && r[i].tier == c->tier)
			break;
	return i;
}

static int snapfile_rings_add_hole(struct fr_snap *s, struct fr_snap_list *l, struct fr_snap_hole hole)
{
	void *to;
	int err = fr_snap_add_items(s, l, 1, sizeof(hole), &to);

	if (!err)
		memcpy(to, &hole, sizeof(hole));
	return err;
}

static int snapfile_rings_add_ring(const struct guess *g, const struct fr_chunk *c)
{
	struct fr_snap_ring r = {.cpu = c->cpu, .tier = c->tier, .first_seq = c->first_seq};
	const struct fr_snap_hole h = {.cpu = c->cpu, .tier = c->tier, .why = FR_HOLE_damaged};
	void *to;
	int err = fr_snap_add_items(g->s, &g->s->rings, 1, sizeof(r), &to);

	if (err)
		return err;
	r.horizon_ns = c->first_ts > g->attached_ns ? c->first_ts : g->attached_ns;
	memcpy(to, &r, sizeof(r));
	return snapfile_rings_add_hole(g->s, &g->s->holes, h);
}

/* Laps that are missing in a chunk or before it are a hole; as a recorder has it, the ring is complete behind that. */
static int snapfile_rings_skip(struct guess *g, struct fr_snap_ring *r, const struct fr_snap_hole *end,
			       const struct fr_chunk *c)
{
	struct fr_snap_hole h = {.cpu = c->cpu, .tier = c->tier, .why = FR_HOLE_damaged};

	if (!c->skips && (!r->present || c->first_seq <= r->last_seq + 1))
		return 0;
	h.first_seq = c->skips ? c->first_seq : r->last_seq + 1;
	h.last_seq = c->skips ? c->last_seq : c->first_seq - 1;
	h.since_ns = r->present ? end->since_ns : c->first_ts;
	h.until_ns = c->skips ? c->last_ts : c->first_ts;
	r->horizon_ns = h.until_ns > r->horizon_ns ? h.until_ns : r->horizon_ns;
	return snapfile_rings_add_hole(g->s, &g->skipped, h);
}

/* A ring's chunks are in its order. The last lap may go on in what was lost. */
static int snapfile_rings_extend(struct guess *g, size_t at, const struct fr_chunk *c)
{
	struct fr_snap_ring *r = (struct fr_snap_ring *)g->s->rings.items + at;
	struct fr_snap_hole *h = (struct fr_snap_hole *)g->s->holes.items + g->hole_cnt + at - g->ring_cnt;
	int err = snapfile_rings_skip(g, r, h, c);

	r->present += c->row_cnt;
	r->last_seq = h->first_seq = h->last_seq = c->last_seq;
	h->since_ns = c->last_ts;
	return err;
}

bool fr_snap_lost_end(const struct fr_snap *s)
{
	const struct fr_snap_ring *r = s->rings.items;
	bool lost = !s->rings.cnt;
	size_t i;

	for (i = 0; i < s->rings.cnt; i++)
		lost |= !r[i].slot_cnt;
	return lost && s->damage_cnt && !s->has_index;
}

/* Holes follow rings. */
static bool has_lost_holes(const struct fr_snap *s)
{
	return s->lost_holes || (!s->has_index && s->last_kind == FR_CHUNK_RINGS);
}

/* Holes before the horizon, up to the lap that begins there, if the ring has events before it; and behind its last event. */
static int snapfile_rings_add_holes(struct fr_snap *s, struct fr_snap_ring r)
{
	struct fr_snap_hole before = {.cpu = r.cpu, .tier = r.tier, .why = FR_HOLE_damaged, .until_ns = r.horizon_ns};
	struct fr_snap_hole behind = {.cpu = r.cpu, .tier = r.tier, .why = FR_HOLE_damaged};
	bool has_before = false;
	size_t i;

	before.first_seq = r.first_seq;
	before.last_seq = r.last_seq;
	behind.first_seq = behind.last_seq = r.last_seq;
	for (i = 0; i < s->chunk_cnt; i++) {
		const struct fr_chunk *c = &s->chunk[i];

		if (c->cpu != r.cpu || c->tier != r.tier)
			continue;
		behind.since_ns = c->last_ts > behind.since_ns ? c->last_ts : behind.since_ns;
		if (c->first_ts < r.horizon_ns)
			has_before = true;
		else if (c->first_seq <= before.last_seq)
			before.last_seq = c->first_seq - 1;
	}
	return (has_before ? snapfile_rings_add_hole(s, &s->holes, before) : 0)
		       ?: snapfile_rings_add_hole(s, &s->holes, behind);
}

/* As far as accounts are there. */
static int guess_holes(struct fr_snap *s)
{
	size_t ring_cnt = s->rings.cnt, i;
	int err = 0;

	for (i = 0; i < ring_cnt && has_lost_holes(s) && !err; i++)
		err = snapfile_rings_add_holes(s, ((const struct fr_snap_ring *)s->rings.items)[i]);
	return err;
}

int fr_snap_guess_rings(struct fr_snap *s)
{
	const char *begin = fr_snap_fact(s, "begin_ns");
	int err = guess_holes(s);
	struct guess g = {s, s->rings.cnt, s->holes.cnt, begin ? strtoull(begin, NULL, 10) : 0, {}};
	const struct fr_snap_hole *skipped;
	size_t i, at;

	for (i = 0; i < s->chunk_cnt && s->damage_cnt && !err; i++) {
		at = snapfile_rings_find_ring(s, &s->chunk[i]);
		if (at < g.ring_cnt)
			continue;
		if (at == s->rings.cnt)
			err = snapfile_rings_add_ring(&g, &s->chunk[i]);
		err = err ?: snapfile_rings_extend(&g, at, &s->chunk[i]);
	}
	skipped = g.skipped.items;
	for (i = 0; i < g.skipped.cnt && !err; i++)
		err = snapfile_rings_add_hole(s, &s->holes, skipped[i]);
	free(g.skipped.items);
	return err;
}
