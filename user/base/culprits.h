/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* culprits: the sum of what each of them caused, by their names. Later ones that find no room are counted together. */
#ifndef FR_CULPRITS_H
#define FR_CULPRITS_H

#include "base/show/table.h"

#define FR_CULPRIT_MAX	   256u
#define FR_CULPRIT_NAME_SZ 64u

struct fr_culprit {
	char name[FR_CULPRIT_NAME_SZ];
	u64 cnt, sum_ns, max_ns;
};

/* All zero: none. */
struct fr_culprits {
	struct fr_culprit of[FR_CULPRIT_MAX];
	u32 cnt;
	u64 other_cnt; /* times that a culprit without room did it */
};

/* It kept others waiting for so long. What does not fit of a name is cut off. */
void fr_culprits_add(struct fr_culprits *c, const char *name, u64 length_ns);

/* Those that took most come first; of equal ones, by name. */
void fr_culprits_sort(struct fr_culprits *c);

/* For people: the first ten, and how many more. Nothing if there are none. */
void fr_culprits_text(const struct fr_culprits *c, struct fr_out *o);

extern const struct fr_table fr_culprits_kind; /* struct fr_culprits */

#endif
