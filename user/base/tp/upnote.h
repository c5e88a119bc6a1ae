/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * upnote: static marks of programs, as the notes of a file's section .note.stapsdt tell of them (sys/sdt.h). No byte of them is
 * trusted. Pure.
 *
 *	| name size, 4 | description size, 4 | type, 4 | "stapsdt", padded to 4 | description, padded to 4 |
 *	description: | place, 8 | base, 8 | counter, 8 | provider | name | arguments | texts, each with its NUL
 */
#ifndef FR_UPNOTE_H
#define FR_UPNOTE_H

#include <stddef.h>

#include "types.h"

/* A mark's site; its texts are in the notes. */
struct fr_upnote {
	u64 addr;    /* as linked, when .stapsdt.base was at base */
	u64 base;    /* 0: it does not move */
	u64 counter; /* of those who listen: address, likewise; 0: none */
	const char *provider, *name, *args;
};

/* The next mark of sz bytes of notes, from *pos on, which moves behind it; notes of other kinds are passed over. 1 and *out; 0:
 * none is left; -EBADMSG: what is there is no note. */
int fr_upnote_next(const void *notes, size_t sz, size_t *pos, struct fr_upnote *out);

#endif
