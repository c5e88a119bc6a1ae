/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The profile of a snapshot whose stack has each kind of frame: of the kernel, of a file, of neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/profile/prof.h"
#include "read/snapfile/snapfile.h"
#include "show/profile/profile.h"

#define SEC 1000000000ULL

static char dir[] = "/tmp/flightrec-profile-XXXXXX";
static char snap[64], folded[64];

static void fill(struct fr_prof *p)
{
	struct fr_prof_key key = {.pid = 42, .state = FR_HIT_kernel, .comm = "busy"};
	struct fr_prof_file file = {.build_id = {1, 2, 3}, .sz = 20};
	u32 outer;

	fr_prof_open(p, SEC, 100);
	key.kstack = fr_prof_put_node(p, 0, 0xffffffff81000010);
	outer = fr_prof_put_node(p, 0, FR_PROF_IN_FILE | (u64)fr_prof_put_file(p, &file) << FR_PROF_OFF_BITS | 0x1234);
	key.ustack = fr_prof_put_node(p, outer, 0x7fff12345678);
	fr_prof_hit(p, fr_prof_put_key(p, &key), 100);
	p->bucket[0].taken = p->taken = 100;
}

static int save(const char *path, const struct fr_prof *p)
{
	struct fr_snap_writer *w;
	int err = fr_snap_create(path, 16u << 20, 1, &w);

	if (!err) {
		err = fr_snap_put_schema(w, fr_schema_builtin());
		err = err ?: fr_snap_put_profile(w, p);
		err = err ?: fr_snap_finish(w);
	}
	return err;
}

static int make(void **state)
{
	struct fr_prof *p = fr_prof_new(0);
	int err;

	(void)state;
	if (!p || !mkdtemp(dir))
		return -1;
	snprintf(snap, sizeof(snap), "%s/a.flight", dir);
	snprintf(folded, sizeof(folded), "%s/folded", dir);
	fill(p);
	err = save(snap, p);
	free(p);
	return err;
}

static int unmake(void **state)
{
	(void)state;
	unlink(snap);
	unlink(folded);
	return rmdir(dir);
}

static void read_folded(char *text, size_t sz)
{
	FILE *f = fopen(folded, "r");

	assert_non_null(f);
	text[fread(text, 1, sz - 1, f)] = 0;
	fclose(f);
	assert_int_equal(unlink(folded), 0);
}

/* UBSan sees if the number of a file is taken from a frame that is in none: it is a part of an address. */
static void test_kinds_of_frames(void **state)
{
	struct fr_profile_ask ask = {
		.path = snap, .name = snap, .format = "folded", .output = folded, .since_ns = SEC, .top = 10};
	char text[512];

	(void)state;
	ask.no_symbols = true;
	assert_int_equal(fr_profile(&ask), FR_EXIT_OK);
	read_folded(text, sizeof(text));
	assert_string_equal(text, "busy;0x1234;0x7fff12345678;0xffffffff81000010 100\n");
	ask.no_symbols = false;
	assert_int_equal(fr_profile(&ask), FR_EXIT_OK);
	read_folded(text, sizeof(text));
	assert_non_null(strstr(text, "0xffffffff81000010"));
}

/* Of two pieces of time: an address that burned in the first is cooler, one that burns in the second is hotter. */
static void test_hotter_and_cooler(void **state)
{
	struct fr_profile_ask ask = {.name = "it",
				     .format = "text",
				     .output = folded,
				     .since_ns = 10 * SEC,
				     .top = 10,
				     .diff = true,
				     .no_symbols = true};
	const u64 burns[2] = {0xffffffff81000010, 0xffffffff82000010}, steady = 0xffffffff83000010;
	struct fr_prof_key key = {.pid = 42, .state = FR_HIT_kernel, .comm = "busy"};
	struct fr_prof *p = fr_prof_new(0);
	char path[80], text[2048];
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		fr_prof_open(p, (i + 1) * 60 * SEC, (i + 1) * 100);
		key.kstack = fr_prof_put_node(p, 0, burns[i]);
		fr_prof_hit(p, fr_prof_put_key(p, &key), 75);
		key.kstack = fr_prof_put_node(p, 0, steady);
		fr_prof_hit(p, fr_prof_put_key(p, &key), 25);
		p->bucket[i].taken = 100;
		p->taken += 100;
	}
	snprintf(path, sizeof(path), "%s/two.flight", dir);
	assert_int_equal(save(path, p), 0);
	free(p);
	ask.path = path;
	assert_int_equal(fr_profile(&ask), FR_EXIT_OK);
	assert_int_equal(unlink(path), 0);
	read_folded(text, sizeof(text));
	assert_non_null(strstr(text, "Hotter functions\n   +75.0     0.0% ->  75.0%   0xffffffff82000010\n"));
	assert_non_null(strstr(text, "Cooler functions\n   -75.0    75.0% ->   0.0%   0xffffffff81000010\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds_of_frames),
		cmocka_unit_test(test_hotter_and_cooler),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
