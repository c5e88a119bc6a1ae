/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of processes and containers: what has no room is said to be missing, on whichever side of the pipe it had none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "sys/errand.h"

static u32 told_cnt[256];

/* What a runner tells, counted. */
static void told(struct fr_errand_out *out, u32 kind, const void *data, size_t sz)
{
	(void)out;
	(void)data;
	(void)sz;
	told_cnt[kind]++;
}

#define fr_errand_tell(out, kind, data, sz) told(out, kind, data, sz)
#include "live/snapshot/procs.c"

static struct fr_unread unread;

static struct fr_procs *begin(struct fr_errand_job job[FR_PROCS_JOB_CNT])
{
	const struct fr_procs_ask ask = {.unread = &unread};

	memset(&unread, 0, sizeof(unread));
	memset(told_cnt, 0, sizeof(told_cnt));
	return fr_procs_new(&ask, job);
}

static void container_cgroup(char *to, size_t room, u32 i)
{
	snprintf(to, room, "/docker/%064x", i);
}

/* The runner tells each container once, and once that there are more than the list has room for. */
static void test_runner(void **state)
{
	struct fr_errand_job job[FR_PROCS_JOB_CNT];
	struct fr_procs *p = begin(job);
	char path[128];
	u32 i, round;

	(void)state;
	for (round = 0; round < 2; round++)
		for (i = 0; i < CONTAINERS_MAX; i++) {
			container_cgroup(path, sizeof(path), i);
			tell_container(p, NULL, path);
		}
	assert_int_equal(told_cnt[TOLD_CONTAINER], CONTAINERS_MAX);
	assert_int_equal(told_cnt[TOLD_NO_ROOM], 0);
	for (; i < CONTAINERS_MAX + 5; i++) {
		container_cgroup(path, sizeof(path), i);
		tell_container(p, NULL, path);
	}
	assert_int_equal(told_cnt[TOLD_CONTAINER], CONTAINERS_MAX);
	assert_int_equal(told_cnt[TOLD_NO_ROOM], 1);
	fr_procs_free(p);
}

static void take(const struct fr_errand_job *job, u32 i)
{
	struct container c = {};

	snprintf(c.id, sizeof(c.id), "%064x", i);
	job->take(job->arg, 0, TOLD_CONTAINER, &c, sizeof(c));
}

/* The asker says that some are missing, once, of a process's item as of the cgroups'. */
static void test_asker(void **state)
{
	struct fr_errand_job job[FR_PROCS_JOB_CNT];
	struct fr_procs *p = begin(job);
	u32 i, named_cnt;

	(void)state;
	for (i = 0; i < CONTAINERS_MAX; i++)
		take(&job[1 + i % 2], i);
	take(&job[1], 0);
	assert_int_equal(unread.cnt, 0);
	take(&job[1], i);
	take(&job[2], i + 1);
	assert_int_equal(unread.cnt, 1);
	job[2].take(p, 0, TOLD_NO_ROOM, NULL, 0);
	assert_string_equal(unread.text, "0 containers failed");
	assert_int_equal(fr_procs_containers(p, &named_cnt), CONTAINERS_MAX);
	fr_procs_free(p);
	p = begin(job);
	job[1].take(p, 0, TOLD_NO_ROOM, NULL, 0);
	assert_string_equal(unread.text, "0 containers failed");
	fr_procs_free(p);
}

static void put_file(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Hierarchies of version 1 say of whoever ends that it is in their root: that is no cgroup that it was in. */
static void test_cgroup_of_who_ends(void **state)
{
	static const struct {
		const char *cgroup, *stat, *told;
	} cases[] = {
		{"4:memory:/\n0::/\n", "7 (a) b) S 1 7 7 0 -1 4194304 9 9", ",\"cgroup\":\"/\""},
		{"4:memory:/\n0::/\n", "7 (a) b) Z 1 7 7 0 -1 4194308 9 9", ""},
		{"4:memory:/\n0::/\n", "7 (a) 4) R 1", ""},
		{"4:memory:/x\n0::/\n", "7 (a) b) Z 1 7 7 0 -1 4194308 9 9", ",\"cgroup\":\"/x\""},
		{"4:memory:/\n0::/y\n", "7 (a) b) Z 1 7 7 0 -1 4194308 9 9", ",\"cgroup\":\"/y\""},
	};
	const struct fr_cgroup_here here = {.is_known = {true, true}};
	struct fr_errand_job job[FR_PROCS_JOB_CNT];
	struct fr_procs *p = begin(job);
	char at[] = "/tmp/test_procs-XXXXXX", *text;
	int dir;
	u32 i;

	(void)state;
	assert_non_null(mkdtemp(at));
	dir = open(at, O_RDONLY | O_DIRECTORY);
	p->ask.cgroup_here = &here;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t sz;

		put_file(dir, "cgroup", cases[i].cgroup);
		put_file(dir, "stat", cases[i].stat);
		fr_out_init_mem(p->out);
		assert_int_equal(put_cgroup(p, dir, NULL), 0);
		text = fr_out_take_mem(p->out, &sz);
		assert_string_equal(text ? text : "", cases[i].told);
		free(text);
	}
	unlinkat(dir, "cgroup", 0);
	unlinkat(dir, "stat", 0);
	close(dir);
	rmdir(at);
	fr_procs_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runner),
		cmocka_unit_test(test_asker),
		cmocka_unit_test(test_cgroup_of_who_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
