/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * look: a task has been off the CPU, in whatever state, for longer than a rule allows (asleep), or has not slept for so long
 * (busy). Neither has a program on the path of switches: user space runs a look at all tasks every quarter of the limit, as for
 * hung, and look.h tells by the kernel's own counts of switches what was between two looks. Since when is in the session's
 * table of waits, where waits are recorded; else what began before the first look counts from there.
 *
 * Idle threads of the kernel are not asleep: without work they sleep for ever.
 */
#include "look.h"
#include "event_fields.h"

#include "trigger/latency.bpf.h"

#include "flood.bpf.h"
#include "wait_map.bpf.h"

#define TOLD_MAX  16u /* per look, as in hung.bpf.c */
#define WAIT_MASK (FR_WAIT_CNT - 1)

#define PF_KTHREAD 0x00200000u

/* Set by user/live/trig/trig.c before load: the least limit of the rules, ~0 if there is none; and whether the session keeps
 * the table of waits. */
const volatile u64 fr_asleep_min_ns = 0;
const volatile u64 fr_busy_min_ns = 0;
const volatile bool fr_look_has_waits = false;

#define TURN_CNT 16u /* a power of two, for the verifier */
_Static_assert(TURN_CNT >= FR_GAP_CNT, "one for each gap");

u32 fr_look_left[2][TURN_CNT] = {};

/* By the address of their task_struct, as in fr_lat_tasks. user/live/trig/trig.c sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, struct fr_look_task);
} fr_looks SEC(".maps");

struct sched_entity___ran {
	u64 sum_exec_runtime;
} __attribute__((preserve_access_index));

struct task_struct___ran {
	struct sched_entity___ran se;
} __attribute__((preserve_access_index));

/* Who it is, and in which call. */
struct look_who {
	struct fr_lat_who who;
	u64 exe[2]; /* the beginning of its program's name, without directories */
	s32 call;   /* -1: none, or not a native one */
	u32 pad;
};

FR_INLINE struct fr_look_task *task_of(struct task_struct *task)
{
	u64 key = (u64)task;
	struct fr_look_task *t = bpf_map_lookup_elem(&fr_looks, &key), fresh = {};

	if (t)
		return t;
	bpf_map_update_elem(&fr_looks, &key, &fresh, BPF_NOEXIST);
	t = bpf_map_lookup_elem(&fr_looks, &key);
	if (!t)
		fr_count(&fr_triggers.untracked, 1);
	return t;
}

/* The last event of a task: its address is not yet reused. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(fr_look_free, struct task_struct *task)
{
	u64 key = (u64)task;

	bpf_map_delete_elem(&fr_looks, &key);
	return 0;
}

/* ---- what a look sees: for the order see look.h ---- */

FR_INLINE u64 age(u64 then_ns)
{
	u64 now_ns = fr_now();

	return then_ns && now_ns > then_ns ? now_ns - then_ns : 0;
}

/* As the table of waits has it. Its words may change meanwhile: what is seen of the switches behind them decides. */
FR_INLINE void see_table(struct task_struct *task, struct fr_look_seen *s)
{
	u32 tid = task->pid, at = tid & WAIT_MASK;
	struct fr_wait *e = fr_look_has_waits ? bpf_map_lookup_elem(&fr_waits, &at) : NULL;
	u64 left, woken;

	if (!e || *(volatile u32 *)&e->tid != tid)
		return;
	left = fr_load(&e->left_ns);
	woken = fr_load(&e->woken_ns);
	if (*(volatile u32 *)&e->tid != tid)
		return;
	s->away_ns = age(left);
	s->up_ns = age(woken);
}

FR_INLINE void see(struct task_struct *task, struct fr_look_seen *s)
{
	struct task_struct___ran *ran = (void *)task;

	s->start_ns = bpf_ktime_get_ns();
	s->vol = *(volatile unsigned long *)&task->nvcsw;
	see_table(task, s);
	s->sleeps = *(volatile u32 *)&task->__state != 0;
	s->on_cpu = *(volatile int *)&task->on_cpu;
	s->switches = *(volatile unsigned long *)&task->nvcsw + *(volatile unsigned long *)&task->nivcsw;
	s->ran_ns = ran->se.sum_exec_runtime;
	s->end_ns = bpf_ktime_get_ns();
}

/* ---- which rules apply ---- */

FR_INLINE s32 call_of(struct task_struct *task)
{
	if (task->flags & PF_KTHREAD || fr_syscall_abi(task) != FR_ABI_NATIVE)
		return -1;
	return fr_syscall_nr((struct pt_regs *)bpf_task_pt_regs(task));
}

FR_INLINE u32 who_of(struct task_struct *task, struct look_who *w)
{
	const u8 *name = BPF_CORE_READ(task, mm, exe_file, f_path.dentry, d_name.name);

	if (name)
		bpf_probe_read_kernel_str(w->exe, sizeof(w->exe), name);
	return fr_lat_who(FR_ADDRESS(task), &w->who);
}

/* A function for each rule: decisions made here are no branches of the caller. */
__noinline u32 fr_look_rule(u32 rule, u32 kind, u64 value_ns, const struct look_who *w)
{
	const volatile struct fr_trigger_rule *r = &fr_rules[rule % FR_TRIGGER_MAX];

	if (!w || !fr_rule_is_for_look(r, kind, value_ns, w->call) || !fr_rule_exe_fits(r, w->exe))
		return 0;
	return fr_lat_passes(rule, &w->who);
}

__noinline u32 fr_look_rules(u32 kind, u64 value_ns, u32 said, const struct look_who *w)
{
	u32 set = 0, i;

	if (!w)
		return 0;
	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (fr_rules[i].kind == FR_TRIGGER_asleep || fr_rules[i].kind == FR_TRIGGER_busy)
			set |= fr_look_rule(i, kind, value_ns, w);
	return set & ~said;
}

/* ---- reporting ---- */

/* Write the event, alert. */
__noinline int fr_asleep_end(u32 nr, u32 state, s32 call, u64 kstack_id)
{
	struct fr_alert *a = fr_alert(nr);
	struct fr_rec_asleep *rec;
	struct fr_writing w;

	if (!a)
		return 0;
	rec = FR_BEGIN(&w, asleep, LIFE);
	fr_mark(rec);
	if (!rec)
		return fr_moment_end(nr);
	rec->target_pid = a->tid;
	rec->value = a->value_ns;
	rec->limit = fr_moment_limit(nr);
	rec->kstack_id = kstack_id;
	rec->id = call;
	rec->state = state;
	fr_commit(&w);
	a->ts = w.res.time_ns;
	return fr_moment_end(nr);
}

__noinline int fr_busy_end(u32 nr, u64 ran_ns)
{
	struct fr_alert *a = fr_alert(nr);
	struct fr_rec_busy *rec;
	struct fr_writing w;

	if (!a)
		return 0;
	rec = FR_BEGIN(&w, busy, LIFE);
	fr_mark(rec);
	if (!rec)
		return fr_moment_end(nr);
	rec->target_pid = a->tid;
	rec->value = a->value_ns;
	rec->limit = fr_moment_limit(nr);
	rec->ran = ran_ns;
	fr_commit(&w);
	a->ts = w.res.time_ns;
	return fr_moment_end(nr);
}

/* Begin a moment of these rules about a task. Returns its number, or FR_MOMENT_NONE. */
__noinline u32 fr_look_begin(u32 kind, u32 set, u64 value_ns, u64 what, u64 task)
{
	struct fr_alert *a;
	u32 nr, i;

	for (i = 0; i < FR_TRIGGER_MAX; i++)
		fr_count(&fr_slot_at(i)->matched, set >> i & 1);
	nr = fr_moment_begin(kind, set);
	a = fr_alert(nr);
	if (!a)
		return FR_MOMENT_NONE;
	fr_moment_of(nr, task);
	a->value_ns = value_ns;
	a->what = what;
	return nr;
}

FR_INLINE void begin_look(u32 which)
{
	u32 i;

	for (i = 0; i < FR_GAP_CNT; i++)
		fr_look_left[which & 1][i] = TOLD_MAX;
}

/* How many more moments of this owner may be told in this look. */
FR_INLINE u32 *turns_of(u32 which, u32 owner)
{
	return &fr_look_left[which & 1][fr_gap_of(owner) & (TURN_CNT - 1)];
}

/* ---- asleep ---- */

FR_INLINE bool is_idle(struct task_struct *task, u16 state)
{
	return task->flags & PF_KTHREAD && state & (FR_PREV_STATE_SLEEPING | FR_PREV_STATE_IDLE | FR_PREV_STATE_PARKED);
}

FR_INLINE int tell_asleep(struct task_struct *task, struct fr_look_task *t, u64 value_ns, u16 state)
{
	struct look_who w = {.call = call_of(task)};
	u64 switches = t->off_switches, kstack_id;
	u32 set, nr, *left;

	if (!who_of(task, &w))
		return 0;
	set = fr_look_rules(FR_TRIGGER_asleep, value_ns, t->off_said, &w);
	left = turns_of(0, w.who.owner);
	if (!set || !*left)
		return 0;
	--*left;
	t->off_said |= set;
	nr = fr_look_begin(FR_TRIGGER_asleep, set, value_ns, state | (u64)(u32)w.call << 32, FR_ADDRESS(task));
	if (nr == FR_MOMENT_NONE)
		return 0;
	kstack_id = fr_moment_stack_of(task, nr);
	/* not that of a task that runs by now */
	if (*(volatile int *)&task->on_cpu ||
	    *(volatile unsigned long *)&task->nvcsw + *(volatile unsigned long *)&task->nivcsw != switches)
		kstack_id = 0;
	return fr_asleep_end(nr, state, w.call, kstack_id);
}

SEC("iter/task")
int fr_asleep_look(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct fr_look_seen s = {};
	struct fr_look_task *t;
	u64 value_ns;
	u16 state;

	if (!ctx->meta->seq_num)
		begin_look(0);
	if (!task || fr_trigger_idle() || task->exit_state)
		return 0;
	state = fr_prev_state(*(volatile u32 *)&task->__state, 0);
	t = is_idle(task, state) ? NULL : task_of(task);
	if (!t)
		return 0;
	see(task, &s);
	value_ns = fr_look_asleep(t, &s);
	if (value_ns > fr_asleep_min_ns)
		tell_asleep(task, t, value_ns, state);
	return 0;
}

/* ---- busy ---- */

FR_INLINE int tell_busy(struct task_struct *task, struct fr_look_task *t, u64 value_ns, u64 ran_ns)
{
	struct look_who w = {.call = -1};
	u32 set, nr, *left;

	if (!who_of(task, &w))
		return 0;
	set = fr_look_rules(FR_TRIGGER_busy, value_ns, t->awake_said, &w);
	left = turns_of(1, w.who.owner);
	if (!set || !*left)
		return 0;
	--*left;
	t->awake_said |= set;
	nr = fr_look_begin(FR_TRIGGER_busy, set, value_ns, ran_ns, FR_ADDRESS(task));
	if (nr == FR_MOMENT_NONE)
		return 0;
	return fr_busy_end(nr, ran_ns);
}

SEC("iter/task")
int fr_busy_look(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct fr_look_seen s = {};
	struct fr_look_task *t;
	u64 value_ns, ran_ns;

	if (!ctx->meta->seq_num)
		begin_look(1);
	if (!task || fr_trigger_idle() || task->exit_state)
		return 0;
	t = task_of(task);
	if (!t)
		return 0;
	see(task, &s);
	value_ns = fr_look_busy(t, &s, &ran_ns);
	if (value_ns > fr_busy_min_ns)
		tell_busy(task, t, value_ns, ran_ns);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
