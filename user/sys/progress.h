/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * progress: a progress bar on a terminal, for work that takes noticeable time. Does nothing if standard error is not a
 * terminal.
 */
#ifndef FR_PROGRESS_H
#define FR_PROGRESS_H

#include <stdbool.h>

#include "types.h"

struct fr_progress {
	const char *what;
	int shown; /* percentage drawn last, -1 none */
	bool tty;
};

/* Begin a bar on standard error; if that is no terminal, nothing is drawn. what: kept, not copied. */
void fr_progress_begin(struct fr_progress *p, const char *what);

/* arg: a struct fr_progress. Redraws when the percentage has changed. */
void fr_progress_show(void *arg, u64 done, u64 total);

/* Removes the bar. */
void fr_progress_end(struct fr_progress *p);

#endif
