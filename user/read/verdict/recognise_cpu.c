/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_cpu: a task was runnable, and did not get a CPU: who had it. */
#include "base/set/hash.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

#define QUEUED_LEAST_NS (5 * FR_MSEC_NS) /* below, queueing is everyday life */

/* Was the trigger's task queued for long, and who had its CPU most? Only if all of that time is known. */
static bool find_hog(struct fr_case *k, u64 *from_ns, u64 *to_ns, struct fr_clue_use *hog)
{
	return fr_case_is_queued(k, from_ns, to_ns) && *to_ns - *from_ns >= QUEUED_LEAST_NS &&
	       fr_case_top_user(k, k->wait->cpu, *from_ns, *to_ns, hog) && hog->key != k->wait->tid;
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

/* ---- the function that a task ran most ---- */

struct hot {
	u64 key; /* hash of the name */
	const char *name;
	u32 cnt;
};

static int by_cnt(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->cnt != y->cnt)
		return x->cnt > y->cnt ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* name_of: what a sample counts for; NULL: it counts for nothing. NULL if there are no samples. */
static const char *hottest(struct fr_case *k, u32 tid, u64 from_ns, u64 to_ns, u32 *cnt, u32 *all,
			   const char *(*name_of)(const struct fr_clues *c, const struct fr_clue_sample *s))
{
	const struct fr_clue_sample *s = k->c->sample.at;
	struct fr_tally t = {.rec_sz = sizeof(struct hot)};
	const char *name = NULL;
	size_t i;

	*all = *cnt = 0;
	for (i = 0; i < k->c->sample.cnt; i++) {
		struct hot *h;
		const char *fn;

		if (s[i].tid != tid || s[i].ts < from_ns || s[i].ts > to_ns)
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
	fr_tally_sort(&t, by_cnt);
	if (t.cnt) {
		name = ((struct hot *)fr_tally_at(&t, 0))->name;
		*cnt = ((struct hot *)fr_tally_at(&t, 0))->cnt;
	}
	fr_tally_free(&t);
	return name;
}

static const char *user_function(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	struct fr_symbol y;

	return s->user && fr_clues_user_frame(c, s->tid, s->ts, s->ustack_id, 0, &y) ? y.name : NULL;
}

/* What a worker was given: the frame that process_one_work() called. */
static const char *work_function(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	s32 at = fr_clues_kernel_at(c, s->kstack_id, "process_one_work");
	struct fr_symbol y;

	return at > 0 && fr_clues_kernel_frame(c, s->kstack_id, at - 1, &y) ? y.name : NULL;
}

/* ---- real-time priority ---- */

/* It left no time to others, and its priority is why. */
bool fr_recognise_fifo_hog(struct fr_case *k)
{
	u64 from_ns, to_ns;
	struct fr_clue_use hog;
	s16 mine;
	u32 cnt, all;
	const char *fn;

	if (!find_hog(k, &from_ns, &to_ns, &hog) || hog.prio >= FR_RT_PRIO_CNT || hog.ns < (to_ns - from_ns) / 10 * 9 ||
	    !prio_of(k->c, k->wait->tid, &mine) || mine < FR_RT_PRIO_CNT)
		return false;
	fn = hottest(k, hog.key, from_ns, to_ns, &cnt, &all, user_function);
	fr_case_cause(k, fn ? "wait, sched_switch, cpu_sample" : "wait, sched_switch",
		      "%s had CPU %u for %s of these %s: it runs at real-time priority %d (%s), %s does not%s%s",
		      fr_word_who(k, hog.key, to_ns), k->wait->cpu, fr_word_ns(k, hog.ns), fr_word_ns(k, to_ns - from_ns),
		      hog.prio < 0 ? 100 : FR_RT_PRIO_CNT - 1 - hog.prio,
		      hog.prio < 0 ? "SCHED_DEADLINE" : "SCHED_FIFO or SCHED_RR", fr_word_comm(k, k->wait->tid, to_ns),
		      fn ? "; it was in " : "", fn ? fr_word_text(k, fn, strlen(fn)) : "");
	return true;
}

/* ---- kernel workers ---- */

static bool is_kworker(const struct fr_clues *c, u32 tid, u64 ts)
{
	char comm[FR_CLUE_WHO_SZ];

	return !strncmp(fr_clues_comm(c, tid, ts, comm), "kworker/", 8);
}

/* A name can be chosen by anybody; only a kernel worker has process_one_work() on its stack. */
bool fr_recognise_kworker(struct fr_case *k)
{
	u64 from_ns, to_ns;
	struct fr_clue_use hog;
	u32 cnt, all;
	const char *fn;

	if (!find_hog(k, &from_ns, &to_ns, &hog) || hog.ns < (to_ns - from_ns) / 2 || !is_kworker(k->c, hog.key, to_ns))
		return false;
	fn = hottest(k, hog.key, k->c->begin_ns, to_ns, &cnt, &all, work_function);
	if (!fn || cnt < all / 2)
		return false;
	fr_case_cause(k, "wait, sched_switch, cpu_sample",
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

/* How long its CPU was idle while it was runnable there. */
static u64 idle_meanwhile(const struct fr_clues *c, const struct fr_waited *w)
{
	const struct fr_clue_run *run = c->run.at;
	u64 ns = 0;
	size_t i;

	for (i = 0; i < c->run.cnt; i++)
		ns += !run[i].tid && run[i].cpu == w->cpu
			      ? fr_overlap_ns(run[i].from_ns, run[i].to_ns, fr_waited_began_ns(w), w->ts)
			      : 0;
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

/* A CPU is never idle while a task is queued there, but for one that is not allowed to run. */
bool fr_recognise_throttled(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	u64 idle_ns;

	if (!w || !fr_waited_was_runnable(w) || w->off_ns < QUEUED_LEAST_NS || !is_in_throttle(k->c, w) ||
	    !fr_clues_covers(k->c, w->cpu, fr_waited_began_ns(w), w->ts) || !left_from(k->c, w))
		return false;
	idle_ns = idle_meanwhile(k->c, w);
	if (idle_ns < IDLE_LEAST_NS)
		return false;
	fr_case_cause(k, "wait, sched_switch",
		      "%s was throttled: its cgroup had used up its CPU quota. It was runnable for %s, but did not run on CPU "
		      "%u, which was idle for %s of it",
		      fr_word_comm(k, w->tid, w->ts), fr_word_ns(k, w->off_ns), w->cpu, fr_word_ns(k, idle_ns));
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

static u64 name_key(const struct fr_clues *c, u32 tid, u64 ts)
{
	char comm[FR_CLUE_WHO_SZ];

	fr_clues_comm(c, tid, ts, comm);
	return fr_hash(FR_HASH_SEED, comm, strlen(comm));
}

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
		f = fr_tally_get(&t, name_key(k->c, fork[i].parent, fork[i].ts));
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

/* How long tasks that were born since born_ns, or have this name, had CPUs. */
static u64 ran_of_storm(const struct fr_clues *c, u64 born_ns, u64 name, u64 from_ns, u64 to_ns)
{
	const struct fr_clue_run *run = c->run.at;
	u64 ns = 0, fork_ns;
	size_t i;

	for (i = 0; i < c->run.cnt; i++) {
		u64 part = fr_overlap_ns(run[i].from_ns, run[i].to_ns, from_ns, to_ns);

		if (part && run[i].tid &&
		    ((fr_clues_parent(c, run[i].tid, run[i].to_ns, &fork_ns) && fork_ns >= born_ns) ||
		     name_key(c, run[i].tid, run[i].to_ns) == name))
			ns += part;
	}
	return ns;
}

/* Short processes of one program had most of all CPUs' time. */
bool fr_recognise_fork_storm(struct fr_case *k)
{
	u64 from_ns, to_ns, since_ns, ran_ns, cpu_ns;
	struct forker top;
	u32 all;

	if (!fr_case_is_queued(k, &from_ns, &to_ns) || to_ns - from_ns < QUEUED_LEAST_NS ||
	    !fr_clues_covers(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns))
		return false;
	since_ns = to_ns > k->c->begin_ns + STORM_NS ? to_ns - STORM_NS : k->c->begin_ns;
	if (since_ns < k->c->life_ns || !top_forker(k, since_ns, to_ns, &top, &all) || top.cnt < all / 2 ||
	    top.cnt < STORM_FORKS * (to_ns - since_ns) / STORM_NS)
		return false;
	ran_ns = ran_of_storm(k->c, since_ns, top.key, from_ns, to_ns);
	cpu_ns = (to_ns - from_ns) * k->c->cpu_cnt;
	if (ran_ns < cpu_ns / 2)
		return false;
	fr_case_cause(k, "wait, sched_switch, sched_process_fork",
		      "%s started %s processes in the %s before, of %s in all: it and what was born then had the CPUs for %s "
		      "of these %s",
		      fr_word_comm(k, top.tid, top.ts), fr_word_cnt(k, top.cnt), fr_word_ns(k, to_ns - since_ns),
		      fr_word_cnt(k, all), fr_word_ns(k, ran_ns), fr_word_ns(k, cpu_ns));
	return true;
}
