/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Conditions of tracepoints: from a format and a text to a program that decides on a record; what is refused, and why. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tp/tpformat.h"
#include "base/trigger/watch_set.h"

#define FORMAT                                                                                                                \
	"name: it\nID: 77\nformat:\n"                                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                                                \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                                                \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                                        \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                                                          \
	"\tfield:const void * addr;\toffset:8;\tsize:8;\tsigned:0;\n"                                                         \
	"\tfield:__data_loc char[] name;\toffset:16;\tsize:4;\tsigned:0;\n"                                                   \
	"\tfield:pid_t pid;\toffset:20;\tsize:4;\tsigned:1;\n"                                                                \
	"\tfield:__u8 saddr[4];\toffset:24;\tsize:4;\tsigned:0;\n"                                                            \
	"\tfield:char comm[16];\toffset:28;\tsize:16;\tsigned:0;\n"                                                           \
	"\tfield:s8 layer;\toffset:44;\tsize:1;\tsigned:1;\n"                                                                 \
	"\tfield:u8 kind;\toffset:45;\tsize:1;\tsigned:0;\n"                                                                  \
	"\tfield:short port;\toffset:46;\tsize:2;\tsigned:1;\n"                                                               \
	"\tfield:long ret;\toffset:48;\tsize:8;\tsigned:1;\n"                                                                 \
	"\tfield:__rel_loc char[] dev;\toffset:56;\tsize:4;\tsigned:0;\n"                                                     \
	"\tfield:__data_loc u32[] list;\toffset:60;\tsize:4;\tsigned:0;\n\n"                                                  \
	"print fmt: \"%s %s %s\", __print_symbolic(REC->kind, {1, \"ONE\"}, {200, \"MANY\"}, {3, \"SAME\"}, {4, \"SAME\"}), " \
	"__print_flags(REC->ret, \"|\", {0x8, \"ODD\"}, {0x10, \"BIG\"}, {0x200, \"FAR\"}), __print_symbolic(REC->pid, "      \
	"{4711, \"KOELSCH\"})\n"
#define REC_SZ 64u

struct tried {
	struct fr_tpformat *format;
	struct fr_schema *schema;
	struct fr_watch_set set;
	struct fr_filter_error error;
	u32 prog;
};

static int tried(struct tried *t, const char *cond)
{
	struct fr_filter_file file = {.arch = "x86_64", .value = fr_tpformat_value, .values = fr_tpformat_values};

	memset(t, 0, sizeof(*t));
	assert_int_equal(fr_tpformat_new("sys", "it", FORMAT, strlen(FORMAT), &t->format), 0);
	t->schema = fr_tpformat_schema(t->format, FR_TP_FIRST);
	assert_non_null(t->schema);
	file.schema = t->schema;
	file.of = t->format;
	return fr_watch_add_for(&t->set, FR_TP_FIRST, cond, &file, &t->prog, &t->error);
}

static void tried_free(struct tried *t)
{
	fr_watch_free(&t->set);
	fr_schema_free(t->schema);
	fr_tpformat_free(t->format);
}

/* A record as the program has it: ours begins 8 bytes before the kernel's fields. */
static void put_text(struct fr_watch_work *w, u32 word_at, u32 at, u32 loc, const char *text)
{
	const u32 word = loc | (u32)(strlen(text) + 1) << 16;

	memcpy(w->rec + word_at + 8, &word, sizeof(word));
	strcpy((char *)w->rec + at + 8, text);
}

static void fill(struct fr_watch_work *w, const char *name)
{
	const u64 addr = 0xffff888812345678ULL;
	const s64 ret = -22;
	const u32 pid = 4711;
	const s16 port = -2;

	memset(w, 0xa5, sizeof(*w)); /* what is behind the record is not its own */
	memcpy(w->rec + 8 + 8, &addr, 8);
	memcpy(w->rec + 20 + 8, &pid, 4);
	memcpy(w->rec + 28 + 8, "sixteen_letters_", 16); /* without an end */
	w->rec[44 + 8] = 0xfd;
	w->rec[45 + 8] = 200;
	memcpy(w->rec + 46 + 8, &port, 2);
	memcpy(w->rec + 48 + 8, &ret, 8);
	put_text(w, 16, REC_SZ, REC_SZ, name);
	put_text(w, 56, REC_SZ + strlen(name) + 1, strlen(name) + 1 + 4, "eth0");
	w->rec_sz = (REC_SZ + 8 + strlen(name) + 1 + sizeof("eth0") + 7) / 8 * 8;
	w->pid = 17;
	w->tid = 18;
	w->cpu = 1;
	memcpy(w->comm, "worker\0\0\0\0\0\0\0\0\0", FR_COMM_SZ);
}

static bool holds_of(const char *cond, const char *name)
{
	struct fr_watch_work *w = malloc(sizeof(*w));
	const struct fr_watch_prog *p;
	struct tried t;
	u32 pc = 0;
	bool is;

	if (tried(&t, cond))
		fail_msg("%s: %s", cond, t.error.text);
	fill(w, name);
	if (t.prog == FR_WATCH_ALWAYS) {
		is = true;
	} else {
		p = &t.set.prog[t.prog];
		fr_watch_begin(w);
		while (pc < p->insn_cnt)
			pc = fr_watch_step(w, &p->insn[pc],
					   fr_watch_takes_table(&p->insn[pc]) ? &t.set.table[p->insn[pc].lo] : NULL, pc);
		is = fr_watch_result(w);
	}
	tried_free(&t);
	free(w);
	return is;
}

static bool holds(const char *cond)
{
	return holds_of(cond, "redis-server");
}

static void numbers_have_their_size_and_sign(void **state)
{
	static const char *const yes[] = {"layer == -3",
					  "layer < 0 && layer > -4",
					  "kind == 200",
					  "kind > 199 && kind < 201",
					  "port == -2",
					  "port < -1",
					  "ret == -22",
					  "ret < 0",
					  "ret == -EINVAL",
					  "addr == 0xffff888812345678",
					  "addr > 0xffff000000000000",
					  "addr > 0",
					  "target_pid == 4711",
					  "pid == 17 && tid == 18",
					  "cpu == 1",
					  "target_pid in (1, 4711)",
					  "!(target_pid == 1)",
					  "kind & 8 && !(kind & 1)",
					  "ret + 22 == 0",
					  "target_pid % 100 == 11",
					  "pid == 1 || layer == -3",
					  "tp_cut == 0 || 1 == 1"};
	static const char *const no[] = {"layer == 253",
					 "layer > 0",
					 "kind < 0",
					 "kind == -56",
					 "port == 65534",
					 "port > 0",
					 "ret > 0",
					 "ret == 4294967274",
					 "addr < 0",
					 "target_pid == 17",
					 "target_pid != 4711",
					 "pid == 4711",
					 "kind == 200 && layer == 3"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!holds(yes[i]))
			fail_msg("%s does not hold", yes[i]);
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (holds(no[i]))
			fail_msg("%s holds", no[i]);
}

static void texts_of_a_length_end_there(void **state)
{
	(void)state;
	assert_true(holds("target_comm == \"sixteen_letters_\""));
	assert_true(holds("target_comm ~ \"six*_\""));
	assert_false(holds("target_comm == \"sixteen_letters\""));
	assert_false(holds("target_comm ~ \"*x\""));
	assert_true(holds("comm == \"worker\""));
}

/* Where a word of the record says: from its beginning, or from the word on. */
static void texts_of_any_length_are_where_their_word_says(void **state)
{
	char longest[600];

	(void)state;
	assert_true(holds("name == \"redis-server\""));
	assert_true(holds("name ~ \"redis*\" && name ~ \"*server\" && name ~ \"r*-s[a-e]rver\""));
	assert_true(holds("name in (\"nginx\", \"redis-server\")"));
	assert_true(holds("name && name != \"redis\""));
	assert_true(holds("name !~ \"nginx*\""));
	assert_false(holds("name == \"redis-serve\""));
	assert_false(holds("name == \"redis-server2\""));
	assert_false(holds("name ~ \"*eth0*\"")); /* what is behind it is another's */
	assert_true(holds("dev == \"eth0\""));
	assert_true(holds("dev ~ \"eth?\""));
	assert_false(holds("dev == \"redis-server\""));
	assert_false(holds_of("name", ""));
	assert_true(holds_of("name == \"\"", ""));
	assert_true(holds_of("dev == \"eth0\"", ""));
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	longest[300] = 'y'; /* 256 bytes are compared */
	assert_true(holds_of("name ~ \"xxx*\"", longest));
	assert_false(holds_of("name ~ \"*y*\"", longest));
	assert_true(holds_of("dev == \"eth0\"", longest));
}

/* A word that leads out of the record leads to nothing, whatever is there; behind: its offset is that of the record's end. */
static bool holds_with_word(const char *cond, u32 word, bool behind)
{
	struct fr_watch_work *w = malloc(sizeof(*w));
	const struct fr_watch_insn *in;
	struct tried t;
	u32 pc = 0;
	bool is;

	assert_int_equal(tried(&t, cond), 0);
	fill(w, "x");
	word |= behind ? w->rec_sz - 8 : 0;
	memcpy(w->rec + 16 + 8, &word, sizeof(word));
	strcpy((char *)w->rec + w->rec_sz, "secret");
	fr_watch_begin(w);
	while (pc < t.set.prog[t.prog].insn_cnt) {
		in = &t.set.prog[t.prog].insn[pc];
		pc = fr_watch_step(w, in, fr_watch_takes_table(in) ? &t.set.table[in->lo] : NULL, pc);
	}
	is = fr_watch_result(w);
	tried_free(&t);
	free(w);
	return is;
}

static void words_that_lead_out_name_nothing(void **state)
{
	static const u32 words[] = {0xffff0000, 0xffffffff, 0x0010ffff, 0x00100000 | (REC_SZ + 200), 0x0004fff8};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_false(holds_with_word("name ~ \"*secret*\"", words[i], false));
	assert_false(holds_with_word("name == \"secret\"", 7u << 16, true));
	assert_false(holds_with_word("name ~ \"s*\"", 7u << 16, true));
	assert_false(holds_with_word("name", 7u << 16, true));
	assert_true(holds_with_word("name == \"\"", 7u << 16, true));
}

static void words_are_the_kernels(void **state)
{
	(void)state;
	assert_true(holds("kind == MANY"));
	assert_true(holds("kind == \"MANY\" && kind != ONE"));
	assert_true(holds("ret != BIG"));
	assert_true(holds("target_pid == KOELSCH"));
	assert_false(holds("kind in (ONE, 3)"));
	/* bits of -22, which has all but 1, 4 and 16 */
	assert_true(holds("ret has ODD && ret has ODD|FAR && ret has 0x8"));
	assert_false(holds("ret has BIG || ret has BIG|ODD || ret has (ODD | BIG)"));
	assert_true(holds("ret & ODD == ODD && ret & (ODD|BIG) == ODD && FAR & ret && !(ret & BIG)"));
	assert_false(holds("ret & BIG == BIG || ret & BIG"));
	assert_true(holds("kind has 0xc8 && !(kind has 0xc9) && !(kind has 0)"));
	assert_true(holds("port has 0xfffe && addr has 0xffff000000000000"));
}

static void what_cannot_be_decided_is_refused(void **state)
{
	static const struct {
		const char *cond, *why;
	} bad[] = {
		{"knd == 1", "did you mean kind?"},
		{"prev_pid == 1", "tp:sys:it has no field prev_pid"},
		{"kind == FEW", "no value called FEW: it is one of ONE, MANY, SAME"},
		{"kind == MNAY", "did you mean MANY?"},
		{"ret has BIGG|ODD", "did you mean BIG?"},
		{"target_pid == KOELSH", "did you mean KOELSCH?"},
		{"ret has FEW", "no value called FEW"},
		{"ret has ODD|FEW", "no value called FEW"},
		{"ret & FEW", "no value called FEW"},
		{"name has \"x\"", "~ \"*PART*\""},
		{"ret has kind", "(x & y) == y"},
		{"kind has 0", "never holds"},
		{"kind == SAME", "no value called SAME"}, /* two numbers have it */
		{"saddr[0] == 127", "an array"},
		{"list[0] == 1", "an array"},
		{"name ~ /x+/", "no regular expressions"},
		{"kind ~ \"O*\"", "no pattern with a tracepoint's words"},
		{"tp_data ~ \"x*\"", "an array"},
		{"cgroup == \"/\"", "known on replay only"},
		{"tier == main", "leave it out"},
		{"kind == 1 &&", "is missing"},
		{"1 == 2", "never holds"},
		{"target_comm == 3", ""},
	};
	struct tried t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(tried(&t, bad[i].cond), -EINVAL);
		if (!strstr(t.error.text, bad[i].why))
			fail_msg("%s: %s", bad[i].cond, t.error.text);
		assert_int_equal(t.set.prog_cnt, 0);
		tried_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_their_size_and_sign),
		cmocka_unit_test(texts_of_a_length_end_there),
		cmocka_unit_test(texts_of_any_length_are_where_their_word_says),
		cmocka_unit_test(words_that_lead_out_name_nothing),
		cmocka_unit_test(words_are_the_kernels),
		cmocka_unit_test(what_cannot_be_decided_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
