/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make_load FILE [parts | late | early]: a snapshot of a machine that never existed: four CPUs, interrupts, and tasks that run,
 * sleep, wake each other, make system calls, fault, do I/O, begin and end. The rings are too small for all of it, and a lap is
 * missing. The file is the same each time, and has everything that a report shows. Some of it is odd, as real histories are.
 * early: the ring of CPU 3 was copied before the others. parts: each ring is in two chunks. late: the horizon of the ring with
 * the hole lies behind it, as a recorder's do.
 */
#include "event_fields.h"
#include "unit/host_ring.h"

#include <stdio.h>
#include <string.h>

#define BUDGET_SZ  (16u << 20)
#define REAL_NS	   1767225600000000000ULL
#define SEC	   1000000000ULL
#define CPU_CNT	   4u
#define TASK_CNT   24u
#define STEP_CNT   12000u
#define FIRST_TID  100u
#define FOCUS_TID  103u
#define LIFE_EVERY 97u /* steps */
#define SLOT_CNT   8u
#define PAGES	   2u
#define LAST_STEPS 400u /* that a ring copied early does not have */
#define MISSING	   3u	/* lap from the end of CPU 2's ring that is not in the file */

struct task {
	u32 tid;
	bool runs, in_call, dead;
	s32 call;
};

static struct host_ring *ring[CPU_CNT][FR_TIER_CNT];
static u64 put_cnt[CPU_CNT][FR_TIER_CNT]; /* events in the file */
static struct task task[TASK_CNT];
static u32 on_cpu[CPU_CNT]; /* task + 1, 0 idle */
static bool in_softirq[CPU_CNT], in_irq[CPU_CNT];
static u32 next_tid = FIRST_TID;
static u64 trigger_ns;
static bool is_late, is_early;

#define PUT(cpu, tier, type, who, ...)                                     \
	do {                                                               \
		struct fr_rec_##type rec = {.task = (who), ##__VA_ARGS__}; \
                                                                           \
		host_ring_put_rec(ring[cpu][tier], type, &rec);            \
	} while (0)

static u32 any(u32 cnt)
{
	return host_random() % cnt;
}

static void pass_time(void)
{
	host_clock_ns += any(8) ? 200 + any(3000) : 1 + any(300000);
}

static u32 tid_on(u32 cpu)
{
	return on_cpu[cpu] ? task[on_cpu[cpu] - 1].tid : 0;
}

/* A task that is on no CPU, or -1. */
static int find_waiting(void)
{
	u32 i, from = any(TASK_CNT);

	for (i = 0; i < TASK_CNT; i++)
		if (!task[(from + i) % TASK_CNT].runs)
			return (from + i) % TASK_CNT;
	return -1;
}

static void switch_task(u32 cpu)
{
	static const u16 states[] = {0, 1, 1, 1, 2, 256, 4, 128, 1, 2};
	u32 prev = tid_on(cpu);
	int next = any(5) ? find_waiting() : -1;

	PUT(cpu, FR_TIER_MAIN, sched_switch, prev, .next_pid = next < 0 ? 0 : (s32)task[next].tid,
	    .prev_state = prev ? states[any(10)] : 0, .prev_prio = 120, .next_prio = 120);
	if (on_cpu[cpu])
		task[on_cpu[cpu] - 1].runs = false;
	on_cpu[cpu] = next + 1;
	if (next >= 0)
		task[next].runs = true;
}

/* Most wakings are their task's. What they say need not agree with handlers that have events: real ones have lost such. */
static void wake(u32 cpu)
{
	static const u8 how[] = {FR_WAKER_task, FR_WAKER_task, FR_WAKER_irq,	 FR_WAKER_task,
				 FR_WAKER_task, FR_WAKER_task, FR_WAKER_softirq, FR_WAKER_task,
				 FR_WAKER_task, FR_WAKER_task, FR_WAKER_unknown, FR_WAKER_task};
	static u32 nr;

	PUT(cpu, FR_TIER_MAIN, sched_waking, tid_on(cpu) | (u32)how[nr++ % sizeof(how)] << 24,
	    .target_pid = task[any(TASK_CNT)].tid, .prio = 120, .target_cpu = any(CPU_CNT));
}

static void put_enter(u32 cpu, u32 tid, s32 id)
{
	struct fr_rec_sys_enter enter = {.task = tid, .id = id};
	u64 args[6];
	u32 i, cnt = any(7);

	for (i = 0; i < 6; i++)
		args[i] = host_random_number();
	host_ring_put_nums(ring[cpu][FR_TIER_MAIN], FR_EV_sys_enter, &enter, sizeof(enter), args, cnt);
}

/* read, write, openat, nanosleep, restart_syscall, rt_sigreturn, and one that has no name */
static void call(u32 cpu)
{
	static const s32 ids[] = {0, 1, 257, 35, 219, 15, 9999};
	static const s64 rets[] = {0, 5, -2, -11, -516, -4, 0x7f0000001000};
	struct task *t = on_cpu[cpu] ? &task[on_cpu[cpu] - 1] : NULL;
	s32 id;

	if (!t)
		return;
	if (t->in_call && any(10)) {
		id = t->call == 15 ? -1 : any(20) ? t->call : ids[any(7)];
		PUT(cpu, FR_TIER_MAIN, sys_exit, t->tid, .id = id, .ret = rets[any(7)]);
	} else {
		t->call = ids[any(7)];
		put_enter(cpu, t->tid, t->call);
	}
	t->in_call = !t->in_call;
}

static void fault(u32 cpu)
{
	if (any(3))
		PUT(cpu, FR_TIER_MAIN, page_fault_user, tid_on(cpu), .address = host_random_number(), .ip = 0x401000);
	else
		PUT(cpu, FR_TIER_MAIN, page_fault_kernel, tid_on(cpu), .address = host_random_number(), .ip = 0x401000);
}

static void interrupt(u32 cpu)
{
	if (any(2)) {
		if (in_softirq[cpu])
			PUT(cpu, FR_TIER_MAIN, softirq_exit, tid_on(cpu), .vec = 1 + any(3));
		else
			PUT(cpu, FR_TIER_MAIN, softirq_entry, tid_on(cpu), .vec = 1 + any(3));
		in_softirq[cpu] = !in_softirq[cpu];
		return;
	}
	if (in_irq[cpu])
		PUT(cpu, FR_TIER_MAIN, irq_handler_exit, tid_on(cpu), .irq = 30 + any(2), .ret = 1);
	else
		PUT(cpu, FR_TIER_MAIN, irq_handler_entry, tid_on(cpu), .irq = 30 + any(2), .name = "disk");
	in_irq[cpu] = !in_irq[cpu];
}

/* Few sectors, so that requests meet there. Some complete in parts, some complete that were never issued. Some only flush. */
static void io(u32 cpu)
{
	u32 dev = (8u + any(2)) << 20, nr = 8u << any(2), tid = tid_on(cpu);
	u64 sector = any(6) * 8;

	switch (any(4)) {
	case 0:
		if (sector)
			PUT(cpu, FR_TIER_MAIN, block_io_start, tid, .dev = dev, .sector = sector, .nr_sector = nr,
			    .bytes = nr * 512, .rwbs = "R");
		else
			PUT(cpu, FR_TIER_MAIN, block_io_start, tid, .dev = dev, .rwbs = "FWS");
		break;
	case 1:
		PUT(cpu, FR_TIER_MAIN, block_rq_issue, tid, .dev = dev, .sector = sector, .nr_sector = nr, .bytes = nr * 512,
		    .rwbs = "R");
		break;
	case 2:
		PUT(cpu, FR_TIER_MAIN, block_rq_complete, tid, .dev = dev, .sector = sector, .nr_sector = 8,
		    .error = any(9) ? 0 : -5, .rwbs = "RA");
		break;
	default:
		if (sector)
			PUT(cpu, FR_TIER_MAIN, block_io_done, tid, .dev = dev, .sector = sector, .nr_sector = nr, .bytes = 0,
			    .rwbs = "FWS");
		else
			PUT(cpu, FR_TIER_MAIN, block_io_done, tid, .dev = dev, .rwbs = "FF");
	}
}

static void sample(u32 cpu)
{
	u32 user = any(2);

	PUT(cpu, FR_TIER_MAIN, cpu_sample, tid_on(cpu) | user << 24, .ip = 0x400000 + any(5) * 16, .kstack_id = 0x77 * any(2),
	    .ustack_id = user ? 0x78 : 0);
}

/* A task ends, and a new one gets its tid, or another tid. */
static void live(u32 cpu)
{
	struct task *t = &task[any(TASK_CNT)];
	u32 tid = any(2) ? t->tid : ++next_tid;

	if (t->runs || t->tid == FOCUS_TID || !on_cpu[cpu])
		return;
	PUT(cpu, FR_TIER_LIFE, sched_process_exit, t->tid, .exit_code = 0, .prio = 120, .group_dead = 1);
	host_clock_ns += 100;
	PUT(cpu, FR_TIER_LIFE, sched_process_fork, tid_on(cpu), .child_pid = tid, .child_tgid = tid,
	    .child_start = host_clock_ns, .child_cgroup = 1 + any(3), .child_comm = "child");
	t->tid = tid;
	t->in_call = false;
	host_clock_ns += 100;
	PUT(cpu, FR_TIER_MAIN, sched_wakeup_new, tid_on(cpu), .target_pid = tid, .prio = 120, .target_cpu = cpu);
}

static void other(u32 cpu)
{
	if (any(2))
		PUT(cpu, FR_TIER_MAIN, sched_migrate_task, tid_on(cpu), .target_pid = task[any(TASK_CNT)].tid, .prio = 120,
		    .orig_cpu = 0, .dest_cpu = cpu);
	else
		PUT(cpu, FR_TIER_MAIN, signal_generate, tid_on(cpu), .target_pid = task[any(TASK_CNT)].tid, .sig = 10,
		    .code = 0);
}

static void step(u32 nr)
{
	static void (*const what[])(u32 cpu) = {switch_task, switch_task, wake,	     wake, call,   call, call,
						call,	     fault,	  interrupt, io,   sample, other};
	u32 cpu = any(CPU_CNT);

	pass_time();
	if (is_early && cpu == 3 && nr >= STEP_CNT - LAST_STEPS)
		return;
	if (nr % LIFE_EVERY == 0)
		live(cpu);
	else
		what[any(sizeof(what) / sizeof(what[0]))](cpu);
}

static void switch_now(u32 cpu, int next, u16 state)
{
	PUT(cpu, FR_TIER_MAIN, sched_switch, tid_on(cpu), .next_pid = next < 0 ? 0 : (s32)task[next].tid,
	    .prev_state = on_cpu[cpu] ? state : 0, .prev_prio = 120, .next_prio = 120);
	if (on_cpu[cpu])
		task[on_cpu[cpu] - 1].runs = false;
	on_cpu[cpu] = next + 1;
	if (next >= 0)
		task[next].runs = true;
}

static void switch_to(u32 cpu, int next, u16 state)
{
	pass_time();
	switch_now(cpu, next, state);
}

static void wake_it(u32 cpu, int nr)
{
	pass_time();
	PUT(cpu, FR_TIER_MAIN, sched_waking, FR_BY(tid_on(cpu), task), .target_pid = task[nr].tid, .prio = 120,
	    .target_cpu = cpu);
}

/* All tasks sleep; then each wakes the next one, up to the task in focus; one is preempted in between, which changes nothing.
 */
static void wake_in_a_row(void)
{
	const int focus = FOCUS_TID - FIRST_TID;
	u32 cpu;
	int nr;

	for (cpu = 0; cpu < CPU_CNT; cpu++) {
		if (in_softirq[cpu])
			PUT(cpu, FR_TIER_MAIN, softirq_exit, tid_on(cpu), .vec = 1);
		if (in_irq[cpu])
			PUT(cpu, FR_TIER_MAIN, irq_handler_exit, tid_on(cpu), .irq = 30);
		in_softirq[cpu] = in_irq[cpu] = false;
		switch_to(cpu, -1, 1);
	}
	for (nr = focus; nr < focus + 3; nr++) { /* the one that woke them before does not count */
		switch_to(1, nr, 1);
		host_clock_ns += 2000;
		switch_to(1, -1, 1);
	}
	wake_it(0, focus + 1);
	switch_to(2, focus + 1, 1);
	host_clock_ns += 1000;
	switch_now(2, -1, 256);
	host_clock_ns += 40000;
	switch_now(2, focus + 1, 1);
	wake_it(2, focus + 2);
	switch_to(3, focus + 2, 1);
	wake_it(3, focus);
	switch_to(1, focus, 1);
}

/*
 * Tasks execute programs. On success the kernel ends execveat, and any exec of a program of another ABI, as that ABI's execve.
 * At last a thread does so, and gets the tid of its process's first one, which waits in a call.
 */
static void execute(void)
{
	static const struct {
		s32 enter, exit;
		u32 abi, to_abi;
		s64 ret;
	} calls[] = {{322, 59, 0, 0, 0}, {59, 11, 0, 1, 0}, {358, 59, 1, 0, 0}, {322, 322, 0, 0, -2}, {59, 59, 0, 0, 0}};
	u32 i, first = task[10].tid, thread = task[11].tid;

	switch_to(3, 10, 1);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		put_enter(3, first | calls[i].abi << 24, calls[i].enter);
		pass_time();
		PUT(3, FR_TIER_MAIN, sys_exit, first | calls[i].to_abi << 24, .id = calls[i].exit, .ret = calls[i].ret);
		pass_time();
	}
	put_enter(3, first, 0);
	switch_to(3, 11, 1);
	put_enter(3, thread, 322);
	pass_time();
	PUT(3, FR_TIER_LIFE, sched_process_exec, first, .old_pid = (s32)thread);
	pass_time();
	PUT(3, FR_TIER_MAIN, sys_exit, first, .id = 59, .ret = 0);
	task[10].in_call = task[11].in_call = task[11].runs = false;
	task[10].runs = true;
	on_cpu[3] = 11;
	switch_to(3, -1, 1);
}

/* The task in focus is on a CPU, and crashes there; then it is told that it waited, which is not where it crashed. */
static void crash(void)
{
	struct fr_rec_crash rec = {
		.task = FOCUS_TID, .code = 1, .addr = 8, .ip = 0x401000, .kstack_id = 0x77, .ustack_id = 0x78, .sig = 11};
	struct fr_rec_latency wait = {.target_pid = FOCUS_TID, .value = 5000000, .limit = 1000000, .kstack_id = 0x78};

	wake_in_a_row();
	execute();
	pass_time();
	trigger_ns = host_clock_ns;
	host_ring_put(ring[1][FR_TIER_LIFE], FR_EV_crash, &rec, sizeof(rec));
	host_ring_put(ring[1][FR_TIER_LIFE], FR_EV_latency, &wait, sizeof(wait));
}

static void put_stacks(void)
{
	u64 id;

	for (id = 0x77; id <= 0x78; id++) {
		struct fr_rec_stack stack = {.task = FIRST_TID, .stack_id = id};
		u64 frames[] = {0x401000 + id, 0x402000};
		u8 rec[64] = {0};

		memcpy(rec, &stack, offsetof(struct fr_rec_stack, frames));
		memcpy(rec + offsetof(struct fr_rec_stack, frames), frames, sizeof(frames));
		host_ring_put(ring[0][FR_TIER_STACK], FR_EV_stack, rec, offsetof(struct fr_rec_stack, frames) + sizeof(frames));
	}
}

/* ---- the file ---- */

static int put_facts(struct fr_snap_writer *w)
{
	int err = fr_snap_put_fact(w, "arch", "x86_64");

	err = err ? err : fr_snap_put_fact(w, "boot_id", "b");
	err = err ? err : fr_snap_put_fact(w, "begin_ns", "%llu", SEC);
	err = err ? err : fr_snap_put_fact(w, "clock_mode", "global");
	err = err ? err : fr_snap_put_fact(w, "clock_grain_ns", "10000");
	err = err ? err : fr_snap_put_fact(w, "trigger_reason", "crash");
	err = err ? err : fr_snap_put_fact(w, "trigger_rule", "crash");
	err = err ? err : fr_snap_put_fact(w, "trigger_pid", "%u", FOCUS_TID);
	err = err ? err : fr_snap_put_fact(w, "trigger_comm", "t\x1b[31m\"3");
	err = err ? err : fr_snap_put_fact(w, "trigger_sig", "11");
	err = err ? err : fr_snap_put_fact(w, "trigger_addr", "0x8");
	return err ? err : fr_snap_put_fact(w, "trigger_ts", "%llu", (unsigned long long)trigger_ns);
}

static int put_tasks(struct fr_snap_writer *w)
{
	struct fr_snap_task t[TASK_CNT];
	u32 i;

	memset(t, 0, sizeof(t));
	for (i = 0; i < TASK_CNT; i++) {
		t[i].tid = FIRST_TID + i;
		t[i].task.tgid = FIRST_TID + i / 2 * 2;
		t[i].task.cgroup = 1 + i % 3;
		snprintf(t[i].task.comm, sizeof(t[i].task.comm), i % 4 ? "task-%u" : "t\x1b[31m %u", i);
	}
	return fr_snap_put_tasks(w, t, TASK_CNT);
}

/* When the first and the last record of a lap were written. */
static void lap_times(const struct host_ring *h, u64 seq, u64 *first, u64 *last)
{
	u32 i;

	*first = *last = 0;
	for (i = 0; i < h->rec_cnt; i++) {
		if (h->rec[i].seq != seq)
			continue;
		if (!*first)
			*first = h->rec[i].ts;
		*last = h->rec[i].ts;
	}
}

static bool lacks_lap(const struct host_ring *h)
{
	return h->r.cpu == 2 && h->r.tier == FR_TIER_MAIN;
}

static u64 horizon_of(const struct host_ring *h)
{
	struct fr_snap_lap lap;
	u64 first, last;

	if (!host_ring_lap(h, 0, &lap) || (lap.seq == 1))
		return 0;
	lap_times(h, is_late && lacks_lap(h) ? fr_w_seq(h->r.wr->w) - MISSING + 1 : lap.seq, &first, &last);
	return first;
}

/* When it was copied, a moment after its last event; 0: not known. */
static u64 end_of(const struct host_ring *h)
{
	return is_early && h->r.cpu == 3 && h->r.tier == FR_TIER_MAIN ? h->rec[h->rec_cnt - 1].ts + 1000 : 0;
}

static int put_ring(struct fr_snap_writer *w, struct host_ring *h, u64 present)
{
	struct fr_snap_ring r = {
		.cpu = h->r.cpu,
		.tier = h->r.tier,
		.slot_cnt = h->r.slot_cnt,
		.subbuf_sz = PAGES * FR_PAGE_SZ,
		.written = h->rec_cnt,
		.overwritten = h->rec_cnt - present,
		.present = present,
		.horizon_ns = horizon_of(h),
		.end_ns = end_of(h),
		.lost = {h->r.cpu, 2, 0},
		.ties = h->r.cpu * 3,
	};

	return fr_snap_put_rings(w, &r, 1);
}

static int put_hole(struct fr_snap_writer *w, const struct host_ring *h, u64 seq)
{
	struct fr_snap_hole hole = {
		.cpu = h->r.cpu, .tier = h->r.tier, .why = FR_HOLE_overwritten, .first_seq = seq, .last_seq = seq};
	u64 ignored;

	lap_times(h, seq - 1, &ignored, &hole.since_ns);
	lap_times(h, seq + 1, &hole.until_ns, &ignored);
	return fr_snap_put_holes(w, &hole, 1);
}

/* The older laps of a ring, or its latest. */
static int put_laps(struct fr_snap_writer *w, struct host_ring *h, bool latest)
{
	u64 seq = fr_w_seq(h->r.wr->w), missing = seq - MISSING, *present = &put_cnt[h->r.cpu][h->r.tier];
	struct fr_snap_lap lap;
	int err = 0;
	u32 i;

	fr_snap_watch_laps(w, host_ring_count, present);
	for (i = 0; host_ring_lap(h, i, &lap) && !err; i++) {
		if ((lap.seq + SLOT_CNT / 2 > seq) != latest)
			continue;
		if (lacks_lap(h) && lap.seq == missing)
			err = put_hole(w, h, missing);
		else if (lap.sz)
			err = fr_snap_put_lap(w, &lap, 0);
	}
	err = err ? err : fr_snap_settle(w);
	return err || !latest ? err : put_ring(w, h, *present);
}

/* In parts: each ring is in two chunks; the second ones follow after the first ones of all rings. */
static int put_all(struct fr_snap_writer *w, bool parts)
{
	struct fr_snap_clock c = {.ts = SEC, .mono_ns = SEC, .real_ns = REAL_NS};
	int err = fr_snap_put_schema(w, fr_schema_builtin());
	u32 i, rings = CPU_CNT * FR_TIER_CNT, at;

	err = err ? err : put_facts(w);
	err = err ? err : put_tasks(w);
	err = err ? err : fr_snap_put_clocks(w, &c, 1);
	for (i = 0; i < 2 * rings && !err; i++) {
		at = parts ? i % rings : i / 2;
		err = put_laps(w, ring[at / FR_TIER_CNT][at % FR_TIER_CNT], parts ? i >= rings : i % 2);
	}
	return err;
}

int main(int argc, char **argv)
{
	struct fr_snap_writer *w;
	u32 i;
	int err;

	is_late = argc > 2 && !strcmp(argv[2], "late");
	is_early = argc > 2 && !strcmp(argv[2], "early");
	if (argc < 2 || fr_snap_create(argv[1], BUDGET_SZ, 1, &w))
		return 1;
	for (i = 0; i < CPU_CNT * FR_TIER_CNT; i++)
		ring[i / FR_TIER_CNT][i % FR_TIER_CNT] = host_ring_new(i / FR_TIER_CNT, i % FR_TIER_CNT, SLOT_CNT, PAGES);
	for (i = 0; i < TASK_CNT; i++)
		task[i].tid = FIRST_TID + i;
	next_tid = FIRST_TID + TASK_CNT;
	put_stacks();
	for (i = 0; i < STEP_CNT; i++) {
		if (i == STEP_CNT - STEP_CNT / 20)
			crash();
		step(i);
	}
	err = put_all(w, argc > 2 && !is_late && !is_early);
	err = err ? err : fr_snap_finish(w);
	for (i = 0; i < CPU_CNT * FR_TIER_CNT; i++)
		host_ring_free(ring[i / FR_TIER_CNT][i % FR_TIER_CNT]);
	(void)host_ring_fill;
	return err != 0;
}
