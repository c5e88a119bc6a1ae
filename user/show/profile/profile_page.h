/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* profile_page: building blocks of profile pages. */
#ifndef FR_PROFILE_PAGE_H
#define FR_PROFILE_PAGE_H

#include "show/profile/profile.h"

u32 fr_profile_width(const struct fr_profile *p); /* columns */
void fr_profile_title(struct fr_out *o, const char *title);
double fr_profile_percent(u64 part, u64 whole);

/* A function and, if there is room, the name of its file; at most room columns. */
void fr_profile_name(struct fr_out *o, const struct fr_profile_func *f, u32 room);

/* The rest of a line: the duration, and the number of samples. */
void fr_profile_window(struct fr_profile *p, const struct fr_profile_sum *s);

/* Long waits that have no record, since the session began. */
u64 fr_profile_unrecorded(const struct fr_snap *snap);

/* Where tasks were blocked, as text. */
void fr_profile_blocked(struct fr_profile *p);

/* Its frames, innermost first, one per line. */
void fr_profile_put_stack(struct fr_profile *p, const struct fr_profile_stack *s);

#endif
