/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Crash dumps of rings: which session is recovered, of none, one or several, with parts of them missing. */
#include "recover_rig.h"

#define OTHER 0x77777777u /* another session's epoch */

/* ---- sessions ---- */

static void no_session(const char *name, const char *words)
{
	fails(recover_session(name), FR_EXIT_NO_SESSION, words);
}

static void a_dump_of_no_session(void **state)
{
	struct rig r = {};

	(void)state;
	host_dump_noise(&r.d, 100);
	fails(recover_as_is(&r), FR_EXIT_NO_SESSION, "has no session of flightrec");
	free(r.d.page);
}

static void without_its_text_a_session_has_no_name(void **state)
{
	struct rig r;
	u32 i, whole;

	(void)state;
	fill(&r);
	put_rings(&r);
	whole = r.d.cnt;
	host_dump_rest(&r.d, EPOCH, "this", true);
	for (i = whole; i < r.d.cnt; i++) {
		struct host_page was = r.d.page[i];

		if (((struct fr_text_page *)&was)->mark.magic != FR_TEXT_MAGIC)
			continue;
		memset(&r.d.page[i], 0, FR_PAGE_SZ);
		fails(recover_as_is(&r), FR_EXIT_NO_SESSION, "a session of which only parts are there");
		r.d.page[i] = was;
	}
	assert_int_equal(recover_as_is(&r), FR_EXIT_OK);
	drop(&r);
}

/* Its facts alone: what is behind their end is not looked at. */
static void a_text_without_a_schema_is_none(void **state)
{
	static const char facts[] = "session=this\n";
	struct fr_text_page page;
	struct rig r;

	(void)state;
	fill(&r);
	put_rings(&r);
	host_dump_session(&r.d, EPOCH, true);
	fr_pages_put(&page, EPOCH, 5, facts, strlen(facts));
	host_dump_page(&r.d, &page, sizeof(page));
	fails(recover_as_is(&r), FR_EXIT_NO_SESSION, "a session of which only parts are there");
	drop(&r);
}

/* Another session's ring; what it is called, and whether it records. */
static void add_other(struct rig *r, const char *name, bool records)
{
	struct host_ring *h = record(OTHER, 0, FR_TIER_MAIN, 1000);

	host_dump_ring(&r->d, h);
	host_dump_rest(&r->d, OTHER, name, records);
	host_ring_free(h);
}

static void of_several_sessions_one_is_chosen(void **state)
{
	struct rig r;

	(void)state;
	make(&r);
	add_other(&r, "that", true);
	fails(recover(&r), FR_EXIT_NO_SESSION, "has several sessions:");
	has_told("this");
	has_told("that");
	no_session("thi", "has no session 'thi', but ");
	assert_int_equal(recover_session("this"), FR_EXIT_OK);
	check_rings(&r, RINGS);
	check_fact("session", "this");
	assert_int_equal(remove(out), 0);
	assert_int_equal(recover_session("that"), FR_EXIT_OK);
	check_fact("session", "that");
	drop(&r);
}

static void one_that_had_ended_counts_if_there_is_no_other(void **state)
{
	struct rig r;

	(void)state;
	make(&r);
	add_other(&r, "that", false);
	assert_int_equal(recover(&r), FR_EXIT_OK);
	check_fact("session", "this");
	check_rings(&r, RINGS);
	assert_null(strstr(told, "had ended"));
	assert_int_equal(remove(out), 0);
	assert_int_equal(recover_session("that"), FR_EXIT_OK);
	has_told("session 'that' had ended");
	check_fact("session", "that");
	assert_int_equal(remove(out), 0);
	drop(&r);
	fill(&r);
	put_rings(&r);
	host_dump_rest(&r.d, EPOCH, "this", false);
	assert_int_equal(recover(&r), FR_EXIT_OK);
	has_told("session 'this' had ended");
	check_rings(&r, RINGS);
	drop(&r);
}

/* A name that was used again: the session that records is meant. */
static void of_two_with_one_name_the_recording_one(void **state)
{
	struct rig r;

	(void)state;
	make(&r);
	add_other(&r, "this", false);
	assert_int_equal(recover(&r), FR_EXIT_OK);
	check_rings(&r, RINGS);
	drop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_dump_of_no_session),
		TEST(without_its_text_a_session_has_no_name),
		TEST(a_text_without_a_schema_is_none),
		TEST(of_several_sessions_one_is_chosen),
		TEST(one_that_had_ended_counts_if_there_is_no_other),
		TEST(of_two_with_one_name_the_recording_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
