/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* symopts: the options about symbols, for all commands that show stacks: tables over struct fr_symopts. */
#ifndef FR_SYMOPTS_H
#define FR_SYMOPTS_H

#include "cmd/options.h"
#include "read/symbols/symbols.h"

/* The options given; all zero: none. */
struct fr_symopts {
	struct fr_symbols_opts opts;
	bool off; /* --no-symbols */
	bool on;  /* --symbols or an option that makes sense only with it: for output without symbols by default */
};

extern const struct fr_option fr_symopts[];	     /* all but --symbols */
extern const struct fr_option fr_symopts_named[];    /* the same where stacks have names by default, and --symbols */
extern const struct fr_option fr_symopts_searched[]; /* only where files are looked for */

/* For tables with other words: --symbols; and a bool of struct fr_symopts, the command's *to. */
int fr_symopts_on(const struct fr_option *option, void *to, const char *value);
int fr_symopts_flag(const struct fr_option *option, void *to, const char *value);

/* Set the same in a handle of the library. 0 or -errno, reported by it. */
struct flightrec;
int fr_symopts_set(const struct fr_symopts *s, struct flightrec *fr);

#endif
