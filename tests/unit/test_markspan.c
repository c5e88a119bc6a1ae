/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What spans of programs are: marks of threads and processes with a virtual clock, and which of them measure something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "markspan.h"

/* ---- a table with so many places ---- */

struct table {
	struct {
		struct fr_markspan_key key;
		struct fr_markspan span;
	} at[64];
	u32 cnt, max, refused;
	u32 begun[64], begun_cnt; /* pids that have begun something */
	bool is_raced;		  /* what is found is another's by the time that it is looked at */
};

static u32 place_of(const struct table *t, const struct fr_markspan_key *key)
{
	u32 i = 0;

	while (i < t->cnt && memcmp(&t->at[i].key, key, sizeof(*key)) != 0)
		i++;
	return i;
}

static struct fr_markspan *fr_markspan_find(void *table, const struct fr_markspan_key *key)
{
	struct table *t = table;
	u32 i = place_of(t, key);

	if (i == t->cnt)
		return NULL;
	if (t->is_raced) {
		t->is_raced = false;
		t->at[i].key = (struct fr_markspan_key){.name = 99, .id = 99, .nr = 99};
		t->at[i].span = (struct fr_markspan){.begin_ns = 99, .pid = 99, .owner = 99};
	}
	return &t->at[i].span;
}

static u32 fr_markspan_again(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span)
{
	struct table *t = table;
	u32 i = place_of(t, key);

	if (i == t->cnt)
		return 0;
	t->at[i].span = *span;
	return 1;
}

static u32 fr_markspan_has_begun(void *table, const struct fr_markspan_who *who)
{
	const struct table *t = table;
	u32 i = 0;

	while (i < t->begun_cnt && t->begun[i] != who->pid)
		i++;
	return i < t->begun_cnt;
}

static u32 fr_markspan_put(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span)
{
	struct table *t = table;

	assert_int_equal(place_of(t, key), t->cnt);
	if (t->cnt == t->max) {
		t->refused++;
		return 0;
	}
	t->at[t->cnt].key = *key;
	t->at[t->cnt++].span = *span;
	if (t->begun_cnt < sizeof(t->begun) / sizeof(t->begun[0]))
		t->begun[t->begun_cnt++] = span->pid;
	return 1;
}

static u32 fr_markspan_drop(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span)
{
	struct table *t = table;
	u32 i = place_of(t, key);

	assert_ptr_equal(span, &t->at[i].span);
	if (i == t->cnt)
		return 0;
	t->at[i] = t->at[--t->cnt];
	return 1;
}

/* ---- marks: who, what, name, id, and when; then what an end measures ---- */

enum what { BEGIN, END, THREAD_ENDS };

struct step {
	enum what what;
	u32 tid; /* its process is tid / 10 */
	u64 name, id, ns;
	u64 want; /* of END: how long, 0: nothing; of THREAD_ENDS: how many it left */
};

#define STEPS(...) (const struct step[]){__VA_ARGS__}, sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step)

static void play(struct table *t, const struct step *s, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++) {
		struct fr_markspan_who who = {
			.tid = s[i].tid, .pid = s[i].tid / 10, .start_ns = 1, .thread_start_ns = 2, .owner = 5};

		if (s[i].what == BEGIN)
			fr_markspan_begins(t, &who, s[i].name, s[i].id, s[i].ns);
		else if (s[i].what == END)
			assert_int_equal(fr_markspan_ends(t, &who, s[i].name, s[i].id, s[i].ns), s[i].want);
		else
			assert_int_equal(fr_markspan_thread_ends(t, &who, s[i].name), s[i].want);
	}
}

/* All places are free again. */
static void plays(u32 max, const struct step *s, size_t cnt)
{
	struct table t = {.max = max};

	play(&t, s, cnt);
	assert_int_equal(t.cnt, 0);
	assert_int_equal(t.refused, 0);
}

static void test_one(void **state)
{
	(void)state;
	plays(2, STEPS({BEGIN, 10, 1, 7, 100, 0}, {END, 10, 1, 7, 150, 50}));
	plays(1, STEPS({BEGIN, 10, 1, 0, 100, 0}, {END, 10, 1, 0, 150, 50})); /* without an id it is no other process's */
	plays(2, STEPS({BEGIN, 10, 1, ~0ULL, 100, 0}, {END, 10, 1, ~0ULL, 101, 1}));
}

static void test_apart(void **state)
{
	(void)state;
	/* nested names, overlapping ids */
	plays(4,
	      STEPS({BEGIN, 10, 1, 7, 100, 0}, {BEGIN, 10, 2, 7, 110, 0}, {END, 10, 2, 7, 115, 5}, {END, 10, 1, 7, 150, 50}));
	plays(4,
	      STEPS({BEGIN, 10, 1, 7, 100, 0}, {BEGIN, 10, 1, 8, 110, 0}, {END, 10, 1, 7, 150, 50}, {END, 10, 1, 8, 190, 80}));
	/* threads of a process: without an id apart, with one together */
	plays(2,
	      STEPS({BEGIN, 10, 1, 0, 100, 0}, {BEGIN, 11, 1, 0, 110, 0}, {END, 10, 1, 0, 150, 50}, {END, 11, 1, 0, 190, 80}));
	plays(2, STEPS({BEGIN, 10, 1, 7, 100, 0}, {END, 11, 1, 7, 150, 50}));
	/* processes that count alike */
	plays(3,
	      STEPS({BEGIN, 10, 1, 7, 100, 0}, {BEGIN, 20, 1, 7, 110, 0}, {END, 10, 1, 7, 150, 50}, {END, 20, 1, 7, 190, 80}));
	plays(3,
	      STEPS({BEGIN, 10, 1, 7, 100, 0}, {BEGIN, 20, 1, 7, 110, 0}, {END, 20, 1, 7, 190, 80}, {END, 10, 1, 7, 250, 150}));
}

static void test_nothing(void **state)
{
	(void)state;
	plays(2, STEPS({END, 10, 1, 7, 100, 0}, {END, 10, 1, 0, 100, 0}));
	plays(2, STEPS({BEGIN, 10, 1, 7, 100, 0}, {END, 10, 1, 7, 150, 50}, {END, 10, 1, 7, 160, 0}));
	plays(2, STEPS({BEGIN, 10, 1, 7, 100, 0}, {END, 10, 2, 7, 120, 0}, {END, 10, 1, 8, 130, 0}, {END, 10, 1, 0, 140, 0},
		       {END, 10, 1, 7, 150, 50}));
	plays(1, STEPS({BEGIN, 10, 1, 0, 100, 0}, {END, 20, 1, 0, 120, 0}, {END, 11, 1, 0, 130, 0}, {END, 10, 1, 0, 150, 50}));
	/* a clock that stood still measures nothing */
	plays(2, STEPS({BEGIN, 10, 1, 7, 100, 0}, {END, 10, 1, 7, 100, 0}));
}

static void test_again(void **state)
{
	(void)state;
	plays(2,
	      STEPS({BEGIN, 10, 1, 7, 100, 0}, {BEGIN, 10, 1, 7, 140, 0}, {END, 10, 1, 7, 150, 10}, {END, 10, 1, 7, 190, 0}));
	plays(1, STEPS({BEGIN, 10, 1, 0, 100, 0}, {BEGIN, 10, 1, 0, 140, 0}, {END, 10, 1, 0, 150, 10}));
}

static void test_other_process(void **state)
{
	(void)state;
	plays(2, STEPS({BEGIN, 10, 1, 7, 100, 0}, {END, 20, 1, 7, 150, 50}, {END, 10, 1, 7, 160, 0}));
	/* of two, the one that has begun last */
	plays(3,
	      STEPS({BEGIN, 10, 1, 7, 100, 0}, {BEGIN, 20, 1, 7, 110, 0}, {END, 30, 1, 7, 150, 40}, {END, 10, 1, 7, 160, 60}));
	/* the other one has gone on alone */
	plays(3, STEPS({BEGIN, 10, 1, 7, 100, 0}, {BEGIN, 20, 1, 7, 110, 0}, {END, 20, 1, 7, 120, 10}, {END, 30, 1, 7, 150, 0},
		       {END, 10, 1, 7, 160, 60}));
}

/* Workers that count alike: an end of what one began before the rule was in force is no other one's. */
static void test_no_heir(void **state)
{
	(void)state;
	plays(4, STEPS({BEGIN, 10, 1, 7, 100, 0}, {BEGIN, 20, 1, 8, 110, 0}, {END, 20, 1, 7, 150, 0}, {END, 10, 1, 7, 160, 60},
		       {END, 20, 1, 8, 170, 60}));
	/* nor if all that it has begun is over, or has another name */
	plays(4, STEPS({BEGIN, 20, 1, 8, 100, 0}, {END, 20, 1, 8, 110, 10}, {BEGIN, 10, 1, 7, 120, 0}, {END, 20, 1, 7, 150, 0},
		       {END, 10, 1, 7, 160, 40}));
	plays(4, STEPS({BEGIN, 20, 2, 0, 100, 0}, {BEGIN, 10, 1, 7, 120, 0}, {END, 20, 1, 7, 150, 0}, {END, 10, 1, 7, 160, 40},
		       {END, 20, 2, 0, 170, 70}));
}

/* What is begun again has been dropped meanwhile by another thread, and its entry is another key's. */
static void test_raced(void **state)
{
	struct fr_markspan_who who = {.pid = 1, .tid = 1, .owner = 5};
	struct table t = {.max = 4};

	(void)state;
	fr_markspan_begins(&t, &who, 1, 0, 100);
	t.is_raced = true;
	fr_markspan_begins(&t, &who, 1, 0, 140);
	assert_true(t.is_raced); /* it did not look at the entry at all */
	t.is_raced = false;
	assert_int_equal(fr_markspan_ends(&t, &who, 1, 0, 150), 10);
}

static void test_other_user(void **state)
{
	struct fr_markspan_who one = {.pid = 1, .tid = 1, .owner = 5}, other = {.pid = 2, .tid = 2, .owner = 6};
	struct table t = {.max = 4};

	(void)state;
	fr_markspan_begins(&t, &one, 1, 7, 100);
	assert_int_equal(fr_markspan_ends(&t, &other, 1, 7, 150), 0);
	fr_markspan_begins(&t, &other, 1, 7, 160);
	assert_int_equal(fr_markspan_ends(&t, &one, 1, 7, 200), 100);
}

/* Numbers are used again. */
static void test_reused(void **state)
{
	struct fr_markspan_who was = {.pid = 1, .tid = 1, .start_ns = 1, .thread_start_ns = 1, .owner = 5}, now = was;
	struct table t = {.max = 4};

	(void)state;
	now.start_ns = now.thread_start_ns = 9;
	fr_markspan_begins(&t, &was, 1, 0, 100);
	assert_int_equal(fr_markspan_ends(&t, &now, 1, 0, 150), 0);
}

static void test_thread_ends(void **state)
{
	(void)state;
	plays(2, STEPS({BEGIN, 10, 1, 0, 100, 0}, {BEGIN, 11, 1, 0, 100, 0}, {THREAD_ENDS, 10, 1, 0, 0, 1},
		       {END, 10, 1, 0, 150, 0}, {THREAD_ENDS, 10, 1, 0, 0, 0}, {END, 11, 1, 0, 160, 60}));
	/* what has an id is the process's */
	plays(2, STEPS({BEGIN, 10, 1, 7, 100, 0}, {THREAD_ENDS, 10, 1, 0, 0, 0}, {END, 11, 1, 7, 160, 60}));
}

/* What there was no room for ends nobody else's. */
static void test_no_room(void **state)
{
	struct table t = {.max = 2};

	(void)state;
	play(&t, STEPS({BEGIN, 10, 1, 7, 100, 0}, {BEGIN, 20, 1, 7, 110, 0}));
	assert_int_equal(t.refused, 1);
	play(&t, STEPS({END, 20, 1, 7, 150, 0}, {END, 10, 1, 7, 160, 60}));
	assert_int_equal(t.cnt, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),	cmocka_unit_test(test_apart),	      cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_again),	cmocka_unit_test(test_other_process), cmocka_unit_test(test_other_user),
		cmocka_unit_test(test_reused),	cmocka_unit_test(test_thread_ends),   cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_no_heir), cmocka_unit_test(test_raced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
