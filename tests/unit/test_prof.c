/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The merged profile: what tables held is in it, time in pieces, less room but no count less, bytes that come back or are
 * refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/profile/prof.h"
#include "session.h"

#define SEC 1000000000ULL

static u64 seed = 1;

static u32 rnd(u32 below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(seed >> 33) % below;
}

static struct fr_hits_table *new_table(void)
{
	return calloc(1, fr_hits_table_sz(0));
}

/* A stack of a table: frames from the one given on, of a file (build-id of 20 bytes of that number) or addresses. */
static u32 put_stack(struct fr_hits_table *t, u64 id, u64 frame, u32 cnt, u8 file)
{
	u32 nr, off, i;

	id *= 0x9e3779b97f4a7c15ULL; /* a hash: numbers in a row would all want the same slots */
	id ^= id >> 29;
	nr = fr_hits_find_stack(t, 0, id);
	if (nr)
		return nr;
	nr = fr_hits_add_stack(t, 0, id, cnt, file != 0, 3);
	assert_true(nr);
	off = fr_hits_stack(t, 0, nr - 1)->off;
	for (i = 0; i < cnt; i++)
		*fr_hits_word(t, 0, off + i) = file ? 1ULL << 56 | (frame + i) : frame + i;
	if (file)
		memset(fr_hits_word(t, 0, off + cnt), file, 20);
	return nr;
}

static void hit(struct fr_hits_table *t, const char *comm, u32 pid, u64 ustack, u32 u_nr, u32 cnt)
{
	struct fr_hit k = {.ustack = ustack, .task = (u64)pid << 32 | pid, .state = FR_HIT_user, .u_nr = u_nr};

	memcpy(k.comm, comm, strlen(comm));
	while (cnt--)
		assert_int_equal(fr_hits_count(t, 0, &k, 1), 0);
}

static u64 sum(const struct fr_prof *p)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < p->hit_cnt; i++)
		n += p->hit[i].hits;
	return n;
}

/* Hits of a task, and of a process of it (0: any). */
static u64 hits_of(const struct fr_prof *p, const char *comm, u32 pid)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < p->hit_cnt; i++) {
		const struct fr_prof_key *k = &p->key[p->hit[i].key];

		if (!strcmp(k->comm, comm) && (!pid || k->pid == pid))
			n += p->hit[i].hits;
	}
	return n;
}

struct sum {
	u64 taken, lost;
};

static struct sum sum_of(const struct fr_prof *p)
{
	struct sum sum = {};
	u32 i;

	for (i = 0; i < p->bucket_cnt; i++) {
		sum.taken += p->bucket[i].taken;
		sum.lost += p->bucket[i].lost;
	}
	return sum;
}

static void what_tables_held_is_in_it(void **state)
{
	struct fr_prof *p = fr_prof_new(100);
	struct fr_hits_table *t = new_table();
	const struct fr_prof_key *k = NULL;
	u32 i;

	(void)state;
	hit(t, "one", 7, 11, put_stack(t, 11, 0x1000, 3, 9), 5);
	hit(t, "two", 8, 12, put_stack(t, 12, 0x7f0000, 2, 0), 2);
	fr_hits_lose(t, 1);
	fr_prof_open(p, 200, 10);
	assert_true(fr_prof_add_table(p, t, 0));
	assert_int_equal(hits_of(p, "one", 7), 5);
	assert_int_equal(hits_of(p, "two", 8), 2);
	assert_int_equal(p->taken, 8);
	assert_int_equal(p->lost, 1);
	assert_int_equal(p->bucket[0].begin_ns, 100);
	assert_int_equal(p->bucket[0].end_ns, 200);
	assert_int_equal(p->bucket[0].expected, 10);
	assert_int_equal(p->file_cnt, 1);
	for (i = 0; i < p->key_cnt; i++)
		k = !strcmp(p->key[i].comm, "one") ? &p->key[i] : k;
	/* innermost first */
	assert_int_equal(fr_prof_off(p->node[k->ustack - 1].frame), 0x1000);
	assert_int_equal(p->node[k->ustack - 1].depth, 3);
	assert_int_equal(fr_prof_off(p->node[p->node[k->ustack - 1].parent - 1].frame), 0x1001);
	free(t);
	free(p);
}

static void what_contradicts_itself_is_told(void **state)
{
	struct fr_prof *p = fr_prof_new(0);
	struct fr_hits_table *t = new_table();

	(void)state;
	hit(t, "a", 1, 0, 0, 3);
	t->taken = 2;
	fr_prof_open(p, SEC, 0);
	assert_false(fr_prof_add_table(p, t, 0));
	assert_int_equal(sum_of(p).taken, sum(p) + p->lost);
	free(t);
	free(p);
}

/* Noise in all of a table, of which numbers are often near what is possible. */
static void make_noise(struct fr_hits_table *t)
{
	u8 *byte = (u8 *)t;
	struct fr_hits_stack *s;
	u32 i;

	for (i = 0; i < fr_hits_table_sz(0); i++)
		byte[i] = rnd(4) ? 0 : rnd(256);
	for (i = 0; i < FR_HITS_CNT; i++) {
		t->hit[i].hits %= 1000;
		t->hit[i].k_nr %= 2 * FR_HITS_STACKS;
		t->hit[i].u_nr %= 2 * FR_HITS_STACKS;
	}
	for (i = 0; i < FR_HITS_STACKS; i++) {
		s = fr_hits_stack(t, 0, i);
		s->off %= rnd(4) ? FR_HITS_WORDS : ~0u;
		s->frame_cnt %= 2 * FR_STACK_DEPTH_MAX;
		s->file_cnt %= rnd(2) ? 8 : 4096;
	}
}

/* A table of noise: whatever is in it, nothing outside is touched (the sanitizers see), and counts are sums. */
static void no_word_of_a_table_is_believed(void **state)
{
	struct fr_prof *p = fr_prof_new(0);
	struct fr_hits_table *t = new_table();
	u32 round;

	(void)state;
	for (round = 0; round < 20; round++) {
		make_noise(t);
		t->lost = round;
		fr_prof_open(p, round * SEC, 0);
		fr_prof_add_table(p, t, 0);
		assert_int_equal(sum_of(p).taken, sum(p) + p->lost);
	}
	free(t);
	free(p);
}

/* An hour and a half, a reading a second of the busy kind: buckets stay few, the last hour stays. */
static void old_time_is_put_together_and_goes(void **state)
{
	struct fr_prof *p = fr_prof_new(0);
	struct fr_hits_table *t = new_table();
	u64 s, last = 0, i;

	(void)state;
	hit(t, "a", 1, 0, 0, 3);
	for (s = 1; s <= 5400; s++) {
		fr_prof_open(p, s * SEC, s * 198);
		fr_prof_add_table(p, t, 0);
	}
	assert_in_range(p->bucket_cnt, 60, 80);
	assert_in_range(p->bucket[0].end_ns, 1740 * SEC, 1860 * SEC);
	assert_int_equal(p->bucket[p->bucket_cnt - 1].end_ns, 5400 * SEC);
	for (i = 0; i < p->bucket_cnt; i++) {
		u64 span = p->bucket[i].end_ns - p->bucket[i].begin_ns;

		assert_true(p->bucket[i].begin_ns >= last);
		last = p->bucket[i].end_ns;
		assert_true(span <= 61 * SEC);
		if (p->bucket[i].begin_ns >= 5340 * SEC)
			assert_true(span <= 11 * SEC);
		assert_int_equal(p->bucket[i].taken, span / SEC * 3);
		assert_int_equal(p->bucket[i].expected, span / SEC * 198);
	}
	assert_int_equal(p->taken, 3 * 5400);
	free(t);
	free(p);
}

static u64 hits_without_stack(const struct fr_prof *p)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < p->hit_cnt; i++)
		if (!p->key[p->hit[i].key].kstack && !p->key[p->hit[i].key].ustack)
			n += p->hit[i].hits;
	return n;
}

/* Keys and stacks without end beside one that is hot: room ends, counts do not, and the hot one stays. */
static void without_room_counts_stay_exact(void **state)
{
	struct fr_prof *p = fr_prof_new(0);
	u64 s, want = 0;
	u32 i;

	(void)state;
	for (s = 1; s <= 300; s++) {
		struct fr_hits_table *t = new_table();

		hit(t, "hot", 5, 1, put_stack(t, 1, 0x400000, 10, 3), 100);
		for (i = 0; i < 100; i++) {
			u64 id = s * 1000 + i;

			hit(t, "cold", 1000 + (u32)id, id, put_stack(t, id, id << 20, 20, 0), 1 + i % 2);
		}
		want += 250;
		fr_prof_open(p, s * SEC, 0);
		assert_true(fr_prof_add_table(p, t, 0));
		free(t);
	}
	assert_int_equal(p->taken, want);
	assert_int_equal(sum_of(p).taken, want);
	assert_int_equal(sum(p), want);
	assert_int_equal(hits_of(p, "hot", 0), 300 * 100);
	assert_int_equal(hits_of(p, "cold", 0), 300 * 150);
	assert_true(p->stackless > 0);
	assert_int_equal(p->stackless, hits_without_stack(p));
	free(p);
}

/* More stacks between two readings than there is room for: the hits of those that found none are counted as such. */
static void without_room_for_stacks_they_are_counted(void **state)
{
	struct fr_prof *p = fr_prof_new(0);
	u64 s, id;

	(void)state;
	fr_prof_open(p, SEC, 0);
	for (s = 1; s <= 40; s++) {
		struct fr_hits_table *t = new_table();

		for (id = s * 1000; id < s * 1000 + 100; id++)
			hit(t, "deep", 5, id, put_stack(t, id, id << 20, 20, 0), 1);
		assert_true(fr_prof_add_table(p, t, 0));
		free(t);
	}
	assert_int_equal(sum(p), 4000);
	assert_true(p->stackless > 0 && p->stackless < 4000);
	assert_int_equal(p->stackless, hits_without_stack(p));
	free(p);
}

/* Names without end, too: the rarest become one. */
static void without_room_for_names_counts_stay_exact(void **state)
{
	struct fr_prof *p = fr_prof_new(0);
	u32 s, i, id;
	char name[16];

	(void)state;
	for (s = 1; s <= 300; s++) {
		struct fr_hits_table *t = new_table();

		hit(t, "hot", 5, 1, put_stack(t, 1, 0x400000, 10, 3), 100);
		for (i = 0; i < 100; i++) {
			id = s * 100 + i;
			snprintf(name, sizeof(name), "cold-%u", id);
			hit(t, name, id, id, put_stack(t, id, (u64)id << 20, 20, 0), 1);
		}
		fr_prof_open(p, s * SEC, 0);
		assert_true(fr_prof_add_table(p, t, 0));
		free(t);
	}
	assert_int_equal(sum(p), 300 * 200);
	assert_int_equal(hits_of(p, "hot", 0), 300 * 100);
	assert_true(hits_of(p, "[other]", 0) > 0);
	free(p);
}

/* Idle time of a machine with many CPUs, over more than an hour: one row in each piece, and room for all others. */
static void idle_time_takes_one_row(void **state)
{
	struct fr_prof *p = fr_prof_new(0);
	struct fr_hits_table *t = new_table();
	struct fr_hit k = {.state = FR_HIT_idle};
	char name[16];
	u32 i;

	(void)state;
	for (i = 0; i < 400; i++) {
		memset(k.comm, 0, sizeof(k.comm));
		snprintf(name, sizeof(name), "swapper/%u", i);
		memcpy(k.comm, name, strlen(name));
		assert_int_equal(fr_hits_count(t, 0, &k, 1), 0);
	}
	hit(t, "busy", 5, 1, put_stack(t, 1, 0x400000, 10, 3), 2);
	for (i = 1; i <= 450; i++) {
		fr_prof_open(p, i * 10 * SEC, 0);
		assert_true(fr_prof_add_table(p, t, 0));
	}
	assert_int_equal(hits_of(p, "[other]", 0), 0);
	assert_int_equal(p->stackless, 0);
	assert_int_equal(hits_of(p, "swapper", 0), sum(p) / 402 * 400);
	assert_true(p->hit_cnt <= 3 * p->bucket_cnt);
	free(t);
	free(p);
}

static u64 hits_with_stack(const struct fr_prof *p, const char *comm, u64 since_ns)
{
	const struct fr_prof_bucket *b;
	u64 n = 0;
	u32 i;

	for (b = p->bucket; b < p->bucket + p->bucket_cnt; b++)
		for (i = b->first; b->begin_ns >= since_ns && i < b->first + b->hit_cnt; i++) {
			const struct fr_prof_key *k = &p->key[p->hit[i].key];

			if (k->ustack && !strcmp(k->comm, comm))
				n += p->hit[i].hits;
		}
	return n;
}

/* As many keys of one hit each as the table says, from id on: of processes and stacks that never come again. */
static void put_cold(struct fr_hits_table *t, u64 id, u32 cnt)
{
	while (cnt--) {
		hit(t, "cold", (u32)id, id, put_stack(t, id, id << 20, 2, 0), 1);
		id++;
	}
}

/* A stack of a program of which each process lives for one sample: it is hot, though none of its keys is. */
static void processes_of_a_program_are_counted_together(void **state)
{
	struct fr_prof *p = fr_prof_new(0);
	u64 s;
	u32 i;

	(void)state;
	for (s = 1; s <= 300; s++) {
		struct fr_hits_table *t = new_table();

		for (i = 0; i < 50; i++)
			hit(t, "cc1", 100000 + (u32)s * 50 + i, 1, put_stack(t, 1, 0x1000, 10, 4), 1);
		put_cold(t, s * 1000, 100);
		fr_prof_open(p, s * SEC, 0);
		assert_true(fr_prof_add_table(p, t, 0));
		free(t);
	}
	assert_int_equal(sum(p), 300 * 150);
	assert_int_equal(hits_of(p, "cc1", 0), 300 * 50);
	assert_int_equal(hits_with_stack(p, "cc1", 0), 300 * 50);
	free(p);
}

/* Many stacks that were hot do not keep out those that are warm now. */
static void the_last_minute_has_its_stacks(void **state)
{
	struct fr_prof *p = fr_prof_new(0);
	u64 s;
	u32 i;

	(void)state;
	for (s = 1; s <= 660; s++) {
		struct fr_hits_table *t = new_table();

		for (i = 0; i < 100; i++) {
			u64 id = 1 + (s * 100 + i) % 2000;

			if (s <= 600)
				hit(t, "then", 5, id, put_stack(t, id, id << 8, 2, 3), 4);
			else if (i < 50)
				hit(t, "now", 6, 9000 + id % 500, put_stack(t, 9000 + id % 500, id % 500 << 8, 2, 4), 1);
		}
		put_cold(t, s * 1000, 100);
		fr_prof_open(p, s * SEC, 0);
		assert_true(fr_prof_add_table(p, t, 0));
		free(t);
	}
	assert_int_equal(sum(p), 600 * 400 + 60 * 50 + 660 * 100);
	assert_int_equal(hits_of(p, "now", 0), 60 * 50);
	/* its first hits may go with the cold ones, from which nothing tells them */
	assert_in_range(hits_with_stack(p, "now", 0), 60 * 50 * 2 / 3, 60 * 50);
	assert_in_range(hits_with_stack(p, "then", 0), 600 * 400 / 10, 600 * 400);
	free(p);
}

/* All stacks are new, and have the same count: the newest stay, as many as there is room for. */
static void of_equal_stacks_the_newest_stay(void **state)
{
	struct fr_prof *p = fr_prof_new(0);
	u64 s;

	(void)state;
	for (s = 1; s <= 300; s++) {
		struct fr_hits_table *t = new_table();

		put_cold(t, s * 1000, 200);
		fr_prof_open(p, s * SEC, 0);
		assert_true(fr_prof_add_table(p, t, 0));
		free(t);
		if (s > 20)
			assert_in_range(hits_with_stack(p, "cold", (s - 20) / 10 * 10 * SEC), 1800, 4000);
	}
	assert_int_equal(sum(p), 300 * 200);
	assert_int_equal(hits_of(p, "cold", 0), 300 * 200);
	assert_int_equal(p->stackless, hits_without_stack(p));
	free(p);
}

/* A reading brings more keys than there is room for: the last CPU's hot stack is there as the first one's. */
static void the_last_table_finds_room(void **state)
{
	struct fr_prof *p = fr_prof_new(0);
	u64 cpu;

	(void)state;
	fr_prof_open(p, SEC, 0);
	for (cpu = 1; cpu <= 40; cpu++) {
		struct fr_hits_table *t = new_table();

		if (cpu == 1)
			hit(t, "first", 5, 1, put_stack(t, 1, 0x400000, 10, 3), 50);
		put_cold(t, cpu * 1000, 200);
		if (cpu == 40)
			hit(t, "last", 6, 2, put_stack(t, 2, 0x500000, 10, 3), 50);
		assert_true(fr_prof_add_table(p, t, 0));
		free(t);
	}
	assert_int_equal(sum(p), 40 * 200 + 100);
	assert_int_equal(sum_of(p).taken, sum(p));
	assert_int_equal(p->bucket_cnt, 1);
	assert_int_equal(hits_with_stack(p, "first", 0), 50);
	assert_int_equal(hits_with_stack(p, "last", 0), 50);
	free(p);
}

static void equal_programs_share_their_stacks(void **state)
{
	struct fr_prof *p = fr_prof_new(0);
	struct fr_hits_table *t = new_table();
	u32 i, nodes;

	(void)state;
	hit(t, "cc1", 1, 1, put_stack(t, 1, 0x1000, 30, 4), 1);
	fr_prof_open(p, SEC, 0);
	fr_prof_add_table(p, t, 0);
	nodes = p->node_cnt;
	assert_int_equal(nodes, 30);
	for (i = 2; i < 50; i++) {
		memset(t, 0, fr_hits_table_sz(0));
		hit(t, "cc1", i, i, put_stack(t, i, 0x1000, 30, 4), 1);
		fr_prof_add_table(p, t, 0);
	}
	assert_int_equal(p->node_cnt, nodes);
	free(t);
	free(p);
}

/* ---- bytes ---- */

static struct fr_prof *some(void)
{
	struct fr_prof *p = fr_prof_new(0);
	struct fr_hits_table *t = new_table();
	u64 s;
	u32 i;

	for (s = 1; s < 40; s++) {
		memset(t, 0, fr_hits_table_sz(0));
		for (i = 0; i < 40; i++) {
			u64 id = 1 + rnd(60);

			hit(t, id % 2 ? "odd" : "even", id, id, put_stack(t, id, id << 16, 1 + id % 20, id % 5), 1 + rnd(9));
		}
		fr_prof_open(p, s * 7 * SEC, s * 90);
		fr_prof_add_table(p, t, 0);
	}
	fr_prof_add_nested(p, 3);
	p->hz = 99;
	p->cpu_cnt = 2;
	free(t);
	return p;
}

static void bytes_come_back(void **state)
{
	struct fr_prof *p = some(), *q;
	u8 *a = malloc(FR_PROF_SZ_MAX), *b = malloc(FR_PROF_SZ_MAX);
	size_t sz = fr_prof_write(p, a, FR_PROF_SZ_MAX), i;

	(void)state;
	assert_true(sz);
	assert_int_equal(fr_prof_write(p, b, sz - 1), 0);
	assert_int_equal(fr_prof_read(a, sz, &q), 0);
	assert_int_equal(fr_prof_write(q, b, FR_PROF_SZ_MAX), sz);
	assert_memory_equal(a, b, sz);
	/* what is read goes on like what was written */
	for (i = 0; i < 3; i++) {
		struct fr_hits_table *t = new_table();

		hit(t, "odd", 1, 1, put_stack(t, 1, 1 << 16, 2, 1), 5);
		fr_prof_open(p, (300 + i) * SEC, 5000);
		fr_prof_open(q, (300 + i) * SEC, 5000);
		fr_prof_add_table(p, t, 0);
		fr_prof_add_table(q, t, 0);
		free(t);
	}
	sz = fr_prof_write(p, a, FR_PROF_SZ_MAX);
	assert_int_equal(fr_prof_write(q, b, FR_PROF_SZ_MAX), sz);
	assert_memory_equal(a, b, sz);
	free(a);
	free(b);
	free(p);
	free(q);
}

static void changed_bytes_are_refused_or_sound(void **state)
{
	struct fr_prof *p = some(), *q;
	u8 *a = malloc(FR_PROF_SZ_MAX), *b = malloc(FR_PROF_SZ_MAX);
	size_t sz = fr_prof_write(p, a, FR_PROF_SZ_MAX), n;
	u32 round, good = 0;

	(void)state;
	for (round = 0; round < 3000; round++) {
		memcpy(b, a, sz);
		n = rnd(8) ? sz : rnd(sz);
		if (n == sz)
			b[rnd(rnd(2) ? 200 : sz)] ^= 1u << rnd(8);
		if (fr_prof_read(b, n, &q))
			continue;
		good++;
		assert_int_equal(n, sz);
		assert_int_equal(sum_of(q).taken, sum(q) + sum_of(q).lost);
		fr_prof_open(q, 1000 * SEC, 0);
		assert_true(fr_prof_write(q, b, FR_PROF_SZ_MAX));
		free(q);
	}
	assert_true(good > 0 && good < round);
	free(a);
	free(b);
	free(p);
}

/* Nothing was counted yet. */
static void one_without_buckets_comes_back(void **state)
{
	struct fr_prof *p = fr_prof_new(7), *q;
	u8 *bytes = malloc(FR_PROF_SZ_MAX);
	size_t sz = fr_prof_write(p, bytes, FR_PROF_SZ_MAX);

	(void)state;
	assert_int_equal(fr_prof_read(bytes, sz, &q), 0);
	assert_int_equal(q->bucket_cnt, 0);
	assert_int_equal(q->begin_ns, 7);
	free(bytes);
	free(p);
	free(q);
}

/* Where the parts of a profile begin in its bytes (docs/format.md). */
struct parts {
	u64 *frame;
	struct fr_prof_file *file;
	struct fr_prof_key *key;
	struct fr_prof_hit *hit;
};

static struct parts parts_of(const struct fr_prof *p, u8 *bytes)
{
	struct parts at = {.frame = (void *)(bytes + 88)};

	at.file = (void *)(bytes + 88 + p->node_cnt * 8 + p->bucket_cnt * 48);
	at.key = (void *)(at.file + p->file_cnt);
	at.hit = (void *)(at.key + p->key_cnt);
	return at;
}

static void each_number_is_checked(void **state)
{
	struct fr_prof *p = some(), *q;
	u8 *good = malloc(FR_PROF_SZ_MAX), *bad = malloc(FR_PROF_SZ_MAX), *little;
	size_t sz = fr_prof_write(p, good, FR_PROF_SZ_MAX);
	struct parts at = parts_of(p, bad);
	u32 i;

	(void)state;
	assert_true(p->file_cnt > 1 && p->key_cnt > 1);
#define WRONG(what)                                \
	memcpy(bad, good, sz);                     \
	what;                                      \
	if (fr_prof_read(bad, sz, &q) != -EBADMSG) \
	fail_msg("believed: %s", #what)
	WRONG(at.key[1].kstack = p->node_cnt + 1);
	WRONG(at.key[1].ustack = p->node_cnt + 1);
	WRONG(at.key[1].state = FR_HIT_STATE_CNT);
	WRONG(memset(at.key[1].comm, 'a', sizeof(at.key[1].comm)));
	WRONG(at.hit[0].key = p->key_cnt);
	WRONG(at.hit[p->bucket[p->bucket_cnt - 1].first].key = 1); /* what is added later could find no room */
	WRONG(at.file[0].sz = 0);
	WRONG(at.file[0].sz = sizeof(at.file[0].build_id) + 1);
	for (i = 0; !fr_prof_is_file(p->node[i].frame); i++)
		;
	WRONG(at.frame[i] = 1ULL << 62 | (u64)p->file_cnt << FR_PROF_OFF_BITS);
	little = malloc(80); /* a sanitizer tells if it is taken for a head */
	memcpy(little, good, 80);
	assert_int_equal(fr_prof_read(little, 80, &q), -EBADMSG);
	free(little);
	free(good);
	free(bad);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_tables_held_is_in_it),
		cmocka_unit_test(what_contradicts_itself_is_told),
		cmocka_unit_test(no_word_of_a_table_is_believed),
		cmocka_unit_test(old_time_is_put_together_and_goes),
		cmocka_unit_test(without_room_counts_stay_exact),
		cmocka_unit_test(without_room_for_stacks_they_are_counted),
		cmocka_unit_test(without_room_for_names_counts_stay_exact),
		cmocka_unit_test(idle_time_takes_one_row),
		cmocka_unit_test(processes_of_a_program_are_counted_together),
		cmocka_unit_test(the_last_minute_has_its_stacks),
		cmocka_unit_test(of_equal_stacks_the_newest_stay),
		cmocka_unit_test(the_last_table_finds_room),
		cmocka_unit_test(equal_programs_share_their_stacks),
		cmocka_unit_test(bytes_come_back),
		cmocka_unit_test(changed_bytes_are_refused_or_sound),
		cmocka_unit_test(one_without_buckets_comes_back),
		cmocka_unit_test(each_number_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
