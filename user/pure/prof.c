/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure/prof_int.h"

#include <stdlib.h>
#include <string.h>

#define STACK_SLOTS (2 * FR_PROF_STACK_MAX)
#define KEY_SLOTS   (2 * FR_PROF_KEY_MAX)

struct fr_prof *fr_prof_new(u64 begin_ns)
{
	struct fr_prof *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->begin_ns = p->end_ns = begin_ns;
	p->key_cnt = 1;
	strcpy(p->key[FR_PROF_OTHER].comm, "[other]");
	p->key[FR_PROF_OTHER].state = FR_HIT_kernel;
	return p;
}

static u64 mix(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static u64 hash_frames(const u64 *frame, u32 cnt)
{
	u64 h = cnt;
	u32 i;

	for (i = 0; i < cnt; i++)
		h = mix(h, frame[i]);
	return h;
}

static bool is_stack(const struct fr_prof *p, u32 nr, const u64 *frame, u32 cnt)
{
	const struct fr_prof_stack *s = &p->stack[nr - 1];

	return s->cnt == cnt && !memcmp(&p->word[s->off], frame, cnt * sizeof(*frame));
}

u32 fr_prof_put_stack(struct fr_prof *p, const u64 *frame, u32 cnt)
{
	u32 at = hash_frames(frame, cnt) % STACK_SLOTS, nr;

	for (; (nr = p->stack_slot[at]); at = (at + 1) % STACK_SLOTS)
		if (is_stack(p, nr, frame, cnt))
			return nr;
	if (p->stack_cnt == FR_PROF_STACK_MAX || cnt > FR_PROF_WORD_MAX - p->word_cnt)
		return 0;
	p->stack[p->stack_cnt] = (struct fr_prof_stack){p->word_cnt, cnt};
	memcpy(&p->word[p->word_cnt], frame, cnt * sizeof(*frame));
	p->word_cnt += cnt;
	p->stack_slot[at] = ++p->stack_cnt;
	return p->stack_cnt;
}

static u64 hash_key(const struct fr_prof_key *k)
{
	u64 comm[2];

	memcpy(comm, k->comm, sizeof(comm));
	return mix(mix(mix(mix(k->pid, k->kstack | (u64)k->ustack << 32), comm[0]), comm[1]), k->state);
}

u32 fr_prof_put_key(struct fr_prof *p, const struct fr_prof_key *key)
{
	u32 at = hash_key(key) % KEY_SLOTS, nr;

	for (; (nr = p->key_slot[at]); at = (at + 1) % KEY_SLOTS)
		if (!memcmp(&p->key[nr], key, sizeof(*key)))
			return nr;
	if (p->key_cnt == FR_PROF_KEY_MAX)
		return FR_PROF_OTHER;
	p->key[p->key_cnt] = *key;
	p->key_slot[at] = p->key_cnt;
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

/* Each bucket begins with what had no room, so that there is room for that. */
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

static void add(struct fr_prof_hit *h, u64 hits)
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
	add(&p->hit[p->cur[key] - 1], hits);
}
