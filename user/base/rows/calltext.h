/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calltext: what a call was given, as a ring has it, becomes the text that files and readers have: addresses of sockets in
 * words, paths without secrets. Pure.
 *
 *	struct sockaddr_in	10.0.0.7:80		struct sockaddr_in6	[2001:db8::7]:80
 *	struct sockaddr_un	/run/db.sock, @abstract	another family		family 16
 *	too short for its family	family 2, 4 bytes
 */
#ifndef FR_CALLTEXT_H
#define FR_CALLTEXT_H

#include <stdbool.h>

#include "base/rows/argv.h"
#include "event_fields.h"

/*
 * Do that with a record of sz bytes; so many are there. It keeps its size: what gets longer loses its end. One that was made
 * before stays. s: NULL: no further words, nothing is counted.
 */
void fr_calltext_make(struct fr_rec_sys_path *rec, u32 sz, struct fr_secrets *s);

/* Is a text what becomes of an address that is no name: one with its port, or a family? A path may be the same. */
bool fr_calltext_is_addr(const char *text);

#endif
