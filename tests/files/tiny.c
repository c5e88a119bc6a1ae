/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tiny FILE: the smallest snapshot with events in it: the worked example of docs/format.md. */
#include "unit/host_ring.h"

static const char schema_text[] = "flightrec-schema 1\n"
				  "event 1 beat main mark a pulse\n"
				  "field u64 nr DEC which one\n";

static void put_beat(struct host_ring *h, u64 ts, u32 tid, u64 nr)
{
	struct {
		u64 head;
		u32 task, pad;
		u64 nr;
	} rec = {.task = tid, .nr = nr};

	host_clock_ns = ts;
	host_ring_put(h, 1, &rec, sizeof(rec));
}

int main(int argc, char **argv)
{
	struct host_ring *h = host_ring_new(2, FR_TIER_MAIN, 2, 1);
	struct fr_snap_writer *w;
	struct fr_schema *schema;
	struct fr_snap_lap lap;

	if (argc != 2 || fr_schema_parse(schema_text, sizeof(schema_text) - 1, &schema) ||
	    fr_snap_create(argv[1], 64u << 20, 1, &w))
		return 1;
	put_beat(h, 1000000, 7, 100);
	put_beat(h, 1000300, 7, 101);
	put_beat(h, 1000301, 8, 300);
	if (fr_snap_put_schema(w, schema) || fr_snap_put_fact(w, "host", "box") || !host_ring_lap(h, 0, &lap) ||
	    fr_snap_put_lap(w, &lap, 0) || fr_snap_finish(w))
		return 1;
	fr_schema_free(schema);
	host_ring_free(h);
	return 0;
}
