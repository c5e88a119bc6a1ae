/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exportopts: the options of commands that export events of snapshots to a file. Such a command puts FR_EXPORTOPTS_TABLE into
 * its option table and FR_EXPORTOPTS_SHORT into its short options.
 */
#ifndef FR_EXPORTOPTS_H
#define FR_EXPORTOPTS_H

#include "cmd/jobs.h"
#include "cmd/symopts.h"
#include "cmd/winopts.h"
#include "flow/export/export.h"

/* clang-format off */
#define FR_EXPORTOPTS_SHORT "o:f:h"
#define FR_EXPORTOPTS_TABLE                             \
	{"output", required_argument, NULL, 'o'},       \
	{"filter", required_argument, NULL, 'f'},       \
	{"help", no_argument, NULL, 'h'},               \
	FR_WINOPTS_TABLE,                               \
	FR_JOBS_TABLE,                                  \
	FR_SYMOPTS_TABLE
/* clang-format on */

/* The options so far. */
struct fr_exportopts {
	struct fr_export_ask ask;
	struct fr_symopts symbols;
	struct fr_winopts window;
	struct flightrec *fr; /* has the window too; NULL: none is needed */
	bool to_stdout;	      /* -o - */
	bool gaps;	      /* json, csv: what is missing has lines of its own */
};

/* 0: it was one of these, except help; 1: it is another's; -EINVAL: wrong, and reported. Uses optarg. */
int fr_exportopts_parse(int opt, struct fr_exportopts *to);

/* No more options: the files, and what follows from the options. */
void fr_exportopts_done(struct fr_exportopts *to, const char *const *file, u32 file_cnt);

#endif
