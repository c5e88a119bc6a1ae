/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a CPU remembers of files (bpf/place_file.h), on a clock of the test's own: what a sample finds, how often the kernel is
 * asked, and how soon a build-id is known that could not be told for a while.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "place_file.h"

#define HZ 499u

static struct {
	struct place_files files;
	u32 now_s;
	u64 asking;
	u32 ask_cnt;
} rig;

static int begin(void **state)
{
	(void)state;
	memset(&rig, 0, sizeof(rig));
	rig.now_s = -5; /* it wraps */
	return 0;
}

/* A sample with so many frames in a file, as place.bpf.h does it; the kernel tells its build-id or not. Is it named? */
static bool sampled(u64 id, u32 frame_cnt, bool tells)
{
	struct place_file *f = fr_place_file(&rig.files, id, rig.now_s);

	if (!f || !fr_place_is_told(f)) {
		rig.ask_cnt++;
		rig.asking++;
		while (frame_cnt--) {
			f = fr_place_file(&rig.files, id, rig.now_s);
			if (!f)
				f = fr_place_add_file(&rig.files, id, rig.now_s, rig.asking);
			else if (fr_place_is_told(f))
				continue;
			if (tells) {
				f->build_id[0] = ~id;
				fr_place_told(f, rig.now_s);
			} else {
				fr_place_failed(f, rig.now_s, rig.asking);
			}
		}
		f = fr_place_file(&rig.files, id, rig.now_s);
	}
	assert_true(!f->known || f->build_id[0] == ~id);
	return f->known;
}

/* A second of samples. Returns how many are named. */
static u32 second_of(u64 id, bool tells)
{
	u32 i, named = 0;

	for (i = 0; i < HZ; i++)
		named += sampled(id, 3, tells);
	rig.now_s++;
	return named;
}

static void a_file_that_is_told_is_asked_for_once_in_a_while(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < FR_PLACE_FILE_S; i++) {
		assert_int_equal(second_of(1, true), HZ);
		assert_int_equal(rig.ask_cnt, 1);
	}
	assert_int_equal(second_of(1, true), HZ);
	assert_int_equal(rig.ask_cnt, 2);
}

/* All the time until it could be told, it is not named; a retry later, all samples are. */
static void a_file_that_was_not_told_is_tried_again_soon(void **state)
{
	u32 failing_s, i;

	(void)state;
	for (failing_s = 1; failing_s <= 2 * FR_PLACE_FILE_S; failing_s++) {
		begin(state);
		for (i = 0; i < failing_s; i++)
			assert_int_equal(second_of(1, false), 0);
		for (i = 1; i < FR_PLACE_RETRY_S; i++)
			second_of(1, true);
		for (i = 0; i < FR_PLACE_FILE_S; i++)
			assert_int_equal(second_of(1, true), HZ);
	}
}

/* The lock is taken in some tries, not in all. */
static void one_that_is_told_in_its_last_try_is_known(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < FR_PLACE_TRIES - 1; i++)
		assert_false(sampled(1, 5, false));
	assert_true(sampled(1, 5, true));
	assert_int_equal(second_of(1, false), HZ);
}

/* It costs the first tries, and then one in each interval, however many frames and samples it has. */
static void a_file_without_one_costs_few_askings(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 60; i++) {
		second_of(1, false);
		assert_int_equal(rig.ask_cnt, FR_PLACE_TRIES + i / FR_PLACE_RETRY_S);
	}
}

/* One file's failures are not another one's. */
static void each_file_has_tries_of_its_own(void **state)
{
	u64 id;

	(void)state;
	for (id = 1; id <= FR_PLACE_FILE_CNT / FR_PLACE_WAYS; id++) {
		second_of(id, false);
		rig.now_s--;
	}
	for (id = 1; id <= FR_PLACE_FILE_CNT / FR_PLACE_WAYS; id++)
		assert_false(sampled(id, 1, true));
	assert_true(sampled(1000 * FR_PLACE_FILE_CNT, 1, true));
	rig.now_s += FR_PLACE_RETRY_S;
	for (id = 1; id <= FR_PLACE_FILE_CNT / FR_PLACE_WAYS; id++)
		assert_true(sampled(id, 1, true));
}

/* A slot that holds nothing any more is taken first, its own before any; another file's only if all hold. */
static void a_file_takes_the_place_of_what_is_out_of_date(void **state)
{
	const u64 step = FR_PLACE_FILE_CNT / FR_PLACE_WAYS; /* ids of one set */
	u64 i;

	(void)state;
	for (i = 0; i < FR_PLACE_WAYS; i++)
		assert_true(sampled(1 + i * step, 1, true));
	for (i = 0; i < FR_PLACE_WAYS; i++)
		assert_non_null(fr_place_file(&rig.files, 1 + i * step, rig.now_s));
	rig.now_s += FR_PLACE_FILE_S;
	for (i = 0; i < FR_PLACE_WAYS; i++)
		assert_null(fr_place_file(&rig.files, 1 + i * step, rig.now_s));
	for (i = FR_PLACE_WAYS; i--;)
		assert_true(sampled(1 + i * step, 1, true));
	for (i = 0; i < FR_PLACE_WAYS; i++)
		assert_non_null(fr_place_file(&rig.files, 1 + i * step, rig.now_s));
	assert_true(sampled(1 + FR_PLACE_WAYS * step, 1, true));
	for (i = 0; i < FR_PLACE_FILE_CNT; i++)
		assert_true(rig.files.file[i].id == 0 || rig.files.file[i].id % step == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_file_that_is_told_is_asked_for_once_in_a_while, begin),
		cmocka_unit_test_setup(a_file_that_was_not_told_is_tried_again_soon, begin),
		cmocka_unit_test_setup(one_that_is_told_in_its_last_try_is_known, begin),
		cmocka_unit_test_setup(a_file_without_one_costs_few_askings, begin),
		cmocka_unit_test_setup(each_file_has_tries_of_its_own, begin),
		cmocka_unit_test_setup(a_file_takes_the_place_of_what_is_out_of_date, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
