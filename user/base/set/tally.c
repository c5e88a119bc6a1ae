/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/set/tally.h"

#include <stdlib.h>
#include <string.h>

#define CAP_MIN 64u

void fr_tally_free(struct fr_tally *t)
{
	free(t->rec);
	free(t->slot);
	*t = (struct fr_tally){.rec_sz = t->rec_sz};
}

static u64 key_at(const struct fr_tally *t, u32 i)
{
	return *(const u64 *)fr_tally_at(t, i);
}

/* The slot that holds the key, or the free one where it belongs. */
static u32 tally_slot_of(const struct fr_tally *t, u64 key)
{
	u64 hash = key * 0x9e3779b97f4a7c15ULL;
	u32 mask = t->slot_cap - 1, i = (hash ^ hash >> 32) & mask;

	while (t->slot[i] && key_at(t, t->slot[i] - 1) != key)
		i = (i + 1) & mask;
	return i;
}

u64 fr_tally_growth_sz(const struct fr_tally *t)
{
	u64 cap = t->cap ? t->cap * 2ULL : CAP_MIN;

	return t->cnt < t->cap ? 0 : (cap - t->cap) * t->rec_sz + cap * 2 * sizeof(*t->slot);
}

static int tally_grow(struct fr_tally *t)
{
	u32 cap = t->cap ? t->cap * 2 : CAP_MIN, i;
	char *rec = realloc(t->rec, cap * t->rec_sz);
	u32 *slot = calloc((size_t)cap * 2, sizeof(*slot));

	t->rec = rec ?: t->rec;
	if (!rec || !slot) {
		free(slot);
		return -1;
	}
	free(t->slot);
	t->slot = slot;
	t->cap = cap;
	t->slot_cap = cap * 2;
	for (i = 0; i < t->cnt; i++)
		t->slot[tally_slot_of(t, key_at(t, i))] = i + 1;
	return 0;
}

void *fr_tally_find(const struct fr_tally *t, u64 key)
{
	u32 i;

	if (!t->slot_cap)
		return NULL;
	i = tally_slot_of(t, key);
	return t->slot[i] ? fr_tally_at(t, t->slot[i] - 1) : NULL;
}

void *fr_tally_get(struct fr_tally *t, u64 key)
{
	void *rec = fr_tally_find(t, key);

	if (rec)
		return rec;
	if (t->cnt == t->cap && tally_grow(t))
		return NULL;
	rec = fr_tally_at(t, t->cnt);
	memset(rec, 0, t->rec_sz);
	*(u64 *)rec = key;
	t->slot[tally_slot_of(t, key)] = ++t->cnt;
	return rec;
}

void fr_tally_sort(struct fr_tally *t, int (*cmp)(const void *a, const void *b))
{
	free(t->slot);
	t->slot = NULL;
	t->slot_cap = 0;
	if (t->cnt)
		qsort(t->rec, t->cnt, t->rec_sz, cmp);
}
