/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * latency: this began, that ended: how long did it take? Pure, for the triggers' programs and for user space alike: a rule
 * means the same on a live machine and on a snapshot. Times are ns of one clock that does not run backwards; 0 is never a
 * time.
 *
 * A task and its CPU
 *
 *	 leaves(sleeps)	     woken	     runs
 *	------|----------------|---------------|------		offcpu: leaves to runs
 *		   off		     wake			wakeup: woken to runs
 *
 *	 leaves(queued)			     runs		preempted: it never slept, so nothing woke it
 *	------|--------------------------------|------
 *
 * Events come from several CPUs: a task is woken on one while it leaves another. Its state is two words, each written whole:
 *	off	{ when:61 | how:3 } it left its CPU; 0: it runs, or was not seen leaving
 *	wake	when it was woken since then; FR_WAKE_EARLY: woken while it still ran; 0: not woken
 *
 * Rules
 *  - The first waking counts: a second one finds wake set, and waking a task that is queued or runs begins nothing.
 *  - A waker may come when the task has decided to sleep and has not yet left. It waits until the task has left, and the
 *    waking is not reported again. So an early waking is remembered; if the task then runs again without another one, the
 *    early one was meant for this sleep, and the wait began when the task left.
 *  - A task of which only the waking was seen is `new`: it has no time off its CPU.
 */
#ifndef FR_LATENCY_H
#define FR_LATENCY_H

#include "atomic.h"
#include "task_state.h"

/* How a task left its CPU. */
enum fr_off_how {
	FR_OFF_RUNS = 0,
	FR_OFF_SLEEPS = 1,
	FR_OFF_BLOCKED = 2, /* in D */
	FR_OFF_QUEUED = 3,  /* runnable: preempted, or its time slice was over */
	FR_OFF_NEW = 4,	    /* has not run yet, as far as known */
};

#define FR_OFF_BITS   3
#define FR_OFF_MASK   7ULL
#define FR_WAKE_EARLY 1ULL

/*
 * Any CPU may store off and wake: who wakes the task, who looks for hung ones. Each word is meaningful alone, so its accesses
 * are whole and pair with nothing. A CAS from 0 sets only what nobody has set meanwhile.
 */
struct fr_lat_task {
	u64 off;
	u64 wake;
	u64 call; /* since when it has been in a system call, 0: it is in none */
	s32 call_nr;
	u32 call_again; /* it was interrupted, and restart_syscall resumes it */
	u32 hung_set;	/* bit i: hung rule i has reported this pause */
	u32 call_execs; /* it asked for a program: if it gets one, it ends with another number */
};

/* What ended when a task ran. 0: there was none. */
struct fr_lat_run {
	u64 wakeup_ns;	/* woken until now */
	u64 offcpu_ns;	/* left until now */
	u64 blocked_ns; /* in D, until it was woken */
	u64 queued_ns;	/* runnable until now */
};

FR_INLINE u64 fr_lat_since(u64 from_ns, u64 now_ns)
{
	return now_ns > from_ns ? now_ns - from_ns : 0;
}

/* Is it in D? Killable or not. state: task_struct.__state, or prev_state: it looks at no bit that differs between them. */
FR_INLINE u32 fr_state_is_blocked(u32 state)
{
	if (state & (FR_STATE_NOLOAD | FR_STATE_IS_FROZEN))
		return 0;
	return (state & (FR_STATE_BLOCKED | FR_STATE_RTLOCK)) != 0;
}

FR_INLINE u32 fr_off_how(u32 preempted, u32 state)
{
	if (preempted || !state)
		return FR_OFF_QUEUED;
	return fr_state_is_blocked(state) && !(state & FR_STATE_FREEZER) ? FR_OFF_BLOCKED : FR_OFF_SLEEPS;
}

FR_INLINE u64 fr_off_word(u64 now_ns, u32 how)
{
	return now_ns << FR_OFF_BITS | how;
}

/* It leaves its CPU. */
FR_INLINE void fr_lat_leaves(struct fr_lat_task *t, u64 now_ns, u32 how)
{
	fr_store(&t->off, fr_off_word(now_ns, how));
}

/* It is woken, by any task, on any CPU. */
FR_INLINE void fr_lat_woken(struct fr_lat_task *t, u64 now_ns)
{
	u64 how = fr_load(&t->off) & FR_OFF_MASK;

	if (how == FR_OFF_RUNS)
		fr_store(&t->wake, FR_WAKE_EARLY);
	else if (how != FR_OFF_QUEUED && fr_load(&t->wake) <= FR_WAKE_EARLY)
		fr_store(&t->wake, now_ns);
}

/* It is woken for the first time, or the first time known. */
FR_INLINE void fr_lat_born(struct fr_lat_task *t, u64 now_ns)
{
	fr_store(&t->off, fr_off_word(now_ns, FR_OFF_NEW));
	fr_store(&t->wake, now_ns);
}

/* When it became runnable; 0: it is not, or that is unknown. */
FR_INLINE u64 fr_lat_queued_at(u64 off, u64 wake)
{
	if (wake > FR_WAKE_EARLY)
		return wake;
	return wake == FR_WAKE_EARLY || (off & FR_OFF_MASK) == FR_OFF_QUEUED ? off >> FR_OFF_BITS : 0;
}

/* It runs. */
FR_INLINE void fr_lat_runs(struct fr_lat_task *t, u64 now_ns, struct fr_lat_run *ran)
{
	u64 off = fr_load(&t->off), wake = fr_load(&t->wake), how = off & FR_OFF_MASK, left = off >> FR_OFF_BITS, queued;

	fr_store(&t->off, 0);
	fr_store(&t->wake, 0);
	t->hung_set = 0;
	queued = fr_lat_queued_at(off, wake);
	ran->offcpu_ns = off && how != FR_OFF_NEW ? fr_lat_since(left, now_ns) : 0;
	ran->queued_ns = off && queued ? fr_lat_since(queued, now_ns) : 0;
	ran->wakeup_ns = how == FR_OFF_QUEUED ? 0 : ran->queued_ns;
	ran->blocked_ns = how == FR_OFF_BLOCKED ? fr_lat_since(left, queued ? queued : now_ns) : 0;
}

/*
 * A task was found not running, in this state; off was read before state. Returns how long it has been hung. *blocked: in D,
 * otherwise runnable. 0: it is not hung, or it is unknown since when; then it counts from now on.
 */
FR_INLINE u64 fr_lat_hung(struct fr_lat_task *t, u64 now_ns, u64 off, u32 state, u32 *blocked)
{
	u64 wake = fr_load(&t->wake), how = off & FR_OFF_MASK, since;

	*blocked = how != FR_OFF_QUEUED && fr_state_is_blocked(state);
	if (!*blocked && how != FR_OFF_QUEUED && state && state != FR_STATE_WAKING)
		return 0;
	if (!off) { /* off its CPU since before the rules were loaded */
		fr_cas(&t->off, 0, fr_off_word(now_ns, *blocked ? FR_OFF_BLOCKED : FR_OFF_QUEUED));
		return 0;
	}
	if (*blocked)
		return fr_lat_since(off >> FR_OFF_BITS, now_ns);
	since = fr_lat_queued_at(off, wake);
	if (!since)
		fr_cas(&t->wake, 0, now_ns);
	return since ? fr_lat_since(since, now_ns) : 0;
}

/* ---- system calls ---- */

#define FR_RESTART_BLOCK (-516) /* -ERESTART_RESTARTBLOCK: restart_syscall resumes the call, unless a handler runs */

/*
 * It enters a system call. restarts: this is restart_syscall, native or not, which resumes an interrupted call. Any other call
 * in between, measured or not, ends the wait for that. execs: this is execve or execveat, native or not.
 */
FR_INLINE void fr_lat_enters(struct fr_lat_task *t, u64 now_ns, s32 nr, u32 restarts, u32 execs)
{
	if (restarts && t->call && t->call_again)
		return;
	t->call = now_ns;
	t->call_nr = nr;
	t->call_again = 0;
	t->call_execs = execs;
}

/* A task that has executed a program leaves execve, in the ABI of that program, whichever call it began. */
FR_INLINE u32 fr_lat_execed(const struct fr_lat_task *t, s64 ret)
{
	return t->call && t->call_execs && !ret;
}

/*
 * It leaves a call whose number is now nr, -1 if that is no longer known (rt_sigreturn). Returns how long the call took, 0 if
 * its entry is unknown; *entered is its number. Calls that never return leave t->call set until the task ends.
 */
FR_INLINE u64 fr_lat_exits(struct fr_lat_task *t, u64 now_ns, s32 nr, u32 restarts, s64 ret, s32 *entered)
{
	u64 call = t->call;
	u32 is_it = t->call_again ? restarts : nr == t->call_nr || nr == -1 || fr_lat_execed(t, ret);

	*entered = t->call_nr;
	t->call_again = is_it && ret == FR_RESTART_BLOCK;
	if (!t->call_again)
		t->call = 0;
	return call && is_it ? fr_lat_since(call, now_ns) : 0;
}

/* ---- block requests ---- */

struct fr_lat_request {
	u64 issued;
	u32 tid; /* the task that issued it */
	u32 tgid;
	u32 uid;
	u32 requeued; /* it will be issued again, which is not a new request */
	u64 comm[2];
};

/* It is done if no bytes are left; not if only a part was completed. */
FR_INLINE u32 fr_lat_request_done(u32 done_sz, u32 left_sz)
{
	return done_sz >= left_sz;
}

/* ---- interrupts of a CPU ---- */

#define FR_SOFTIRQ_MAX 16u /* a power of two; the kernel has 10 */

/* Handlers of one kind do not nest; those of interrupts nest in softirqs, so each kind has its own. */
struct fr_lat_cpu {
	u64 softirq[FR_SOFTIRQ_MAX]; /* since when it runs, 0: it does not */
	u64 irq;
	u32 irq_nr;
	u32 pad;
};

FR_INLINE void fr_lat_softirq_begins(struct fr_lat_cpu *c, u64 now_ns, u32 vec)
{
	c->softirq[vec % FR_SOFTIRQ_MAX] = now_ns;
}

/* How long it ran; 0: its beginning is unknown. */
FR_INLINE u64 fr_lat_softirq_ends(struct fr_lat_cpu *c, u64 now_ns, u32 vec)
{
	u64 since = c->softirq[vec % FR_SOFTIRQ_MAX];

	c->softirq[vec % FR_SOFTIRQ_MAX] = 0;
	return since ? fr_lat_since(since, now_ns) : 0;
}

FR_INLINE void fr_lat_irq_begins(struct fr_lat_cpu *c, u64 now_ns, u32 nr)
{
	c->irq = now_ns;
	c->irq_nr = nr;
}

FR_INLINE u64 fr_lat_irq_ends(struct fr_lat_cpu *c, u64 now_ns, u32 nr)
{
	u64 since = c->irq_nr == nr ? c->irq : 0;

	c->irq = 0;
	return since ? fr_lat_since(since, now_ns) : 0;
}

#endif
