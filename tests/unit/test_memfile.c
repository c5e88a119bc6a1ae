/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text gathered in memory: all of it, or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static unsigned call, bad_call; /* of realloc; from 1 on */

static void *resize(void *p, size_t sz)
{
	return ++call == bad_call ? NULL : realloc(p, sz);
}

#define realloc resize
#include "base/text/memfile.c"
#undef realloc

#define LINES 20000u

/* Lines "line 0", "line 1", ...; one allocation of all fails. */
static char *gather(unsigned bad, size_t *sz)
{
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	unsigned i;

	assert_non_null(f);
	call = 0;
	bad_call = bad;
	for (i = 0; i < LINES; i++)
		fprintf(f, "line %u\n", i);
	return fr_memfile_end(&m, sz);
}

static void test_whole(void **state)
{
	unsigned i;
	size_t sz;
	char *text = gather(0, &sz), *at = text;

	(void)state;
	assert_non_null(text);
	assert_int_equal(strlen(text), sz);
	for (i = 0; i < LINES; i++) {
		assert_int_equal(strtoul(at + 5, &at, 10), i);
		at++;
	}
	assert_int_equal(*at, 0);
	free(text);
}

/* Whichever allocation fails, also if those after it do not. */
static void test_memory(void **state)
{
	unsigned cnt, bad;

	(void)state;
	free(gather(0, NULL));
	cnt = call;
	assert_true(cnt > 3);
	for (bad = 1; bad <= cnt; bad++)
		assert_null(gather(bad, NULL));
}

static void test_empty(void **state)
{
	struct fr_memfile m;
	char *text;
	size_t sz = 1;

	(void)state;
	assert_non_null(fr_memfile_open(&m));
	text = fr_memfile_end(&m, &sz);
	assert_string_equal(text, "");
	assert_int_equal(sz, 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
