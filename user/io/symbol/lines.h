/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lines: the lines of a file whose size is not known, /proc's or somebody's, in fixed memory. */
#ifndef FR_LINES_H
#define FR_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define FR_LINES_SZ 65536u /* a longer line comes in pieces */

struct fr_lines {
	int fd;
	u64 left; /* bytes that are still read: the caller's limit */
	int err;  /* -errno that ended it, 0: the end of the file, or of what is read */
	size_t at, end;
	char buf[FR_LINES_SZ + 1];
};

void fr_lines_init(struct fr_lines *l, int fd, u64 max_sz);

/* The next line, without its newline, terminated (a NUL in it ends it earlier). NULL at the end. It lives until the next call.
 */
char *fr_lines_next(struct fr_lines *l);

/* A number in hexadecimal, with or without 0x, that *at points to; *at is moved behind it. False: there is none, or it is too
 * large. */
bool fr_hex_u64(const char **at, u64 *v);

#endif
