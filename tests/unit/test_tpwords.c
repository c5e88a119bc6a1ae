/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Formats of tracepoints, text by text: what is written as kernels write it, the schema of each kind of field, words for
 * values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/memfile.h"
#include "base/tp/tpformat.h"
#include "base/tp/tpwords.h"

#define COMMON                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
#define NAMED(name) "name: " name "\nID: 77\nformat:\n"
#define HEAD	    NAMED("it") COMMON "\n"
#define PID	    "\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n"
#define PRINT	    "\nprint fmt: "

#define X4(x)  x x x x
#define X64(x) X4(X4(X4(x)))

static int make_of(const char *system, const char *text, size_t sz, struct fr_tpformat **out)
{
	*out = NULL;
	return fr_tpformat_new(system, "it", text, sz, out);
}

static int make(const char *text, struct fr_tpformat **out)
{
	return make_of("sys", text, strlen(text), out);
}

/* ---- texts ---- */

static void test_fields(void **state)
{
	static const char *const sound[] = {
		HEAD,
		HEAD PID,
		NAMED("a-b_9") "\n",
		HEAD "\tfield:struct x * p[];\toffset:8;\tsize:0;\tsigned:0;\n",
		HEAD "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n",
		HEAD "\tfield:u8 a[sizeof(struct in6_addr)];\toffset:8;\tsize:16;\tsigned:0;\n",
	};
	static const char *const unsound[] = {
		"",
		"it\n",
		"name: \nID: 77\nformat:\n",
		"name: a b\nID: 77\nformat:\n",
		"name: it\nID: \nformat:\n",
		"name: it\nID: 1234567890\nformat:\n",
		"name: it\nID: 77\n",
		HEAD "x\n",
		HEAD "\tfield:int;\toffset:8;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:[3] int pid;\toffset:8;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:int pid[3;\toffset:8;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:int pid[(3];\toffset:8;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:int 3pid;\toffset:8;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:int pid, tid;\toffset:8;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:int pid;\toffset:-8;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:int pid;\toffset:8;\tsize:;\tsigned:1;\n",
		HEAD "\tfield:int pid;\toffset:8;\tsize:4;\n",
		HEAD "\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1",
		HEAD "\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1; \n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sound) / sizeof(sound[0]); i++)
		if (!fr_tpfields_are_sound(sound[i], sound[i] + strlen(sound[i])))
			fail_msg("refused: %s", sound[i]);
	for (i = 0; i < sizeof(unsound) / sizeof(unsound[0]); i++)
		if (fr_tpfields_are_sound(unsound[i], unsound[i] + strlen(unsound[i])))
			fail_msg("taken: %s", unsound[i]);
}

/* Words behind these fields. */
static bool is_sound(const char *fields, const char *words)
{
	char text[8192];

	snprintf(text, sizeof(text), "%s%s", fields, words);
	return fr_tpwords_are_sound(text, text + strlen(fields), text + strlen(fields));
}

static void test_expressions(void **state)
{
	static const char *const sound[] = {
		"\"none\"",
		" \"a\" \"b\" , 1\n",
		"\"\\\"(\\\"\"",
		"\"%d\", REC->pid",
		"\"%d\", -!(u32)(struct x *)REC->pid",
		"\"%d\", REC->pid ? REC->pid : 0x1fUL",
		"\"%d\", 1 << 2 >> 3 <= 4 >= 5 == 6 != 7 && 8 || 9 + 1 - 2 * 3 / 4 % 5 < 6 > 7 & 8 | 9 ^ 1",
		"\"%d\", (REC->saddr[2])",
		"\"%c\", 'x'",
		"\"%d\", HZ",
		"\"%s\", __get_str(name)",
		"\"%d\", __get_rel_dynamic_array_len(name)",
		"\"%s\", __print_symbolic(REC->pid, {1, \"a\"}, {2, \"b\" \"c\"}, {3, ((void *)0)})",
		"\"%s\", __print_flags(REC->pid, \"|\", {1, \"a\"})",
		"\"%s\", __print_hex(REC->saddr, 4)",
		"\"%s\", __print_hex_str(REC->saddr, 4)",
		"\"%s\", __print_array(REC->saddr, 4, 1)",
	};
	static const char *const unsound[] = {
		"",
		"none",
		"\"none",
		"\"no\nne\"",
		"\"%d\" 1",
		"\"%d\",",
		"\"%d\", REC->nothing",
		"\"%d\", REC->pi",
		"\"%d\", REC->id", /* the end of another's name */
		"\"%d\", REC.pid",
		"\"%d\", pid->pid",
		"\"%d\", (REC->pid",
		"\"%d\", REC->saddr[1",
		"\"%d\", REC->pid ? 1",
		"\"%d\", 0x",
		"\"%d\", 123456789012345678901",
		"\"%d\", 12x",
		"\"%d\", -----1",
		"\"%d\", +",
		"\"%c\", '\\'",
		"\"%s\", __get_str(nothing)",
		"\"%s\", __get_str(1)",
		"\"%s\", __get_sockaddr(name)",
		"\"%s\", __print_symbolic(REC->pid, {1})",
		"\"%s\", __print_symbolic(REC->pid, {1, a})",
		"\"%s\", __print_symbolic(REC->pid, {1, \"a\"}",
		"\"%s\", __print_flags(REC->pid, {1, \"a\"})",
		"\"%s\", __print_hex(REC->saddr)",
		"\"%s\", __print_array(REC->saddr, 4)",
		"\"%d\", " X64("(") "1" X64(")"),
		"\"%d\", 1" X64("+1+1+1+1"),
		"\"%d\", 1\n\n",
	};
	static const char fields[] = HEAD PID "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n"
					      "\tfield:u8 saddr[4];\toffset:16;\tsize:4;\tsigned:0;\n";
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sound) / sizeof(sound[0]); i++)
		if (!is_sound(fields, sound[i]))
			fail_msg("refused: %s", sound[i]);
	for (i = 0; i < sizeof(unsound) / sizeof(unsound[0]); i++)
		if (is_sound(fields, unsound[i]))
			fail_msg("taken: %s", unsound[i]);
}

/* What is refused as a whole, though each of its lines is sound. */
static void test_refused(void **state)
{
	static const char *const texts[] = {
		NAMED("other") COMMON "\n" PID PRINT "\"%d\", REC->pid\n",
		NAMED("it") "\n" PID PRINT "\"%d\", REC->pid\n",
		NAMED("it") COMMON "\tfield:int common_more;\toffset:4000;\tsize:4;\tsigned:1;\n\n" PID PRINT
				   "\"%d\", REC->pid\n",
		HEAD "x\n" PID PRINT "\"%d\", REC->pid\n",
		HEAD "\tfield:int pid;\toffset:8;\tsize:4;\n" PRINT "\"\"\n",
		HEAD "\tfield:int pid[3+1];\toffset:8;\tsize:16;\tsigned:1;\n" PRINT "\"\"\n",
		HEAD PID "\tfield:int \x7f;\toffset:12;\tsize:4;\tsigned:1;\n" PRINT "\"%d\", REC->pid\n",
	};
	static const char good[] = HEAD PID PRINT "\"%d\", REC->pid\n";
	static const char nul[] = HEAD PID PRINT "\"%d\", REC->pid\n\0\n";
	struct fr_tpformat *t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (make(texts[i], &t) != -EINVAL)
			fail_msg("taken for a format: %s", texts[i]);
	assert_int_equal(make_of("sys", nul, sizeof(nul) - 1, &t), -EINVAL);
	assert_int_equal(make_of("ftrace", good, sizeof(good) - 1, &t), -EINVAL);
	assert_int_equal(make(good, &t), 0);
	fr_tpformat_free(t);
}

/* ---- schemas ---- */

static int schema_of(const struct fr_tpformat *t, char **text)
{
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	int err = fr_tpformat_put_schema(t, 100, FR_TIER_MAIN, f);

	*text = fr_memfile_end(&m, NULL);
	return err;
}

static void test_schema(void **state)
{
	static const char fields[] = "\tfield:const void * pos;\toffset:8;\tsize:8;\tsigned:0;\n"
				     "\tfield:unsigned long Count;\toffset:16;\tsize:8;\tsigned:0;\n"
				     "\tfield:s64 delta;\toffset:24;\tsize:8;\tsigned:1;\n"
				     "\tfield:__rel_loc char[] msg;\toffset:32;\tsize:4;\tsigned:0;\n"
				     "\tfield:__data_loc u32[] list;\toffset:36;\tsize:4;\tsigned:0;\n"
				     "\tfield:unsigned char addr[6];\toffset:40;\tsize:6;\tsigned:0;\n"
				     "\tfield:char comm[2];\toffset:46;\tsize:2;\tsigned:0;\n"
				     "\tfield:u16 port;\toffset:48;\tsize:2;\tsigned:0;\n"
				     "\tfield:s16 pair[2];\toffset:50;\tsize:4;\tsigned:1;\n"
				     "\tfield:bool on;\toffset:54;\tsize:1;\tsigned:0;\n"
				     "\tfield:char none[];\toffset:55;\tsize:0;\tsigned:0;\n";
	static const char want[] = "event 100 tp:sys:it main tp tracepoint of the kernel\n"
				   "flags tp_cut DEC 1: the record was longer than one of a ring, and its end is missing\n"
				   "field u32 tp_sz LOC bytes of the kernel's record\n"
				   "field u64 target_pos HEX const void *\n"
				   "field u64 count DEC unsigned long\n"
				   "field s64 delta DEC s64\n"
				   "field u32 msg_loc RELLOC where msg is\n"
				   "derived msg LOC:char msg_loc __rel_loc char[]\n"
				   "field u32 list_loc LOC where list is\n"
				   "derived list LOC:u32 list_loc __data_loc u32[]\n"
				   "field u8[6] addr DEC unsigned char[6]\n"
				   "field char[2] target_comm TEXT char[2]\n"
				   "field u16 port DEC u16\n"
				   "field s16[2] pair DEC s16[2]\n"
				   "field u8 on DEC bool\n"
				   "field data tp_data HEX texts and arrays\n";
	struct fr_tpformat *t;
	struct fr_tp conf;
	char text[2048], *got;

	(void)state;
	snprintf(text, sizeof(text), HEAD "%s" PRINT "\"\"\n", fields);
	assert_int_equal(make(text, &t), 0);
	assert_int_equal(schema_of(t, &got), 0);
	assert_string_equal(got, want);
	free(got);
	assert_int_equal(fr_tpformat_conf(t, &conf), 0);
	assert_int_equal(conf.loc_cnt, 2);
	assert_int_equal(conf.loc[0], 32 | FR_TP_REL);
	assert_int_equal(conf.loc[1], 36);
	assert_int_equal(conf.fixed_sz, 55 - FR_TP_HEAD_SZ);
	fr_tpformat_free(t);
}

/* A format with so many fields or words that say where a text is: its schema, and what the recording program is told. */
static void many(u32 cnt, const char *type, int schema, int conf)
{
	struct fr_tpformat *t;
	struct fr_tp got;
	char text[8192], *unused;
	size_t len = snprintf(text, sizeof(text), HEAD);
	u32 i;

	for (i = 0; i < cnt; i++)
		len += snprintf(text + len, sizeof(text) - len, "\tfield:%s f%u;\toffset:%u;\tsize:4;\tsigned:0;\n", type, i,
				8 + 4 * i);
	snprintf(text + len, sizeof(text) - len, PRINT "\"\"\n");
	assert_int_equal(make(text, &t), 0);
	assert_int_equal(schema_of(t, &unused), schema);
	assert_int_equal(fr_tpformat_conf(t, &got), conf);
	free(unused);
	fr_tpformat_free(t);
}

/* Three fields are ours. */
static void test_limits(void **state)
{
	static const char apart[] = HEAD "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
					 "\tfield:int b;\toffset:16;\tsize:4;\tsigned:1;\n" PRINT "\"\"\n";
	struct fr_tpformat *t;
	char longest[FR_NAME_MAX + 1], *unused;

	(void)state;
	many(FR_FIELD_MAX - 3, "u32", 0, 0);
	many(FR_FIELD_MAX - 2, "u32", -E2BIG, 0);
	many(FR_TP_LOC_MAX, "__data_loc char[]", 0, 0);
	many(FR_TP_LOC_MAX + 1, "__data_loc char[]", 0, -E2BIG);
	assert_int_equal(make(apart, &t), 0); /* a schema has no gaps */
	assert_int_equal(schema_of(t, &unused), -EINVAL);
	free(unused);
	fr_tpformat_free(t);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[FR_NAME_MAX] = 0;
	assert_int_equal(make_of(longest, HEAD PID PRINT "\"\"\n", strlen(HEAD PID PRINT "\"\"\n"), &t), 0);
	assert_int_equal(schema_of(t, &unused), -EINVAL);
	free(unused);
	fr_tpformat_free(t);
}

/* ---- words ---- */

#define FIELDS                                                              \
	"\tfield:u32 pid;\toffset:8;\tsize:4;\tsigned:0;\n"                 \
	"\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n" \
	"\tfield:u8 saddr[4];\toffset:16;\tsize:4;\tsigned:0;\n"            \
	"\tfield:char comm[8];\toffset:20;\tsize:8;\tsigned:0;\n"           \
	"\tfield:__rel_loc char[] msg;\toffset:28;\tsize:4;\tsigned:0;\n"   \
	"\tfield:u32 more;\toffset:32;\tsize:4;\tsigned:0;\n"               \
	"\tfield:struct x big[2];\toffset:36;\tsize:32;\tsigned:0;\n"
#define FIELDS_END 68u

static size_t record(u8 rec[128], u32 pid)
{
	const u32 loc = FIELDS_END | 3 << 16, rel = (FIELDS_END + 3 - 32) | 3 << 16;

	memset(rec, 0, 128);
	memcpy(rec + 8, &pid, 4);
	memcpy(rec + 12, &loc, 4);
	memcpy(rec + 16, "\1\2\3\4", 4);
	memcpy(rec + 20, "sleeper", 8);
	memcpy(rec + 28, &rel, 4);
	memcpy(rec + FIELDS_END, "ab", 3);
	memcpy(rec + FIELDS_END + 3, "cd", 3);
	return FIELDS_END + 6;
}

/* What is printed of such a record; NULL: nothing. The format lives until the next call. */
static const char *printed(const char *print, u32 pid)
{
	static struct fr_tpformat *t;
	char text[4096];
	u8 rec[128];
	size_t sz = record(rec, pid);

	fr_tpformat_free(t);
	t = NULL;
	if (!print)
		return NULL;
	snprintf(text, sizeof(text), HEAD FIELDS PRINT "%s\n", print);
	assert_int_equal(make(text, &t), 0);
	return fr_tpformat_text(t, rec, sz);
}

static void test_printed(void **state)
{
	static const struct {
		const char *print, *want; /* NULL: none, and the fields are shown */
		u32 pid;
	} of[] = {
		{"\"say \\\"(%d\\\"\", REC->pid", "say \"(7\"", 7},
		{"\"%.*s\", 4, REC->comm", "slee", 0},
		{"\"%s %s\", __get_str(name), __get_rel_str(msg)", "ab cd", 0},
		{"\"%s\", __print_hex(REC->saddr, 4)", "01 02 03 04", 0},
		{"\"%s\", __print_hex(REC->saddr, REC->pid)", "01 02", 2},
		{"\"%s\", __print_hex(REC->saddr, REC->pid)", NULL, 2049},
		{"\"%s\", __print_hex(__get_dynamic_array(name), __get_dynamic_array_len(name))", "61 62 00", 0},
		{"\"%s\", __print_array(REC->saddr, 4, 1)", "1 2 3 4", 0},
		{"\"%s\", __print_array(REC->saddr, REC->pid / 2, 1)", "1 2", 4},
		{"\"%s\", __print_array(REC->saddr, REC->pid * 2, 1)", NULL, 1},
		{"\"%s\", __print_array(REC->saddr, 1, 16)", NULL, 0},
		{"\"%s\", __print_array(REC->saddr, 2048, 8)", NULL, 0},
		{"\"%s\", __print_array(REC->saddr, 4, REC->pid)", NULL, 1},
		{"\"%s\", __print_array(REC->saddr, 4, 0)", NULL, 0},
		{"\"%d\", REC->saddr[2]", "3", 0},
		{"\"%d\", REC->big[1]", NULL, 0},
		{"\"%d\", REC->pid / 2", "4", 9},
		{"\"%d\", 4 / REC->pid", NULL, 2},
		{"\"%d\", 4 % 00", NULL, 2},
		{"\"%s\", __print_flags(REC->saddr[100000000], \"|\", {1, \"a\"})", NULL, 0},
		{"\"%s\", __print_symbolic(REC->saddr[100000000], {1, \"a\"})", NULL, 0},
		{"\"%s\", __get_bitmask(pid)", NULL, 0},
		/* what that library would print, though no kernel writes so */
		{"\"%d\", REC->pid x", NULL, 5},
		{"\"%d\", 12x", NULL, 5},
		{"\"%d\", !!!!!REC->pid", NULL, 5},
		{"\"%s\", __print_symbolic(REC->pid, {5, a})", NULL, 5},
		{"\"%d\", " X4(X4("(")) "1" X4(X4(")")), "1", 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const char *got = printed(of[i].print, of[i].pid);

		if (!got != !of[i].want || (got && strcmp(got, of[i].want)))
			fail_msg("%s prints %s, not %s", of[i].print, got ?: "nothing", of[i].want ?: "nothing");
	}
	printed(NULL, 0);
}

/* Each record is printed by itself: nothing of the one before, nor of what is behind it. */
static void test_by_itself(void **state)
{
	struct fr_tpformat *t;
	u8 rec[128], big[8192] = {0};
	size_t sz = record(rec, 7);

	(void)state;
	assert_int_equal(make(HEAD FIELDS PRINT "\"%d %s\", REC->pid, REC->comm\n", &t), 0);
	assert_string_equal(fr_tpformat_text(t, rec, sz), "7 sleeper");
	assert_string_equal(fr_tpformat_text(t, rec, sz), "7 sleeper");
	assert_string_equal(fr_tpformat_text(t, rec, 24), "7 slee");
	assert_null(fr_tpformat_text(t, big, sizeof(big)));
	fr_tpformat_free(t);
}

static void test_symbols(void **state)
{
	struct fr_tpformat *t;

	(void)state;
	assert_int_equal(make(HEAD FIELDS PRINT "\"%s %s %s\", __print_symbolic(REC->pid, {1, \"one\"}, {0x2, \"two\"}), "
						"__print_flags(REC->more, \"|\", {0, \"none\"}, {1, \"A\"}, {6, \"B\"}), "
						"__print_symbolic(REC->pid, {1, \"eins\"})\n",
			      &t),
			 0);
	assert_string_equal(fr_tpformat_symbol(t, "target_pid", 1), "one");
	assert_string_equal(fr_tpformat_symbol(t, "target_pid", 2), "two");
	assert_null(fr_tpformat_symbol(t, "target_pid", 0));
	assert_null(fr_tpformat_symbol(t, "saddr", 1));
	assert_string_equal(fr_tpformat_symbol(t, "more", 0), "none");
	assert_string_equal(fr_tpformat_symbol(t, "more", 1), "A");
	assert_string_equal(fr_tpformat_symbol(t, "more", 7), "A|B");
	assert_string_equal(fr_tpformat_symbol(t, "more", 3), "A|0x2");
	assert_string_equal(fr_tpformat_symbol(t, "more", 16), "0x10");
	fr_tpformat_free(t);
	assert_int_equal(make(HEAD FIELDS PRINT "\"%s\", __print_flags(REC->pid, \"|\", {1, \"A\"})\n", &t), 0);
	assert_null(fr_tpformat_symbol(t, "target_pid", 0));
	fr_tpformat_free(t);
}

/* One number means other things on CPUs of other makers, and a field that is not asked for says which: there is no word. */
static void test_no_word_that_hangs_on_another(void **state)
{
	static const char kvm_exit[] = NAMED("kvm_exit") COMMON
		"\n"
		"\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:u32 isa;\toffset:12;\tsize:4;\tsigned:0;\n" PRINT
		"\"reason %s%s%s\", (REC->isa == 1) ? __print_symbolic(REC->exit_reason & 0xffff, "
		"{ 2, \"TRIPLE_FAULT\" }, { 48, \"EPT_VIOLATION\" }) : __print_symbolic(REC->exit_reason, "
		"{ 2, \"read_cr2\" }, { 48, \"write_dr0\" }), (REC->isa == 1 && REC->exit_reason & ~0xffff) ? "
		"\" \" : \"\", (REC->isa == 1) ? __print_flags(REC->exit_reason & ~0xffff, \" \", "
		"{ 0x80000000, \"FAILED_VMENTRY\" }) : \"\"\n";
	struct fr_tpformat *t;
	s64 v;

	(void)state;
	assert_int_equal(fr_tpformat_new("kvm", "kvm_exit", kvm_exit, strlen(kvm_exit), &t), 0);
	assert_null(fr_tpformat_symbol(t, "exit_reason", 48));
	assert_false(fr_tpformat_has_symbols(t, "exit_reason"));
	assert_int_equal(fr_tpformat_value(t, 0, "exit_reason", "write_dr0", &v), -EINVAL);
	assert_int_equal(fr_tpformat_value(t, 0, "exit_reason", "EPT_VIOLATION", &v), -EINVAL);
	fr_tpformat_free(t);
}

/* A condition that asks for the field itself: each value has the words of its own arm. */
static void test_words_by_arm(void **state)
{
	struct fr_tpformat *t;
	s64 v = -1;

	(void)state;
	assert_int_equal(make(HEAD FIELDS PRINT
			      "\"%s\", REC->pid ? __print_flags(REC->pid, \"|\", {0, \"never\"}, {1, \"A\"}) : "
			      "__print_symbolic(REC->pid, {0, \"none\"}, {2, \"neither\"})\n",
			      &t),
			 0);
	assert_string_equal(fr_tpformat_symbol(t, "target_pid", 0), "none");
	assert_string_equal(fr_tpformat_symbol(t, "target_pid", 1), "A");
	assert_string_equal(fr_tpformat_symbol(t, "target_pid", 2), "0x2");
	assert_int_equal(fr_tpformat_value(t, 0, "target_pid", "never", &v), -EINVAL);
	assert_int_equal(fr_tpformat_value(t, 0, "target_pid", "neither", &v), -EINVAL);
	assert_int_equal(fr_tpformat_value(t, 0, "target_pid", "none", &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(fr_tpformat_value(t, 0, "target_pid", "A", &v), 0);
	assert_int_equal(v, 1);
	fr_tpformat_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_schema),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_printed),
		cmocka_unit_test(test_by_itself),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_no_word_that_hangs_on_another),
		cmocka_unit_test(test_words_by_arm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
