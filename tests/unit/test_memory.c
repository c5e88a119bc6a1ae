/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a process may take: each test in a process of its own, which stays bound. */
#include <setjmp.h>
#include <stdarg.h>
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

#include "base/set/tidmap.h"
#include "sys/memory.h"

#define MIB   (1ull << 20)
#define BOUND (512 * MIB)

#ifndef __SANITIZE_ADDRESS__ /* which maps terabytes of its own */

static void must(bool is_so)
{
	if (!is_so)
		_exit(1);
}

/* valgrind keeps this limit itself, and does not count as the kernel does. */
static bool is_kept_by_kernel(void)
{
	struct rlimit was, l;
	char line[128], kept[64] = "";
	FILE *f;

	assert_int_equal(getrlimit(RLIMIT_DATA, &was), 0);
	l = (struct rlimit){BOUND, was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_DATA, &l), 0);
	f = fopen("/proc/self/limits", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Max data size %63s", kept) == 1)
			break;
	if (f)
		fclose(f);
	assert_int_equal(setrlimit(RLIMIT_DATA, &was), 0);
	return strtoull(kept, NULL, 10) == BOUND;
}

static void in_child(void (*fn)(void))
{
	pid_t pid;
	int status;

	if (!is_kept_by_kernel()) {
		print_message("skipped: the kernel does not keep RLIMIT_DATA of this process: run it without valgrind\n");
		skip();
	}

	fflush(NULL);
	pid = fork();
	if (!pid) {
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void *take(size_t sz)
{
	void *p = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* What the kernel counts. */
static u64 data_sz(void)
{
	unsigned long kib = 0;
	char line[128];
	FILE *f = fopen("/proc/self/status", "re");

	must(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmData: %lu kB", &kib) == 1)
			break;
	fclose(f);
	return kib * 1024;
}

static void limit(int what, u64 sz)
{
	struct rlimit l;

	must(!getrlimit(what, &l));
	l.rlim_cur = sz;
	must(!setrlimit(what, &l));
}

/* ---- the tests ---- */

static void unbound(void)
{
	must(fr_memory_bound() == UINT64_MAX && fr_memory_has_row_room(1ull << 60));
}

static void bound(void)
{
	fr_memory_bind(BOUND);
	must(fr_memory_bound() == BOUND);
	must(take(100 * MIB) && !take(BOUND));
	must(take(BOUND - data_sz() - 16 * MIB) && !take(16 * MIB + 1)); /* to the page */
}

/* An option comes after the usual bound, and may allow more, or less. */
static void bound_again(void)
{
	fr_memory_bind(BOUND);
	fr_memory_bind(2 * BOUND);
	must(fr_memory_bound() == 2 * BOUND && take(BOUND));
	fr_memory_bind(BOUND);
	must(fr_memory_bound() == BOUND && !take(MIB));
}

static void limits_stay(void)
{
	limit(RLIMIT_DATA, BOUND);
	fr_memory_bind(2 * BOUND);
	must(fr_memory_bound() == BOUND && !take(BOUND));
}

/* What is mapped beside it leaves less of an address space. */
static void space_stays(void)
{
	must(mmap(NULL, BOUND, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	limit(RLIMIT_AS, 2 * BOUND);
	fr_memory_bind(4 * BOUND);
	must(fr_memory_bound() < BOUND && fr_memory_bound() > BOUND / 2);
}

static void room(void)
{
	u64 most = BOUND / FR_MEMORY_PARTS * FR_MEMORY_ROWS, had;

	fr_memory_bind(BOUND);
	must(!fr_memory_has_row_room(most) && fr_memory_has_row_room(most / 2));
	must(take(most - data_sz() - 8 * MIB));
	must(fr_memory_has_row_room(4 * MIB) && !fr_memory_has_row_room(9 * MIB));
	must(fr_memory_has_room(9 * MIB, FR_MEMORY_SUMS)); /* kept for what comes later */
	for (had = 0; fr_memory_has_row_room(4096); had += 4096)
		must(take(4096));
	must(had > 6 * MIB && had < 10 * MIB);
}

/* A look is good for a MiB, whatever parts are asked for in turn: what is taken behind its back shows at the next one. */
static void looks(void)
{
	u64 asked;

	fr_memory_bind(BOUND);
	must(fr_memory_has_row_room(0));
	must(take(BOUND / FR_MEMORY_PARTS * FR_MEMORY_SUMS - data_sz()));
	for (asked = 0; fr_memory_has_room(4096, asked / 4096 % 2 ? FR_MEMORY_ROWS : FR_MEMORY_SUMS); asked += 4096)
		must(asked < MIB);
	must(asked == MIB);
}

/* One that is refused is as good for what is asked for in turn, as sums while there is no room for rows. */
static void refused(void)
{
	u64 asked;

	fr_memory_bind(BOUND);
	must(take(BOUND / FR_MEMORY_PARTS * FR_MEMORY_ROWS + MIB - data_sz()) && !fr_memory_has_row_room(4096));
	must(take(BOUND / FR_MEMORY_PARTS * FR_MEMORY_SUMS - data_sz()));
	for (asked = 0; fr_memory_has_room(4096, FR_MEMORY_SUMS); asked += 4096)
		must(asked < MIB);
	must(asked == MIB);
}

#define IN_CHILD(name)                        \
	static void test_##name(void **state) \
	{                                     \
		(void)state;                  \
		in_child(name);               \
	}

IN_CHILD(unbound)
IN_CHILD(bound)
IN_CHILD(bound_again)
IN_CHILD(limits_stay)
IN_CHILD(space_stays)
IN_CHILD(room)
IN_CHILD(looks)
IN_CHILD(refused)

#endif

static void test_usual(void **state)
{
	unsigned long kib = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemTotal: %lu kB", &kib) == 1)
			break;
	fclose(f);
	assert_true(fr_memory_total() && fr_memory_total() <= kib * 1024); /* a cgroup's limit may be less */
	assert_int_equal(fr_memory_usual_bound(), fr_memory_total() / 4);
	assert_true(fr_memory_available() <= kib * 1024);
}

/* ---- a number for each tid ---- */

static void test_tidmap(void **state)
{
	struct fr_tidmap *m = calloc(1, sizeof(*m));
	u32 tid, pages = 0, i;

	(void)state;
	for (tid = 0; tid <= FR_TID_MASK; tid += 4099)
		assert_int_equal(fr_tidmap_get(m, tid), 0);
	for (tid = 0; tid <= FR_TID_MASK; tid += 4099)
		*fr_tidmap_at(m, tid) = tid + 1;
	for (tid = 0; tid <= FR_TID_MASK; tid++)
		assert_int_equal(fr_tidmap_get(m, tid), tid % 4099 ? 0 : tid + 1);
	fr_tidmap_free(m);
	*fr_tidmap_at(m, 1000) = 7;
	*fr_tidmap_at(m, FR_TID_MASK) = 8;
	for (i = 0; i < FR_TIDMAP_PAGES; i++)
		pages += m->page[i] != NULL;
	assert_int_equal(pages, 2);
	assert_int_equal(fr_tidmap_get(m, 1000) + fr_tidmap_get(m, FR_TID_MASK), 15);
	fr_tidmap_free(m);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifndef __SANITIZE_ADDRESS__
		cmocka_unit_test(test_unbound),	    cmocka_unit_test(test_bound),	cmocka_unit_test(test_bound_again),
		cmocka_unit_test(test_limits_stay), cmocka_unit_test(test_space_stays), cmocka_unit_test(test_room),
		cmocka_unit_test(test_looks),	    cmocka_unit_test(test_refused),
#endif
		cmocka_unit_test(test_usual),	    cmocka_unit_test(test_tidmap),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
