/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options: a command's options, each described once: the parser and the help are made from the table.
 *
 *	static const struct fr_option options[] = {
 *		FR_OPTION('o', "output", "FILE", "write there", fr_option_text, offsetof(struct ask, path)),
 *		FR_OPTION_GROUP(shared_options, offsetof(struct ask, shared)),	a table that several commands share
 *		FR_OPTION(0, "json", NULL, "for programs", fr_option_flag, offsetof(struct ask, json)),
 *		{},
 *	};
 *
 * Every command has -h, --help as well. Wrong options are reported as nextopt.h says.
 */
#ifndef FR_CMD_OPTIONS_H
#define FR_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct fr_option {
	char letter;	  /* 0: none */
	const char *name; /* without "--" */
	const char *arg;  /* what its value is called; "[=N]": it may be left out, and is NULL then; NULL: it takes none */
	const char *help; /* its lines, without the last line's end; NULL: it stands with the next option that has one */
	/* Keep the value in *to, the command's. 0, or -EINVAL with a message. */
	int (*set)(const struct fr_option *option, void *to, const char *value);
	size_t at;		       /* where in *to; or what set() wants */
	const struct fr_option *group; /* these instead; their *to is the command's at this place */
};

/* clang-format off */
#define FR_OPTION(letter_, name_, arg_, help_, set_, at_) \
	{.letter = (letter_), .name = (name_), .arg = (arg_), .help = (help_), .set = (set_), .at = (at_)}
#define FR_OPTION_GROUP(table_, at_) {.group = (table_), .at = (at_)}
/* clang-format on */

#define FR_OPTION_MAX 64u /* of a command, groups included */

struct fr_options {
	const char *head, *foot; /* of the help: what stands before and after the options */
	const struct fr_option *option;
	bool stop; /* options end where the first argument begins */
};

/* -1: continue, and argv + optind are the arguments; or the exit status: help was printed, or an error. */
int fr_options_parse(const struct fr_options *options, int argc, char **argv, void *to);

void fr_options_help(FILE *f, const struct fr_options *options);

/* ---- ways to set: *at is a bool; a const char * ---- */

int fr_option_flag(const struct fr_option *option, void *to, const char *value);
int fr_option_text(const struct fr_option *option, void *to, const char *value);

#endif
