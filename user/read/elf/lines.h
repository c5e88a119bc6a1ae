/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lines: the lines of a file of unknown size, from /proc or untrusted, in fixed memory. */
#ifndef FR_LINES_H
#define FR_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define FR_LINES_SZ 65536u /* longer lines come in pieces */

struct fr_lines {
	int fd;
	u64 left; /* bytes that may still be read: the caller's limit */
	int err;  /* -errno that ended it; 0: end of the file, or of the limit */
	size_t at, end;
	char buf[FR_LINES_SZ + 1];
};

/* Begin to read fd, which stays the caller's, from where it is; at most max_sz bytes. */
void fr_lines_init(struct fr_lines *l, int fd, u64 max_sz);

/*
 * The next line, without its newline, NUL-terminated (a NUL in it ends it early). NULL at the end. Valid until the next call.
 */
char *fr_lines_next(struct fr_lines *l);

/* Parse a hexadecimal number, with or without 0x, at *at and move *at past it. False: there is none, or it is too large. */
bool fr_hex_u64(const char **at, u64 *v);

#endif
