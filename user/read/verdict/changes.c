/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/verdict/changes.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/hash.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "read/replay/lacks.h"

#define BEFORE_LEAST_NS (FR_SEC_NS / 2) /* a rate of less says little */
#define KNOWN_PART	20u		/* so small a part of CPUs' time may be nobody's */

/* What is told: a move of so much a second, to so many times as much or from it. */
#define TIME_LEAST_NS (20 * FR_MSEC_NS)
#define CNT_LEAST     5u
#define TOLD_MOST     4u /* of one kind */

const struct fr_change_kind fr_change_kinds[FR_CHANGE_CNT] = {
	[FR_CHANGE_CPU] = {"cpu", "CPU time", true, FR_TIER_MAIN, {"sched_switch", {FR_SUB_NUM("next_pid")}}},
	[FR_CHANGE_WAITS] = {"waits", "time in ended long waits", true, FR_TIER_WAIT, {"wait", {FR_SUB_NUM("off")}}},
	[FR_CHANGE_PROCESSES] = {"processes",
				 "processes started",
				 false,
				 FR_TIER_LIFE,
				 {"sched_process_fork", {FR_SUB_NUM("child_pid"), FR_SUB_NUM("child_tgid")}}},
	[FR_CHANGE_SIGNALS] =
		{"signals", "signals sent but SIGCHLD", false, FR_TIER_MAIN, {"signal_generate", {FR_SUB_NUM("sig")}}},
	[FR_CHANGE_ERRORS] = {"errors", "calls that failed", false, FR_TIER_MAIN, {"sys_exit", {FR_SUB_NUM("ret")}}},
};

/* ---- which time ---- */

static u64 changes_later(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* From when on a tier's history has no hole until the trigger; ~0: the last part has one. */
static u64 whole_from(const struct fr_changes *g, const struct fr_clues *c, const struct fr_summary *sum, u8 tier)
{
	u64 from_ns = changes_later(fr_summary_horizon(sum, tier), fr_cut_governor_ns(c->snap));
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(c->snap, &cnt);

	for (i = 0; i < cnt; i++) {
		if (h[i].tier != tier || h[i].since_ns >= g->at_ns)
			continue;
		if (!h[i].until_ns || h[i].until_ns > g->split_ns)
			return ~0ULL;
		from_ns = changes_later(from_ns, h[i].until_ns);
	}
	for (i = 0; i < sum->ring_cnt; i++)
		if (sum->ring[i].tier == tier && sum->ring[i].end_ns && sum->ring[i].end_ns < g->at_ns)
			return ~0ULL;
	return fr_summary_horizon(sum, tier) ? from_ns : ~0ULL;
}

static bool has_cpus(struct fr_changes *g, const struct fr_summary *sum, u64 from_ns)
{
	u32 i;

	for (i = 0; i < sum->ring_cnt; i++)
		if (sum->ring[i].tier == FR_TIER_MAIN && sum->ring[i].cpu >= g->cpu_cnt)
			g->cpu_cnt = sum->ring[i].cpu + 1;
	g->cpu = calloc(g->cpu_cnt + 1, sizeof(*g->cpu));
	for (i = 0; g->cpu && i < g->cpu_cnt; i++)
		g->cpu[i] = (struct fr_oncpu){.since_ns = from_ns, .whole_ns = from_ns};
	return g->cpu;
}

void fr_changes_begin(struct fr_changes *g, struct fr_replay *r, const struct fr_summary *sum, const struct fr_clues *c)
{
	u64 window_ns, end_ns, from_ns;
	u32 i;

	*g = (struct fr_changes){.split_ns = c->begin_ns, .at_ns = c->at_ns, .view = c->view};
	g->sum.rec_sz = sizeof(struct fr_change);
	fr_replay_window(r, &window_ns, &end_ns);
	for (i = 0; i < FR_CHANGE_CNT; i++) {
		const struct fr_change_kind *k = &fr_change_kinds[i];
		bool is_there = !fr_replay_subscribe(r, 0, &k->want, &g->of[i].sub) && fr_snap_records(c->snap, k->want.event);

		from_ns = is_there ? whole_from(g, c, sum, k->tier) : ~0ULL;
		g->of[i].from_ns = from_ns == ~0ULL ? from_ns : changes_later(from_ns, window_ns);
		g->of[i].is_known = from_ns != ~0ULL && !c->is_picked && !fr_snap_damage(c->snap) && end_ns >= g->at_ns &&
				    g->of[i].from_ns + BEFORE_LEAST_NS <= g->split_ns;
		if (g->of[i].is_known)
			g->kind[g->of[i].sub.ev->nr] = 1 + i;
	}
	if (g->of[FR_CHANGE_CPU].is_known)
		g->failed = !has_cpus(g, sum, g->of[FR_CHANGE_CPU].from_ns);
}

void fr_changes_want(const struct fr_changes *g, struct fr_wants *w)
{
	u32 i, k;

	for (i = 0; i < FR_CHANGE_CNT; i++)
		for (k = 0; g->of[i].sub.ev && k < FR_SUB_FIELD_MAX; k++)
			if (g->of[i].sub.field[k])
				w->cols[g->of[i].sub.ev->nr] |= 1u << g->of[i].sub.field[k]->col;
}

/* ---- sums ---- */

static void changes_add(struct fr_changes *g, enum fr_change_of of, u32 tid, u64 ts, u16 cpu, u64 before, u64 last)
{
	struct fr_who who = fr_names_who(g->view->names, tid, ts, cpu);
	u64 key = fr_hash(FR_HASH_SEED + of, who.comm ? who.comm : "", who.comm ? who.len : 0);
	struct fr_change *ch = before + last ? fr_tally_get(&g->sum, key) : NULL;

	if (!(before + last) || g->failed)
		return;
	if (!ch) {
		g->failed = true;
		return;
	}
	if (!ch->program[0]) {
		size_t len = who.comm ? fr_escape_mem(ch->program, sizeof(ch->program) - 1, who.comm, who.len) : 0;

		ch->program[len] = 0;
		if (!len)
			ch->program[0] = '?';
		ch->of = of;
	}
	ch->before += before;
	ch->last += last;
}

static void changes_add_ran(struct fr_changes *g, const struct fr_oncpu_stretch *s, u64 ts, u16 cpu)
{
	u64 before = fr_overlap_ns(s->from_ns, s->to_ns, g->of[FR_CHANGE_CPU].from_ns, g->split_ns);
	u64 last = fr_overlap_ns(s->from_ns, s->to_ns, g->split_ns, g->at_ns);

	g->known_ns[0] += before;
	g->known_ns[1] += last;
	if (s->tid)
		changes_add(g, FR_CHANGE_CPU, s->tid, ts, cpu, before, last);
}

static void changes_add_event(struct fr_changes *g, enum fr_change_of of, const struct fr_row *r, u64 value)
{
	bool is_before = r->ts < g->split_ns;

	if (r->ts >= g->of[of].from_ns && r->ts < g->at_ns)
		changes_add(g, of, r->tid, r->ts, r->cpu, is_before ? value : 0, is_before ? 0 : value);
}

/* A wait that has ended, by then or a bit later, as far as it was in each part. */
static void changes_add_wait(struct fr_changes *g, const struct fr_row *r, u64 off_ns)
{
	u64 from_ns = r->ts > off_ns ? r->ts - off_ns : 0;

	changes_add(g, FR_CHANGE_WAITS, r->tid, r->ts, r->cpu,
		    fr_overlap_ns(from_ns, r->ts, g->of[FR_CHANGE_WAITS].from_ns, g->split_ns),
		    fr_overlap_ns(from_ns, r->ts, g->split_ns, g->at_ns));
}

static void changes_take(struct fr_changes *g, enum fr_change_of of, const struct fr_row *r)
{
	const struct fr_sub *s = &g->of[of].sub;
	struct fr_oncpu_stretch ran;
	s64 ret;

	switch (of) {
	case FR_CHANGE_CPU:
		ran = fr_oncpu_switch(&g->cpu[r->cpu], r->ts, r->tid, fr_sub_num(s, r, 0));
		changes_add_ran(g, &ran, r->ts, r->cpu);
		break;
	case FR_CHANGE_WAITS:
		changes_add_wait(g, r, fr_sub_num(s, r, 0));
		break;
	case FR_CHANGE_SIGNALS:
		changes_add_event(g, of, r, fr_sub_num(s, r, 0) != SIGCHLD);
		break;
	case FR_CHANGE_PROCESSES:
		changes_add_event(g, of, r, fr_sub_num(s, r, 0) == fr_sub_num(s, r, 1));
		break;
	case FR_CHANGE_ERRORS:
		ret = (s64)fr_sub_num(s, r, 0);
		changes_add_event(g, of, r, ret < 0 && ret >= -4095);
		break;
	case FR_CHANGE_CNT:
		break;
	}
}

void fr_changes_run(struct fr_changes *g, const struct fr_replay_run *run)
{
	const struct fr_batch *b = run->b;
	struct fr_oncpu *cpu = NULL;
	u32 i;

	if (run->from == run->to || g->failed)
		return;
	if (g->of[FR_CHANGE_CPU].is_known && b->tier == FR_TIER_MAIN && b->cpu < g->cpu_cnt)
		cpu = &g->cpu[b->cpu];
	g->view = run->view;
	for (i = run->from; i < run->to; i++) {
		u8 one = g->kind[b->ev[i]];
		struct fr_row r;

		if (cpu && !cpu->known)
			fr_oncpu_row(cpu, b->ts[i], b->tid[i]);
		if (!one || (one - 1 == FR_CHANGE_CPU && !cpu))
			continue;
		r = fr_batch_row(b, i);
		changes_take(g, one - 1, &r);
	}
}

/* ---- moves ---- */

static u64 rate(u64 sum, u64 ns)
{
	return (u64)((double)sum * FR_SEC_NS / ns + 0.5);
}

static u64 moved(const struct fr_change *ch)
{
	return ch->last_rate > ch->before_rate ? ch->last_rate - ch->before_rate : ch->before_rate - ch->last_rate;
}

static bool is_move(const struct fr_change *ch)
{
	u64 more = changes_later(ch->before_rate, ch->last_rate), less = ch->before_rate + ch->last_rate - more;

	if (fr_change_kinds[ch->of].is_time)
		return moved(ch) >= TIME_LEAST_NS && more >= less + less / 2;
	return moved(ch) >= CNT_LEAST && changes_later(ch->before, ch->last) >= CNT_LEAST && more >= 2 * less;
}

/* By kind, then the largest move first. */
static int by_move(const void *a, const void *b)
{
	const struct fr_change *x = a, *y = b;

	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	if (moved(x) != moved(y))
		return moved(x) > moved(y) ? -1 : 1;
	return strcmp(x->program, y->program);
}

static void keep_told(struct fr_changes *g)
{
	struct fr_tally told = {.rec_sz = sizeof(struct fr_change)};
	u32 cnt[FR_CHANGE_CNT] = {0}, i;

	fr_tally_sort(&g->sum, by_move);
	for (i = 0; i < g->sum.cnt && !g->failed; i++) {
		const struct fr_change *ch = fr_tally_at(&g->sum, i);
		struct fr_change *to;

		if (!is_move(ch) || cnt[ch->of]++ >= TOLD_MOST)
			continue;
		to = fr_tally_get(&told, ch->key);
		if (to)
			*to = *ch;
		else
			g->failed = true;
	}
	fr_tally_free(&g->sum);
	g->sum = told;
}

/* Who had the CPUs is known for nearly all of both parts. */
static bool knows_cpus(const struct fr_changes *g)
{
	u64 cnt = 0, all[2], i;

	for (i = 0; i < g->cpu_cnt; i++)
		cnt += g->cpu[i].since_ns > g->of[FR_CHANGE_CPU].from_ns;
	all[0] = cnt * (g->split_ns - g->of[FR_CHANGE_CPU].from_ns);
	all[1] = cnt * (g->at_ns - g->split_ns);
	return cnt && all[0] - all[0] / KNOWN_PART <= g->known_ns[0] && all[1] - all[1] / KNOWN_PART <= g->known_ns[1];
}

void fr_changes_end(struct fr_changes *g)
{
	u32 i;

	for (i = 0; i < g->cpu_cnt && !g->failed; i++) {
		struct fr_oncpu_stretch s = fr_oncpu_until(&g->cpu[i], g->at_ns);

		changes_add_ran(g, &s, g->at_ns, i);
	}
	if (g->of[FR_CHANGE_CPU].is_known)
		g->of[FR_CHANGE_CPU].is_known = knows_cpus(g);
	for (i = 0; i < g->sum.cnt; i++) {
		struct fr_change *ch = fr_tally_at(&g->sum, i);

		ch->before_rate = rate(ch->before, g->split_ns - g->of[ch->of].from_ns);
		ch->last_rate = rate(ch->last, g->at_ns - g->split_ns);
		if (!g->of[ch->of].is_known)
			ch->before_rate = ch->last_rate = 0;
	}
	keep_told(g);
	for (i = 0; i < FR_CHANGE_CNT && g->failed; i++)
		g->of[i].is_known = false;
	if (g->failed)
		fr_tally_free(&g->sum);
}

void fr_changes_free(struct fr_changes *g)
{
	fr_tally_free(&g->sum);
	free(g->cpu);
	g->cpu = NULL;
}
