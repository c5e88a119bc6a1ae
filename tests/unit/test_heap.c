/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The heap in huge pages: each test in a process of its own, whose heap is as malloc() begins it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/heap.h"
#include "sys/memory.h"

#define MIB	  (1ul << 20)
#define DISTURBED 2 /* exit status: khugepaged may have added to the heap */

/* Does malloc() serve from the break? That of sanitizers and of valgrind does not, which has to be noticed. */
static bool is_from_break(void)
{
	char *p = malloc(64), *end = sbrk(0);
	bool is = p < end && (size_t)(end - p) < MIB;

	free(p);
	return is;
}

/* What smaps says of the heap under this name, KiB. */
static unsigned long heap_kib(const char *name)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	unsigned long sum = 0, n;
	bool heap = false;
	char line[512], key[64];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (strchr(line, '-') && strchr(line, '-') < strchr(line, ' '))
			heap = strstr(line, "[heap]");
		else if (heap && sscanf(line, "%63[^:]: %lu kB", key, &n) == 2 && !strcmp(key, name))
			sum += n;
	}
	fclose(f);
	return sum;
}

static bool huge_by_madvise(void)
{
	FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
	char line[64] = "";

	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	return strstr(line, "[madvise]") || strstr(line, "[always]");
}

/* How often khugepaged put a huge page where single pages were used, in any process. */
static unsigned long collapsed_cnt(void)
{
	FILE *f = fopen("/proc/vmstat", "re");
	unsigned long cnt = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "thp_collapse_alloc %lu", &cnt) == 1)
			break;
	if (f)
		fclose(f);
	return cnt;
}

/* Returns what waitpid() says of how it ended. */
static int end_of_child(void (*fn)(void))
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void in_child(void (*fn)(void))
{
	assert_int_equal(end_of_child(fn), 0);
}

static void must(bool is_so)
{
	if (!is_so)
		_exit(1);
}

/* sz bytes, used, that are kept for as long as the process lives. */
static void take(size_t sz)
{
	static void *volatile taken[2048];
	static size_t cnt;
	void *p = malloc(sz);

	must(p && cnt < sizeof(taken) / sizeof(taken[0]));
	memset(p, 1, sz);
	taken[cnt++] = p;
}

/* 36 MiB in pieces that malloc() would otherwise map one by one. */
static void take_many(void)
{
	size_t i;

	for (i = 1; i <= 8; i++)
		take(i * MIB);
}

static void takes_nothing_yet(void)
{
	unsigned long collapsed = collapsed_cnt(), before = heap_kib("Rss");

	fr_heap_huge_pages();
	if (heap_kib("Rss") <= before + 256)
		return;
	_exit(collapsed_cnt() == collapsed ? 1 : DISTURBED);
}

static void is_huge(void)
{
	bool is_libc = is_from_break();
	void *p;

	fr_heap_huge_pages();
	p = malloc(MIB);
	must(((uintptr_t)p + 4096) % (2 * MIB) < 8192 || !is_libc);
	free(p);
	take_many();
	must(heap_kib("AnonHugePages") >= 36 * 1024 || !is_libc);
}

/* 86 MiB of 100: a heap that is longer than needed would take the rest's place. */
static void takes_no_room_under_a_limit(void)
{
	struct rlimit l = {.rlim_cur = 100 * MIB, .rlim_max = 100 * MIB};

	if (is_from_break())
		must(!setrlimit(RLIMIT_DATA, &l));
	fr_heap_huge_pages();
	take_many();
	must(mmap(NULL, 50 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
}

/* It grows by what is needed then. */
static void grows_past_it(void)
{
	char *before = sbrk(0);
	int i;

	fr_heap_huge_pages();
	for (i = 0; i < 1200; i++)
		take(MIB / 16);
	must((char *)sbrk(0) - before < (long)(80 * MIB));
	take(100 * MIB);
}

static void test_takes_nothing_yet(void **state)
{
	int status, tries = 0;

	(void)state;
	do
		status = end_of_child(takes_nothing_yet);
	while (WIFEXITED(status) && WEXITSTATUS(status) == DISTURBED && ++tries < 100);
	assert_int_equal(status, 0);
}

static void test_is_huge(void **state)
{
	(void)state;
	if (!huge_by_madvise() || fr_memory_left() < 256 * MIB) {
		puts("skipped: this kernel gives no huge pages to who asks, or too little memory is left");
		skip();
	}
	in_child(is_huge);
}

static void test_takes_no_room_under_a_limit(void **state)
{
	(void)state;
	in_child(takes_no_room_under_a_limit);
}

static void test_grows_past_it(void **state)
{
	(void)state;
	in_child(grows_past_it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_takes_nothing_yet),
		cmocka_unit_test(test_is_huge),
		cmocka_unit_test(test_takes_no_room_under_a_limit),
		cmocka_unit_test(test_grows_past_it),
	};

	return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
