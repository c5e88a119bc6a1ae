/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/nextopt.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text/nearest.h"

#define NAME_SZ	   64u
#define MATCHES_SZ 256u

/* A long option as it was given: its name without "--" and value. */
struct given {
	const char *name;
	size_t len;
};

static bool nextopt_begins(const struct option *option, const struct given *given)
{
	return !strncmp(option->name, given->name, given->len);
}

/* The long option of which getopt_long() says that its value is wrong. NULL: it spoke of a short one. */
static const struct option *find_refused(const struct given *given, const struct option *longs)
{
	for (; longs->name; longs++)
		if (optopt == longs->val && nextopt_begins(longs, given))
			return longs;
	return NULL;
}

static void say_unknown_long(const char *command, const struct given *given, const struct option *longs)
{
	char name[NAME_SZ];
	struct fr_nearest near = {.to = name};

	snprintf(name, sizeof(name), "%.*s", (int)given->len, given->name);
	for (; longs->name; longs++)
		fr_nearest_consider(&near, longs->name);
	if (near.name && near.distance * 2 < given->len) /* names are short: more than that, and any of them is near */
		fr_err("there is no option '--%s': did you mean --%s? `%s --help` lists them", name, near.name, command);
	else
		fr_err("there is no option '--%s': `%s --help` lists them", name, command);
}

/* The long option is unknown, or the beginning of several. */
static void say_no_option(const char *command, const struct given *given, const struct option *longs)
{
	char matches[MATCHES_SZ] = "";
	const struct option *o;
	size_t at = 0;

	for (o = longs; given->len && o->name; o++)
		if (nextopt_begins(o, given) && at < sizeof(matches))
			at += snprintf(matches + at, sizeof(matches) - at, "%s--%s", at ? ", " : "", o->name);
	if (at)
		fr_err("'--%.*s' is not one option but the beginning of several: %s", (int)given->len, given->name, matches);
	else
		say_unknown_long(command, given, longs);
}

static void nextopt_say_short(const char *command, const char *shorts)
{
	const char *known = strchr(shorts, optopt);

	if (known && known[1] == ':')
		fr_err("-%c needs a value: `%s --help` says which", optopt, command);
	else
		fr_err("there is no option '-%c': `%s --help` lists them", optopt, command);
}

/*
 * optopt: which option is refused, 0 for a long one that is unknown. last: the argument it stood in, if it is a long one. In
 * the middle of short ones (-xq), last is the argument before, which may be a long one of another letter.
 */
static void say_wrong(const char *command, const char *last, const char *shorts, const struct option *longs)
{
	bool is_long = !strncmp(last, "--", 2);
	struct given given = {last + 2 * is_long, is_long ? strcspn(last + 2, "=") : 0};
	const struct option *refused = is_long ? find_refused(&given, longs) : NULL;

	if (refused && refused->has_arg == no_argument)
		fr_err("--%s takes no value", refused->name);
	else if (refused)
		fr_err("--%s needs a value: `%s --help` says which", refused->name, command);
	else if (optopt)
		nextopt_say_short(command, shorts);
	else
		say_no_option(command, &given, longs);
}

int fr_take_filter(const char **filter, const char *arg)
{
	if (*filter) {
		fr_err("-f is given twice: join the conditions in one, with && or ||");
		return -EINVAL;
	}
	*filter = arg;
	return 0;
}

int fr_next_option(int argc, char **argv, const char *shorts, const struct option *longs)
{
	int opt;

	opterr = 0;
	opt = getopt_long(argc, argv, shorts, longs, NULL);
	if (opt == '?')
		say_wrong(argv[0], argv[optind - 1], shorts, longs);
	if (opt == 'o' && optarg && !*optarg) {
		fr_err("-o names a file or a directory, and '' is no name: `%s --help` says which", argv[0]);
		return '?';
	}
	return opt;
}
