/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Formats of tracepoints: fields, what becomes of them in a schema, records in the kernel's words; and texts that somebody
 * made. */
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
#include "base/tp/tps.h"

#define HEAD                                                                           \
	"name: it\nID: 77\nformat:\n"                                                  \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELDS                                                              \
	"\tfield:const void * addr;\toffset:8;\tsize:8;\tsigned:0;\n"       \
	"\tfield:__data_loc char[] name;\toffset:16;\tsize:4;\tsigned:0;\n" \
	"\tfield:pid_t pid;\toffset:20;\tsize:4;\tsigned:1;\n"              \
	"\tfield:__u8 saddr[4];\toffset:24;\tsize:4;\tsigned:0;\n"          \
	"\tfield:char comm[16];\toffset:28;\tsize:16;\tsigned:0;\n"         \
	"\tfield:s8 layer;\toffset:44;\tsize:1;\tsigned:1;\n\n"
#define END_OFF 45u

static int make(const char *text, struct fr_tpformat **out)
{
	return fr_tpformat_new("sys", "it", text, strlen(text), out);
}

static char *schema_of(const struct fr_tpformat *t)
{
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);

	fputs(FR_SCHEMA_TITLE "\n", f);
	assert_int_equal(fr_tpformat_put_schema(t, FR_TP_FIRST, FR_TIER_MAIN, f), 0);
	return fr_memfile_end(&m, NULL);
}

/* A record as the kernel has it; name: at the end, where its word says. */
static size_t record(u8 *rec, const char *name)
{
	const u32 loc = END_OFF | (u32)(strlen(name) + 1) << 16, pid = 4711;
	const u64 addr = 0xffff888812345678ULL;

	memset(rec, 0, 256);
	memcpy(rec + 8, &addr, 8);
	memcpy(rec + 16, &loc, 4);
	memcpy(rec + 20, &pid, 4);
	memcpy(rec + 24, "\x7f\0\0\1", 4);
	memcpy(rec + 28, "sleeper", 7);
	rec[44] = 0xfd;
	strcpy((char *)rec + END_OFF, name);
	return END_OFF + strlen(name) + 1;
}

static void test_fields(void **state)
{
	struct fr_tpformat *t = NULL;
	struct fr_schema *s = NULL;
	struct fr_tp conf;
	const struct fr_event *ev;
	char *text;

	(void)state;
	assert_int_equal(make(HEAD FIELDS "print fmt: \"pid=%d\", REC->pid\n", &t), 0);
	text = schema_of(t);
	assert_int_equal(fr_schema_parse(text, strlen(text), &s), 0);
	ev = fr_schema_find(s, "tp:sys:it");
	assert_non_null(ev);
	assert_int_equal(ev->group, FR_GROUP_TP);
	/* each field is where the kernel has it, eight bytes further back */
	assert_int_equal(fr_event_field(ev, "addr")->off, 8 + FR_TP_AHEAD_SZ);
	assert_int_equal(fr_event_field(ev, "name_loc")->off, 16 + FR_TP_AHEAD_SZ);
	assert_int_equal(fr_event_field(ev, "target_pid")->off, 20 + FR_TP_AHEAD_SZ);
	assert_int_equal(fr_event_field(ev, "saddr")->off, 24 + FR_TP_AHEAD_SZ);
	assert_int_equal(fr_event_field(ev, "target_comm")->off, 28 + FR_TP_AHEAD_SZ);
	assert_int_equal(fr_event_field(ev, "layer")->off, 44 + FR_TP_AHEAD_SZ);
	assert_int_equal(fr_event_field(ev, "layer")->type, FR_TYPE_s8);
	assert_int_equal(ev->fixed_sz, END_OFF + FR_TP_AHEAD_SZ);
	assert_true(ev->tail);
	assert_int_equal(fr_tpformat_conf(t, &conf), 0);
	assert_int_equal(conf.fixed_sz, END_OFF - FR_TP_HEAD_SZ);
	assert_int_equal(conf.loc_cnt, 1);
	assert_int_equal(conf.loc[0], 16);
	free(text);
	fr_schema_free(s);
	fr_tpformat_free(t);
}

/* As the kernel has flags: with a word of its own for none. */
static void test_words_by_condition(void **state)
{
	struct fr_tpformat *t = NULL;
	s64 v = 0;

	(void)state;
	assert_int_equal(make(HEAD FIELDS "print fmt: \"%s %d\", (REC->pid) ? __print_flags(REC->pid, \"|\", {1, \"A\"}, "
					  "{2, \"B\"}) : \"none\", REC->saddr\n",
			      &t),
			 0);
	assert_true(fr_tpformat_has_symbols(t, "target_pid"));
	assert_false(fr_tpformat_has_symbols(t, "saddr"));
	assert_string_equal(fr_tpformat_symbol(t, "target_pid", 3), "A|B");
	assert_string_equal(fr_tpformat_symbol(t, "target_pid", 4), "0x4");
	assert_null(fr_tpformat_symbol(t, "target_pid", 0));
	assert_int_equal(fr_tpformat_value(t, 0, "target_pid", "B", &v), 0);
	assert_int_equal(v, 2);
	fr_tpformat_free(t);
}

static void test_words(void **state)
{
	struct fr_tpformat *t = NULL;
	u8 rec[256];
	size_t sz = record(rec, "a.txt");

	(void)state;
	assert_int_equal(make(HEAD FIELDS
			      "print fmt: \"%s pid=%d comm=%s %s %s at %pI4\", __get_str(name), REC->pid, REC->comm, "
			      "__print_symbolic(REC->pid, {1, \"one\"}, {4711, \"koelsch\"}), "
			      "__print_flags(REC->pid, \"|\", {1, \"A\"}, {2, \"B\"}), REC->saddr\n",
			      &t),
			 0);
	assert_string_equal(fr_tpformat_text(t, rec, sz), "a.txt pid=4711 comm=sleeper koelsch A|B|0x1264 at 127.0.0.1");
	assert_string_equal(fr_tpformat_symbol(t, "target_pid", 1), "one"); /* by the first that is about the field */
	assert_null(fr_tpformat_symbol(t, "target_pid", 3));
	assert_null(fr_tpformat_symbol(t, "saddr", 3));
	fr_tpformat_free(t);
}

/* A word that leads out of its record leads nowhere, and what a text has no NUL for ends with the record. */
static void test_lost_words(void **state)
{
	static const u32 locs[] = {0xffffffff, 200 << 16 | END_OFF, 4000, 0xffff, 10 << 16 | 0x7fff, 0};
	struct fr_tpformat *t = NULL;
	u8 rec[256];
	size_t sz, i;

	(void)state;
	assert_int_equal(make(HEAD FIELDS "print fmt: \"<%s> %d\", __get_str(name), __get_dynamic_array_len(name)\n", &t), 0);
	for (i = 0; i < sizeof(locs) / sizeof(locs[0]); i++) {
		sz = record(rec, "a.txt") - 1;
		rec[sz] = 'X'; /* is not the record's */
		memcpy(rec + 16, &locs[i], 4);
		assert_non_null(fr_tpformat_text(t, rec, sz));
		assert_null(strchr(fr_tpformat_text(t, rec, sz), 'X'));
	}
	fr_tpformat_free(t);
}

/* Texts that no kernel wrote: refused, or the fields without words. None of them is run into. */
static void test_hostile(void **state)
{
	static const char *const refused[] = {
		"",
		"name: it\n",
		HEAD "\tfield:int x;\toffset:4000;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->x\n",
		HEAD "\tfield:int x;\toffset:-8;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->x\n",
		HEAD "\tfield:int x;\toffset:8;\tsize:2000000000;\tsigned:1;\n\nprint fmt: \"%d\", REC->x\n",
		HEAD "\tfield:__data_loc char[] x;\toffset:8;\tsize:2;\tsigned:1;\n\nprint fmt: \"%s\", __get_str(x)\n",
		"name: it\nID: 77\nformat:\n\tfield:unsigned short common_type;\toffset:4;\tsize:2;\tsigned:0;\n\n" FIELDS
		"print fmt: \"\"\n",
		"name: it\nID: 77\nformat:\n\tfield:unsigned int common_type;\toffset:0;\tsize:4;\tsigned:0;\n\n" FIELDS
		"print fmt: \"\"\n",
	};
	static const char *const wordless[] = {
		"print fmt: \"%d\", REC->pid / 0\n",
		"print fmt: \"%d\", REC->pid % REC->layer\n",
		"print fmt: \"%s\", __print_symbolic(REC->pid, {1 / 0, \"x\"})\n",
		"print fmt: \"%2000000000d\", REC->pid\n",
		"print fmt: \"%*d\", REC->pid, REC->pid\n",
		"print fmt: \"%*ph\", REC->pid, REC->saddr\n",
		"print fmt: \"%.2000000000d\", REC->pid\n",
		"print fmt: \"%s\", __print_hex(REC->saddr, REC->pid)\n",
		"print fmt: \"%s\", __print_array(REC->saddr, 100000, 1)\n",
		"print fmt: \"%s\", __print_array(REC->saddr, REC->addr, 8)\n",
		"print fmt: \"%d\", REC->saddr[REC->pid]\n",
		"print fmt: \"%d\", REC->saddr[100000000]\n",
		"print fmt: \"%s\", nobody_knows(REC->pid)\n",
		"print fmt: \"%d\", REC->nothing\n",
		"print fmt: \"%s\", __get_str(pid)\n",
		"print fmt: \"%d",
		"print fmt: \"%d\", ((((((REC->pid\n",
		"",
	};
	struct fr_tpformat *t = NULL;
	char text[4096];
	u8 rec[256];
	size_t sz = record(rec, "a.txt"), i;

	(void)state;
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (make(refused[i], &t) != -EINVAL)
			fail_msg("taken for a format: %s", refused[i]);
	for (i = 0; i < sizeof(wordless) / sizeof(wordless[0]); i++) {
		snprintf(text, sizeof(text), HEAD FIELDS "%s", wordless[i]);
		assert_int_equal(make(text, &t), 0);
		if (fr_tpformat_text(t, rec, sz))
			fail_msg("%s is printed: %s", wordless[i], fr_tpformat_text(t, rec, sz));
		assert_int_equal(fr_tpformat_field_cnt(t), 6);
		fr_tpformat_free(t);
	}
}

/* Nested, or in a row, as deep as the longest text allows: the parser calls itself for each. */
static void test_deep(void **state)
{
	static const char *const unit[] = {"(", "!", "-", "1+", "1?", "REC->saddr[", "{", "1<<", "~"};
	struct fr_tpformat *t = NULL;
	size_t i, len;
	char *text = malloc(FR_TPFORMAT_MAX_SZ);
	u8 rec[256];
	size_t sz = record(rec, "a.txt");

	(void)state;
	for (i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
		len = snprintf(text, FR_TPFORMAT_MAX_SZ, HEAD FIELDS "print fmt: \"%%d\", ");
		while (len + strlen(unit[i]) < FR_TPFORMAT_MAX_SZ - 1)
			len += snprintf(text + len, FR_TPFORMAT_MAX_SZ - len, "%s", unit[i]);
		assert_int_equal(make(text, &t), 0);
		if (fr_tpformat_text(t, rec, sz))
			fail_msg("%s, again and again, is printed: %s", unit[i], fr_tpformat_text(t, rec, sz));
		fr_tpformat_free(t);
	}
	free(text);
}

static void test_texts(void **state)
{
	static const char good[] = "tp a b 3\nxyztp c d 1\nx";
	static const char *const bad[] = {"tp a b 4\nxyz", "tp a b\n",	  "tp a b 0\n", "tp  b 1\nx", "x",
					  "tp a b 1 2\nx", "tp a b -1\nx"};
	struct fr_tps_item item;
	size_t pos = 0, i;

	(void)state;
	assert_true(fr_tps_is_good(good, sizeof(good) - 1));
	assert_true(fr_tps_next(good, sizeof(good) - 1, &pos, &item));
	assert_string_equal(item.system, "a");
	assert_int_equal(item.sz, 3);
	assert_true(fr_tps_next(good, sizeof(good) - 1, &pos, &item));
	assert_string_equal(item.name, "d");
	assert_false(fr_tps_next(good, sizeof(good) - 1, &pos, &item));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(fr_tps_is_good(bad[i], strlen(bad[i])));
}

/* ---- some fields alone ---- */

static struct fr_schema *chosen_of(const char *names, struct fr_tpformat **t, struct fr_tp *conf)
{
	struct fr_schema *s = NULL;
	char why[200] = "", *text;

	assert_int_equal(make(HEAD FIELDS "print fmt: \"%s pid=%d\", __get_str(name), REC->pid\n", t), 0);
	assert_int_equal(fr_tpformat_choose(*t, names, strlen(names), why, sizeof(why)), 0);
	text = schema_of(*t);
	assert_int_equal(fr_schema_parse(text, strlen(text), &s), 0);
	free(text);
	assert_int_equal(fr_tpformat_conf(*t, conf), 0);
	return s;
}

static void test_chosen(void **state)
{
	static const char *const there[] = {"name", "target_comm", "layer"};
	static const char *const left[] = {"addr", "target_pid", "saddr"};
	struct fr_tpformat *t = NULL;
	struct fr_schema *s;
	struct fr_tp conf;
	const struct fr_event *ev;
	u32 i;

	(void)state;
	s = chosen_of(" layer,name, comm", &t, &conf); /* whatever the order, the kernel's name or the schema's */
	ev = fr_schema_find(s, "tp:sys:it");
	assert_non_null(ev);
	for (i = 0; i < 3; i++) {
		assert_non_null(fr_event_field(ev, there[i]));
		assert_null(fr_event_field(ev, left[i]));
	}
	/* side by side: the word, then comm and layer, which were so */
	assert_int_equal(fr_event_field(ev, "name_loc")->off, FR_TP_REC_SZ);
	assert_int_equal(fr_event_field(ev, "target_comm")->off, FR_TP_REC_SZ + 4);
	assert_int_equal(fr_event_field(ev, "layer")->off, FR_TP_REC_SZ + 20);
	assert_int_equal(conf.fixed_sz, END_OFF - FR_TP_HEAD_SZ);
	assert_int_equal(conf.kept_sz, 21);
	assert_int_equal(conf.piece_cnt, 2);
	assert_int_equal(conf.piece[0].from, 16 - 8);
	assert_int_equal(conf.piece[0].to, 0);
	assert_int_equal(conf.piece[0].sz, 4);
	assert_int_equal(conf.piece[1].from, 28 - 8);
	assert_int_equal(conf.piece[1].to, 4);
	assert_int_equal(conf.piece[1].sz, 17);
	assert_int_equal(conf.loc_cnt, 1);
	assert_int_equal(conf.loc_to[0], FR_TP_HEAD_SZ);
	fr_tpformat_free(t);
	/* read back: what is missing is known by name, and words that need it are none */
	assert_int_equal(make(HEAD FIELDS "print fmt: \"pid=%d\", REC->pid\n", &t), 0);
	assert_int_equal(fr_tpformat_read_as(t, ev), 0);
	assert_true(fr_tpformat_is_part(t));
	for (i = 0; i < 3; i++) {
		assert_false(fr_tpformat_lacks(t, there[i]));
		assert_true(fr_tpformat_lacks(t, left[i]));
	}
	assert_null(fr_tpformat_text(t, "", 0));
	fr_tpformat_free(t);
	assert_int_equal(make(HEAD FIELDS "print fmt: \"%s %s\", __get_str(name), REC->comm\n", &t), 0);
	assert_int_equal(fr_tpformat_read_as(t, ev), 0);
	assert_non_null(fr_tpformat_text(t, "", 0));
	fr_tpformat_free(t);
	fr_schema_free(s);
}

static void test_unchosen(void **state)
{
	struct fr_tpformat *t = NULL;
	char why[200] = "";

	(void)state;
	assert_int_equal(make(HEAD FIELDS "print fmt: \"pid=%d\", REC->pid\n", &t), 0);
	assert_int_equal(fr_tpformat_choose(t, "pid,laier", 9, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "no field laier: did you mean layer?"));
	fr_tpformat_free(t);
	assert_int_equal(make(HEAD FIELDS "print fmt: \"pid=%d\", REC->pid\n", &t), 0);
	assert_int_equal(fr_tpformat_choose(t, "zzzzzzzzz", 9, why, sizeof(why)), -EINVAL);
	assert_null(strstr(why, "did you mean"));
	fr_tpformat_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),	   cmocka_unit_test(test_words),   cmocka_unit_test(test_words_by_condition),
		cmocka_unit_test(test_lost_words), cmocka_unit_test(test_hostile), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_texts),	   cmocka_unit_test(test_chosen),  cmocka_unit_test(test_unchosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
