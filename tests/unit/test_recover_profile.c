/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The merged profile in a crash dump: the one that was stored last, whole, of the session that is meant; or none, and told. */
#include "recover_run.h"

#include "base/profile/prof.h"

#define OTHER 0x77777777u
#define TASKS 250u /* so that it takes several pages */
#define PARTS "the profile is not whole in the crash dump"

/* The exit status; messages are in told. */
static int recover(struct host_dump *d)
{
	host_dump_shuffle(d);
	assert_int_equal(host_dump_save(d, core), 0);
	remove(out);
	return recover_session("this");
}

/* A profile of many tasks, each of which was hit so often. */
static struct fr_prof *make_profile(u32 hits)
{
	struct fr_prof *p = fr_prof_new(1000);
	struct fr_hits_table *t = calloc(1, fr_hits_table_sz(0));
	u32 i;

	for (i = 0; i < TASKS; i++) {
		struct fr_hit k = {.task = (u64)(i + 1) << 32 | (i + 1), .state = FR_HIT_user, .comm = {'a' + i % 26}};
		u32 n;

		for (n = 0; n < hits; n++)
			assert_int_equal(fr_hits_count(t, 0, &k, 1000 + n), 0);
	}
	t->taken = TASKS * hits;
	fr_prof_open(p, 2000000000, 7);
	assert_true(fr_prof_add_table(p, t, 0));
	free(t);
	return p;
}

/* Its pages, as reader number seq stores them. Returns how many. */
static u32 put_profile(struct host_dump *d, u32 epoch, u64 seq, u32 hits)
{
	static u8 bytes[FR_PROF_SZ_MAX];
	struct fr_prof *p = make_profile(hits);
	size_t sz = fr_prof_write(p, bytes, sizeof(bytes));
	u32 cnt = fr_pages_cnt(sz), i;
	struct fr_text_page *page = calloc(cnt, sizeof(*page));

	fr_pages_put_as(page, (struct fr_mark){FR_PROFILE_MAGIC, epoch}, seq, bytes, sz);
	for (i = 0; i < cnt; i++)
		host_dump_page(d, &page[i], sizeof(page[i]));
	free(page);
	free(p);
	return cnt;
}

static struct host_dump make(void)
{
	struct host_ring *h = host_ring_new(0, FR_TIER_MAIN, 4, 1);
	struct host_dump d = {};

	host_ring_fill(h, 50);
	host_dump_ring(&d, h);
	host_ring_free(h);
	host_dump_rest(&d, EPOCH, "this", true);
	return d;
}

/* Its page of that number. */
static struct host_page *find(const struct host_dump *d, u64 seq, u32 nr)
{
	u32 i;

	for (i = 0; i < d->cnt; i++) {
		const struct fr_text_page *p = (void *)&d->page[i];

		if (p->mark.magic == FR_PROFILE_MAGIC && p->made_ns == seq && p->nr == nr)
			return &d->page[i];
	}
	return NULL;
}

/* The snapshot has the profile in which each task was hit so often; 0: it has none. */
static void check(u32 hits, const char *recovered)
{
	struct fr_snap *s = open_out();
	const struct fr_prof *p;
	u32 i;

	assert_string_equal(fr_snap_fact(s, "recovered"), recovered);
	p = fr_snap_profile(s);
	if (hits) {
		assert_non_null(p);
		assert_int_equal(p->taken, TASKS * hits);
		for (i = 0; i < p->hit_cnt; i++)
			assert_int_equal(p->hit[i].hits, p->hit[i].key == FR_PROF_OTHER ? 0 : hits);
	} else {
		assert_null(p);
	}
	fr_snap_close(s);
}

#define ALL "pages=0;rings=0"

static void the_one_stored_last_is_there(void **state)
{
	struct host_dump d = make();

	(void)state;
	assert_true(put_profile(&d, EPOCH, 7, 2) > 1);
	put_profile(&d, EPOCH, 6, 1);
	put_profile(&d, OTHER, 9, 3);
	assert_int_equal(recover(&d), FR_EXIT_OK);
	check(2, ALL);
	assert_null(strstr(told, "warning"));
	free(d.page);
}

/* Nobody has read it yet, or the session counts none. */
static void where_there_is_none_nothing_is_missing(void **state)
{
	struct host_dump d = make();

	(void)state;
	put_profile(&d, OTHER, 9, 3);
	assert_int_equal(recover(&d), FR_EXIT_OK);
	check(0, ALL);
	free(d.page);
}

/* The reader was stopped while it stored, or a page is missing: the one before is whole. */
static void in_place_of_parts_there_is_the_one_before(void **state)
{
	struct host_dump d = make();

	(void)state;
	put_profile(&d, EPOCH, 7, 2);
	put_profile(&d, EPOCH, 6, 1);
	host_dump_remove(&d, find(&d, 7, 1));
	assert_int_equal(recover(&d), FR_EXIT_OK);
	check(1, ALL);
	host_dump_remove(&d, find(&d, 6, 0));
	assert_int_equal(recover(&d), FR_EXIT_CORRUPT);
	assert_non_null(strstr(told, PARTS));
	check(0, ALL ";profiles=1");
	free(d.page);
}

/* Whole pages that hold no profile: what they say is not believed. */
static void what_is_no_profile_is_left_out(void **state)
{
	struct host_dump d = make();
	struct fr_text_page page;
	u8 bytes[500];
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = host_random();
	fr_pages_put_as(&page, (struct fr_mark){FR_PROFILE_MAGIC, EPOCH}, 5, bytes, sizeof(bytes));
	host_dump_page(&d, &page, sizeof(page));
	assert_int_equal(recover(&d), FR_EXIT_CORRUPT);
	check(0, ALL ";profiles=1");
	free(d.page);
}

/* A size that no profile has makes a page none at all. */
static void sizes_that_cannot_be_are_none(void **state)
{
	static const u32 sizes[] = {FR_PAGES_PROFILE_MAX_SZ + 1, 1u << 31, ~0u};
	struct host_dump d;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		d = make();
		put_profile(&d, EPOCH, 7, 2);
		((struct fr_text_page *)find(&d, 7, 0))->sz = sizes[i];
		assert_int_equal(recover(&d), FR_EXIT_CORRUPT);
		check(0, ALL ";profiles=1");
		free(d.page);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_one_stored_last_is_there),
		TEST(where_there_is_none_nothing_is_missing),
		TEST(in_place_of_parts_there_is_the_one_before),
		TEST(what_is_no_profile_is_left_out),
		TEST(sizes_that_cannot_be_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
