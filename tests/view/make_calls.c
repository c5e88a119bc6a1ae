/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make_calls FILE: calls that have a number in common: of both ABIs, and of a task that died in its call and the next of its
 * tid. The last ends where the file does.
 */
#include "event_fields.h"
#include "unit/host_ring.h"

#include <stdio.h>

#define BUDGET_SZ (16u << 20)
#define COMPAT	  (1u << 24)

enum { MAIN, LIFE, RING_CNT };

static struct host_ring *ring[RING_CNT];

static void put_call(u32 task, u32 id, bool returns)
{
	struct fr_rec_sys_enter enter = {.task = task, .id = id};
	struct fr_rec_sys_exit exit = {.task = task, .id = id, .ret = 5};

	host_clock_ns += 1000;
	host_ring_put_nums(ring[MAIN], FR_EV_sys_enter, &enter, sizeof(enter), (const u64[]){1, 2, 3}, 3);
	host_clock_ns += 500;
	if (returns)
		host_ring_put_rec(ring[MAIN], sys_exit, &exit);
}

static void put_all(void)
{
	struct fr_rec_sched_process_exit death = {.task = 102, .prio = 120, .group_dead = 1};
	struct fr_rec_sched_process_fork birth = {.task = 101, .child_pid = 102, .child_tgid = 102, .child_comm = "next"};
	struct fr_rec_sys_exit left = {.task = 102, .id = 0, .ret = 7};

	put_call(101, 20, true);
	put_call(101 | COMPAT, 20, true);
	put_call(102, 0, false);
	host_ring_put_rec(ring[LIFE], sched_process_exit, &death);
	host_clock_ns += 1000;
	host_ring_put_rec(ring[LIFE], sched_process_fork, &birth);
	host_clock_ns += 1000;
	host_ring_put_rec(ring[MAIN], sys_exit, &left);
	put_call(101, 39, true);
}

int main(int argc, char **argv)
{
	struct fr_snap_writer *w;
	u32 i;
	int err;

	if (argc != 2 || fr_snap_create(argv[1], BUDGET_SZ, 1, &w))
		return 1;
	host_clock_ns = 1000000;
	for (i = 0; i < RING_CNT; i++)
		ring[i] = host_ring_new(0, i == MAIN ? FR_TIER_MAIN : FR_TIER_LIFE, 4, 16);
	put_all();
	err = fr_snap_put_schema(w, fr_schema_builtin());
	err = err ?: fr_snap_put_fact(w, "arch", "x86_64");
	for (i = 0; i < RING_CNT; i++)
		err = err ?: host_ring_put_laps(ring[i], w);
	err = err ?: fr_snap_finish(w);
	(void)host_ring_fill;
	return err != 0;
}
