/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/culprits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/escape.h"
#include "base/text/units.h"

#define SHOWN 10u
#define NS_SZ 32u

/* NULL: it is new, and there is no room. */
static struct fr_culprit *culprits_find(struct fr_culprits *c, const char *name)
{
	u32 i;

	for (i = 0; i < c->cnt; i++)
		if (!strncmp(c->of[i].name, name, FR_CULPRIT_NAME_SZ - 1))
			return &c->of[i];
	if (c->cnt == FR_CULPRIT_MAX)
		return NULL;
	snprintf(c->of[c->cnt].name, FR_CULPRIT_NAME_SZ, "%s", name);
	return &c->of[c->cnt++];
}

void fr_culprits_add(struct fr_culprits *c, const char *name, u64 length_ns)
{
	struct fr_culprit *who = culprits_find(c, name);

	if (!who) {
		c->other_cnt++;
		return;
	}
	who->cnt++;
	who->sum_ns += length_ns;
	who->max_ns = length_ns > who->max_ns ? length_ns : who->max_ns;
}

static int by_sum(const void *a, const void *b)
{
	const struct fr_culprit *x = a, *y = b;

	return x->sum_ns < y->sum_ns ? 1 : x->sum_ns > y->sum_ns ? -1 : strcmp(x->name, y->name);
}

void fr_culprits_sort(struct fr_culprits *c)
{
	qsort(c->of, c->cnt, sizeof(c->of[0]), by_sum);
}

void fr_culprits_text(const struct fr_culprits *c, struct fr_out *o)
{
	char sum[NS_SZ], max[NS_SZ];
	u32 i;

	if (c->cnt)
		fr_out_str(o, "\n  due to\n");
	for (i = 0; i < c->cnt && i < SHOWN; i++) {
		fr_out_printf(o, "  %8llu  %9s in all, longest %9s  ", c->of[i].cnt,
			      fr_show_duration(c->of[i].sum_ns, sum, NS_SZ), fr_show_duration(c->of[i].max_ns, max, NS_SZ));
		fr_escape_text(o, c->of[i].name, strlen(c->of[i].name));
		fr_out_char(o, '\n');
	}
	if (c->cnt > SHOWN)
		fr_out_printf(o, "            and %u other%s", c->cnt - SHOWN, fr_plural(c->cnt - SHOWN));
	if (c->other_cnt)
		fr_out_printf(o, "; %llu holdoff%s due to still more", c->other_cnt, fr_plural(c->other_cnt));
	if (c->cnt > SHOWN)
		fr_out_char(o, '\n');
}

void fr_culprits_json(const struct fr_culprits *c, struct fr_jsonw *j)
{
	u32 i;

	fr_jsonw_open(j, "due_to", '[');
	for (i = 0; i < c->cnt; i++) {
		fr_jsonw_open(j, NULL, '{');
		fr_jsonw_text(j, "who", c->of[i].name);
		fr_jsonw_u64(j, "holdoffs", c->of[i].cnt);
		fr_jsonw_u64(j, "sum_ns", c->of[i].sum_ns);
		fr_jsonw_u64(j, "max_ns", c->of[i].max_ns);
		fr_jsonw_close(j, '}');
	}
	fr_jsonw_close(j, ']');
	fr_jsonw_u64(j, "due_to_others", c->other_cnt);
}
