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

#include "cmd/options.h"
#include "pure/err.h"

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
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
