/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory that is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/mman.h>

#include "base/faulted.h"
#include "layout.h"

#define SZ (64u << 20) /* more than malloc() has at hand */

static void test_every_page_is_there(void **state)
{
	static u8 here[SZ / FR_PAGE_SZ];
	u8 *p = fr_faulted(SZ), *page = (u8 *)((uintptr_t)p & ~(uintptr_t)(FR_PAGE_SZ - 1)) + FR_PAGE_SZ;
	size_t i, cnt = SZ / FR_PAGE_SZ - 1;

	(void)state;
	assert_non_null(p);
	assert_int_equal(mincore(page, cnt * FR_PAGE_SZ, here), 0);
	for (i = 0; i < cnt; i++) {
		assert_int_equal(here[i] & 1, 1);
		assert_int_equal(page[i * FR_PAGE_SZ], 0);
	}
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_page_is_there)};

	return cmocka_run_group_tests_name("faulted", tests, NULL, NULL);
}
