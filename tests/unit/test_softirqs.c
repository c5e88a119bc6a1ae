/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel counts of softirqs, from texts as it prints them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sys/softirqs.c"

static int softirqs_of(char *kernels, int (*put)(FILE *f, char *text, size_t sz), char *text, size_t sz)
{
	FILE *f = fmemopen(kernels, strlen(kernels), "r");
	int len;

	assert_non_null(f);
	len = put(f, text, sz);
	fclose(f);
	return len;
}

/* The line of all CPUs has numbers where others have a CPU. */
static void test_ms(void **state)
{
	char stat[] = "cpu  5408063 11 22 33 44 55 66 77 88 99\n"
		      "cpu0 1 2 3 4 5 6 40 8 9 10\n"
		      "cpu17 1 2 3 4 5 6 7 8 9 10\n"
		      "cpu18 1 2 3\n"
		      "intr 12 34 56 78 90 12 34 56\n";
	long hz = sysconf(_SC_CLK_TCK);
	char text[64], want[64];

	(void)state;
	snprintf(want, sizeof(want), "0=%ld;17=%ld", 40 * 1000 / hz, 7 * 1000 / hz);
	assert_int_equal(softirqs_of(stat, put_ms, text, sizeof(text)), strlen(want));
	assert_string_equal(text, want);
	assert_int_equal(softirqs_of(stat, put_ms, text, 4), -ENODATA);
}

static void test_counts(void **state)
{
	char softirqs[] = "                    CPU0       CPU1\n"
			  "          HI:          1          2\n"
			  "      NET_RX: 4294967295          1\n";
	char text[64];

	(void)state;
	assert_true(softirqs_of(softirqs, softirqs_put_counts, text, sizeof(text)) > 0);
	assert_string_equal(text, "HI=3;NET_RX=4294967296");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ms),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
