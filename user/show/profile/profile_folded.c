/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* profile_folded: one line per stack with its samples, as export --to folded does, and one for samples without a stack. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/profile/blocked.h"
#include "base/set/foldset.h"
#include "base/text/folded.h"
#include "show/profile/profile.h"

static void add_part(struct fr_folded *l, const char *s)
{
	fr_folded_add(l, s, strlen(s));
}

/* A sample counts as one; time blocked is in ns, as that of records is. */
static u64 folded_unit(const struct fr_profile *p)
{
	return p->ask->blocked ? FR_BLOCKED_UNIT_NS : 1;
}

static int folded_add_stack(struct fr_profile *p, struct fr_foldset *now, struct fr_folded *l, const struct fr_profile_stack *s)
{
	u32 i;

	l->len = 0;
	add_part(l, *s->key->comm ? s->key->comm : "[unknown]");
	for (i = 0; i < s->cnt; i++)
		add_part(l, p->func[s->func[i]].name);
	return s->hits[FR_PROFILE_NOW] ? fr_foldset_add(now, l->text, l->len, s->hits[FR_PROFILE_NOW] * folded_unit(p)) : 0;
}

int fr_profile_folded(struct fr_profile *p)
{
	static const char other[] = "[other]";
	struct fr_folded *l = malloc(sizeof(*l));
	struct fr_foldset *now = fr_foldset_new();
	int err = l && now ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; i < p->stack_cnt && !err; i++)
		err = folded_add_stack(p, now, l, &p->stack[i]);
	if (!err && p->sum[FR_PROFILE_NOW].other)
		err = fr_foldset_add(now, other, strlen(other), p->sum[FR_PROFILE_NOW].other * folded_unit(p));
	if (!err)
		fr_foldset_take(now, fr_folded_put, p->out);
	fr_foldset_free(now);
	free(l);
	return err;
}
