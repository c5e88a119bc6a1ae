/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symopts: the options about symbols, for all commands that show stacks. Such a command puts FR_SYMOPTS_TABLE into its option
 * table and FR_SYMOPTS_HELP into its help, and passes what getopt returned to fr_symopts_parse() first.
 */
#ifndef FR_SYMOPTS_H
#define FR_SYMOPTS_H

#include <getopt.h>

#include "flow/symbols/symbols.h"

enum {
	FR_SYMOPT_NO_SYMBOLS = 0x5300,
	FR_SYMOPT_SYMBOLS,
	FR_SYMOPT_SYMFS,
	FR_SYMOPT_DEBUGINFOD,
	FR_SYMOPT_LINES,
	FR_SYMOPT_RAW,
};

/* clang-format off */
#define FR_SYMOPTS_TABLE                                                \
	{"no-symbols", no_argument, NULL, FR_SYMOPT_NO_SYMBOLS},        \
	{"symbols", no_argument, NULL, FR_SYMOPT_SYMBOLS},              \
	{"symfs", required_argument, NULL, FR_SYMOPT_SYMFS},            \
	{"debuginfod", no_argument, NULL, FR_SYMOPT_DEBUGINFOD},        \
	{"lines", no_argument, NULL, FR_SYMOPT_LINES},                  \
	{"raw-symbols", no_argument, NULL, FR_SYMOPT_RAW}
/* clang-format on */

#define FR_SYMOPTS_HELP                                                                     \
	"      --no-symbols   stacks as numbers: nothing is looked up\n"                    \
	"      --symfs DIR    find programs and libraries below DIR, as on their machine\n" \
	"      --debuginfod   ask the servers in DEBUGINFOD_URLS for what is missing\n"     \
	"      --lines        source lines and inlined functions too (slow)\n"              \
	"      --raw-symbols  names as they are in the file, not demangled\n"

/* The options given; all zero: none. */
struct fr_symopts {
	struct fr_symbols_opts opts;
	bool off; /* --no-symbols */
	bool on;  /* --symbols or an option that makes sense only with it: for output without symbols by default */
};

/* 0: it was one of these; 1: it is another's; -EINVAL: wrong, and reported. Uses optarg. */
int fr_symopts_parse(int opt, struct fr_symopts *to);

/* Set the same in a handle of the library. 0 or -errno, reported by it. */
struct flightrec;
int fr_symopts_set(const struct fr_symopts *s, struct flightrec *fr);

#endif
