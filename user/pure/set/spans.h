/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* spans: a set of numbers as spans of them, apart and in order: which laps there are, and which are missing. Pure. */
#ifndef FR_SPANS_H
#define FR_SPANS_H

#include <stddef.h>

#include "types.h"

struct fr_span {
	u64 first, last; /* both inclusive */
};

/* Zero it before use; read it as you like. */
struct fr_spans {
	struct fr_span *span;
	size_t cnt, cap;
};

void fr_spans_free(struct fr_spans *s);

/* Add all numbers from first to last; take them away. Nothing if last < first. 0 or -ENOMEM. */
int fr_spans_add(struct fr_spans *s, u64 first, u64 last);
int fr_spans_cut(struct fr_spans *s, u64 first, u64 last);

#endif
