/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/text/escape.h"
#include "base/text/utf8.h"
#include "base/text/when.h"
#include "show/format/format_json.h"
#include "show/format/format_text.h"
#include "unit/make_batch.h"
#include "wait.h"

#define SEC 1000000000ULL

struct world {
	struct make_batch m;
	struct fr_view view;
	struct fr_wall wall;
	struct fr_stacks *stacks;
	struct fr_out out;
	int pipe[2];
};

static int setup(void **state)
{
	static const u64 frames[] = {0xffffffff81000000, 0x10};
	struct world *w = calloc(1, sizeof(*w));
	struct fr_task t = {.tgid = 70, .comm = "a \"b\"\x1b[31m\xff\\"};
	struct make_batch stacks;

	setenv("TZ", "UTC", 1);
	tzset();
	assert_int_equal(pipe(w->pipe), 0);
	fr_out_init(&w->out, w->pipe[1]);
	mb_init(&w->m, fr_schema_builtin(), 1, FR_TIER_MAIN);
	fr_wall_add(&w->wall, 10 * SEC, 1767225600 * SEC); /* 2026-01-01 */
	w->stacks = fr_stacks_new();
	mb_init(&stacks, fr_schema_builtin(), 1, FR_TIER_STACK);
	mb_row(&stacks, 5, 71, "stack");
	mb_num(&stacks, "stack_id", 77);
	mb_nums(&stacks, "frames", frames, 2);
	fr_stacks_add_batch(w->stacks, &stacks.b);
	mb_free(&stacks);
	w->view = (struct fr_view){.schema = fr_schema_builtin(),
				   .names = fr_names_new(),
				   .stacks = w->stacks,
				   .wall = &w->wall,
				   .arch = "x86_64"};
	fr_names_add_task(w->view.names, 71, 1, &t);
	fr_names_ready(w->view.names);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	close(w->pipe[0]);
	close(w->pipe[1]);
	mb_free(&w->m);
	fr_stacks_free(w->stacks);
	fr_names_free(w->view.names);
	free(w);
	return 0;
}

/* What was printed since the last time. */
static const char *printed(struct world *w)
{
	static char text[8192];
	ssize_t n;

	assert_int_equal(fr_out_flush(&w->out), 0);
	assert_int_equal(write(w->pipe[1], "$", 1), 1); /* so that the read does not wait */
	n = read(w->pipe[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n - 1] = 0;
	return text;
}

static const char *json(struct world *w, bool with_pos)
{
	struct fr_json *j = fr_json_new(fr_schema_builtin(), with_pos);
	struct fr_row r = mb_at(&w->m, w->m.b.row_cnt - 1);

	fr_json_row(j, &w->out, &w->view, &r);
	fr_json_free(j);
	return printed(w);
}

static const char *text(struct world *w)
{
	struct fr_row r = mb_at(&w->m, w->m.b.row_cnt - 1);
	struct fr_text t;

	fr_text_init(&t, false, false);
	fr_text_row(&t, &w->out, &w->view, &r);
	return printed(w);
}

static void switch_row(struct world *w, u32 tid)
{
	mb_row(&w->m, 10 * SEC + 1, tid, "sched_switch");
	mb_num(&w->m, "next_pid", 0);
	mb_num(&w->m, "prev_state", 2);
	mb_num(&w->m, "prev_prio", (u64)(s64)-1);
}

static void test_json_switch(void **state)
{
	struct world *w = *state;

	switch_row(w, 71);
	assert_string_equal(
		json(w, true),
		"{\"ts\":10000000001,\"cpu\":1,\"event\":\"sched_switch\",\"pid\":70,\"tid\":71,"
		"\"comm\":\"a \\\"b\\\"\\u001b[31m\\\\xff\\\\\",\"prev_comm\":\"a \\\"b\\\"\\u001b[31m\\\\xff\\\\\","
		"\"prev_pid\":71,\"next_pid\":0,\"next_comm\":\"swapper/1\",\"prev_state\":2,\"prev_prio\":-1,"
		"\"next_prio\":0,\"pos\":{\"epoch\":7,\"tier\":\"main\",\"seq\":1,\"offset\":64}}\n");
}

static void test_json_unknown_task(void **state)
{
	struct world *w = *state;

	switch_row(w, 5);
	assert_string_equal(json(w, false),
			    "{\"ts\":10000000001,\"cpu\":1,\"event\":\"sched_switch\",\"pid\":null,\"tid\":5,\"comm\":null,"
			    "\"prev_comm\":null,\"prev_pid\":5,\"next_pid\":0,\"next_comm\":\"swapper/1\",\"prev_state\":2,"
			    "\"prev_prio\":-1,\"next_prio\":0}\n");
}

static void test_json_exact_numbers(void **state)
{
	static const u64 args[] = {0, 18446744073709551615ULL, 9007199254740993};
	struct world *w = *state;

	mb_row(&w->m, 18446744073709551615ULL, 5, "sys_enter");
	mb_num(&w->m, "id", (u64)(s64)-1);
	mb_nums(&w->m, "args", args, 3);
	assert_string_equal(json(w, false),
			    "{\"ts\":18446744073709551615,\"cpu\":1,\"event\":\"sys_enter\",\"pid\":null,\"tid\":5,"
			    "\"comm\":null,\"abi\":0,\"id\":-1,\"args\":[0,18446744073709551615,9007199254740993]}\n");
	mb_row(&w->m, 1, 5, "sys_exit");
	mb_num(&w->m, "ret", 1ULL << 63);
	assert_non_null(strstr(json(w, false), "\"ret\":-9223372036854775808}"));
	mb_row(&w->m, 1, 5, "sys_enter");
	assert_non_null(strstr(json(w, false), "\"args\":[]}"));
	mb_row(&w->m, 1, 5, "signal_deliver");
	mb_num(&w->m, "sa_flags", ~0ULL);
	assert_non_null(strstr(json(w, false), "\"sa_flags\":18446744073709551615,"));
}

static void test_stacks(void **state)
{
	struct world *w = *state;

	mb_row(&w->m, 1, 71, "cpu_sample");
	mb_num(&w->m, "kstack_id", 77);
	assert_non_null(strstr(json(w, false), "\"kstack\":[18446744071578845184,16],\"ustack\":[]}"));
	assert_non_null(strstr(text(w), " kstack=[0xffffffff81000000 0x10]\n"));
	mb_num(&w->m, "ustack_id", 78);
	assert_non_null(strstr(json(w, false), "\"ustack\":null}")); /* not in the file */
}

static void test_text_line(void **state)
{
	struct world *w = *state;

	switch_row(w, 71);
	assert_string_equal(text(w),
			    "00:00:00.000000001 [001] a \"b\"\\x1b[31m\\xff\\      71 sched_switch       "
			    "prev_comm=\"a \\\"b\\\"\\x1b[31m\\xff\\\" prev_pid=71 next_pid=0 next_comm=swapper/1 prev_state=D "
			    "prev_prio=-1 next_prio=0\n");
}

/* Of CPUs that share a place, of tasks that are renamed, whose names begin or end alike, that are not known. */
static void add_names(struct world *w)
{
	static const char *const comm[] = {
		"one", "two", "nginx: worker 1", "nginx: worker 2", "a\x01", "a\x01\x02\x03\x04\x05\x06\x07\x08"};
	u32 i;

	for (i = 0; i < sizeof(comm) / sizeof(comm[0]); i++) {
		struct fr_task t = {.tgid = 80, .renamed_ns = 20 * SEC};

		strcpy(t.first_comm, comm[i]);
		strcpy(t.comm, comm[i ^ 1]);
		fr_names_add_task(w->view.names, 80 + i, 1, &t);
	}
	fr_names_ready(w->view.names);
}

/* What is kept from line to line changes none. */
static void test_kept_pieces(void **state)
{
	static const char *const event[] = {"sys_enter", "sys_exit", "sched_process_exit", "crash"};
	struct world *w = *state;
	struct fr_text kept, fresh;
	char line[512];
	u32 i;

	add_names(w);
	fr_text_init(&kept, false, false);
	for (i = 0; i < 1000; i++) {
		u32 x = i * 2654435761u >> 8;
		struct fr_row r;

		mb_free(&w->m);
		mb_init(&w->m, fr_schema_builtin(), 1, FR_TIER_MAIN);
		mb_row(&w->m, (x >> 3 & 1 ? 19 : 21) * SEC, 80 + (x >> 4 & 7), event[x >> 7 & 3]);
		r = mb_at(&w->m, 0);
		r.cpu = 1 + (x >> 9 & 1) * FR_TEXT_WHO_CNT;
		w->out.color = !(x >> 10 & 7);
		fr_text_init(&fresh, false, false);
		fr_text_row(&fresh, &w->out, &w->view, &r);
		strcpy(line, printed(w));
		fr_text_row(&kept, &w->out, &w->view, &r);
		assert_string_equal(printed(w), line);
	}
}

/* Each style once; what has no name stays a number. */
static void test_styles(void **state)
{
	static const u64 args[] = {3, 0x1000};
	struct world *w = *state;

	mb_row(&w->m, 1, 71, "sys_enter");
	mb_num(&w->m, "id", 257);
	mb_nums(&w->m, "args", args, 2);
	assert_non_null(strstr(text(w), " sys_enter          id=openat args=[dfd=3 filename=0x1000]\n"));
	mb_row(&w->m, 1, 71, "sys_exit");
	mb_num(&w->m, "id", 4);
	mb_num(&w->m, "abi", 1);
	mb_num(&w->m, "ret", (u64)(s64)-2);
	assert_non_null(strstr(text(w), " abi=32-bit id=write ret=-ENOENT\n"));
	mb_row(&w->m, 1, 71, "sys_exit");
	mb_num(&w->m, "id", 99999);
	mb_num(&w->m, "ret", (u64)(s64)-4095);
	assert_non_null(strstr(text(w), " id=99999 ret=-4095\n"));
	mb_row(&w->m, 1, 71, "signal_deliver");
	mb_num(&w->m, "sig", 11);
	mb_num(&w->m, "code", 0x80);
	mb_num(&w->m, "addr", 0xdead);
	assert_non_null(strstr(text(w), " code=SI_KERNEL sig=SIGSEGV sa_handler=SIG_DFL sa_flags=0x0 addr=0xdead ip=0x0\n"));
	mb_row(&w->m, 1, 71, "softirq_entry");
	mb_num(&w->m, "vec", 3);
	assert_non_null(strstr(text(w), " vec=NET_RX\n"));
	mb_row(&w->m, 1, 71, "sched_process_exit");
	mb_num(&w->m, "exit_code", 139);
	assert_non_null(strstr(text(w), " exit_code=SIGSEGV+core prio=0"));
	mb_row(&w->m, 1, 71, "sched_process_exit");
	mb_num(&w->m, "exit_code", 0x300);
	assert_non_null(strstr(text(w), " exit_code=exit(3) prio=0"));
	mb_row(&w->m, 1, 71, "block_rq_issue");
	mb_num(&w->m, "dev", 8 << 20 | 1);
	mb_text(&w->m, "rwbs", "WS");
	assert_non_null(strstr(text(w), " dev=8,1 sector=0 nr_sector=0 bytes=0 rwbs=WS ioprio=0\n"));
	mb_row(&w->m, 1, 71, "sched_process_exec");
	mb_text(&w->m, "filename", "/tmp/a\nb");
	assert_non_null(strstr(text(w), " filename=/tmp/a\\x0ab\n"));
	mb_row(&w->m, 1, 71, "sched_process_fork");
	mb_num(&w->m, "child_start", 12 * SEC + 5);
	assert_non_null(strstr(text(w), " child_start=12.000000005 "));
	mb_row(&w->m, 1, 71, "sched_waking");
	mb_num(&w->m, "target_pid", 9);
	assert_non_null(strstr(text(w), " target_comm=<...> target_pid=9 "));
	/* the idle task, and no task */
	mb_num(&w->m, "target_pid", 0);
	assert_non_null(strstr(text(w), " target_comm=swapper/1 target_pid=0 "));
	mb_row(&w->m, 1, 71, "trigger");
	assert_null(strstr(text(w), "target_"));
	assert_non_null(strstr(json(w, false), "\"target_comm\":null,\"target_pid\":0,"));
	mb_num(&w->m, "target_pid", 71);
	assert_non_null(strstr(json(w, false), "\"target_comm\":\"a "));
	mb_row(&w->m, 1, 0, "latency");
	assert_non_null(strstr(json(w, false), "\"comm\":\"swapper/1\",\"target_comm\":null,\"target_pid\":0,"));
	/* a wait that a timer ended was ended by no task */
	mb_row(&w->m, 1, 71, "wait");
	mb_num(&w->m, "waker", FR_WAKER_timer);
	assert_null(strstr(text(w), "waker_"));
	assert_non_null(strstr(text(w), " waker=timer"));
	mb_num(&w->m, "waker_pid", 9);
	assert_non_null(strstr(text(w), " waker_pid=9 waker_comm=<...> "));
}

static void test_escapes(void **state)
{
	static const struct {
		const char *in, *text, *json;
	} cases[] = {
		{"plain", "plain", "plain"},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa7", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa7",
		 "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa7"},
		{"\xc3", "\\xc3", "\\\\xc3"},				      /* cut off */
		{"\xc0\x80", "\\xc0\\x80", "\\\\xc0\\\\x80"},		      /* overlong */
		{"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\\\xed\\\\xa0\\\\x80"}, /* surrogate */
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\\\xf4\\\\x90\\\\x80\\\\x80"},
		{"\x7f\x01", "\\x7f\\x01", "\\u007f\\u0001"},
		{"\x7f", "\\x7f", "\\u007f"},
		{"\xc2\x9b", "\\xc2\\x9b", "\\u009b"},		      /* C1 */
		{"\xe2\x80\xaehs", "\\xe2\\x80\\xaehs", "\\u202ehs"}, /* what turns the line */
		{"\xe2\x80\xa8\xe2\x81\xa6", "\\xe2\\x80\\xa8\\xe2\\x81\\xa6", "\\u2028\\u2066"},
		{"\xe2\x80\xaf\xe2\x80\xa7", "\xe2\x80\xaf\xe2\x80\xa7", "\xe2\x80\xaf\xe2\x80\xa7"}, /* beside it */
		{"\xc2\xad\xc2\xac\xef\xbb\xbf", "\\xc2\\xad\xc2\xac\\xef\\xbb\\xbf", "\\u00ad\xc2\xac\\ufeff"},
		{"\xf3\xa0\x80\x81\xf0\x9f\x90\xa7", "\\xf3\\xa0\\x80\\x81\xf0\x9f\x90\xa7",
		 "\\udb40\\udc01\xf0\x9f\x90\xa7"}, /* a tag, a penguin */
		{"a\\b", "a\\b", "a\\\\b"},
		{"\\xff", "\\x5cxff", "\\\\x5cxff"}, /* what looks like an escape is one */
	};
	struct world *w = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fr_escape_text(&w->out, cases[i].in, strlen(cases[i].in));
		assert_string_equal(printed(w), cases[i].text);
		fr_escape_json(&w->out, cases[i].in, strlen(cases[i].in));
		assert_string_equal(printed(w), cases[i].json);
	}
}

/* Texts are looked at in words: in one of any length, an odd character is found anywhere. */
static void test_odd_anywhere(void **state)
{
	static const char odd[] = {1, 0x1f, 0x7f, (char)0x80, '"', '\\'};
	char text[40];
	size_t len, i, k;

	(void)state;
	for (len = 1; len < sizeof(text); len++) {
		memset(text, 'a', len);
		assert_true(fr_is_plain(text, len));
		for (i = 0; i < len; i++) {
			for (k = 0; k < sizeof(odd); k++) {
				text[i] = odd[k];
				assert_false(fr_is_plain(text, len));
			}
			text[i] = 'a';
		}
	}
}

/* What a terminal shows takes as many columns as said, and never more than there are. */
static void test_columns_of_text(void **state)
{
	static const struct {
		const char *in, *text;
		size_t most, cols;
	} cases[] = {
		{"plain", "plain", 9, 5},
		{"plain", "pla", 3, 3},
		{"\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac", 9, 4}, /* two columns each */
		{"\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5", 3, 2},
		{"\xea\xb0\x80\xef\xbc\xa1", "\xea\xb0\x80\xef\xbc\xa1", 9, 4}, /* Hangul, full width */
		{"\xf0\x9f\x90\xa7!", "\xf0\x9f\x90\xa7!", 9, 3},
		{"e\xcc\x81!", "e\xcc\x81!", 9, 2}, /* an accent of its own joins its letter */
		{"e\xcc\x81!", "e\xcc\x81", 1, 1},
		{"\xc3\xa9\xc3\xa9", "\xc3\xa9", 1, 1},
		{"a\x1b", "a\\x1b", 5, 5},
		{"a\x1b", "a", 4, 1},
		{"\xe6\x97\xa5", "", 0, 0},
	};
	struct world *w = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(fr_escape_text_to(&w->out, cases[i].in, strlen(cases[i].in), cases[i].most), cases[i].cols);
		assert_string_equal(printed(w), cases[i].text);
	}
}

/* Any number in so many bytes as if there were no rules. */
static void encode(u32 ch, size_t len, char *s)
{
	static const u8 first[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t i;

	for (i = len - 1; i; i--, ch >>= 6)
		s[i] = 0x80 | (ch & 0x3f);
	s[0] = len > 1 ? first[len] | ch : ch;
}

static void test_each_character(void **state)
{
	static const u32 from[] = {0, 0, 0x80, 0x800, 0x10000, 0x110000};
	char s[4];
	size_t len;
	u32 ch;

	(void)state;
	for (len = 1; len <= 4; len++) {
		for (ch = 0; ch < (len == 4 ? 0x120000 : from[len + 1]); ch++) {
			bool valid = ch >= from[len] && ch < from[5] && (ch < 0xd800 || ch > 0xdfff);

			encode(ch, len, s);
			if (fr_utf8_len(s, len) != (valid ? len : 0))
				fail_msg("U+%04X in %zu bytes", ch, len);
			if (valid && fr_utf8_char(s, len) != ch)
				fail_msg("U+%04X is U+%04X", ch, fr_utf8_char(s, len));
			if (valid && len > 1)
				assert_int_equal(fr_utf8_len(s, len - 1), 0);
		}
	}
}

/* Unicode changes, and so a few characters may differ. */
static void test_columns_are_those_of_libc(void **state)
{
	u32 ch, cnt = 0, bad = 0;

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		print_message("skipped: there is no locale C.UTF-8\n");
		skip();
	}
	for (ch = 0x20; ch < 0x20000; ch++) {
		int width = wcwidth((wchar_t)ch);

		if (width < 0 || fr_utf8_is_sly(ch))
			continue;
		cnt++;
		bad += fr_utf8_cols(ch) != (u32)width;
	}
	setlocale(LC_CTYPE, "C");
	assert_in_range(cnt, 60000, 0x20000);
	assert_in_range(bad, 0, cnt / 200);
}

static void test_out_numbers(void **state)
{
	static const u64 nums[] = {0, 9, 10, 99, 100, 12345, 18446744073709551615ULL};
	struct world *w = *state;
	char want[64];
	size_t i;

	for (i = 0; i < sizeof(nums) / sizeof(nums[0]); i++) {
		snprintf(want, sizeof(want), "%llu %lld 0x%llx", (unsigned long long)nums[i], (long long)nums[i],
			 (unsigned long long)nums[i]);
		fr_out_u64(&w->out, nums[i]);
		fr_out_char(&w->out, ' ');
		fr_out_s64(&w->out, nums[i]);
		fr_out_char(&w->out, ' ');
		fr_out_hex(&w->out, nums[i]);
		assert_string_equal(printed(w), want);
	}
	fr_out_s64(&w->out, INT64_MIN);
	assert_string_equal(printed(w), "-9223372036854775808");
}

/* A reader that has gone is remembered, not fatal, and no failure of ours. */
static void test_closed_pipe(void **state)
{
	struct world *w = *state;
	static char big[FR_OUT_SZ * 2];

	close(w->pipe[0]);
	fr_out_mem(&w->out, big, sizeof(big));
	assert_int_equal(fr_out_error(&w->out), -EPIPE);
	fr_out_str(&w->out, "more");
	assert_int_equal(fr_err_finish(&w->out, 3), 3);
}

static s64 when(const char *s, const struct fr_wall *wall)
{
	struct fr_when w;
	s64 ts = -1;

	if (fr_when_parse(s, &w))
		return -22;
	fr_when_know_trigger(&w, 160 * SEC);
	return fr_when_resolve(&w, 100 * SEC, 200 * SEC, wall, &ts) ? -61 : ts;
}

static void test_when(void **state)
{
	static const struct {
		const char *s;
		s64 ts;
	} cases[] = {
		{"2s", 102 * SEC},
		{"+2s", 102 * SEC},
		{"-200ms", 200 * SEC - 200000000},
		{"50%", 150 * SEC},
		{"0%", 100 * SEC},
		{"100%", 200 * SEC},
		{"123456789012", 123456789012},
		{"2026-01-01T00:01:30", 100 * SEC},
		{"2026-01-01 00:01:30.5", 100 * SEC + SEC / 2},
		{"2026-01-01T00:01:30.000000001Z", 100 * SEC + 1},
		{"2026-01-01T02:01:30+02:00", 100 * SEC},
		{"2026-01-01T00:02", 130 * SEC},
		{"00:01:30.25", 100 * SEC + SEC / 4},
		{"trigger", 160 * SEC},
		{"trigger-50ms", 160 * SEC - 50000000},
		{"trigger+5ms", 160 * SEC + 5000000},
		{"trigger-1h", 0},
		{"trigger-", -22},
		{"trigger50ms", -22},
		{"trigger 5ms", -22},
		{"trigger-5", -22},
		{"trigger-50000d", -22},
		{"-50000d", -22},
		{"2026-01-01T00:01:30-02:00", 100 * SEC + 7200 * SEC},
		{"2026-01-01T14:01:30+14:00", 100 * SEC},
		{"2025-12-31T10:01:30-1400", 100 * SEC},
		{"2026-01-01T14:02:30+14:01", -22},
		{"2026-01-01T00:01:30-14:01", -22},
		{"2026-01-01T00:01:30+99:00", -22},
		{"2026-01-01T00:01:30+15", -22},
		{"2026-01-01T00:01:30+02:60", -22},
		{"2026-04-31T00:00:00", -22},
		{"2026-01-01", 10 * SEC},
		{"20260101T000130", 100 * SEC},
		{"20260101T000130.500Z", 100 * SEC + SEC / 2},
		{"20260101T020130+02:00", 100 * SEC},
		{"20260431T000000Z", -22},
		{"20260101T00013", -22},
		{"20260101T", -22},
		{"20260101T000130Zx", -22},
		{"1960-01-01", -22},
		{"1970-01-02", 10 * SEC - (1767225600 - 86400) * SEC},
		{"2263-01-01", (9246182400 - 1767225600 + 10) * SEC},
		{"2318-04-12", (10990512000 - 1767225600 + 10) * SEC},
		{"2330-01-01", INT64_MAX},
		{"2554-07-21T23:34:33.8", INT64_MAX},
		{"2554-12-31", INT64_MAX},
		{"9999-12-31", INT64_MAX},
		{"18446744073709551615", INT64_MAX},
		{"", -22},
		{"5", -22},
		{"123456789", -22},
		{"101%", -22},
		{"-5%", -22},
		{"5 parsecs", -22},
		{"2026-13-01T00:00:00", -22},
		{"2026-01-01T00:01:30x", -22},
		{"25:00:00", -22},
		{"99999999999999999999", -22},
	};
	struct fr_wall none = {0}, wall = {0};
	struct world *w = *state;
	size_t i;

	fr_wall_add(&wall, 10 * SEC, 1767225600 * SEC);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (when(cases[i].s, &wall) != cases[i].ts)
			fail_msg("%s: %lld", cases[i].s, (long long)when(cases[i].s, &wall));
	}
	assert_int_equal(when("00:01:30", &none), -61);
	assert_int_equal(when("trigger", &none), 160 * (s64)SEC);
	/* later today than the end: yesterday */
	assert_int_equal(when("23:59:59", &w->wall), 9 * (s64)SEC);
}

/* Both ends of "text", of events from 100 s to 200 s; -1: that end is open. */
static void assert_window(const char *text, s64 from, s64 to)
{
	struct fr_when since = {.kind = FR_WHEN_DAYTIME}, until = {.kind = FR_WHEN_DAYTIME};
	struct fr_wall none = {0};
	s64 a = -1, b = -1;

	assert_int_equal(fr_when_parse_window(text, &since, &until), 0);
	assert_int_equal(since.kind == FR_WHEN_NEVER, from == -1);
	assert_int_equal(until.kind == FR_WHEN_NEVER, to == -1);
	fr_when_know_trigger(&since, 160 * SEC);
	fr_when_know_trigger(&until, 160 * SEC);
	fr_when_resolve(&since, 100 * SEC, 200 * SEC, &none, &a);
	fr_when_resolve(&until, 100 * SEC, 200 * SEC, &none, &b);
	assert_int_equal(a, from);
	assert_int_equal(b, to);
}

/* A time of day may be of the day before, which has 23 hours or 25 where summer time begins or ends in between. */
static void test_daytime_of_the_day_before(void **state)
{
	static const u64 end_s[2] = {1774756800, 1792904400}, at_s[2] = {1774735320, 1792875720}; /* at 6:00 there; 23:02 */
	u32 i;

	(void)state;
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	for (i = 0; i < 2; i++) {
		struct fr_wall wall = {0};

		fr_wall_add(&wall, 200 * SEC, end_s[i] * SEC);
		assert_int_equal(when("23:02", &wall) / (s64)SEC, (s64)(at_s[i] - end_s[i]) + 200);
		assert_int_equal(when("05:00", &wall) / (s64)SEC, 200 - 3600);
		/* events end at 6:00:00: half a minute later is not a day earlier */
		assert_int_equal(when("06:00:30", &wall) / (s64)SEC, 230);
		assert_int_equal(when("06:00", &wall) / (s64)SEC, 200);
		assert_int_equal(when("05:58:20", &wall) / (s64)SEC, 100);
		assert_int_equal(when("05:58:10", &wall) / (s64)SEC, 90);
	}
	setenv("TZ", "UTC", 1);
	tzset();
}

/* When text is, as seconds from midnight_s, if recording ended at end_s; last: for the end of a window. */
static s64 when_in_night(const char *text, u64 midnight_s, s64 end_s, bool last)
{
	struct fr_wall wall = {0};
	struct fr_when w;
	s64 ts;

	fr_wall_add(&wall, 200 * SEC, (midnight_s + end_s) * SEC);
	assert_int_equal(fr_when_parse(text, &w), 0);
	w.last = last;
	assert_int_equal(fr_when_resolve(&w, 100 * SEC, 200 * SEC, &wall, &ts), 0);
	return (ts + (end_s - 200) * (s64)SEC) / (s64)SEC;
}

/* Summer time ends at 1:00 UTC, so the hour from 2:00 comes twice; where it begins, at 1:00 UTC too, that hour is left out. */
static void test_hour_that_comes_twice(void **state)
{
	const u64 october = 1792886400, march = 1774742400; /* midnight UTC */
	const s64 minute = 60;

	(void)state;
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	assert_int_equal(when_in_night("02:30", october, 660 * minute, false), 90 * minute);
	assert_int_equal(when_in_night("02:30", october, 90 * minute, false), 90 * minute);
	assert_int_equal(when_in_night("02:30:00.5", october, 90 * minute, false), 30 * minute);
	assert_int_equal(when_in_night("02:30", october, 75 * minute, false), 30 * minute);
	assert_int_equal(when_in_night("02:30", october, 30 * minute, false), 30 * minute);
	assert_int_equal(when_in_night("02:30", october, 15 * minute, false), 30 * minute);
	assert_int_equal(when_in_night("03:30", october, 660 * minute, true), 150 * minute);
	assert_int_equal(when_in_night("2026-10-25T02:30", october, 660 * minute, false), 30 * minute);
	assert_int_equal(when_in_night("2026-10-25T02:30", october, 660 * minute, true), 90 * minute);
	assert_int_equal(when_in_night("2026-10-25T02:30+02:00", october, 660 * minute, true), 30 * minute);
	assert_int_equal(when_in_night("2026-10-25T03:30", october, 660 * minute, true), 150 * minute);
	assert_in_range(when_in_night("02:30", march, 660 * minute, false), 30 * minute, 90 * minute);
	assert_in_range(when_in_night("2026-03-29T02:30", march, 660 * minute, true), 30 * minute, 90 * minute);
	setenv("TZ", "UTC", 1);
	tzset();
}

static void test_windows(void **state)
{
	static const char *const bad[] = {"", "..", "1s", "1s-2s", "1s...2s", "x..1s", "1s..x", "1s..2s..3s", "1s ..2s"};
	struct fr_when since = {.kind = FR_WHEN_PART}, until = {.kind = FR_WHEN_PART}, w;
	struct fr_wall none = {0};
	size_t i;
	s64 ts;

	(void)state;
	assert_window("trigger-50ms..trigger+5ms", 160 * SEC - 50000000, 160 * SEC + 5000000);
	assert_window("10%..20%", 110 * SEC, 120 * SEC);
	assert_window("-1s..", 199 * SEC, -1);
	assert_window("..1.5s", -1, 101 * SEC + SEC / 2);
	assert_window("1.5s..-2s", 101 * SEC + SEC / 2, 198 * SEC);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!fr_when_parse_window(bad[i], &since, &until))
			fail_msg("'%s' is taken for a window", bad[i]);
		assert_true(since.kind == FR_WHEN_PART && until.kind == FR_WHEN_PART);
	}
	assert_int_equal(fr_when_parse("trigger", &w), 0);
	assert_int_equal(fr_when_resolve(&w, 0, 1, &none, &ts), -ENOMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_json_switch, setup, teardown),
		cmocka_unit_test_setup_teardown(test_json_unknown_task, setup, teardown),
		cmocka_unit_test_setup_teardown(test_json_exact_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stacks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_text_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kept_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_styles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_escapes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_columns_of_text, setup, teardown),
		cmocka_unit_test(test_each_character),
		cmocka_unit_test(test_columns_are_those_of_libc),
		cmocka_unit_test_setup_teardown(test_out_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_closed_pipe, setup, teardown),
		cmocka_unit_test_setup_teardown(test_when, setup, teardown),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_daytime_of_the_day_before),
		cmocka_unit_test(test_hour_that_comes_twice),
		cmocka_unit_test(test_odd_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
