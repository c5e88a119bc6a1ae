/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Places for spans: who is charged with them, and gets them back; and what is left for others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "markspan_room.h"

/* ---- tables, one for all tests ---- */

struct room {
	struct fr_markspan_places places;
	struct {
		struct fr_markspan_process process;
		struct fr_markspan_account a;
	} account[8];
	struct {
		struct fr_markspan_key key;
		struct fr_markspan span;
	} entry[FR_MARKSPAN_MAX];
	u32 account_cnt, entry_cnt, untracked;
};

static struct room room;

static struct fr_markspan_places *fr_markspan_places_of(void *table)
{
	(void)table;
	return &room.places;
}

static u32 account_place(const struct fr_markspan_process *process)
{
	u32 i = 0;

	while (i < room.account_cnt && memcmp(&room.account[i].process, process, sizeof(*process)) != 0)
		i++;
	return i;
}

static struct fr_markspan_account *fr_markspan_account_find(void *table, const struct fr_markspan_process *process)
{
	u32 i = account_place(process);

	(void)table;
	return i < room.account_cnt ? &room.account[i].a : NULL;
}

static u32 fr_markspan_account_add(void *table, const struct fr_markspan_process *process, const struct fr_markspan_account *a)
{
	(void)table;
	assert_int_equal(account_place(process), room.account_cnt);
	room.account[room.account_cnt].process = *process;
	room.account[room.account_cnt++].a = *a;
	return 1;
}

static u32 fr_markspan_account_drop(void *table, const struct fr_markspan_process *process)
{
	u32 i = account_place(process);

	(void)table;
	if (i == room.account_cnt)
		return 0;
	room.account[i] = room.account[--room.account_cnt];
	return 1;
}

/* The last ones are looked at first: a flood adds many. */
static u32 entry_place(const struct fr_markspan_key *key)
{
	u32 i = room.entry_cnt;

	while (i && memcmp(&room.entry[i - 1].key, key, sizeof(*key)) != 0)
		i--;
	return i ? i - 1 : room.entry_cnt;
}

static struct fr_markspan *fr_markspan_find(void *table, const struct fr_markspan_key *key)
{
	u32 i = entry_place(key);

	(void)table;
	return i < room.entry_cnt ? &room.entry[i].span : NULL;
}

static u32 fr_markspan_again(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span)
{
	struct fr_markspan *was = fr_markspan_find(table, key);

	if (was)
		*was = *span;
	return was != NULL;
}

static u32 fr_markspan_entry_add(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span)
{
	(void)table;
	assert_in_range(room.entry_cnt, 0, FR_MARKSPAN_MAX - 1);
	room.entry[room.entry_cnt].key = *key;
	room.entry[room.entry_cnt++].span = *span;
	return 1;
}

static u32 fr_markspan_entry_drop(void *table, const struct fr_markspan_key *key)
{
	u32 i = entry_place(key);

	(void)table;
	if (i == room.entry_cnt)
		return 0;
	room.entry[i] = room.entry[--room.entry_cnt];
	return 1;
}

static void fr_markspan_untracked(void *table)
{
	(void)table;
	room.untracked++;
}

/* ---- what has happened to them ---- */

#define WWW   33u
#define OTHER 1000u

static void room_is_empty(void)
{
	static const struct fr_markspan_places none;

	assert_int_equal(room.entry_cnt, 0);
	assert_int_equal(room.account_cnt, 0);
	assert_memory_equal(&room.places, &none, sizeof(none));
}

static int room_begins(void **state)
{
	(void)state;
	memset(&room, 0, sizeof(room));
	assert_int_not_equal(fr_gap_of(WWW), fr_gap_of(OTHER));
	return 0;
}

/* As the program at the end of a process does. */
static void process_ends(const struct fr_markspan_who *who)
{
	struct fr_markspan_process process = {.start_ns = who->start_ns, .pid = who->pid};
	u32 i = 0;

	while (i < room.entry_cnt) {
		struct fr_markspan_key key = room.entry[i].key;
		struct fr_markspan span = room.entry[i].span;

		if (fr_markspan_is_of(&span, who->pid, who->start_ns))
			assert_int_equal(fr_markspan_drop(NULL, &key, &span), 1);
		else
			i++;
	}
	fr_markspan_account_close(NULL, &process);
}

static u64 begin_many(const struct fr_markspan_who *who, u64 cnt)
{
	u64 i, kept = 0;

	/* of threads: to look for one that may be there takes long */
	for (i = 0; i < cnt; i++) {
		struct fr_markspan_key key = {.name = 1, .id = 0, .start_ns = who->start_ns, .nr = who->pid << 16 | i};
		struct fr_markspan span = {.start_ns = who->start_ns, .pid = who->pid, .owner = who->owner};

		kept += fr_markspan_put(NULL, &key, &span);
	}
	return kept;
}

static void test_charged(void **state)
{
	struct fr_markspan_who who = {.pid = 1, .tid = 1, .start_ns = 3, .thread_start_ns = 4, .owner = WWW};

	(void)state;
	fr_markspan_begins(NULL, &who, 1, 7, 100);
	assert_int_equal(room.places.total, 3); /* it, the last of its user, the account */
	assert_int_equal(room.places.by[fr_gap_of(WWW)], 3);
	fr_markspan_begins(NULL, &who, 1, 7, 110);
	assert_int_equal(room.places.total, 3);
	assert_int_equal(fr_markspan_ends(NULL, &who, 1, 7, 150), 40);
	assert_int_equal(room.places.total, 1);
	process_ends(&who);
	room_is_empty();
}

/* Root that becomes a user, with what it has begun before and after. */
static void test_changes_user(void **state)
{
	struct fr_markspan_who root = {.pid = 1, .tid = 1, .owner = 0}, www = {.pid = 1, .tid = 1, .owner = WWW};

	(void)state;
	fr_markspan_begins(NULL, &root, 1, 7, 100);
	fr_markspan_begins(NULL, &root, 1, 0, 100);
	fr_markspan_begins(NULL, &www, 1, 8, 110);
	fr_markspan_begins(NULL, &www, 1, 0, 120);
	assert_int_equal(fr_markspan_ends(NULL, &www, 1, 0, 150), 30);
	assert_int_equal(fr_markspan_ends(NULL, &www, 1, 7, 160), 60);
	process_ends(&www);
	room_is_empty();
	/* and a user's that executes one of root's */
	fr_markspan_begins(NULL, &www, 1, 7, 100);
	process_ends(&root);
	room_is_empty();
	/* begun by one, begun again by the other */
	fr_markspan_begins(NULL, &root, 1, 0, 100);
	fr_markspan_begins(NULL, &www, 1, 0, 110);
	assert_int_equal(fr_markspan_ends(NULL, &www, 1, 0, 150), 40);
	process_ends(&root);
	room_is_empty();
}

/* It is dropped with what is found, which is another process's by then. */
static void test_reused_entry(void **state)
{
	struct fr_markspan_who one = {.pid = 1, .tid = 1, .owner = WWW}, other = {.pid = 2, .tid = 2, .owner = OTHER};
	struct fr_markspan found = {.pid = 2, .owner = OTHER};
	struct fr_markspan_key key;

	(void)state;
	fr_markspan_begins(NULL, &one, 1, 7, 100);
	fr_markspan_begins(NULL, &other, 1, 7, 100);
	fr_markspan_own_key(&key, &one, 1, 7);
	assert_int_equal(fr_markspan_drop(NULL, &key, &found), 1);
	assert_int_equal(room.places.by[fr_gap_of(WWW)], 2);
	assert_int_equal(room.places.by[fr_gap_of(OTHER)], 3);
	assert_int_equal(fr_markspan_drop(NULL, &key, &found), 0);
	process_ends(&one);
	process_ends(&other);
	room_is_empty();
}

/* A count never wraps: one below 0 would let its process have all. */
static void test_never_below_none(void **state)
{
	struct fr_markspan_who one = {.pid = 1, .tid = 1, .owner = WWW}, other = {.pid = 2, .tid = 2, .owner = WWW};
	struct fr_markspan_process process = {.pid = 2};
	struct fr_markspan found = {.pid = 2, .owner = WWW};
	struct fr_markspan_key key;

	(void)state;
	fr_markspan_begins(NULL, &other, 1, 0, 100);
	assert_int_equal(fr_markspan_ends(NULL, &other, 1, 0, 150), 50);
	fr_markspan_begins(NULL, &one, 1, 7, 100);
	fr_markspan_last_key(&key, &one, 1, 7);
	assert_int_equal(fr_markspan_drop(NULL, &key, &found), 1);
	assert_int_equal(fr_markspan_account_find(NULL, &process)->cnt, 0);
}

static void test_has_begun(void **state)
{
	struct fr_markspan_who one = {.pid = 1, .tid = 1, .start_ns = 1, .owner = WWW}, other = one;

	(void)state;
	assert_false(fr_markspan_has_begun(NULL, &one));
	fr_markspan_begins(NULL, &one, 1, 0, 100);
	fr_markspan_ends(NULL, &one, 1, 0, 150);
	assert_true(fr_markspan_has_begun(NULL, &one));
	other.start_ns = 2;
	assert_false(fr_markspan_has_begun(NULL, &other));
	process_ends(&one);
	assert_false(fr_markspan_has_begun(NULL, &one));
}

static void test_shares(void **state)
{
	u64 one = 0, all = 0, two = 0;

	(void)state;
	while (fr_markspan_may(one, all, 1000))
		one++, all++;
	assert_int_equal(one, 500);
	while (fr_markspan_may(two, all, 1000))
		two++, all++;
	assert_int_equal(two, 250);
	assert_true(fr_markspan_may(0, all, 1000));
	assert_false(fr_markspan_may(0, 1000, 1000));
}

/* Two processes of a user, then another user's. */
static void test_user_leaves(void **state)
{
	struct fr_markspan_who who = {.pid = 1, .owner = WWW};

	(void)state;
	assert_in_range(begin_many(&who, FR_MARKSPAN_MAX), FR_MARKSPAN_MAX / 2 - 2, FR_MARKSPAN_MAX / 2);
	who.pid = 2;
	assert_int_equal(begin_many(&who, 1), 0);
	who.pid = 3;
	who.owner = OTHER;
	assert_int_equal(begin_many(&who, 100), 100);
}

/* However many of root's begin without end, another one of root's and a user have room. */
static void test_root_leaves(void **state)
{
	struct fr_markspan_who who = {.owner = 0};
	u64 kept = 0;

	(void)state;
	for (who.pid = 1; who.pid <= 4; who.pid++)
		kept += begin_many(&who, FR_MARKSPAN_MAX);
	assert_in_range(kept, FR_MARKSPAN_MAX / 2, FR_MARKSPAN_MAX - FR_MARKSPAN_NOT_ROOTS);
	assert_int_equal(begin_many(&who, 100), 100);
	room.places.by[0] = FR_MARKSPAN_MAX - FR_MARKSPAN_NOT_ROOTS; /* as many more of them had it */
	room.places.total = room.places.by[0];
	assert_int_equal(begin_many(&who, 1), 0);
	who.pid++;
	who.owner = WWW;
	assert_int_equal(begin_many(&who, 100), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_charged, room_begins),
		cmocka_unit_test_setup(test_changes_user, room_begins),
		cmocka_unit_test_setup(test_reused_entry, room_begins),
		cmocka_unit_test_setup(test_never_below_none, room_begins),
		cmocka_unit_test_setup(test_has_begun, room_begins),
		cmocka_unit_test_setup(test_shares, room_begins),
		cmocka_unit_test_setup(test_user_leaves, room_begins),
		cmocka_unit_test_setup(test_root_leaves, room_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
