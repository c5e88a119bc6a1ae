/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/export/export_gaps.h"

#include <errno.h>
#include <stdlib.h>

#include "read/replay/missing.h"
#include "read/replay/summary.h"

struct fr_export_gaps {
	struct fr_missing *missing;
	u64 *next_ns; /* for each CPU: the end of the gap before its next events, ~0: none */
	u32 cpu_cnt;
};

/* ---- finding them ---- */

const struct fr_gap_list *fr_export_gaps(const struct fr_export *x, u32 boot)
{
	return fr_missing_gaps(x->gaps->missing, boot);
}

const struct fr_gap_list *fr_export_damage(const struct fr_export *x, u32 boot)
{
	return fr_missing_damage(x->gaps->missing, boot);
}

/* The end of a CPU's first gap that ends after ts. */
static u64 next_of(const struct fr_gap_list *l, u32 cpu, u64 ts)
{
	u64 next_ns = ~0ULL;
	size_t i;

	for (i = 0; i < l->cnt; i++) {
		const struct fr_gap *g = &l->g[i];

		if (g->cpu == cpu && g->why != FR_GAP_before && g->until_ns > ts && g->until_ns < next_ns)
			next_ns = g->until_ns;
	}
	return next_ns;
}

static u64 next_end(const struct fr_export *x, u32 cpu, u64 ts)
{
	u64 a = next_of(fr_export_gaps(x, 0), cpu, ts), b = next_of(fr_export_damage(x, 0), cpu, ts);

	return a < b ? a : b;
}

/* A fr_replay_lost_fn. */
static int gaps_take_damage(void *arg, const struct fr_replay_lost *lost)
{
	struct fr_export *x = arg;
	struct fr_export_gaps *g = x->gaps;
	int err = x->to->lost ? x->to->lost(x, lost) : 0;

	if (err)
		return err;
	if (lost->tier > FR_TIER_LIFE)
		return 0;
	if (lost->cpu < g->cpu_cnt && lost->until_ns < g->next_ns[lost->cpu])
		g->next_ns[lost->cpu] = lost->until_ns;
	return fr_missing_add(g->missing, lost);
}

/* ---- lifetime ---- */

int fr_export_gaps_new(struct fr_export *x)
{
	struct fr_export_gaps *g = x->gaps = calloc(1, sizeof(*g));
	u64 begin_ns, end_ns;
	u32 i;

	if (!g)
		return -ENOMEM;
	g->cpu_cnt = fr_export_cpu_cnt(x);
	g->next_ns = calloc(g->cpu_cnt, sizeof(*g->next_ns));
	if (!g->next_ns || fr_missing_new(x->replay, &g->missing))
		return -ENOMEM;
	fr_replay_window(x->replay, &begin_ns, &end_ns);
	for (i = 0; i < g->cpu_cnt; i++)
		g->next_ns[i] = next_end(x, i, begin_ns);
	fr_replay_tell_lost(x->replay, gaps_take_damage, x);
	return 0;
}

void fr_export_gaps_free(struct fr_export *x)
{
	struct fr_export_gaps *g = x->gaps;

	if (!g)
		return;
	fr_missing_free(g->missing);
	free(g->next_ns);
	free(g);
}

/* ---- queries ---- */

bool fr_export_is_gap(const struct fr_export *x, u32 boot, u64 from_ns, u64 to_ns)
{
	return fr_missing_any(x->gaps->missing, boot, from_ns, to_ns);
}

bool fr_export_passes_gap(struct fr_export *x, u32 cpu, u64 ts)
{
	struct fr_export_gaps *g = x->gaps;

	if (cpu >= g->cpu_cnt || ts < g->next_ns[cpu])
		return false;
	g->next_ns[cpu] = next_end(x, cpu, ts);
	return true;
}

static const struct fr_snap_ring *main_ring(const struct fr_snap *s, u32 cpu)
{
	size_t cnt, i;
	const struct fr_snap_ring *r = fr_snap_rings(s, &cnt);

	for (i = 0; i < cnt; i++)
		if (r[i].tier == FR_TIER_MAIN && r[i].cpu == cpu && fr_cut_has_cpu(s, cpu))
			return &r[i];
	return NULL;
}

const struct fr_snap_ring *fr_export_first_ring(const struct fr_export *x, u32 cpu, const struct fr_snap **snap)
{
	const struct fr_snap_ring *first = NULL, *r;
	u32 i;

	for (i = 0; i < fr_replay_file_cnt(x->replay); i++) {
		const struct fr_snap *s = fr_replay_snap(x->replay, i);

		r = main_ring(s, cpu);
		if (r && (!first || fr_gaps_begin(s, r) < fr_gaps_begin(*snap, first))) {
			first = r;
			*snap = s;
		}
	}
	return first;
}

size_t fr_export_gap_cnt(const struct fr_export *x)
{
	return fr_missing_cnt(x->gaps->missing);
}
