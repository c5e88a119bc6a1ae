/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/set/foldset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/hash.h"

struct entry {
	u64 hash;
	u64 weight;
	size_t sz;
	char text[];
};

struct fr_foldset {
	struct entry **slot; /* cap is a power of two, at most half are used */
	size_t cnt, cap, size;
};

struct fr_foldset *fr_foldset_new(void)
{
	return calloc(1, sizeof(struct fr_foldset));
}

static void foldset_forget(struct fr_foldset *s)
{
	size_t i;

	for (i = 0; i < s->cap; i++)
		free(s->slot[i]);
	free(s->slot);
	*s = (struct fr_foldset){0};
}

void fr_foldset_free(struct fr_foldset *s)
{
	if (s)
		foldset_forget(s);
	free(s);
}

/* The slot of a text: that of its entry, or the one where it belongs. */
static struct entry **foldset_find(struct entry **slot, size_t cap, u64 hash, const char *text, size_t sz)
{
	size_t i = (hash ^ hash >> 32) & (cap - 1);

	while (slot[i] && (slot[i]->hash != hash || slot[i]->sz != sz || memcmp(slot[i]->text, text, sz)))
		i = (i + 1) & (cap - 1);
	return &slot[i];
}

static int foldset_grow(struct fr_foldset *s)
{
	size_t cap = s->cap ? s->cap * 2 : 1024, i;
	struct entry **slot;

	if (s->cnt * 2 < s->cap)
		return 0;
	slot = calloc(cap, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (i = 0; i < s->cap; i++) {
		if (s->slot[i])
			*foldset_find(slot, cap, s->slot[i]->hash, s->slot[i]->text, s->slot[i]->sz) = s->slot[i];
	}
	free(s->slot);
	s->size += (cap - s->cap) * sizeof(*slot);
	s->slot = slot;
	s->cap = cap;
	return 0;
}

int fr_foldset_add(struct fr_foldset *s, const char *text, size_t sz, u64 weight)
{
	u64 hash = fr_hash(FR_HASH_SEED, text, sz);
	struct entry **at, *e;

	if (foldset_grow(s))
		return -ENOMEM;
	at = foldset_find(s->slot, s->cap, hash, text, sz);
	if (!*at) {
		e = malloc(sizeof(*e) + sz);
		if (!e)
			return -ENOMEM;
		*e = (struct entry){.hash = hash, .sz = sz};
		memcpy(e->text, text, sz);
		*at = e;
		s->cnt++;
		s->size += sizeof(*e) + sz + 16; /* and malloc()'s overhead */
	}
	(*at)->weight += weight;
	return 0;
}

size_t fr_foldset_size(const struct fr_foldset *s)
{
	return s->size;
}

static int foldset_by_text(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
	int order = memcmp(x->text, y->text, x->sz < y->sz ? x->sz : y->sz);

	return order ? order : x->sz < y->sz ? -1 : x->sz > y->sz;
}

void fr_foldset_take(struct fr_foldset *s, void (*put)(void *arg, const char *text, size_t sz, u64 weight), void *arg)
{
	size_t i, cnt = 0;

	for (i = 0; i < s->cap; i++) {
		struct entry *e = s->slot[i];

		s->slot[i] = NULL;
		if (e)
			s->slot[cnt++] = e;
	}
	if (cnt)
		qsort(s->slot, cnt, sizeof(*s->slot), foldset_by_text);
	for (i = 0; i < cnt; i++)
		put(arg, s->slot[i]->text, s->slot[i]->sz, s->slot[i]->weight);
	foldset_forget(s);
}
