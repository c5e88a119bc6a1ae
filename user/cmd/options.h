/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options: a command's options, each described once: parser, help, completion and manual are made from the table.
 *
 *	static const struct fr_option options[] = {
 *		FR_OPTION('o', "output", "FILE", "write there", fr_option_text, offsetof(struct ask, path), .words = "@file"),
 *		FR_OPTION_GROUP(shared_options, offsetof(struct ask, shared)),	a table that several commands share
 *		FR_OPTION(0, "top", "N", "lines", fr_option_count, offsetof(struct ask, top), .least = 1, .most = 100),
 *		{},
 *	};
 *
 * Every command has -h, --help as well; --help=options is the table as such, --help=complete WORD... what may come next, for
 * completion/, --help=man the table for the manual, --help=keys that of the keys of its JSON for the documents. Wrong
 * options are reported as nextopt.h says.
 */
#ifndef FR_CMD_OPTIONS_H
#define FR_CMD_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/show/table.h"
#include "types.h"

struct fr_option {
	char letter;	  /* 0: none */
	const char *name; /* without "--" */
	const char *arg;  /* what its value is called; "[=N]": it may be left out, and is NULL then; NULL: it takes none */
	/*
	 * Its lines, without the last line's end; one line that is too long for the help is broken. The manual makes a sentence
	 * of it. NULL: it stands with the next option that has one.
	 */
	const char *help;
	/* Keep the value in *to, the command's. 0, or -EINVAL with a message. */
	int (*set)(const struct fr_option *option, void *to, const char *value);
	size_t at;		       /* where in *to; or what set() wants */
	const struct fr_option *group; /* these instead; their *to is the command's at this place */
	const char *more;	       /* sentences that only the manual has; `words` to be typed stand in quotes like these */
	/* Values to complete, separated by blanks; or what they are: @file, @snapshot, @dir, @session, @event, @choice,
	 * @trigger, @filter, @keys. */
	const char *words;
	/* Or the values there are, the i-th, and what each is (NULL: not said): help and manual list them. False: no more. */
	bool (*value)(u32 i, const char **name, const char **what);
	u64 least, most; /* of a number, or of a duration in ns */
};

/* clang-format off */
#define FR_OPTION(letter_, name_, arg_, help_, set_, at_, ...) \
	{.letter = (letter_), .name = (name_), .arg = (arg_), .help = (help_), .set = (set_), .at = (at_), __VA_ARGS__}
#define FR_OPTION_GROUP(table_, at_) {.group = (table_), .at = (at_)}
/* clang-format on */

#define FR_OPTION_MAX 64u /* of a command, groups included */

struct fr_options {
	const char *head, *foot; /* of the help: what stands before and after the options */
	const struct fr_option *option;
	bool stop;		      /* options end where the first argument begins */
	const char *none;	      /* there are no arguments: what to do instead; NULL: the command looks at them */
	const char *words;	      /* to complete its arguments, as those of an option */
	const struct fr_table *table; /* what it prints as JSON; NULL: not described */
	bool by_kind;		      /* its reference has a table for each kind, not one of all paths */
};

/* -1: continue, and argv + optind are the arguments; or the exit status: help was printed, or an error. */
int fr_options_parse(const struct fr_options *options, int argc, char **argv, void *to);

void fr_options_help(FILE *f, const struct fr_options *options);

/* A line for the arguments, "- - - @snapshot", then one for each option, "--output -o FILE @file". "-": it has none. */
void fr_options_words(FILE *f, const struct fr_options *options);

/* Words for the last of these, which is being typed, a line each; "@file" and the like: what the shell knows. */
void fr_options_complete(FILE *f, const struct fr_options *options, char *const *word, int cnt);

/* The list of options in mdoc(7); a text as it stands there, sentence by sentence. */
void fr_options_man(FILE *f, const struct fr_options *options);
void fr_options_man_text(FILE *f, const char *text);

/* ---- ways to set ---- */

int fr_option_flag(const struct fr_option *option, void *to, const char *value);   /* a bool: true */
int fr_option_text(const struct fr_option *option, void *to, const char *value);   /* a const char * */
int fr_option_filter(const struct fr_option *option, void *to, const char *value); /* likewise; of two, none would be seen */
int fr_option_count(const struct fr_option *option, void *to, const char *value);  /* a u32 from least to most */

/* A u64 of ns, from least to most (0: no limit), but not 0; of history a duration may have a sign, as -10s. */
int fr_option_duration(const struct fr_option *option, void *to, const char *value);
int fr_option_history(const struct fr_option *option, void *to, const char *value);

/* ---- tables that commands share ---- */

/* The session that a command is about: a const char *. */
extern const struct fr_option fr_option_session[];

/* Which events are shown: a const char *. */
extern const struct fr_option fr_option_matching[];

#endif
