/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/err.h"
#include "base/text/units.h"
#include "cmd/nextopt.h"

#define LABEL_SZ     256u
#define LABEL_COLUMN 22u  /* longer labels move no other option's text */
#define HELP_COLUMNS 100u /* where a text that is one line is broken */
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
	longs[i++] = (struct option){"help", optional_argument, NULL, 'h'};
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

static int option_keys(const struct fr_options *options)
{
	static struct fr_out out;

	if (!options->table) {
		fr_err("--help=keys: no table describes what this command prints");
		return FR_EXIT_USAGE;
	}
	fr_out_init(&out, STDOUT_FILENO);
	if (options->by_kind)
		fr_table_reference(&out, options->table);
	else
		fr_table_paths(&out, options->table);
	return fr_err_finish(&out, FR_EXIT_OK);
}

/* rest: what follows on the command line. */
static int option_help(const struct fr_options *options, const char *form, char *const *rest, int rest_cnt)
{
	if (form && !strcmp(form, "keys"))
		return option_keys(options);
	if (form && !strcmp(form, "complete")) {
		fr_options_complete(stdout, options, rest, rest_cnt);
		return FR_EXIT_OK;
	}
	if (!form)
		fr_options_help(stdout, options);
	else if (!strcmp(form, "options"))
		fr_options_words(stdout, options);
	else if (!strcmp(form, "man"))
		fr_options_man(stdout, options);
	else
		fr_err("--help: there is no form '%s': give options, man or keys, or none", form);
	return !form || !strcmp(form, "options") || !strcmp(form, "man") ? FR_EXIT_OK : FR_EXIT_USAGE;
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
		if (opt == 'h')
			return option_help(options, optarg, argv + optind, argc - optind);
		if (option_set(&flat, longs, opt))
			return FR_EXIT_USAGE;
	}
	if (!options->none || optind == argc)
		return -1;
	fr_err("'%s' is not an option: %s", argv[optind], options->none);
	return FR_EXIT_USAGE;
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

static void help_line(FILE *f, const char *text, int len, size_t column, bool first)
{
	fprintf(f, "%*s%.*s\n", first ? 0 : (int)column, "", len, text);
}

/* At its line ends; or, a single line, at the last blank that fits. */
static void help_lines(FILE *f, const char *text, size_t column, size_t used)
{
	bool is_one = !strchr(text, '\n'), first = true;
	const char *end;

	for (; *text; text = end + !!*end, first = false) {
		size_t room = HELP_COLUMNS - (first ? used : column);

		end = text + strcspn(text, "\n");
		if (is_one && strlen(text) > room)
			for (end = text + room; end > text && *end != ' '; end--)
				;
		if (end == text)
			end = text + strlen(text);
		help_line(f, text, end - text, column, first);
	}
}

static void help_values(FILE *f, const struct fr_option *option, size_t column)
{
	const char *name, *what;
	u32 i;

	for (i = 0; option->value && option->value(i, &name, &what) && what; i++)
		fprintf(f, "%*s  %-11s %s\n", (int)column, "", name, what);
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
		size_t used = column;

		label_next(&flat, &i, label);
		if (!flat.o[i].option->help)
			break; /* no text follows */
		if (strlen(label) + 2 > column)
			used = fprintf(f, "%s   ", label);
		else
			fprintf(f, "%-*s", (int)column, label);
		help_lines(f, flat.o[i].option->help, column, used);
		help_values(f, flat.o[i].option, column);
	}
	fputs(options->foot, f);
}

/* ---- completion ---- */

static void words_of(FILE *f, const struct fr_option *o)
{
	const char *name, *what;
	u32 i;

	fputs(o->words ?: "", f);
	for (i = 0; o->value && o->value(i, &name, &what); i++)
		fprintf(f, "%s%s", i ? " " : "", name);
}

void fr_options_words(FILE *f, const struct fr_options *options)
{
	struct flat flat = {};
	unsigned i;

	flat_add(&flat, options->option, NULL);
	fprintf(f, "- - - %s\n", options->words ?: "");
	for (i = 0; i < flat.cnt; i++) {
		const struct fr_option *o = flat.o[i].option;

		fprintf(f, "--%s -%.1s %s ", o->name, &o->letter, o->arg ?: "-");
		words_of(f, o);
		fputc('\n', f);
	}
}

/* ---- limits ---- */

#define LIMIT_SZ 32u

/* A duration as it would be typed. */
static const char *limit_text(u64 ns, char buf[LIMIT_SZ])
{
	static const struct {
		u64 ns;
		const char *name;
	} unit[] = {{3600 * FR_SEC_NS, "h"}, {60 * FR_SEC_NS, "m"}, {FR_SEC_NS, "s"},
		    {FR_MSEC_NS, "ms"},	     {1000, "us"},	    {1, "ns"}};
	size_t i = 0;

	while (ns % unit[i].ns)
		i++;
	snprintf(buf, LIMIT_SZ, "%llu%s", (ns / unit[i].ns), unit[i].name);
	return buf;
}

/* ---- the manual ---- */

/* Where a line begins, a dot or a quote would begin a request. */
static char man_char(FILE *f, char c, char before, bool *quoted)
{
	if (before == '\n' && (c == '.' || c == '\''))
		fputs("\\&", f);
	if (c == '`') {
		*quoted = !*quoted;
		fputs(*quoted ? "\\fB" : "\\fR", f);
	} else if (c == '\\') {
		fputs("\\e", f);
	} else if (c == '-' && *quoted) {
		fputs("\\-", f);
	} else {
		fputc(c, f);
	}
	return c;
}

void fr_options_man_text(FILE *f, const char *text)
{
	char before = '\n';
	bool quoted = false;

	for (; *text; text++) {
		bool ends = (*text == ' ' || *text == '\n') && before == '.' && (isupper(text[1]) || text[1] == '`');

		before = man_char(f, ends ? '\n' : *text == '\n' ? ' ' : *text, before, &quoted);
	}
	if (before != '.' && before != ':')
		fputc('.', f);
	fputc('\n', f);
}

static void man_help(FILE *f, const char *help)
{
	char *copy = strdup(help);

	if (!copy)
		return;
	copy[0] = toupper(copy[0]);
	fr_options_man_text(f, copy);
	free(copy);
}

static void man_limits(FILE *f, const struct fr_option *o)
{
	char a[LIMIT_SZ], b[LIMIT_SZ];

	if (o->set == fr_option_count)
		fprintf(f, "A number from %llu to %llu.\n", o->least, o->most);
	if (o->set != fr_option_duration && o->set != fr_option_history)
		return;
	if (o->least && o->most)
		fprintf(f, "From %s to %s.\n", limit_text(o->least, a), limit_text(o->most, b));
	else if (o->most)
		fprintf(f, "At most %s.\n", limit_text(o->most, b));
	else if (o->least)
		fprintf(f, "At least %s.\n", limit_text(o->least, a));
}

static void man_values(FILE *f, const struct fr_option *o)
{
	const char *name, *what;
	bool any = false;
	u32 i;

	for (i = 0; o->value && o->value(i, &name, &what) && what; i++, any = true) {
		if (!any)
			fputs(".Bl -tag -width Ds -compact\n", f);
		fprintf(f, ".It Cm %s\n", name);
		fr_options_man_text(f, what);
	}
	if (any)
		fputs(".El\n", f);
}

static void man_label(FILE *f, const struct fr_option *o)
{
	if (o->letter)
		fprintf(f, " Fl %c ,", o->letter);
	fprintf(f, " Fl -%s", o->name);
	if (o->arg && *o->arg == '[')
		fprintf(f, " Ns Op = Ns Ar %.*s", (int)strlen(o->arg) - 3, o->arg + 2);
	else if (o->arg)
		fprintf(f, " Ar %s", o->arg);
}

void fr_options_man(FILE *f, const struct fr_options *options)
{
	struct flat flat = {};
	const char *sep = ".It";
	unsigned i;

	flat_add(&flat, options->option, NULL);
	for (i = 0; i < flat.cnt; i++) {
		const struct fr_option *o = flat.o[i].option;

		fputs(sep, f);
		man_label(f, o);
		sep = o->help ? ".It" : " ,";
		if (!o->help)
			continue;
		fputc('\n', f);
		man_help(f, o->help);
		man_values(f, o);
		man_limits(f, o);
		if (o->more)
			fr_options_man_text(f, o->more);
	}
}

/* ---- ways to set ---- */

#define OPTION_CALLED_SZ 64u

static const char *option_called(const struct fr_option *option, char buf[OPTION_CALLED_SZ])
{
	snprintf(buf, OPTION_CALLED_SZ, "--%s", option->name);
	return buf;
}

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

int fr_option_filter(const struct fr_option *option, void *to, const char *value)
{
	return fr_take_filter((const char **)((char *)to + option->at), value);
}

int fr_option_count(const struct fr_option *option, void *to, const char *value)
{
	char *end, called[OPTION_CALLED_SZ];
	unsigned long long v;

	errno = 0;
	v = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end || errno || v < option->least || v > option->most) {
		fr_err("%s: '%s' is not a number from %llu to %llu", option_called(option, called), value, option->least,
		       option->most);
		return -EINVAL;
	}
	*(u32 *)((char *)to + option->at) = v;
	return 0;
}

static void option_say_limits(const struct fr_option *option, const char *value)
{
	char called[OPTION_CALLED_SZ], least[LIMIT_SZ], most[LIMIT_SZ];

	option_called(option, called);
	limit_text(option->least, least);
	limit_text(option->most, most);
	if (!option->most)
		fr_err("%s: '%s' is too short: give %s at least", called, value, least);
	else if (!option->least)
		fr_err("%s: '%s' is too long: give %s at most", called, value, most);
	else
		fr_err("%s: '%s' is not from %s to %s", called, value, least, most);
}

int fr_option_duration(const struct fr_option *option, void *to, const char *value)
{
	char called[OPTION_CALLED_SZ];
	u64 ns;

	if (fr_parse_duration(value, &ns) || !ns) {
		fr_err("%s: '%s' is not a duration: give a number with ns, us, ms, s, m, h or d", option_called(option, called),
		       value);
		return -EINVAL;
	}
	if (ns < option->least || (option->most && ns > option->most)) {
		option_say_limits(option, value);
		return -EINVAL;
	}
	*(u64 *)((char *)to + option->at) = ns;
	return 0;
}

int fr_option_history(const struct fr_option *option, void *to, const char *value)
{
	return fr_option_duration(option, to, value + (*value == '-'));
}

/* ---- tables that commands share ---- */

const struct fr_option fr_option_session[] = {
	FR_OPTION('n', "name", "NAME", "session (default: " FR_DEF_NAME ")", fr_option_text, 0, .words = "@session"),
	{},
};

const struct fr_option fr_option_matching[] = {
	FR_OPTION('f', "filter", "EXPR", "only events that match, as in replay", fr_option_filter, 0, .words = "@filter"),
	{},
};
