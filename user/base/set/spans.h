/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* spans: a set of numbers as separate spans in order: which laps are there, and which are missing. Pure. */
#ifndef FR_SPANS_H
#define FR_SPANS_H

#include <stddef.h>

#include "types.h"

struct fr_span {
	u64 first, last; /* both inclusive */
};

/* Zero it before use; its members may be read. */
struct fr_spans {
	struct fr_span *span;
	size_t cnt, cap;
};

/* Free what it holds, but not s itself. */
void fr_spans_free(struct fr_spans *s);

/* Add, or remove, all numbers from first to last. Nothing if last < first. Returns 0 or -ENOMEM. */
int fr_spans_add(struct fr_spans *s, u64 first, u64 last);
int fr_spans_cut(struct fr_spans *s, u64 first, u64 last);

#endif
