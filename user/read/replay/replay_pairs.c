/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * replay_pairs: pairs of each session. Nothing is paired across a gap, and all snapshots of a session count together. A
 * snapshot that was cut by tasks or a filter has only some rows, so only some values are known (lacks.h). For the others it
 * covers nothing, and what began before its part does not continue in it.
 */
#include "read/replay/replay_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/set/vec.h"
#include "read/replay/gaps.h"
#include "read/replay/lacks.h"
#include "read/replay/wakers.h"
#include "sys/memory.h"

/* The recording of one session of a boot. */
struct session {
	u32 boot, epoch;
	struct fr_pairs *pairs;
	struct fr_gaps gaps;
	size_t gap_at;	       /* gaps before this one have begun */
	u32 picked_cnt, lacks; /* snapshots that lack values, and which */
	struct fr_gaps whole;  /* gaps of the snapshots that lack nothing */
	size_t lack_at;	       /* like gap_at, for the gaps in whole */
};

/* What the waits of a boot say. */
struct boot {
	u32 nr;
	struct fr_wakers *wakers;
};

struct fr_replay_pairs {
	struct boot *boot;
	u32 boot_cnt;
	struct session *session;
	u32 session_cnt;
	struct fr_pair *pair;
	struct fr_span_row *span; /* as many, if rows tell why */
	u32 pair_cap;
	bool tells_why;
	bool said_forgot;
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
		fr_gaps_clear(&p->session[i].gaps);
		fr_gaps_clear(&p->session[i].whole);
	}
	for (i = 0; i < p->boot_cnt; i++)
		fr_wakers_free(p->boot[i].wakers);
	free(p->boot);
	free(p->session);
	free(p->pair);
	free(p->span);
	free(p);
}

void fr_replay_pairs_tell_why(struct fr_replay_pairs *p)
{
	p->tells_why = true;
}

const struct fr_span_row *fr_replay_pairs_spans(const struct fr_replay_pairs *p)
{
	return p->span;
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
	s = fr_vec_more(&p->session, p->session_cnt);
	if (!s)
		return NULL;
	*s = (struct session){.boot = boot, .epoch = epoch, .pairs = fr_pairs_new(), .gaps.ends = true, .whole.ends = true};
	if (!s->pairs)
		return NULL;
	fr_pairs_set_arch(s->pairs, arch);
	fr_pairs_set_room(s->pairs, fr_memory_has_row_room);
	if (p->tells_why)
		fr_pairs_tell_why(s->pairs);
	p->session_cnt++;
	return s;
}

/* ---- gaps ---- */

/*
 * In each main ring, add the time in which the governor may have left something out, and, if the snapshot lacks something, that
 * nothing is whole except where another snapshot is.
 */
static int add_cut(struct session *s, const struct fr_snap *snap, u32 lacks)
{
	u64 governor_ns = fr_cut_governor_ns(snap);
	size_t cnt, i;
	const struct fr_snap_ring *r = fr_snap_rings(snap, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++) {
		if (r[i].tier != FR_TIER_MAIN)
			continue;
		if (governor_ns)
			err = fr_gap_list_add(&s->gaps.gap, (struct fr_gap){r[i].cpu, FR_HOLE_cut, 0, governor_ns});
		if (lacks)
			err = err ?: fr_gap_list_add(&s->whole.end, (struct fr_gap){r[i].cpu, FR_HOLE_cut, 0, FR_GAP_OPEN});
	}
	return err;
}

/* Several cuts may have rows of different tasks at different times: then any value may be lacking. */
static int add_snap(struct session *s, const struct fr_snap *snap)
{
	u32 lacks;
	int err = fr_cut_lacks(snap, &lacks);

	if (err)
		return err;
	s->picked_cnt += lacks != 0;
	s->lacks |= s->picked_cnt > 1 ? FR_PAIR_WHAT_ALL : lacks;
	err = fr_gaps_add(&s->gaps, snap) ?: add_cut(s, snap, lacks);
	return err || lacks ? err : fr_gaps_add(&s->whole, snap);
}

static struct boot *pairs_find_boot(const struct fr_replay_pairs *p, u32 nr)
{
	u32 i;

	for (i = 0; i < p->boot_cnt; i++)
		if (p->boot[i].nr == nr)
			return &p->boot[i];
	return NULL;
}

static int pairs_add_wakers(struct fr_replay_pairs *p, u32 nr, struct fr_snap *snap)
{
	struct boot *b = pairs_find_boot(p, nr);

	if (!b) {
		b = fr_vec_more(&p->boot, p->boot_cnt);
		if (!b)
			return -ENOMEM;
		*b = (struct boot){.nr = nr};
		p->boot_cnt++;
	}
	return fr_wakers_add(&b->wakers, snap);
}

int fr_replay_pairs_add(struct fr_replay_pairs *p, u32 boot, struct fr_snap *snap)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(snap, &cnt);
	struct session *s;
	int err = pairs_add_wakers(p, boot, snap);

	for (i = 0; i < cnt && !err; i++) {
		bool is_first = true;
		size_t j;

		for (j = 0; j < i && is_first; j++)
			is_first = c[j].epoch != c[i].epoch;
		if (!is_first)
			continue;
		s = have_session(p, boot, c[i].epoch, fr_snap_fact(snap, "arch"));
		err = s ? add_snap(s, snap) : -ENOMEM;
	}
	return err;
}

int fr_replay_pairs_ready(struct fr_replay_pairs *p)
{
	u32 i;
	int err = 0;

	for (i = 0; i < p->session_cnt && !err; i++) {
		struct fr_wakers *w = pairs_find_boot(p, p->session[i].boot)->wakers;

		fr_pairs_set_wakers(p->session[i].pairs, w ? fr_wakers_find : NULL, w);
		err = fr_gaps_ready(&p->session[i].gaps) ?: fr_gaps_ready(&p->session[i].whole);
	}
	return err;
}

void fr_replay_pairs_lost(struct fr_replay_pairs *p, u32 boot, u32 epoch, u16 cpu, u64 until_ns)
{
	struct session *s = find_session(p, boot, epoch);

	if (s)
		fr_pairs_gap(s->pairs, cpu, until_ns);
}

/* ---- rows ---- */

static void pairs_pass_gaps(struct session *s, u64 now_ns)
{
	const struct fr_gap_list *gap = &s->gaps.gap, *lack = &s->whole.gap;

	for (; s->gap_at < gap->cnt && gap->g[s->gap_at].since_ns < now_ns; s->gap_at++)
		fr_pairs_gap(s->pairs, gap->g[s->gap_at].cpu, gap->g[s->gap_at].until_ns);
	for (; s->lacks && s->lack_at < lack->cnt && lack->g[s->lack_at].since_ns < now_ns; s->lack_at++) {
		fr_pairs_gap(s->pairs, lack->g[s->lack_at].cpu, lack->g[s->lack_at].since_ns);
		fr_pairs_lack(s->pairs, s->lacks, lack->g[s->lack_at].until_ns);
	}
}

static bool have_room(struct fr_replay_pairs *p, u32 cnt)
{
	if (cnt <= p->pair_cap)
		return true;
	free(p->pair);
	free(p->span);
	p->pair = malloc(cnt * sizeof(*p->pair));
	p->span = p->tells_why ? malloc(cnt * sizeof(*p->span)) : NULL;
	p->pair_cap = p->pair && (p->span || !p->tells_why) ? cnt : 0;
	return p->pair_cap;
}

/* The first time is told: it goes on like that. */
static void say_forgot(struct fr_replay_pairs *p, const struct session *s, u64 ts)
{
	if (p->said_forgot || !fr_pairs_forgot(s->pairs))
		return;
	p->said_forgot = true;
	fr_warn("from clock %llu on, calls and waits of many tasks at once have no times, for lack of memory: %s", ts,
		fr_err_cure(-ENOMEM, NULL));
}

const struct fr_pair *fr_replay_pairs_feed(struct fr_replay_pairs *p, u32 boot, const struct fr_batch *b, u32 from, u32 to)
{
	struct session *s = have_session(p, boot, b->epoch, NULL);
	u32 i;

	if (!s || !have_room(p, to - from))
		return NULL;
	for (i = from; i < to; i++) {
		struct fr_row r = fr_batch_row(b, i);

		pairs_pass_gaps(s, r.ts);
		if (fr_pairs_feed(s->pairs, &r, &p->pair[i - from]))
			return NULL;
		if (p->span)
			p->span[i - from] = *fr_pairs_row(s->pairs);
	}
	say_forgot(p, s, b->ts[from]);
	return p->pair;
}
