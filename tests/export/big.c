/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* big FILE ROUNDS: a snapshot of 50 thousand random events a round, of two CPUs in turn. */
#include "unit/host_ring.h"

#include <stdio.h>

#define SLOTS  64u
#define PAGES  16u
#define EVENTS 50000u

struct ring {
	struct host_ring *h;
	u64 put; /* laps below this one are in the file */
};

/* Laps that are complete; at the end the last one too. */
static int put_laps(struct fr_snap_writer *w, struct ring *r, bool last)
{
	u64 newest = 0;
	struct fr_snap_lap lap;
	int err = 0;
	u32 i;

	for (i = 0; host_ring_lap(r->h, i, &lap); i++)
		newest = lap.seq;
	for (i = 0; !err && host_ring_lap(r->h, i, &lap); i++) {
		if (lap.seq < r->put || !lap.sz || (lap.seq == newest && !last))
			continue;
		err = fr_snap_put_lap(w, &lap, 0);
		r->put = lap.seq + 1;
	}
	return err ? err : fr_snap_settle(w);
}

int main(int argc, char **argv)
{
	struct fr_snap_clock clock = {.ts = 1, .mono_ns = 1, .boot_ns = 1, .real_ns = 1767225600000000000ull};
	u32 rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 0, i;
	struct ring ring[2] = {0};
	struct fr_snap_writer *w;
	int err;

	if (!rounds || fr_snap_create(argv[1], 32u << 20, 1, &w))
		return 2;
	err = fr_snap_put_schema(w, fr_schema_builtin()) || fr_snap_put_fact(w, "arch", "x86_64") ||
	      fr_snap_put_clocks(w, &clock, 1);
	for (i = 0; i < 2; i++)
		ring[i].h = host_ring_new(i, FR_TIER_MAIN, SLOTS, PAGES);
	for (i = 0; i < rounds && !err; i++) {
		host_ring_fill(ring[i % 2].h, EVENTS);
		err = put_laps(w, &ring[i % 2], i + 2 >= rounds);
	}
	for (i = 0; i < 2; i++)
		host_ring_free(ring[i].h);
	if (!err)
		return fr_snap_finish(w) != 0;
	fr_snap_abort(w);
	return 1;
}
