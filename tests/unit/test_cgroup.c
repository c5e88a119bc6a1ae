/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which cgroup the text of a /proc/PID/cgroup names, as bpf/cgroup.bpf.h chooses it; in a namespace, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sys/cgroup.h"

#define UNKNOWN NULL

static void whole(struct fr_cgroup_here *h)
{
	memset(h, 0, sizeof(*h));
	h->is_known[FR_CGROUP_TREE_v2] = h->is_known[FR_CGROUP_TREE_memory] = true;
}

static void is(const struct fr_cgroup_here *h, const char *text, const char *want)
{
	char path[64] = "";

	assert_int_equal(fr_cgroup_of_text(h, text, path, sizeof(path)), want != UNKNOWN);
	if (want)
		assert_string_equal(path, want);
}

static void of_v2_and_else_of_memory(void **state)
{
	struct fr_cgroup_here h;

	(void)state;
	whole(&h);
	is(&h, "0::/a/b\n", "/a/b");
	is(&h, "0::/\n", "/");
	is(&h, "4:memory:/m\n0::/a\n", "/a");
	is(&h, "4:memory:/m\n1:cpu:/c\n0::/\n", "/m");
	is(&h, "4:hugetlb,memory:/m/n\n0::/\n", "/m/n");
	is(&h, "4:memory_not:/m\n9:name=systemd:/s\n0::/\n", "/");
	is(&h, "4:memory:/m\n", "/m"); /* v2 was never mounted */
	is(&h, "4:memory:/\n", "/");
	is(&h, "4:memory:/\n0::/\n", "/");
	is(&h, "4:memory:/x:y\n0::/\n", "/x:y");
	is(&h, "0::/no line's end", "/no line's end");
	is(&h, "", "/");
	/* longer than there is room */
	is(&h, "0::/012345678901234567890123456789012345678901234567890123456789012345\n", UNKNOWN);
}

/* Paths are relative to the namespace's roots: both may lie somewhere. */
static void in_a_namespace(void **state)
{
	struct fr_cgroup_here h;

	(void)state;
	whole(&h);
	strcpy(h.path[FR_CGROUP_TREE_v2], "/pod");
	strcpy(h.path[FR_CGROUP_TREE_memory], "/mem");
	is(&h, "4:memory:/m\n0::/\n", "/pod");
	is(&h, "4:memory:/m\n0::/..\n", "/mem/m");
	is(&h, "4:memory:/../m\n0::/..\n", "/m");
	is(&h, "4:memory:/..\n0::/..\n", "/");
	is(&h, "4:memory:/../../other\n0::/../b\n", "/b");
	h.is_known[FR_CGROUP_TREE_memory] = false;
	is(&h, "4:memory:/m\n0::/\n", "/pod");
	is(&h, "4:memory:/m\n0::/..\n", UNKNOWN);
	is(&h, "0::/..\n", "/");
	h.is_known[FR_CGROUP_TREE_v2] = false;
	h.is_known[FR_CGROUP_TREE_memory] = true;
	is(&h, "4:memory:/m\n0::/\n", UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_v2_and_else_of_memory),
		cmocka_unit_test(in_a_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
