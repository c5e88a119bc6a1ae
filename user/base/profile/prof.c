/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/profile/prof.h"

#include <stdlib.h>
#include <string.h>

#include "session.h"

#define NODE_SLOTS (2 * FR_PROF_NODE_MAX)
#define KEY_SLOTS  (2 * FR_PROF_KEY_MAX)

struct fr_prof *fr_prof_new(u64 begin_ns)
{
	struct fr_prof *p = malloc(sizeof(*p));

	if (p)
		fr_prof_clear(p, begin_ns);
	return p;
}

void fr_prof_clear(struct fr_prof *p, u64 begin_ns)
{
	memset(p, 0, sizeof(*p));
	p->begin_ns = p->end_ns = begin_ns;
	p->key_cnt = 1;
	strcpy(p->key[FR_PROF_OTHER].comm, "[other]");
	p->key[FR_PROF_OTHER].state = FR_HIT_kernel;
}

static u64 profile_prof_mix(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

u32 fr_prof_put_node(struct fr_prof *p, u32 parent, u64 frame)
{
	u32 at = profile_prof_mix(profile_prof_mix(7, parent), frame) % NODE_SLOTS,
	    depth = parent ? p->node[parent - 1].depth + 1 : 1, nr;

	for (; (nr = p->node_slot[at]); at = (at + 1) % NODE_SLOTS)
		if (p->node[nr - 1].frame == frame && p->node[nr - 1].parent == parent)
			return nr;
	if (p->node_cnt == FR_PROF_NODE_MAX || depth > FR_STACK_DEPTH_MAX)
		return 0;
	p->node[p->node_cnt] = (struct fr_prof_node){.frame = frame, .parent = parent, .depth = depth};
	p->node_slot[at] = ++p->node_cnt;
	return p->node_cnt;
}

static u64 profile_prof_hash_key(const struct fr_prof_key *k)
{
	u64 comm[2];

	memcpy(comm, k->comm, sizeof(comm));
	return profile_prof_mix(
		profile_prof_mix(profile_prof_mix(profile_prof_mix(k->pid, k->kstack | (u64)k->ustack << 32), comm[0]),
				 comm[1]),
		k->state);
}

/* Where its number is, or belongs. */
static u32 *key_slot(struct fr_prof *p, const struct fr_prof_key *key)
{
	u32 at = profile_prof_hash_key(key) % KEY_SLOTS;

	while (p->key_slot[at] && memcmp(&p->key[p->key_slot[at]], key, sizeof(*key)))
		at = (at + 1) % KEY_SLOTS;
	return &p->key_slot[at];
}

bool fr_prof_has_key(struct fr_prof *p, const struct fr_prof_key *key)
{
	return *key_slot(p, key);
}

u32 fr_prof_put_key(struct fr_prof *p, const struct fr_prof_key *key)
{
	u32 *slot = key_slot(p, key);

	if (*slot)
		return *slot;
	if (p->key_cnt == FR_PROF_KEY_MAX)
		return FR_PROF_OTHER;
	p->key[p->key_cnt] = *key;
	*slot = p->key_cnt;
	return p->key_cnt++;
}

int fr_prof_put_file(struct fr_prof *p, const struct fr_prof_file *file)
{
	u32 i;

	for (i = 0; i < p->file_cnt; i++)
		if (!memcmp(&p->file[i], file, sizeof(*file)))
			return i;
	if (p->file_cnt == FR_PROF_FILE_MAX)
		return -1;
	p->file[p->file_cnt] = *file;
	return p->file_cnt++;
}

/* Each bucket begins with key 0, so that there is always room for that. */
void fr_prof_push(struct fr_prof *p, const struct fr_prof_bucket *like)
{
	struct fr_prof_bucket *b = &p->bucket[p->bucket_cnt++];

	*b = *like;
	b->taken = b->lost = b->expected = 0;
	b->first = p->hit_cnt;
	b->hit_cnt = 1;
	p->hit[p->hit_cnt++] = (struct fr_prof_hit){FR_PROF_OTHER, 0};
	p->cur[FR_PROF_OTHER] = p->hit_cnt;
}

static void profile_prof_add(struct fr_prof_hit *h, u64 hits)
{
	h->hits = hits > ~0u - h->hits ? ~0u : h->hits + (u32)hits;
}

void fr_prof_hit(struct fr_prof *p, u32 key, u64 hits)
{
	struct fr_prof_bucket *b = &p->bucket[p->bucket_cnt - 1];

	if (p->cur[key] <= b->first && p->hit_cnt == FR_PROF_HIT_MAX)
		key = FR_PROF_OTHER;
	if (p->cur[key] <= b->first) {
		p->hit[p->hit_cnt++] = (struct fr_prof_hit){.key = key};
		p->cur[key] = p->hit_cnt;
		b->hit_cnt++;
	}
	profile_prof_add(&p->hit[p->cur[key] - 1], hits);
}
