/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* profile_page: the pieces that pages about profiles are made of. */
#ifndef FR_PROFILE_PAGE_H
#define FR_PROFILE_PAGE_H

#include "flow/profile/profile.h"

u32 fr_profile_width(const struct fr_profile *p); /* columns */
void fr_profile_title(struct fr_out *o, const char *title);
double fr_profile_percent(u64 part, u64 whole);

/* A function and, where there is room, its file's name; at most room columns of it. */
void fr_profile_name(struct fr_out *o, const struct fr_profile_func *f, u32 room);

/* How long, and how much was taken: the rest of a line. */
void fr_profile_window(struct fr_profile *p, const struct fr_profile_sum *s);

/* Its frames, innermost first, a line each. */
void fr_profile_put_stack(struct fr_profile *p, const struct fr_profile_stack *s);

/* All functions in an order: malloc'ed pointers, NULL: no memory. */
struct fr_profile_func **fr_profile_sorted(const struct fr_profile *p, int (*compare)(const void *, const void *));

#endif
