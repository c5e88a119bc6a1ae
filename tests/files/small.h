/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * small: a snapshot of a few KiB with each event and each kind of chunk but the profile, for tests that go through all its
 * bytes.
 */
#ifndef FR_SMALL_H
#define FR_SMALL_H

#include "unit/host_ring.h"

#include <stdio.h>

#define SMALL_RING_CNT 4

static u64 small_put_ring(struct fr_snap_writer *w, u16 cpu, u8 tier)
{
	struct host_ring *h = host_ring_new(cpu, tier, 2, 1);
	const struct fr_schema *s = fr_schema_builtin();
	u64 all = 0;
	struct fr_snap_lap lap;
	u8 rec[FR_REC_MAX_SZ];
	u32 nr, i;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(s, nr);

		if (!ev || (ev->tier != tier && nr % 4 != cpu))
			continue;
		host_clock_ns += host_random() % 100000;
		host_ring_put(h, nr, rec, host_random_record(ev, rec));
	}
	fr_snap_watch_laps(w, host_ring_count, &all);
	for (i = 0; host_ring_lap(h, i, &lap); i++)
		if (fr_snap_put_lap(w, &lap, 0))
			return 0;
	if (fr_snap_settle(w))
		return 0;
	host_ring_free(h);
	return all;
}

static int small_put_names(struct fr_snap_writer *w)
{
	const struct fr_snap_symbol y[] = {{0, 0xffffffff81000000, 64, "schedule", NULL}, {101, 0x7000, 16, "jit", NULL}};
	const struct fr_snap_mapping m = {
		.pid = 101, .begin = 0x1000, .end = 0x2000, .path = "/bin/two", .build_id = {1, 2, 3}, .build_id_sz = 20};

	return fr_snap_put_symbols(w, y, 2) || fr_snap_put_mappings(w, &m, 1);
}

/* Two of a session's log: a death, and a loss that nobody is to blame for. */
static int small_put_incidents(struct fr_snap_writer *w)
{
	const struct fr_snap_incident inc[] = {
		{.epoch = 0xabcd1234,
		 .rec = {.done = 1,
			 .ts = 1000001000,
			 .addr = 0x10,
			 .ip = 0x401020,
			 .count = 1,
			 .cgroup = 7,
			 .start_ns = 5,
			 .kind = FR_INCIDENT_signal,
			 .cpu = 1,
			 .pid = 100,
			 .tid = 100,
			 .uid = 1000,
			 .sig = 11,
			 .code = 1,
			 .comm = "one",
			 .text = "nowhere/server"}},
		{.epoch = 0xabcd1234,
		 .rec = {.done = 3,
			 .ts = 1000002000,
			 .count = 40,
			 .kind = FR_INCIDENT_loss,
			 .cpu = 1,
			 .uid = ~0u,
			 .text = "wrap"}},
	};

	return fr_snap_put_incidents(w, inc, 2);
}

static int small_put_meta(struct fr_snap_writer *w)
{
	struct fr_snap_task task[2] = {{.tid = 100, .start_ns = 5}, {.tid = 101, .start_ns = 6}};
	struct fr_snap_hole hole = {.cpu = 1, .first_seq = 3, .last_seq = 3};
	struct fr_snap_clock clock = {1000000000, 1000000000, 1000000000, 1000000000, 1767225600000000000ULL, 50};

	memcpy(task[0].task.comm, "one", 4);
	memcpy(task[1].task.comm, "two", 4);
	return fr_snap_put_fact(w, "version", "small") || fr_snap_put_fact(w, "clock_mode", "global") ||
	       fr_snap_put_clocks(w, &clock, 1) || fr_snap_put_tasks(w, task, 2) || fr_snap_put_holes(w, &hole, 1) ||
	       fr_snap_put_procs(w, "{\"pid\":100}\n", 12) || small_put_names(w) || small_put_incidents(w);
}

/* Write it to path. The count of its events, 0 on failure. */
static u64 small_write(const char *path)
{
	struct fr_snap_ring ring[SMALL_RING_CNT] = {};
	struct fr_snap_writer *w;
	u64 events = 0;
	u16 i;

	if (fr_snap_create(path, 64u << 20, 1, &w))
		return 0;
	if (!fr_snap_put_schema(w, fr_schema_builtin()) && !small_put_meta(w)) {
		for (i = 0; i < SMALL_RING_CNT; i++) {
			ring[i].cpu = i % 3;
			ring[i].tier = i < 3 ? FR_TIER_MAIN : FR_TIER_LIFE;
			ring[i].slot_cnt = 2;
			ring[i].subbuf_sz = FR_PAGE_SZ;
			ring[i].present = ring[i].written = small_put_ring(w, ring[i].cpu, ring[i].tier);
			events += ring[i].present;
		}
		fr_snap_put_rings(w, ring, SMALL_RING_CNT);
	}
	return fr_snap_finish(w) ? 0 : events;
}

#endif
