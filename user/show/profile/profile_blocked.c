/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* profile_blocked: where tasks were blocked in the hour, as text: the longest sums of a program and its stacks first. */
#include <stdlib.h>
#include <string.h>

#include "base/profile/blocked.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "read/replay/summary.h"
#include "read/snapfile/snapfile.h"
#include "show/profile/profile_page.h"

#define FRAMES_SHOWN 12u

static u64 blocked_ns(u64 hits)
{
	return hits * FR_BLOCKED_UNIT_NS;
}

static int blocked_longest_first(const void *a, const void *b)
{
	const struct fr_profile_stack *x = a, *y = b;

	if (x->hits[FR_PROFILE_NOW] != y->hits[FR_PROFILE_NOW])
		return x->hits[FR_PROFILE_NOW] < y->hits[FR_PROFILE_NOW] ? 1 : -1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static void blocked_put_head(struct fr_profile *p)
{
	const struct fr_profile_sum *s = &p->sum[FR_PROFILE_NOW];
	char text[32], count[32];
	u64 missing = fr_profile_unrecorded(p->snap);
	s64 min_ns = -1;

	fr_out_str(p->out, "Blocked: ");
	fr_escape_text(p->out, p->ask->name, strlen(p->ask->name));
	fr_out_printf(p->out, ", the last %s, as the recorder added it up\n",
		      fr_show_duration(s->end_ns - s->begin_ns, text, sizeof(text)));
	fr_out_printf(p->out, "%s wait%s", fr_show_count(s->expected, count, sizeof(count)), fr_plural(s->expected));
	if (fr_snap_fact_num(p->snap, "wait_min_ns", &min_ns))
		fr_out_printf(p->out, " of at least %s", fr_show_duration(min_ns, text, sizeof(text)));
	fr_out_printf(p->out, " that ended then, blocked for %s", fr_show_duration(blocked_ns(s->cnt), text, sizeof(text)));
	fr_out_str(p->out, "; shorter ones, and what still waits, are not in it, and of each an hour at most\n");
	if (missing)
		fr_out_printf(p->out, "%s longer one%s since the session began %s no record, and %s not in it\n",
			      fr_show_count(missing, count, sizeof(count)), fr_plural(missing), missing == 1 ? "has" : "have",
			      missing == 1 ? "is" : "are");
	if (s->stackless || s->other)
		fr_out_printf(p->out, "%s of it without stacks: these were not found, or had no room\n",
			      fr_show_duration(blocked_ns(s->stackless + s->other), text, sizeof(text)));
	if (s->lost)
		fr_out_printf(p->out, "%s more had no room\n", fr_show_duration(blocked_ns(s->lost), text, sizeof(text)));
	if (p->prof->nested)
		fr_out_printf(p->out, "%s wait%s since the session began %s overwritten before the recorder read %s\n",
			      fr_show_count(p->prof->nested, count, sizeof(count)), fr_plural(p->prof->nested),
			      p->prof->nested == 1 ? "was" : "were", p->prof->nested == 1 ? "it" : "them");
}

static void blocked_put_stack(struct fr_profile *p, const struct fr_profile_stack *s)
{
	char text[32];
	u32 i;

	fr_out_printf(p->out, "%11s  ", fr_show_duration(blocked_ns(s->hits[FR_PROFILE_NOW]), text, sizeof(text)));
	if (*s->key->comm)
		fr_escape_text(p->out, s->key->comm, strlen(s->key->comm));
	else
		fr_out_char(p->out, '?');
	fr_out_char(p->out, '\n');
	if (!s->cnt)
		return;
	fr_out_str(p->out, "             in ");
	for (i = 0; i < s->cnt && i < FRAMES_SHOWN; i++) {
		const char *name = p->func[s->func[s->cnt - 1 - i]].name;

		fr_out_str(p->out, i ? " < " : "");
		fr_escape_text(p->out, name, strlen(name));
	}
	fr_out_char(p->out, '\n');
}

void fr_profile_blocked(struct fr_profile *p)
{
	u32 cnt = 0, shown, i;

	blocked_put_head(p);
	if (p->stack_cnt)
		qsort(p->stack, p->stack_cnt, sizeof(*p->stack), blocked_longest_first);
	while (cnt < p->stack_cnt && p->stack[cnt].hits[FR_PROFILE_NOW])
		cnt++;
	shown = cnt < p->ask->top ? cnt : p->ask->top;
	if (!shown)
		return;
	fr_out_paint(p->out, FR_PAINT_DIM);
	fr_out_str(p->out, "\n    blocked  where\n");
	fr_out_paint(p->out, FR_PAINT_NONE);
	for (i = 0; i < shown; i++)
		blocked_put_stack(p, &p->stack[i]);
	if (shown < cnt)
		fr_out_printf(p->out, "%u of %u places: --top shows more\n", shown, cnt);
}
