/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Laps become chunks, in threads or not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rows/columns.h"
#include "host_ring.h"
#include "read/snapfile/chunker.h"
#include "read/snapfile/pack.h"

#define RING_CNT  3u
#define CHUNK_MAX 64u
#define LAP_MAX	  256u

/* What came back. */
struct got {
	u32 cnt;
	u32 row_cnt[CHUNK_MAX], tag_cnt[CHUNK_MAX];
	size_t sz[CHUNK_MAX];
	u8 *packed[CHUNK_MAX];
	u64 tag[LAP_MAX];
	u32 tags;
};

static struct fr_chunker *chunker(size_t raw_cap, u32 jobs)
{
	struct fr_chunker *c;

	assert_int_equal(fr_chunker_new(raw_cap, jobs, &c), 0);
	fr_chunker_use_schema(c, fr_schema_builtin());
	return c;
}

/* Take the oldest chunk. False: none has ended. */
static bool take(struct fr_chunker *c, struct got *g)
{
	struct fr_chunked chunk;
	int ret = fr_chunker_take(c, &chunk);
	u32 i;

	if (!ret)
		return false;
	assert_int_equal(ret, 1);
	assert_in_range(g->cnt, 0, CHUNK_MAX - 1);
	g->row_cnt[g->cnt] = chunk.rows->cnt;
	g->tag_cnt[g->cnt] = chunk.tag_cnt;
	g->sz[g->cnt] = chunk.packed_sz;
	g->packed[g->cnt] = malloc(chunk.packed_sz);
	memcpy(g->packed[g->cnt++], chunk.packed, chunk.packed_sz);
	for (i = 0; i < chunk.tag_cnt; i++)
		g->tag[g->tags++] = (uintptr_t)chunk.tag[i];
	fr_chunker_release(c);
	return true;
}

static void forget(struct got *g)
{
	while (g->cnt)
		free(g->packed[--g->cnt]);
}

static struct fr_rows_lap lap_of(const struct fr_snap_lap *l)
{
	return (struct fr_rows_lap){l->buf, l->sz, l->epoch, l->cpu, l->tier, l->seq, 0, NULL};
}

static void put(struct fr_chunker *c, const struct fr_rows_lap *lap, uintptr_t tag, struct got *g)
{
	int err;

	while ((err = fr_chunker_put_lap(c, lap, 0, (void *)tag)) == -EAGAIN)
		assert_true(take(c, g));
	assert_int_equal(err, 0);
}

static void take_all(struct fr_chunker *c, struct got *g)
{
	fr_chunker_end(c);
	while (take(c, g))
		;
}

static struct host_ring *ring(u16 cpu, u32 slots, u32 pages)
{
	struct host_ring *h = host_ring_new(cpu, FR_TIER_MAIN, slots, pages);

	h->remember = false;
	host_ring_fill(h, 60000);
	return h;
}

/* All laps of some rings, with tags from 1 on, by so many jobs. */
static struct got by_jobs(struct host_ring *const *h, u32 jobs)
{
	struct fr_chunker *c = chunker(FR_CHUNKER_TARGET_SZ, jobs);
	struct fr_snap_lap lap;
	struct got g = {0};
	uintptr_t tag = 0;
	u32 r, i;

	for (r = 0; r < RING_CNT; r++)
		for (i = 0; host_ring_lap(h[r], i, &lap); i++)
			if (lap.sz) {
				struct fr_rows_lap l = lap_of(&lap);

				put(c, &l, ++tag, &g);
			}
	take_all(c, &g);
	fr_chunker_free(c);
	return g;
}

static void test_jobs_change_nothing(void **state)
{
	struct host_ring *h[RING_CNT] = {ring(0, 32, 16), ring(1, 8, 32), ring(2, 40, 4)};
	struct got one = by_jobs(h, 1), more;
	u32 jobs, i;

	(void)state;
	assert_in_range(one.cnt, 6, CHUNK_MAX);
	for (i = 0; i < one.tags; i++)
		assert_int_equal(one.tag[i], i + 1);
	for (jobs = 2; jobs < 6; jobs++) {
		more = by_jobs(h, jobs);
		assert_int_equal(more.cnt, one.cnt);
		assert_int_equal(more.tags, one.tags);
		assert_memory_equal(more.tag, one.tag, one.tags * sizeof(*one.tag));
		for (i = 0; i < one.cnt; i++) {
			assert_int_equal(more.row_cnt[i], one.row_cnt[i]);
			assert_int_equal(more.tag_cnt[i], one.tag_cnt[i]);
			assert_int_equal(more.sz[i], one.sz[i]);
			assert_memory_equal(more.packed[i], one.packed[i], one.sz[i]);
		}
		forget(&more);
	}
	forget(&one);
	for (i = 0; i < RING_CNT; i++)
		host_ring_free(h[i]);
}

/* What a chunk cannot take, since its time would run backwards, is in the next one, and nothing is lost. */
static void test_a_clock_that_runs_backwards(void **state)
{
	struct fr_chunker *c = chunker(FR_CHUNKER_TARGET_SZ, 2);
	struct fr_snap_lap snap;
	struct host_ring *h;
	struct fr_rows_lap lap[8];
	struct got g = {0};
	u32 i, off;

	(void)state;
	host_clock_ns += 1ULL << 49;
	h = ring(0, 8, 2);
	for (i = 0; i < 8; i++) {
		assert_true(host_ring_lap(h, i, &snap));
		lap[i] = lap_of(&snap);
	}
	for (i = 3; i < 8; i++)
		for (off = 0; off < lap[i].sz; off += FR_PAGE_SZ)
			((struct fr_page_head *)((u8 *)lap[i].buf + off))->base_ns -=
				1ULL << FR_TIME_BITS; /* the low bits are in the records */
	for (i = 0; i < 8; i++)
		put(c, &lap[i], i + 1, &g);
	take_all(c, &g);
	assert_int_equal(g.cnt, 2);
	assert_int_equal(g.tag_cnt[0], 3);
	assert_int_equal(g.tag_cnt[1], 5);
	assert_true(g.row_cnt[0] && g.row_cnt[1] > g.row_cnt[0]);
	for (i = 0; i < 8; i++)
		assert_int_equal(g.tag[i], i + 1);
	forget(&g);
	fr_chunker_free(c);
	host_ring_free(h);
}

static void test_what_is_refused(void **state)
{
	struct fr_chunker *c = chunker(64u << 10, 1);
	struct host_ring *h = ring(0, 4, 32), *other = ring(1, 4, 2);
	struct fr_snap_lap snap;
	struct fr_rows_lap lap;
	struct got g = {0};

	(void)state;
	assert_true(host_ring_lap(h, 0, &snap));
	lap = lap_of(&snap);
	assert_int_equal(fr_chunker_put_lap(c, &lap, 0, NULL), -ENOBUFS); /* 128 KiB */
	lap.sz = 0;
	assert_int_equal(fr_chunker_put_lap(c, &lap, 0, NULL), -EINVAL);
	lap.sz = 7;
	assert_int_equal(fr_chunker_put_lap(c, &lap, 0, NULL), -EINVAL);
	assert_false(take(c, &g));
	lap.sz = FR_PAGE_SZ;
	assert_int_equal(fr_chunker_put_lap(c, &lap, 0, NULL), 0);
	assert_false(take(c, &g)); /* it has not ended */
	assert_true(host_ring_lap(other, 0, &snap));
	lap = lap_of(&snap);
	assert_int_equal(fr_chunker_put_lap(c, &lap, 0, NULL), -EAGAIN); /* another ring's, and there is one slot */
	assert_true(take(c, &g));
	assert_int_equal(fr_chunker_put_lap(c, &lap, 0, NULL), 0);
	fr_chunker_free(c); /* with a chunk that nobody took */
	forget(&g);
	host_ring_free(h);
	host_ring_free(other);
}

/* Given up with work in progress and work that has not begun. */
static void test_free_at_any_time(void **state)
{
	struct host_ring *h = ring(0, 32, 16);
	struct fr_snap_lap snap;
	u32 jobs, i;

	(void)state;
	for (jobs = 1; jobs < 6; jobs++) {
		struct fr_chunker *c = chunker(FR_CHUNKER_TARGET_SZ, jobs);

		for (i = 0; host_ring_lap(h, i, &snap); i++) {
			struct fr_rows_lap lap = lap_of(&snap);

			if (lap.sz && fr_chunker_put_lap(c, &lap, 0, NULL))
				break;
		}
		fr_chunker_free(c);
	}
	host_ring_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jobs_change_nothing),
		cmocka_unit_test(test_a_clock_that_runs_backwards),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_free_at_any_time),
	};

	return cmocka_run_group_tests_name("chunker", tests, NULL, NULL);
}
