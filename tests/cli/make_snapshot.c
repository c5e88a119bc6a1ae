/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* make_snapshot FILE: a small snapshot, the same each time, with texts and values that are awkward to print. */
#include "event_fields.h"
#include "unit/host_ring.h"

#include <stdio.h>

#define BUDGET_SZ (16u << 20)
#define REAL_NS	  1767225600000000000ULL /* 2026-01-01T00:00:00Z at the clock's 10 s */
#define SEC	  1000000000ULL
#define MS	  1000000ULL

enum { MAIN0, LIFE0, STACK0, MAIN1, RING_CNT };

static struct host_ring *ring[RING_CNT];

#define PUT(where, at_ns, type, who, ...)                                  \
	do {                                                               \
		struct fr_rec_##type rec = {.task = (who), ##__VA_ARGS__}; \
                                                                           \
		host_clock_ns = (at_ns);                                   \
		host_ring_put_rec(ring[where], type, &rec);                \
	} while (0)

static void put_life(void)
{
	static const char path[] = "/bin/a \"b\"\n\xff";
	struct fr_rec_sched_process_exec exec = {.task = 101, .old_pid = 101};
	u8 rec[64] = {0};

	PUT(LIFE0, 10 * SEC + 1 * MS, sched_process_fork, 100, .child_pid = 101, .child_tgid = 101,
	    .child_start = 10 * SEC + 1 * MS - 500, .child_comm = "shell");
	PUT(LIFE0, 10 * SEC + 2 * MS, task_rename, 101, .target_pid = 101, .oldcomm = "shell", .newcomm = "w\x1b[31m\xff x");
	memcpy(rec, &exec, sizeof(exec));
	memcpy(rec + sizeof(exec), path, sizeof(path));
	host_clock_ns = 10 * SEC + 2 * MS + 1;
	host_ring_put(ring[LIFE0], FR_EV_sched_process_exec, rec, (sizeof(exec) + sizeof(path) + 7) / 8 * 8);
	PUT(LIFE0, 10 * SEC + 6 * MS, sched_process_exit, 101, .exit_code = 139, .prio = 120, .group_dead = 1);
}

/* On CPU 0: openat() of 101 fails, and 101 is killed; then another task gets its tid. */
static void put_main0(void)
{
	static const u64 args[] = {(u64)-100, 0x7ffd00000000ULL, ~0ULL, 0644};
	struct fr_rec_sys_enter enter = {.task = 101, .id = 257};

	PUT(MAIN0, 10 * SEC + 3 * MS, sched_switch, 0, .next_pid = 101, .prev_prio = 120, .next_prio = 120);
	host_clock_ns = 10 * SEC + 4 * MS;
	host_ring_put_nums(ring[MAIN0], FR_EV_sys_enter, &enter, sizeof(enter), args, 4);
	PUT(MAIN0, 10 * SEC + 4 * MS + 900, sys_exit, 101, .id = 257, .ret = -2);
	PUT(MAIN0, 10 * SEC + 5 * MS, signal_deliver, 101 | 1u << 24, .sig = 11, .code = 1, .addr = 0xdead, .ip = 0x401000);
	PUT(MAIN0, 10 * SEC + 7 * MS, sched_switch, 101, .next_pid = 0, .prev_state = 16, .prev_prio = 120, .next_prio = 120);
	PUT(MAIN0, 10 * SEC + 9 * MS, sched_waking, 101 | 1u << 24, .target_pid = 999, .prio = -1, .target_cpu = 1);
}

static void put_main1(void)
{
	PUT(MAIN1, 10 * SEC + 4 * MS, softirq_entry, 0, .vec = 1);
	PUT(MAIN1, 10 * SEC + 4 * MS + 5, softirq_exit, 0, .vec = 1);
	PUT(MAIN1, 10 * SEC + 5 * MS, cpu_sample, 100 | 1u << 24, .ip = 0x402000, .ustack_id = 0x77);
	PUT(MAIN1, 10 * SEC + 8 * MS, block_rq_complete, 555, .dev = 8 << 20 | 17, .sector = 2048, .nr_sector = 8, .error = -5,
	    .rwbs = "WS");
}

static void put_stack(void)
{
	static const u64 frames[] = {0x402000, 0x401234};
	struct fr_rec_stack stack = {.task = 100, .stack_id = 0x77};

	host_clock_ns = 10 * SEC + 5 * MS;
	host_ring_put_nums(ring[STACK0], FR_EV_stack, &stack, offsetof(struct fr_rec_stack, frames), frames, 2);
}

static int put_facts(struct fr_snap_writer *w)
{
	static const char *const fact[][2] = {
		{"host", "box"},
		{"kernel", "6.1.0"},
		{"arch", "x86_64"},
		{"boot_id", "b"},
		{"version", "0.1.0"},
		{"session", "default"},
		{"epoch", "2882343476"},
		{"profile", "default"},
		{"clock_mode", "global"},
		{"clock_grain_ns", "10000"},
		{"begin_ns", "9900000000"},
		{"snapshot_ns", "10009500000"},
		{"trigger_reason", "crash"},
		{"trigger_pid", "101"},
		{"trigger_comm", "w x"},
		{"trigger_sig", "11"},
		{"trigger_ts", "10005000000"},
		{"task_evicted", "3"},
		{"task_lost", "0"},
		{"no_ring", "0"},
		{"missed", "sched_switch=2;sys_enter=1"},
		{"events_missing", "block_io_start"},
	};
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(fact) / sizeof(fact[0]) && !err; i++)
		err = fr_snap_put_fact(w, fact[i][0], "%s", fact[i][1]);
	return err;
}

/* tid 101: events tell of the first task; the table has the second one and its parent. */
static int put_tables(struct fr_snap_writer *w)
{
	const struct fr_snap_task tasks[] = {
		{.tid = 100, .start_ns = SEC, .task = {.tgid = 99, .comm = "parent"}},
		{.tid = 101, .start_ns = 10 * SEC + 8 * MS, .task = {.tgid = 101, .comm = "second"}},
	};
	const struct fr_snap_ring rings[] = {
		{.cpu = 0,
		 .tier = 0,
		 .slot_cnt = 4,
		 .subbuf_sz = 8192,
		 .written = 6,
		 .present = 6,
		 .horizon_ns = 10 * SEC + 4 * MS,
		 .lost = {1, 2, 0},
		 .ties = 5},
		{.cpu = 0, .tier = 1, .slot_cnt = 4, .subbuf_sz = 8192, .written = 4, .present = 4},
		{.cpu = 0, .tier = 2, .slot_cnt = 4, .subbuf_sz = 8192, .written = 1, .present = 1},
		{.cpu = 1,
		 .tier = 0,
		 .slot_cnt = 4,
		 .subbuf_sz = 8192,
		 .written = 14,
		 .overwritten = 10,
		 .present = 4,
		 .horizon_ns = 10 * SEC + 3500000},
	};
	const struct fr_snap_hole hole = {.cpu = 1, .why = FR_HOLE_overwritten, .first_seq = 1, .last_seq = 2};
	const struct fr_snap_clock clock = {.ts = 10 * SEC, .mono_ns = 10 * SEC, .real_ns = REAL_NS};
	int err = fr_snap_put_tasks(w, tasks, 2);

	err = err ? err : fr_snap_put_rings(w, rings, 4);
	err = err ? err : fr_snap_put_holes(w, &hole, 1);
	return err ? err : fr_snap_put_clocks(w, &clock, 1);
}

static int put_rings(struct fr_snap_writer *w)
{
	int err = 0;
	u32 i;

	for (i = 0; i < RING_CNT && !err; i++)
		err = host_ring_put_laps(ring[i], w);
	return err;
}

static void fill_rings(void)
{
	static const u16 tier[RING_CNT] = {FR_TIER_MAIN, FR_TIER_LIFE, FR_TIER_STACK, FR_TIER_MAIN};
	u32 i;

	for (i = 0; i < RING_CNT; i++)
		ring[i] = host_ring_new(i == MAIN1, tier[i], 4, 2);
	put_life();
	put_main0();
	put_main1();
	put_stack();
}

int main(int argc, char **argv)
{
	struct fr_snap_writer *w;
	u32 i;
	int err;

	if (argc != 2 || fr_snap_create(argv[1], BUDGET_SZ, 1, &w))
		return 1;
	fill_rings();
	err = fr_snap_put_schema(w, fr_schema_builtin());
	err = err ? err : put_facts(w);
	err = err ? err : put_tables(w);
	err = err ? err : put_rings(w);
	err = err ? err : fr_snap_finish(w);
	for (i = 0; i < RING_CNT; i++)
		host_ring_free(ring[i]);
	(void)host_ring_fill;
	return err != 0;
}
