/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* digits: numbers and short texts, written where the caller has room. What writes returns the end of what it wrote. Pure. */
#ifndef FR_DIGITS_H
#define FR_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "types.h"

#define FR_DIGITS_DEC_SZ 24u /* room needed for any number */
#define FR_DIGITS_HEX_SZ 18u /* the same, 0x included */
#define FR_COPY_MOST_SZ	 32u

#define FR_DIGITS_ONES 0x0101010101010101ULL
#define FR_DIGITS_1E8  100000000ULL

extern const u64 fr_digit_powers[20]; /* 10^i; [0]: 0 */

/* How many digits v has. */
static inline u32 fr_digits_cnt(u64 v)
{
	u32 log = (64 - __builtin_clzll(v | 1)) * 1233 >> 12; /* of base 10, or one more than that */

	return log + (v >= fr_digit_powers[log]);
}

/* The eight decimal digits of v (below 10^8) as numbers, the first one in the lowest byte: halved repeatedly, side by side. */
static inline u64 fr_digits_split8(u32 v)
{
	u64 x = v / 10000 | (u64)(v % 10000) << 32, high;

	high = x * 10486 >> 20 & 0x0000007f0000007f; /* / 100 */
	x = high | (x - high * 100) << 16;
	high = x * 103 >> 10 & 0x000f000f000f000f; /* / 10 */
	return high | (x - high * 10) << 8;
}

static inline char *fr_digits_8(char *p, u32 v)
{
	u64 x = fr_digits_split8(v) | '0' * FR_DIGITS_ONES;

	memcpy(p, &x, 8);
	return p + 8;
}

/* The nine digits of v, which is below 10^9. */
static inline char *fr_digits_9(char *p, u32 v)
{
	*p = '0' + v / FR_DIGITS_1E8;
	return fr_digits_8(p + 1, v % FR_DIGITS_1E8);
}

/* v below 10^8. Eight bytes are written. */
static inline char *fr_digits_short(char *p, u32 v)
{
	u64 x = fr_digits_split8(v);
	u32 zeros = __builtin_ctzll(x | 1ULL << 56) / 8;

	x = (x | '0' * FR_DIGITS_ONES) >> 8 * zeros;
	memcpy(p, &x, 8);
	return p + 8 - zeros;
}

/* FR_DIGITS_DEC_SZ bytes must be writable, whatever the number. */
static inline char *fr_digits_dec(char *p, u64 v)
{
	if (v < 10) {
		*p = '0' + v;
		return p + 1;
	}
	if (v < FR_DIGITS_1E8)
		return fr_digits_short(p, v);
	if (v < FR_DIGITS_1E8 * FR_DIGITS_1E8)
		return fr_digits_8(fr_digits_short(p, v / FR_DIGITS_1E8), v % FR_DIGITS_1E8);
	p = fr_digits_short(p, v / FR_DIGITS_1E8 / FR_DIGITS_1E8);
	p = fr_digits_8(p, v / FR_DIGITS_1E8 % FR_DIGITS_1E8);
	return fr_digits_8(p, v % FR_DIGITS_1E8);
}

/* The eight hexadecimal digits of v, the first one in the lowest byte. */
static inline u64 fr_digits_hex8(u32 v)
{
	u64 x = v;

	x = (x << 32 | x >> 16) & 0x0000ffff0000ffff;
	x = (x >> 8 & 0x000000ff000000ff) | (x & 0x000000ff000000ff) << 16;
	x = (x >> 4 & 0x000f000f000f000f) | (x & 0x000f000f000f000f) << 8;
	return x + '0' * FR_DIGITS_ONES + ((x + 6 * FR_DIGITS_ONES) >> 4 & FR_DIGITS_ONES) * ('a' - '0' - 10);
}

/* 0x1f. FR_DIGITS_HEX_SZ bytes are written, whatever the number. */
static inline char *fr_digits_hex(char *p, u64 v)
{
	u32 cnt = (67 - __builtin_clzll(v | 1)) / 4;
	u64 digits;

	memcpy(p, "0x", 2);
	v <<= 64 - 4 * cnt;
	digits = fr_digits_hex8(v >> 32);
	memcpy(p + 2, &digits, 8);
	if (cnt > 8) {
		digits = fr_digits_hex8(v);
		memcpy(p + 10, &digits, 8);
	}
	return p + 2 + cnt;
}

/* The value of a hexadecimal digit, -1: it is none. */
static inline int fr_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that the two hexadecimal digits at s are, -1: they are none. What ends a text is none: nothing is read behind it. */
static inline int fr_hex_byte(const char *s)
{
	int high = fr_hex_digit(s[0]), low = high < 0 ? -1 : fr_hex_digit(s[1]);

	return low < 0 ? -1 : high << 4 | low;
}

/* The bytes that the pairs of hexadecimal digits at s are, up to the first that is none. Returns how many, at most max. */
static inline u32 fr_hex_bytes(const char *s, u8 *to, u32 max)
{
	u32 cnt;

	for (cnt = 0; cnt < max && fr_hex_byte(s) >= 0; s += 2)
		to[cnt++] = fr_hex_byte(s);
	return cnt;
}

/* Copy up to FR_COPY_MOST_SZ bytes: quicker than memcpy(), which first has to find the best way. */
static inline char *fr_copy_short(char *to, const char *from, size_t sz)
{
	if (sz >= 16) {
		memcpy(to, from, 16);
		memcpy(to + sz - 16, from + sz - 16, 16);
	} else if (sz >= 8) {
		memcpy(to, from, 8);
		memcpy(to + sz - 8, from + sz - 8, 8);
	} else if (sz >= 4) {
		memcpy(to, from, 4);
		memcpy(to + sz - 4, from + sz - 4, 4);
	} else if (sz) {
		to[0] = from[0];
		to[sz / 2] = from[sz / 2];
		to[sz - 1] = from[sz - 1];
	}
	return to + sz;
}

/* Compare two texts of up to 16 bytes, as quickly. */
static inline bool fr_same_short(const char *a, const char *b, size_t sz)
{
	u64 x[2] = {0}, y[2] = {0};

	if (sz >= 8) {
		memcpy(x, a, 8);
		memcpy(x + 1, a + sz - 8, 8);
		memcpy(y, b, 8);
		memcpy(y + 1, b + sz - 8, 8);
	} else {
		fr_copy_short((char *)x, a, sz);
		fr_copy_short((char *)y, b, sz);
	}
	return x[0] == y[0] && x[1] == y[1];
}

#endif
