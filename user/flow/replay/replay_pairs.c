/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Of each CPU a snapshot covers the time from its horizon to its last event, and what is before the holes that the horizon is
 * behind. What no snapshot of the session covers is a gap:
 *
 *	snapshot 0	      [=====   ====]
 *	snapshot 1	                     [=======]
 *	gaps		[-----]     [-]    [-]
 */
#include "flow/replay/replay_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow/replay/summary.h"

#define NEVER_NS (~0ULL)

struct stretch {
	u16 cpu;
	u64 since_ns, until_ns;
};

struct stretches {
	struct stretch *s;
	size_t cnt, cap;
};

/* The recording of one session of a boot. */
struct session {
	u32 boot, epoch;
	struct fr_pairs *pairs;
	struct stretches covered;
	struct stretches gap; /* by since_ns; those before gap_at have begun */
	size_t gap_at;
};

struct fr_replay_pairs {
	struct session *session;
	u32 session_cnt;
	struct fr_pair *pair;
	u32 pair_cap;
};

/* ---- life ---- */

struct fr_replay_pairs *fr_replay_pairs_new(void)
{
	return calloc(1, sizeof(struct fr_replay_pairs));
}

void fr_replay_pairs_free(struct fr_replay_pairs *p)
{
	u32 i;

	if (!p)
		return;
	for (i = 0; i < p->session_cnt; i++) {
		fr_pairs_free(p->session[i].pairs);
		free(p->session[i].covered.s);
		free(p->session[i].gap.s);
	}
	free(p->session);
	free(p->pair);
	free(p);
}

static struct session *find_session(struct fr_replay_pairs *p, u32 boot, u32 epoch)
{
	u32 i;

	for (i = 0; i < p->session_cnt; i++)
		if (p->session[i].epoch == epoch && p->session[i].boot == boot)
			return &p->session[i];
	return NULL;
}

static struct session *have_session(struct fr_replay_pairs *p, u32 boot, u32 epoch, const char *arch)
{
	struct session *s = find_session(p, boot, epoch);

	if (s)
		return s;
	s = realloc(p->session, (p->session_cnt + 1) * sizeof(*s));
	if (!s)
		return NULL;
	p->session = s;
	s += p->session_cnt;
	*s = (struct session){.boot = boot, .epoch = epoch, .pairs = fr_pairs_new()};
	if (!s->pairs)
		return NULL;
	fr_pairs_set_arch(s->pairs, arch);
	p->session_cnt++;
	return s;
}

/* ---- what is covered ---- */

static int add(struct stretches *to, u16 cpu, u64 since_ns, u64 until_ns)
{
	struct stretch *more;

	if (since_ns > until_ns)
		return 0;
	if (to->cnt == to->cap) {
		to->cap = to->cap ? to->cap * 2 : 64;
		more = realloc(to->s, to->cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		to->s = more;
	}
	to->s[to->cnt++] = (struct stretch){cpu, since_ns, until_ns};
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return x->since_ns < y->since_ns ? -1 : x->since_ns > y->since_ns;
}

static int by_cpu(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return x->cpu != y->cpu ? (int)x->cpu - (int)y->cpu : by_begin(a, b);
}

static void sort(struct stretches *s, int (*order)(const void *, const void *))
{
	if (s->cnt)
		qsort(s->s, s->cnt, sizeof(*s->s), order);
}

/* The holes of a ring, by time; one that does not say when it begins does so with the ring. */
static int find_holes(const struct fr_snap *snap, u16 cpu, struct stretches *holes)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(snap, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		if (h[i].cpu == cpu && h[i].tier == FR_TIER_MAIN)
			err = add(holes, cpu, h[i].since_ns, h[i].until_ns ?: NEVER_NS);
	sort(holes, by_begin);
	return err;
}

/* The first event of the laps that a ring's account is of; from the first lap ever on the ring is as complete as any. */
static u64 first_event_ns(const struct fr_snap *snap, const struct fr_snap_ring *r)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(snap, &cnt);
	u64 first_ns = NEVER_NS;

	for (i = 0; i < cnt; i++)
		if ((c[i].cpu == r->cpu || r->first_seq == 1) && c[i].tier == r->tier && c[i].first_seq >= r->first_seq &&
		    c[i].first_ts < first_ns)
			first_ns = c[i].first_ts;
	return first_ns;
}

/* To the snapshot's end, without its holes; from the ring's horizon, or if that is one for a hole, from the first event. */
static int cover(struct session *s, const struct fr_snap *snap, const struct fr_snap_ring *r, u64 end_ns)
{
	struct stretches holes = {0};
	u64 from_ns = r->horizon_ns, first_ns = first_event_ns(snap, r);
	int err = find_holes(snap, r->cpu, &holes);
	size_t i;

	if (holes.cnt && first_ns < from_ns)
		from_ns = first_ns;
	for (i = 0; i < holes.cnt && !err && from_ns <= end_ns; i++) {
		if (holes.s[i].since_ns > from_ns)
			err = add(&s->covered, r->cpu, from_ns, holes.s[i].since_ns);
		if (holes.s[i].until_ns > from_ns)
			from_ns = holes.s[i].until_ns;
	}
	err = err ?: add(&s->covered, r->cpu, from_ns, end_ns);
	free(holes.s);
	return err;
}

static u64 end_of(const struct fr_snap *snap)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(snap, &cnt);
	u64 end_ns = 0;

	for (i = 0; i < cnt; i++)
		end_ns = c[i].last_ts > end_ns ? c[i].last_ts : end_ns;
	return end_ns;
}

/* CPUs that were cut away are not covered. A file that does not tell of its rings is taken to be complete. */
static int cover_rings(struct session *s, const struct fr_snap *snap)
{
	size_t cnt, i;
	const struct fr_snap_ring *r = fr_snap_rings(snap, &cnt);
	u64 end_ns = end_of(snap);
	int err = 0;

	for (i = 0; i < cnt && !err; i++) {
		if (r[i].tier != FR_TIER_MAIN)
			continue;
		if (fr_cut_has_cpu(snap, r[i].cpu))
			err = cover(s, snap, &r[i], end_ns);
		else
			err = add(&s->gap, r[i].cpu, 0, NEVER_NS);
	}
	return err;
}

int fr_replay_pairs_add(struct fr_replay_pairs *p, u32 boot, const struct fr_snap *snap)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(snap, &cnt);
	struct session *s;
	int err = 0;

	for (i = 0; i < cnt && !err; i++) {
		bool is_first = true;
		size_t j;

		for (j = 0; j < i && is_first; j++)
			is_first = c[j].epoch != c[i].epoch;
		if (!is_first)
			continue;
		s = have_session(p, boot, c[i].epoch, fr_snap_fact(snap, "arch"));
		err = s ? cover_rings(s, snap) : -ENOMEM;
	}
	return err;
}

/* ---- gaps ---- */

/* What lies before and between the stretches of each CPU. */
static int find_gaps(struct session *s)
{
	struct stretches *c = &s->covered;
	u64 covered_ns = 0;
	size_t i;
	int err = 0;

	sort(c, by_cpu);
	for (i = 0; i < c->cnt && !err; i++) {
		if (!i || c->s[i].cpu != c->s[i - 1].cpu)
			covered_ns = 0;
		if (c->s[i].since_ns > covered_ns)
			err = add(&s->gap, c->s[i].cpu, covered_ns, c->s[i].since_ns);
		if (c->s[i].until_ns > covered_ns)
			covered_ns = c->s[i].until_ns;
	}
	sort(&s->gap, by_begin);
	return err;
}

int fr_replay_pairs_ready(struct fr_replay_pairs *p)
{
	u32 i;
	int err = 0;

	for (i = 0; i < p->session_cnt && !err; i++)
		err = find_gaps(&p->session[i]);
	return err;
}

void fr_replay_pairs_lost(struct fr_replay_pairs *p, u32 boot, u32 epoch, u16 cpu, u64 until_ns)
{
	struct session *s = find_session(p, boot, epoch);

	if (s)
		fr_pairs_gap(s->pairs, cpu, until_ns);
}

/* ---- rows ---- */

static void pass_gaps(struct session *s, u64 now_ns)
{
	for (; s->gap_at < s->gap.cnt && s->gap.s[s->gap_at].since_ns < now_ns; s->gap_at++)
		fr_pairs_gap(s->pairs, s->gap.s[s->gap_at].cpu, s->gap.s[s->gap_at].until_ns);
}

static bool have_room(struct fr_replay_pairs *p, u32 cnt)
{
	if (cnt <= p->pair_cap)
		return true;
	free(p->pair);
	p->pair = malloc(cnt * sizeof(*p->pair));
	p->pair_cap = p->pair ? cnt : 0;
	return p->pair;
}

const struct fr_pair *fr_replay_pairs_feed(struct fr_replay_pairs *p, u32 boot, const struct fr_batch *b, u32 from, u32 to)
{
	struct session *s = have_session(p, boot, b->epoch, NULL);
	u32 i;

	if (!s || !have_room(p, to - from))
		return NULL;
	for (i = from; i < to; i++) {
		struct fr_row r = fr_batch_row(b, i);

		pass_gaps(s, r.ts);
		if (fr_pairs_feed(s->pairs, &r, &p->pair[i - from]))
			return NULL;
	}
	return p->pair;
}
