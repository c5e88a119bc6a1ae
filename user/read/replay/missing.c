/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/replay/missing.h"

#include <errno.h>
#include <stdlib.h>

#include "read/replay/replay_int.h"

struct boot {
	struct fr_gaps gaps;
	struct fr_gap_list damage;
	size_t gap_at, damage_at; /* fr_missing_next() has returned those before */
	u64 last_ns;		  /* the last end of all of them */
	u64 begin_ns, end_ns;	  /* the window */
};

struct fr_missing {
	const struct fr_replay *replay;
	u8 tier; /* whose accounts are looked at */
	struct boot *boot;
};

/* ---- finding them ---- */

static void missing_extend(struct boot *b, const struct fr_gap_list *l)
{
	size_t i;

	for (i = 0; i < l->cnt; i++)
		b->last_ns = l->g[i].until_ns > b->last_ns ? l->g[i].until_ns : b->last_ns;
}

static int missing_find_all(struct fr_missing *m)
{
	const struct fr_replay *r = m->replay;
	u32 i;
	int err = 0;

	for (i = 0; i < r->boot_cnt; i++)
		m->boot[i].gaps = (struct fr_gaps){.tier = m->tier, .ends = true};
	for (i = 0; i < r->file_cnt && !err; i++) {
		struct boot *b = &m->boot[r->file[i].boot];

		fr_replay_file_window(r, i, &b->begin_ns, &b->end_ns);
		err = fr_gaps_add(&b->gaps, r->file[i].snap);
	}
	for (i = 0; i < r->boot_cnt && !err; i++) {
		err = fr_gaps_ready(&m->boot[i].gaps);
		missing_extend(&m->boot[i], &m->boot[i].gaps.gap);
	}
	return err;
}

/* The first tier that is shown: the main one, if nothing else was asked for. */
static u8 first_tier(const struct fr_replay *r)
{
	u8 tier = FR_TIER_MAIN;

	while (tier < FR_TIER_CNT - 1 && !fr_replay_is_shown(r, tier))
		tier++;
	return tier;
}

int fr_missing_new(const struct fr_replay *r, struct fr_missing **out)
{
	struct fr_missing *m = calloc(1, sizeof(*m));
	int err = -ENOMEM;

	if (!m)
		return err;
	m->replay = r;
	m->tier = first_tier(r);
	m->boot = calloc(r->boot_cnt, sizeof(*m->boot));
	if (m->boot)
		err = missing_find_all(m);
	if (err)
		fr_missing_free(m);
	else
		*out = m;
	return err;
}

void fr_missing_free(struct fr_missing *m)
{
	u32 i;

	if (!m)
		return;
	for (i = 0; m->boot && i < m->replay->boot_cnt; i++) {
		fr_gaps_clear(&m->boot[i].gaps);
		free(m->boot[i].damage.g);
	}
	free(m->boot);
	free(m);
}

/* ---- damage ---- */

/* Two files, or two tiers, may have lost the same events. */
static void cut_known(const struct fr_gap_list *l, struct fr_gap *gap)
{
	size_t i;

	for (i = 0; i < l->cnt; i++)
		if (l->g[i].cpu == gap->cpu && l->g[i].until_ns > gap->since_ns && l->g[i].since_ns <= gap->until_ns)
			gap->since_ns = l->g[i].until_ns;
}

/* Move the last one to its place by since_ns, behind those that have been returned. */
static void sort_last(struct fr_gap_list *l, size_t from)
{
	size_t i = l->cnt - 1;
	struct fr_gap last = l->g[i];

	for (; i > from && l->g[i - 1].since_ns > last.since_ns; i--)
		l->g[i] = l->g[i - 1];
	l->g[i] = last;
}

/* Lost stacks are not missing events, unless they are what is shown. */
int fr_missing_add(struct fr_missing *m, const struct fr_replay_lost *lost)
{
	struct fr_gap gap = {lost->cpu, FR_HOLE_damaged, lost->since_ns, lost->until_ns};
	struct boot *b = &m->boot[lost->boot];
	size_t cnt = b->damage.cnt;
	int err;

	if (!fr_replay_is_shown(m->replay, lost->tier) || (lost->tier == FR_TIER_STACK && lost->tier != m->tier))
		return 0;
	cut_known(&b->damage, &gap);
	err = fr_gap_list_add(&b->damage, gap);
	if (b->damage.cnt > cnt)
		sort_last(&b->damage, b->damage_at);
	missing_extend(b, &b->damage);
	return err;
}

/* ---- queries ---- */

const struct fr_gap_list *fr_missing_gaps(const struct fr_missing *m, u32 boot)
{
	return &m->boot[boot].gaps.gap;
}

const struct fr_gap_list *fr_missing_damage(const struct fr_missing *m, u32 boot)
{
	return &m->boot[boot].damage;
}

static bool missing_is_between(const struct fr_gap *g, u64 from_ns, u64 to_ns)
{
	return g->until_ns > from_ns && g->since_ns < to_ns;
}

static bool missing_has_any(const struct fr_gap_list *l, u64 from_ns, u64 to_ns)
{
	size_t i;

	for (i = 0; i < l->cnt; i++)
		if (missing_is_between(&l->g[i], from_ns, to_ns))
			return true;
	return false;
}

bool fr_missing_any(const struct fr_missing *m, u32 boot, u64 from_ns, u64 to_ns)
{
	const struct boot *b = &m->boot[boot];

	return from_ns < b->last_ns &&
	       (missing_has_any(&b->gaps.gap, from_ns, to_ns) || missing_has_any(&b->damage, from_ns, to_ns));
}

/* The gaps in a window. */
static size_t missing_count(const struct boot *b, const struct fr_gap_list *l)
{
	size_t cnt = 0, i;

	for (i = 0; i < l->cnt; i++)
		cnt += l->g[i].why != FR_GAP_before && l->g[i].why != FR_GAP_after &&
		       missing_is_between(&l->g[i], b->begin_ns, b->end_ns);
	return cnt;
}

size_t fr_missing_cnt(const struct fr_missing *m)
{
	size_t cnt = 0;
	u32 i;

	for (i = 0; i < m->replay->boot_cnt; i++)
		cnt += missing_count(&m->boot[i], fr_missing_gaps(m, i)) + missing_count(&m->boot[i], fr_missing_damage(m, i));
	return cnt;
}

/* ---- one after the other ---- */

/* The next one of a list that is in the window, NULL: none. */
static const struct fr_gap *head(const struct boot *b, const struct fr_gap_list *l, size_t *at)
{
	while (*at < l->cnt && !missing_is_between(&l->g[*at], b->begin_ns, b->end_ns))
		++*at;
	return *at < l->cnt ? &l->g[*at] : NULL;
}

/* What is missing from the very beginning comes first. */
static u64 missing_key_of(const struct fr_missing *m, u32 boot, const struct fr_gap *g)
{
	return g->since_ns ? g->since_ns + m->replay->boot[boot].shift_ns : 0;
}

const struct fr_gap *fr_missing_next(struct fr_missing *m, u64 key, u32 *boot)
{
	const struct fr_gap *best = NULL;
	size_t *at = NULL;
	u32 i, j;

	for (i = 0; i < m->replay->boot_cnt; i++) {
		struct boot *b = &m->boot[i];
		const struct fr_gap_list *list[] = {&b->gaps.gap, &b->damage};
		size_t *place[] = {&b->gap_at, &b->damage_at};

		for (j = 0; j < 2; j++) {
			const struct fr_gap *g = head(b, list[j], place[j]);

			if (!g || missing_key_of(m, i, g) >= key)
				continue;
			key = missing_key_of(m, i, g);
			best = g;
			at = place[j];
			*boot = i;
		}
	}
	if (at)
		++*at;
	return best;
}
