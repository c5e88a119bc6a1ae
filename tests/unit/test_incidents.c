/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The incident log (bpf/incident.h), one step at a time: what is full, what is freed, what a reader gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "incident.h"

#define SLOTS 4u

static struct fr_incident_head head;
static struct fr_incident slot[SLOTS];
static const struct fr_inc_log logged = {.head = &head, .cnt = SLOTS};

FR_INLINE void *fr_incident_at(const struct fr_inc_log *log, u32 nr)
{
	(void)log;
	return nr ? (void *)&slot[nr - 1] : &head;
}

static int set_up(void **state)
{
	(void)state;
	head = (struct fr_incident_head){};
	__builtin_memset(slot, 0, sizeof(slot));
	return 0;
}

/* Write a record. Returns its number, or ~0. */
static u64 put(u32 kind)
{
	u64 seq = fr_incident_claim(&logged, kind);
	struct fr_incident *s = fr_incident_slot(&logged, seq);

	if (seq == ~0ULL)
		return seq;
	fr_incident_clear(s);
	s->kind = kind;
	s->pid = seq;
	fr_incident_finish(s, seq);
	return seq;
}

/* It is read in words. */
static enum fr_incident_read get(u64 seq, struct fr_incident *out)
{
	u64 word[FR_INCIDENT_WORDS] = {};
	enum fr_incident_read got = fr_incident_read(&logged, seq, (void *)word);

	__builtin_memcpy(out, word, sizeof(*out));
	return got;
}

static void expect_there(u64 seq)
{
	struct fr_incident got;

	assert_int_equal(get(seq, &got), FR_INCIDENT_GOT);
	assert_int_equal(got.pid, seq);
}

/* A full log keeps the oldest, and counts by kind what it has no room for. */
static void test_full(void **state)
{
	u64 i;

	(void)state;
	for (i = 0; i < SLOTS; i++)
		assert_int_equal(put(FR_INCIDENT_oom), i);
	for (i = 0; i < 3; i++)
		assert_int_equal(put(FR_INCIDENT_signal), ~0ULL);
	assert_int_equal(put(FR_INCIDENT_oom), ~0ULL);
	assert_int_equal(head.next, SLOTS);
	assert_int_equal(head.drop[FR_INCIDENT_signal], 3);
	assert_int_equal(head.drop[FR_INCIDENT_oom], 1);
	for (i = 0; i < SLOTS; i++)
		expect_there(i);
}

/* What is on disk makes room, as much as it took. */
static void test_recycled(void **state)
{
	struct fr_incident got;
	u64 i;

	(void)state;
	for (i = 0; i < SLOTS; i++)
		put(FR_INCIDENT_oom);
	fr_incident_recycle(&logged, 2);
	assert_int_equal(put(FR_INCIDENT_oom), SLOTS);
	assert_int_equal(put(FR_INCIDENT_oom), SLOTS + 1);
	assert_int_equal(put(FR_INCIDENT_oom), ~0ULL);
	assert_int_equal(get(0, &got), FR_INCIDENT_GONE);
	assert_int_equal(get(1, &got), FR_INCIDENT_GONE);
	for (i = 2; i < SLOTS + 2; i++)
		expect_there(i);
}

/* Never back: a reader that was slow frees nothing that another one has not saved, nor takes back what it has. */
static void test_never_back(void **state)
{
	(void)state;
	put(FR_INCIDENT_oom);
	put(FR_INCIDENT_oom);
	fr_incident_recycle(&logged, 2);
	fr_incident_recycle(&logged, 1);
	assert_int_equal(head.saved, 2);
}

/* A record that is claimed and not finished is open, whatever was in its slot before. */
static void test_open(void **state)
{
	struct fr_incident got;
	u64 i;

	(void)state;
	for (i = 0; i < SLOTS; i++)
		put(FR_INCIDENT_oom);
	fr_incident_recycle(&logged, 1);
	assert_int_equal(fr_incident_claim(&logged, FR_INCIDENT_oom), SLOTS);
	assert_int_equal(get(SLOTS, &got), FR_INCIDENT_OPEN);
	fr_incident_clear(fr_incident_slot(&logged, SLOTS));
	assert_int_equal(get(SLOTS, &got), FR_INCIDENT_OPEN);
	fr_incident_finish(fr_incident_slot(&logged, SLOTS), SLOTS);
	assert_int_equal(get(SLOTS, &got), FR_INCIDENT_GOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_full, set_up),
		cmocka_unit_test_setup(test_recycled, set_up),
		cmocka_unit_test_setup(test_never_back, set_up),
		cmocka_unit_test_setup(test_open, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
