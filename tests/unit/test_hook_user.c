/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who may be a hook's user: nobody becomes root by a text that a number can be read from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "live/hook/hook_spawn.h"

static void test_users(void **state)
{
	static const char *const user[] = {"root", "0", "00"};
	static const char *const none[] = {
		"", " ", " 0", "0 ", "+0", "-0", "-1", "0x0", "4294967295", "18446744073709551616", "no-such-user"};
	struct fr_hook_user u;
	size_t i;

	(void)state;
	assert_int_equal(fr_hook_check_user(NULL, NULL, NULL), 0); /* ours */
	for (i = 0; i < sizeof(user) / sizeof(*user); i++) {
		assert_int_equal(fr_hook_check_user(user[i], NULL, NULL), 0);
		assert_int_equal(fr_hook_find_user(&(struct fr_hook_conf){.user = user[i]}, &u), 0);
		assert_string_equal(u.name, "root");
		fr_hook_user_free(&u);
	}
	for (i = 0; i < sizeof(none) / sizeof(*none); i++) {
		assert_int_equal(fr_hook_check_user(none[i], NULL, NULL), -ENOENT);
		assert_int_equal(fr_hook_find_user(&(struct fr_hook_conf){.user = none[i]}, &u), -ENOENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_users)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
