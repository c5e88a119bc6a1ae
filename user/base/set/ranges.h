/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ranges: lists of numbers, as in options: 0,2-3,8. Pure. */
#ifndef FR_RANGES_H
#define FR_RANGES_H

#include <stdbool.h>

#include "types.h"

#define FR_RANGE_MAX 256u

struct fr_ranges {
	u32 cnt;
	struct {
		u32 from, to; /* both inclusive */
	} range[FR_RANGE_MAX];
};

/* Returns 0 and *r, or -EINVAL: not such a list, or too long. */
int fr_ranges_parse(const char *text, struct fr_ranges *r);

/* Is v in one of them? */
bool fr_ranges_have(const struct fr_ranges *r, u32 v);

#endif
