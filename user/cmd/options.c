/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/options.h"

#include <errno.h>
#include <string.h>

#include "cmd/nextopt.h"
#include "pure/err.h"

#define LABEL_SZ     256u
#define LABEL_COLUMN 22u /* longer labels move no other option's text */
#define NO_LETTER    256

/* A command's options without groups, each with what it sets. */
struct flat {
	struct {
		const struct fr_option *option;
		char *to;
	} o[FR_OPTION_MAX];
	unsigned cnt;
};

static void flat_add(struct flat *flat, const struct fr_option *option, char *to)
{
	for (; option->name || option->group; option++)
		if (option->group) {
			flat_add(flat, option->group, to ? to + option->at : NULL);
		} else if (flat->cnt < FR_OPTION_MAX) {
			flat->o[flat->cnt].option = option;
			flat->o[flat->cnt++].to = to;
		}
}

/* ---- parsing ---- */

static int option_arg(const struct fr_option *option)
{
	return !option->arg ? no_argument : *option->arg == '[' ? optional_argument : required_argument;
}

/* In the form of getopt_long(3): longs has room for --help and the end, shorts for a sign, -h and the end. */
static void options_for_getopt(const struct flat *flat, bool stop, char *shorts, struct option *longs)
{
	unsigned i;

	if (stop)
		*shorts++ = '+';
	for (i = 0; i < flat->cnt; i++) {
		const struct fr_option *o = flat->o[i].option;

		longs[i] = (struct option){o->name, option_arg(o), NULL, o->letter ? o->letter : NO_LETTER + (int)i};
		if (!o->letter)
			continue;
		*shorts++ = o->letter;
		if (o->arg)
			*shorts++ = ':';
	}
	longs[i++] = (struct option){"help", no_argument, NULL, 'h'};
	longs[i] = (struct option){};
	strcpy(shorts, "h");
}

static int option_set(const struct flat *flat, const struct option *longs, int opt)
{
	unsigned i;

	for (i = 0; i < flat->cnt; i++)
		if (longs[i].val == opt)
			return flat->o[i].option->set(flat->o[i].option, flat->o[i].to, optarg);
	return -EINVAL; /* '?', reported */
}

int fr_options_parse(const struct fr_options *options, int argc, char **argv, void *to)
{
	struct flat flat = {};
	struct option longs[FR_OPTION_MAX + 2];
	char shorts[2 * FR_OPTION_MAX + 3];
	int opt;

	flat_add(&flat, options->option, to);
	options_for_getopt(&flat, options->stop, shorts, longs);
	while ((opt = fr_next_option(argc, argv, shorts, longs)) != -1) {
		if (opt == 'h') {
			fr_options_help(stdout, options);
			return FR_EXIT_OK;
		}
		if (option_set(&flat, longs, opt))
			return FR_EXIT_USAGE;
	}
	return -1;
}

/* ---- help ---- */

/* "-o, --output FILE" */
static size_t label_one(char *label, size_t sz, const struct fr_option *o)
{
	size_t len = o->letter ? snprintf(label, sz, "-%c, --%s", o->letter, o->name) : snprintf(label, sz, "--%s", o->name);

	if (o->arg && len < sz)
		len += snprintf(label + len, sz - len, "%s%s", *o->arg == '[' ? "" : " ", o->arg);
	return len < sz ? len : sz - 1;
}

/* Of the option at *i and those that share its text, of which the last is at *i then. */
static void label_next(const struct flat *flat, unsigned *i, char label[LABEL_SZ])
{
	size_t len = snprintf(label, LABEL_SZ, "%s", flat->o[*i].option->letter ? "  " : "      ");

	len += label_one(label + len, LABEL_SZ - len, flat->o[*i].option);
	while (!flat->o[*i].option->help && *i + 1 < flat->cnt) {
		++*i;
		len += snprintf(label + len, LABEL_SZ - len, ", ");
		len = len < LABEL_SZ ? len : LABEL_SZ - 1;
		len += label_one(label + len, LABEL_SZ - len, flat->o[*i].option);
	}
}

/* Where the texts begin. */
static size_t help_column(const struct flat *flat)
{
	char label[LABEL_SZ];
	size_t len, most = 0;
	unsigned i;

	for (i = 0; i < flat->cnt; i++) {
		label_next(flat, &i, label);
		len = strlen(label);
		if (len <= LABEL_COLUMN && len > most)
			most = len;
	}
	return most + 2;
}

static void help_lines(FILE *f, const char *text, size_t column)
{
	const char *end;

	for (; (end = strchr(text, '\n')); text = end + 1)
		fprintf(f, "%.*s\n%*s", (int)(end - text), text, (int)column, "");
	fprintf(f, "%s\n", text);
}

void fr_options_help(FILE *f, const struct fr_options *options)
{
	struct flat flat = {};
	char label[LABEL_SZ];
	size_t column;
	unsigned i;

	flat_add(&flat, options->option, NULL);
	column = help_column(&flat);
	fputs(options->head, f);
	for (i = 0; i < flat.cnt; i++) {
		label_next(&flat, &i, label);
		if (!flat.o[i].option->help)
			break; /* no text follows */
		if (strlen(label) + 2 > column)
			fprintf(f, "%s   ", label);
		else
			fprintf(f, "%-*s", (int)column, label);
		help_lines(f, flat.o[i].option->help, column);
	}
	fputs(options->foot, f);
}

/* ---- ways to set ---- */

int fr_option_flag(const struct fr_option *option, void *to, const char *value)
{
	(void)value;
	*(bool *)((char *)to + option->at) = true;
	return 0;
}

int fr_option_text(const struct fr_option *option, void *to, const char *value)
{
	*(const char **)((char *)to + option->at) = value;
	return 0;
}
