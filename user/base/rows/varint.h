/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * varint: numbers in 0 to 8 bytes, their lengths stored separately.
 *
 *	lengths	4 bits a number, the first in the low half of a byte; an odd count leaves the last half 0
 *	bytes	of each number as many of its low bytes as its length says, little-endian
 *
 * A number's place depends on lengths alone. So reading one takes a load and a mask and waits for no other number, and sixteen
 * zeros, the usual thing after good prediction, are one comparison. Compared with a length in the number's first byte (1 to 9
 * bytes), it was 1.4 % smaller after zstd and read 1.5 times as fast; docs/format.md has the figures. Pure.
 */
#ifndef FR_VARINT_H
#define FR_VARINT_H

#include <stdbool.h>
#include <string.h>

#include "types.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files and rings are little-endian");

#define FR_VARINT_BLOCK 16u /* numbers read between two checks of the end: as many as a word has lengths */

/* Bytes that must be readable after what is decoded: a block of numbers of 15 bytes, as a bad length may say, and a word. */
#define FR_VARINT_SLACK_SZ (FR_VARINT_BLOCK * 15u + 8u)

FR_INLINE u64 fr_get64(const u8 *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

FR_INLINE void fr_put64(u8 *p, u64 v)
{
	memcpy(p, &v, sizeof(v));
}

/* Small negative numbers become small: 0, -1, 1, -2 ... become 0, 1, 2, 3 ... */
FR_INLINE u64 fr_zigzag(u64 v)
{
	return v << 1 ^ -(v >> 63);
}

FR_INLINE u64 fr_unzigzag(u64 v)
{
	return v >> 1 ^ -(v & 1);
}

/* Bytes of v without its length: 0 for 0. */
FR_INLINE u32 fr_varint_sz(u64 v)
{
	return v ? (71 - __builtin_clzll(v)) / 8 : 0;
}

/* The most bytes that cnt numbers take, and that may be written after them. */
FR_INLINE size_t fr_varint_max_sz(size_t cnt)
{
	return (cnt + 1) / 2 + cnt * 8 + 8;
}

/* Bytes that cnt numbers take. */
static inline size_t fr_varint_all_sz(const u64 *val, u32 cnt)
{
	size_t sz = (cnt + 1) / 2;
	u32 i;

	for (i = 0; i < cnt; i++)
		sz += fr_varint_sz(val[i]);
	return sz;
}

/* Write cnt numbers to p, of fr_varint_max_sz(cnt) bytes. Returns their end. */
static inline u8 *fr_varint_put_all(u8 *p, const u64 *val, u32 cnt)
{
	u8 *bytes = p + (cnt + 1) / 2;
	u32 i;

	memset(p, 0, (cnt + 1) / 2);
	for (i = 0; i < cnt; i++) {
		u32 sz = fr_varint_sz(val[i]);

		p[i / 2] |= sz << i % 2 * 4;
		fr_put64(bytes, val[i]);
		bytes += sz;
	}
	return bytes;
}

/* Does a word of 16 lengths have one over 8: the highest bit and any other? */
FR_INLINE u64 fr_varint_bad(u64 lengths)
{
	return lengths & 0x8888888888888888ULL & (lengths << 1 | lengths << 2 | lengths << 3);
}

/*
 * Read cnt numbers from p to out. FR_VARINT_SLACK_SZ bytes after end must be readable. Returns their end, NULL if they extend
 * past end or a length is invalid.
 */
static inline const u8 *fr_varint_get_all(const u8 *p, const u8 *end, u64 *out, u32 cnt)
{
	static const u64 mask[16] = {
		0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, 0xffffffffffffffff,
	};
	const u8 *bytes = p + (cnt + 1) / 2;
	u64 bad = 0;
	u32 i, k;

	if ((size_t)(end - p) < (cnt + 1) / 2)
		return NULL;
	for (i = 0; i + FR_VARINT_BLOCK <= cnt && bytes <= end; i += FR_VARINT_BLOCK) {
		u64 lengths = fr_get64(p + i / 2);

		if (!lengths) {
			memset(out + i, 0, FR_VARINT_BLOCK * sizeof(*out));
			continue;
		}
		bad |= fr_varint_bad(lengths);
#pragma GCC unroll 16
		for (k = 0; k < FR_VARINT_BLOCK; k++, lengths >>= 4) {
			out[i + k] = fr_get64(bytes) & mask[lengths & 15];
			bytes += lengths & 15;
		}
	}
	for (; i < cnt && bytes <= end; i++) {
		u32 sz = p[i / 2] >> i % 2 * 4 & 15;

		bad |= sz > 8;
		out[i] = fr_get64(bytes) & mask[sz];
		bytes += sz;
	}
	return !bad && i == cnt && bytes <= end ? bytes : NULL;
}

/* Bytes of 16 numbers with these lengths. */
FR_INLINE u32 fr_varint_sum(u64 lengths)
{
	u64 pairs = (lengths & 0x0f0f0f0f0f0f0f0fULL) + (lengths >> 4 & 0x0f0f0f0f0f0f0f0fULL);

	return pairs * 0x0101010101010101ULL >> 56;
}

/* Skip cnt numbers from p on, to find where they end. Returns as fr_varint_get_all(). */
static inline const u8 *fr_varint_skip_all(const u8 *p, const u8 *end, u32 cnt)
{
	const u8 *bytes = p + (cnt + 1) / 2;
	u64 bad = 0, sz = 0;
	u32 i;

	if ((size_t)(end - p) < (cnt + 1) / 2)
		return NULL;
	for (i = 0; i < cnt; i += FR_VARINT_BLOCK) {
		u64 lengths = fr_get64(p + i / 2);

		if (cnt - i < FR_VARINT_BLOCK)
			lengths &= (1ULL << (cnt - i) * 4) - 1;
		bad |= fr_varint_bad(lengths);
		sz += fr_varint_sum(lengths);
	}
	return !bad && sz <= (size_t)(end - bytes) ? bytes + sz : NULL;
}

#endif
