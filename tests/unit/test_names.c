/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rows/names.h"
#include "base/rows/stacks.h"
#include "base/text/wall.h"
#include "unit/make_batch.h"

static struct fr_task task(u32 tgid, const char *first, const char *comm, u64 renamed_ns)
{
	struct fr_task t = {.tgid = tgid, .renamed_ns = renamed_ns};

	strncpy(t.first_comm, first, sizeof(t.first_comm));
	strncpy(t.comm, comm, sizeof(t.comm));
	return t;
}

static void add(struct fr_names *n, u32 tid, u64 start_ns, struct fr_task t)
{
	assert_int_equal(fr_names_add_task(n, tid, start_ns, &t), 0);
}

static void assert_who(struct fr_names *n, u32 tid, u64 ts, const char *comm, s32 pid)
{
	struct fr_who w = fr_names_who(n, tid, ts, 3);

	assert_int_equal(w.pid, pid);
	if (!comm) {
		assert_null(w.comm);
		return;
	}
	assert_non_null(w.comm);
	assert_int_equal(w.len, strlen(comm));
	assert_memory_equal(w.comm, comm, w.len);
}

static void test_reused_tid(void **state)
{
	struct fr_names *n = fr_names_new();

	(void)state;
	add(n, 100, 5000, task(100, "later", "later", 0));
	add(n, 100, 1000, task(90, "earlier", "earlier", 0));
	add(n, 101, 1000, task(101, "beside", "beside", 0));
	assert_int_equal(fr_names_ready(n), 0);
	assert_who(n, 100, 999, NULL, -1);
	assert_who(n, 100, 1000, "earlier", 90);
	assert_who(n, 100, 4999, "earlier", 90);
	assert_who(n, 100, 5000, "later", 100);
	/* times go back too: another file, another filter */
	assert_who(n, 100, 1500, "earlier", 90);
	assert_who(n, 101, 9999, "beside", 101);
	assert_true(fr_names_start(n, 100, 999) == 0 && fr_names_start(n, 100, 1000) == 1000);
	assert_true(fr_names_start(n, 100, 4999) == 1000 && fr_names_start(n, 100, 5000) == 5000);
	assert_true(fr_names_start(n, 99, 5000) == 0 && fr_names_start(n, 0xffffffff, 5000) == 0);
	fr_names_free(n);
}

static void test_idle_and_unknown(void **state)
{
	struct fr_names *n = fr_names_new();

	(void)state;
	assert_int_equal(fr_names_ready(n), 0);
	assert_who(n, 0, 5, "swapper/3", 0);
	assert_who(n, 17, 5, NULL, -1);
	assert_who(n, 0xffffffff, 5, NULL, -1);
	fr_names_free(n);
}

static void test_renamed_in_table(void **state)
{
	struct fr_names *n = fr_names_new();

	(void)state;
	add(n, 5, 1000, task(4, "sh", "nginx", 2000));
	assert_int_equal(fr_names_ready(n), 0);
	assert_who(n, 5, 1999, "sh", 4);
	assert_who(n, 5, 2000, "nginx", 4);
	fr_names_free(n);
}

static void rename_row(struct make_batch *m, u64 ts, s32 tid, const char *from, const char *to)
{
	mb_row(m, ts, 1, "task_rename");
	mb_num(m, "target_pid", tid);
	mb_text(m, "oldcomm", from);
	mb_text(m, "newcomm", to);
}

/* The table knows the first and the last name and when it came; events tell those between, and the last one's exact time. */
static void test_renames(void **state)
{
	struct fr_names *n = fr_names_new();
	struct make_batch m;

	(void)state;
	mb_init(&m, fr_schema_builtin(), 0, FR_TIER_LIFE);
	rename_row(&m, 2000, 5, "sh", "perl");
	rename_row(&m, 3000, 5, "perl", "nginx");
	rename_row(&m, 4000, 6, "old", "new");
	rename_row(&m, 5000, 8, "second", "third");
	/* its CPU was taken between the table's stamp and the event's */
	rename_row(&m, 90000000, 7, "bash", "cut");
	add(n, 7, 1000, task(7, "bash", "cut", 80000000));
	add(n, 5, 1000, task(4, "sh", "nginx", 2990));
	add(n, 8, 1000, task(8, "first", "third", 4990));
	assert_int_equal(fr_names_add_batch(n, &m.b), 0);
	assert_int_equal(fr_names_ready(n), 0);
	assert_who(n, 5, 1000, "sh", 4);
	/* the event that tells of it still happens under the old name */
	assert_who(n, 5, 2000, "sh", 4);
	assert_who(n, 5, 2001, "perl", 4);
	assert_who(n, 5, 2995, "perl", 4);
	assert_who(n, 5, 3001, "nginx", 4);
	assert_who(n, 7, 90000000, "bash", 7);
	assert_who(n, 7, 90000001, "cut", 7);
	/* that "first" became "second" was overwritten: no event that is there is from before */
	assert_who(n, 8, 1500, "second", 8);
	assert_who(n, 8, 5001, "third", 8);
	/* nothing but its renaming is known of tid 6 */
	assert_who(n, 6, 10, "old", -1);
	assert_who(n, 6, 4001, "new", -1);
	mb_free(&m);
	fr_names_free(n);
}

static void test_births(void **state)
{
	struct fr_names *n = fr_names_new();
	struct make_batch m;

	(void)state;
	mb_init(&m, fr_schema_builtin(), 0, FR_TIER_LIFE);
	mb_row(&m, 1005, 1, "sched_process_fork");
	mb_num(&m, "child_pid", 71);
	mb_num(&m, "child_tgid", 70);
	mb_num(&m, "child_start", 1000);
	mb_text(&m, "child_comm", "exactly15bytes!");
	mb_row(&m, 1100, 71, "sched_process_exit");
	mb_row(&m, 1200, 1, "sched_process_fork");
	mb_num(&m, "child_pid", (u64)(s64)-1);
	assert_int_equal(fr_names_add_batch(n, &m.b), 0);
	assert_int_equal(fr_names_ready(n), 0);
	assert_who(n, 71, 1000, "exactly15bytes!", 70);
	/* it still runs until it is switched out for good */
	assert_who(n, 71, 1101, "exactly15bytes!", 70);
	mb_free(&m);
	fr_names_free(n);
}

static void test_many(void **state)
{
	struct fr_names *n = fr_names_new();
	char comm[FR_COMM_SZ];
	u32 i;

	(void)state;
	for (i = 0; i < 3000; i++) {
		snprintf(comm, sizeof(comm), "t%u", i);
		add(n, 1 + i * 7919 % 1000, 1000 + i, task(i, comm, comm, 0));
	}
	assert_int_equal(fr_names_ready(n), 0);
	for (i = 0; i < 3000; i++) {
		snprintf(comm, sizeof(comm), "t%u", i);
		assert_who(n, 1 + i * 7919 % 1000, 1000 + i, comm, i);
	}
	fr_names_free(n);
}

static void test_stacks(void **state)
{
	const u64 a[] = {1, 2, 3}, b[] = {~0ULL};
	struct fr_stacks *s = fr_stacks_new();
	struct make_batch m;
	const u64 *frame;
	size_t cnt;

	(void)state;
	mb_init(&m, fr_schema_builtin(), 0, FR_TIER_STACK);
	mb_row(&m, 10, 1, "stack");
	mb_num(&m, "stack_id", 0xabc);
	mb_nums(&m, "frames", a, 3);
	mb_row(&m, 11, 1, "stack");
	mb_num(&m, "stack_id", 0xabc00000);
	mb_nums(&m, "frames", b, 1);
	assert_null(fr_stacks_find(s, 0xabc, &cnt));
	assert_int_equal(fr_stacks_add_batch(s, &m.b), 0);
	assert_int_equal(fr_stacks_add_batch(s, &m.b), 0);
	frame = fr_stacks_find(s, 0xabc, &cnt);
	assert_non_null(frame);
	assert_int_equal(cnt, 3);
	assert_memory_equal(frame, a, sizeof(a));
	frame = fr_stacks_find(s, 0xabc00000, &cnt);
	assert_non_null(frame);
	assert_true(cnt == 1 && *frame == ~0ULL);
	assert_null(fr_stacks_find(s, 0, &cnt));
	assert_null(fr_stacks_find(s, 5, &cnt));
	mb_free(&m);
	fr_stacks_free(s);
}

static void add_stack(struct fr_stacks *s, u64 id)
{
	struct make_batch m;

	mb_init(&m, fr_schema_builtin(), 0, FR_TIER_STACK);
	mb_row(&m, 10, 1, "stack");
	mb_num(&m, "stack_id", id);
	mb_nums(&m, "frames", &id, 1);
	assert_int_equal(fr_stacks_add_batch(s, &m.b), 0);
	mb_free(&m);
}

static void test_many_stacks(void **state)
{
	struct fr_stacks *s = fr_stacks_new();
	const u64 *frame;
	size_t cnt;
	u64 i, id;

	(void)state;
	for (i = 1; i <= 3000; i++)
		add_stack(s, i * i * i << 13);
	for (i = 1; i <= 3000; i++) {
		id = i * i * i << 13;
		frame = fr_stacks_find(s, id, &cnt);
		assert_true(frame && cnt == 1 && *frame == id);
	}
	assert_null(fr_stacks_find(s, 5, &cnt));
	fr_stacks_free(s);
}

static void test_wall(void **state)
{
	struct fr_wall w;
	u32 i;

	(void)state;
	fr_wall_init(&w);
	assert_int_equal(fr_wall_real(&w, 5), 0);
	/* out of order, one of them twice, one that is none */
	fr_wall_add(&w, 20000000, 1020001000);
	fr_wall_add(&w, 10000000, 1010000000);
	fr_wall_add(&w, 10000000, 99);
	fr_wall_add(&w, 0, 99);
	assert_int_equal(w.cnt, 2);
	assert_int_equal(fr_wall_real(&w, 9999999), 1009999999);
	assert_int_equal(fr_wall_real(&w, 20000001), 1020001001);
	/* slewed by 1 us in 10 ms: half of it in the middle */
	assert_int_equal(fr_wall_real(&w, 15000000), 1015000500);
	assert_int_equal(fr_wall_ts(&w, 1020001005, false), 20000005);
	assert_int_equal(fr_wall_ts(&w, 1020001005, true), 20000005);
	/* the clock was set by an hour: what is nearer to the end counts */
	fr_wall_add(&w, 30000000, 3600000000000 + 1030000000);
	assert_int_equal(fr_wall_real(&w, 29999999), 3600000000000 + 1029999999);
	for (i = 0; i < 2 * FR_WALL_MAX; i++)
		fr_wall_add(&w, 40000000 + i, 1040000000 + i);
	assert_int_equal(w.cnt, FR_WALL_MAX);
	assert_int_equal(fr_wall_real(&w, 50000000), 1050000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reused_tid),
		cmocka_unit_test(test_idle_and_unknown),
		cmocka_unit_test(test_renamed_in_table),
		cmocka_unit_test(test_renames),
		cmocka_unit_test(test_births),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_many_stacks),
		cmocka_unit_test(test_wall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
