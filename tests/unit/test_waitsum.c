/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits beyond the budget of several CPUs: joined, sorted, as a fact's text and back, whatever that text says. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/waitsum.h"

static struct fr_wait_over over[2];

static void exceed(u32 cpu, u32 tid, s32 id, enum fr_waited_in in, u64 off_ns, u64 now_ns)
{
	const struct fr_wait_who who = {.tid = tid, .id = id, .how = fr_wait_who_how(77, 0, in)};

	fr_wait_over_add(&over[cpu], &who, &(struct fr_wait_len){.off_ns = off_ns, .blocked_ns = off_ns / 2}, now_ns);
}

static struct fr_waitsums of_all_cpus(void)
{
	struct fr_waitsums s = {};

	assert_int_equal(fr_waitsums_add(&s, &over[0]), 0);
	assert_int_equal(fr_waitsums_add(&s, &over[1]), 0);
	fr_waitsums_end(&s, "x86_64");
	return s;
}

static void is_sum(const struct fr_wait_sum *sum, u64 cnt, u64 off_ns, u64 blocked_ns)
{
	assert_int_equal(sum->cnt, cnt);
	assert_int_equal(sum->off_ns, off_ns);
	assert_int_equal(sum->blocked_ns, blocked_ns);
}

static void joined_and_back(void **state)
{
	struct fr_waitsums s, back = {};
	char *text;
	u32 i;

	(void)state;
	memset(over, 0, sizeof(over));
	exceed(0, 7, 0, FR_WAITED_call, 100, 5);
	exceed(1, 7, 0, FR_WAITED_call, 300, 9);
	exceed(1, 7, -1, FR_WAITED_user, 1000, 8);
	exceed(0, 8, -1, FR_WAITED_kernel, 20, 4);
	over[0].rest = (struct fr_wait_sum){3, 30, 10};
	s = of_all_cpus();
	assert_int_equal(s.cnt, 3);
	assert_string_equal(s.at[0].call, "user code");
	assert_string_equal(s.at[1].call, "read");
	assert_string_equal(s.at[2].call, "kernel");
	is_sum(&s.at[1].sum, 2, 400, 200);
	assert_int_equal(s.at[1].last_ns, 9);
	is_sum(&s.rest, 3, 30, 10);
	is_sum(&s.all, 7, 1450, 720);
	text = fr_waitsums_text(&s);
	assert_string_equal(text, "rest=3:30:10;7:1:0:-1:8:1:1000:500;7:0:0:0:9:2:400:200;8:2:0:-1:4:1:20:10");
	assert_int_equal(fr_waitsums_read(&back, text, "x86_64"), 0);
	assert_int_equal(back.cnt, s.cnt);
	for (i = 0; i < s.cnt; i++)
		s.at[i].start_ns = 0; /* files do not say */
	assert_memory_equal(back.at, s.at, s.cnt * sizeof(*s.at));
	is_sum(&back.all, 7, 1450, 720);
	free(text);
	fr_waitsums_free(&s);
	fr_waitsums_free(&back);
}

/* The longest stay; what they leave is in the rest, exactly. */
static void too_many(void **state)
{
	struct fr_waitsums s;
	u32 i;

	(void)state;
	memset(over, 0, sizeof(over));
	for (i = 1; i <= 400; i++)
		exceed(i % 2, i, 0, FR_WAITED_call, i, 1);
	assert_int_equal(over[0].rest.cnt + over[1].rest.cnt, 0);
	s = of_all_cpus();
	assert_int_equal(s.cnt, FR_WAITSUM_MAX);
	assert_int_equal(s.at[0].tid, 400);
	assert_int_equal(s.at[FR_WAITSUM_MAX - 1].tid, 400 - FR_WAITSUM_MAX + 1);
	assert_int_equal(s.rest.cnt, 400 - FR_WAITSUM_MAX);
	assert_int_equal(s.rest.off_ns, 144 * 145 / 2);
	assert_int_equal(s.all.off_ns, 400 * 401 / 2);
	fr_waitsums_free(&s);
}

static void bad_texts(void **state)
{
	static const char *const bad[] = {
		"",
		"rest=",
		"rest=1:2",
		"rest=1:2:3:4",
		"rest=1:2:-3",
		"rest=1:2:3;",
		"rest=1:2:3;7:1:0:1:8:1:1000",
		"rest=1:2:3;7:1:0:1:8:1:1000:500:6",
		"rest=1:2:3;0:1:0:1:8:1:1000:500",
		"rest=1:2:3;-7:1:0:1:8:1:1000:500",
		"rest=1:2:3;7:3:0:1:8:1:1000:500",
		"rest=1:2:3;7:1:4:1:8:1:1000:500",
		"rest=1:2:3;7:1:0:2147483648:8:1:1000:500",
		"rest=1:2:3;4194304:1:0:1:8:1:1000:500",
		"rest=1:2:3;7:1:0:1:8:1:1000:99999999999999999999",
		"rest=1:2:3;7:1:0:1:8:1: 1000:500",
		"rest=1:2:3;7:1:0:1:8:1:1000:500x",
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fr_waitsums s = {};

		if (fr_waitsums_read(&s, bad[i], NULL) != -EBADMSG)
			fail_msg("%s", bad[i]);
		fr_waitsums_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined_and_back),
		cmocka_unit_test(too_many),
		cmocka_unit_test(bad_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
