/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/set/foldset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/hash.h"
#include "base/set/hashed.h"
#include "base/set/vec.h"

struct fold {
	u64 weight;
	size_t sz;
	char *text;
};

struct fr_foldset {
	struct fr_hashed by_text; /* index in fold + 1 */
	struct fold *fold;
	u32 cnt;
	size_t texts_sz; /* with malloc()'s overhead */
};

struct fr_foldset *fr_foldset_new(void)
{
	return calloc(1, sizeof(struct fr_foldset));
}

static void foldset_forget(struct fr_foldset *s)
{
	while (s->cnt)
		free(s->fold[--s->cnt].text);
	free(s->fold);
	free(s->by_text.slot);
	*s = (struct fr_foldset){};
}

void fr_foldset_free(struct fr_foldset *s)
{
	if (s)
		foldset_forget(s);
	free(s);
}

static bool foldset_is(const void *of, u32 nr, const void *key)
{
	const struct fold *f = &((const struct fr_foldset *)of)->fold[nr - 1], *want = key;

	return f->sz == want->sz && !memcmp(f->text, want->text, f->sz);
}

static int foldset_append(struct fr_foldset *s, const struct fold *like)
{
	struct fold *to = fr_vec_more(&s->fold, s->cnt);
	char *text = to ? malloc(like->sz + !like->sz) : NULL;

	if (!text)
		return -ENOMEM;
	*to = (struct fold){.sz = like->sz, .text = memcpy(text, like->text, like->sz)};
	s->cnt++;
	s->texts_sz += like->sz + 16;
	return 0;
}

int fr_foldset_add(struct fr_foldset *s, const char *text, size_t sz, u64 weight)
{
	const struct fold want = {.sz = sz, .text = (char *)text};
	u32 *nr = fr_hashed_at(&s->by_text, fr_hash(FR_HASH_SEED, text, sz), foldset_is, s, &want);

	if (!nr || (!*nr && foldset_append(s, &want)))
		return -ENOMEM;
	if (!*nr)
		*nr = s->cnt;
	s->fold[*nr - 1].weight += weight;
	return 0;
}

size_t fr_foldset_size(const struct fr_foldset *s)
{
	return s->by_text.cap * sizeof(*s->by_text.slot) + s->cnt * sizeof(*s->fold) + s->texts_sz;
}

static int foldset_by_text(const void *a, const void *b)
{
	const struct fold *x = a, *y = b;
	int order = memcmp(x->text, y->text, x->sz < y->sz ? x->sz : y->sz);

	return order ? order : x->sz < y->sz ? -1 : x->sz > y->sz;
}

void fr_foldset_take(struct fr_foldset *s, void (*put)(void *arg, const char *text, size_t sz, u64 weight), void *arg)
{
	u32 i;

	if (s->cnt)
		qsort(s->fold, s->cnt, sizeof(*s->fold), foldset_by_text);
	for (i = 0; i < s->cnt; i++)
		put(arg, s->fold[i].text, s->fold[i].sz, s->fold[i].weight);
	foldset_forget(s);
}
