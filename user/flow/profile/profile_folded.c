/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* profile_folded: one line per stack with its samples, as export --to folded does, and one for samples without a stack. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow/profile/profile.h"
#include "pure/set/foldset.h"

#define LINE_SZ 65536u

struct line {
	struct fr_foldset *now;
	size_t len;
	char text[LINE_SZ];
};

static void add_part(struct line *l, const char *s)
{
	if (l->len && l->len < LINE_SZ)
		l->text[l->len++] = ';';
	for (; *s && l->len < LINE_SZ; s++) {
		u8 c = *s;

		l->text[l->len++] = c == ';' ? ':' : c < ' ' || c == 0x7f ? '?' : c;
	}
}

static int add_stack(struct fr_profile *p, struct line *l, const struct fr_profile_stack *s)
{
	u32 i;

	l->len = 0;
	add_part(l, *s->key->comm ? s->key->comm : "[unknown]");
	for (i = 0; i < s->cnt; i++)
		add_part(l, p->func[s->func[i]].name);
	return s->hits[FR_PROFILE_NOW] ? fr_foldset_add(l->now, l->text, l->len, s->hits[FR_PROFILE_NOW]) : 0;
}

static void put_line(void *arg, const char *text, size_t sz, u64 weight)
{
	struct fr_out *o = arg;

	fr_out_mem(o, text, sz);
	fr_out_char(o, ' ');
	fr_out_u64(o, weight);
	fr_out_char(o, '\n');
}

int fr_profile_folded(struct fr_profile *p)
{
	static const char other[] = "[other]";
	struct line *l = calloc(1, sizeof(*l));
	int err = 0;
	u32 i;

	if (l)
		l->now = fr_foldset_new();
	if (!l || !l->now)
		err = -ENOMEM;
	for (i = 0; i < p->stack_cnt && !err; i++)
		err = add_stack(p, l, &p->stack[i]);
	if (!err && p->sum[FR_PROFILE_NOW].other)
		err = fr_foldset_add(l->now, other, strlen(other), p->sum[FR_PROFILE_NOW].other);
	if (!err)
		fr_foldset_take(l->now, put_line, p->out);
	if (l)
		fr_foldset_free(l->now);
	free(l);
	return err;
}
