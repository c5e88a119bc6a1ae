/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A command's table of options: what a command line sets by it, and the help that is made of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cmd/options.h"

struct shared {
	bool lines;
	const char *root;
};

struct ask {
	const char *out, *step;
	bool json, refuse;
	struct shared shared;
};

static int set_step(const struct fr_option *option, void *to, const char *value)
{
	return fr_option_text(option, to, value ?: "1");
}

static int refuse(const struct fr_option *option, void *to, const char *value)
{
	(void)value;
	fr_option_flag(option, to, NULL);
	return -EINVAL;
}

static const struct fr_option shared[] = {
	FR_OPTION(0, "lines", NULL, NULL, fr_option_flag, offsetof(struct shared, lines)),
	FR_OPTION('r', "root", "DIR", "where they are", fr_option_text, offsetof(struct shared, root)),
	{},
};

static const struct fr_option table[] = {
	FR_OPTION('o', "output", "FILE", "write there,\nor nowhere", fr_option_text, offsetof(struct ask, out)),
	FR_OPTION_GROUP(shared, offsetof(struct ask, shared)),
	FR_OPTION(0, "step", "[=N]", "one after the other", set_step, offsetof(struct ask, step)),
	FR_OPTION(0, "json", NULL, "for programs", fr_option_flag, offsetof(struct ask, json)),
	FR_OPTION(0, "with-a-long-name", "VALUE", "refused", refuse, offsetof(struct ask, refuse)),
	{},
};

static const struct fr_options options = {.head = "Usage: x\n\n", .foot = "\nExample: x\n", .option = table, .words = "@file"};

/* "-o a --json", by this table. */
static int parse(const struct fr_options *by, const char *line, struct ask *ask)
{
	char *copy = strdup(line), *rest = copy, *argv[16] = {"flightrec x"};
	int argc = 1, status;

	*ask = (struct ask){};
	while (argc < 15 && (argv[argc] = strsep(&rest, " ")) && *argv[argc])
		argc++;
	argv[argc] = NULL;
	optind = 0;
	status = fr_options_parse(by, argc, argv, ask);
	assert_true(!ask->out || !strcmp(ask->out, "a")); /* before the copy goes */
	assert_true(!ask->shared.root || !strcmp(ask->shared.root, "/x"));
	assert_true(!ask->step || !strcmp(ask->step, "1") || !strcmp(ask->step, "7"));
	assert_true(status >= 0 || optind == argc || !strcmp(argv[optind], "rest"));
	ask->step = ask->step ? (*ask->step == '7' ? "7" : "1") : NULL;
	free(copy);
	return status;
}

static void test_parse(void **state)
{
	struct ask ask;

	(void)state;
	assert_int_equal(parse(&options, "", &ask), -1);
	assert_true(!ask.out && !ask.step && !ask.json && !ask.shared.lines && !ask.shared.root);
	assert_int_equal(parse(&options, "-o a --json rest --step", &ask), -1);
	assert_true(ask.out && ask.json && !ask.shared.lines);
	assert_string_equal(ask.step, "1");
	assert_int_equal(parse(&options, "--lines -r /x --step=7", &ask), -1);
	assert_true(ask.shared.lines && ask.shared.root && !ask.out && !ask.json);
	assert_string_equal(ask.step, "7");
}

static void test_stop(void **state)
{
	struct fr_options stop = options;
	struct ask ask;

	(void)state;
	stop.stop = true;
	assert_int_equal(parse(&stop, "--lines rest --json", &ask), -1);
	assert_true(ask.shared.lines && !ask.json);
}

static void test_wrong(void **state)
{
	static const char *const line[] = {"--jsn", "-x", "-o", "--json=1", "--with-a-long-name v"};
	struct ask ask;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(line) / sizeof(line[0]); i++)
		assert_int_equal(parse(&options, line[i], &ask), FR_EXIT_USAGE);
	parse(&options, "--with-a-long-name v --json", &ask);
	assert_true(ask.refuse && !ask.json); /* what comes behind is not looked at */
}

/* ---- values within limits ---- */

struct values {
	u32 cnt;
	u64 ns, ago_ns, any_ns;
	const char *filter;
};

static bool value_of(u32 i, const char **name, const char **what)
{
	static const char *const known[][2] = {{"text", "as people read it"}, {"json", "for programs"}};

	if (i < 2) {
		*name = known[i][0];
		*what = known[i][1];
	}
	return i < 2;
}

static const struct fr_option value_table[] = {
	FR_OPTION(0, "count", "N", "as many", fr_option_count, offsetof(struct values, cnt), .least = 1, .most = 100),
	FR_OPTION(0, "time", "T", "as long", fr_option_duration, offsetof(struct values, ns), .least = 50000,
		  .most = 1000000000, .words = "1ms 10ms"),
	FR_OPTION(0, "ago", "T", "back to", fr_option_history, offsetof(struct values, ago_ns), .most = 3600000000000ULL,
		  .more = "The rest of `a\\b` is gone. It is\nnot shown"),
	FR_OPTION(0, "any", "T", NULL, fr_option_duration, offsetof(struct values, any_ns), .least = 1000),
	FR_OPTION('f', "filter", "EXPR",
		  "only events that match an expression of the language that all the commands take, which is more than a line "
		  "has",
		  fr_option_filter, offsetof(struct values, filter)),
	FR_OPTION('t', "to", "[=FORMAT]", "'form', one of:", fr_option_text, offsetof(struct values, filter),
		  .value = value_of),
	{},
};

static const struct fr_options value_options = {.head = "", .foot = "", .option = value_table, .none = "leave it out"};

static int parse_values(struct values *v, const char *option, const char *value)
{
	char *argv[] = {"flightrec x", (char *)option, (char *)value, NULL};

	*v = (struct values){};
	optind = 0;
	return fr_options_parse(&value_options, value ? 3 : 2, argv, v);
}

static void test_limits(void **state)
{
	static const char *const wrong[][2] = {
		{"--count", "0"},
		{"--count", "101"},
		{"--count", "-1"},
		{"--count", "1x"},
		{"--count", ""},
		{"--count", " 5"},
		{"--count", "18446744073709551617"},
		{"--time", "49us"},
		{"--time", "1001ms"},
		{"--time", "5"},
		{"--time", "-1ms"},
		{"--ago", "61m"},
		{"--ago", "0s"},
		{"--ago", "--1s"},
		{"--any", "999ns"},
		{"rest", NULL},
		{"--help=x", NULL},
	};
	struct values v;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse_values(&v, wrong[i][0], wrong[i][1]), FR_EXIT_USAGE);
	assert_int_equal(parse_values(&v, "--count", "1"), -1);
	assert_int_equal(v.cnt, 1);
	assert_int_equal(parse_values(&v, "--count", "100"), -1);
	assert_int_equal(v.cnt, 100);
	assert_int_equal(parse_values(&v, "--time", "50us"), -1);
	assert_int_equal(v.ns, 50000);
	assert_int_equal(parse_values(&v, "--time", "1s"), -1);
	assert_int_equal(v.ns, 1000000000);
	assert_int_equal(parse_values(&v, "--ago", "-1h"), -1);
	assert_int_equal(v.ago_ns, 3600000000000ULL);
	assert_int_equal(parse_values(&v, "--any", "9h"), -1);
	assert_int_equal(parse_values(&v, "-fx", "-fy"), FR_EXIT_USAGE);
}

/* ---- what is made of a table ---- */

static void check_made(void (*make)(FILE *f, const struct fr_options *options), const struct fr_options *by, const char *want)
{
	char *text = NULL;
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	assert_non_null(f);
	make(f, by);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
}

static void test_words(void **state)
{
	(void)state;
	check_made(fr_options_words, &options,
		   "- - - @file\n"
		   "--output -o FILE \n"
		   "--lines - - \n"
		   "--root -r DIR \n"
		   "--step - [=N] \n"
		   "--json - - \n"
		   "--with-a-long-name - VALUE \n");
	check_made(fr_options_words, &value_options,
		   "- - - \n"
		   "--count - N \n"
		   "--time - T 1ms 10ms\n"
		   "--ago - T \n"
		   "--any - T \n"
		   "--filter -f EXPR \n"
		   "--to -t [=FORMAT] text json\n");
}

static void test_man(void **state)
{
	(void)state;
	check_made(fr_options_man, &value_options,
		   ".It Fl -count Ar N\nAs many.\nA number from 1 to 100.\n"
		   ".It Fl -time Ar T\nAs long.\nFrom 50us to 1s.\n"
		   ".It Fl -ago Ar T\nBack to.\nAt most 1h.\nThe rest of \\fBa\\eb\\fR is gone.\nIt is not shown.\n"
		   ".It Fl -any Ar T , Fl f , Fl -filter Ar EXPR\n"
		   "Only events that match an expression of the language that all the commands take, which is more than a line "
		   "has.\n"
		   ".It Fl t , Fl -to Ns Op = Ns Ar FORMAT\n\\&'form', one of:\n"
		   ".Bl -tag -width Ds -compact\n.It Cm text\nas people read it.\n.It Cm json\nfor programs.\n.El\n");
}

static void test_help_values(void **state)
{
	(void)state;
	check_made(fr_options_help, &value_options,
		   "      --count N      as many\n"
		   "      --time T       as long\n"
		   "      --ago T        back to\n"
		   "      --any T, -f, --filter EXPR   only events that match an expression of the language that all the\n"
		   "                     commands take, which is more than a line has\n"
		   "  -t, --to[=FORMAT]  'form', one of:\n"
		   "                       text        as people read it\n"
		   "                       json        for programs\n");
}

/* Each option once; a label that is longer than the column moves only its own text. */
static void test_help(void **state)
{
	char *text = NULL;
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	(void)state;
	assert_non_null(f);
	fr_options_help(f, &options);
	fclose(f);
	assert_string_equal(text, "Usage: x\n\n"
				  "  -o, --output FILE  write there,\n"
				  "                     or nowhere\n"
				  "      --lines, -r, --root DIR   where they are\n"
				  "      --step[=N]     one after the other\n"
				  "      --json         for programs\n"
				  "      --with-a-long-name VALUE   refused\n"
				  "\nExample: x\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse), cmocka_unit_test(test_stop),	  cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_help),  cmocka_unit_test(test_limits),	  cmocka_unit_test(test_words),
		cmocka_unit_test(test_man),   cmocka_unit_test(test_help_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
