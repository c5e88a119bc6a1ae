/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* symline: source lines, and functions inlined around an address, from a file's DWARF. Slow: for who asks for it. */
#ifndef FR_SYMLINE_H
#define FR_SYMLINE_H

#include <stdbool.h>

#include "types.h"

struct fr_symlines; /* opaque */

/* A function that the address is in. Texts live as long as the fr_symlines. */
struct fr_symline {
	const char *name; /* as linkers know it if DWARF tells, else as it was written; NULL unknown */
	const char *file; /* where in the source it is at that address, NULL unknown */
	u32 line;	  /* 0 unknown */
	bool inlined;	  /* into the next one */
};

/* As fr_symfile_open(). -EBADMSG: no DWARF. */
int fr_symlines_open(const char *root, const char *path, struct fr_symlines **out);
void fr_symlines_close(struct fr_symlines *l); /* NULL is fine */

/* The functions at a virtual address, the innermost first: how many of them, max at most; 0: nothing is known. */
u32 fr_symlines_find(struct fr_symlines *l, u64 vaddr, struct fr_symline *out, u32 max);

#endif
