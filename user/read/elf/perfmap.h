/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* perfmap: names code that a process generated at run time, from the map it writes for perf: "START SIZE NAME" lines. */
#ifndef FR_PERFMAP_H
#define FR_PERFMAP_H

#include <stddef.h>

#include "types.h"

/* An address, and the function it is in. */
struct fr_jit_sym {
	u64 addr;
	u64 begin, sz;
	char *name; /* NULL: in no function */
};

/*
 * Look up cnt addresses, ascending, with their other members 0, in the map fd. The map is untrusted: only a limited part is
 * read. The last line for an address counts. 0 or -errno; fr_perfmap_free() frees names.
 */
int fr_perfmap_find(int fd, struct fr_jit_sym *s, size_t cnt);
void fr_perfmap_free(struct fr_jit_sym *s, size_t cnt);

#endif
