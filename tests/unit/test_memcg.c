/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The room that memory cgroups leave: a hierarchy made of files, seen as /proc tells it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sys/memcg.h"

#define MIB (1ULL << 20)

static char top[64];

static void put(const char *file, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, file);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void make_dir(const char *dir)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, dir);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void mounted(const char *root, const char *kind)
{
	char line[512];

	snprintf(line, sizeof(line), "31 23 0:28 / /proc rw shared:5 - proc proc rw\n32 31 0:29 %s %s/h rw shared:7 - %s\n",
		 root, top, kind);
	put("mountinfo", line);
}

static bool room(struct fr_memcg *got)
{
	memset(got, 0, sizeof(*got));
	return fr_memcg_room(top, got);
}

static void ends_with(const char *text, const char *end)
{
	assert_true(strlen(text) >= strlen(end));
	assert_string_equal(text + strlen(text) - strlen(end), end);
}

static int begin(void **state)
{
	(void)state;
	strcpy(top, "/tmp/fr-memcg-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	make_dir("h");
	make_dir("h/a");
	make_dir("h/a/b");
	return 0;
}

static int end(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static void version_2(void **state)
{
	struct fr_memcg got;

	(void)state;
	mounted("/", "cgroup2 cgroup2 rw");
	put("cgroup", "4:memory:/elsewhere\n0::/a/b\n");
	assert_false(room(&got));
	put("h/a/b/memory.max", "max\n");
	put("h/a/b/memory.current", "1\n");
	assert_false(room(&got));
	put("h/a/memory.max", "104857600\n"); /* 100 MiB */
	put("h/a/memory.current", "62914560\n");
	put("h/a/memory.stat", "anon 5\ninactive_file 10485760\nactive_file 20971520\nworkingset_activate_file 7\n");
	assert_true(room(&got));
	assert_int_equal(got.limit, 100 * MIB);
	assert_int_equal(got.room, 70 * MIB);
	ends_with(got.file, "/h/a/memory.max");
	put("h/a/memory.high", "83886080\n"); /* beyond it all is slow */
	assert_true(room(&got));
	assert_int_equal(got.room, 50 * MIB);
	ends_with(got.file, "/h/a/memory.high");
	put("h/a/memory.high", "max\n");
	put("h/a/b/memory.max", "31457280\n"); /* less room than above */
	assert_true(room(&got));
	ends_with(got.file, "/h/a/b/memory.max");
	put("h/a/b/memory.current", "41943040\n"); /* a limit that was lowered below what is used */
	assert_true(room(&got));
	assert_int_equal(got.room, 0);
}

static void version_1(void **state)
{
	struct fr_memcg got;

	(void)state;
	mounted("/", "cgroup cgroup rw,cpu,memory");
	put("cgroup", "5:memory_not:/x\n4:cpu,memory:/a/b\n0::/\n");
	put("h/a/b/memory.limit_in_bytes", "9223372036854771712\n");
	put("h/a/b/memory.usage_in_bytes", "1\n");
	assert_false(room(&got));
	put("h/a/memory.limit_in_bytes", "104857600\n");
	put("h/a/memory.usage_in_bytes", "62914560\n");
	put("h/a/memory.stat", "inactive_file 1\ntotal_inactive_file 10485760\ntotal_active_file 0\n");
	assert_true(room(&got));
	assert_int_equal(got.room, 50 * MIB);
}

/* A container sees its part alone: by a mount of it, by a namespace, or by a path that leads nowhere. */
static void of_a_container(void **state)
{
	static const char *const root[] = {"/x", "/", "/"}, *const path[] = {"0::/x/a/b\n", "0::/\n", "0::/../y\n"};
	static const char *const file[] = {"/h/a/b/memory.max", "/h/memory.max", "/h/memory.max"};
	struct fr_memcg got;
	u32 i;

	(void)state;
	put("h/memory.max", "209715200\n");
	put("h/memory.current", "0\n");
	put("h/a/b/memory.max", "104857600\n");
	put("h/a/b/memory.current", "0\n");
	for (i = 0; i < 3; i++) {
		mounted(root[i], "cgroup2 cgroup2 rw");
		put("cgroup", path[i]);
		assert_true(room(&got));
		ends_with(got.file, file[i]);
	}
}

static void nothing_to_see(void **state)
{
	struct fr_memcg got;

	(void)state;
	assert_false(fr_memcg_room("/nowhere", &got));
	put("mountinfo", "\n - \n1 2 3 4\n32 31 0:29 / /h rw - cgroup2\n");
	put("cgroup", "\n:\n0:\n");
	assert_false(room(&got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(version_2, begin, end),
		cmocka_unit_test_setup_teardown(version_1, begin, end),
		cmocka_unit_test_setup_teardown(of_a_container, begin, end),
		cmocka_unit_test_setup_teardown(nothing_to_see, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
