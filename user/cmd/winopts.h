/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * winopts: the options for the time window, for all commands that read events. Such a command puts FR_WINOPTS_TABLE into its
 * option table and FR_WINOPTS_HELP into its help, and passes what getopt returned to fr_winopts_parse() first.
 */
#ifndef FR_WINOPTS_H
#define FR_WINOPTS_H

#include <getopt.h>
#include <stdbool.h>

#include "pure/text/when.h"

enum {
	FR_WINOPT_SINCE = 0x5700,
	FR_WINOPT_UNTIL,
	FR_WINOPT_WINDOW,
};

/* clang-format off */
#define FR_WINOPTS_TABLE                                        \
	{"since", required_argument, NULL, FR_WINOPT_SINCE},    \
	{"until", required_argument, NULL, FR_WINOPT_UNTIL},    \
	{"window", required_argument, NULL, FR_WINOPT_WINDOW}
/* clang-format on */

#define FR_WINOPTS_HELP                                                                   \
	"      --since T      from then, until then: 2s after the start, -200ms before\n" \
	"      --until T      the end, 50%, trigger-50ms, 14:02:11.5,\n"                  \
	"                     2026-01-31T14:02:11, or ns of the recording clock\n"        \
	"      --window A..B  both: trigger-50ms..trigger+5ms, 10%..20%, -1s..\n"

/* Which of them were given so far; zero it first. */
struct fr_winopts {
	bool window, end;
};

/* 0: it was one of these, stored in *since or *until; 1: it is another's; -EINVAL: wrong, and reported. Uses optarg. */
int fr_winopts_parse(struct fr_winopts *given, int opt, struct fr_when *since, struct fr_when *until);

/* Set the same in a handle of the library, which takes the same texts. Call it after a 0; 0 or -errno. */
struct flightrec;
int fr_winopts_set(int opt, struct flightrec *fr);

#endif
