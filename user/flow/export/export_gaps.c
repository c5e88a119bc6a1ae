/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flow/export/export_gaps.h"

#include <errno.h>
#include <stdlib.h>

#include "flow/replay/summary.h"

struct boot {
	struct fr_gaps gaps;
	struct fr_gap_list damage;
	u64 last_ns; /* the last end of all of them */
};

struct fr_export_gaps {
	struct boot *boot;
	u32 boot_cnt;
	u64 *next_ns; /* for each CPU: the end of the gap before its next events, ~0: none */
	u32 cpu_cnt;
};

/* ---- finding them ---- */

const struct fr_gap_list *fr_export_gaps(const struct fr_export *x, u32 boot)
{
	return &x->gaps->boot[boot].gaps.gap;
}

const struct fr_gap_list *fr_export_damage(const struct fr_export *x, u32 boot)
{
	return &x->gaps->boot[boot].damage;
}

static void extend(struct boot *b, const struct fr_gap_list *l)
{
	size_t i;

	for (i = 0; i < l->cnt; i++)
		b->last_ns = l->g[i].until_ns > b->last_ns ? l->g[i].until_ns : b->last_ns;
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

static u64 next_end(const struct fr_export_gaps *g, u32 cpu, u64 ts)
{
	u64 a = next_of(&g->boot[0].gaps.gap, cpu, ts), b = next_of(&g->boot[0].damage, cpu, ts);

	return a < b ? a : b;
}

/* Two files, or two tiers, may have lost the same events. */
static void cut_known(const struct fr_gap_list *l, struct fr_gap *gap)
{
	size_t i;

	for (i = 0; i < l->cnt; i++)
		if (l->g[i].cpu == gap->cpu && l->g[i].until_ns > gap->since_ns && l->g[i].since_ns <= gap->until_ns)
			gap->since_ns = l->g[i].until_ns;
}

/* A fr_replay_lost_fn: lost stacks are not missing events. */
static int take_damage(void *arg, const struct fr_replay_lost *lost)
{
	struct fr_export_gaps *g = ((struct fr_export *)arg)->gaps;
	struct fr_gap gap = {lost->cpu, FR_HOLE_damaged, lost->since_ns, lost->until_ns};
	struct boot *b = &g->boot[lost->boot];
	int err;

	if (lost->tier > FR_TIER_LIFE)
		return 0;
	cut_known(&b->damage, &gap);
	err = fr_gap_list_add(&b->damage, gap);
	extend(b, &b->damage);
	if (lost->cpu < g->cpu_cnt && lost->until_ns < g->next_ns[lost->cpu])
		g->next_ns[lost->cpu] = lost->until_ns;
	return err;
}

/* ---- lifetime ---- */

static int find_all(struct fr_export *x, struct fr_export_gaps *g)
{
	u32 i;
	int err = 0;

	for (i = 0; i < g->boot_cnt; i++)
		g->boot[i].gaps.attached = true;
	for (i = 0; i < fr_replay_file_cnt(x->replay) && !err; i++)
		err = fr_gaps_add(&g->boot[fr_replay_boot(x->replay, i)].gaps, fr_replay_snap(x->replay, i));
	for (i = 0; i < g->boot_cnt && !err; i++) {
		err = fr_gaps_ready(&g->boot[i].gaps);
		extend(&g->boot[i], &g->boot[i].gaps.gap);
	}
	return err;
}

int fr_export_gaps_new(struct fr_export *x)
{
	struct fr_export_gaps *g = x->gaps = calloc(1, sizeof(*g));
	u64 begin_ns, end_ns;
	u32 i;

	if (!g)
		return -ENOMEM;
	g->cpu_cnt = fr_export_cpu_cnt(x);
	g->next_ns = calloc(g->cpu_cnt, sizeof(*g->next_ns));
	g->boot = calloc(fr_replay_boot_cnt(x->replay), sizeof(*g->boot));
	if (!g->next_ns || !g->boot)
		return -ENOMEM;
	g->boot_cnt = fr_replay_boot_cnt(x->replay);
	if (find_all(x, g))
		return -ENOMEM;
	fr_replay_window(x->replay, &begin_ns, &end_ns);
	for (i = 0; i < g->cpu_cnt; i++)
		g->next_ns[i] = next_end(g, i, begin_ns);
	fr_replay_tell_lost(x->replay, take_damage, x);
	return 0;
}

void fr_export_gaps_free(struct fr_export *x)
{
	struct fr_export_gaps *g = x->gaps;
	u32 i;

	if (!g)
		return;
	for (i = 0; i < g->boot_cnt; i++) {
		fr_gaps_clear(&g->boot[i].gaps);
		free(g->boot[i].damage.g);
	}
	free(g->boot);
	free(g->next_ns);
	free(g);
}

/* ---- queries ---- */

static bool has_any(const struct fr_gap_list *l, u64 from_ns, u64 to_ns)
{
	size_t i;

	for (i = 0; i < l->cnt; i++)
		if (l->g[i].until_ns > from_ns && l->g[i].since_ns < to_ns)
			return true;
	return false;
}

bool fr_export_is_gap(const struct fr_export *x, u32 boot, u64 from_ns, u64 to_ns)
{
	const struct boot *b = &x->gaps->boot[boot];

	return from_ns < b->last_ns && (has_any(&b->gaps.gap, from_ns, to_ns) || has_any(&b->damage, from_ns, to_ns));
}

bool fr_export_passes_gap(struct fr_export *x, u32 cpu, u64 ts)
{
	struct fr_export_gaps *g = x->gaps;

	if (cpu >= g->cpu_cnt || ts < g->next_ns[cpu])
		return false;
	g->next_ns[cpu] = next_end(g, cpu, ts);
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
		if (r && (!first || fr_ring_horizon(s, r) < fr_ring_horizon(*snap, first))) {
			first = r;
			*snap = s;
		}
	}
	return first;
}

/* The gaps in a window. */
static size_t count(const struct fr_gap_list *l, u64 begin_ns, u64 end_ns)
{
	size_t cnt = 0, i;

	for (i = 0; i < l->cnt; i++)
		cnt += l->g[i].why != FR_GAP_before && l->g[i].until_ns > begin_ns && l->g[i].since_ns < end_ns;
	return cnt;
}

/* The first file of a boot: any of them would do here. */
static u32 file_of(const struct fr_export *x, u32 boot)
{
	u32 file;

	for (file = 0; fr_replay_boot(x->replay, file) != boot; file++)
		;
	return file;
}

size_t fr_export_gap_cnt(const struct fr_export *x)
{
	u64 begin_ns, end_ns;
	size_t cnt = 0;
	u32 i;

	for (i = 0; i < x->gaps->boot_cnt; i++) {
		fr_replay_file_window(x->replay, file_of(x, i), &begin_ns, &end_ns);
		cnt += count(fr_export_gaps(x, i), begin_ns, end_ns) + count(fr_export_damage(x, i), begin_ns, end_ns);
	}
	return cnt;
}
