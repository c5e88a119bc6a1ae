/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bit_code: how a number of a field is coded in few bits. bits.h has the fields of each event.
 */
#ifndef FR_BIT_CODE_H
#define FR_BIT_CODE_H

#include "types.h"

#define FR_BITS_REC_SZ 16u   /* of an event whose fields are BITS: head and bits */
#define FR_CPU_MAX     4096u /* largest number of CPUs: CPU numbers have 12 bits */

/* How a number is coded: BITS(..., code, ...). */
enum fr_code { FR_CODE_PLAIN, FR_CODE_LESS1, FR_CODE_ONEBIT, FR_CODE_CNT };

/* ONEBIT: the number of the highest bit that has a code, from 1. */
FR_INLINE u64 fr_onebit_code(u64 value)
{
	u64 code = 2;

	if (value <= 2)
		return value;
	for (value &= 0x7fff; value > 3; value >>= 1)
		code++;
	return code;
}

FR_INLINE u64 fr_bits_code(u64 value, enum fr_code code, u32 cnt)
{
	value = code == FR_CODE_LESS1 ? value + 1 : code == FR_CODE_ONEBIT ? fr_onebit_code(value) : value;
	return value & ((1ULL << cnt) - 1);
}

/* The number again, signed ones extended to 64 bits. */
FR_INLINE u64 fr_bits_value(u64 bits, enum fr_code code, u32 shift, u32 cnt)
{
	u64 value = bits >> shift & ((1ULL << cnt) - 1);

	if (code == FR_CODE_ONEBIT)
		return value ? 1ULL << (value - 1) : 0;
	return code == FR_CODE_LESS1 ? value - 1 : value;
}

#endif
