/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make_hungry FILE (all | few | born | waits) CPUS LAPS: a small file whose events take much memory to read: sound, and made to
 * be hostile. all: each event is about another task, call, interrupt, device or function, so that every table grows with every
 * event. few: many events of a few tasks. born: each event is the birth of a task. waits: each is a
 * wait for an object of its own, which no task ended. LAPS of 64 KiB on each CPU, all at the same
 * time, so that a chunk of each ring is needed at once. No two events have the same time.
 */
#include "event_fields.h"
#include "unit/host_ring.h"

#include <stdio.h>

#define BUDGET_SZ (64u << 20)
#define PAGES	  16u
#define STEP_NS	  1000u

#define PUT(ring, type, who, ...)                                          \
	({                                                                 \
		struct fr_rec_##type rec = {.task = (who), ##__VA_ARGS__}; \
                                                                           \
		host_clock_ns += STEP_NS;                                  \
		host_ring_put_rec(ring, type, &rec);                       \
	})

/* Each has a tid of its own as long as there are any. */
static u32 tid_of(u32 nr)
{
	return 2 + nr % (FR_TID_MASK - 1);
}

/* A call of its own; now and then one that others make too, and one that nobody has made until late. */
static s32 call_of(u16 cpu, u32 nr)
{
	if (nr % 16)
		return (s32)(4096 + nr);
	return nr % 1024 ? (cpu ? 2 : 1) : (s32)(3 + nr / 1024 % 300);
}

/* A task runs, is interrupted, calls, wakes the next one, and leaves. */
static void put_all(struct host_ring *ring, u16 cpu, u32 nr)
{
	u32 tid = tid_of(nr), next = tid_of(nr + 1);
	s32 call = call_of(cpu, nr);
	struct fr_rec_irq_handler_entry irq = {.task = tid, .irq = nr, .name = "hungry"};

	host_clock_ns += STEP_NS;
	host_ring_put_rec(ring, irq_handler_entry, &irq);
	PUT(ring, irq_handler_exit, tid, .irq = nr, .ret = 1);
	PUT(ring, sys_enter, tid, .id = call);
	PUT(ring, sys_exit, tid, .id = call == 1 ? -1 : call, .ret = -2); /* as rt_sigreturn ends */
	PUT(ring, block_rq_issue, tid, .dev = nr, .sector = nr, .nr_sector = 8, .bytes = 4096, .rwbs = "W");
	PUT(ring, block_rq_complete, tid, .dev = nr, .sector = nr, .nr_sector = 8, .rwbs = "W");
	PUT(ring, cpu_sample, tid | 1u << 24, .ip = 0x400000 + nr * 64ULL, .ustack_id = nr + 1);
	PUT(ring, sched_waking, FR_BY(tid, task), .target_pid = next, .prio = 120, .target_cpu = cpu);
	PUT(ring, sched_switch, tid, .next_pid = next, .prev_state = 1, .prev_prio = 120, .next_prio = 120);
}

static void put_few(struct host_ring *ring, u16 cpu, u32 nr)
{
	PUT(ring, sched_waking, FR_BY(2 + nr % 4, task), .target_pid = 2 + (nr + 1) % 4, .prio = 120, .target_cpu = cpu);
	PUT(ring, sched_switch, 2 + nr % 4, .next_pid = 2 + (nr + 1) % 4, .prev_state = 1, .prev_prio = 120, .next_prio = 120);
}

static void put_born(struct host_ring *ring, u16 cpu, u32 nr)
{
	struct fr_rec_sched_process_fork fork = {.task = 2,
						 .child_pid = (s32)tid_of(nr),
						 .child_tgid = (s32)tid_of(nr),
						 .child_start = host_clock_ns,
						 .child_cgroup = nr,
						 .child_comm = "hungry"};

	(void)cpu;
	host_clock_ns += STEP_NS;
	host_ring_put_rec(ring, sched_process_fork, &fork);
}

static void put_wait(struct host_ring *ring, u16 cpu, u32 nr)
{
	struct {
		struct fr_rec_wait wait;
		char object[24];
	} rec = {
		.wait = {
			.task = tid_of(nr), .id = 74, .off = 30000000, .blocked = 30000000, .state = 1, .waker = FR_WAKER_irq}};

	(void)cpu;
	snprintf((char *)&rec.wait + offsetof(struct fr_rec_wait, object), 24, "ext4:/hungry/%u", nr);
	host_clock_ns += STEP_NS;
	host_ring_put(ring, FR_EV_wait, &rec, (sizeof(rec.wait) + 24 + 7) / 8 * 8);
}

static const struct kind {
	const char *name;
	void (*put)(struct host_ring *ring, u16 cpu, u32 nr);
	u16 tier;
} kinds[] = {{"all", put_all, FR_TIER_MAIN},
	     {"few", put_few, FR_TIER_MAIN},
	     {"born", put_born, FR_TIER_LIFE},
	     {"waits", put_wait, FR_TIER_WAIT}};

static int put_ring(struct fr_snap_writer *w, u16 cpu, u32 laps, const struct kind *kind, u32 *nr)
{
	struct fr_snap_ring account = {.cpu = cpu, .tier = kind->tier, .slot_cnt = laps + 1, .subbuf_sz = PAGES * FR_PAGE_SZ};
	u64 cnt = 0;
	struct host_ring *ring = host_ring_new(cpu, kind->tier, laps + 1, PAGES);
	int err;

	ring->remember = false;
	for (host_clock_ns = 1000000000 + cpu; fr_w_seq(ring->r.wr->w) <= laps; (*nr)++)
		kind->put(ring, cpu, *nr);
	fr_snap_watch_laps(w, host_ring_count, &cnt);
	err = host_ring_put_laps(ring, w);
	account.written = account.present = cnt;
	err = err ? err : fr_snap_put_rings(w, &account, 1);
	host_ring_free(ring);
	return err;
}

int main(int argc, char **argv)
{
	const struct kind *kind = kinds;
	struct fr_snap_writer *w;
	u32 cpus, cpu, laps, nr = 0;
	int err;

	while (argc == 5 && strcmp(kind->name, argv[2]))
		kind++;
	if (argc != 5 || fr_snap_create(argv[1], BUDGET_SZ, 1, &w))
		return 1;
	cpus = (u32)atoi(argv[3]);
	laps = (u32)atoi(argv[4]);
	err = fr_snap_put_schema(w, fr_schema_builtin());
	err = err ? err : fr_snap_put_fact(w, "arch", "x86_64");
	for (cpu = 0; cpu < cpus && !err; cpu++)
		err = put_ring(w, cpu, laps, kind, &nr);
	err = err ? err : fr_snap_finish(w);
	(void)host_ring_fill;
	return err != 0;
}
