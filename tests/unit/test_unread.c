/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was not read in time: all of it is counted, and who kept others waiting is named, however many had no turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "live/snapshot/unread.h"

#define MANY 2000u

static struct fr_unread u;

static void culprit_is_named(void **state)
{
	u32 i;

	(void)state;
	memset(&u, 0, sizeof(u));
	for (i = 0; i < MANY; i++)
		fr_unread_add(&u, 10000 + i, "files", FR_ERRAND_TIME);
	fr_unread_add(&u, 77, "cmdline", FR_ERRAND_LATE);
	assert_int_equal(u.cnt, MANY + 1);
	assert_non_null(strstr(u.text, "10000 files time;10001 files time;"));
	assert_non_null(strstr(u.text, ";77 cmdline late"));
	assert_in_range(u.unnamed, 1, MANY - 1);
}

/* The text ends before its room does, between two items. */
static void text_is_whole(void **state)
{
	u32 i, named = 1;
	const char *p;

	(void)state;
	memset(&u, 0, sizeof(u));
	for (i = 0; i < MANY; i++)
		fr_unread_add(&u, i, "process", FR_ERRAND_WAITED);
	for (p = u.text; (p = strchr(p, ';')); p++)
		named++;
	assert_int_equal(named + u.unnamed, MANY);
	assert_true(strlen(u.text) < sizeof(u.text));
	assert_string_equal(u.text + strlen(u.text) - strlen(" process waited"), " process waited");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(culprit_is_named),
		cmocka_unit_test(text_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
