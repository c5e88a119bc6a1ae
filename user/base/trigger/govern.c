/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/trigger/govern.h"

#include <stdbool.h>
#include <string.h>

#define LEVEL_MAX (sizeof(((struct fr_govern_state *)0)->saved) / sizeof(u32))
#define SOON	  16u	      /* measurements: going down again within these is flapping */
#define WHOLE	  100000.0    /* 100 % in 1/1000 % */
#define COST_MAX  1000000000u /* no machine's: of a window without length */

void fr_govern_init(struct fr_govern *g, u32 budget, u32 cnt)
{
	u32 i;

	memset(g, 0, sizeof(*g));
	g->budget = budget;
	g->cnt = cnt < FR_GOVERN_GROUP_MAX ? cnt : FR_GOVERN_GROUP_MAX;
	for (i = 0; i < g->cnt; i++)
		g->group[i] = (struct fr_govern_state){.need = FR_GOVERN_CALM, .since_up = ~0u};
}

struct fr_govern_group fr_govern_cost(u32 levels, u64 run_ns, u64 run_cnt, const struct fr_govern_window *w)
{
	const u64 ns = w->ns ?: 1, too_much = run_cnt * w->read_ns;
	const double own_ns = run_ns > too_much ? run_ns - too_much : 0;
	const double cost = own_ns / ((double)ns * (w->cpu_cnt ?: 1)) * WHOLE;

	return (struct fr_govern_group){
		.levels = levels,
		.cost = cost < COST_MAX ? (u32)(cost + 0.5) : COST_MAX,
		.rate = (double)run_cnt * 1e9 / (double)ns,
	};
}

u32 fr_govern_hz(u32 hz, u32 level)
{
	const u32 thinned = hz >> (level < FR_GOVERN_THIN ? level : FR_GOVERN_THIN);

	return hz ? thinned ?: 1 : 0;
}

static bool can_go_down(const struct fr_govern_state *s, const struct fr_govern_group *now)
{
	return s->level < now->levels && s->level < LEVEL_MAX;
}

static bool is_off(const struct fr_govern_state *s, const struct fr_govern_group *now)
{
	return s->level && s->level >= now->levels;
}

/* The costliest group that can go down, or -1. */
static int costliest(const struct fr_govern *g, const struct fr_govern_group *now)
{
	int best = -1;
	u32 i;

	for (i = 0; i < g->cnt; i++)
		if (can_go_down(&g->group[i], &now[i]) && (best < 0 || now[i].cost > now[best].cost))
			best = i;
	return best >= 0 && now[best].cost * 100ULL >= (u64)g->budget * FR_GOVERN_WORTH && now[best].cost ? best : -1;
}

/* What one level up would cost in addition, at the current rate. Only the next measurement knows what the last step saved. */
static u64 price(const struct fr_govern_state *s, const struct fr_govern_group *now)
{
	u32 saved = s->saved[s->level - 1];
	u64 rate = s->at_rate[s->level - 1];

	return rate ? (u64)((double)saved * (double)now->rate / (double)rate) : saved;
}

/* A level whose saving is still unknown is assumed to have saved everything; the next measurement subtracts what is left. */
static void go_down(struct fr_govern_state *s, const struct fr_govern_group *now)
{
	if (s->since_up < SOON && s->need < FR_GOVERN_CALM_MAX)
		s->need *= 2;
	s->since_up = ~0u;
	s->saved[s->level] = now->cost;
	s->at_rate[s->level] = now->rate;
	s->level++;
	s->calm = 0;
}

static void govern_go_up(struct fr_govern_state *s)
{
	s->level--;
	s->calm = 0;
	s->since_up = 0;
}

static void count_calm(struct fr_govern *g, const struct fr_govern_group *now, u64 total)
{
	struct fr_govern_state *s;
	u32 i;

	for (i = 0; i < g->cnt; i++) {
		s = &g->group[i];
		if (s->since_up < SOON && ++s->since_up == SOON)
			s->need = FR_GOVERN_CALM;
		if (!s->level)
			continue;
		if ((total + price(s, &now[i])) * 100 <= (u64)g->budget * FR_GOVERN_ROOM)
			s->calm++;
		else
			s->calm = 0;
	}
}

/* The group that has waited longest with room for it, or -1. */
static int calmest(const struct fr_govern *g)
{
	int best = -1;
	u32 i;

	for (i = 0; i < g->cnt; i++)
		if (g->group[i].level && g->group[i].calm >= g->group[i].need &&
		    (best < 0 || g->group[i].calm > g->group[best].calm))
			best = i;
	return best;
}

struct fr_govern_step fr_govern_measure(struct fr_govern *g, const struct fr_govern_group *now)
{
	struct fr_govern_step step = {};
	u64 total = 0, open = 0;
	u32 i;
	int nr;

	for (i = 0; i < g->cnt; i++) {
		total += now[i].cost;
		open += is_off(&g->group[i], &now[i]) ? 0 : now[i].cost;
	}
	step.cost = total < ~0u ? total : ~0u;
	count_calm(g, now, total);
	if (total > g->budget) {
		nr = open > g->budget ? costliest(g, now) : -1;
		step.what = nr < 0 ? FR_GOVERN_stuck : FR_GOVERN_down;
		if (nr >= 0)
			go_down(&g->group[nr], &now[nr]);
	} else {
		nr = calmest(g);
		step.what = nr < 0 ? FR_GOVERN_nothing : FR_GOVERN_up;
		if (nr >= 0)
			govern_go_up(&g->group[nr]);
	}
	if (nr >= 0) {
		step.group = nr;
		step.level = g->group[nr].level;
	}
	return step;
}

void fr_govern_refuse(struct fr_govern *g, u32 group)
{
	struct fr_govern_state *s = &g->group[group];

	s->level++;
	s->since_up = ~0u;
	s->need = FR_GOVERN_CALM_MAX;
}
