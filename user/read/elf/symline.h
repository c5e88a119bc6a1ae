/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* symline: source lines, and functions inlined at an address, from a file's DWARF. Slow, so only on request. */
#ifndef FR_SYMLINE_H
#define FR_SYMLINE_H

#include <stdbool.h>

#include "types.h"

struct fr_symlines; /* opaque */

/* A function that contains the address. Texts live as long as the fr_symlines. */
struct fr_symline {
	const char *name; /* the linkage name if DWARF has it, else as in the source; NULL unknown */
	const char *file; /* source position at that address, NULL unknown */
	u32 line;	  /* 0 unknown */
	bool inlined;	  /* into the next one */
};

/* Like fr_symfile_open(). -EBADMSG: no DWARF. */
int fr_symlines_open(const char *root, const char *path, struct fr_symlines **out);
void fr_symlines_close(struct fr_symlines *l); /* NULL is fine */

/* The functions at a virtual address, innermost first. Returns how many, at most max; 0: unknown. */
u32 fr_symlines_find(struct fr_symlines *l, u64 vaddr, struct fr_symline *out, u32 max);

#endif
