/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/set/hashed.h"

#include <stdlib.h>

#define CAP_MIN 64u

/* has_key NULL: a free one. */
static struct fr_hashed_slot *hashed_find(const struct fr_hashed *s, u32 hash, fr_hashed_fn has_key, const void *of,
					  const void *key)
{
	u32 i = hash & (s->cap - 1);

	while (s->slot[i].nr && !(has_key && s->slot[i].hash == hash && has_key(of, s->slot[i].nr, key)))
		i = (i + 1) & (s->cap - 1);
	return &s->slot[i];
}

static bool hashed_grow(struct fr_hashed *s)
{
	struct fr_hashed more = {.cnt = s->cnt, .cap = s->cap ? 2 * s->cap : CAP_MIN};
	u32 i;

	more.slot = calloc(more.cap, sizeof(*more.slot));
	if (!more.slot)
		return false;
	for (i = 0; i < s->cap; i++)
		if (s->slot[i].nr)
			*hashed_find(&more, s->slot[i].hash, NULL, NULL, NULL) = s->slot[i];
	free(s->slot);
	*s = more;
	return true;
}

u32 *fr_hashed_at(struct fr_hashed *s, u64 hash, fr_hashed_fn has_key, const void *of, const void *key)
{
	u32 folded = hash ^ hash >> 32;
	struct fr_hashed_slot *slot;

	if (s->cnt >= s->cap / 2 && !hashed_grow(s))
		return NULL;
	slot = hashed_find(s, folded, has_key, of, key);
	if (!slot->nr) {
		slot->hash = folded;
		s->cnt++; /* as if the caller set it */
	}
	return &slot->nr;
}

u32 fr_hashed_find(const struct fr_hashed *s, u64 hash, fr_hashed_fn has_key, const void *of, const void *key)
{
	return s->cap ? hashed_find(s, hash ^ hash >> 32, has_key, of, key)->nr : 0;
}
