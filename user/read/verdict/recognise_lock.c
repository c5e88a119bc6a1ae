/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_lock: a task waited for a lock: what its holder did. */
#include <linux/futex.h>
#include <signal.h>

#include "base/schema/sysnames.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

#define FOR_EVER_NS	   FR_SEC_NS /* below, it may have been about to start a thread */
#define PREEMPTED_LEAST_NS (5 * FR_MSEC_NS)
#define CONTENDED	   2u /* glibc's and Go's and Rust's locks: taken, and somebody waits */

static bool is_in_futex(const struct fr_case *k, const struct fr_waited *w)
{
	char call[FR_WAITED_CALL_SZ];

	return w->in == FR_WAITED_call && !w->abi && !strcmp(fr_waited_call(w, k->c->arch, call), "futex");
}

/* Does it wait for a lock? A condition, a semaphore or a queue is another use of futexes, and says nothing of a holder. */
static bool is_for_lock(const struct fr_case *k, const struct fr_waited *w)
{
	u32 op = (u32)w->arg[1] & FUTEX_CMD_MASK;

	if (!is_in_futex(k, w) || fr_waited_was_runnable(w))
		return false;
	return op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2 || (op == FUTEX_WAIT && (u32)w->arg[2] == CONTENDED);
}

/* How many other threads of its process waited for the same lock in this time. */
static u32 others_at(const struct fr_case *k, const struct fr_waited *w)
{
	const struct fr_waited *other;
	size_t i;
	u32 cnt = 0;

	for (i = 0; (other = fr_clues_wait(k->c, i)); i++)
		cnt += other->tid != w->tid && other->pid == w->pid && other->arg[0] == w->arg[0] && is_for_lock(k, other) &&
		       fr_overlap_ns(fr_waited_began_ns(other), other->ts, fr_waited_began_ns(w), w->ts) >= w->off_ns / 2;
	return cnt;
}

/* " and 2 others of the process", or nothing: beside this one. */
static const char *others_word(struct fr_case *k, const struct fr_waited *w)
{
	u32 others = others_at(k, w);

	return others ? fr_word(k, " and %u other%s of the process", others, fr_plural(others)) : "";
}

/* The thread that let a lock go at last. */
struct holder {
	u32 tid;
	u64 woke_ns; /* when it woke the next one */
};

/*
 * The lock passes from waiter to waiter, each of which holds it for a moment: back to whoever kept it. False: not known. A
 * waiter's wait and its waker's end within moments.
 */
static bool find_holder(struct fr_case *k, const struct fr_waited *w, struct holder *out)
{
	const struct fr_waited *first = w, *of;
	u32 i;

	for (i = 0; i < FR_VERDICT_LINK_MAX; i++) {
		*out = (struct holder){.tid = w->waker_pid, .woke_ns = fr_waited_woken_ns(w)};
		if (w->waker != FR_WAKER_task || !out->tid || out->tid == first->tid ||
		    fr_clues_pid(k->c, out->tid, out->woke_ns) != first->pid)
			return false;
		of = fr_clues_wait_in(k->c, out->tid, fr_waited_began_ns(first), out->woke_ns, first->blocked_ns / 2);
		if (!of || of->ts > out->woke_ns || !is_for_lock(k, of) || of->arg[0] != first->arg[0])
			return true;
		w = of;
	}
	return false;
}

/*
 * The lock's memory said who held it when w left. If that one was asleep already, and was for most of the time, it had the lock
 * as long as it slept.
 */
static const struct fr_waited *wait_of_owner(struct fr_case *k, const struct fr_waited *w)
{
	u64 began_ns = fr_waited_began_ns(w), woken_ns = fr_waited_woken_ns(w);
	const struct fr_waited *of = NULL;

	if (w->owner_pid && w != &k->by_steps) /* of a state, at its look */
		of = fr_clues_wait_in(k->c, w->owner_pid, began_ns, woken_ns, w->blocked_ns / 2);
	return of && of->pid == w->pid && fr_waited_began_ns(of) <= began_ns && of->ts <= woken_ns ? of : NULL;
}

/* What kept it for most of the time in which w waited; NULL: nothing that is known. */
static const struct fr_waited *wait_of_holder(struct fr_case *k, const struct fr_waited *w)
{
	const struct fr_waited *of = wait_of_owner(k, w);
	struct holder h;

	if (of)
		return of;
	if (!find_holder(k, w, &h))
		return NULL;
	of = fr_clues_wait_in(k->c, h.tid, fr_waited_began_ns(w), h.woke_ns, w->blocked_ns / 2);
	return of && of->ts <= h.woke_ns && of->pid == w->pid ? of : NULL;
}

/* The thread that let it go had slept itself for most of the time. */
bool fr_recognise_lock_holder(struct fr_case *k)
{
	const struct fr_waited *w = k->wait, *of;
	struct fr_still still;

	if (!w || !is_for_lock(k, w) || w->blocked_ns < w->off_ns / 2)
		return false;
	of = wait_of_holder(k, w);
	/* nobody has let it go yet */
	if (!of && w == &k->by_steps && k->is_going && w->owner_pid && fr_clues_still(k->c, w->owner_pid, &still) &&
	    still.wait.pid == w->pid)
		of = &still.wait;
	if (!of || fr_waited_was_runnable(of) || is_in_futex(k, of))
		return false;
	fr_case_cause(k, of == &still.wait ? "states" : "wait",
		      of == &still.wait ? "%s keeps the lock (futex 0x%llx), and has been asleep for %s %s%s; %s%s waits for it"
					: "%s kept the lock (futex 0x%llx) while it was asleep for %s %s%s; %s%s waited for it",
		      fr_word_who(k, of->tid, of->ts), w->arg[0], fr_word_ns(k, of->off_ns), fr_word_call(k, of),
		      fr_word_object(k, of), fr_word_comm(k, w->tid, w->ts), of == &still.wait ? "" : others_word(k, w));
	return true;
}

/* ---- a holder without a CPU ---- */

/* The program that had this CPU most in a time in which it was never idle for long; *ns: so long. */
static const char *busy_with(struct fr_case *k, u32 cpu, u64 from_ns, u64 to_ns, u64 *ns)
{
	struct fr_clue_program top = {0};
	u64 idle_ns = 0;
	struct fr_tally t;
	u32 i;

	if (!fr_clues_covers_most(k->c, cpu, from_ns, to_ns))
		return NULL;
	if (fr_clues_programs(k->c, cpu, from_ns, to_ns, &t)) {
		k->failed = true;
		return NULL;
	}
	for (i = 0; i < t.cnt; i++) {
		const struct fr_clue_program *p = fr_tally_at(&t, i);

		idle_ns += p->key ? 0 : p->ns;
		if (!top.key)
			top = *p;
	}
	fr_tally_free(&t);
	*ns = top.ns;
	return top.key && idle_ns <= (to_ns - from_ns) / 10 ? fr_word_comm(k, top.tid, top.ts) : NULL;
}

/* Nobody has let it go yet: who has it, by its memory, is runnable and has no CPU. */
static bool is_preempted_now(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	const struct fr_snap_state *t = w->owner_pid ? fr_states_of(k->c->snap, w->owner_pid) : NULL;
	u64 from_ns = fr_waited_began_ns(w), to_ns = k->c->at_ns, hog_ns;
	struct fr_still s;
	const char *hog;

	if (w != &k->by_steps || !k->is_going || !t || t->state || t->flags & (FR_STATE_RUNS | FR_STATE_MOVED) ||
	    t->at_ns < to_ns || fr_clues_pid(k->c, t->tid, t->at_ns) != w->pid)
		return false;
	fr_states_read(k->c->states, k->c->view, t, &s);
	from_ns = s.since_ns > from_ns ? s.since_ns : from_ns;
	if (!s.since_ns || from_ns >= to_ns || to_ns - from_ns < w->blocked_ns / 2 || to_ns - from_ns < PREEMPTED_LEAST_NS)
		return false;
	hog = busy_with(k, t->cpu, from_ns, to_ns, &hog_ns);
	if (!hog)
		return false;
	fr_case_cause(
		k, "states, sched_switch",
		"the lock's holder is preempted: %s has the lock (futex 0x%llx), and has been runnable without a CPU for %s, "
		"in which CPU %u had %s for %s; %s waits for it",
		fr_word_who(k, t->tid, to_ns), w->arg[0], fr_word_ns(k, to_ns - from_ns), t->cpu, hog, fr_word_ns(k, hog_ns),
		fr_word_comm(k, w->tid, w->ts));
	return true;
}

/* Who held the lock could have gone on, and had no CPU: what it needs is ranked behind what others do. */
bool fr_recognise_lock_preempted(struct fr_case *k)
{
	const struct fr_waited *w = k->wait, *of;
	struct holder h;
	const char *hog;
	u64 queued_ns, hog_ns;

	if (!w || !is_for_lock(k, w) || w->blocked_ns < w->off_ns / 2)
		return false;
	if (is_preempted_now(k))
		return true;
	if (!find_holder(k, w, &h))
		return false;
	queued_ns = fr_clues_queued(k->c, h.tid, fr_waited_began_ns(w), h.woke_ns, &of);
	if (queued_ns < w->blocked_ns / 2 || queued_ns < PREEMPTED_LEAST_NS)
		return false;
	hog = busy_with(k, of->cpu, fr_waited_woken_ns(of), of->ts, &hog_ns);
	if (!hog)
		return false;
	fr_case_cause(
		k, "wait, sched_switch",
		"the lock's holder was preempted: %s kept the lock (futex 0x%llx) while it was runnable without a CPU for "
		"%s, in which CPU %u had %s for %s of %s; %s%s waited for it",
		fr_word_who(k, h.tid, h.woke_ns), w->arg[0], fr_word_ns(k, queued_ns), of->cpu, hog, fr_word_ns(k, hog_ns),
		fr_word_ns(k, of->queued_ns), fr_word_comm(k, w->tid, w->ts), others_word(k, w));
	return true;
}

/* ---- a convoy ---- */

#define CONVOY_LEAST	4u		  /* threads that passed it on */
#define CONVOY_LATER_NS (10 * FR_MSEC_NS) /* behind a wait, in which one that was woken before may end */

/* The lock, as it came to w from thread to thread, each of which had waited for it. */
struct convoy {
	u32 cnt;
	u32 tid[CONVOY_LEAST], tids;	/* different ones of these, as many as are asked for */
	u64 ns, longest_ns;		/* from a thread's waking for it until it woke the next one */
	u64 asleep_ns;			/* of that, in long waits for something else */
	const struct fr_waited *asleep; /* the longest of these */
	u64 queued_ns;			/* of that, runnable without a CPU */
};

static bool convoy_is_for(const struct fr_case *k, const struct fr_waited *lock, const struct fr_waited *of)
{
	return of->pid == lock->pid && of->arg[0] == lock->arg[0] && is_for_lock(k, of);
}

/* The last wait of a thread for this lock that was over at a time, before the i-th one; -1: none that is known. */
static s64 convoy_wait(const struct fr_case *k, const struct fr_waited *lock, u32 tid, u64 to_ns, size_t i)
{
	const struct fr_waited *of;

	while (i--) {
		of = fr_clues_wait(k->c, i);
		if (of->ts < fr_waited_began_ns(lock))
			return -1;
		if (of->tid == tid && of->ts <= to_ns && convoy_is_for(k, lock, of))
			return i;
	}
	return -1;
}

/*
 * What a thread did from its waking, of its i-th wait, until it woke w: how it slept, but for this lock, and wanted a CPU.
 * False: it woke another one that waited for the lock meanwhile, so that it did not have that all the time.
 */
static bool convoy_add(const struct fr_case *k, struct convoy *c, const struct fr_waited *lock, const struct fr_waited *w,
		       size_t i)
{
	u64 from_ns = fr_waited_woken_ns(fr_clues_wait(k->c, i)), to_ns = fr_waited_woken_ns(w), ns;
	const struct fr_waited *of;
	u32 n;

	for (; (of = fr_clues_wait(k->c, i)) && of->ts <= w->ts + CONVOY_LATER_NS; i++) {
		if (of->waker == FR_WAKER_task && of->waker_pid == w->waker_pid && of->tid != w->tid &&
		    fr_waited_woken_ns(of) > from_ns && fr_waited_woken_ns(of) < to_ns && convoy_is_for(k, lock, of))
			return false;
		if (of->tid != w->waker_pid)
			continue;
		c->queued_ns += fr_overlap_ns(fr_waited_woken_ns(of), of->ts, from_ns, to_ns);
		if (fr_waited_was_runnable(of) || (is_in_futex(k, of) && of->arg[0] == lock->arg[0]))
			continue;
		ns = fr_overlap_ns(fr_waited_began_ns(of), fr_waited_woken_ns(of), from_ns, to_ns);
		c->asleep_ns += ns;
		if (ns && (!c->asleep || of->blocked_ns > c->asleep->blocked_ns))
			c->asleep = of;
	}
	for (n = 0; n < c->tids && c->tid[n] != w->waker_pid; n++)
		;
	if (n == c->tids && n < CONVOY_LEAST)
		c->tid[c->tids++] = w->waker_pid;
	c->cnt++;
	c->ns += to_ns - from_ns;
	c->longest_ns = to_ns - from_ns > c->longest_ns ? to_ns - from_ns : c->longest_ns;
	return true;
}

/* Each step goes back in the list of waits: it is gone through once. */
static void convoy_walk(const struct fr_case *k, const struct fr_waited *w, struct convoy *c)
{
	const struct fr_waited *lock = w;
	s64 i = k->c->wait.cnt;
	u64 woke_ns;

	*c = (struct convoy){0};
	for (;; w = fr_clues_wait(k->c, i)) {
		woke_ns = fr_waited_woken_ns(w);
		if (w->waker != FR_WAKER_task || !w->waker_pid || w->waker_pid == lock->tid)
			return;
		i = convoy_wait(k, lock, w->waker_pid, woke_ns, i);
		if (i < 0 || fr_waited_woken_ns(fr_clues_wait(k->c, i)) < fr_waited_began_ns(lock) ||
		    fr_waited_woken_ns(fr_clues_wait(k->c, i)) >= woke_ns || !convoy_add(k, c, lock, w, i))
			return;
	}
}

/*
 * Nobody keeps the lock for long, but many are before it: whoever waits, waits for what all of these do with it. Where a holder
 * took most of the time, that is the cause, and is told before. That those who had it had no CPU is told with it.
 */
bool fr_recognise_lock_convoy(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	const char *asleep = "", *queued = "", *quota = "";
	struct convoy c;

	if (!w || w == &k->by_steps || !is_for_lock(k, w) || w->blocked_ns < w->off_ns / 2)
		return false;
	convoy_walk(k, w, &c);
	if (c.tids < CONVOY_LEAST || c.ns < w->blocked_ns / 4 * 3 || c.longest_ns > w->blocked_ns / 2)
		return false;
	if (c.asleep && c.asleep_ns >= c.ns / 2)
		asleep = fr_word(k, "; %s of that they were asleep, the longest time %s%s for %s", fr_word_ns(k, c.asleep_ns),
				 fr_word_call(k, c.asleep), fr_word_object(k, c.asleep), fr_word_ns(k, c.asleep->blocked_ns));
	if (c.queued_ns >= c.ns / 2) {
		queued = fr_word(k, "; for %s of that they were runnable without a CPU", fr_word_ns(k, c.queued_ns));
		quota = fr_word_throttled(k, w->pid, fr_waited_began_ns(w), fr_waited_woken_ns(w));
	}
	fr_case_cause(k, *quota ? "wait, sched_switch" : "wait",
		      "a convoy at one lock (futex 0x%llx): %u times a thread of the process that had waited for it passed it "
		      "on to the next one before %s got it, %s after it had been woken itself, on average, %s of these %s in "
		      "all%s%s%s",
		      w->arg[0], c.cnt, fr_word_who(k, w->tid, w->ts), fr_word_ns(k, c.ns / c.cnt), fr_word_ns(k, c.ns),
		      fr_word_ns(k, w->blocked_ns), asleep, queued, quota);
	return true;
}

/* ---- nobody left ---- */

/* The fork that made this process, if the file has all that followed; NULL: not known. */
static const struct fr_clue_fork *birth_of(const struct fr_clues *c, s32 pid, u64 ts)
{
	const struct fr_clue_fork *fork = c->fork.at;
	size_t i = c->fork.cnt;

	while (i--)
		if (fork[i].child == (u32)pid && fork[i].pid == (u32)pid && fork[i].ts <= ts)
			return fork[i].ts >= c->life_ns ? &fork[i] : NULL;
	return NULL;
}

/* Did it, or who forked it, start a thread between two times? */
static bool has_started_thread(const struct fr_clues *c, s32 pid, u64 from_ns, u64 to_ns)
{
	const struct fr_clue_fork *fork = c->fork.at;
	size_t i;

	for (i = 0; i < c->fork.cnt; i++)
		if (fork[i].pid == (u32)pid && fork[i].child != (u32)pid && fork[i].ts >= from_ns && fork[i].ts <= to_ns)
			return true;
	return false;
}

/*
 * A private futex is its process's alone. If that has one thread, and no time-out is set, nobody can end the wait but a signal.
 * A process that was forked by one with threads has one, and each lock that another thread had just taken.
 */
bool fr_recognise_orphan_lock(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	const struct fr_clue_fork *birth;
	u32 op = w ? (u32)w->arg[1] & FUTEX_CMD_MASK : 0;
	s32 parent;

	if (!w || k->c->is_full || !is_in_futex(k, w) || fr_waited_was_runnable(w) || !(w->arg[1] & FUTEX_PRIVATE_FLAG) ||
	    w->arg[3] || (op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET) || w->blocked_ns < FOR_EVER_NS)
		return false;
	birth = birth_of(k->c, w->pid, w->ts);
	if (!birth || has_started_thread(k->c, w->pid, birth->ts, w->ts))
		return false;
	parent = fr_clues_pid(k->c, birth->parent, birth->ts);
	if (parent <= 0 || !has_started_thread(k->c, parent, 0, birth->ts))
		return false;
	fr_case_cause(k, "wait, sched_process_fork",
		      "%s waits for ever (%s so far): futex 0x%llx is its process's own, which has no other thread; %s, which "
		      "has threads, forked it %s before: a lock that one of them had taken stays taken in the child",
		      fr_word_who(k, w->tid, w->ts), fr_word_ns(k, w->blocked_ns), w->arg[0],
		      fr_word_who(k, birth->parent, birth->ts), fr_word_ns(k, w->ts - birth->ts));
	return true;
}

/* ---- a lock of several processes ---- */

/*
 * The only other process that has let this lock go, as earlier waits of w's process tell; 0: none, or several. *last_ns: when;
 * *passed_ns: when anybody, its own threads included, did last.
 */
static s32 lock_partner(const struct fr_case *k, const struct fr_waited *w, u32 *tid, u64 *last_ns, u64 *passed_ns)
{
	const struct fr_waited *of;
	s32 partner = 0, pid;
	size_t i;

	for (i = 0; (of = fr_clues_wait(k->c, i)); i++) {
		if (of->pid != w->pid || of->arg[0] != w->arg[0] || !is_for_lock(k, of) || of->waker != FR_WAKER_task)
			continue;
		if (fr_waited_woken_ns(of) > *passed_ns)
			*passed_ns = fr_waited_woken_ns(of);
		pid = fr_clues_pid(k->c, of->waker_pid, fr_waited_woken_ns(of));
		if (pid == w->pid)
			continue;
		if (pid <= 0 || (partner && pid != partner))
			return 0;
		partner = pid;
		*tid = of->waker_pid;
		*last_ns = fr_waited_woken_ns(of);
	}
	return partner;
}

/* When a process ended, after a time; 0: it did not, or it is not known. */
static u64 lock_partner_end_ns(const struct fr_clues *c, s32 pid, u64 after_ns)
{
	const struct fr_clue_end *end = c->end.at;
	size_t i;

	for (i = 0; i < c->end.cnt; i++)
		if (end[i].ts > after_ns && end[i].ts <= c->at_ns && fr_clues_pid(c, end[i].tid, end[i].ts) == pid)
			return end[i].ts;
	return 0;
}

/* ", by SIGKILL of x/1", or nothing */
static const char *lock_partner_killer(struct fr_case *k, s32 pid, u64 end_ns, const char **from)
{
	const struct fr_clue_signal *s = k->c->signal.at;
	size_t i = k->c->signal.cnt;

	while (i--)
		if (s[i].sig == SIGKILL && !s[i].result && s[i].sender && s[i].ts <= end_ns && s[i].ts + FR_SEC_NS >= end_ns &&
		    fr_clues_pid(k->c, s[i].target, s[i].ts) == pid) {
			*from = ", signal_generate";
			return fr_word(k, ", by SIGKILL of %s", fr_word_who(k, s[i].sender, s[i].ts));
		}
	return "";
}

#define DEAD_BEFORE_NS FR_SEC_NS /* from its end to a wait for the lock: who uses it runs into what it left soon */

/*
 * Nobody unlocks for who has died, but where the lock is a robust one. Where the lock passed after that, or nobody waited for
 * it until long after, it was free then.
 */
bool fr_recognise_dead_holder(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	const char *killer, *from = "";
	u64 last_ns = 0, passed_ns = 0, end_ns;
	s32 partner;
	u32 tid = 0;

	if (!w || w != &k->by_steps || !k->is_going || k->c->is_full || w->state != FR_PREV_STATE_SLEEPING ||
	    !is_for_lock(k, w) || w->arg[1] & FUTEX_PRIVATE_FLAG || w->arg[3] || w->blocked_ns < FOR_EVER_NS)
		return false;
	partner = lock_partner(k, w, &tid, &last_ns, &passed_ns);
	end_ns = partner ? lock_partner_end_ns(k->c, partner, last_ns) : 0;
	if (!end_ns || passed_ns > end_ns || fr_waited_began_ns(w) > end_ns + DEAD_BEFORE_NS)
		return false;
	killer = lock_partner_killer(k, partner, end_ns, &from);
	fr_case_cause(k, fr_word(k, "%s, wait, sched_process_exit%s", k->wait_from, from),
		      "%s waits for a lock that processes share (futex 0x%llx, %s so far), and the only other process that "
		      "was seen to let it go, that of %s, ended %s before the trigger%s: if it had the lock then, nobody "
		      "releases that",
		      fr_word_who(k, w->tid, w->ts), w->arg[0], fr_word_ns(k, w->blocked_ns), fr_word_who(k, tid, last_ns),
		      fr_word_ns(k, k->c->at_ns - end_ns), killer);
	return true;
}

/*
 * It waits for another process by memory that they share, and goes on: what that one does which let it go on before. Who is in
 * such a futex itself waits for somebody, too: for this one, for a third one, or for work.
 */
bool fr_recognise_shared_futex(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	u32 op = w ? (u32)w->arg[1] & FUTEX_CMD_MASK : 0, tid;
	struct fr_still s;
	u64 ended_ns;

	if (!w || w != &k->by_steps || !k->is_going || k->c->is_full || w->state != FR_PREV_STATE_SLEEPING ||
	    !is_in_futex(k, w) || w->arg[1] & FUTEX_PRIVATE_FLAG || w->arg[3] || w->blocked_ns < FOR_EVER_NS ||
	    (op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET))
		return false;
	tid = fr_case_only_ender(k, w, &ended_ns);
	if (!tid || !fr_clues_still(k->c, tid, &s) || (is_in_futex(k, &s.wait) && !(s.wait.arg[1] & FUTEX_PRIVATE_FLAG)))
		return false;
	fr_case_cause(
		k, fr_word(k, "%s, wait", k->wait_from),
		"%s waits for what processes share, as a lock or a semaphore (futex 0x%llx, %s so far); who ended a wait of it "
		"for that, %s before, %s, has been %s; whether that one has it is not known",
		fr_word_who(k, w->tid, w->ts), w->arg[0], fr_word_ns(k, w->blocked_ns), fr_word_ns(k, w->ts - ended_ns),
		fr_word_who(k, tid, ended_ns), fr_word_still(k, &s));
	return true;
}

/* ---- each waits for the other ---- */

/* Of a process, as its tasks were when the file was made. */
struct standstill {
	u32 cnt, locks;	      /* threads; of them those that wait for a lock */
	struct fr_still a, b; /* two that wait for different ones */
};

bool fr_case_is_own_futex(const struct fr_case *k, const struct fr_waited *w)
{
	u32 op = (u32)w->arg[1] & FUTEX_CMD_MASK;

	return is_in_futex(k, w) && w->arg[1] & FUTEX_PRIVATE_FLAG && !w->arg[3] &&
	       (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET);
}

/* pthread_join() waits for the word that the kernel clears at a thread's end, and that has its tid until then. */
static bool is_join(const struct fr_case *k, const struct fr_waited *w)
{
	u32 op = (u32)w->arg[1] & FUTEX_CMD_MASK;

	return is_in_futex(k, w) && !w->arg[3] && (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) && w->arg[2] > CONTENDED &&
	       fr_clues_pid(k->c, (u32)w->arg[2], w->ts) == w->pid;
}

/* Of the trigger's process the file has all tasks, unless it says that some were left out, or nothing of what it has. */
static bool has_all_threads(const struct fr_case *k, s32 pid)
{
	return fr_states_are_all(k->c->snap) && pid > 0 && pid == k->c->pid;
}

/* Do all its threads wait for each other? False, too, where one of them is not known. */
static bool lock_stands_still(const struct fr_case *k, s32 pid, struct standstill *st)
{
	size_t cnt, i;
	const struct fr_snap_state *t = fr_snap_states(k->c->snap, &cnt);

	*st = (struct standstill){0};
	for (i = 0; i < cnt; i++) {
		struct fr_still one;

		if (!fr_states_is_last(t, cnt, i) || fr_clues_pid(k->c, t[i].tid, t[i].at_ns) != pid)
			continue;
		if (!fr_clues_still(k->c, t[i].tid, &one) || (!fr_case_is_own_futex(k, &one.wait) && !is_join(k, &one.wait)))
			return false;
		st->cnt++;
		if (!is_for_lock(k, &one.wait))
			continue;
		if (!st->locks++)
			st->a = one;
		else if (!st->b.state && one.wait.arg[0] != st->a.wait.arg[0])
			st->b = one;
	}
	return st->b.state;
}

/* Nobody of the process is left to release anything: two of them wait for a lock each, which nobody else can have. */
bool fr_recognise_deadlock(struct fr_case *k)
{
	struct standstill st;
	s32 pid = k->wait ? k->wait->pid : -1;

	if (!has_all_threads(k, pid) || !lock_stands_still(k, pid, &st))
		return false;
	fr_case_cause(k, "states",
		      "a deadlock: all %u threads of the process wait for each other, without a time-out: %s for futex 0x%llx "
		      "for %s, %s for futex 0x%llx for %s, and none is left that could release these",
		      st.cnt, fr_word_who(k, st.a.wait.tid, st.a.wait.ts), st.a.wait.arg[0], fr_word_ns(k, st.a.wait.off_ns),
		      fr_word_who(k, st.b.wait.tid, st.b.wait.ts), st.b.wait.arg[0], fr_word_ns(k, st.b.wait.off_ns));
	return true;
}

/* ---- none of its threads has woken it ---- */

#define MATES_TOLD   3u
#define OBJECT_SHORT 60u

/* "b/2 has been in read for 2 s", with what that is about where it is short. */
static const char *mate_word(struct fr_case *k, const struct fr_waited *w)
{
	const char *object = fr_word_object(k, w);

	return fr_word(k, "%s has been %s%s%s for %s", fr_word_who(k, w->tid, w->ts),
		       w->state & (FR_PREV_STATE_STOPPED | FR_PREV_STATE_TRACED) ? "stopped " : "", fr_word_call(k, w),
		       strlen(object) <= OBJECT_SHORT ? object : "", fr_word_ns(k, w->off_ns));
}

/* It sleeps, but began to only behind the trigger, as who does something every 50 ms: what it did then is not known. */
static bool mate_is_brief(const struct fr_case *k, const struct fr_snap_state *t)
{
	struct fr_still s;

	if (!(t->state & (FR_PREV_STATE_SLEEPING | FR_PREV_STATE_BLOCKED)) || t->flags & (FR_STATE_RUNS | FR_STATE_MOVED) ||
	    t->at_ns < k->c->at_ns || t->in == FR_STATE_IN_NONE)
		return false;
	fr_states_read(k->c->states, k->c->view, t, &s);
	return s.since_ns >= k->c->at_ns;
}

/* "; of the 2 others, b/2 has been in read for 2 s, ...": what other threads of the process do, those first that wait for no
 * futex; "; it has no other thread"; NULL: that is not known of all. *others: so many there are. */
static const char *mates_word(struct fr_case *k, const struct fr_waited *w, u32 *others)
{
	const char *words = "", *mate;
	size_t cnt, i;
	const struct fr_snap_state *t = fr_snap_states(k->c->snap, &cnt);
	u32 pass, told = 0, brief = 0;

	for (*others = pass = 0; pass < 2; pass++)
		for (i = 0; i < cnt; i++) {
			struct fr_still one;
			bool is_brief;

			if (t[i].tid == w->tid || !fr_states_is_last(t, cnt, i) ||
			    fr_clues_pid(k->c, t[i].tid, t[i].at_ns) != w->pid)
				continue;
			is_brief = !fr_clues_still(k->c, t[i].tid, &one);
			if (is_brief && !mate_is_brief(k, &t[i]))
				return NULL;
			*others += !pass;
			brief += !pass && is_brief;
			if (is_brief || is_in_futex(k, &one.wait) != pass || told == MATES_TOLD)
				continue;
			mate = mate_word(k, &one.wait);
			if (strlen(words) + strlen(", ") + strlen(mate) >= FR_WORD_SZ)
				continue;
			told++;
			words = fr_word(k, "%s%s%s", words, *words ? ", " : "", mate);
		}
	if (!*others)
		return "; it has no other thread";
	if (!told)
		return NULL;
	return fr_word(k, "; of the %u other%s, %s%s", *others, fr_plural(*others), words,
		       brief ? fr_word(k, " (what %u of them did at the trigger is not known)", brief) : "");
}

/* Do all other threads wait for each other, too, without a time-out? Not only for locks, as for a deadlock. */
static const char *all_wait_word(const struct fr_case *k, const struct fr_waited *w)
{
	size_t cnt, i;
	const struct fr_snap_state *t = fr_snap_states(k->c->snap, &cnt);
	struct fr_still one;

	for (i = 0; i < cnt; i++)
		if (t[i].tid != w->tid && fr_states_is_last(t, cnt, i) && fr_clues_pid(k->c, t[i].tid, t[i].at_ns) == w->pid &&
		    (!fr_clues_still(k->c, t[i].tid, &one) || (!fr_case_is_own_futex(k, &one.wait) && !is_join(k, &one.wait))))
			return "";
	return "; all wait so, and none is left that could wake another, but in a signal's handler: a deadlock, or nobody has "
	       "work for them";
}

#define HANDLER_NS FR_MSEC_NS /* from the begin of a signal's handler to its first wait */

/* A handler that it began right before w: if that takes a lock, and the code that it came upon had it, w is for w's own task.
 */
static const char *handler_word(struct fr_case *k, const struct fr_waited *w, const char **from)
{
	const struct fr_clue_handled *h = &k->c->handled;
	u64 began_ns = fr_waited_began_ns(w);
	const char *name = fr_signal_name(h->sig);

	if (w->tid != k->c->tid || !h->ts || !name || h->ts > began_ns || h->ts + HANDLER_NS < began_ns)
		return "";
	*from = ", signal_deliver";
	return fr_word(k,
		       "; %s before, it had gone on in the handler of %s: if that takes a lock which the code that it came "
		       "upon has, it waits for itself",
		       fr_word_ns(k, began_ns - h->ts), name);
}

/* How often others of its process were woken from its lock while it waited: at least. */
static u32 lock_passed(const struct fr_case *k, const struct fr_waited *w)
{
	const struct fr_waited *of;
	size_t i;
	u32 cnt = 0;

	for (i = 0; (of = fr_clues_wait(k->c, i)); i++)
		cnt += of->tid != w->tid && of->pid == w->pid && of->arg[0] == w->arg[0] && is_for_lock(k, of) &&
		       of->waker == FR_WAKER_task && fr_waited_woken_ns(of) > fr_waited_began_ns(w);
	return cnt;
}

/* Nobody has woken it. A lock with a queue passes among others meanwhile; else whoever has it may be the same thread. */
static bool tell_own_lock(struct fr_case *k, const struct fr_waited *w, const char *mates)
{
	u32 passed = lock_passed(k, w);
	const char *from = passed ? ", wait" : "", *handler = "";

	if (passed)
		handler = fr_word(k, "; meanwhile others were woken from it %u time%s or more", passed, fr_plural(passed));
	else
		handler = handler_word(k, w, &from);
	fr_case_cause(k, fr_word(k, "%s%s", k->wait_from, from),
		      "%s waits for a lock of its process, without a time-out: nobody has woken it from futex 0x%llx for "
		      "%s%s%s",
		      fr_word_who(k, w->tid, w->ts), w->arg[0], fr_word_ns(k, w->blocked_ns), handler, mates);
	return true;
}

/*
 * It has no other thread, which alone could wake it. The file has its first thread only where that is there: of another one
 * that is left alone, nothing is said.
 */
static bool tell_alone(struct fr_case *k, const struct fr_waited *w)
{
	const struct fr_clue_fork *f = k->c->fork.at;
	const char *gone = "";
	bool is_all = !k->c->is_full && birth_of(k->c, w->pid, w->ts);
	u64 last_ns = 0;
	u32 cnt = 0;
	size_t i;

	if (w->pid != (s32)w->tid)
		return false;
	for (i = 0; i < k->c->fork.cnt; i++) {
		if (f[i].pid != w->tid || f[i].ts > k->c->at_ns)
			continue;
		cnt = f[i].child == w->tid ? 0 : cnt + 1; /* those before were of another process, that had its pid */
		last_ns = f[i].ts;
	}
	if (cnt == 1)
		gone = fr_word(k, "; %s thread that it had started %s before the trigger is gone", is_all ? "the" : "a",
			       fr_word_ns(k, k->c->at_ns - last_ns));
	else if (cnt)
		gone = fr_word(k, "; of %s%u threads that it had started, the last one %s before the trigger, none is left",
			       is_all ? "" : "at least ", cnt, fr_word_ns(k, k->c->at_ns - last_ns));
	fr_case_cause(k, cnt ? fr_word(k, "%s, sched_process_fork", k->wait_from) : k->wait_from,
		      "%s waits for another thread of its process, without a time-out (futex 0x%llx, %s so far), and its "
		      "process has no other thread: nobody is left to wake it, but a signal's handler%s",
		      fr_word_who(k, w->tid, w->ts), w->arg[0], fr_word_ns(k, w->blocked_ns), gone);
	return true;
}

/* A private futex without a time-out, as of a condition or a queue: one of its own threads has to do something, and none has.
 */
bool fr_recognise_own_threads(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	const char *mates;
	u32 others;

	/* who is stopped may have been woken: it is not seen to leave the call */
	if (!w || w != &k->by_steps || !k->is_going || !(w->state & (FR_PREV_STATE_SLEEPING | FR_PREV_STATE_BLOCKED)) ||
	    !fr_case_is_own_futex(k, w) || w->blocked_ns < FOR_EVER_NS || !has_all_threads(k, w->pid))
		return false;
	mates = mates_word(k, w, &others);
	if (!mates)
		return false;
	if (is_for_lock(k, w))
		return tell_own_lock(k, w, mates);
	if (!others)
		return tell_alone(k, w);
	fr_case_cause(
		k, k->wait_from,
		"%s waits for another thread of its process, without a time-out: only one of these can wake it from futex "
		"0x%llx, and none has for %s%s%s",
		fr_word_who(k, w->tid, w->ts), w->arg[0], fr_word_ns(k, w->blocked_ns), mates, all_wait_word(k, w));
	return true;
}
