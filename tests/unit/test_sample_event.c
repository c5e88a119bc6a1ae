/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which event takes samples, with a kernel that has a counter of cycles, has none, or has one that stands still. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/profile/sample_event.h"

#define CPU_WITHOUT 3u /* has no counter */

static struct kernel {
	int cycles_err, clock_err; /* 0: it opens */
	bool counts;
	struct perf_event_attr last;
	u32 cpu, opened;
} k;

static int fake_open(const struct perf_event_attr *attr, u32 cpu)
{
	int err = attr->type == PERF_TYPE_HARDWARE ? k.cycles_err : k.clock_err;

	if (attr->type == PERF_TYPE_HARDWARE && cpu == CPU_WITHOUT)
		err = -ENOENT;
	if (err)
		return err;
	k.last = *attr;
	k.cpu = cpu;
	k.opened++;
	return open("/dev/null", O_RDONLY);
}

static bool fake_counts(void)
{
	return k.counts;
}

static const struct fr_sample_ops ops = {fake_open, fake_counts};

static void opens(enum fr_sample_event ev, u32 cpu, u32 hz)
{
	int fd = fr_sample_event_open(&ops, ev, cpu, hz);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(k.cpu, cpu);
	assert_int_equal(k.last.size, sizeof(k.last));
}

static void cycles_where_they_count(void **state)
{
	(void)state;
	k = (struct kernel){.counts = true};
	assert_int_equal(fr_sample_event_choose(&ops, 0, 99), FR_SAMPLE_CYCLES);
	opens(FR_SAMPLE_CYCLES, 1, 99);
	assert_int_equal(k.last.type, PERF_TYPE_HARDWARE);
	assert_int_equal(k.last.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(k.last.freq, 1);
	assert_int_equal(k.last.sample_freq, 99);
}

static void the_clock_where_there_are_none(void **state)
{
	(void)state;
	k = (struct kernel){.cycles_err = -ENOENT, .counts = true};
	assert_int_equal(fr_sample_event_choose(&ops, 0, 99), FR_SAMPLE_CLOCK);
	assert_int_equal(k.opened, 0);
	opens(FR_SAMPLE_CLOCK, 1, 100);
	assert_int_equal(k.last.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(k.last.config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(k.last.freq, 0);
	assert_int_equal(k.last.sample_period, 10000000);
}

static void the_clock_where_cycles_stand_still(void **state)
{
	(void)state;
	k = (struct kernel){.counts = false};
	assert_int_equal(fr_sample_event_choose(&ops, 0, 99), FR_SAMPLE_CLOCK);
}

static void the_clock_for_a_cpu_of_another_kind(void **state)
{
	(void)state;
	k = (struct kernel){.counts = true};
	opens(FR_SAMPLE_CYCLES, CPU_WITHOUT, 99);
	assert_int_equal(k.last.type, PERF_TYPE_SOFTWARE);
}

static void what_the_clock_says_is_told(void **state)
{
	(void)state;
	k = (struct kernel){.cycles_err = -ENOENT, .clock_err = -EACCES};
	assert_int_equal(fr_sample_event_open(&ops, FR_SAMPLE_CYCLES, 0, 99), -EACCES);
	assert_int_equal(fr_sample_event_open(&ops, FR_SAMPLE_CLOCK, 0, 99), -EACCES);
}

static void names(void **state)
{
	(void)state;
	assert_int_equal(fr_sample_event_find(fr_sample_event_name(FR_SAMPLE_CYCLES)), FR_SAMPLE_CYCLES);
	assert_int_equal(fr_sample_event_find(fr_sample_event_name(FR_SAMPLE_CLOCK)), FR_SAMPLE_CLOCK);
	assert_int_equal(fr_sample_event_find(NULL), FR_SAMPLE_CLOCK);
	assert_int_equal(fr_sample_event_find("bogus"), FR_SAMPLE_CLOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycles_where_they_count),
		cmocka_unit_test(the_clock_where_there_are_none),
		cmocka_unit_test(the_clock_where_cycles_stand_still),
		cmocka_unit_test(the_clock_for_a_cpu_of_another_kind),
		cmocka_unit_test(what_the_clock_says_is_told),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
