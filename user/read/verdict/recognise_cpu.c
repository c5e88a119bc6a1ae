/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_cpu: a task was runnable, and did not get a CPU: who had it. */
#include <stdio.h>

#include "base/set/hash.h"
#include "base/text/list.h"
#include "base/text/units.h"
#include "read/states/states.h"
#include "read/verdict/verdict_int.h"

#define QUEUED_LEAST_NS (5 * FR_MSEC_NS) /* below, queueing is everyday life */

/* Was the trigger's task queued for long, and who had its CPU most? Only if most of that time is known. */
static bool find_hog(struct fr_case *k, u64 *from_ns, u64 *to_ns, struct fr_clue_use *hog)
{
	return fr_case_is_queued(k, from_ns, to_ns) && *to_ns - *from_ns >= QUEUED_LEAST_NS &&
	       fr_case_top_user(k, k->wait->cpu, *from_ns, *to_ns, hog) && hog->key != k->wait->tid;
}

/* Events that tell of the wait, and of who had the CPU. */
static const char *from_queue(struct fr_case *k, const char *more)
{
	return fr_word(k, "%s%s%s", k->wait_from, k->wait == &k->by_steps ? "" : ", sched_switch", more);
}

/* The priority at which a task left a CPU, or had it last; false: it did not run. */
static bool prio_of(const struct fr_clues *c, u32 tid, s16 *prio)
{
	const struct fr_clue_run *run = c->run.at;
	size_t i = c->run.cnt;

	while (i--)
		if (run[i].tid == tid) {
			*prio = run[i].prio;
			return true;
		}
	return false;
}

/* ---- what a task or a program did, by its samples ---- */

struct hot {
	u64 key; /* hash of the name */
	const char *name;
	u32 cnt;
};

static int cpu_by_cnt(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->cnt != y->cnt)
		return x->cnt > y->cnt ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static bool is_whose(const struct fr_clues *c, const struct fr_clue_sample *s, const struct fr_whose *who)
{
	return who->tid ? s->tid == who->tid : fr_clues_program(c, s->tid, s->ts) == who->program;
}

const char *fr_case_hot(struct fr_case *k, const struct fr_whose *who, fr_sample_fn name_of, u32 *cnt, u32 *all)
{
	const struct fr_clue_sample *s = k->c->sample.at;
	struct fr_tally t = {.rec_sz = sizeof(struct hot)};
	const char *name = NULL;
	size_t i;

	*all = *cnt = 0;
	for (i = 0; i < k->c->sample.cnt; i++) {
		struct hot *h;
		const char *fn;

		if (s[i].ts < who->from_ns || s[i].ts > who->to_ns || !is_whose(k->c, &s[i], who))
			continue;
		++*all;
		fn = name_of(k->c, &s[i]);
		h = fn ? fr_tally_get(&t, fr_hash(FR_HASH_SEED, fn, strlen(fn))) : NULL;
		if (!fn)
			continue;
		if (!h) {
			k->failed = true;
			break;
		}
		h->name = fn;
		h->cnt++;
	}
	fr_tally_sort(&t, cpu_by_cnt);
	if (t.cnt) {
		name = ((struct hot *)fr_tally_at(&t, 0))->name;
		*cnt = ((struct hot *)fr_tally_at(&t, 0))->cnt;
	}
	fr_tally_free(&t);
	return name;
}

const char *fr_sample_function(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	struct fr_symbol y;

	return s->user && fr_clues_user_frame(c, s->tid, s->ts, s->ustack_id, 0, &y) ? y.name : NULL;
}

/* What a worker was given: the frame that process_one_work() called. */
const char *fr_sample_work(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	s32 at = fr_clues_kernel_at(c, s->kstack_id, "process_one_work");
	struct fr_symbol y;

	return at > 0 && fr_clues_kernel_frame(c, s->kstack_id, at - 1, &y) ? y.name : NULL;
}

/* The softirq that it served, in its own call or on top of it. */
const char *fr_sample_softirq(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	static const char *const actions[][2] = {{"net_rx_action", "NET_RX"},
						 {"net_tx_action", "NET_TX"},
						 {"blk_done_softirq", "BLOCK"},
						 {"run_timer_softirq", "TIMER"},
						 {"rcu_core", "RCU"}};
	u32 i;

	for (i = 0; !s->user && i < sizeof(actions) / sizeof(actions[0]); i++)
		if (fr_clues_kernel_at(c, s->kstack_id, actions[i][0]) >= 0)
			return actions[i][1];
	return NULL;
}

/* ---- real-time priority ---- */

#define KEPT_LEAST_NS (100 * FR_MSEC_NS) /* longer than any time slice of the fair scheduler */

/* Does this task have the CPU in one stretch that covers the time, and that no switch has ended yet? */
static bool is_keeping(const struct fr_clues *c, u32 tid, u16 cpu, u64 from_ns, u64 to_ns)
{
	const struct fr_clue_run *run = c->run.at;
	size_t i;

	for (i = 0; i < c->run.cnt; i++)
		if (run[i].tid == tid && run[i].cpu == cpu && run[i].to_ns == c->at_ns &&
		    fr_overlap_ns(run[i].from_ns, run[i].to_ns, from_ns, to_ns) >= (to_ns - from_ns) / 10 * 9)
			return true;
	return false;
}

static const char *cpu_policy_name(s16 prio, u32 policy)
{
	static const char *const names[] = {[1] = "SCHED_FIFO", [2] = "SCHED_RR"};

	if (prio < 0)
		return "SCHED_DEADLINE";
	return policy == 1 || policy == 2 ? names[policy] : "SCHED_FIFO or SCHED_RR";
}

/* How a task that no switch tells anything newer of was, when the file was made. NULL: that is not known. */
static const struct fr_snap_state *state_now(const struct fr_clues *c, u32 tid)
{
	const struct fr_snap_state *s = fr_states_of(c->snap, tid);

	return s && s->at_ns >= c->at_ns ? s : NULL;
}

/* It left no time to others, and its priority is why. */
bool fr_recognise_fifo_hog(struct fr_case *k)
{
	u64 from_ns, to_ns;
	const struct fr_snap_state *now = NULL, *its;
	struct fr_clue_use hog;
	s16 mine;
	u32 cnt, all;
	const char *fn;

	if (!find_hog(k, &from_ns, &to_ns, &hog) || hog.ns < (to_ns - from_ns) / 10 * 9)
		return false;
	/* it may have got its priority since the switch to it */
	if (hog.prio >= FR_RT_PRIO_CNT && is_keeping(k->c, hog.key, k->wait->cpu, from_ns, to_ns))
		now = state_now(k->c, hog.key);
	hog.prio = now ? now->prio : hog.prio;
	its = k->wait == &k->by_steps ? state_now(k->c, k->wait->tid) : NULL;
	if (its)
		mine = its->prio;
	else if (!prio_of(k->c, k->wait->tid, &mine))
		return false;
	if (hog.prio >= FR_RT_PRIO_CNT || mine < FR_RT_PRIO_CNT)
		return false;
	fn = fr_case_hot(k, &(struct fr_whose){.tid = hog.key, .from_ns = from_ns, .to_ns = to_ns}, fr_sample_function, &cnt,
			 &all);
	fr_case_cause(k,
		      from_queue(k, fn && now	 ? ", cpu_sample, states"
				    : fn	 ? ", cpu_sample"
				    : now || its ? ", states"
						 : ""),
		      "%s had CPU %u for %s of these %s: it runs at real-time priority %d (%s), %s does not%s%s",
		      fr_word_who(k, hog.key, to_ns), k->wait->cpu, fr_word_ns(k, hog.ns), fr_word_ns(k, to_ns - from_ns),
		      hog.prio < 0 ? 100 : FR_RT_PRIO_CNT - 1 - hog.prio, cpu_policy_name(hog.prio, now ? now->policy : 0),
		      fr_word_comm(k, k->wait->tid, to_ns), fn ? "; it was in " : "",
		      fn ? fr_word_text(k, fn, strlen(fn)) : "");
	return true;
}

/* ---- a CPU that is kept ---- */

/* The switch to it may have been before it got its priority: that is known only where the file has its state. */
bool fr_recognise_kept_cpu(struct fr_case *k)
{
	u64 from_ns, to_ns;
	struct fr_clue_use hog;
	const struct fr_snap_state *now;
	const char *fn, *prio = "at a priority that is not known";
	u32 cnt, all;

	if (!find_hog(k, &from_ns, &to_ns, &hog) || to_ns - from_ns < KEPT_LEAST_NS ||
	    !fr_clues_covers(k->c, k->wait->cpu, from_ns, to_ns) || !is_keeping(k->c, hog.key, k->wait->cpu, from_ns, to_ns))
		return false;
	fn = fr_case_hot(k, &(struct fr_whose){.tid = hog.key, .from_ns = from_ns, .to_ns = to_ns}, fr_sample_function, &cnt,
			 &all);
	now = state_now(k->c, hog.key);
	if (now && now->prio >= FR_RT_PRIO_CNT)
		prio = "not at a real-time priority";
	else if (now)
		prio = "at a real-time priority, as the task that waits";
	fr_case_cause(k,
		      fn && now ? "sched_switch, cpu_sample, states"
		      : fn	? "sched_switch, cpu_sample"
		      : now	? "sched_switch, states"
				: "sched_switch",
		      "%s has had CPU %u without a break for %s of these %s, and still has it, %s%s%s",
		      fr_word_who(k, hog.key, to_ns), k->wait->cpu, fr_word_ns(k, hog.ns), fr_word_ns(k, to_ns - from_ns), prio,
		      fn ? "; its samples are in " : "", fn ? fr_word_text(k, fn, strlen(fn)) : "");
	return true;
}

/* ---- kernel workers ---- */

/* A name can be chosen by anybody; only a kernel worker has process_one_work() on its stack. */
bool fr_recognise_kworker(struct fr_case *k)
{
	u64 from_ns, to_ns;
	struct fr_clue_use hog;
	u32 cnt, all;
	const char *fn;

	if (!find_hog(k, &from_ns, &to_ns, &hog) || hog.ns < (to_ns - from_ns) / 2 ||
	    !fr_clues_is_kworker(k->c, hog.key, to_ns))
		return false;
	fn = fr_case_hot(k, &(struct fr_whose){.tid = hog.key, .from_ns = k->c->begin_ns, .to_ns = to_ns}, fr_sample_work, &cnt,
			 &all);
	if (!fn || cnt < all / 2)
		return false;
	fr_case_cause(k, from_queue(k, ", cpu_sample"),
		      "the kernel's worker %s had CPU %u for %s of these %s: its work was %s, in %u of its %u samples",
		      fr_word_who(k, hog.key, to_ns), k->wait->cpu, fr_word_ns(k, hog.ns), fr_word_ns(k, to_ns - from_ns),
		      fr_word_text(k, fn, strlen(fn)), cnt, all);
	return true;
}

/* ---- a quota ---- */

/* A task that is throttled stops in task work, on its way to user space: there, or in that work. */
static bool is_in_throttle(const struct fr_clues *c, const struct fr_waited *w)
{
	static const char *const scheduler[] = {"__schedule",	    "schedule",	      "preempt_schedule_common",
						"preempt_schedule", "__cond_resched", "preempt_schedule_irq"};
	struct fr_symbol s;
	u32 i, k;

	if (fr_clues_kernel_at(c, w->kstack_id, "throttle_cfs_rq_work") >= 0)
		return true;
	for (i = 0; fr_clues_kernel_frame(c, w->kstack_id, i, &s) && s.name; i++) {
		for (k = 0; k < sizeof(scheduler) / sizeof(scheduler[0]) && strcmp(s.name, scheduler[k]); k++)
			;
		if (k == sizeof(scheduler) / sizeof(scheduler[0]))
			return !strcmp(s.name, "task_work_run");
	}
	return false;
}

/* How long a CPU was idle in a time. */
static u64 cpu_idle_ns(const struct fr_clues *c, u32 cpu, u64 from_ns, u64 to_ns)
{
	const struct fr_clue_run *run = c->run.at;
	u64 ns = 0;
	size_t i;

	for (i = 0; i < c->run.cnt; i++)
		ns += !run[i].tid && run[i].cpu == cpu ? fr_overlap_ns(run[i].from_ns, run[i].to_ns, from_ns, to_ns) : 0;
	return ns;
}

/* Did it run on this CPU last before it had to stop? */
static bool left_from(const struct fr_clues *c, const struct fr_waited *w)
{
	const struct fr_clue_run *run = c->run.at;
	size_t i = c->run.cnt;

	while (i--)
		if (run[i].tid == w->tid && run[i].to_ns <= fr_waited_began_ns(w) + FR_MSEC_NS / 10)
			return run[i].cpu == w->cpu;
	return false;
}

#define IDLE_LEAST_NS (2 * FR_MSEC_NS)
#define MATE_LEAST_NS (20 * FR_MSEC_NS)
#define TOGETHER_NS   (10 * FR_MSEC_NS) /* to a CPU that is busy */

/* Another thread of its process stopped likewise for long, and both may run again at the same moment: a quota is for all. */
static const struct fr_waited *throttled_mate(const struct fr_clues *c, const struct fr_waited *w)
{
	const struct fr_waited *mate;
	size_t i;

	if (w->off_ns < MATE_LEAST_NS)
		return NULL;
	for (i = 0; (mate = fr_clues_wait(c, i)); i++)
		if (mate->tid != w->tid && mate->pid == w->pid && mate->pid > 0 && fr_waited_was_runnable(mate) &&
		    mate->off_ns >= MATE_LEAST_NS && mate->ts <= w->ts + TOGETHER_NS && w->ts <= mate->ts + TOGETHER_NS &&
		    is_in_throttle(c, mate))
			return mate;
	return NULL;
}

/*
 * Did it stop for want of a quota? A CPU is never idle while a task is queued there, but for one that is not allowed to run;
 * and no two tasks stop in task work for long and go on together, but for those whose quota is refilled. *idle_ns, *mate: what
 * tells.
 */
static bool was_throttled(const struct fr_clues *c, const struct fr_waited *w, u64 *idle_ns, const struct fr_waited **mate)
{
	*idle_ns = 0;
	*mate = NULL;
	if (!fr_waited_was_runnable(w) || w->off_ns < QUEUED_LEAST_NS || !is_in_throttle(c, w))
		return false;
	if (fr_clues_covers_most(c, w->cpu, fr_waited_began_ns(w), w->ts) && left_from(c, w))
		*idle_ns = cpu_idle_ns(c, w->cpu, fr_waited_began_ns(w), w->ts);
	*mate = throttled_mate(c, w);
	return *idle_ns >= IDLE_LEAST_NS || *mate;
}

/*
 * How long some thread of a process, or one of these (tid not 0), was stopped so in a time; *longest: the one that was longest.
 * Waits come by their ends.
 */
static u64 throttled_ns(const struct fr_clues *c, s32 pid, u32 tid, u64 from_ns, u64 to_ns, const struct fr_waited **longest)
{
	const struct fr_waited *w, *mate;
	u64 ns = 0, edge_ns = to_ns, began_ns, idle_ns;
	size_t i = c->wait.cnt;

	for (*longest = NULL; i--;) {
		w = fr_clues_wait(c, i);
		began_ns = fr_waited_began_ns(w) > from_ns ? fr_waited_began_ns(w) : from_ns;
		if (w->pid != pid || (tid && w->tid != tid) || w->ts <= from_ns || began_ns >= edge_ns ||
		    !was_throttled(c, w, &idle_ns, &mate))
			continue;
		ns += (w->ts < edge_ns ? w->ts : edge_ns) - began_ns;
		edge_ns = began_ns;
		if (!*longest || w->off_ns > (*longest)->off_ns)
			*longest = w;
	}
	return ns;
}

const char *fr_word_throttled(struct fr_case *k, s32 pid, u64 from_ns, u64 to_ns)
{
	const struct fr_waited *longest;
	u64 ns = pid > 0 ? throttled_ns(k->c, pid, 0, from_ns, to_ns, &longest) : 0;

	return ns && ns >= (to_ns - from_ns) / 10
		       ? fr_word(k,
				 "; for %s of that a thread of its process was stopped in task work, throttled: its cgroup had "
				 "used up its CPU quota",
				 fr_word_ns(k, ns))
		       : "";
}

const char *fr_word_throttle_doubt(const struct fr_case *k)
{
	return k->wait && fr_waited_was_runnable(k->wait) && is_in_throttle(k->c, k->wait)
		       ? "; or it was throttled: it stopped in task work, as where its cgroup has used up its CPU quota"
		       : "";
}

#define SAYS_THROTTLED "was throttled: its cgroup had used up its CPU quota"

/* Does what ended the wait tell enough: its own waits for something else, or that it had a CPU? */
static bool throttled_is_beside(struct fr_case *k, const struct fr_waited *w)
{
	const struct fr_waited *longest;
	struct fr_turns turns;
	u32 busy;

	if (fr_case_turns(k, w, &turns) && !fr_case_is_for_work(k, turns.longest))
		return true;
	busy = fr_case_busy_waker(k);
	return busy && !throttled_ns(k->c, fr_clues_pid(k->c, busy, fr_waited_woken_ns(w)), busy, fr_waited_began_ns(w),
				     fr_waited_woken_ns(w), &longest);
}

/*
 * It waited for a process of which some thread could not go on for half of that time. Where whoever ended the wait slept itself
 * for most of it, it is asked what for, and where it had a CPU, with what it was busy: the others' quota may be used up beside
 * that.
 */
static bool tell_throttled_server(struct fr_case *k)
{
	const struct fr_waited *w = k->wait, *longest, *of;
	u64 from_ns = fr_waited_began_ns(w), to_ns = fr_waited_woken_ns(w), ns;
	s32 pid;

	if (fr_waited_was_runnable(w) || w->queued_ns > w->off_ns / 2 || w->waker != FR_WAKER_task || !w->waker_pid ||
	    (!fr_case_is_for_signal(k, w) && fr_case_ended_by_signal(k, w)))
		return false;
	of = fr_case_wait_of_waker(k, w);
	if (of && !fr_waited_was_runnable(of) && of->blocked_ns >= of->off_ns / 2)
		return false;
	pid = fr_clues_pid(k->c, w->waker_pid, to_ns);
	ns = pid > 0 ? throttled_ns(k->c, pid, 0, from_ns, to_ns, &longest) : 0;
	if (!ns || ns < w->blocked_ns / 2 || throttled_is_beside(k, w))
		return false;
	fr_case_cause(k, "wait, sched_switch",
		      "the process of %s " SAYS_THROTTLED
		      ". For %s of the %s in which %s waited for it, a thread of it was runnable "
		      "and stopped in task work; %s was for %s at a time",
		      fr_word_who(k, w->waker_pid, to_ns), fr_word_ns(k, ns), fr_word_ns(k, w->blocked_ns),
		      fr_word_who(k, w->tid, w->ts), fr_word_who(k, longest->tid, longest->ts), fr_word_ns(k, longest->off_ns));
	return true;
}

bool fr_recognise_throttled(struct fr_case *k)
{
	const struct fr_waited *w = k->wait, *mate;
	u64 idle_ns;

	if (!w)
		return false;
	if (!was_throttled(k->c, w, &idle_ns, &mate))
		return !fr_case_asks_for_queue(k) && tell_throttled_server(k);
	if (idle_ns >= IDLE_LEAST_NS)
		fr_case_cause(k, from_queue(k, ""),
			      "%s " SAYS_THROTTLED ". It was runnable for %s, but did not run on CPU %u, which was idle for %s",
			      fr_word_comm(k, w->tid, w->ts), fr_word_ns(k, w->off_ns), w->cpu, fr_word_ns(k, idle_ns));
	else
		fr_case_cause(
			k, "wait",
			"%s " SAYS_THROTTLED ". It was runnable for %s, stopped in task work, as %s of its process was for "
			"%s: both went on within %s",
			fr_word_comm(k, w->tid, w->ts), fr_word_ns(k, w->off_ns), fr_word_who(k, mate->tid, mate->ts),
			fr_word_ns(k, mate->off_ns), fr_word_ns(k, mate->ts > w->ts ? mate->ts - w->ts : w->ts - mate->ts));
	return true;
}

/* ---- forks ---- */

#define STORM_NS    FR_SEC_NS
#define STORM_FORKS 100u /* processes in that time */

struct forker {
	u64 key; /* hash of the name */
	u32 cnt, tid;
	u64 ts;
};

/* The program that forked most processes in a time, and how many all did. */
static bool top_forker(struct fr_case *k, u64 from_ns, u64 to_ns, struct forker *out, u32 *all)
{
	const struct fr_clue_fork *fork = k->c->fork.at;
	struct fr_tally t = {.rec_sz = sizeof(*out)};
	size_t i;

	*out = (struct forker){0};
	for (i = *all = 0; i < k->c->fork.cnt && !k->failed; i++) {
		struct forker *f;

		if (fork[i].pid != fork[i].child || fork[i].ts < from_ns || fork[i].ts > to_ns)
			continue;
		++*all;
		f = fr_tally_get(&t, fr_clues_program(k->c, fork[i].parent, fork[i].ts));
		if (!f) {
			k->failed = true;
			break;
		}
		f->cnt++;
		f->tid = fork[i].parent;
		f->ts = fork[i].ts;
		if (f->cnt > out->cnt)
			*out = *f;
	}
	fr_tally_free(&t);
	return out->cnt != 0;
}

#define STORM_DEPTH 8u /* of generations */

/* Is it a task of this program, or was it born since born_ns of one, or of what had been? */
static bool is_of_storm(const struct fr_clues *c, u32 tid, u64 ts, u64 born_ns, u64 program)
{
	u64 fork_ns;
	u32 i;

	for (i = 0; tid && i < STORM_DEPTH; i++, ts = fork_ns) {
		if (fr_clues_program(c, tid, ts) == program)
			return true;
		tid = fr_clues_parent(c, tid, ts, &fork_ns);
		if (!tid || fork_ns < born_ns)
			return false;
	}
	return false;
}

/* How long these had CPUs. */
static u64 ran_of_storm(const struct fr_clues *c, u64 born_ns, u64 program, u64 from_ns, u64 to_ns)
{
	const struct fr_clue_run *run = c->run.at;
	u64 ns = 0;
	size_t i;

	for (i = 0; i < c->run.cnt; i++) {
		u64 part = fr_overlap_ns(run[i].from_ns, run[i].to_ns, from_ns, to_ns);

		if (part && run[i].tid && is_of_storm(c, run[i].tid, run[i].to_ns, born_ns, program))
			ns += part;
	}
	return ns;
}

/* Did one task have most of the CPU for which it waited? Then it was not the number of them. */
static bool is_one_task(struct fr_case *k, u64 from_ns, u64 to_ns)
{
	struct fr_clue_use most;

	return fr_case_top_user(k, k->wait->cpu, from_ns, to_ns, &most) && most.ns >= (to_ns - from_ns) / 2;
}

#define FORKER_LEAST 10u

const char *fr_word_forker(struct fr_case *k, u64 from_ns, u64 to_ns)
{
	struct forker top;
	u32 all;

	if (k->c->is_full || from_ns < k->c->life_ns || !top_forker(k, from_ns, to_ns, &top, &all) || top.cnt < all / 2 ||
	    top.cnt < FORKER_LEAST)
		return "";
	return fr_word(k, ", %s of them by %s", fr_word_cnt(k, top.cnt), fr_word_comm(k, top.tid, top.ts));
}

/*
 * The program that started half or more of the processes of the last second, and a hundred at least; *since_ns: when that
 * begins. False: none did, or it is not known.
 */
static bool storm_maker(struct fr_case *k, u64 to_ns, u64 *since_ns, struct forker *top, u32 *all)
{
	*since_ns = to_ns > k->c->begin_ns + STORM_NS ? to_ns - STORM_NS : k->c->begin_ns;
	return *since_ns >= k->c->life_ns && top_forker(k, *since_ns, to_ns, top, all) && top->cnt >= *all / 2 &&
	       top->cnt >= STORM_FORKS * (to_ns - *since_ns) / STORM_NS;
}

/*
 * A rule on pressure for CPUs is about no task: it and what it started in the last second had half or more of what tasks had of
 * them, and these had them for most of the time.
 */
static bool is_pressing_storm(struct fr_case *k)
{
	const char *rule = fr_snap_fact(k->c->snap, "trigger_rule"), *users, *idle = "";
	u64 to_ns = k->c->at_ns, since_ns, ran_ns, all_ns, idle_ns;
	struct forker top;
	u32 all;

	if (!k->c->reason || strcmp(k->c->reason, "psi") || !rule || strncmp(rule, "psi:cpu:", 8) ||
	    !storm_maker(k, to_ns, &since_ns, &top, &all) || top.cnt < STORM_FORKS ||
	    !fr_clues_covers_most(k->c, FR_CLUES_ALL_CPUS, since_ns, to_ns))
		return false;
	users = fr_word_users(k, since_ns, to_ns, &all_ns, &idle_ns);
	ran_ns = ran_of_storm(k->c, since_ns, top.key, since_ns, to_ns);
	if (!ran_ns || ran_ns < (all_ns - idle_ns) / 2 || idle_ns > all_ns / 2)
		return false;
	if (idle_ns > all_ns / 10)
		idle = fr_word(k, ", and were idle for %s", fr_word_ns(k, idle_ns));
	fr_case_cause(k, "sched_switch, sched_process_fork",
		      "%s started %s processes in the %s before, of %s in all: it and what it or these started then had the "
		      "CPUs for %s of the %s that tasks had%s; who had them: %s",
		      fr_word_comm(k, top.tid, top.ts), fr_word_cnt(k, top.cnt), fr_word_ns(k, to_ns - since_ns),
		      fr_word_cnt(k, all), fr_word_ns(k, ran_ns), fr_word_ns(k, all_ns - idle_ns), idle, users);
	return true;
}

/* Short processes of one program had most of all CPUs' time. */
bool fr_recognise_fork_storm(struct fr_case *k)
{
	u64 from_ns, to_ns, since_ns, ran_ns, cpu_ns;
	struct forker top;
	u32 all;

	if (is_pressing_storm(k))
		return true;
	if (!fr_case_is_queued(k, &from_ns, &to_ns) || to_ns - from_ns < QUEUED_LEAST_NS ||
	    !fr_clues_covers_most(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns))
		return false;
	if (!storm_maker(k, to_ns, &since_ns, &top, &all))
		return false;
	ran_ns = ran_of_storm(k->c, since_ns, top.key, from_ns, to_ns);
	cpu_ns = (to_ns - from_ns) * k->c->cpu_cnt;
	if (ran_ns < cpu_ns / 2 || is_one_task(k, from_ns, to_ns))
		return false;
	fr_case_cause(k, from_queue(k, ", sched_process_fork"),
		      "%s started %s processes in the %s before, of %s in all: it and what it or these started then had the "
		      "CPUs for %s of these %s",
		      fr_word_comm(k, top.tid, top.ts), fr_word_cnt(k, top.cnt), fr_word_ns(k, to_ns - since_ns),
		      fr_word_cnt(k, all), fr_word_ns(k, ran_ns), fr_word_ns(k, cpu_ns));
	return true;
}

/* ---- packets ---- */

#define FLOOD_SAMPLES 10u

/* The call that the sample is in; NULL: none, or not known. */
/* The kernel's own function of a call may be without the one of the architecture around it, which left its frame to that. */
const char *fr_sample_call(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	static const char *const begins[] = {"__x64_sys_", "__arm64_sys_", "__do_sys_", "__se_sys_"};
	static const char *const ksys[] = {"ksys_read", "ksys_write", "ksys_pread64", "ksys_pwrite64", NULL};
	struct fr_symbol y;
	u32 i, n;

	for (i = 0; !s->user && fr_clues_kernel_frame(c, s->kstack_id, i, &y); i++) {
		for (n = 0; y.name && n < sizeof(begins) / sizeof(begins[0]); n++)
			if (!strncmp(y.name, begins[n], strlen(begins[n])))
				return y.name + strlen(begins[n]);
		if (y.name && fr_is_one_of(y.name, ksys))
			return y.name + strlen("ksys_");
	}
	return NULL;
}

static const char *sending_call(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	const char *softirq = fr_sample_softirq(c, s),
		   *call = softirq && !strcmp(softirq, "NET_RX") ? fr_sample_call(c, s) : NULL;

	return call && (strstr(call, "send") || strstr(call, "write")) ? call : NULL;
}

/* How many samples of all tasks are in this softirq. */
static u32 samples_in(const struct fr_clues *c, const char *softirq, u64 from_ns, u64 to_ns)
{
	const struct fr_clue_sample *s = c->sample.at;
	u32 cnt = 0;
	size_t i;

	for (i = 0; i < c->sample.cnt; i++) {
		const char *in = s[i].ts >= from_ns && s[i].ts <= to_ns ? fr_sample_softirq(c, &s[i]) : NULL;

		cnt += in && !strcmp(in, softirq);
	}
	return cnt;
}

static bool is_softirq_rule(const struct fr_case *k)
{
	const char *kind = fr_snap_fact(k->c->snap, "trigger_latency");

	return kind && !strcmp(kind, "softirq");
}

#define FULL_LEAST 50u /* packets that found a receive buffer full */

#define FULL_QUEUE "sock:sock_rcvqueue_full"
#define DROPPED	   "skb:kfree_skb"

/* One packet may fire both: where the reason of its drop is recorded, that is asked for alone. */
static const char *full_tracepoint(const struct fr_clues *c)
{
	return fr_rares_has(&c->rares, DROPPED) ? DROPPED : FULL_QUEUE;
}

/* The next packet that was dropped for a full receive buffer in the time that is looked at, from *i on. */
static const struct fr_rares_item *next_full(const struct fr_clues *c, size_t *i)
{
	const char *name = full_tracepoint(c);
	const struct fr_rares_item *it;

	while ((it = fr_rares_next(&c->rares, i, name, c->begin_ns, c->at_ns + 1)))
		if (strcmp(name, DROPPED) || !strcmp(it->what, "SOCKET_RCVBUFF"))
			return it;
	return NULL;
}

/* The kernel says that packets were dropped in the context of one program's tasks, and samples that it sends within the host.
 */
static bool tell_full_buffers(struct fr_case *k)
{
	const struct fr_rares_item *it, *last = NULL;
	struct fr_whose who = {.from_ns = k->c->begin_ns, .to_ns = k->c->at_ns};
	u64 from_ns, to_ns;
	u32 cnt = 0, all = 0, sending, samples;
	size_t i = 0;

	if (!fr_case_is_queued(k, &from_ns, &to_ns) || to_ns - from_ns < QUEUED_LEAST_NS)
		return false;
	while ((it = next_full(k->c, &i)))
		last = it;
	who.program = last ? fr_clues_program(k->c, last->tid, last->ts) : 0;
	for (i = 0; who.program && (it = next_full(k->c, &i)); all++)
		cnt += fr_clues_program(k->c, it->tid, it->ts) == who.program;
	if (cnt < FULL_LEAST || cnt < all / 10 * 9 || !fr_case_hot(k, &who, sending_call, &sending, &samples) ||
	    sending < FLOOD_SAMPLES || sending < samples_in(k->c, "NET_RX", who.from_ns, who.to_ns) / 2)
		return false;
	fr_case_cause(
		k, fr_word(k, "tp:%s, cpu_sample", full_tracepoint(k->c)),
		"a flood of packets within the host: %u or more that %s sent in the %s before found a receive buffer full, "
		"and were dropped; %u of its %u samples are in softirq NET_RX within its own sending call, while %s was "
		"queued for a CPU",
		cnt, fr_word_comm(k, last->tid, last->ts), fr_word_ns(k, k->c->at_ns - k->c->begin_ns), sending, samples,
		fr_word_comm(k, k->wait->tid, k->wait->ts));
	return true;
}

/* A sender within the host receives in its own call what it sends: its packets are what keeps the CPU in the softirq. */
bool fr_recognise_flood(struct fr_case *k)
{
	u64 from_ns, to_ns = k->c->at_ns;
	struct fr_whose who = {.from_ns = k->c->begin_ns, .to_ns = to_ns};
	struct fr_clue_program top = {0};
	const char *call;
	struct fr_tally t;
	u32 cnt, all, in, i;

	if (!is_softirq_rule(k) && !(fr_case_is_queued(k, &from_ns, &to_ns) && to_ns - from_ns >= QUEUED_LEAST_NS))
		return false;
	if (!fr_clues_covers_most(k->c, FR_CLUES_ALL_CPUS, k->c->begin_ns, k->c->at_ns))
		return tell_full_buffers(k);
	if (fr_clues_programs(k->c, FR_CLUES_ALL_CPUS, k->c->begin_ns, k->c->at_ns, &t)) {
		k->failed = true;
		return false;
	}
	for (i = 0; i < t.cnt && !top.key; i++)
		top = *(struct fr_clue_program *)fr_tally_at(&t, i);
	fr_tally_free(&t);
	who.program = top.key;
	call = top.key ? fr_case_hot(k, &who, sending_call, &cnt, &all) : NULL;
	in = samples_in(k->c, "NET_RX", who.from_ns, who.to_ns);
	if (!call || cnt < FLOOD_SAMPLES || cnt < in / 2 || cnt < all / 4)
		return tell_full_buffers(k);
	fr_case_cause(k, "sched_switch, cpu_sample",
		      "%s, %u task%s, had most of the CPUs: %s in the %s before; %u of its %u samples are in softirq NET_RX "
		      "within its own %s: packets that it sends within the host",
		      fr_word_comm(k, top.tid, top.ts), top.task_cnt, top.task_cnt == 1 ? "" : "s", fr_word_ns(k, top.ns),
		      fr_word_ns(k, who.to_ns - who.from_ns), cnt, all, fr_word_text(k, call, strlen(call)));
	return true;
}

/* ---- others ---- */

#define FREE_LEAST_NS (20 * FR_MSEC_NS) /* the scheduler fills a CPU that is idle for longer, where it may */

/* Could it run on one CPU alone, of several, when the file was made? */
static bool is_kept_on_one(const struct fr_case *k)
{
	const struct fr_snap_state *s = fr_states_of(k->c->snap, k->wait->tid);

	return s && s->allowed_cnt == 1 && s->start_ns <= k->wait->ts && k->c->cpu_cnt > 1;
}

/* "; CPU 0 was idle for 30 ms of that: ...": another CPU was, for most of the time in which it was queued; or nothing. */
static const char *cpu_free_word(struct fr_case *k, u64 from_ns, u64 to_ns)
{
	const char *kept = is_kept_on_one(k)
				   ? "; it might run on one CPU alone when the snapshot was taken, by its affinity or a cpuset"
				   : "";
	u64 most_ns;
	u32 at;

	if (fr_clues_idlest(k->c, k->wait->cpu, from_ns, to_ns, &at, &most_ns)) {
		k->failed = true;
		return "";
	}
	if (most_ns < FREE_LEAST_NS || most_ns < (to_ns - from_ns) / 4 * 3)
		return kept;
	return fr_word(k, "%s; CPU %u was idle for %s of that%s", kept, at, fr_word_ns(k, most_ns),
		       *kept ? "" : ", as where affinity or a cpuset keeps tasks from it");
}

#define NICE_PRIO   120 /* the kernel's number of nice 0 */
#define POLICY_IDLE 5	/* SCHED_IDLE */

/* "; web runs at nice 19": why others had more of it; or nothing. */
static const char *cpu_low_word(struct fr_case *k)
{
	const struct fr_snap_state *s = state_now(k->c, k->wait->tid);
	const char *comm;

	if (!s || (s->policy != POLICY_IDLE && s->prio <= NICE_PRIO))
		return "";
	comm = fr_word_comm(k, k->wait->tid, k->wait->ts);
	return s->policy == POLICY_IDLE
		       ? fr_word(k, "; %s is of policy SCHED_IDLE, for which others leave next to nothing", comm)
		       : fr_word(k, "; %s runs at nice %d", comm, s->prio - NICE_PRIO);
}

/* Nobody of its own kind kept the CPU from it: others had it, and who most. The last word on a queue. */
bool fr_recognise_shared_cpu(struct fr_case *k)
{
	u64 from_ns, to_ns, idle_ns = 0, others_ns = 0;
	struct fr_clue_program top = {0};
	const char *comm, *low;
	struct fr_tally t;
	u32 i;

	if (!fr_case_is_queued(k, &from_ns, &to_ns) || to_ns - from_ns < QUEUED_LEAST_NS ||
	    !fr_clues_covers_most(k->c, k->wait->cpu, from_ns, to_ns))
		return false;
	if (fr_clues_programs(k->c, k->wait->cpu, from_ns, to_ns, &t)) {
		k->failed = true;
		return false;
	}
	for (i = 0; i < t.cnt; i++) {
		const struct fr_clue_program *p = fr_tally_at(&t, i);

		if (!p->key)
			idle_ns = p->ns;
		else if (!top.key)
			top = *p;
		else
			others_ns += p->ns;
	}
	fr_tally_free(&t);
	comm = top.key ? fr_word_comm(k, top.tid, top.ts) : "?";
	if (*comm == '?' || idle_ns > (to_ns - from_ns) / 10)
		return false;
	low = cpu_low_word(k);
	fr_case_cause(k, from_queue(k, is_kept_on_one(k) || *low ? ", states" : ""),
		      "want of a CPU: %s, %u task%s, had CPU %u for %s of the %s in which %s was queued there%s%s%s", comm,
		      top.task_cnt, fr_plural(top.task_cnt), k->wait->cpu, fr_word_ns(k, top.ns),
		      fr_word_ns(k, to_ns - from_ns), fr_word_who(k, k->wait->tid, to_ns),
		      others_ns > (to_ns - from_ns) / 100 ? "; others had the rest" : "", low,
		      cpu_free_word(k, from_ns, to_ns));
	return true;
}
