/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* utf8: characters in bytes that anybody can choose, and those that a line of text must not show as they are. */
#ifndef FR_UTF8_H
#define FR_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

/* Bytes of the valid UTF-8 character at s (sz left, at least 1), 0: not valid. No surrogates, no overlong forms. */
size_t fr_utf8_len(const char *s, size_t sz);

/* Its code point; len as returned by fr_utf8_len(). */
u32 fr_utf8_char(const char *s, size_t len);

/*
 * Must a line not show it as it is? Controls (C0, DEL, C1), which terminals obey; what ends a line or changes the direction of
 * writing; and what is invisible, so that two names look the same.
 */
bool fr_utf8_is_sly(u32 ch);

/* The columns that a terminal shows it in: 0 to 2. */
u32 fr_utf8_cols(u32 ch);

#endif
