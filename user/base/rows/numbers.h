/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One column of numbers, decoded: varints, constants, differences. A number that does not fit its type is refused. */
#ifndef FR_NUMBERS_H
#define FR_NUMBERS_H

#include <stdbool.h>

#include "base/schema/schema.h"

/* The numbers allowed in a column: with sign added, no bit of outside may be set. */
struct fr_fit {
	u64 sign, outside;
};

/* What fits an enum fr_type. Readers rely on it: they index by what they print. */
struct fr_fit fr_fit_of(u8 type);

/* The same for bits. */
struct fr_fit fr_fit_of_bits(const struct fr_field *f);

/*
 * Read cnt numbers that fit, from p on and before end. The bytes are untrusted; FR_VARINT_SLACK_SZ more are readable after
 * them. key: of each row, NULL if there are none. Returns where the next column begins, NULL: they are wrong.
 */
const u8 *fr_numbers_get(const u8 *p, const u8 *end, const u8 *key, struct fr_fit fit, u64 *out, u32 cnt);

/* Skip cnt numbers of a type that any number fits (u64, s64, text8), refusing what fr_numbers_get() refuses. */
const u8 *fr_numbers_skip(const u8 *p, const u8 *end, bool has_key, u32 cnt);

#endif
