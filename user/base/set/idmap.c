/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Open addressing. Dropping leaves no tombstone: records after it that can move up do so. */
#include "base/set/idmap.h"

#include <stdlib.h>
#include <string.h>

#define CAP_MIN 64u

void fr_idmap_init(struct fr_idmap *m, size_t record_sz)
{
	*m = (struct fr_idmap){.record_sz = record_sz};
}

void fr_idmap_free(struct fr_idmap *m)
{
	free(m->key);
	free(m->used);
	free(m->record);
	fr_idmap_init(m, m->record_sz);
}

void fr_idmap_clear(struct fr_idmap *m)
{
	if (m->cap)
		memset(m->used, 0, m->cap * sizeof(*m->used));
	m->cnt = 0;
}

static void *idmap_record(const struct fr_idmap *m, u32 i)
{
	return m->record + i * m->record_sz;
}

bool fr_idmap_is_full(const struct fr_idmap *m)
{
	return m->cnt >= m->cap / 2;
}

static void *idmap_add(struct fr_idmap *m, u32 i, u64 key)
{
	m->used[i] = true;
	m->key[i] = key;
	m->cnt++;
	return idmap_record(m, i);
}

static bool idmap_grow(struct fr_idmap *m)
{
	struct fr_idmap more = {.record_sz = m->record_sz, .cap = m->cap ? m->cap * 2 : CAP_MIN};
	u32 i;

	more.key = malloc(more.cap * sizeof(*more.key));
	more.used = calloc(more.cap, sizeof(*more.used));
	more.record = malloc(more.cap * more.record_sz);
	if (!more.key || !more.used || !more.record) {
		fr_idmap_free(&more);
		return false;
	}
	for (i = 0; i < m->cap; i++)
		if (m->used[i])
			memcpy(idmap_add(&more, fr_idmap_place(&more, m->key[i]), m->key[i]), idmap_record(m, i), m->record_sz);
	fr_idmap_free(m);
	*m = more;
	return true;
}

void *fr_idmap_get(struct fr_idmap *m, u64 key)
{
	void *r = fr_idmap_find(m, key);

	if (r)
		return r;
	if (fr_idmap_is_full(m) && !idmap_grow(m))
		return NULL;
	return memset(idmap_add(m, fr_idmap_place(m, key), key), 0, m->record_sz);
}

/* Free place i: a record after it whose home is at or before i moves here, and leaves its place in turn. */
static void drop_at(struct fr_idmap *m, u32 i)
{
	u32 mask = m->cap - 1, j = i;

	for (;;) {
		j = (j + 1) & mask;
		if (!m->used[j])
			break;
		if (((j - fr_idmap_home(m, m->key[j])) & mask) < ((j - i) & mask))
			continue;
		m->key[i] = m->key[j];
		memcpy(idmap_record(m, i), idmap_record(m, j), m->record_sz);
		i = j;
	}
	m->used[i] = false;
	m->cnt--;
}

void fr_idmap_drop(struct fr_idmap *m, u64 key)
{
	u32 i;

	if (!m->cnt)
		return;
	i = fr_idmap_place(m, key);
	if (m->used[i])
		drop_at(m, i);
}

void fr_idmap_sweep(struct fr_idmap *m, bool (*is_over)(void *arg, u64 key, void *record), void *arg)
{
	u32 i = 0;

	/* what moves up to i is asked about, too; at the table's end it may be asked about twice */
	while (i < m->cap) {
		if (m->used[i] && is_over(arg, m->key[i], idmap_record(m, i)))
			drop_at(m, i);
		else
			i++;
	}
}
