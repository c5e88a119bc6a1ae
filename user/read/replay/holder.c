/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/replay/holder.h"

#include <errno.h>
#include <string.h>

#include "read/replay/gaps.h"
#include "read/replay/summary.h"

static const struct fr_snap_ring *holder_ring(const struct fr_snap *s, u16 cpu)
{
	size_t cnt, i;
	const struct fr_snap_ring *r = fr_snap_rings(s, &cnt);

	for (i = 0; i < cnt; i++)
		if (r[i].cpu == cpu && r[i].tier == FR_TIER_MAIN)
			return &r[i];
	return NULL;
}

/* The CPU's chunk with the first row at or behind at_ns; cnt: none. */
static size_t holder_chunk(const struct fr_chunk *c, size_t cnt, u16 cpu, u64 at_ns)
{
	size_t found = cnt, i;

	for (i = 0; i < cnt; i++)
		if (c[i].cpu == cpu && c[i].tier == FR_TIER_MAIN && c[i].last_ts >= at_ns &&
		    (found == cnt || c[i].first_ts < c[found].first_ts))
			found = i;
	return found;
}

/* Is anything missing between these times? */
static bool holder_misses(const struct fr_snap *s, u16 cpu, u64 from_ns, u64 to_ns)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(s, &cnt);

	for (i = 0; i < cnt; i++)
		if (h[i].cpu == cpu && h[i].tier == FR_TIER_MAIN && h[i].since_ns < to_ns && (h[i].until_ns ?: ~0ULL) > from_ns)
			return true;
	fr_snap_lost_chunks(s, &cnt);
	return cnt > 0;
}

/* 1, *tid and when the row was; 0: the chunk is damaged. */
static int holder_in_chunk(struct fr_snap *s, size_t chunk, u64 at_ns, u32 *tid, u64 *ts)
{
	struct fr_batch b = {};
	int err = fr_snap_read_chunk(s, chunk, &b), got = 0;
	u32 i;

	for (i = 0; i < b.row_cnt && !err; i++) {
		if (b.ts[i] < at_ns)
			continue;
		*tid = b.tid[i];
		*ts = b.ts[i];
		got = 1;
		break;
	}
	fr_batch_free(&b);
	return err == -ENOMEM ? err : got;
}

int fr_holder_at(struct fr_snap *s, u16 cpu, u64 at_ns, u32 *tid)
{
	const struct fr_snap_ring *r = holder_ring(s, cpu);
	size_t cnt, chunk;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	u64 ts;
	int got;

	if (!r || !fr_cut_has_cpu(s, cpu) || fr_cut_is_picked(s) || at_ns < fr_gaps_begin(s, r))
		return 0;
	chunk = holder_chunk(c, cnt, cpu, at_ns);
	if (chunk < cnt) {
		got = holder_in_chunk(s, chunk, at_ns, tid, &ts);
		return got <= 0 ? got : !holder_misses(s, cpu, at_ns, ts);
	}
	if (!r->holder || holder_misses(s, cpu, at_ns, ~0ULL))
		return 0;
	*tid = r->holder - 1;
	return 1;
}
