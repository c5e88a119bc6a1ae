/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/set/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void fr_spans_free(struct fr_spans *s)
{
	free(s->span);
	*s = (struct fr_spans){};
}

/* Replace spans [from, to) by with[0..cnt). */
static int spans_replace(struct fr_spans *s, size_t from, size_t to, const struct fr_span *with, size_t cnt)
{
	size_t after = s->cnt - (to - from) + cnt;

	if (after > s->cap) {
		size_t cap = after * 2 + 8;
		struct fr_span *p = realloc(s->span, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		s->span = p;
		s->cap = cap;
	}
	memmove(s->span + from + cnt, s->span + to, (s->cnt - to) * sizeof(*s->span));
	memcpy(s->span + from, with, cnt * sizeof(*with));
	s->cnt = after;
	return 0;
}

int fr_spans_add(struct fr_spans *s, u64 first, u64 last)
{
	struct fr_span all = {first, last};
	size_t from = 0, to;

	if (last < first)
		return 0;
	/* spans that touch become one */
	while (from < s->cnt && s->span[from].last < first && first - s->span[from].last > 1)
		from++;
	for (to = from; to < s->cnt && (s->span[to].first <= last || s->span[to].first - last == 1); to++) {
		all.first = s->span[to].first < all.first ? s->span[to].first : all.first;
		all.last = s->span[to].last > all.last ? s->span[to].last : all.last;
	}
	return spans_replace(s, from, to, &all, 1);
}

int fr_spans_cut(struct fr_spans *s, u64 first, u64 last)
{
	struct fr_span rest[2];
	size_t from = 0, to, cnt = 0;

	if (last < first)
		return 0;
	while (from < s->cnt && s->span[from].last < first)
		from++;
	for (to = from; to < s->cnt && s->span[to].first <= last; to++)
		;
	if (from == to)
		return 0;
	if (s->span[from].first < first)
		rest[cnt++] = (struct fr_span){s->span[from].first, first - 1};
	if (s->span[to - 1].last > last)
		rest[cnt++] = (struct fr_span){last + 1, s->span[to - 1].last};
	return spans_replace(s, from, to, rest, cnt);
}
