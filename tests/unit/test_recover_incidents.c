/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The incident log in a crash dump: the snapshot has the session's own records, each once and as it was, wherever their pages
 * lie; what is missing is told, and nothing that was not recorded is made up.
 */
#include "recover_run.h"

#define OTHER	 0x77777777u
#define CNT	 64u /* records of a log: five pages with its head */
#define PER_PAGE (FR_PAGE_SZ / FR_INCIDENT_SZ)
#define MISSING	 "missing in the crash dump, or being written"

/* The exit status; messages are in told. */
static int recover(struct host_dump *d, const char *session)
{
	assert_int_equal(host_dump_save(d, core), 0);
	remove(out);
	return recover_session(session);
}

/* ---- what was recorded ---- */

/* A session but its log: one ring, and what says that it is one. */
static void put_session(struct host_dump *d, u32 epoch, const char *name)
{
	struct host_ring *h = host_ring_new(0, FR_TIER_MAIN, 4, 1);

	h->r.epoch = epoch;
	host_ring_fill(h, 50);
	host_dump_ring(d, h);
	host_ring_free(h);
	host_dump_session(d, epoch, true);
	host_dump_text(d, epoch, 5, name);
}

/* With a log of which next numbers were claimed. */
static struct host_dump make(u64 next)
{
	struct host_dump d = {};

	put_session(&d, EPOCH, "this");
	host_dump_log(&d, EPOCH, CNT, next);
	return d;
}

/* Record nr in the dump; NULL: it is not there. */
static struct fr_incident *find(const struct host_dump *d, u32 epoch, u64 nr)
{
	const struct fr_incident want = host_dump_incident(epoch, nr);
	u32 i, k;

	for (i = 0; i < d->cnt; i++)
		for (k = 0; k < PER_PAGE; k++)
			if (!memcmp(d->page[i].bytes + k * FR_INCIDENT_SZ, &want, sizeof(want)))
				return (void *)(d->page[i].bytes + k * FR_INCIDENT_SZ);
	return NULL;
}

static struct fr_incident_head *find_head(const struct host_dump *d)
{
	u32 i;

	for (i = 0; i < d->cnt; i++)
		if (((struct fr_incident_head *)&d->page[i])->magic == FR_INCIDENT_MAGIC)
			return (void *)&d->page[i];
	return NULL;
}

/* The page that a record of the dump is in. */
static struct host_page *page_of(const struct host_dump *d, const void *at)
{
	return &d->page[((const u8 *)at - (const u8 *)d->page) / sizeof(struct host_page)];
}

/* ---- what must come of it ---- */

struct gone {
	u64 from, to; /* numbers that are not expected */
};

/* The records of an epoch from number first to next, but those that are gone; and no others. */
static void check(u32 epoch, u64 first, u64 next, struct gone gone, const char *recovered)
{
	const struct fr_snap_incident *inc;
	struct fr_incident want;
	struct fr_snap *s = open_out();
	size_t cnt, at = 0;
	u64 nr;

	inc = fr_snap_incidents(s, &cnt);
	for (nr = first; nr < next; nr++) {
		if (nr >= gone.from && nr < gone.to)
			continue;
		assert_true(at < cnt);
		want = host_dump_incident(epoch, nr);
		want.flags &= FR_INCIDENT_FLAGS;
		assert_int_equal(inc[at].epoch, epoch);
		assert_memory_equal(&inc[at].rec, &want, sizeof(want));
		at++;
	}
	assert_int_equal(at, cnt);
	fr_snap_close(s);
	check_fact("recovered", recovered);
}

#define NONE ((struct gone){})
#define ALL  "pages=0;rings=0"

/* ---- whole logs ---- */

static void each_record_is_there_in_any_order_of_pages(void **state)
{
	static const u64 nexts[] = {0, 1, 15, 16, CNT - 1, CNT, CNT + 1, 3 * CNT + 7, 1ull << 40};
	struct host_dump d;
	char next[24];
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(nexts) / sizeof(*nexts); i++) {
		d = make(nexts[i]);
		host_dump_noise(&d, 100);
		host_dump_shuffle(&d);
		assert_int_equal(recover(&d, NULL), FR_EXIT_OK);
		assert_null(strstr(told, "warning"));
		check(EPOCH, nexts[i] > CNT ? nexts[i] - CNT : 0, nexts[i], NONE, ALL);
		snprintf(next, sizeof(next), "%llu", (unsigned long long)nexts[i]);
		check_fact("incidents_recorded", next);
		check_fact("incidents_dropped", "5");
		free(d.page);
	}
}

static void each_session_gets_its_own(void **state)
{
	struct host_dump d = make(100);

	(void)state;
	put_session(&d, OTHER, "that");
	host_dump_log(&d, OTHER, CNT, 50);
	host_dump_shuffle(&d);
	assert_int_equal(recover(&d, "this"), FR_EXIT_OK);
	check(EPOCH, 100 - CNT, 100, NONE, ALL);
	assert_int_equal(recover(&d, "that"), FR_EXIT_OK);
	check(OTHER, 0, 50, NONE, ALL);
	free(d.page);
}

/* Pages that are there twice, and the kernel's buffer with the head of the new log. */
static void copies_do_no_harm(void **state)
{
	const struct fr_incident_head fresh = {.magic = FR_INCIDENT_MAGIC, .cnt = CNT, .epoch = EPOCH};
	struct host_dump d = make(100);
	u32 i, cnt = d.cnt;

	(void)state;
	for (i = 0; i < cnt; i++)
		host_dump_page(&d, &(struct host_page[]){d.page[i]}, FR_PAGE_SZ);
	host_dump_page(&d, &fresh, sizeof(fresh));
	for (i = 0; i < 3; i++) {
		host_dump_shuffle(&d);
		assert_int_equal(recover(&d, NULL), FR_EXIT_OK);
		check(EPOCH, 100 - CNT, 100, NONE, ALL);
	}
	free(d.page);
}

/* ---- what is missing ---- */

/* Numbers 79 to 94 are in the second page: element 1 + 79 % 64 of the log is 16. */
static void a_missing_page_is_told(void **state)
{
	struct host_dump d = make(100);

	(void)state;
	assert_ptr_equal(page_of(&d, find(&d, EPOCH, 79)), page_of(&d, find(&d, EPOCH, 94)));
	host_dump_remove(&d, page_of(&d, find(&d, EPOCH, 79)));
	assert_int_equal(recover(&d, NULL), FR_EXIT_CORRUPT);
	assert_non_null(strstr(told, "16 incidents " MISSING));
	check(EPOCH, 100 - CNT, 100, (struct gone){79, 95}, ALL ";incidents=16");
	free(d.page);
}

/* With its number as nothing but order, what is there is taken. */
static void without_its_head_the_records_are_there(void **state)
{
	struct host_dump d = make(100);
	struct fr_snap *s;

	(void)state;
	find_head(&d)->magic ^= 1;
	assert_int_equal(recover(&d, NULL), FR_EXIT_CORRUPT);
	assert_non_null(strstr(told, "how many incidents are missing is not known"));
	check(EPOCH, 100 - CNT, 100, NONE, ALL ";logs=1");
	s = open_out();
	assert_null(fr_snap_fact(s, "incidents_recorded"));
	fr_snap_close(s);
	free(d.page);
}

static void without_a_log_there_are_none(void **state)
{
	struct host_dump d = {};

	(void)state;
	put_session(&d, EPOCH, "this");
	assert_int_equal(recover(&d, NULL), FR_EXIT_CORRUPT);
	check(EPOCH, 0, 0, NONE, ALL ";logs=1");
	free(d.page);
}

/* The kernel stopped while record 99 was being written over record 35: at each step of that. */
static void a_record_being_written_is_told(void **state)
{
	struct fr_incident new = host_dump_incident(EPOCH, 99), *rec;
	struct host_dump d;
	u32 step;

	(void)state;
	for (step = 0; step < 4; step++) {
		d = make(99);
		rec = find(&d, EPOCH, 35);
		find_head(&d)->next = 100;
		if (step)
			memset((u64 *)rec + 1, 0, sizeof(*rec) - 8);
		if (step > 1)
			memcpy((u64 *)rec + 1, (u64 *)&new + 1, sizeof(new) - 8);
		if (step == 2)
			rec->flags &= FR_INCIDENT_FLAGS;
		assert_int_equal(recover(&d, NULL), FR_EXIT_CORRUPT);
		assert_non_null(strstr(told, "1 incident " MISSING));
		check(EPOCH, 36, 99, NONE, ALL ";incidents=1");
		free(d.page);
	}
}

static void copies_of_a_record_that_differ_are_left_out(void **state)
{
	struct host_dump d = make(100);
	struct host_page copy = *page_of(&d, find(&d, EPOCH, 80));

	(void)state;
	find(&d, EPOCH, 80)->text[3] = '?';
	host_dump_page(&d, &copy, FR_PAGE_SZ);
	assert_int_equal(recover(&d, NULL), FR_EXIT_CORRUPT);
	check(EPOCH, 100 - CNT, 100, (struct gone){80, 81}, ALL ";incidents=1");
	free(d.page);
}

/* ---- what is damaged ---- */

/* Heads that no log has: it is as if there were none. */
static void heads_that_cannot_be_are_none(void **state)
{
	static const u32 cnts[] = {0, 1, FR_INCIDENT_CNT_MIN / 2, 63, 2 * FR_INCIDENT_CNT_MAX, ~0u};
	struct fr_incident_head *h;
	struct host_dump d;
	u32 i;

	(void)state;
	for (i = 0; i <= sizeof(cnts) / sizeof(*cnts); i++) {
		d = make(100);
		h = find_head(&d);
		if (i < sizeof(cnts) / sizeof(*cnts))
			h->cnt = cnts[i];
		else
			h->saved = 101;
		assert_int_equal(recover(&d, NULL), FR_EXIT_CORRUPT);
		check(EPOCH, 100 - CNT, 100, NONE, ALL ";logs=1");
		free(d.page);
	}
}

/* Its numbers may be any: of the log there is no more than was found, and all the rest of the session. */
static void a_head_that_lies_takes_nothing_else_with_it(void **state)
{
	static const u64 nexts[] = {0, 40, 1000, ~0ull};
	struct host_dump d;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(nexts) / sizeof(*nexts); i++) {
		d = make(100);
		find_head(&d)->next = nexts[i];
		assert_int_equal(recover(&d, NULL), nexts[i] ? FR_EXIT_CORRUPT : FR_EXIT_OK);
		check(EPOCH, 36, i == 1 ? 40 : 36, NONE, i == 0 ? ALL : i == 1 ? ALL ";incidents=36" : ALL ";incidents=64");
		free(d.page);
	}
}

/* Any bits of the log's pages: only the record that they are in is another one, or missing. */
static void damaged_records_harm_no_other(void **state)
{
	const struct fr_snap_incident *inc;
	struct fr_incident want;
	struct host_dump d;
	struct fr_snap *s;
	size_t cnt, i;
	u64 nr, bad;
	u32 round, at;

	(void)state;
	for (round = 0; round < 200; round++) {
		d = make(100);
		bad = 36 + host_random() % CNT;
		at = host_random() % FR_INCIDENT_SZ;
		((u8 *)find(&d, EPOCH, bad))[at] ^= 1u << host_random() % 8;
		recover(&d, NULL);
		s = open_out();
		inc = fr_snap_incidents(s, &cnt);
		for (nr = 36, i = 0; nr < 100; nr++) {
			want = host_dump_incident(EPOCH, nr);
			want.flags &= FR_INCIDENT_FLAGS;
			if (i < cnt && inc[i].rec.done == nr + 1)
				assert_true(!memcmp(&inc[i++].rec, &want, sizeof(want)) || nr == bad);
			else
				assert_true(nr == bad || at < sizeof(u64));
		}
		assert_int_equal(i, cnt);
		fr_snap_close(s);
		free(d.page);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_record_is_there_in_any_order_of_pages),
		TEST(each_session_gets_its_own),
		TEST(copies_do_no_harm),
		TEST(a_missing_page_is_told),
		TEST(without_its_head_the_records_are_there),
		TEST(without_a_log_there_are_none),
		TEST(a_record_being_written_is_told),
		TEST(copies_of_a_record_that_differ_are_left_out),
		TEST(heads_that_cannot_be_are_none),
		TEST(a_head_that_lies_takes_nothing_else_with_it),
		TEST(damaged_records_harm_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
