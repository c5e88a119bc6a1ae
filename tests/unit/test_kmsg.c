/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records of the kernel's log: what they say, what is none, and when that was on the events' clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/kmsg.h"
#include "sys/logclock.h"

/* Parse a copy of exactly its size, so that a byte read behind it is seen. */
static int parse(const char *text, size_t sz, struct fr_kmsg *k)
{
	char *copy = malloc(sz ?: 1);
	int err;

	memcpy(copy, text, sz);
	err = fr_kmsg_parse(copy, sz, k);
	free(copy);
	return err;
}

static void check(const char *record, u64 seq, u64 stamp_ns, u32 prio, u32 flags, const char *text)
{
	struct fr_kmsg k;

	assert_int_equal(parse(record, strlen(record), &k), 0);
	assert_int_equal(k.seq, seq);
	assert_int_equal(k.stamp_ns, stamp_ns);
	assert_int_equal(k.level + 8 * k.facility, prio);
	assert_int_equal(k.flags, flags);
	assert_string_equal(k.text, text);
	assert_int_equal(k.len, strlen(text));
}

static void records_are_read(void **state)
{
	(void)state;
	check("6,339,5140900,-;NET: Registered\n SUBSYSTEM=net\n DEVICE=+x\n", 339, 5140900000, 6, 0, "NET: Registered");
	check("30,1,0,-;a;b,c\n", 1, 0, 30, 0, "a;b,c");
	check("3,18446744073709551615,7,c,caller=T12;x", ~0ULL, 7000, 3, FR_KMSG_PART, "x");
	check("3,2,7,+;\n", 2, 7000, 3, FR_KMSG_PART, "");
	check("4,2,7,-;a\\x1b[31m\\xc3\\xa9\\x5cx41\\x00\\x0ab\n", 2, 7000, 4, 0, "a\x1b[31m\xc3\xa9\\x41?\nb");
	check("4,2,7,-;\\x4\\xzz\\x", 2, 7000, 4, 0, "\\x4\\xzz\\x");
}

static void others_are_refused(void **state)
{
	static const char *const bad[] = {"",
					  ";",
					  "6,339,5140900",
					  "6,339;5140900,-;x",
					  "a,1,2,-;x",
					  "6,,2,-;x",
					  "6,1,-2,-;x",
					  "65536,1,2,-;x",
					  "6,18446744073709551616,2,-;x",
					  "6,1,18446744073709552,-;x",
					  "6,1,2;,x",
					  " 6,1,2,-;x"};
	struct fr_kmsg k;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i], strlen(bad[i]), &k), -22);
}

/* However long it is, the text ends in its room; cut anywhere, it is read or refused. */
static void any_size_fits(void **state)
{
	static const char record[] = "6,339,5140900,-;a\\x41\\x42\n X=y\n";
	struct fr_kmsg k;
	char *text = malloc(3 * FR_KMSG_TEXT_MAX);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(record); i++)
		if (!parse(record, i, &k))
			assert_int_equal(k.len, strlen(k.text));
	memset(text, 'x', 3 * FR_KMSG_TEXT_MAX);
	memcpy(text, "6,1,2,-;", 8);
	assert_int_equal(parse(text, 3 * FR_KMSG_TEXT_MAX, &k), 0);
	assert_int_equal(k.len, FR_KMSG_TEXT_MAX);
	assert_int_equal(k.text[k.len], 0);
	free(text);
}

static void words_are_known(void **state)
{
	(void)state;
	assert_string_equal(fr_kmsg_level(3), "err");
	assert_string_equal(fr_kmsg_level(7), "debug");
	assert_null(fr_kmsg_level(8));
	assert_string_equal(fr_kmsg_facility(0), "kern");
	assert_string_equal(fr_kmsg_facility(8191), "local");
}

/* A stamp is off by what the comparison was, and by what the clocks may have drifted since or before. */
static void stamps_are_joined(void **state)
{
	const struct fr_logclock ahead = {.local_ns = 5000000000, .mono_ns = 5000000700, .uncertainty_ns = 40};
	const struct fr_logclock behind = {.local_ns = 5000000700, .mono_ns = 700, .uncertainty_ns = 40};
	u64 off;

	(void)state;
	assert_int_equal(fr_logclock_mono(&ahead, 5000000000, &off), 5000000700);
	assert_int_equal(off, 40);
	assert_int_equal(fr_logclock_mono(&ahead, 4000000000, &off), 4000000700);
	assert_int_equal(off, 40 + 500000);
	assert_int_equal(fr_logclock_mono(&ahead, 7000000000, &off), 7000000700);
	assert_int_equal(off, 40 + 1000000);
	assert_int_equal(fr_logclock_mono(&behind, 5000000699, &off), 699);
	assert_int_equal(fr_logclock_mono(&behind, 4999999999, &off), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_read), cmocka_unit_test(others_are_refused), cmocka_unit_test(any_size_fits),
		cmocka_unit_test(words_are_known),  cmocka_unit_test(stamps_are_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
