/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make_wide FILE CPUS: a snapshot of a host of so many CPUs. Of the main tier CPU 17 lost events, CPU 80 has a hole, and CPU
 * 100 has been there for a moment.
 */
#include "event_fields.h"
#include "unit/host_ring.h"

#include <stdio.h>

#define BUDGET_SZ (64u << 20)
#define MS	  1000000ULL
#define SEC	  (1000 * MS)
#define END_NS	  (20 * SEC)

static int put_facts(struct fr_snap_writer *w)
{
	int err = fr_snap_put_fact(w, "host", "wide");

	err = err ? err : fr_snap_put_fact(w, "arch", "x86_64");
	err = err ? err : fr_snap_put_fact(w, "boot_id", "w");
	err = err ? err : fr_snap_put_fact(w, "snapshot_ns", "%llu", (unsigned long long)END_NS);
	err = err ? err : fr_snap_put_fact(w, "rule_0", "crash:all");
	err = err ? err : fr_snap_put_fact(w, "rule_0_since", "matched=0;taken=1");
	err = err ? err : fr_snap_put_fact(w, "rule_1", "oom");
	return err ? err : fr_snap_put_fact(w, "trigger_reason", "dump");
}

/* Busy CPUs have a shorter history than others. */
static u64 horizon(u16 cpu, u16 tier)
{
	return tier == FR_TIER_LIFE ? 10 * SEC : cpu == 100 ? END_NS - 90 * MS : (10 + cpu % 5) * SEC + cpu * MS;
}

static int put_ring(struct fr_snap_writer *w, u16 cpu, u16 tier)
{
	struct fr_snap_ring account = {.cpu = cpu, .tier = tier, .slot_cnt = 4, .subbuf_sz = 8192, .written = 1000 + cpu};
	struct host_ring *ring = host_ring_new(cpu, tier, 4, 2);
	struct fr_rec_softirq_entry rec = {.vec = 1};
	int err;

	account.horizon_ns = horizon(cpu, tier);
	account.overwritten = account.written - 2;
	account.present = 2;
	account.lost[0] = tier == FR_TIER_MAIN && cpu == 17 ? 3 : 0;
	host_clock_ns = account.horizon_ns + MS;
	host_ring_put_rec(ring, softirq_entry, &rec);
	host_clock_ns = END_NS;
	host_ring_put_rec(ring, softirq_entry, &rec);
	err = host_ring_put_laps(ring, w);
	err = err ? err : fr_snap_put_rings(w, &account, 1);
	host_ring_free(ring);
	return err;
}

int main(int argc, char **argv)
{
	const struct fr_snap_hole hole = {.cpu = 80, .why = FR_HOLE_overwritten, .first_seq = 1, .last_seq = 2};
	struct fr_snap_writer *w;
	u32 cpus, cpu;
	int err;

	if (argc != 3 || fr_snap_create(argv[1], BUDGET_SZ, 1, &w))
		return 1;
	cpus = (u32)atoi(argv[2]);
	err = fr_snap_put_schema(w, fr_schema_builtin());
	err = err ? err : put_facts(w);
	for (cpu = 0; cpu < cpus && !err; cpu++) {
		err = put_ring(w, cpu, FR_TIER_MAIN);
		err = err ? err : put_ring(w, cpu, FR_TIER_LIFE);
	}
	err = err || cpus <= 80 ? err : fr_snap_put_holes(w, &hole, 1);
	err = err ? err : fr_snap_finish(w);
	(void)host_ring_fill;
	return err != 0;
}
