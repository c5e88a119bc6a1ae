/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/analyze/analyze_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/vec.h"
#include "read/replay/focus.h"
#include "read/replay/gaps.h"
#include "read/replay/lacks.h"
#include "sys/memory.h"

/* ---- events and their fields ---- */

/* A kernel may have the event without what is told of it here. */
static bool analyze_has_all_fields(const struct fr_sub *sub)
{
	u32 i;

	for (i = 0; i < sub->cnt; i++)
		if (!sub->field[i])
			return false;
	return true;
}

/* An event that lacks a field is only counted. */
static void analyze_bind(struct fr_analyze *a, struct fr_replay *r, const struct fr_an_rule *rule)
{
	for (; rule->fn; rule++) {
		struct fr_an_event *e;
		struct fr_sub sub;

		if (fr_replay_subscribe(r, 0, &rule->want, &sub) || !analyze_has_all_fields(&sub))
			continue;
		e = &a->event[sub.ev->nr];
		e->fn = rule->fn;
		e->col_cnt = sub.cnt;
		memcpy(e->col, sub.col, sizeof(sub.col));
	}
}

/* The numbers for pairing are mostly among these; the others are appended. */
static void add_pair_cols(struct fr_an_event *e)
{
	bool same = e->pair.col_cnt <= e->col_cnt && !memcmp(e->pair.col, e->col, e->pair.col_cnt);

	if (same)
		return;
	e->pair_at = e->col_cnt;
	memcpy(e->col + e->col_cnt, e->pair.col, e->pair.col_cnt);
	e->col_cnt += e->pair.col_cnt;
}

static int analyze_bind_pairs(struct fr_analyze *a, const struct fr_schema *s)
{
	u32 nr, i;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		struct fr_an_event *e = &a->event[nr];

		if (fr_pairs_rule(a->pairs, s, nr, &e->pair))
			return -ENOMEM;
		add_pair_cols(e);
		for (i = 0; i < e->col_cnt; i++)
			a->wants.cols[nr] |= 1u << e->col[i];
		for (i = e->col_cnt; i < FR_AN_FEW; i++)
			e->col[i] = e->col[0];
	}
	fr_an_fault_bind(a, s);
	return 0;
}

static int analyze_bind_all(struct fr_analyze *a, struct fr_replay *r)
{
	const struct fr_schema *s = fr_replay_schema(r, 0);

	analyze_bind(a, r, fr_an_sched_rules);
	analyze_bind(a, r, fr_an_syscall_rules);
	analyze_bind(a, r, fr_an_block_rules);
	analyze_bind(a, r, fr_an_irq_rules);
	analyze_bind(a, r, fr_an_fault_rules);
	fr_an_irq_want(a, s);
	return analyze_bind_pairs(a, s);
}

/* ---- CPUs ---- */

static int analyze_have_cpu(struct fr_analyze *a, u16 nr)
{
	u32 cnt = nr + 1u, was = a->res.cpu_cnt, i;
	struct fr_an_cpu *cpu;

	if (fr_vec_upto(&a->res.cpu, was, cnt))
		return -ENOMEM;
	cpu = a->res.cpu;
	for (i = was; i < cnt; i++) {
		cpu[i].state = calloc(1, sizeof(*cpu[i].state));
		if (!cpu[i].state)
			return -ENOMEM;
		a->res.cpu_cnt = i + 1;
		cpu[i].state->on.since_ns = a->picked ? ~0ULL : a->res.begin_ns;
		cpu[i].state->pair = fr_pairs_cpu(a->pairs, i);
		if (!cpu[i].state->pair)
			return -ENOMEM;
	}
	return 0;
}

static int analyze_add_cpus(struct fr_analyze *a, const struct fr_summary *sum)
{
	u64 governor_ns = fr_cut_governor_ns(a->snap);
	u32 i;
	int err = 0;

	fr_pairs_lack(a->pairs, a->lacks, ~0ULL);
	for (i = 0; i < sum->ring_cnt && !err; i++) {
		const struct fr_sum_ring *r = &sum->ring[i];
		struct fr_an_cpu *c;

		if (r->tier != FR_TIER_MAIN)
			continue;
		/* if a CPU's events were cut away, nothing is known about what it did */
		if (!fr_cut_has_cpu(a->snap, r->cpu)) {
			fr_pairs_gap(a->pairs, r->cpu, ~0ULL);
			continue;
		}
		err = analyze_have_cpu(a, r->cpu);
		if (err)
			break;
		if (governor_ns)
			fr_pairs_gap(a->pairs, r->cpu, governor_ns);
		c = &a->res.cpu[r->cpu];
		c->seen = true;
		c->horizon_ns = r->horizon_ns;
		fr_pairs_gap(a->pairs, r->cpu, r->begin_ns);
		err = fr_an_sched_gap(a, r->cpu, 0, r->begin_ns);
	}
	return err;
}

/* ---- holes ---- */

#define HOLE_END FR_HOLE_CNT /* why: its ring was copied then */

static int analyze_by_time(const void *a, const void *b)
{
	const struct fr_snap_hole *x = a, *y = b;

	return x->since_ns < y->since_ns ? -1 : x->since_ns > y->since_ns;
}

/* Chunks with damaged headers. There is room for max holes. */
static void analyze_add_lost(struct fr_analyze *a, size_t max)
{
	size_t cnt, i;
	const struct fr_snap_ring *r = fr_snap_rings(a->snap, &cnt);

	for (i = 0; i < cnt; i++)
		if (r[i].tier == FR_TIER_MAIN && fr_cut_has_cpu(a->snap, r[i].cpu))
			a->hole_cnt += fr_gaps_find_lost(a->snap, &r[i], a->hole + a->hole_cnt, max - a->hole_cnt);
}

/* From the copying of a ring on nothing is known of its CPU, though others' events go on: as a hole, to which its task has run.
 */
static void add_ends(struct fr_analyze *a, const struct fr_summary *sum)
{
	u32 i;

	for (i = 0; i < sum->ring_cnt; i++) {
		const struct fr_sum_ring *r = &sum->ring[i];

		if (r->tier == FR_TIER_MAIN && r->end_ns && fr_cut_has_cpu(a->snap, r->cpu))
			a->hole[a->hole_cnt++] =
				(struct fr_snap_hole){.cpu = r->cpu, .tier = r->tier, .why = HOLE_END, .since_ns = r->end_ns};
	}
}

static int analyze_add_holes(struct fr_analyze *a, const struct fr_summary *sum)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(a->snap, &cnt);
	size_t max = cnt + fr_gaps_lost_max(a->snap);

	a->hole = calloc(max + sum->ring_cnt + 1, sizeof(*a->hole));
	if (!a->hole)
		return -ENOMEM;
	for (i = 0; i < cnt; i++)
		if (h[i].tier == FR_TIER_MAIN)
			a->hole[a->hole_cnt++] = h[i];
	analyze_add_lost(a, max);
	add_ends(a, sum);
	qsort(a->hole, a->hole_cnt, sizeof(*a->hole), analyze_by_time);
	return 0;
}

/* The time before which only rows have to be handled. */
static void find_due(struct fr_analyze *a)
{
	u64 hole_ns = a->hole_at < a->hole_cnt ? a->hole[a->hole_at].since_ns : ~0ULL;
	u64 chain_ns = a->chained ? ~0ULL : a->res.focus.at_ns;

	a->due_ns = hole_ns < chain_ns ? hole_ns : chain_ns;
}

/* Handle holes that begin before now. A hole without a known end lies at the end of its ring. */
static int pass_holes(struct fr_analyze *a, u64 now_ns)
{
	int err = 0;

	while (!err && a->hole_at < a->hole_cnt && a->hole[a->hole_at].since_ns < now_ns) {
		const struct fr_snap_hole *h = &a->hole[a->hole_at++];
		u64 until_ns = h->until_ns ?: ~0ULL;

		fr_pairs_gap(a->pairs, h->cpu, until_ns);
		err = fr_an_sched_until(a, h->cpu, h->since_ns);
		err = err ?: fr_an_sched_gap(a, h->cpu, h->since_ns, until_ns);
	}
	return err;
}

/* A fr_replay_lost_fn: nothing continues across damage. Stacks and waits are not paired, so their loss does not matter. */
static int pass_damage(void *arg, const struct fr_replay_lost *lost)
{
	struct fr_analyze *a = arg;

	if (lost->tier > FR_TIER_LIFE)
		return 0;
	if (analyze_have_cpu(a, lost->cpu))
		return -ENOMEM;
	fr_pairs_gap(a->pairs, lost->cpu, lost->until_ns);
	if (lost->tier != FR_TIER_MAIN)
		return 0;
	return fr_an_sched_until(a, lost->cpu, lost->since_ns) ?: fr_an_sched_gap(a, lost->cpu, lost->since_ns, lost->until_ns);
}

/* ---- tables ---- */

#define LEFT_WORDS(name, words) [FR_AN_LEFT_##name] = words,
#define LEFT_NAME(name, words)	[FR_AN_LEFT_##name] = #name,

const char *const fr_an_left_words[FR_AN_LEFT_CNT] = {FR_AN_LEFT_OUT(LEFT_WORDS)};
const char *const fr_an_left_names[FR_AN_LEFT_CNT] = {FR_AN_LEFT_OUT(LEFT_NAME)};

bool fr_an_left_any(const struct fr_an_result *res)
{
	u32 i;

	for (i = 0; i < FR_AN_LEFT_CNT; i++)
		if (res->left_out[i])
			return true;
	return false;
}

/* Samples are listed once more, by function, when they are shown. */
static u64 needed_sz(enum fr_an_left what, u64 sz)
{
	return what == FR_AN_LEFT_samples ? sz * 2 : sz;
}

void *fr_an_new_record(struct fr_analyze *a, enum fr_an_left what, struct fr_tally *t, u64 key, void *rest, u32 parts)
{
	u64 more = fr_tally_growth_sz(t);

	if (more && !a->full[what])
		a->full[what] = !fr_memory_has_room(needed_sz(what, more), parts);
	if (!a->full[what])
		return fr_tally_get(t, key);
	a->res.left_out[what]++;
	return rest;
}

/* ---- rows ---- */

static bool analyze_is_match(const struct fr_an_row *r)
{
	struct fr_row row;

	return fr_replay_match(r->run, r->i, &row);
}

static void analyze_count(struct fr_analyze *a, u8 nr, const struct fr_an_row *r)
{
	a->res.cnt_of[nr]++;
	a->res.rated_of[nr] += r->rated;
	r->cpu->event_cnt++;
	r->task->sum.event_cnt++;
}

/* Handle gaps that come before this row. */
static int pass_due(struct fr_analyze *a, u64 now_ns)
{
	int err = pass_holes(a, now_ns);

	if (now_ns > a->res.focus.at_ns && !a->chained)
		fr_an_sched_chain(a);
	find_due(a);
	return err;
}

/* Load the requested numbers. Most events have two or three, so always load three, without a branch. */
static inline void get_nums(const struct fr_col *c, u32 k, const struct fr_an_event *e, u64 *num)
{
	u32 i;

	if (!e->col_cnt)
		return;
#pragma GCC unroll 3
	for (i = 0; i < FR_AN_FEW; i++)
		num[i] = *fr_col_num(&c[e->col[i]], k);
	for (; i < e->col_cnt; i++)
		num[i] = *fr_col_num(&c[e->col[i]], k);
}

/* Row i of a batch. */
static inline int analyze_take(struct fr_analyze *a, const struct fr_batch *b, u32 i, struct fr_an_row *r)
{
	u8 nr = b->ev[i];
	const struct fr_an_event *e = &a->event[nr];
	u64 ts = b->ts[i];
	u32 tid = b->tid[i];
	int err;

	if (ts > a->due_ns && pass_due(a, ts))
		return -ENOMEM;
	get_nums(b->type[nr].col, b->in_type[i], e, r->v);
	r->i = i;
	r->in.ts = ts;
	r->in.tid = tid;
	r->in.v = r->v + e->pair_at;
	err = fr_pairs_take(a->pairs, &e->pair, &r->in, &r->pair);
	if (err)
		return err;
	r->task = fr_an_own_task(a, tid);
	if (!r->task)
		return -ENOMEM;
	r->counted = !fr_an_is_before(a, ts) && (!a->filtered || analyze_is_match(r));
	r->rated = r->counted & (ts >= a->res.rated_ns);
	r->task->seen_ns = ts;
	if (!r->cpu->state->on.known && fr_an_sched_row(a, r))
		return -ENOMEM;
	if (r->counted)
		analyze_count(a, nr, r);
	if (tid == a->res.focus.tid && tid)
		fr_an_note(a, ts);
	return e->fn ? e->fn(a, r) : 0;
}

u32 fr_analyze_focus(const struct fr_analyze *a, u64 *at_ns)
{
	*at_ns = a->res.focus.at_ns;
	return a->res.focus.tid;
}

const struct fr_wants *fr_analyze_wants(const struct fr_analyze *a)
{
	return &a->wants;
}

int fr_analyze_run(struct fr_analyze *a, const struct fr_replay_run *run)
{
	const struct fr_batch *b = run->b;
	struct fr_an_row r; /* analyze_take() fills in the rest; runs are short */
	int err = 0;
	u32 i;

	if (b->cpu >= a->res.cpu_cnt && analyze_have_cpu(a, b->cpu))
		return -ENOMEM;
	r.run = run;
	r.cpu_nr = b->cpu;
	r.cpu = &a->res.cpu[b->cpu];
	r.cpu->seen |= run->from < run->to && !fr_an_is_before(a, b->ts[run->to - 1]);
	r.in.cpu = r.cpu->state->pair;
	a->filtered = run->filter;
	a->names = run->view->names;
	a->cgroups = run->view->cgroups;
	for (i = run->from; i < run->to && !err; i++)
		err = analyze_take(a, b, i, &r);
	return err;
}

/* ---- lifetime ---- */

static u64 analyze_max64(u64 a, u64 b)
{
	return a > b ? a : b;
}

static void find_moment(struct fr_analyze *a)
{
	struct fr_an_result *res = &a->res;
	struct fr_an_focus *f = &res->focus;
	s64 ts;

	if (fr_snap_fact_num(a->snap, "trigger_ts", &ts) && ts > 0)
		f->trigger_ns = ts;
	f->at_ns =
		f->trigger_ns && f->trigger_ns >= res->begin_ns && f->trigger_ns <= res->end_ns ? f->trigger_ns : res->end_ns;
}

/* A tenth of the moment lies after the trigger: its consequences. */
static void find_times(struct fr_analyze *a, struct fr_replay *r, const struct fr_summary *sum,
		       const struct fr_analyze_opts *opts)
{
	struct fr_an_result *res = &a->res;
	u64 behind = opts->moment_ns / 10, at;

	fr_replay_window(r, &res->begin_ns, &res->end_ns);
	a->asked_ns = fr_replay_since(r, 0);
	res->horizon_ns = fr_summary_horizon(sum, FR_TIER_MAIN);
	res->rated_ns = analyze_max64(res->begin_ns, res->horizon_ns);
	find_moment(a);
	at = res->focus.at_ns;
	res->moment_end_ns = res->end_ns - at < behind ? res->end_ns : at + behind;
	res->moment_begin_ns = at - res->begin_ns < opts->moment_ns - behind ? res->begin_ns : at - (opts->moment_ns - behind);
}

static void init_tallies(struct fr_an_result *res)
{
	res->calls.rec_sz = sizeof(struct fr_an_call);
	res->errors.rec_sz = sizeof(struct fr_an_error);
	res->reasons.rec_sz = sizeof(struct fr_an_reason);
	res->waits.rec_sz = sizeof(struct fr_an_wait);
	res->blocks.rec_sz = sizeof(struct fr_an_block);
	res->irqs.rec_sz = res->softirqs.rec_sz = sizeof(struct fr_an_irq);
	res->samples.rec_sz = sizeof(struct fr_an_sample);
	res->processes.rec_sz = res->cgroups.rec_sz = sizeof(struct fr_an_group);
	res->programs.rec_sz = res->containers.rec_sz = sizeof(struct fr_an_group);
}

static int find_focus(struct fr_analyze *a, struct fr_replay *r, u32 tid)
{
	struct fr_an_focus *f = &a->res.focus;
	s64 pid;

	f->tid = tid;
	if (tid)
		return 0;
	if (fr_snap_fact_num(a->snap, "trigger_pid", &pid) && pid > 0)
		f->pid = pid;
	return fr_focus_find(r, 0, &f->tid);
}

static int analyze_set_up(struct fr_analyze *a, struct fr_replay *r, const struct fr_summary *sum,
			  const struct fr_analyze_opts *opts)
{
	int err;

	init_tallies(&a->res);
	a->grouped = opts->grouped;
	find_times(a, r, sum, opts);
	err = find_focus(a, r, opts->focus_tid);
	if (err)
		return err;
	a->pairs = fr_pairs_new();
	a->link = calloc(FR_AN_WAKE_MAX, sizeof(*a->link));
	if (!a->pairs || !a->link)
		return -ENOMEM;
	fr_pairs_set_arch(a->pairs, fr_snap_fact(a->snap, "arch"));
	fr_pairs_set_room(a->pairs, fr_memory_has_row_room);
	fr_pairs_tell_why(a->pairs);
	a->span = fr_pairs_row(a->pairs);
	err = fr_wakers_add(&a->wakers, a->snap);
	fr_pairs_set_wakers(a->pairs, a->wakers ? fr_wakers_find : NULL, a->wakers);
	err = err ?: analyze_bind_all(a, r);
	err = err ?: fr_an_tasks_init(a);
	err = err ?: analyze_add_holes(a, sum);
	find_due(a);
	return err ?: analyze_add_cpus(a, sum);
}

int fr_analyze_new(struct fr_replay *r, const struct fr_summary *sum, const struct fr_analyze_opts *opts,
		   struct fr_analyze **out)
{
	struct fr_analyze *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->snap = fr_replay_file(r, 0);
	a->picked = fr_cut_is_picked(a->snap);
	if (fr_cut_lacks(a->snap, &a->lacks) || analyze_set_up(a, r, sum, opts)) {
		fr_analyze_free(a);
		return -ENOMEM;
	}
	a->res.each_issue = fr_an_lacks(a, FR_PAIR_RQ);
	fr_replay_tell_lost(r, pass_damage, a);
	*out = a;
	return 0;
}

/* ---- the end ---- */

#define DEFINE_FREE_HISTS(name, type, hist)                                      \
	static void name(struct fr_tally *t)                                     \
	{                                                                        \
		u32 i;                                                           \
                                                                                 \
		for (i = 0; i < t->cnt; i++)                                     \
			fr_hist_free(&((struct type *)fr_tally_at(t, i))->hist); \
		fr_tally_free(t);                                                \
	}

DEFINE_FREE_HISTS(free_calls, fr_an_call, latency)
DEFINE_FREE_HISTS(free_reasons, fr_an_reason, offcpu)
DEFINE_FREE_HISTS(free_blocks, fr_an_block, latency)
DEFINE_FREE_HISTS(free_irqs, fr_an_irq, latency)
DEFINE_FREE_HISTS(free_groups, fr_an_group, sum.wakeup)

static void free_cpus(struct fr_an_result *res)
{
	u32 i;

	for (i = 0; i < res->cpu_cnt; i++) {
		fr_hist_free(&res->cpu[i].wakeup);
		free(res->cpu[i].seg);
		free(res->cpu[i].state);
	}
	free(res->cpu);
}

static void free_tallies(struct fr_an_result *res)
{
	free_calls(&res->calls);
	free_reasons(&res->reasons);
	free_blocks(&res->blocks);
	free_irqs(&res->irqs);
	free_irqs(&res->softirqs);
	free_groups(&res->processes);
	free_groups(&res->cgroups);
	free_groups(&res->programs);
	free_groups(&res->containers);
	fr_tally_free(&res->errors);
	fr_tally_free(&res->waits);
	fr_tally_free(&res->samples);
}

static void free_rest(struct fr_an_rest *r)
{
	fr_hist_free(&r->call.latency);
	fr_hist_free(&r->reason.offcpu);
	fr_hist_free(&r->block.latency);
	fr_hist_free(&r->irq.latency);
	fr_hist_free(&r->softirq.latency);
	fr_hist_free(&r->group.sum.wakeup);
}

void fr_analyze_free(struct fr_analyze *a)
{
	if (!a)
		return;
	free_tallies(&a->res);
	free_rest(&a->rest);
	free_cpus(&a->res);
	fr_an_tasks_free(a);
	fr_an_sums_free(&a->res.all);
	fr_hist_free(&a->res.offcpu);
	fr_hist_free(&a->res.queued);
	fr_hist_free(&a->res.blocked);
	fr_hist_free(&a->res.oncpu);
	fr_pairs_free(a->pairs);
	fr_wakers_free(a->wakers);
	free(a->hole);
	free(a->link);
	free(a);
}

static int by_key(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

int fr_analyze_end(struct fr_analyze *a, const struct fr_an_result **out)
{
	struct fr_an_result *res = &a->res;
	u32 nr;
	int err;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		res->event_cnt += res->cnt_of[nr];
		res->rated_cnt += res->rated_of[nr];
	}
	if (!a->chained)
		fr_an_sched_chain(a);
	res->left_out[FR_AN_LEFT_forgotten] = fr_pairs_forgot(a->pairs);
	err = pass_holes(a, res->end_ns);
	err = err ?: fr_an_sched_until_end(a);
	err = err ?: fr_an_tasks_end(a);
	if (err)
		return err;
	fr_tally_sort(&res->calls, by_key);
	fr_tally_sort(&res->errors, by_key);
	fr_tally_sort(&res->reasons, by_key);
	fr_tally_sort(&res->waits, by_key);
	fr_tally_sort(&res->blocks, by_key);
	fr_tally_sort(&res->irqs, by_key);
	fr_tally_sort(&res->softirqs, by_key);
	fr_tally_sort(&res->samples, by_key);
	fr_tally_sort(&res->processes, by_key);
	fr_tally_sort(&res->cgroups, by_key);
	fr_tally_sort(&res->programs, by_key);
	fr_tally_sort(&res->containers, by_key);
	*out = res;
	return 0;
}
