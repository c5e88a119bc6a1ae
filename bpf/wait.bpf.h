/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wait: a record of each long wait, written at the switch to the task that waited (wait.h). Part of the programs of
 * sched_switch and sched_waking: with fr_wait_min_ns 0, the verifier drops all of it from them.
 *
 *	sched_switch	prev: fr_wait_leaves()		a store		\ in one entry of fr_waits each
 *			next: fr_wait_runs()		a load, a store	/
 *			prev waited for long before: look_at()		its user stack, by hash
 *			long:  is_due()			the budget; what gets no record is counted
 *			       find_call(), stack_of()	saved registers, object, kernel stack
 *			       tell_wait()		the record
 *	sched_waking	fr_wait_wakes()			a load, a store
 *			of a long sleep, by a softirq or an interrupt: waker_by_stack()
 *
 * A switch does not nest, and interrupts are off: this CPU's room belongs to the switch that runs.
 */
#ifndef FR_WAIT_BPF_H
#define FR_WAIT_BPF_H

#include "current.bpf.h"
#include "event_fields.h"
#include "place_ask.bpf.h"
#include "record.bpf.h"
#include "stackbuf.h"
#include "wait.h"

#ifdef FR_WATCH
/* The session's programs see waits. */
#define fr_wait_min_ns 0

FR_INLINE void fr_wait_waking(void *ctx, u32 tid, enum fr_waker how, u64 now_ns)
{
}

FR_INLINE void fr_wait_switch(struct task_struct *prev, struct task_struct *next, u32 state, u64 now_ns)
{
}
#else

#include "call.bpf.h"
#include "said.bpf.h"
#include "wait_map.bpf.h"

/* Set by the loader: waits at least this long are recorded; 0: none are. */
const volatile u64 fr_wait_min_ns = 0;

struct wait_cpu {
	struct fr_wait_counts cnt; /* first: user space reads these */
	u64 look_ns, look_cnt;	   /* since when looks are counted, and how many there were */
	u32 depth, told;       /* of the user stack that was taken: frames; whether the kernel was not asked where they are */
	u64 ustack_id;	       /* of the task that now gets the CPU, from when it left; 0: none */
	u32 said;	       /* likewise, what its memory said: ... */
	u32 owner, polled;     /* ... who held the lock that it waited for, or the descriptor that it polled, + 1 */
	struct task_call call; /* in which the task waited that now gets the CPU ... */
	u32 object_sz;	       /* ... and the length of its object, with a NUL; 0: it is not known */
	struct fr_wait_budget budget;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct wait_cpu);
} fr_wait_cpu SEC(".maps");

/* Beside it, since a value of a CPU may have no more than 32 KiB. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct fr_wait_over);
} fr_wait_over SEC(".maps");

FR_FRAMES_MAP;
FR_ORIGINS_MAP;

FR_INLINE struct stack_origins *fr_origins(u32 buf_nr)
{
	return bpf_map_lookup_elem(&fr_origin_buf, &buf_nr);
}

/* sample.bpf.c: writes the first frames of buffer FR_FRAMES_WAIT to the stack tier, the kernel's or a user's. */
u64 fr_wait_stack_keep(u32 depth, u32 tid);
u64 fr_wait_user_known(u32 depth);
u64 fr_wait_user_keep(u32 tid);
u32 fr_origin_frames(u32 origins_nr);
int fr_wait_user_know(u64 id, u32 depth);

/* walk.bpf.h */
u32 fr_walk(u32 buf_nr, u64 ip, u64 sp, u64 fp);

/* ---- who wakes ---- */

/* Set by the loader: from where to where each of these functions is; 0, 0: the kernel has none. */
const volatile u64 fr_wake_text[FR_WAKE_FRAME_CNT][2] = {};

FR_INLINE int wake_frame(u64 pc)
{
	int i;

	for (i = 0; i < (int)FR_WAKE_FRAME_CNT; i++)
		if (pc >= fr_wake_text[i][0] && pc < fr_wake_text[i][1])
			return i;
	return -1;
}

/* Who wakes, by the first frames of the waits' buffer. how: by the context alone. */
__noinline u32 fr_wake_by_stack(u32 depth, u32 how)
{
	static const u8 says[] = {
#define F(nr, name, how) [nr] = FR_WAKER_##how,
		FR_WAKE_FRAMES(F)
#undef F
	};
	u32 nr = FR_FRAMES_WAIT, i;
	struct stack_buf *buf = bpf_map_lookup_elem(&fr_stack_buf, &nr);
	int frame = -1;

	for (i = 0; buf && frame < 0 && i < FR_WAKE_DEPTH && i < depth; i++)
		frame = wake_frame(buf->pc[i]);
	if (frame < 0 || frame >= (int)FR_WAKE_FRAME_CNT || says[frame] == FR_WAKER_unknown)
		return how;
	/* an interrupt ends nobody's own call */
	return says[frame] == FR_WAKER_task && how != FR_WAKER_softirq ? how : says[frame];
}

/* Set by the loader: how far the CPU's high-resolution timers are from its runqueue, 0: not known
 * (user/live/session/current.h). */
const volatile s64 fr_hrtimers_off = 0;

struct hrtimer_clock_base___run {
	void *running; /* the timer whose function runs */
} __attribute__((preserve_access_index));

struct hrtimer_cpu_base___run {
	struct hrtimer_clock_base___run clock_base[4]; /* those of interrupts; behind them are the softirq's */
} __attribute__((preserve_access_index));

FR_INLINE bool is_set(u64 base, u32 off)
{
	void *running = NULL;

	return !bpf_probe_read_kernel(&running, sizeof(running), (void *)(base + off)) && running;
}

/* Does the CPU run a high-resolution timer's function, in the timer's interrupt? If not known: no. */
FR_INLINE bool is_in_hrtimer(void)
{
	struct hrtimer_cpu_base___run *b = NULL;
	u64 base = bpf_core_field_exists(b->clock_base[0].running) ? fr_current_var(fr_hrtimers_off) : 0;

	return base && (is_set(base, bpf_core_field_offset(b->clock_base[0].running)) ||
			is_set(base, bpf_core_field_offset(b->clock_base[1].running)) ||
			is_set(base, bpf_core_field_offset(b->clock_base[2].running)) ||
			is_set(base, bpf_core_field_offset(b->clock_base[3].running)));
}

/* Interrupts are off while a task is woken: the buffer is this waking's. */
FR_INLINE u32 waker_by_stack(void *ctx, u32 how)
{
	u32 nr = FR_FRAMES_WAIT, depth = how == FR_WAKER_irq ? FR_WAKE_DEPTH_IRQ : FR_WAKE_DEPTH;
	struct stack_buf *buf = bpf_map_lookup_elem(&fr_stack_buf, &nr);
	long sz = buf ? bpf_get_stack(ctx, buf, depth * sizeof(u64), 0) : 0; /* each frame takes some 60 ns */

	return sz > 0 ? fr_wake_by_stack(sz / sizeof(u64), how) : how;
}

/* A stack takes microseconds, a look at the timers a tenth of one. */
FR_COLD u32 waker_of_long(void *ctx, u32 how)
{
	if (how == FR_WAKER_irq && is_in_hrtimer())
		return FR_WAKER_timer;
	return waker_by_stack(ctx, how);
}

/* The task is being woken, in this context. */
FR_INLINE void fr_wait_waking(void *ctx, u32 tid, enum fr_waker how, u64 now_ns)
{
	u32 at = tid & (FR_WAIT_CNT - 1);
	struct fr_wait *e = bpf_map_lookup_elem(&fr_waits, &at);

	if (!e || e->tid != tid)
		return;
	if ((how == FR_WAKER_softirq || how == FR_WAKER_irq) && fr_enabled(FR_EV_wait) &&
	    fr_wait_is_long(e, now_ns, fr_wait_min_ns))
		how = waker_of_long(ctx, how);
	fr_wait_wakes(e, fr_wait_waker(how, tid, how == FR_WAKER_task ? fr_current_tid() : 0), now_ns);
}

/* ---- who leaves ---- */

#define WITHOUT_USER_CODE (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)

/* Is one more look within what a CPU spends on them? */
FR_INLINE bool may_look(struct wait_cpu *c, u64 now_ns)
{
	if (now_ns - c->look_ns >= FR_WAIT_LOOK_NS) {
		c->look_ns = now_ns;
		c->look_cnt = 0;
	}
	return c->look_cnt++ < FR_WAIT_LOOK_BUDGET;
}

/* The user stack of the current task, in the waits' buffer. Returns the number of frames, 0: none. */
FR_COLD u32 take_user_stack(struct task_struct *task)
{
	u32 nr = FR_FRAMES_WAIT;
	struct stack_buf *buf;
	struct fr_user_regs regs;
	long sz;

	if (fr_entry_regs(&regs) == sizeof(u64))
		return regs.ip ? fr_walk(nr, regs.ip, regs.sp, regs.fp) : 0;
	buf = bpf_map_lookup_elem(&fr_stack_buf, &nr);
	sz = buf ? bpf_get_task_stack(task, buf, sizeof(*buf), FR_USER_STACK) : 0;
	return sz < (long)sizeof(u64) || sz > (long)sizeof(*buf) ? 0 : sz / sizeof(u64);
}

FR_INLINE struct fr_wait_look *look_of(u32 tid)
{
	u32 at = tid & (FR_WAIT_LOOK_CNT - 1);

	return bpf_map_lookup_elem(&fr_wait_looks_of, &at);
}

/*
 * The current task leaves, and waited for long before: what can be read of it now only. Returns whether keep_look() is to be
 * called, a step of its own, as a record has several.
 */
FR_COLD int look_at(struct task_struct *task, struct fr_wait *e, u64 now_ns)
{
	u32 zero = 0, depth;
	struct fr_wait_look *l = look_of(task->pid);
	struct wait_cpu *c = bpf_map_lookup_elem(&fr_wait_cpu, &zero);

	e->looks--;
	if (!l || !c || task->flags & WITHOUT_USER_CODE)
		return 0;
	l->tid = task->pid;
	l->left_ns = now_ns;
	l->said = fr_said(FR_ADDRESS(task)); /* a few bytes of memory, beyond the budget, too: it is the stack that costs */
	l->ustack_id = 0;
	if (!may_look(c, now_ns)) {
		c->cnt.unlooked++;
		return 0;
	}
	depth = take_user_stack(task);
	l->ustack_id = depth ? fr_wait_user_known(depth) : 0;
	if (l->ustack_id || !depth)
		return 0;
	c->depth = depth;
	c->told = fr_places_ask(NULL, FR_ORIGINS_WAIT, FR_FRAMES_WAIT, depth);
	return 1;
}

/* Write the stack that was found to the ring. */
FR_COLD int keep_look(u32 tid)
{
	u32 zero = 0;
	struct fr_wait_look *l = look_of(tid);
	struct wait_cpu *c = bpf_map_lookup_elem(&fr_wait_cpu, &zero);
	u64 id;

	if (!l || !c)
		return 0;
	id = fr_wait_user_keep(tid);
	l->ustack_id = id;
	if (!id)
		return 0;
	if (fr_origins_due(id))
		fr_origins_keep(FR_ORIGINS_WAIT, fr_origin_frames(FR_ORIGINS_WAIT), tid, id);
	if (c->told)
		fr_wait_user_know(id, c->depth);
	return 0;
}

/* ---- who waited ---- */

FR_INLINE bool is_comm_chosen(const struct task_struct *task)
{
	u64 comm[2];
	u32 i;

	__builtin_memcpy(comm, task->comm, sizeof(comm));
	for (i = 0; i < FR_COMM_FILTER_MAX && i < fr_comm_filter_cnt; i++)
		if ((comm[0] & fr_comm_filter[i].mask[0]) == fr_comm_filter[i].text[0] &&
		    (comm[1] & fr_comm_filter[i].mask[1]) == fr_comm_filter[i].text[1])
			return true;
	return false;
}

/* As fr_task_chosen(), of a task that is not yet the current one. The filters of all groups are pids and names. */
FR_INLINE bool is_chosen(const struct task_struct *task)
{
	u32 tgid = task->tgid;

	return !fr_filter_all || (fr_pid_filter_cnt && bpf_map_lookup_elem(&fr_pid_filter, &tgid)) ||
	       (fr_comm_filter_cnt && is_comm_chosen(task));
}

/* Its length goes to the sum of its task and call. On a machine whose CPUs are all busy most waits come here. */
FR_COLD int sum_wait(struct task_struct *task, const struct fr_wait_len *len, u64 now_ns)
{
	u32 zero = 0;
	struct fr_wait_over *o = bpf_map_lookup_elem(&fr_wait_over, &zero);
	struct fr_wait_who who;
	struct task_call call;

	if (!o)
		return 0;
	fr_call_nr(task, &call);
	who.tid = task->pid;
	who.id = call.in == FR_WAITED_call ? call.id : -1;
	who.how = fr_wait_who_how(task->start_time, call.abi, call.in);
	fr_wait_over_add(o, &who, len, now_ns);
	return 0;
}

/* Should this wait get a record? If not, it is counted. */
FR_COLD u32 is_due(struct task_struct *task, const struct fr_wait_len *len, u32 state, u64 now_ns)
{
	u32 zero = 0;
	struct wait_cpu *c = bpf_map_lookup_elem(&fr_wait_cpu, &zero);

	if (!c)
		return 0;
	if (!fr_enabled(FR_EV_wait)) {
		c->cnt.held++;
	} else if (task->flags & PF_KTHREAD && state & (FR_PREV_STATE_SLEEPING | FR_PREV_STATE_IDLE | FR_PREV_STATE_PARKED)) {
		c->cnt.idle++;
		c->cnt.idle_ns += len->off_ns;
	} else if (fr_is_self(task->tgid)) {
		c->cnt.self++;
	} else if (!is_chosen(task)) {
		c->cnt.filtered++;
	} else if (!fr_wait_spend(&c->budget, task->pid, state, len->off_ns, now_ns)) {
		sum_wait(task, len, now_ns);
	} else {
		return 1;
	}
	return 0;
}

/* The kernel stack of a task that is about to run. Returns its id, 0: none. */
FR_INLINE u64 stack_of(struct task_struct *task)
{
	u32 nr = FR_FRAMES_WAIT;
	struct stack_buf *buf = bpf_map_lookup_elem(&fr_stack_buf, &nr);
	long sz = buf ? bpf_get_task_stack(task, buf, sizeof(*buf), 0) : 0;

	return sz < (long)sizeof(u64) ? 0 : fr_wait_stack_keep(sz / sizeof(u64), task->pid);
}

/*
 * In three steps from the switch itself, what was found kept in the CPU's room between them: the stacks of functions that call
 * each other add up, to 512 bytes at most before 6.13 (tests/build/stacks.py).
 */
FR_COLD int find_call(struct task_struct *task)
{
	u32 zero = 0;
	struct wait_cpu *c = bpf_map_lookup_elem(&fr_wait_cpu, &zero);

	if (!c)
		return 0;
	fr_call_of(task, &c->call);
	c->object_sz = fr_object_of(task, &c->call, c->said);
	c->owner = fr_call_owner(&c->call, c->said);
	c->polled = fr_call_polls(&c->call) ? c->said : 0;
	return 0;
}

/* What was found when the task left. From now on it is looked at again. */
FR_COLD int find_look(const struct task_struct *task, struct fr_wait *e, u64 left_ns)
{
	u32 zero = 0;
	const struct fr_wait_look *l = fr_wait_looked(look_of(task->pid), task->pid, left_ns);
	struct wait_cpu *c = bpf_map_lookup_elem(&fr_wait_cpu, &zero);

	if (c) {
		c->ustack_id = l ? l->ustack_id : 0;
		c->said = l ? l->said : 0;
	}
	fr_wait_ration(e, l != NULL);
	return 0;
}

FR_COLD int tell_wait(struct task_struct *task, const struct fr_wait_len *len, u64 waker, u32 state, u64 kstack_id)
{
	struct fr_rec_wait *rec;
	struct fr_writing w;
	struct wait_cpu *c;
	struct object_room *o = object_room();
	u32 zero = 0, object_sz, i;

	c = bpf_map_lookup_elem(&fr_wait_cpu, &zero);
	if (!c || !o)
		return 0;
	object_sz = c->object_sz;
	rec = fr_begin(&w, &fr_wait, FR_TIER_WAIT, FR_EV_wait, sizeof(*rec) + object_sz, sizeof(*rec), task->pid, c->call.abi);
	if (!rec) {
		c->cnt.lost++;
		return 0;
	}
	rec->waker_pid = fr_wait_waker_tid(waker);
	rec->owner_pid = c->owner;
	rec->polled_fd = c->polled - 1;
	rec->off = len->off_ns;
	rec->blocked = len->blocked_ns;
	rec->queued = len->queued_ns;
	rec->kstack_id = kstack_id;
	rec->ustack_id = c->ustack_id;
	rec->arg0 = c->call.arg[0];
	rec->arg1 = c->call.arg[1];
	rec->arg2 = c->call.arg[2];
	rec->arg3 = c->call.arg[3];
	rec->arg4 = c->call.arg[4];
	rec->arg5 = c->call.arg[5];
	rec->id = c->call.id;
	rec->state = state;
	rec->waited_in = c->call.in;
	rec->waker = fr_wait_waker_how(waker);
	for (i = 0; i < FR_OBJECT_WORDS && i * FR_UNIT_SZ < object_sz; i++)
		fr_put(&w, sizeof(*rec) / FR_UNIT_SZ + i, o->out[i]);
	fr_commit(&w);
	c->cnt.written++;
	return 0;
}

FR_COLD int count_taken(void)
{
	u32 zero = 0;
	struct wait_cpu *c = bpf_map_lookup_elem(&fr_wait_cpu, &zero);

	if (c)
		c->cnt.taken++;
	return 0;
}

/* The CPU goes from prev, which leaves in this state, to next. */
FR_INLINE void fr_wait_switch(struct task_struct *prev, struct task_struct *next, u32 state, u64 now_ns)
{
	u32 prev_at = prev->pid & (FR_WAIT_CNT - 1), next_at = next->pid & (FR_WAIT_CNT - 1);
	struct fr_wait_len len;
	struct fr_wait *e;

	e = prev->pid ? bpf_map_lookup_elem(&fr_waits, &prev_at) : NULL;
	if (e) {
		if (fr_wait_leaves(e, prev->pid, state, now_ns))
			count_taken();
		if (e->looks && look_at(prev, e, now_ns))
			keep_look(prev->pid);
	}
	e = next->pid ? bpf_map_lookup_elem(&fr_waits, &next_at) : NULL;
	if (e && fr_wait_runs(e, next->pid, now_ns, &len) && len.off_ns >= fr_wait_min_ns &&
	    is_due(next, &len, e->state, now_ns)) {
		find_look(next, e, now_ns - len.off_ns);
		find_call(next);
		tell_wait(next, &len, fr_wait_woken_by(e, next->pid), e->state, stack_of(next));
	}
}

#endif
#endif
