/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whom /proc/locks names, and whether a file of a process has the lock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "live/snapshot/filelock.h"

/*
 * 704 waits for 703; 705 and, behind it, 706 for another file; 707 for two; 708 for an open file description; 712 for one of
 * several readers.
 */
static const char locks[] = "1: FLOCK  ADVISORY  WRITE 703 fe:00:1234 0 EOF\n"
			    "1: -> FLOCK  ADVISORY  WRITE 704 fe:00:1234 0 EOF\n"
			    "2: POSIX  ADVISORY  WRITE 704 fe:00:99 0 5\n"
			    "2: -> POSIX  ADVISORY  READ 705 fe:00:99 0 EOF\n"
			    "2:  -> POSIX  ADVISORY  WRITE 706 fe:00:99 0 EOF\n"
			    "3: LEASE  ACTIVE    READ 1 fe:00:7 0 EOF\n"
			    "4: POSIX  ADVISORY  WRITE 10 fe:00:50 0 5\n"
			    "4: -> POSIX  ADVISORY  WRITE 707 fe:00:50 0 5\n"
			    "5: POSIX  ADVISORY  WRITE 11 fe:00:50 9 12\n"
			    "5: -> POSIX  ADVISORY  WRITE 707 fe:00:50 9 9\n"
			    "6: OFDLCK ADVISORY  WRITE -1 fe:00:60 0 EOF\n"
			    "6: -> POSIX  ADVISORY  WRITE 708 fe:00:60 0 EOF\n"
			    "7: FLOCK  ADVISORY  READ  710 fe:00:70 0 EOF\n"
			    "7: -> FLOCK  ADVISORY  WRITE 712 fe:00:70 0 EOF\n"
			    "9: FLOCK  ADVISORY  READ  711 fe:00:70 0 EOF\n"
			    "10: POSIX  ADVISORY  WRITE 713 fe:00:1234 0 EOF\n"
			    "nonsense\n: -> FLOCK  ADVISORY  WRITE 709 fe:00:1 0 EOF\n"
			    "8: -> FLOCK  ADVISORY  WRITE 709 fe:00:1 0 EOF\n";

static bool awaited(const char *text, u32 tgid, u64 ino, struct fr_filelock *held)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	bool is_known;

	assert_non_null(f);
	is_known = fr_filelock_awaited(f, tgid, ino, held);
	fclose(f);
	return is_known;
}

static void waits(void **state)
{
	struct fr_filelock held;

	(void)state;
	assert_true(awaited(locks, 704, 1234, &held));
	assert_int_equal(held.pid, 703);
	assert_string_equal(held.where, "fe:00:1234");
	assert_true(awaited(locks, 705, 99, &held));
	assert_int_equal(held.pid, 704);
	assert_true(awaited(locks, 706, 99, &held));
	assert_int_equal(held.pid, 704);
}

static void waits_for_nobody_known(void **state)
{
	struct fr_filelock held;

	(void)state;
	assert_false(awaited(locks, 703, 1234, &held)); /* it has it */
	assert_false(awaited(locks, 704, 99, &held));	/* has that one, and waits for another file's */
	assert_false(awaited(locks, 707, 50, &held));	/* two of its threads, two locks */
	assert_false(awaited(locks, 708, 60, &held));
	assert_false(awaited(locks, 712, 70, &held));
	assert_false(awaited(locks, 709, 1, &held)); /* the lock itself is missing */
	assert_false(awaited(" ", 709, 1, &held));
}

static bool is_in(const char *text, s32 pid, const char *where)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	struct fr_filelock held = {.pid = pid, .is_given = true};
	bool found;

	assert_non_null(f);
	strcpy(held.where, where);
	found = fr_filelock_is_in(f, &held);
	fclose(f);
	return found;
}

static void has(void **state)
{
	static const char text[] = "pos:\t0\nflags:\t02\nmnt_id:\t29\nino:\t1234\n"
				   "lock:\t1: FLOCK  ADVISORY  WRITE 703 fe:00:1234 0 EOF\n";

	(void)state;
	assert_true(is_in(text, 703, "fe:00:1234"));
	assert_false(is_in(text, 702, "fe:00:1234"));
	assert_false(is_in(text, 703, "fe:01:1234"));
	assert_false(is_in("pos:\t0\nflags:\t02\n1: FLOCK  ADVISORY  WRITE 703 fe:00:1234 0 EOF\n", 703, "fe:00:1234"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits),
		cmocka_unit_test(waits_for_nobody_known),
		cmocka_unit_test(has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
