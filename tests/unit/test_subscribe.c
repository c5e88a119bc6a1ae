/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events bound by name: the file's numbers and columns, and what a file may lack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/rows/subscribe.h"
#include "unit/make_batch.h"

static const struct fr_sub_want rename_want = {
	"task_rename",
	{FR_SUB_TEXT("newcomm"), FR_SUB_NUM("target_pid"), FR_SUB_MAY_NUM("no_such"), FR_SUB_NUM("oom_score_adj")},
};

/* The fields come in the order of the want, whatever the order in the file. */
static void test_bound(void **state)
{
	struct make_batch m;
	struct fr_sub sub;
	struct fr_row r;
	size_t len;

	(void)state;
	mb_init(&m, fr_schema_builtin(), 0, 1);
	mb_row(&m, 5, 9, "task_rename");
	mb_num(&m, "target_pid", 77);
	mb_num(&m, "oom_score_adj", 3);
	mb_text(&m, "newcomm", "redis");
	mb_text(&m, "oldcomm", "sh");
	r = mb_at(&m, 0);
	assert_int_equal(fr_subscribe(fr_schema_builtin(), &rename_want, &sub), 0);
	assert_ptr_equal(sub.ev, r.ev);
	assert_int_equal(sub.cnt, 4);
	assert_memory_equal(fr_sub_text(&sub, &r, 0, &len), "redis", 5);
	assert_int_equal(len, 5);
	assert_int_equal(fr_sub_num(&sub, &r, 1), 77);
	assert_int_equal(*fr_col_num(&m.b.type[r.ev->nr].col[sub.col[1]], 0), 77);
	assert_null(sub.field[2]);
	assert_int_equal(fr_sub_num(&sub, &r, 2), 0);
	assert_memory_equal(fr_sub_text(&sub, &r, 2, &len), "", 1);
	assert_int_equal(len, 0);
	assert_int_equal(fr_sub_num(&sub, &r, 3), 3);
	mb_free(&m);
}

static int bind(const char *event, const char *field, enum fr_sub_type type, bool may_lack)
{
	const struct fr_sub_want want = {event, {{field, type, may_lack}}};
	struct fr_sub sub;
	int err = fr_subscribe(fr_schema_builtin(), &want, &sub);

	assert_int_equal(!sub.ev, err != 0);
	assert_int_equal(sub.cnt, !err);
	return err;
}

/* A field of another type is another field; one that is derived is not stored. */
static void test_refused(void **state)
{
	(void)state;
	assert_int_equal(bind("sched_snitch", "next_pid", FR_SUB_IS_NUM, false), -ENOENT);
	assert_int_equal(bind("sched_switch", "next", FR_SUB_IS_NUM, false), -EINVAL);
	assert_int_equal(bind("sched_switch", "next", FR_SUB_IS_NUM, true), 0);
	assert_int_equal(bind("sched_switch", "next_pid", FR_SUB_IS_NUM, false), 0);
	assert_int_equal(bind("sched_switch", "next_pid", FR_SUB_IS_TEXT, false), -EINVAL);
	assert_int_equal(bind("sched_switch", "next_comm", FR_SUB_IS_TEXT, false), -EINVAL);
	assert_int_equal(bind("sys_enter", "abi", FR_SUB_IS_NUM, false), 0);
	assert_int_equal(bind("sys_enter", "args", FR_SUB_IS_NUMS, false), 0);
	assert_int_equal(bind("sys_enter", "args", FR_SUB_IS_NUM, false), -EINVAL);
	assert_int_equal(bind("block_rq_issue", "rwbs", FR_SUB_IS_TEXT8, false), 0);
	assert_int_equal(bind("block_rq_issue", "rwbs", FR_SUB_IS_NUM, false), -EINVAL);
	assert_int_equal(bind("task_rename", "newcomm", FR_SUB_IS_TEXT8, false), -EINVAL);
}

/* What fr_sub_say() writes. */
static const char *said(const struct fr_sub_want *want)
{
	static char text[512];
	FILE *f = tmpfile();
	int was = dup(2);

	fflush(stderr);
	dup2(fileno(f), 2);
	fr_sub_say("x.flight", fr_schema_builtin(), want);
	fflush(stderr);
	dup2(was, 2);
	close(was);
	rewind(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	return text;
}

static void test_said(void **state)
{
	const struct fr_sub_want lacks = {"sched_switch", {FR_SUB_NUM("next_pid"), FR_SUB_NUM("color")}};
	const struct fr_sub_want typed = {"task_rename", {FR_SUB_TEXT("target_pid")}};
	const struct fr_sub_want absent = {"sched_snitch", {FR_SUB_NUM("next_pid")}};

	(void)state;
	assert_string_equal(said(&lacks), "flightrec: warning: x.flight: its event sched_switch has no number named color, so "
					  "what follows from these events is not known\n");
	assert_non_null(strstr(said(&typed), "has no text named target_pid,"));
	assert_string_equal(said(&absent), ""); /* it is not recorded, which is said elsewhere */
	assert_string_equal(said(&rename_want), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
