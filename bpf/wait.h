/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wait: how long a task was off the CPU, and what it was woken by. Pure, for BPF and for host tests.
 *
 * A table has an entry at each tid's lowest bits. Its words are stored by whoever sees something happen, on any CPU:
 *
 *	a switch from the task		tid, state, left_ns	by the CPU that it leaves
 *	a waking of the task		woken_ns, waker		by the waker, if the entry is the task's
 *	a switch to the task		left_ns = 0		by the CPU that it gets, behind both
 *
 *	 left_ns	  woken_ns	   now
 *	---|-----------------|---------------|---
 *		 blocked	  queued		off = blocked + queued
 *
 * Rules
 *  - A waking may precede the switch that it ends: who wakes a task need not wait until it has left. So a switch from a task
 *    stores no waking, and erases none. If it then runs without another waking, an earlier one was meant for this sleep: it was
 *    queued from the moment it left.
 *  - A task that left runnable was queued all the time, whatever an earlier waking says.
 *  - An entry belongs to one tid. Who leaves takes it from another task, whose wait is lost if it is one, which is counted.
 *    A waking of a task that does not own its entry is not stored. One that finds its entry taken while it stores may leave
 *    its words with the new owner: so the last word says whom it woke, and is not believed of anybody else.
 *  - left_ns 0: the task runs, or was not seen leaving. Task 0 has no entry.
 *  - A task is looked at as it leaves, a few times after each long wait and when it is new: only there its memory can be read.
 *
 * All words are read behind the scheduler's own locks: what was stored before the switch to a task is seen there.
 */
#ifndef FR_WAIT_H
#define FR_WAIT_H

#include "atomic.h"
#include "event.h"
#include "task_state.h"

#ifndef __bpf__
#include <stdbool.h>
#endif

#define FR_FD_CALL_WORDS      (512 / 64) /* a bit for each call's number below FR_SYSCALL_MAX */
#define FR_WAIT_CNT	      65536u	 /* entries; a power of two */
#define FR_WAIT_BUDGET	      650u	 /* full records a second and CPU, of tasks that slept */
#define FR_WAIT_BUDGET_QUEUED 250u	 /* of those that were runnable all the time */
#define FR_WAIT_BUDGET_LONG   100u	 /* of either, if the wait was so long that few can be */
#define FR_WAIT_LONG_NS	      100000000ULL
#define FR_WAIT_LONG_STEP     10u /* after as many of these it must be longer by FR_WAIT_LONG_NS */
#define FR_WAIT_BUDGET_NS     1000000000ULL
#define FR_WAIT_SPENDERS      256u /* tasks whose records in a second are counted; a power of two */
#define FR_WAIT_DEF_MIN_NS    1000000ULL
#define FR_WAIT_LOOKS_NEW     2u /* looks at a task that has not left before, as fr_wait_ration() */
#define FR_WAIT_LOOKS_MAX     16u
#define FR_WAIT_LOOK_BUDGET   16u /* looks of a CPU in each FR_WAIT_LOOK_NS: 256 a second */
#define FR_WAIT_LOOK_NS	      62500000ULL
#define FR_WAIT_LOOK_CNT      16384u /* what was found, by the tid's lowest bits; a power of two */

/* In what context a task was woken. Only in a task's own context is the current task the waker. */
#define FR_WAKERS(W)                                                \
	W(0, unknown, "not known")                                  \
	W(1, task, "a task: waker_pid")                             \
	W(2, softirq, "a softirq, whichever task it ran on top of") \
	W(3, irq, "an interrupt, a timer's too")                    \
	W(4, nmi, "a non-maskable interrupt")                       \
	W(5, timer, "a timer: its interrupt, or its softirq")

enum fr_waker {
#define W(nr, name, doc) FR_WAKER_##name = nr,
	FR_WAKERS(W)
#undef W
		FR_WAKER_CNT
};

/*
 * What a frame of the waker's kernel stack says, the innermost one first: in an interrupt or a softirq, the current task is a
 * bystander, unless the softirq runs in its own call, as loopback delivers.
 */
#define FR_WAKE_FRAMES(F)                                                          \
	F(0, "__hrtimer_run_queues", timer)                                        \
	F(1, "call_timer_fn", timer)                                               \
	F(2, "__run_timers", timer)                                                \
	F(3, "expire_timers", timer)                                               \
	F(4, "__local_bh_enable_ip", task)  /* it serves what came up meanwhile */ \
	F(5, "__entry_text_start", unknown) /* what is behind was only interrupted */

#define FR_WAKE_FRAME_CNT 6u
#define FR_WAKE_ENTRY	  5u  /* the code that enters the kernel, up to __entry_text_end */
#define FR_WAKE_DEPTH	  64u /* frames that are looked at in a softirq: a loopback's delivery has 40 */
#define FR_WAKE_DEPTH_IRQ 16u /* in an interrupt: what calls a timer's function is within the first ten */

/* What the task was in while it waited. */
#define FR_WAITED_IN(W)                                                              \
	W(0, call, "a system call")                                                  \
	W(1, user, "user code, stopped by an interrupt or a fault: the stack tells") \
	W(2, kernel, "no user code: a kernel thread, a worker of io_uring or vhost")

enum fr_waited_in {
#define W(nr, name, doc) FR_WAITED_##name = nr,
	FR_WAITED_IN(W)
#undef W
};

struct fr_wait {
	u32 tid;
	u16 state; /* FR_PREV_STATE_*, of the last switch from it */
	u8 looks;  /* how often it is still looked at when it leaves ... */
	u8 ration; /* ... of so many that it was given last. Both are of the CPU that it is on */
	u64 left_ns;
	u64 woken_ns;
	u64 waker; /* { 0 | enum fr_waker:4 | tid that was woken:22 | waker's tid:22 }, 0: not known */
};

_Static_assert(sizeof(struct fr_wait) == 32, "two in a line");

/*
 * What was found when a task was looked at while it left, and was the current task: its memory cannot be read when it gets the
 * CPU again. Beside its entry, in a table of its own, which only tasks that are looked at touch. Stored by the CPU that it
 * leaves.
 */
struct fr_wait_look {
	u64 left_ns; /* the wait that it is about began then */
	u64 ustack_id;
	u32 tid;
	u32 said; /* of the call, by its memory: said.bpf.h */
};

/*
 * Waits beyond the budget have no record: their lengths are summed by task and call, in a table of each CPU. A place has one
 * task in one call, and no other's lengths ever. Who finds no place among FR_WAIT_OVER_PROBES takes one that has not been added
 * to for FR_WAIT_OVER_OLD_NS, whose sum goes to the rest; if there is none, the rest gets the wait. So the sum of all places
 * and the rest is all there were.
 */
#define FR_WAIT_OVER_CNT    512u /* a power of two; a value of a CPU has 32 KiB at most */
#define FR_WAIT_OVER_PROBES 8u
#define FR_WAIT_OVER_OLD_NS 60000000000ULL

struct fr_wait_sum {
	u64 cnt, off_ns, blocked_ns;
};

struct fr_wait_who {
	u32 tid; /* 0: the place is free */
	s32 id;	 /* as in the record */
	u64 how; /* { when the task began, ns:60 | abi:2 | enum fr_waited_in:2 } */
};

struct fr_wait_place {
	struct fr_wait_who who;
	u64 last_ns; /* when its last wait ended */
	struct fr_wait_sum sum;
};

/* Who copies it from its beginning to its end has it whole if both numbers are equal. */
struct fr_wait_over {
	u64 done; /* waits that have been added */
	struct fr_wait_sum rest;
	struct fr_wait_place place[FR_WAIT_OVER_CNT];
	u64 begun; /* waits that are, or have been, added */
};

_Static_assert(sizeof(struct fr_wait_over) <= 32768, "a value of a CPU");

/* What became of waits of at least WaitMin, by CPU. Every such wait is one of these, or in an entry that was taken. */
#define FR_WAIT_COUNTS(C)                                                                          \
	C(written, "recorded")                                                                     \
	C(lost, "refused by the ring, which is also counted there")                                \
	C(over, "beyond the budget")                                                               \
	C(idle, "of kernel threads without work")                                                  \
	C(self, "the recorder's own")                                                              \
	C(filtered, "of tasks that -f leaves out")                                                 \
	C(held, "while the event was turned off")                                                  \
	C(over_ns, "time off the CPU of those beyond the budget")                                  \
	C(idle_ns, "time off the CPU of idle kernel threads")                                      \
	C(taken, "entries taken from a task that was away: its wait, long or short, is not known") \
	C(unlooked, "tasks that left with no look at their user stack, beyond the budget of looks")

struct fr_wait_counts {
#define C(name, doc) u64 name;
	FR_WAIT_COUNTS(C)
#undef C
};

struct fr_wait_len {
	u64 off_ns, blocked_ns, queued_ns;
};

/* A CPU's full records of this second. All 0 is a beginning. */
struct fr_wait_budget {
	u64 second_ns; /* when it began */
	u32 second;    /* its number, so that nothing needs to be cleared for the next one */
	u32 spent[3];  /* records of tasks that slept, of those that were only queued, and of long waits beyond these */
	struct {
		u32 tid;
		u16 second, cnt; /* its records of that second */
	} of[FR_WAIT_SPENDERS];	 /* by the tid's lowest bits: who finds another task there takes the place */
};

FR_INLINE u64 fr_wait_waker(enum fr_waker how, u32 woken, u32 waker)
{
	return (u64)how << 2 * FR_TID_BITS | (u64)(woken & FR_TID_MASK) << FR_TID_BITS | (waker & FR_TID_MASK);
}

FR_INLINE u32 fr_wait_woken_of(u64 waker)
{
	return waker >> FR_TID_BITS & FR_TID_MASK;
}

FR_INLINE u32 fr_wait_waker_tid(u64 waker)
{
	return waker & FR_TID_MASK;
}

FR_INLINE enum fr_waker fr_wait_waker_how(u64 waker)
{
	return waker >> 2 * FR_TID_BITS & 0xf;
}

/* The kernel's preempt count: bits 20 to 23 NMI, 16 to 19 hard interrupt, 8 softirq being served (9 and up: disabled). */
FR_INLINE enum fr_waker fr_wait_context(u32 preempt_count)
{
	if (!(preempt_count & 0x00ff0100u))
		return FR_WAKER_task;
	if (preempt_count & 0x00f00000u)
		return FR_WAKER_nmi;
	if (preempt_count & 0x000f0000u)
		return FR_WAKER_irq;
	return FR_WAKER_softirq;
}

/* The task leaves its CPU. Returns whether the entry was taken from another one that is away. */
FR_INLINE bool fr_wait_leaves(struct fr_wait *e, u32 tid, u32 state, u64 now_ns)
{
	bool taken = false;

	if (e->tid != tid) {
		taken = e->left_ns != 0;
		e->woken_ns = 0;
		e->waker = 0;
		e->looks = e->ration = FR_WAIT_LOOKS_NEW;
		e->tid = tid;
	}
	e->state = state;
	e->left_ns = state & FR_PREV_STATE_ENDED ? 0 : now_ns;
	return taken;
}

/* Does a waking of this task now end a sleep of at least min_ns? */
FR_INLINE bool fr_wait_is_long(const struct fr_wait *e, u64 now_ns, u64 min_ns)
{
	return e->left_ns && (s64)(now_ns - e->left_ns) >= (s64)min_ns;
}

/* waker: fr_wait_waker(), 0: it is not known. */
FR_INLINE void fr_wait_wakes(struct fr_wait *e, u64 waker, u64 now_ns)
{
	e->woken_ns = now_ns;
	e->waker = waker;
}

/* The task with this entry runs again. Returns whether it was seen leaving, and how long it was away. */
FR_INLINE bool fr_wait_runs(struct fr_wait *e, u32 tid, u64 now_ns, struct fr_wait_len *len)
{
	u64 left = e->left_ns, from = left;

	if (e->tid != tid || !left)
		return false;
	e->left_ns = 0;
	if (now_ns < left)
		now_ns = left;
	if (e->state & FR_PREV_STATE_WAITS && e->woken_ns > left)
		from = e->woken_ns < now_ns ? e->woken_ns : now_ns;
	len->off_ns = now_ns - left;
	len->blocked_ns = from - left;
	len->queued_ns = now_ns - from;
	return true;
}

/*
 * Since when the task with this entry, which does not run, is as it is: it left then or, if it is runnable, it was woken then.
 * 0: it was not seen leaving. From outside: the words may change meanwhile.
 */
FR_INLINE u64 fr_wait_since(const struct fr_wait *e, u32 tid, bool runnable)
{
	u64 left = fr_load(&e->left_ns), woken = fr_load(&e->woken_ns);

	if (e->tid != tid || !left)
		return 0;
	return runnable && e->state & FR_PREV_STATE_WAITS && woken > left ? woken : left;
}

/*
 * This wait was a long one; looked: it had been looked at. How often is the task looked at from now on? As often as it took
 * since the last long wait, and once more: short waits come between long ones, in many tasks as many each time. If it was not
 * enough, twice as often, up to a limit.
 */
FR_INLINE void fr_wait_ration(struct fr_wait *e, bool looked)
{
	u32 more = looked ? e->ration - e->looks + 1u : 2u * e->ration;

	e->ration = more < FR_WAIT_LOOKS_NEW ? FR_WAIT_LOOKS_NEW : more > FR_WAIT_LOOKS_MAX ? FR_WAIT_LOOKS_MAX : more;
	e->looks = e->ration;
}

/*
 * Spend a record on a wait of this task, which left in this state. Returns whether there was one for it: those that slept have
 * a budget apart from those that waited for a busy CPU, which are most on a machine that has no idle one. A task gets a record
 * while no fewer are left than it has had. So one task alone gets half of them, k that wait as often as they can get one part
 * each of k + 1, and the last part is left for those that wait for the first time. Two tasks of one place each forget the
 * other's count: then these two get what is left, as if there were no shares.
 *
 * A task that waits often would thus lose the one wait that matters, which is longer than all others. So what would get no
 * record has a chance by its length alone, off_ns: a third budget, in which the next one has to be the longer the more is
 * spent.
 */
FR_INLINE bool fr_wait_spend(struct fr_wait_budget *b, u32 tid, u32 state, u64 off_ns, u64 now_ns)
{
	u32 at = tid & (FR_WAIT_SPENDERS - 1), queued = !(state & FR_PREV_STATE_WAITS);
	u32 left;

	if (now_ns - b->second_ns >= FR_WAIT_BUDGET_NS) {
		b->second_ns = now_ns;
		b->second++;
		b->spent[0] = b->spent[1] = b->spent[2] = 0;
	}
	if (b->of[at].tid != tid || b->of[at].second != (u16)b->second) {
		b->of[at].tid = tid;
		b->of[at].second = b->second;
		b->of[at].cnt = 0;
	}
	left = (queued ? FR_WAIT_BUDGET_QUEUED : FR_WAIT_BUDGET) - b->spent[queued];
	if (!left || left < b->of[at].cnt) {
		left = FR_WAIT_BUDGET_LONG - b->spent[2];
		if (!left || off_ns < FR_WAIT_LONG_NS * (1 + b->spent[2] / FR_WAIT_LONG_STEP))
			return false;
		b->spent[2]++;
		return true;
	}
	b->spent[queued]++;
	b->of[at].cnt++;
	return true;
}

FR_INLINE u64 fr_wait_who_how(u64 start_ns, u32 abi, u32 in)
{
	return start_ns << 4 | (abi & 3) << 2 | (in & 3);
}

FR_INLINE u32 fr_wait_who_abi(const struct fr_wait_who *w)
{
	return w->how >> 2 & 3;
}

FR_INLINE u32 fr_wait_who_in(const struct fr_wait_who *w)
{
	return w->how & 3;
}

FR_INLINE u64 fr_wait_who_start_ns(const struct fr_wait_who *w)
{
	return w->how >> 4;
}

FR_INLINE bool fr_wait_who_same(const struct fr_wait_who *a, const struct fr_wait_who *b)
{
	return a->tid == b->tid && a->id == b->id && a->how == b->how;
}

FR_INLINE void fr_wait_sum_add(struct fr_wait_sum *to, const struct fr_wait_sum *more)
{
	to->cnt += more->cnt;
	to->off_ns += more->off_ns;
	to->blocked_ns += more->blocked_ns;
}

/* The place of this task in this call, taken if it has none; NULL: there is none for it. */
FR_INLINE struct fr_wait_place *fr_wait_over_place(struct fr_wait_over *o, const struct fr_wait_who *who, u64 now_ns)
{
	u32 from = (who->tid + (u32)who->id * 0x9e3779b1u) * 0x85ebca6bu >> 16, i, at, old = 0;
	u64 old_ns = ~0ULL;
	struct fr_wait_place *p;

	for (i = 0; i < FR_WAIT_OVER_PROBES; i++) {
		at = (from + i) & (FR_WAIT_OVER_CNT - 1);
		p = &o->place[at];
		if (fr_wait_who_same(&p->who, who))
			return p;
		if (!p->who.tid) {
			p->who = *who;
			return p;
		}
		if (p->last_ns < old_ns) {
			old_ns = p->last_ns;
			old = at;
		}
	}
	if (now_ns - old_ns < FR_WAIT_OVER_OLD_NS)
		return 0;
	p = &o->place[old & (FR_WAIT_OVER_CNT - 1)];
	fr_wait_sum_add(&o->rest, &p->sum);
	p->sum.cnt = p->sum.off_ns = p->sum.blocked_ns = 0;
	p->who = *who;
	return p;
}

/* Add a wait that gets no record. */
FR_INLINE void fr_wait_over_add(struct fr_wait_over *o, const struct fr_wait_who *who, const struct fr_wait_len *len,
				u64 now_ns)
{
	struct fr_wait_place *p;
	struct fr_wait_sum *sum = &o->rest;

	fr_publish(&o->begun, o->begun + 1);
	asm volatile("" : : : "memory");
	p = fr_wait_over_place(o, who, now_ns);
	if (p) {
		p->last_ns = now_ns;
		sum = &p->sum;
	}
	sum->cnt++;
	sum->off_ns += len->off_ns;
	sum->blocked_ns += len->blocked_ns;
	fr_publish(&o->done, o->begun);
}

/* What was found when this wait began, NULL: nothing. */
FR_INLINE const struct fr_wait_look *fr_wait_looked(const struct fr_wait_look *l, u32 tid, u64 left_ns)
{
	return l && l->tid == tid && l->left_ns == left_ns ? l : 0;
}

/* The waker word, if it is about this task and this wait; 0: not known. After fr_wait_runs(). */
FR_INLINE u64 fr_wait_woken_by(const struct fr_wait *e, u32 tid)
{
	return e->state & FR_PREV_STATE_WAITS && fr_wait_woken_of(e->waker) == tid ? e->waker : 0;
}

#endif
