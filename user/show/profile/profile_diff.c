/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * profile_diff: what became hotter or cooler than before. Shares are of all CPUs' time, including idle time, so that a machine
 * that just has more to do looks different from before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/escape.h"
#include "show/profile/profile_page.h"

#define STACK_TOP 3u
#define LEAST	  0.1 /* percent of all CPUs' time: less is noise */

static double share(const struct fr_profile *p, const u64 hits[FR_PROFILE_WINDOWS], u32 w)
{
	return fr_profile_percent(hits[w], p->sum[w].cnt);
}

static double profile_diff_change(const struct fr_profile *p, const u64 hits[FR_PROFILE_WINDOWS])
{
	return share(p, hits, FR_PROFILE_NOW) - share(p, hits, FR_PROFILE_BEFORE);
}

struct entry {
	double change;
	u32 nr;
};

static int hotter_first(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->change != y->change ? (x->change < y->change ? 1 : -1) : (int)(x->nr > y->nr) - (int)(x->nr < y->nr);
}

static struct entry *funcs_by_change(const struct fr_profile *p)
{
	struct entry *e = calloc(p->func_cnt + 1, sizeof(*e));
	u32 i;

	if (!e)
		fr_out_fail(p->out, -ENOMEM);
	for (i = 0; e && i < p->func_cnt; i++)
		e[i] = (struct entry){profile_diff_change(p, p->func[i].self), i};
	if (e && p->func_cnt)
		qsort(e, p->func_cnt, sizeof(*e), hotter_first);
	return e;
}

static void profile_diff_put_func(struct fr_profile *p, const struct fr_profile_func *f, double by)
{
	struct fr_out *o = p->out;

	fr_out_paint(o, by > 0 ? FR_PAINT_RED : FR_PAINT_GREEN);
	fr_out_printf(o, "  %+6.1f", by);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, "   %5.1f%% -> %5.1f%%   ", share(p, f->self, FR_PROFILE_BEFORE), share(p, f->self, FR_PROFILE_NOW));
	fr_profile_name(o, f, fr_profile_width(p) - 32);
	fr_out_char(o, '\n');
}

/* What had no room for its stacks is in no function: a function may owe its change to nothing else. */
static void put_unknown(struct fr_profile *p, u32 w, const char *when)
{
	double unknown = fr_profile_percent(p->sum[w].stackless + p->sum[w].other, p->sum[w].cnt);

	if (unknown >= LEAST)
		fr_out_printf(p->out, "  %.1f%% of the time %s has no stacks: a change of less than that may be none\n",
			      unknown, when);
}

static void profile_diff_put_funcs(struct fr_profile *p)
{
	struct entry *e = funcs_by_change(p);
	u32 i;

	if (!e)
		return;
	fr_profile_title(p->out, "Hotter functions");
	put_unknown(p, FR_PROFILE_BEFORE, "before");
	for (i = 0; i < p->func_cnt && i < p->ask->top && e[i].change >= LEAST; i++)
		profile_diff_put_func(p, &p->func[e[i].nr], e[i].change);
	if (!i)
		fr_out_str(p->out, "  none\n");
	fr_profile_title(p->out, "Cooler functions");
	put_unknown(p, FR_PROFILE_NOW, "now");
	for (i = 0; i < p->func_cnt && i < (p->ask->top + 1) / 2 && e[p->func_cnt - 1 - i].change <= -LEAST; i++)
		profile_diff_put_func(p, &p->func[e[p->func_cnt - 1 - i].nr], e[p->func_cnt - 1 - i].change);
	if (!i)
		fr_out_str(p->out, "  none\n");
	free(e);
}

static void profile_diff_put_stacks(struct fr_profile *p)
{
	struct entry *e = calloc(p->stack_cnt + 1, sizeof(*e));
	const struct fr_profile_stack *s;
	struct fr_out *o = p->out;
	u32 i;

	if (!e)
		fr_out_fail(o, -ENOMEM);
	for (i = 0; e && i < p->stack_cnt; i++)
		e[i] = (struct entry){p->stack[i].cnt ? profile_diff_change(p, p->stack[i].hits) : 0, i};
	if (e && p->stack_cnt)
		qsort(e, p->stack_cnt, sizeof(*e), hotter_first);
	for (i = 0; e && i < p->stack_cnt && i < STACK_TOP && e[i].change >= LEAST; i++) {
		if (!i)
			fr_profile_title(o, "Hotter stacks, innermost first");
		s = &p->stack[e[i].nr];
		fr_out_printf(o, "  %+6.1f  ", e[i].change);
		fr_escape_text(o, s->key->comm, strlen(s->key->comm));
		if (s->key->pid)
			fr_out_printf(o, "/%u", s->key->pid);
		fr_out_printf(o, ", %s\n", fr_profile_state(s->key->state));
		fr_profile_put_stack(p, s);
	}
	free(e);
}

void fr_profile_diff(struct fr_profile *p)
{
	struct fr_out *o = p->out;

	fr_out_paint(o, FR_PAINT_BOLD);
	fr_out_str(o, "profile of ");
	fr_escape_text(o, p->ask->name, strlen(p->ask->name));
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_str(o, ": percent of all CPUs' time, before -> now\n  now:    the last ");
	fr_profile_window(p, &p->sum[FR_PROFILE_NOW]);
	if (!p->sum[FR_PROFILE_BEFORE].cnt) {
		fr_out_str(o, "  before: nothing was counted then\n");
		return;
	}
	fr_out_str(o, "  before: ");
	fr_profile_window(p, &p->sum[FR_PROFILE_BEFORE]);
	profile_diff_put_funcs(p);
	profile_diff_put_stacks(p);
}
