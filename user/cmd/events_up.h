/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events_up: the functions and the static marks of a program or library, for
 * `flightrec events 'uprobe:/usr/bin/redis-server:process*'`, usdt: and mark:.
 */
#ifndef FR_EVENTS_UP_H
#define FR_EVENTS_UP_H

#include "base/text/jsonw.h"

/*
 * Print the functions, or marks, of KIND:PATH[:PATTERN] by name, each once, and of a mark that cannot be recorded why: as text,
 * or as items of an array that w has open. An ifunc, and a name that several functions have, are among them, though a recording
 * refuses them. Returns the exit status; FR_EXIT_USAGE: there is no such file, or none matches, with a message.
 */
int fr_events_up(struct fr_out *o, struct fr_jsonw *w, const char *what);

#endif
