/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make_tasks FILE: a snapshot of two CPUs, the same each time. Processes of two threads make calls, sleep in calls and outside
 * of them, and are woken by each other and by interrupts, also before they have left their CPU. They start and end block
 * requests at few sectors. They end, and tasks of other processes get their tids. The governor takes a step early on. So what
 * was cut away matters to what is left, as it does in real histories.
 */
#include "event_fields.h"
#include "unit/host_ring.h"

#include <stdio.h>

#define BUDGET_SZ  (16u << 20)
#define TASK_CNT   10u
#define STEP_CNT   6000u
#define PLACE_CNT  4u
#define FIRST_TID  101u
#define RESTART_NR 219

/* What is recorded: of what happens here everything, but not of what else may happen. */
#define EVENTS                                                                                                \
	"sched_switch,sched_waking,sched_wakeup_new,sched_process_fork,sched_process_exit,irq_handler_entry," \
	"irq_handler_exit,softirq_entry,softirq_exit,sys_enter,sys_exit,block_rq_issue,block_rq_complete,"    \
	"block_io_start,block_io_done,stack,governor"

enum { MAIN0, MAIN1, LIFE0, RING_CNT };
enum doing { QUEUED, RUNS, SLEEPS };

struct task {
	u32 tid, pid;
	enum doing doing;
	s32 call; /* number + 1, 0: none */
};

static struct host_ring *ring[RING_CNT];
static struct task task[TASK_CNT];
static struct task *on_cpu[2]; /* NULL: idle */
static const char rwbs_of[PLACE_CNT][4] = {"FWS", "RA", "FF", "WSM"};
static bool requested[PLACE_CNT];
static struct fr_snap_task table[64];
static u32 table_cnt;

#define RWBS(place) .rwbs = {rwbs_of[place][0], rwbs_of[place][1], rwbs_of[place][2]}

#define PUT(where, type, who, ...)                                         \
	do {                                                               \
		struct fr_rec_##type rec = {.task = (who), ##__VA_ARGS__}; \
                                                                           \
		host_clock_ns += 300 + host_random() % 20000;              \
		host_ring_put_rec(ring[where], type, &rec);                \
	} while (0)

static u32 any(u32 cnt)
{
	return host_random() % cnt;
}

static u32 tid_on(u32 cpu)
{
	return on_cpu[cpu] ? on_cpu[cpu]->tid : 0;
}

/* One of the tasks in this state; NULL: there is none. */
static struct task *find(enum doing doing)
{
	u32 i, from = any(TASK_CNT);

	for (i = 0; i < TASK_CNT; i++)
		if (task[(from + i) % TASK_CNT].doing == doing)
			return &task[(from + i) % TASK_CNT];
	return NULL;
}

static void put_switch(u32 cpu, u16 state, enum doing then)
{
	struct task *next = any(4) ? find(QUEUED) : NULL;

	PUT(cpu, sched_switch, tid_on(cpu), .next_pid = next ? next->tid : 0, .prev_state = on_cpu[cpu] ? state : 0);
	if (on_cpu[cpu])
		on_cpu[cpu]->doing = then;
	on_cpu[cpu] = next;
	if (next)
		next->doing = RUNS;
}

/* by: the task's that has the CPU, with how it does it */
static void put_waking(u32 cpu, u32 by, struct task *t)
{
	PUT(cpu, sched_waking, by, .target_pid = t->tid);
	t->doing = QUEUED;
}

/* Preempted, or asleep; woken from the other CPU before it has left, or once it has. */
static void leave(u32 cpu)
{
	static const u16 states[] = {0, 256, 1, 2};
	u16 state = states[any(4)];
	bool sleeps = state == 1 || state == 2, early = sleeps && on_cpu[cpu] && !any(4);

	if (early)
		PUT(!cpu, sched_waking, FR_BY(tid_on(!cpu), task), .target_pid = on_cpu[cpu]->tid);
	put_switch(cpu, state, sleeps && !early ? SLEEPS : QUEUED);
}

static void call(u32 cpu, struct task *t)
{
	static const s32 calls[] = {0, 1, 35, RESTART_NR};

	if (!t->call) {
		t->call = calls[any(4)] + 1;
		PUT(cpu, sys_enter, t->tid, .id = t->call - 1);
		return;
	}
	PUT(cpu, sys_exit, t->tid, .id = t->call - 1, .ret = any(6) ? 0 : -516);
	t->call = 0;
}

static void interrupt(u32 cpu)
{
	struct task *t = find(SLEEPS);
	u32 place = any(PLACE_CNT);

	PUT(cpu, irq_handler_entry, tid_on(cpu), .irq = 30);
	if (requested[place]) {
		PUT(cpu, block_rq_complete, tid_on(cpu), .dev = 1, .sector = place, .nr_sector = 8, RWBS(place));
		PUT(cpu, block_io_done, tid_on(cpu), .dev = 1, .sector = place, .nr_sector = 8, RWBS(place));
		requested[place] = false;
	}
	PUT(cpu, irq_handler_exit, tid_on(cpu), .irq = 30);
	PUT(cpu, softirq_entry, tid_on(cpu), .vec = 1);
	if (t)
		put_waking(cpu, FR_BY(tid_on(cpu), softirq), t);
	PUT(cpu, softirq_exit, tid_on(cpu), .vec = 1);
}

static void request(u32 cpu)
{
	u32 place = any(PLACE_CNT);

	if (requested[place])
		return;
	PUT(cpu, block_io_start, tid_on(cpu), .dev = 1, .sector = place, .nr_sector = 8, RWBS(place));
	PUT(cpu, block_rq_issue, tid_on(cpu), .dev = 1, .sector = place, .nr_sector = 8, RWBS(place));
	requested[place] = true;
}

static void note_birth(const struct task *t, u64 start_ns)
{
	table[table_cnt] = (struct fr_snap_task){.tid = t->tid, .start_ns = start_ns, .task = {.tgid = t->pid, .cgroup = 1}};
	snprintf(table[table_cnt++].task.comm, FR_COMM_SZ, "task-%u", t->pid);
}

/* It ends, and the task on the other CPU makes a new one with the same tid. */
static void replace(u32 cpu, struct task *t)
{
	PUT(LIFE0, sched_process_exit, t->tid, .exit_code = 0);
	put_switch(cpu, 16, SLEEPS);
	t->pid = FIRST_TID + any(TASK_CNT) / 2 * 2;
	t->call = 0;
	PUT(LIFE0, sched_process_fork, tid_on(!cpu), .child_pid = t->tid, .child_tgid = t->pid, .child_start = host_clock_ns,
	    .child_comm = "child");
	note_birth(t, host_clock_ns);
	PUT(!cpu, sched_wakeup_new, tid_on(!cpu), .target_pid = t->tid);
	t->doing = QUEUED;
}

static void step(u32 n)
{
	u32 cpu = any(2);
	struct task *t = on_cpu[cpu], *sleeper = find(SLEEPS);

	if (n % 293 == 292 && t)
		replace(cpu, t);
	else if (!t || !any(3))
		leave(cpu);
	else if (!any(6))
		interrupt(cpu);
	else if (!any(6))
		request(cpu);
	else if (sleeper && !any(2))
		put_waking(cpu, FR_BY(tid_on(cpu), task), sleeper);
	else
		call(cpu, t);
}

static int put_facts(struct fr_snap_writer *w)
{
	int err = fr_snap_put_fact(w, "boot_id", "boot-3");

	err = err ? err : fr_snap_put_fact(w, "arch", "x86_64");
	err = err ? err : fr_snap_put_fact(w, "epoch", "%u", 0xabcd1234);
	err = err ? err : fr_snap_put_fact(w, "events", EVENTS);
	return err ? err : fr_snap_put_fact(w, "snapshot_ns", "%llu", (unsigned long long)host_clock_ns);
}

static int put_ring(struct fr_snap_writer *w, struct host_ring *h)
{
	struct fr_snap_ring r = {.cpu = h->r.cpu, .tier = h->r.tier, .slot_cnt = h->r.slot_cnt, .first_seq = 1};
	struct fr_snap_lap lap;
	int err = 0;
	u32 k;

	fr_snap_watch_laps(w, host_ring_count, &r.present);
	for (k = 0; host_ring_lap(h, k, &lap) && !err; k++) {
		if (!lap.sz)
			continue;
		err = fr_snap_put_lap(w, &lap, 0);
		r.last_seq = lap.seq;
	}
	err = err ? err : fr_snap_settle(w);
	r.written = r.present;
	return err ? err : fr_snap_put_rings(w, &r, 1);
}

static int dump(const char *path)
{
	static const char procs[] = "{\"pid\":101,\"cmdline\":\"x\",\"cgroup\":\"/a\"}\n";
	const struct fr_snap_clock clock = {.ts = host_clock_ns, .mono_ns = host_clock_ns, .real_ns = host_clock_ns};
	struct fr_snap_writer *w;
	int err;
	u32 i;

	if (fr_snap_create(path, BUDGET_SZ, 1, &w))
		return 1;
	err = fr_snap_put_schema(w, fr_schema_builtin());
	err = err ? err : put_facts(w);
	for (i = 0; i < RING_CNT && !err; i++)
		err = put_ring(w, ring[i]);
	err = err ? err : fr_snap_put_tasks(w, table, table_cnt);
	err = err ? err : fr_snap_put_procs(w, procs, sizeof(procs) - 1);
	err = err ? err : fr_snap_put_clocks(w, &clock, 1);
	return err ? err : fr_snap_finish(w);
}

int main(int argc, char **argv)
{
	u32 i;
	int err;

	if (argc != 2)
		return 2;
	for (i = 0; i < RING_CNT; i++)
		ring[i] = host_ring_new(i == MAIN1, i == LIFE0 ? FR_TIER_LIFE : FR_TIER_MAIN, 64, 2);
	for (i = 0; i < TASK_CNT; i++) {
		task[i] = (struct task){.tid = FIRST_TID + i, .pid = FIRST_TID + i / 2 * 2};
		note_birth(&task[i], 10 + i);
	}
	for (i = 0; i < STEP_CNT; i++) {
		if (i == STEP_CNT / 20)
			PUT(LIFE0, governor, 99, .step = 1);
		step(i);
	}
	err = dump(argv[1]);
	for (i = 0; i < RING_CNT; i++)
		host_ring_free(ring[i]);
	(void)host_ring_fill;
	return err != 0;
}
