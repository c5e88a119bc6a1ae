/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make KIND FILE: snapshots that are awkward to show.
 *
 *	none	no event			one	one event
 *	many	192 CPUs, 3000 tasks, names of anybody's choosing
 *	HOST	two CPUs of a host of that name, its boot another's than of other names
 */
#include "event_fields.h"
#include "unit/host_ring.h"

#include <stdio.h>

#define BUDGET_SZ (16u << 20)
#define SLOT_CNT  4u
#define PAGES	  4u
#define CPU_MAX	  192u
#define TASK_CNT  3000u
#define SEC	  1000000000ULL
#define REAL_NS	  1767225600000000000ULL

static struct host_ring *ring[CPU_MAX];

#define PUT(cpu, type, who, ...)                                           \
	do {                                                               \
		struct fr_rec_##type rec = {.task = (who), ##__VA_ARGS__}; \
                                                                           \
		host_ring_put_rec(ring[cpu], type, &rec);                  \
	} while (0)

/* Tasks wake each other and run in turn, on all CPUs. */
static void put_turns(u32 cpu_cnt, u32 task_cnt, u32 cnt)
{
	static u32 on[CPU_MAX];
	u32 i;

	for (i = 0; i < cnt; i++) {
		u32 cpu = i % cpu_cnt, next = 1000 + i % task_cnt;

		host_clock_ns += 700;
		PUT((cpu + 1) % cpu_cnt, sched_waking, FR_BY(on[(cpu + 1) % cpu_cnt], task), .target_pid = (s32)next,
		    .prio = 120);
		host_clock_ns += 300;
		PUT(cpu, sched_switch, on[cpu], .next_pid = (s32)next, .prev_state = 1, .prev_prio = 120, .next_prio = 120);
		on[cpu] = next;
	}
}

static void name_of(u32 i, char name[FR_COMM_SZ])
{
	static const char *const odd[] = {"plain",
					  "e\x1b[31mred",
					  "new\nline",
					  "\xff\xfe",
					  "w\xe6\x97\xa5\xe6\x9c\xac",
					  "rtl\xe2\x80\xae"
					  "x",
					  "c\xc2\x9b"
					  "1m",
					  ""};

	memset(name, 0, FR_COMM_SZ);
	snprintf(name, FR_COMM_SZ, "%s", odd[i % 8]);
}

static int put_tasks(struct fr_snap_writer *w)
{
	static struct fr_snap_task t[TASK_CNT];
	u32 i;

	for (i = 0; i < TASK_CNT; i++) {
		t[i].tid = 1000 + i;
		t[i].task.tgid = 1000 + i;
		name_of(i, t[i].task.comm);
	}
	return fr_snap_put_tasks(w, t, TASK_CNT);
}

static int put_ring(struct fr_snap_writer *w, struct host_ring *h)
{
	struct fr_snap_ring r = {.cpu = h->r.cpu,
				 .slot_cnt = SLOT_CNT,
				 .subbuf_sz = PAGES * FR_PAGE_SZ,
				 .written = h->rec_cnt,
				 .present = h->rec_cnt};

	return fr_snap_put_rings(w, &r, 1) ?: host_ring_put_laps(h, w);
}

static int put_all(struct fr_snap_writer *w, const char *kind, u32 cpu_cnt)
{
	bool other = !strcmp(kind, "other");
	struct fr_snap_clock c = {.ts = SEC, .mono_ns = SEC, .real_ns = REAL_NS + other * 2000000};
	int err = fr_snap_put_schema(w, fr_schema_builtin());
	u32 i;

	err = err ?: fr_snap_put_fact(w, "host", "%s", kind);
	err = err ?: fr_snap_put_fact(w, "boot_id", "boot-of-%s", kind);
	err = err ?: fr_snap_put_fact(w, "arch", "x86_64");
	err = err ?: fr_snap_put_clocks(w, &c, 1);
	err = err ?: put_tasks(w);
	for (i = 0; i < cpu_cnt && !err; i++)
		err = put_ring(w, ring[i]);
	return err;
}

int main(int argc, char **argv)
{
	bool many = argc == 3 && !strcmp(argv[1], "many"), one = argc == 3 && !strcmp(argv[1], "one"),
	     none = argc == 3 && !strcmp(argv[1], "none");
	u32 cpu_cnt = many ? CPU_MAX : 2, i;
	struct fr_snap_writer *w;
	int err;

	if (argc != 3 || fr_snap_create(argv[2], BUDGET_SZ, 1, &w))
		return 1;
	for (i = 0; i < cpu_cnt; i++)
		ring[i] = host_ring_new(i, FR_TIER_MAIN, SLOT_CNT, PAGES);
	if (one)
		PUT(0, sched_waking, FR_BY(1000, task), .target_pid = 1001, .prio = 120);
	else if (!none)
		put_turns(cpu_cnt, many ? TASK_CNT : 6, many ? 12000 : 400);
	err = put_all(w, argv[1], cpu_cnt);
	err = err ?: fr_snap_finish(w);
	for (i = 0; i < cpu_cnt; i++)
		host_ring_free(ring[i]);
	(void)host_ring_fill;
	return err != 0;
}
