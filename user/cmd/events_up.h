/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* events_up: the functions of a program or library, for `flightrec events 'uprobe:/usr/bin/redis-server:process*'`. */
#ifndef FR_EVENTS_UP_H
#define FR_EVENTS_UP_H

#include "base/text/jsonw.h"

/*
 * Print the functions of KIND:PATH[:PATTERN] that can be recorded so, by name, each once: as text, or as items of an array that
 * w has open. Returns the exit status; FR_EXIT_USAGE: there is no such file, or none matches, with a message.
 */
int fr_events_up(struct fr_out *o, struct fr_jsonw *w, const char *what);

#endif
