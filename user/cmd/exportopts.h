/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exportopts: the options of commands that export events of snapshots to a file. */
#ifndef FR_EXPORTOPTS_H
#define FR_EXPORTOPTS_H

#include "cmd/jobs.h"
#include "cmd/symopts.h"
#include "cmd/winopts.h"
#include "show/export/export.h"

struct fr_exportopts {
	struct fr_export_ask ask;
	struct fr_symopts symbols;
	struct fr_winopts window;
	struct flightrec *fr;	 /* NULL: none is needed */
	bool to_stdout;		 /* -o - */
	bool gaps;		 /* json, csv: what is missing has lines of its own */
	const char *columns;	 /* json, csv, folded: whose each event is; NULL: not asked for */
	bool words, wall, pairs; /* json, csv: names for numbers; wall time; what each event ends */
};

/* -o; and --filter and the window, over struct fr_exportopts. */
int fr_exportopts_output(const struct fr_option *option, void *to, const char *value);
extern const struct fr_option fr_exportopts_choice[];

/* No more options: the files, and what follows from the options. */
void fr_exportopts_done(struct fr_exportopts *to, const char *const *file, u32 file_cnt);

#endif
