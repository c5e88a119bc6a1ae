/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* idmap: records of one size by number, in a hash table. Pure. */
#ifndef FR_IDMAP_H
#define FR_IDMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

/*
 * Begin with fr_idmap_init(); the map owns its memory. Records move when others are added or removed: keep keys, not addresses.
 */
struct fr_idmap {
	u64 *key;
	bool *used;
	char *record;
	size_t record_sz;
	u32 cnt, cap; /* records; places: a power of two, 0 before the first */
};

void fr_idmap_init(struct fr_idmap *m, size_t record_sz);
void fr_idmap_free(struct fr_idmap *m); /* leaves it empty */
void fr_idmap_clear(struct fr_idmap *m);

static inline u32 fr_idmap_home(const struct fr_idmap *m, u64 key)
{
	u64 h = key * 0x9e3779b97f4a7c15ULL;

	return (h ^ h >> 32) & (m->cap - 1);
}

/* Where the key is, or would be. There is always a free place. */
static inline u32 fr_idmap_place(const struct fr_idmap *m, u64 key)
{
	u32 i = fr_idmap_home(m, key);

	while (m->used[i] && m->key[i] != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

/* NULL: it is not there. */
static inline void *fr_idmap_find(const struct fr_idmap *m, u64 key)
{
	u32 i;

	if (!m->cnt)
		return NULL;
	i = fr_idmap_place(m, key);
	return m->used[i] ? m->record + i * m->record_sz : NULL;
}

/* The record, all zero if it is new. NULL: no memory. */
void *fr_idmap_get(struct fr_idmap *m, u64 key);

/* Remove the record of key, if there is one. */
void fr_idmap_drop(struct fr_idmap *m, u64 key);

/* Will the next new record make the table grow? Then drop what is not needed. */
bool fr_idmap_is_full(const struct fr_idmap *m);

/* Bytes that its growing then takes, before it frees what it has. */
static inline u64 fr_idmap_growth_sz(const struct fr_idmap *m)
{
	return (m->cap ? 2ULL * m->cap : 64) * (sizeof(*m->key) + sizeof(*m->used) + m->record_sz);
}

/* Drop the records for which is_over() is true. */
void fr_idmap_sweep(struct fr_idmap *m, bool (*is_over)(void *arg, u64 key, void *record), void *arg);

#endif
