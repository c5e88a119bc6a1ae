/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/culprits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"

#define SHOWN 10u

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

/* ---- what is shown ---- */

/* clang-format off */
#define CULPRIT(member, name, unit, meaning, ...) FR_COLUMN(struct fr_culprit, member, name, unit, meaning, __VA_ARGS__)
/* clang-format on */

static const struct fr_column culprit_columns[] = {
	CULPRIT(name, "who", TEXT, "what ran longest in a holdoff: `hog[27529]`, `softirq RCU`",
		FR_TEXT(4, NULL, 0, .lead = "  ")),
	CULPRIT(cnt, "holdoffs", COUNT, "those holdoffs", FR_TEXT(1, NULL, 8, .plain = true)),
	CULPRIT(sum_ns, "sum_ns", NS, "their length in all", FR_TEXT(2, NULL, 9, .lead = "  ", .none = "0 ns")),
	CULPRIT(max_ns, "max_ns", NS, "and the longest one's",
		FR_TEXT(3, NULL, 9, .lead = " in all, longest ", .none = "0 ns")),
	{},
};

static const struct fr_table culprit_kind = {"culprit", "What held off others. At most 256 of them are kept.", culprit_columns};

static const void *culprits_one(const struct fr_at *at, u32 i)
{
	const struct fr_culprits *c = at->rec;

	return i < c->cnt ? &c->of[i] : NULL;
}

static const struct fr_column culprits_columns[] = {
	FR_LIST(culprits_one, "due_to", &culprit_kind, "what held off others; what did longest comes first"),
	FR_COLUMN(struct fr_culprits, other_cnt, "due_to_others", COUNT, "holdoffs due to what found no room there"),
	{},
};

const struct fr_table fr_culprits_kind = {"culprits", "All that held off others.", culprits_columns};

void fr_culprits_text(const struct fr_culprits *c, struct fr_out *o)
{
	struct fr_layout l;
	u32 i;

	fr_layout_init(&l, &culprit_kind, ~0u);
	if (c->cnt)
		fr_out_str(o, "\n  due to\n");
	for (i = 0; i < c->cnt && i < SHOWN; i++)
		fr_layout_row(&l, o, c, &c->of[i]);
	if (c->cnt > SHOWN)
		fr_out_printf(o, "            and %u other%s", c->cnt - SHOWN, fr_plural(c->cnt - SHOWN));
	if (c->other_cnt)
		fr_out_printf(o, "; %llu holdoff%s due to still more", c->other_cnt, fr_plural(c->other_cnt));
	if (c->cnt > SHOWN)
		fr_out_char(o, '\n');
}
