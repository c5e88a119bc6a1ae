/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * regex: POSIX extended regular expressions, of bounded size and without back-references, on texts without a NUL at the end.
 * Pure.
 */
#ifndef FR_REGEX_H
#define FR_REGEX_H

#include <stdbool.h>
#include <stddef.h>

struct fr_regex; /* opaque */

/* Returns 0 and *out (fr_regex_free), -EINVAL with what is wrong in why[why_sz], or -ENOMEM. pattern is sz bytes. */
int fr_regex_new(const char *pattern, size_t sz, bool ignores_case, struct fr_regex **out, char *why, size_t why_sz);
void fr_regex_free(struct fr_regex *r); /* NULL is fine */

/* Is there a match anywhere in the text? */
bool fr_regex_match(const struct fr_regex *r, const char *text, size_t len);

#endif
