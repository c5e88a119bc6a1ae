/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* join_file: what one file has of a ring. */
#include <errno.h>
#include <stdlib.h>

#include "flow/replay/join_int.h"

const struct fr_snap_ring *fr_join_account_of(const struct fr_snap *s, const struct fr_join_ring *r)
{
	size_t cnt, i;
	const struct fr_snap_ring *a = fr_snap_rings(s, &cnt);

	for (i = 0; i < cnt; i++)
		if (a[i].cpu == r->cpu && a[i].tier == r->tier)
			return &a[i];
	return NULL;
}

bool fr_join_laps_of(const struct fr_snap *s, const struct fr_join_ring *r, u64 *first, u64 *last)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	const size_t *nr = fr_snap_chunks_of(s, r->epoch, r->cpu, r->tier, &cnt);

	for (i = 0; i < cnt; i++) {
		if (!i || c[nr[i]].first_seq < *first)
			*first = c[nr[i]].first_seq;
		if (!i || c[nr[i]].last_seq > *last)
			*last = c[nr[i]].last_seq;
	}
	return cnt;
}

u64 fr_join_last_lap(const struct fr_snap *s, const struct fr_join_ring *r)
{
	const struct fr_snap_ring *a = fr_join_account_of(s, r);
	u64 first = 0, last = 0;

	fr_join_laps_of(s, r, &first, &last);
	return a && a->last_seq > last ? a->last_seq : last;
}

u64 fr_join_last_ns(const struct fr_snap *s, const struct fr_join_ring *r)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	const size_t *nr = r ? fr_snap_chunks_of(s, r->epoch, r->cpu, r->tier, &cnt) : NULL;
	u64 last_ns = 0;

	for (i = 0; i < cnt; i++) {
		u64 ns = c[nr ? nr[i] : i].last_ts;

		last_ns = ns > last_ns ? ns : last_ns;
	}
	return last_ns;
}

struct fr_snap_hole *fr_join_find_damage(const struct fr_snap *s, const struct fr_join_ring *r, size_t *found)
{
	size_t cnt, i, max = fr_gaps_lost_max(s);
	const struct fr_chunk *chunks = fr_snap_chunks(s, &cnt), *c;
	const size_t *nr = fr_snap_chunks_of(s, r->epoch, r->cpu, r->tier, &cnt);
	const struct fr_snap_ring *a = fr_join_account_of(s, r);
	struct fr_snap_hole *h = malloc((cnt + max + 1) * sizeof(*h));

	*found = 0;
	for (i = 0; i < cnt && h; i++) {
		c = &chunks[nr[i]];
		if (c->damaged)
			h[(*found)++] = (struct fr_snap_hole){.cpu = r->cpu,
							      .tier = r->tier,
							      .why = FR_HOLE_damaged,
							      .first_seq = c->first_seq,
							      .last_seq = c->last_seq,
							      .since_ns = c->first_ts,
							      .until_ns = c->last_ts};
	}
	if (h && a)
		*found += fr_gaps_find_lost(s, a, h + *found, max);
	return h;
}
