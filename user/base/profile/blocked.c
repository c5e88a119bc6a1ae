/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/profile/blocked.h"

#include <stdlib.h>
#include <string.h>

#define FILE_WORDS 3u /* of a build-id */

struct fr_blocked {
	struct fr_prof *prof;
	const struct fr_stacks *stacks;
	u64 rest_ns; /* of waits that were added, less than a unit */
	u32 units;   /* of this reading */
	struct fr_hits_table *table;
};

struct fr_blocked *fr_blocked_new(void)
{
	struct fr_blocked *b = calloc(1, sizeof(*b));

	if (b)
		b->table = calloc(1, fr_hits_table_sz(0));
	if (b && b->table)
		return b;
	fr_blocked_free(b);
	return NULL;
}

void fr_blocked_free(struct fr_blocked *b)
{
	if (b)
		free(b->table);
	free(b);
}

void fr_blocked_begin(struct fr_blocked *b, struct fr_prof *p, const struct fr_stacks *stacks)
{
	b->prof = p;
	b->stacks = stacks;
	b->units = 0;
}

void fr_blocked_end(struct fr_blocked *b)
{
	fr_prof_add_table(b->prof, b->table, 0);
	memset(b->table, 0, fr_hits_head_sz(0));
}

/* ---- stacks: as a CPU's table has them ---- */

/* The number of a file among cnt, from 1, added if there is room; 0: none. */
static u32 blocked_file(u64 (*file)[FILE_WORDS], u32 *cnt, u32 max, const struct fr_origin *o)
{
	u64 id[FILE_WORDS] = {};
	u32 i;

	memcpy(id, o->build_id, o->build_id_sz);
	for (i = 0; i < *cnt; i++)
		if (!memcmp(file[i], id, sizeof(id)))
			return i + 1;
	if (*cnt == max)
		return 0;
	memcpy(file[(*cnt)++], id, sizeof(id));
	return *cnt;
}

#define FILES_MAX 16u /* of a stack; frames in further ones are addresses */

/* The number of the stack in the table, 0: none, or its frames are not known; -1: there is no room for it. */
static int blocked_stack(struct fr_blocked *b, u64 id)
{
	u64 word[FR_STACK_DEPTH_MAX], file[FILES_MAX][FILE_WORDS];
	u32 nr = id ? fr_hits_find_stack(b->table, 0, id) : 0, file_cnt = 0, at, i;
	const u64 *ip;
	size_t cnt = 0;
	struct fr_origin o;

	if (nr || !id)
		return nr;
	ip = b->stacks ? fr_stacks_find(b->stacks, id, &cnt) : NULL;
	if (!ip)
		return 0;
	cnt = cnt < FR_STACK_DEPTH_MAX ? cnt : FR_STACK_DEPTH_MAX;
	for (i = 0; i < cnt; i++) {
		at = fr_stacks_origin(b->stacks, id, i, &o) && !(o.file_off >> FR_PROF_OFF_BITS)
			     ? blocked_file(file, &file_cnt, FILES_MAX, &o)
			     : 0;
		word[i] = at ? (u64)at << 56 | o.file_off : ip[i];
	}
	nr = fr_hits_add_stack(b->table, 0, id, cnt, file_cnt, FILE_WORDS);
	if (!nr)
		return -1;
	at = fr_hits_stack(b->table, 0, nr - 1)->off;
	memcpy(fr_hits_word(b->table, 0, at), word, cnt * sizeof(*word));
	memcpy(fr_hits_word(b->table, 0, at + cnt), file, (size_t)file_cnt * sizeof(file[0]));
	return nr;
}

/* ---- waits ---- */

/* Whole units, what is left kept for the next wait: so the sum of all is right. */
static u32 blocked_units(struct fr_blocked *b, u64 blocked_ns)
{
	u64 ns = (blocked_ns < FR_PROF_HOUR_NS ? blocked_ns : FR_PROF_HOUR_NS) + b->rest_ns;

	b->rest_ns = ns % FR_BLOCKED_UNIT_NS;
	return ns / FR_BLOCKED_UNIT_NS;
}

/* Add them to the task's place in the table; false: there is no room for it, or its stacks. */
static bool blocked_put(struct fr_blocked *b, const struct fr_blocked_wait *w, u32 units)
{
	struct fr_hit key = {.task = (u64)w->pid << 32 | w->tid, .state = FR_HIT_kernel};
	int k = blocked_stack(b, w->kstack_id), u = k < 0 ? -1 : blocked_stack(b, w->ustack_id);
	struct fr_hit *h;
	s32 at;

	if (u < 0)
		return false;
	key.kstack = k ? w->kstack_id : 0;
	key.ustack = u ? w->ustack_id : 0;
	key.k_nr = k;
	key.u_nr = u;
	memcpy(key.comm, w->comm, sizeof(key.comm));
	at = fr_hits_place(b->table, 0, &key);
	if (at < 0)
		return false;
	h = &b->table->hit[at];
	if (!h->hits) {
		*h = key;
		b->table->hit_cnt++;
	}
	h->hits += units;
	b->table->taken += units;
	return true;
}

void fr_blocked_add(struct fr_blocked *b, const struct fr_blocked_wait *w)
{
	u32 units = blocked_units(b, w->blocked_ns), most = FR_BLOCKED_READING_MAX - b->units;
	u32 lost = units > most ? units - most : 0;

	units -= lost;
	b->units += units;
	b->table->taken += lost;
	b->table->lost += lost;
	if (!units || blocked_put(b, w, units))
		return;
	fr_blocked_end(b); /* into the profile, and begin a table anew */
	if (blocked_put(b, w, units))
		return;
	b->table->taken += units;
	b->table->lost += units;
}
