/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a trigger's program decides and reports. Included by each file of bpf/trigger/, which make an object of their own, loaded
 * for a set of rules over the session's pinned maps (user/live/trig/trig.c).
 *
 *	SEC("tp_btf/something") int BPF_PROG(fr_something, struct task_struct *task)
 *	{
 *		struct fr_alert *a;
 *		u32 due = 0, i, nr;
 *
 *		if (fr_trigger_idle())			another set of programs acts
 *			return 0;
 *		for (i = 0; i < FR_TRIGGER_MAX; i++)	each rule of this kind: counts, and checks the rule's gap
 *			if (fr_rules[i].kind == FR_TRIGGER_hung)
 *				due |= fr_rule_due(i, value > fr_rules[i].limit_ns, owner);
 *		nr = due ? fr_moment_begin(FR_TRIGGER_hung, due) : FR_MOMENT_NONE;
 *		a = fr_alert(nr);
 *		if (!a)
 *			return 0;
 *		fr_moment_of(nr, FR_ADDRESS(task));	its task, from any context
 *		a->value_ns = value;
 *		a->ts = w.res.time_ns;			of the event, if it writes one: FR_BEGIN(), fr_commit(), fr_mark()
 *		return fr_moment_end(nr);		into the queue
 *	}
 *
 * Rules
 *  - fr_rules is constant to the verifier: a rule of another kind costs nothing. A decision about one rule must not branch
 *    before the next, or there are 2^32 paths: hence fr_rule_due(), a global function.
 *  - A moment is written to one of a few buffers per CPU, taken by compare-and-exchange: triggers' programs interrupt each
 *    other, and newer kernels preempt them.
 *  - None of this is on the recording path. A program that runs often (sched_switch) must decide before it takes a buffer.
 */
#ifndef FR_TRIGGER_BPF_H
#define FR_TRIGGER_BPF_H

/*
 * Losses here are counted as mark_lost. Reporting them to the incident log needs more than the 512 bytes of stack for all
 * frames.
 */
#define FR_RING_LOST(r, why, cnt) ((void)(cnt))

#include "arch.bpf.h"
#include "origin.bpf.h"
#include "owner.bpf.h"
#include "rule.h"
#include "triggers.bpf.h"
#include "ustack.h"

#define FR_MOMENT_CNT  4u /* buffers per CPU */
#define FR_MOMENT_NONE FR_MOMENT_CNT

/* Set by user/live/trig/trig.c before load, constant from then on. */
const volatile struct fr_trigger_rule fr_rules[FR_TRIGGER_MAX] SEC(".rodata") __weak = {};
const volatile u32 fr_slot_of[FR_TRIGGER_MAX] SEC(".rodata") __weak = {}; /* of each rule: in fr_triggers.slot */
const volatile u32 fr_trigger_generation SEC(".rodata") __weak = 0;

/* A moment being reported. */
struct fr_moment_room {
	u64 busy; /* 0: free. The CAS and the store of 0 pair with those of what interrupts it here: program order is enough */
	u32 due;  /* bit i: rule i is due */
	u32 pad;
	struct fr_alert alert;
	u64 pc[FR_STACK_DEPTH_MAX]; /* of one stack, before it is written; of a path, while it is put together */
	struct stack_origins origins;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FR_MOMENT_CNT);
	__type(key, u32);
	__type(value, struct fr_moment_room);
} fr_moments SEC(".maps") __weak;

/* Programs of another generation act now: those before a reload, or those after it. */
FR_INLINE bool fr_trigger_idle(void)
{
	return *(volatile u32 *)&fr_triggers.generation != fr_trigger_generation;
}

FR_INLINE struct fr_trigger_slot *fr_slot_at(u32 rule)
{
	return &fr_triggers.slot[fr_slot_of[rule % FR_TRIGGER_MAX] % FR_TRIGGER_MAX];
}

/* Does the rule's filter by name allow this task? */
FR_INLINE bool fr_rule_is_for_name_of(u32 rule, u64 address)
{
	const volatile struct fr_trigger_rule *r = &fr_rules[rule % FR_TRIGGER_MAX];
	struct task_struct *task = (void *)address;
	u64 comm[2] = {};

	BPF_CORE_READ_STR_INTO(&comm, task, comm); /* zero-padded, which the task's own need not be */
	return fr_rule_name_fits(r, comm);
}

/* A record was written in addition to the events' own, or was lost: the exact account must know. */
FR_INLINE void fr_mark(bool written)
{
	fr_count(written ? &fr_triggers.marks : &fr_triggers.mark_lost, 1);
}

FR_INLINE struct fr_moment_room *fr_moment(u32 nr)
{
	return bpf_map_lookup_elem(&fr_moments, &nr);
}

FR_INLINE struct stack_origins *fr_origins(u32 buf_nr)
{
	struct fr_moment_room *m = fr_moment(buf_nr);

	return m ? &m->origins : NULL;
}

FR_INLINE struct fr_alert *fr_alert(u32 nr)
{
	struct fr_moment_room *m = fr_moment(nr);

	return m ? &m->alert : NULL;
}

/* Global functions, in trigger.bpf.c: each is verified once. */

/* Does the condition of a rule hold? Counts it. Returns the rule's bit if an alert is due now for this owner (~0: nobody),
 * otherwise 0. */
u32 fr_rule_due(u32 rule, u32 holds, u32 owner);

/* Returns which of these rules, whose conditions hold, are due for an alert now. Counts. In crash.bpf.c. */
u32 fr_rules_due(u32 set, u32 owner);

/* Take a buffer, cleared, for a moment of these rules. Returns FR_MOMENT_NONE, counted, if all are taken. */
u32 fr_moment_begin(u32 kind, u32 due);

/* Fill in which task it is about. task: the address of a task_struct. Uses pc. */
int fr_moment_of(u32 nr, u64 task);

/* Put a file's path, as its mount namespace has it, into pc. file: the address of a struct file. Returns where it begins. */
u32 fr_moment_path(u32 nr, u64 file);

/*
 * Where in the kernel's memory the path is by which a process has opened the file at this address. What is mapped of a file of
 * overlayfs is the file of a layer, whose own path leads nowhere from the process's root, and has another inode. Since 6.8
 * (def3ae83da02) the path that was opened lies beside it.
 */
u64 fr_moment_opened(u64 file);

/* Whose frames fr_moment_keep() is given. */
enum fr_moment_stack {
	FR_MOMENT_KERNEL,
	FR_MOMENT_USER, /* of the current task */
};

/* Write the first depth frames in pc to the alert and to the stack tier. whose: enum fr_moment_stack. Returns their id there,
 * 0: none. */
u64 fr_moment_keep(u32 nr, u32 depth, u32 whose);

/* The limit of the first of its rules that are due. */
u64 fr_moment_limit(u32 nr);

/* Put the alert into the queue, count, release the buffer. Returns 0. */
int fr_moment_end(u32 nr);

/* Release the buffer of a moment that is no alert. */
FR_INLINE void fr_moment_drop(u32 nr)
{
	struct fr_moment_room *m = fr_moment(nr);

	if (m)
		fr_store(&m->busy, 0);
}

#define FR_WALK_KERNEL (~0u)

/*
 * Walk the current task's user stack into pc. Returns the number of frames; FR_WALK_KERNEL: the kernel must walk. In
 * ustack.bpf.c.
 */
u32 fr_moment_walk(u32 nr);

/*
 * Take a slot for what is kept of the current task, of whose user stack depth frames were found (ustack.h). It is the caller's
 * until it is done, which keeps what the stack was made of, and uses pc. FR_USTACK_CNT: there is none.
 */
u32 fr_moment_ustack(u32 nr, u32 depth);
int fr_moment_ustack_done(u32 nr, u32 slot, u64 stack_id);

/*
 * Begin to keep what the current task's process has (scene.h), before the stack: its room has which descriptors are open.
 * Returns how many. In scene.bpf.c.
 */
u32 fr_scene_begin(u32 slot);

/* The next open descriptor from this one on; FR_SCENE_NO_FD: there is none. */
u32 fr_scene_next(u32 slot, u32 from);
#define FR_SCENE_NO_FD (~0u)

/* From where on there are the last n open descriptors, or those and up to 63 before them. */
u32 fr_scene_last(u32 slot, u32 n);

/* Keep a descriptor, unless it is reserved and no file has it yet. Returns how many are kept by now. */
u32 fr_scene_put(u32 slot, u32 fd);

/* Keep its threads, as they are. Returns how many. */
u32 fr_scene_threads(u32 slot);

/* In the program itself, whose stack has room for the calls: threads, which go on meanwhile; the first descriptors, then the
 * last. */
FR_INLINE void fr_scene_take(u32 slot)
{
	u32 open = fr_scene_begin(slot), last = 0, kept = 0, fd = 0, i;

	fr_scene_threads(slot);
	if (open > FR_SCENE_FD_CNT)
		last = fr_scene_last(slot, FR_SCENE_FD_CNT / 2);
	for (i = 0; i < 2 * FR_SCENE_FD_CNT && kept < FR_SCENE_FD_CNT; i++) {
		if (kept == FR_SCENE_FD_CNT / 2 && fd < last)
			fd = last;
		fd = fr_scene_next(slot, fd);
		if (fd == FR_SCENE_NO_FD)
			break;
		kept = fr_scene_put(slot, fd++);
	}
}

/* Have the kernel walk into pc. Returns the number of frames. */
FR_INLINE u32 fr_moment_take(void *ctx, u32 nr, u64 flags)
{
	struct fr_moment_room *m = fr_moment(nr);
	long sz = m ? bpf_get_stack(ctx, m->pc, sizeof(m->pc), flags) : 0;

	return sz < (long)sizeof(u64) || sz > (long)sizeof(m->pc) ? 0 : sz / sizeof(u64);
}

/* Write the current task's kernel stack. Returns its id in the stack tier, 0: none. */
FR_INLINE u64 fr_moment_kernel_stack(void *ctx, u32 nr)
{
	u32 depth = fr_moment_take(ctx, nr, 0);

	return depth ? fr_moment_keep(nr, depth, FR_MOMENT_KERNEL) : 0;
}

/* The same of another task, which does not run: where in the kernel it is. */
FR_INLINE u64 fr_moment_stack_of(struct task_struct *task, u32 nr)
{
	struct fr_moment_room *m = fr_moment(nr);
	long sz = m ? bpf_get_task_stack(task, m->pc, sizeof(m->pc), 0) : 0;

	return sz < (long)sizeof(u64) || sz > (long)sizeof(m->pc) ? 0 : fr_moment_keep(nr, sz / sizeof(u64), FR_MOMENT_KERNEL);
}

/* The same of its user stack, and where its frames are. *depth: how many there are. */
FR_INLINE u64 fr_moment_user_frames(void *ctx, u32 nr, u32 *depth)
{
	u32 cnt = fr_moment_walk(nr);
	struct fr_alert *a = fr_alert(nr);
	u64 id;

	if (cnt == FR_WALK_KERNEL)
		cnt = fr_moment_take(ctx, nr, BPF_F_USER_STACK);
	id = cnt ? fr_moment_keep(nr, cnt, FR_MOMENT_USER) : 0;
	if (a)
		fr_origins_tell(ctx, nr, cnt, a->tid, id);
	*depth = cnt;
	return id;
}

/* The same, and what it takes to find those that have no frame pointers; and what else the process had. */
FR_INLINE u64 fr_moment_user_stack(void *ctx, u32 nr)
{
	u32 depth, slot;
	u64 id = fr_moment_user_frames(ctx, nr, &depth);

	if (!id)
		return 0;
	slot = fr_moment_ustack(nr, depth);
	if (slot == FR_USTACK_CNT)
		return id;
	fr_scene_take(slot);
	fr_moment_ustack_done(nr, slot, id);
	return id;
}

#endif
