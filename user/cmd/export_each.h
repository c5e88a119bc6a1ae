/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* export_each: formats that need only one event at a time, implemented with the public library: json, csv. */
#ifndef FR_CMD_EXPORT_EACH_H
#define FR_CMD_EXPORT_EACH_H

#include "cmd/exportopts.h"
#include "lib/flightrec.h"

/* Beside the fields: gaps have lines, and columns of their own; wall time; names for numbers; what each event ends. */
struct fr_csv_ask {
	bool gaps, wall, words, pairs;
};

/* Write events of fr, which is open, to fd. 0 or -errno; then *said: the library has reported why. */
int fr_export_each_csv(struct flightrec *fr, const struct fr_csv_ask *ask, int fd, u64 *event_cnt, bool *said);

/* Like fr_export(), for json or csv. x->fr has the window, and belongs to the caller. */
int fr_export_each(const struct fr_exportopts *x);

#endif
