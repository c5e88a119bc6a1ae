/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of C++ and Rust, and what is made to break who reads them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/demangle.h"

static char text[FR_DEMANGLE_SZ];

static void names(void **state)
{
	static const char *const name[][2] = {
		{"_ZN3net6Socket4sendEPKvm", "net::Socket::send(void const*, unsigned long)"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)"},
		{"_ZN12_GLOBAL__N_15innerEv", "(anonymous namespace)::inner()"},
		{"_ZN4core3fmt5write17h01d2c9a1b2c3d4e5E", "core::fmt::write"},
		{"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
		 "<Test + 'static as foo::Bar<Test>>::bar"},
		{"_RNvNtCs1234_7mycrate3bar3foo", "mycrate::bar::foo"},
		{"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3new", "<std::path::PathBuf>::new"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		assert_true(fr_demangle(name[i][0], text));
		assert_string_equal(text, name[i][1]);
	}
}

static void others_are_left_alone(void **state)
{
	static const char *const name[] = {"",	  "_",	    "_Z",	 "_R",	  "main",  "_start", "__libc_start_main",
					   "_ZN", "_ZN3fo", "_Znot_one", "_RNvC", "Z3foov"};
	size_t i;

	(void)state;
	strcpy(text, "untouched");
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		assert_false(fr_demangle(name[i], text));
		assert_string_equal(text, "untouched");
	}
}

/* f(A<A<...>, A<...>>): each level doubles it, so 60 levels would be 10^18 bytes. */
static void one_that_grows_is_cut(void **state)
{
	static const char digit[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[4096] = "_Z1f1AIiE", *p = name + strlen(name);
	int i;

	(void)state;
	/* S_ is A, S0_ is A<int>; the argument n is S0_ and what comes, two of the one before */
	for (i = 0; i < 60; i++) {
		int last = i; /* S0_ and up are the arguments so far */

		p += sprintf(p, "S_IS%.*s%c_S%.*s%c_E", last > 35, "1", digit[last % 36], last > 35, "1", digit[last % 36]);
	}
	assert_true(fr_demangle(name, text));
	assert_int_equal(strlen(text), FR_DEMANGLE_SZ - 1);
	assert_string_equal(text + FR_DEMANGLE_SZ - 4, "...");
}

static void deep_ones_do_not_break_the_stack(void **state)
{
	size_t sz = 16000;
	char *name = malloc(sz + 16);

	(void)state;
	strcpy(name, "_Z1f");
	memset(name + 4, 'P', sz);
	strcpy(name + 4 + sz, "i");
	fr_demangle(name, text);
	strcpy(name, "_RNv");
	memset(name + 4, 'N', sz);
	name[4 + sz] = 0;
	fr_demangle(name, text);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(others_are_left_alone),
		cmocka_unit_test(one_that_grows_is_cut),
		cmocka_unit_test(deep_ones_do_not_break_the_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
