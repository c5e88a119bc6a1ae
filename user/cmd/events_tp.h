/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* events_tp: the tracepoints of the running kernel, for `flightrec events 'tcp:*'`. */
#ifndef FR_EVENTS_TP_H
#define FR_EVENTS_TP_H

#include "base/text/jsonw.h"

/* Is it a pattern of tracepoints, SYSTEM:NAME or tp:SYSTEM:NAME? */
bool fr_events_is_tp(const char *name);

/*
 * Print those that match one of the patterns, with their fields: as text, or as items of an array that w has open. Returns the
 * exit status; FR_EXIT_USAGE: nothing matches one of them, with a message.
 */
int fr_events_tp(struct fr_out *o, struct fr_jsonw *w, char *const *pattern, int cnt);

#endif
