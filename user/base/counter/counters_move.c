/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* counters_move: what counts did in a time, and which of them stand out. */
#include <sys/types.h>

#include "base/counter/counter.h"
#include "base/counter/counters.h"

#define TIMES	 3.0   /* a rate that much higher than before is notable */
#define NEW	 100.0 /* there was nothing before */
#define WORK_CNT 100u  /* of work, so much more is needed than of trouble */

/* The last point at or before ts; -1: there is none. */
static ssize_t move_point(const struct fr_counter_series *s, u64 ts)
{
	const struct fr_counter_point *p = s->point.at;
	ssize_t at = s->point.cnt;

	while (at && p[at - 1].ts > ts)
		at--;
	return at - 1;
}

bool fr_counter_moved(const struct fr_counter_series *s, u64 from_ns, u64 to_ns, struct fr_counter_move *out)
{
	const struct fr_counter_point *p = s->point.at;
	ssize_t from = move_point(s, from_ns), to = move_point(s, to_ns), i;

	from = from < 0 ? 0 : from;
	if (s->kind != FR_COUNTER_COUNT || to <= from)
		return false;
	for (i = from + 1; i <= to; i++)
		if (p[i].value < p[i - 1].value)
			return false;
	*out = (struct fr_counter_move){p[to].value - p[from].value, p[from].ts, p[to].ts};
	return true;
}

/* The least that is worth a line, of a unit, in ten seconds. */
static u64 move_least(const struct fr_counter *c)
{
	if (!c)
		return 1;
	switch (c->unit) {
	case FR_COUNTER_US:
		return 100000;
	case FR_COUNTER_BYTES:
		return 16u << 20;
	case FR_COUNTER_PAGES:
		return 256;
	default:
		return 1;
	}
}

/* The moment's reading is taken a little after it. */
static u64 move_end(const struct fr_counter_series *s, u64 at_ns)
{
	const struct fr_counter_point *p = s->point.at;
	ssize_t at = move_point(s, at_ns);

	if (at >= 0 && p[at].ts == at_ns)
		return at_ns;
	return at + 1 < (ssize_t)s->point.cnt ? p[at + 1].ts : at >= 0 ? p[at].ts : 0;
}

static double move_rate(const struct fr_counter_move *m)
{
	return (double)m->delta / (m->to_ns - m->from_ns);
}

/* Does it stand out? Then how much. */
static bool move_is_notable(const struct fr_counter_series *s, u64 at_ns, struct fr_counter_notable *n)
{
	const struct fr_counter *c = fr_counter_find(s->name);
	bool trouble = c && c->trouble;
	u64 end_ns = move_end(s, at_ns);

	*n = (struct fr_counter_notable){.series = s};
	if (end_ns < FR_COUNTERS_LAST_NS || !fr_counter_moved(s, end_ns - FR_COUNTERS_LAST_NS, end_ns, &n->last))
		return false;
	if (n->last.delta < move_least(c) * (trouble ? 1 : WORK_CNT))
		return false;
	if (!fr_counter_moved(s, 0, n->last.from_ns, &n->before))
		n->before = (struct fr_counter_move){};
	if (n->before.to_ns && n->before.delta)
		n->times = move_rate(&n->last) / move_rate(&n->before);
	if (n->before.to_ns ? n->before.delta && n->times < TIMES : !trouble)
		return false;
	n->weight = (trouble ? 2 * NEW : 0) + (n->times && n->times < NEW ? n->times : NEW);
	return true;
}

u32 fr_counters_notable(const struct fr_counters *c, u64 at_ns, struct fr_counter_notable *out, u32 most)
{
	const struct fr_counter_series *s = c->series.at;
	struct fr_counter_notable n;
	u32 cnt = 0, at;
	size_t i;

	for (i = 0; i < c->series.cnt; i++) {
		if (!move_is_notable(&s[i], at_ns, &n))
			continue;
		for (at = cnt; at && out[at - 1].weight < n.weight; at--)
			if (at < most)
				out[at] = out[at - 1];
		if (at < most)
			out[at] = n;
		cnt += cnt < most;
	}
	return cnt;
}
