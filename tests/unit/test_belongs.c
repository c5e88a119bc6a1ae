/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose a task is: from the path of its cgroup, and from lines about containers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

/* its own tables, to see their size */
#include "base/rows/cgroups.c"

#define ID	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PAUSE	"aaaa456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UNNAMED "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define POD	"12345678-9abc-def0-1234-56789abcdef0"

static void add(struct fr_cgroups *c, const char *text)
{
	assert_int_equal(fr_cgroups_add_procs(c, text, strlen(text)), 0);
}

/* All that is known of who is in the cgroup with this id, in the order of the table. */
static const char *of(const struct fr_cgroups *c, u64 cgroup)
{
	const struct fr_belongs *b = fr_cgroups_belongs(c, -1, 0, cgroup);
	static char text[2048];
	u32 i;

	*text = 0;
	for (i = 0; b && i < FR_BELONGS_CNT; i++)
		sprintf(text + strlen(text), "%s%s", i ? "|" : "", b->text[i] ?: "-");
	return b ? text : "unknown";
}

static const char *words(const struct fr_cgroups *c, u64 cgroup)
{
	static char text[256];

	return fr_belongs_words(fr_cgroups_belongs(c, -1, 0, cgroup), text, sizeof(text)) ? text : "none";
}

#define PATHS                                                                  \
	"{\"cgroup_id\":1,\"cgroup\":\"/system.slice/docker-" ID ".scope\"}\n" \
	"{\"cgroup_id\":2,\"cgroup\":\"/kubepods/pod" POD "/" UNNAMED "\"}\n"  \
	"{\"cgroup_id\":3,\"cgroup\":\"/system.slice/nginx.service\"}\n"       \
	"{\"cgroup_id\":4,\"cgroup\":\"/lxc.payload.web\"}\n"                  \
	"{\"cgroup_id\":5,\"cgroup\":\"/kubepods/pod" POD "\"}\n"              \
	"{\"cgroup_id\":6,\"cgroup\":\"/docker/" ID "/init.scope\"}\n"

static void test_paths(void **state)
{
	struct fr_cgroups *c = fr_cgroups_new();

	(void)state;
	add(c, PATHS);
	assert_int_equal(fr_cgroups_named_cnt(c), 0);
	assert_string_equal(of(c, 1), "docker-0123456789ab|" ID "|-|-|-|-");
	assert_string_equal(of(c, 2), "fedcba987654|" UNNAMED "|-|-|-|-");
	assert_string_equal(of(c, 3), "-|-|-|-|-|nginx.service");
	assert_string_equal(of(c, 4), "lxc-web|-|-|-|-|-");
	assert_string_equal(of(c, 5), "-|-|-|-|-|-");
	assert_string_equal(of(c, 9), "unknown");
	assert_string_equal(words(c, 1), "none");
	assert_string_equal(words(c, 4), "container lxc-web");
	fr_cgroups_free(c);
}

/* In any order, also of another file; a pod is that of any of its containers, the first line about a container counts. */
static void test_names(void **state)
{
	struct fr_cgroups *c = fr_cgroups_new();

	(void)state;
	add(c, "{\"container_id\":\"" ID "\",\"container\":\"web\",\"image\":\"nginx:1\"}\n");
	add(c, PATHS);
	add(c, "{\"container_id\":\"" PAUSE "\",\"pod_uid\":\"" POD "\",\"pod\":\"api-0\",\"namespace\":\"prod\"}\n"
	       "{\"container_id\":\"" ID "\",\"container\":\"no\"}\n"
	       "{\"container_id\":\"short\",\"container\":\"no\"}\n"
	       "{\"container_id\":\"" UNNAMED "\",\"container\":7}\n");
	assert_int_equal(fr_cgroups_named_cnt(c), 3);
	/* what is no id takes no room, or a file of such lines would take any */
	assert_int_equal(c->by_id.cnt, 3);
	assert_string_equal(of(c, 1), "web|" ID "|-|-|nginx:1|-");
	assert_string_equal(of(c, 6), "web|" ID "|-|-|nginx:1|init.scope");
	assert_string_equal(of(c, 2), "fedcba987654|" UNNAMED "|api-0|prod|-|-");
	assert_string_equal(of(c, 5), "-|-|api-0|prod|-|-");
	assert_string_equal(words(c, 1), "container web");
	assert_string_equal(words(c, 2), "pod prod/api-0");
	fr_cgroups_free(c);
}

/* A living process is where it is now; its container's name is found, too. */
static void test_process(void **state)
{
	struct fr_cgroups *c = fr_cgroups_new();
	struct fr_task t = {.tgid = 7, .cgroup = 3};
	const struct fr_belongs *b;

	(void)state;
	assert_int_equal(fr_cgroups_add_task(c, 7, 1, &t), 0);
	add(c, "{\"pid\":7,\"cgroup\":\"/kubepods/pod" POD "/" ID "\"}\n"
	       "{\"cgroup_id\":3,\"cgroup\":\"/system.slice/containerd.service\"}\n"
	       "{\"container_id\":\"" ID "\",\"container\":\"app\",\"pod_uid\":\"" POD
	       "\",\"pod\":\"api-0\",\"namespace\":\"prod\"}\n");
	b = fr_cgroups_belongs(c, 7, 5, 3);
	assert_string_equal(b->text[FR_BELONGS_container], "app");
	assert_string_equal(b->text[FR_BELONGS_pod], "api-0");
	assert_null(b->text[FR_BELONGS_unit]);
	assert_string_equal(fr_cgroups_belongs(c, 8, 5, 3)->text[FR_BELONGS_unit], "containerd.service");
	assert_int_equal(fr_belongs_find("pod"), FR_BELONGS_pod);
	assert_int_equal(fr_belongs_find("pods"), FR_BELONGS_CNT);
	fr_cgroups_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
