/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * states: looks at tasks when a snapshot is taken (states.h). An object of its own, which is loaded with the session and shares
 * its table of waits, its clock and its list of the recorder's own processes: the recording programs know nothing of it.
 *
 *	user space				here
 *	reads fr_states_list	------------->	each task: brief
 *	chooses, sets bits
 *	reads fr_states_take	------------->	chosen ones: fill(), put()
 *
 * Rules
 *  - A program of an iterator can be preempted, and another process may read one on the same CPU: the CPU's room is taken by
 *    compare-and-exchange. Who finds it taken leaves out the task, which user space finds missing.
 *  - A task may run while it is looked at, or go on to the next wait. If its count of switches is another one behind, what was
 *    found of its call, its object and its stack is dropped.
 *  - If the output has no room for a record, the kernel drops all of it, and shows the same task again.
 */
#define FR_RING_LOST(r, why, cnt) ((void)(cnt))

#include "states.h"
#include "call.bpf.h"
#include "task_cpu.bpf.h"
#include "task_state.h"
#include "wait_map.bpf.h"

u64 fr_states_wanted[FR_STATES_WANTED_WORDS] SEC(".data.wanted") = {};

struct state_room {
	u64 busy; /* the CAS and the store of 0 pair with those of who preempts it here: program order is enough */
	struct fr_state_rec rec;
	u64 pc[FR_STACK_DEPTH_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct state_room);
} fr_state_room SEC(".maps");

FR_INLINE u16 state_of(struct task_struct *task)
{
	return fr_prev_state(*(volatile u32 *)&task->__state, *(volatile int *)&task->exit_state);
}

FR_INLINE struct fr_wait *wait_of(struct task_struct *task)
{
	u32 at = task->pid & (FR_WAIT_CNT - 1);

	return bpf_map_lookup_elem(&fr_waits, &at);
}

SEC("iter/task")
int fr_states_list(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct fr_state_brief b = {};
	struct fr_wait *e;

	if (!task)
		return 0;
	b.start_ns = task->start_time;
	b.tid = task->pid;
	b.tgid = task->tgid;
	b.state = state_of(task);
	e = task->on_cpu ? NULL : wait_of(task);
	b.since_ns = e ? fr_wait_since(e, b.tid, !b.state) : 0;
	bpf_seq_write(ctx->meta->seq, &b, sizeof(b));
	return 0;
}

SEC("iter/task")
int fr_states_count(struct bpf_iter__task *ctx)
{
	struct fr_states_cnt cnt = {.task_cnt = ctx->meta->seq_num};

	if (!ctx->task)
		bpf_seq_write(ctx->meta->seq, &cnt, sizeof(cnt));
	return 0;
}

FR_INLINE bool is_wanted(u32 tid)
{
	return fr_states_wanted[tid % FR_STATES_WANTED_BITS / 64] >> tid % 64 & 1;
}

FR_INLINE u64 switches(struct task_struct *task)
{
	return *(volatile unsigned long *)&task->nvcsw + *(volatile unsigned long *)&task->nivcsw;
}

FR_INLINE void fill_who(struct task_struct *task, struct fr_state_rec *r)
{
	r->start_ns = task->start_time;
	r->tid = task->pid;
	r->tgid = task->tgid;
	r->ppid = task->real_parent->tgid;
	r->kthread = !!(task->flags & PF_KTHREAD);
	r->cgroup = fr_cgroup_of_task(task);
	r->prio = task->prio;
	r->policy = task->policy;
	r->allowed_cnt = (u32)task->nr_cpus_allowed < FR_STATE_ALLOWED_MAX ? task->nr_cpus_allowed : FR_STATE_ALLOWED_MAX;
	r->cpu = fr_task_cpu(task);
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), task->comm);
}

FR_INLINE void fill_wait(struct task_struct *task, bool on_cpu, struct fr_state_rec *r)
{
	struct fr_wait *e = wait_of(task);
	u64 waker;

	if (!e || e->tid != r->tid)
		return;
	waker = fr_load(&e->waker);
	if (!on_cpu)
		r->since_ns = fr_wait_since(e, r->tid, !r->state);
	if (fr_wait_woken_of(waker) != r->tid)
		return;
	r->woken_ns = fr_load(&e->woken_ns);
	r->waker = fr_wait_waker_how(waker);
	r->waker_tid = fr_wait_waker_tid(waker);
}

/* What its memory said of the wait that goes on, if it was looked at when it left. */
FR_INLINE u32 said_of(struct task_struct *task)
{
	struct fr_wait *e = wait_of(task);
	u32 at = task->pid & (FR_WAIT_LOOK_CNT - 1);
	struct fr_wait_look *l = bpf_map_lookup_elem(&fr_wait_looks_of, &at);

	if (!e || !l || e->tid != (u32)task->pid || !fr_wait_looked(l, task->pid, fr_load(&e->left_ns)))
		return 0;
	return l->said;
}

FR_INLINE void fill_call(struct task_struct *task, struct fr_state_rec *r)
{
	struct task_call call;

	fr_call_of(task, &call);
	r->id = call.id;
	r->abi = call.abi;
	r->in = call.in;
	__builtin_memcpy(r->arg, call.arg, sizeof(r->arg));
	r->object_sz = fr_object_of(task, &call, said_of(task));
}

FR_INLINE void forget_place(struct fr_state_rec *r)
{
	r->id = -1;
	r->abi = 0;
	r->in = FR_STATE_IN_NONE;
	__builtin_memset(r->arg, 0, sizeof(r->arg));
	r->object_sz = 0;
	r->frame_cnt = 0;
}

/* Who has ended has no stack, and what was at its end need not be its registers. */
FR_INLINE void fill(struct task_struct *task, struct state_room *room)
{
	struct fr_state_rec *r = &room->rec;
	u64 before = switches(task);
	bool on_cpu;
	long sz = 0;

	__builtin_memset(r, 0, sizeof(*r));
	fill_who(task, r);
	r->switch_cnt = before;
	r->state = state_of(task);
	on_cpu = task->on_cpu;
	r->flags = fr_state_look(&r->state, on_cpu) | (fr_is_self(r->tgid) ? FR_STATE_OWN : 0);
	r->at_ns = fr_now();
	fill_wait(task, on_cpu, r);
	forget_place(r);
	if (on_cpu || r->state & FR_PREV_STATE_ENDED)
		return;
	fill_call(task, r);
	sz = bpf_get_task_stack(task, room->pc, sizeof(room->pc), 0);
	r->frame_cnt = sz > 0 && sz <= (long)sizeof(room->pc) ? sz / sizeof(u64) : 0;
	if (*(volatile int *)&task->on_cpu || switches(task) != before) {
		r->flags = FR_STATE_MOVED | (r->flags & FR_STATE_OWN);
		forget_place(r);
	}
}

FR_INLINE void put(struct seq_file *seq, struct state_room *room)
{
	u32 object_sz = room->rec.object_sz, frames_sz = room->rec.frame_cnt * sizeof(u64);
	struct object_room *o = object_room();

	if (!o || object_sz > FR_STATES_OBJECT_MAX)
		return;
	bpf_seq_write(seq, &room->rec, sizeof(room->rec));
	object_sz = (object_sz + 7) & ~7u;
	asm volatile("" : "+r"(object_sz), "+r"(frames_sz)); /* the registers compared are the ones used, for the verifier */
	if (object_sz <= sizeof(o->out))
		bpf_seq_write(seq, o->out, object_sz);
	if (frames_sz <= sizeof(room->pc))
		bpf_seq_write(seq, room->pc, frames_sz);
}

SEC("iter/task")
int fr_states_take(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct state_room *room;
	u32 zero = 0;

	if (!task || !is_wanted(task->pid))
		return 0;
	room = bpf_map_lookup_elem(&fr_state_room, &zero);
	if (!room || fr_cas(&room->busy, 0, 1))
		return 0;
	fill(task, room);
	put(ctx->meta->seq, room);
	fr_store(&room->busy, 0);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
