/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memfile: a stream that gathers text in memory. As open_memstream(), but what finds no memory is an error that the end tells:
 * a stream of glibc's forgets it, and the text lacks a part in its midst. Pure.
 */
#ifndef FR_MEMFILE_H
#define FR_MEMFILE_H

#include <stddef.h>
#include <stdio.h>

#include "base/set/vec.h"

struct fr_memfile {
	FILE *f; /* NULL: not open */
	struct fr_vec text;
};

/* The stream, which only fr_memfile_end() may close; it has no position. NULL: no memory. */
FILE *fr_memfile_open(struct fr_memfile *m);

/* Close it. The text, malloc'ed, with a NUL that *sz (or NULL) does not count; NULL: part of it found no memory. */
char *fr_memfile_end(struct fr_memfile *m, size_t *sz);

#endif
