/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hits: the always-on profile, as each CPU counts it: a pair of open-addressed tables of (stacks, task, state) -> hits.
 *
 * Hits concentrate on few keys, so a small table absorbs nearly all of them. The sampling program counts into the current table
 * of the pair. A reader makes the CPU switch to the other one, and merges the old one at leisure (docs/profile.md).
 *
 *	ctl	{ generation:48 | writers:16 }	generation g counts in table g % 2
 *	drained	generations below this are merged, and their tables are empty
 *
 * Rules
 *  - A writer enters by one add to ctl, which also tells it the generation, and leaves by another. It runs on its own CPU, one
 *    at a time: the kernel does not nest programs of perf events. A writer that finds another inside counts its hit as lost.
 *  - The reader flips by a compare-and-exchange of ctl that succeeds only while no writer is inside: what it gets is
 *    complete, there is no grace period to wait for, and a CPU never waits. A program runs some microseconds; the reader
 *    tries again for a while, then leaves that CPU to the next reading.
 *  - A CPU whose table is full switches to the other one by itself if that is drained; if not, the hit is lost, and counted.
 *  - A table may be written again only when `drained` says so. Only the reader stores that, after it has merged and emptied the
 *    table. So if a reader is killed, the next one finds the table as it was.
 *  - Of each table: taken = sum of hits + lost.
 *
 * The table has the stacks, too, each once: what the reader gets is complete in itself, however old it is.
 */
#ifndef FR_HITS_H
#define FR_HITS_H

#include "atomic.h"

/*
 * Sizes of a table if there are few CPUs. If there are many, the sizes are halved shift times, so that all tables together stay
 * within a limit (fr_hits_shift_for()).
 */
#ifndef FR_HITS_CNT
#define FR_HITS_CNT 512u /* keys of a table; a power of two, as are the others */
#endif
#ifndef FR_HITS_STACKS
#define FR_HITS_STACKS 512u
#endif
#ifndef FR_HITS_WORDS
#define FR_HITS_WORDS 8192u /* frames of its stacks */
#endif
#define FR_HITS_SHIFT_MAX 7u
#define FR_HITS_PROBES	  16u
#define FR_HITS_USERS	  0xffffULL
#define FR_HITS_SHIFT	  16

/* What the CPU did. */
enum fr_hit_state { FR_HIT_user, FR_HIT_kernel, FR_HIT_idle, FR_HIT_STATE_CNT };

struct fr_hit {
	u64 kstack, ustack; /* hashes of the stacks, 0: none */
	u64 task;	    /* { tgid:32 | tid:32 } */
	u64 comm[2];
	u32 state;
	u32 hits; /* 0: the slot is free */
	u32 k_nr; /* the stacks' places in stack[], from 1; 0: none */
	u32 u_nr;
};

/*
 * Frames, innermost first, then the build-ids of their files, FR_ORIGIN_WORDS words each. A frame is an address, or { file:8,
 * from 1 | offset in it:56 }; kernel addresses begin with ones.
 */
struct fr_hits_stack {
	u64 id; /* 0: the slot is free */
	u32 off;
	u16 frame_cnt;
	u16 file_cnt;
};

struct fr_hits_table {
	u64 first_ns; /* recording clock: of the first and the last hit */
	u64 last_ns;
	u64 taken; /* hits that came */
	u64 lost;  /* of these, hits that found no room */
	u32 hit_cnt, stack_cnt, word_cnt;
	u32 told; /* the reader was told that it fills up */
	struct fr_hit hit[];
	/* struct fr_hits_stack stack[], u64 word[] */
};

struct fr_hits_cpu {
	u64 ctl;
	u64 drained; /* the reader's */
	u64 nested;  /* hits lost because another was being counted */
	u64 flips;   /* by the CPU itself */
		     /* struct fr_hits_table table[2] */
};

/* A message to the reader: a table fills up, or is full. */
struct fr_hits_call {
	u32 cpu;
	u32 full;
};

FR_INLINE u32 fr_hits_cnt(u32 shift)
{
	return FR_HITS_CNT >> shift;
}

FR_INLINE u32 fr_hits_stack_cnt(u32 shift)
{
	return FR_HITS_STACKS >> shift;
}

FR_INLINE u32 fr_hits_word_cnt(u32 shift)
{
	return FR_HITS_WORDS >> shift;
}

/* Bytes before a table's words, and of a whole table. */
FR_INLINE u32 fr_hits_head_sz(u32 shift)
{
	return sizeof(struct fr_hits_table) + fr_hits_cnt(shift) * sizeof(struct fr_hit) +
	       fr_hits_stack_cnt(shift) * sizeof(struct fr_hits_stack);
}

FR_INLINE u32 fr_hits_table_sz(u32 shift)
{
	return fr_hits_head_sz(shift) + fr_hits_word_cnt(shift) * sizeof(u64);
}

FR_INLINE u32 fr_hits_cpu_sz(u32 shift)
{
	return sizeof(struct fr_hits_cpu) + 2 * fr_hits_table_sz(shift);
}

FR_INLINE struct fr_hits_table *fr_hits_table(struct fr_hits_cpu *c, u32 shift, u64 gen)
{
	return (struct fr_hits_table *)((char *)(c + 1) + (gen & 1 ? fr_hits_table_sz(shift) : 0));
}

FR_INLINE struct fr_hits_stack *fr_hits_stack(const struct fr_hits_table *t, u32 shift, u32 i)
{
	return (struct fr_hits_stack *)&t->hit[fr_hits_cnt(shift)] + (i & (fr_hits_stack_cnt(shift) - 1));
}

FR_INLINE u64 *fr_hits_word(const struct fr_hits_table *t, u32 shift, u32 i)
{
	return (u64 *)((char *)t + fr_hits_head_sz(shift)) + (i & (fr_hits_word_cnt(shift) - 1));
}

/* ---- the writer ---- */

/*
 * Returns 0 and the generation to count in, to be ended by fr_hits_leave(); or -1, counted. The add pairs with the
 * compare-and-exchange of fr_hits_flip(): the reader switches only while nobody is inside.
 */
FR_INLINE int fr_hits_enter(struct fr_hits_cpu *c, u64 *gen)
{
	u64 was = fr_add(&c->ctl, 1);

	*gen = was >> FR_HITS_SHIFT;
	if (!(was & FR_HITS_USERS))
		return 0;
	fr_count(&c->nested, 1);
	fr_add(&c->ctl, -1ULL);
	return -1;
}

/* Pairs with the reader's compare-and-exchange: a reader that finds nobody inside sees what was counted. */
FR_INLINE void fr_hits_leave(struct fr_hits_cpu *c)
{
	fr_add(&c->ctl, -1ULL);
}

/* The table is full: switch to the other one. Returns 0, or -1 if that is not drained. Only from inside. */
FR_INLINE int fr_hits_next(struct fr_hits_cpu *c, u64 *gen)
{
	u64 was = *gen << FR_HITS_SHIFT | 1;

	/* pairs with fr_hits_release(): an emptied table is seen empty */
	if (fr_load(&c->drained) < *gen || fr_cas(&c->ctl, was, was + (1ULL << FR_HITS_SHIFT)) != was)
		return -1;
	++*gen;
	fr_count(&c->flips, 1);
	return 0;
}

FR_INLINE u32 fr_hits_probe(u64 hash, u32 i, u32 cnt)
{
	return ((u32)hash + i * ((u32)(hash >> 32) | 1)) & (cnt - 1);
}

FR_INLINE u64 fr_hits_hash(const struct fr_hit *k)
{
	u64 h = k->kstack ^ (k->ustack << 1 | k->ustack >> 63) ^ k->task * 0x9e3779b97f4a7c15ULL;

	h = (h ^ k->comm[0] ^ k->comm[1] << 3 ^ k->state) * 0xff51afd7ed558ccdULL;
	return h ^ h >> 29;
}

FR_INLINE int fr_hits_same(const struct fr_hit *a, const struct fr_hit *b)
{
	return a->kstack == b->kstack && a->ustack == b->ustack && a->task == b->task && a->state == b->state &&
	       a->comm[0] == b->comm[0] && a->comm[1] == b->comm[1];
}

/* The number of a stack, from 1; 0: it is not in the table. */
FR_INLINE u32 fr_hits_find_stack(struct fr_hits_table *t, u32 shift, u64 id)
{
	const struct fr_hits_stack *s;
	u32 i, at;

	for (i = 0; i < FR_HITS_PROBES; i++) {
		at = fr_hits_probe(id, i, fr_hits_stack_cnt(shift));
		s = fr_hits_stack(t, shift, at);
		if (s->id == id)
			return at + 1;
		if (!s->id)
			return 0;
	}
	return 0;
}

/*
 * Make room for a stack that is not there. Returns its number; 0: there is no room. The caller fills its words, from word[off]
 * on.
 */
FR_INLINE u32 fr_hits_add_stack(struct fr_hits_table *t, u32 shift, u64 id, u32 frame_cnt, u32 file_cnt, u32 file_words)
{
	u32 i, at, words = frame_cnt + file_cnt * file_words;

	if (t->word_cnt > fr_hits_word_cnt(shift) || words > fr_hits_word_cnt(shift) - t->word_cnt)
		return 0;
	for (i = 0; i < FR_HITS_PROBES; i++) {
		struct fr_hits_stack *s;

		at = fr_hits_probe(id, i, fr_hits_stack_cnt(shift));
		s = fr_hits_stack(t, shift, at);
		if (s->id)
			continue;
		s->id = id;
		s->off = t->word_cnt;
		s->frame_cnt = frame_cnt;
		s->file_cnt = file_cnt;
		t->word_cnt += words;
		t->stack_cnt++;
		return at + 1;
	}
	return 0;
}

/* The slot of a key, or the free one that it would take; -1: there is no room. */
FR_INLINE s32 fr_hits_place(const struct fr_hits_table *t, u32 shift, const struct fr_hit *key)
{
	u64 hash = fr_hits_hash(key);
	u32 i, at;

	for (i = 0; i < FR_HITS_PROBES; i++) {
		at = fr_hits_probe(hash, i, fr_hits_cnt(shift));
		if (!t->hit[at].hits || fr_hits_same(&t->hit[at], key))
			return at;
	}
	return -1;
}

FR_INLINE void fr_hits_add(struct fr_hits_table *t, struct fr_hit *h, u64 now_ns)
{
	h->hits++;
	if (!t->taken)
		t->first_ns = now_ns;
	t->last_ns = now_ns;
	t->taken++;
}

/* Count a hit of a key that is in the table, with its stacks. Returns 0, or -1: it is not there. */
FR_INLINE int fr_hits_again(struct fr_hits_table *t, u32 shift, const struct fr_hit *key, u64 now_ns)
{
	s32 at = fr_hits_place(t, shift, key);
	struct fr_hit *h = &t->hit[at & (fr_hits_cnt(shift) - 1)];

	if (at < 0 || !h->hits)
		return -1;
	fr_hits_add(t, h, now_ns);
	return 0;
}

/* Count a hit of a key whose stacks are in the table. Returns 0, or -1: there is no room. */
FR_INLINE int fr_hits_count(struct fr_hits_table *t, u32 shift, const struct fr_hit *key, u64 now_ns)
{
	s32 at = fr_hits_place(t, shift, key);
	struct fr_hit *h = &t->hit[at & (fr_hits_cnt(shift) - 1)];

	if (at < 0)
		return -1;
	if (!h->hits) {
		*h = *key;
		t->hit_cnt++;
	}
	fr_hits_add(t, h, now_ns);
	return 0;
}

FR_INLINE void fr_hits_lose(struct fr_hits_table *t, u64 now_ns)
{
	if (!t->taken)
		t->first_ns = now_ns;
	t->last_ns = now_ns;
	t->taken++;
	t->lost++;
}

/* The reader is told when this much of cnt is left: that and the other table must last until it comes. */
FR_INLINE u32 fr_hits_rest(u32 cnt)
{
	return cnt / 4;
}

FR_INLINE int fr_hits_is_low(u32 used, u32 cnt)
{
	return used >= cnt - fr_hits_rest(cnt);
}

/* Should the reader be told? Says so once per table. */
FR_INLINE int fr_hits_fills(struct fr_hits_table *t, u32 shift)
{
	if (t->told ||
	    (!fr_hits_is_low(t->hit_cnt, fr_hits_cnt(shift)) && !fr_hits_is_low(t->stack_cnt, fr_hits_stack_cnt(shift)) &&
	     !fr_hits_is_low(t->word_cnt, fr_hits_word_cnt(shift))))
		return 0;
	t->told = 1;
	return 1;
}

/* ---- the reader: one at a time ---- */

#ifndef __bpf__

#include <string.h>

/* The generation that counts now. */
FR_INLINE u64 fr_hits_gen(const struct fr_hits_cpu *c)
{
	return fr_load(&c->ctl) >> FR_HITS_SHIFT;
}

/*
 * Switch the CPU from generation gen to the other table. Returns 0; -1: it is counting just now, or has switched by itself.
 * Pairs with fr_hits_enter() and fr_hits_leave().
 */
FR_INLINE int fr_hits_flip(struct fr_hits_cpu *c, u64 gen)
{
	u64 was = gen << FR_HITS_SHIFT;

	if (c->drained != gen)
		return -1;
	return fr_cas(&c->ctl, was, was + (1ULL << FR_HITS_SHIFT)) == was ? 0 : -1;
}

/* Generation gen, the oldest, is merged: its table may be written again. Words need not be emptied. */
FR_INLINE void fr_hits_release(struct fr_hits_cpu *c, u32 shift, u64 gen)
{
	memset(fr_hits_table(c, shift, gen), 0, fr_hits_head_sz(shift));
	fr_store(&c->drained, gen + 1); /* pairs with fr_hits_next() */
}

/* The shift of the largest tables that fit limit_sz for all CPUs together. */
FR_INLINE u32 fr_hits_shift_for(u32 cpu_cnt, u64 limit_sz)
{
	u32 shift = 0;

	while (shift < FR_HITS_SHIFT_MAX && (u64)cpu_cnt * fr_hits_cpu_sz(shift) > limit_sz)
		shift++;
	return shift;
}

#endif
#endif
