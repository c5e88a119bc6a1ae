/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cut_meta: everything in a cut snapshot but its events: what the file had, minus what nothing in it refers to any more. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/cut/cut_int.h"
#include "read/cut/meta.h"
#include "read/replay/gaps.h"
#include "read/replay/lacks.h"
#include "read/replay/summary.h"
#include "read/snapfile/snapfile_rows.h"

/* ---- facts ---- */

static bool is_of_cut(const char *name)
{
	return !strncmp(name, "cut_", 4);
}

static int copy_facts(const struct fr_snap *s, struct fr_snap_writer *w)
{
	const char *name, *value;
	int err = 0;
	size_t i;

	for (i = 0; !err && (value = fr_snap_fact_at(s, i, &name)); i++)
		if (!is_of_cut(name))
			err = fr_snap_put_fact(w, name, "%s", value);
	return err;
}

static u64 meta_number(const struct fr_snap *s, const char *name, u64 none)
{
	s64 v;

	return fr_snap_fact_num(s, name, &v) && v > 0 ? (u64)v : none;
}

/* What was asked for, after what was asked for when the file itself was cut. */
static int meta_put_asked(const struct fr_snap *s, struct fr_snap_writer *w, const char *name, const char *text)
{
	const char *before = fr_snap_fact(s, name);

	if (text && before)
		return fr_snap_put_fact(w, name, "(%s) && (%s)", before, text);
	return text || before ? fr_snap_put_fact(w, name, "%s", text ? text : before) : 0;
}

static u64 chunk_events(const struct fr_snap *s)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	u64 sum = 0;

	for (i = 0; i < cnt; i++)
		sum += c[i].row_cnt;
	return sum;
}

/* Does something that is missing, between two times, concern what was asked for? Of a time that is not known, 0, nobody can
 * tell. */
static bool meta_is_asked(const struct fr_cut *c, const struct fr_cut_part *p, u16 cpu, u64 since_ns, u64 until_ns)
{
	bool before = until_ns && until_ns < p->since_ns;
	bool behind = since_ns && since_ns > p->until_ns;
	bool here = !c->ask->cpus.cnt || fr_ranges_have(&c->ask->cpus, cpu);

	return !before && !behind && here;
}

/* Was a chunk damaged, and would something of it have been kept? */
static bool meta_is_lost(const struct fr_cut *c, const struct fr_cut_part *p, const struct fr_chunk *chunk)
{
	return chunk->damaged && meta_is_asked(c, p, chunk->cpu, chunk->first_ts, chunk->last_ts);
}

/* Unreadable events were not cut away. */
static u64 lost_events(const struct fr_cut *c, const struct fr_cut_part *p)
{
	size_t cnt, i;
	const struct fr_chunk *chunk = fr_snap_chunks(p->snap, &cnt);
	u64 sum = 0;

	for (i = 0; i < cnt; i++)
		sum += meta_is_lost(c, p, &chunk[i]) ? chunk[i].row_cnt : 0;
	return sum;
}

static int meta_put_window(const struct fr_cut_part *p, struct fr_snap_writer *w)
{
	const struct fr_snap *s = p->snap;
	u64 since_ns = meta_number(s, "cut_since", 0), until_ns = meta_number(s, "cut_until", ~0ULL);
	int err = 0;

	since_ns = p->since_ns > since_ns ? p->since_ns : since_ns;
	until_ns = p->until_ns < until_ns ? p->until_ns : until_ns;
	if (since_ns)
		err = fr_snap_put_fact(w, "cut_since", "%llu", since_ns);
	if (until_ns != ~0ULL)
		err = err ? err : fr_snap_put_fact(w, "cut_until", "%llu", until_ns);
	return err;
}

int fr_cut_put_facts(const struct fr_cut *c, const struct fr_cut_part *p, struct fr_snap_writer *w)
{
	const struct fr_cut_ask *ask = c->ask;
	const struct fr_snap *s = p->snap;
	const char *name = strrchr(ask->path, '/');
	int err = copy_facts(s, w);

	err = err ? err : fr_snap_put_fact(w, "cut_from", "%s", name ? name + 1 : ask->path);
	err = err ? err : meta_put_window(p, w);
	err = err ? err : meta_put_asked(s, w, "cut_cpu", ask->cpu_text);
	err = err ? err : meta_put_asked(s, w, "cut_pid", ask->pid_text);
	err = err ? err : meta_put_asked(s, w, "cut_cgroup", ask->cgroup);
	return err ? err : meta_put_asked(s, w, "cut_filter", ask->opts.filter);
}

/* Facts that are known once all events have been read. */
static int meta_put_counts(const struct fr_cut *c, const struct fr_cut_part *p, struct fr_snap_writer *w)
{
	const struct fr_snap *s = p->snap;
	u64 away = meta_number(s, "cut_away", 0) + chunk_events(s) - lost_events(c, p) - fr_keep_all(p->keep);
	u64 damage = meta_number(s, "cut_damage", 0) + fr_snap_damage(s);
	u64 governor_ns = fr_cut_governor_ns(s) > p->governor_ns ? fr_cut_governor_ns(s) : p->governor_ns;
	int err = fr_snap_put_fact(w, "cut_away", "%llu", away);

	if (governor_ns)
		err = err ? err : fr_snap_put_fact(w, "cut_governor", "%llu", governor_ns);
	if (damage)
		err = err ? err : fr_snap_put_fact(w, "cut_damage", "%llu", damage);
	return err;
}

/* ---- rings and holes ---- */

/* What the file holds of a ring now. */
static void meta_account(const struct fr_cut_part *p, struct fr_snap_ring *r)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(p->snap, &cnt);

	r->present = r->first_seq = r->last_seq = 0;
	for (i = 0; i < cnt; i++) {
		u32 kept = fr_keep_cnt(p->keep, i);

		if (!kept || c[i].cpu != r->cpu || c[i].tier != r->tier)
			continue;
		if (!r->present || c[i].first_seq < r->first_seq)
			r->first_seq = c[i].first_seq;
		if (c[i].last_seq > r->last_seq)
			r->last_seq = c[i].last_seq;
		r->present += kept;
	}
}

/* A chunk that could not be read is missing completely. */
static struct fr_snap_hole hole_of(const struct fr_chunk *c)
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

/* Chunks without a header, if something of them may have been kept. Returns how many holes, at most max. */
static size_t find_headless(const struct fr_cut *c, const struct fr_cut_part *p, struct fr_snap_hole *out, size_t max)
{
	size_t cnt, found, i, k, kept = 0;
	const struct fr_snap_ring *r = fr_snap_rings(p->snap, &cnt);

	for (i = 0; i < cnt; i++) {
		struct fr_snap_hole *h = out + kept;

		found = fr_gaps_find_lost(p->snap, &r[i], h, max - kept);
		for (k = 0; k < found; k++)
			if (meta_is_asked(c, p, h[k].cpu, h[k].since_ns, h[k].until_ns))
				out[kept++] = h[k];
	}
	return kept;
}

/* What was damaged of what would have been kept, as holes; malloc'ed. NULL: no memory. */
static struct fr_snap_hole *meta_find_damage(const struct fr_cut *c, const struct fr_cut_part *p, size_t *found)
{
	size_t cnt, i, headless_max = fr_gaps_lost_max(p->snap);
	const struct fr_chunk *chunk = fr_snap_chunks(p->snap, &cnt);
	struct fr_snap_hole *h = malloc((cnt + headless_max + 1) * sizeof(*h));

	*found = 0;
	for (i = 0; i < cnt && h; i++)
		if (meta_is_lost(c, p, &chunk[i]))
			h[(*found)++] = hole_of(&chunk[i]);
	if (h)
		*found += find_headless(c, p, h + *found, headless_max);
	return h;
}

/* As a recorder has it: complete behind what could not be read. 0: nothing of the ring was damaged. */
static u64 behind_damage(const struct fr_snap_hole *damage, size_t cnt, const struct fr_snap_ring *r)
{
	u64 ns = 0;
	size_t i;

	for (i = 0; i < cnt; i++)
		if (damage[i].cpu == r->cpu && damage[i].tier == r->tier && damage[i].until_ns > ns)
			ns = damage[i].until_ns;
	return ns;
}

/*
 * From when on the ring is complete to the window's end. A recorder has it behind all holes: of those that lie behind the
 * window nothing is kept, and what precedes them is complete.
 */
static u64 horizon_of(const struct fr_cut *c, const struct fr_cut_part *p, const struct fr_snap_ring *r)
{
	u64 was_ns = fr_ring_horizon(p->snap, r), ns;
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(p->snap, &cnt);

	if (was_ns <= p->until_ns)
		return was_ns;
	ns = fr_gaps_begin(p->snap, r);
	for (i = 0; i < cnt; i++)
		if (h[i].cpu == r->cpu && h[i].tier == r->tier && h[i].until_ns > ns &&
		    meta_is_asked(c, p, h[i].cpu, h[i].since_ns, h[i].until_ns))
			ns = h[i].until_ns;
	return ns < was_ns ? ns : was_ns;
}

/* Counters stay: they are the session's. From the window's begin on the history is as complete as it was, but for damage. */
static struct fr_snap_ring meta_ring_of(const struct fr_cut *c, const struct fr_cut_part *p, const struct fr_snap_hole *damage,
					size_t damage_cnt, const struct fr_snap_ring *from)
{
	struct fr_snap_ring r = *from;
	u64 damage_ns = behind_damage(damage, damage_cnt, &r), horizon_ns = horizon_of(c, p, &r);
	u64 since_ns = p->since_ns > damage_ns ? p->since_ns : damage_ns;

	if (horizon_ns < since_ns)
		horizon_ns = since_ns;
	if (horizon_ns != fr_ring_horizon(p->snap, &r))
		r.horizon_ns = horizon_ns;
	if (r.end_ns > p->until_ns)
		r.end_ns = p->until_ns;
	meta_account(p, &r);
	return r;
}

/* Accounts of the rings, and what is missing in them: holes within what is left, and what was damaged there. */
static int meta_find_accounts(const struct fr_cut *c, const struct fr_cut_part *p, struct fr_meta *m)
{
	size_t ring_cnt, hole_cnt, damage_cnt, i;
	const struct fr_snap_ring *ring = fr_snap_rings(p->snap, &ring_cnt);
	const struct fr_snap_hole *hole = fr_snap_holes(p->snap, &hole_cnt);
	struct fr_snap_hole *damage = meta_find_damage(c, p, &damage_cnt);
	struct fr_snap_ring r;
	int err = damage ? 0 : -ENOMEM;

	for (i = 0; i < ring_cnt && !err; i++) {
		r = meta_ring_of(c, p, damage, damage_cnt, &ring[i]);
		err = fr_vec_add(&m->ring, &r, 1);
	}
	for (i = 0; i < hole_cnt && !err; i++)
		if (meta_is_asked(c, p, hole[i].cpu, hole[i].since_ns, hole[i].until_ns))
			err = fr_vec_add(&m->hole, &hole[i], 1);
	err = err ?: fr_vec_add(&m->hole, damage, damage_cnt);
	free(damage);
	return err;
}

int fr_cut_put_meta(const struct fr_cut *c, const struct fr_cut_part *p, struct fr_snap_writer *w)
{
	const struct fr_cut_ask *ask = c->ask;
	struct fr_meta m;
	int err = meta_put_counts(c, p, w);

	fr_meta_init(&m);
	/* what was normal before, of the whole machine: not in a file about some of its tasks */
	if (!ask->pid_text && !ask->cgroup)
		m.prof = fr_snap_profile(p->snap);
	err = err ?: meta_find_accounts(c, p, &m);
	err = err ?: fr_meta_take(&m, p->snap, p->keep);
	err = err ?: fr_meta_put(&m, w);
	fr_meta_free(&m);
	return err;
}
