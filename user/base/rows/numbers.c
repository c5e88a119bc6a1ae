/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/numbers.h"

#include <string.h>

#include "base/rows/columns.h"

static u64 mask_of(u8 type)
{
	switch (type) {
	case FR_TYPE_u8:
		return 0xff;
	case FR_TYPE_u16:
		return 0xffff;
	case FR_TYPE_u32:
		return 0xffffffff;
	default:
		return ~0ULL;
	}
}

/* Bits above a signed type's sign must repeat it. */
static u64 sign_of(u8 type)
{
	return type == FR_TYPE_s8 ? 1ULL << 7 : type == FR_TYPE_s16 ? 1ULL << 15 : type == FR_TYPE_s32 ? 1ULL << 31 : 0;
}

struct fr_fit fr_fit_of(u8 type)
{
	u64 sign = sign_of(type);

	return (struct fr_fit){.sign = sign, .outside = sign ? ~(2 * sign - 1) : ~mask_of(type)};
}

/*
 * LESS1 is compared with its bits after adding 1. That ONEBIT has only one bit set is checked when a record is made:
 * rows_put.c.
 */
struct fr_fit fr_fit_of_bits(const struct fr_field *f)
{
	u32 cnt = f->code == FR_CODE_ONEBIT ? (1u << f->bit_cnt) - 1 : f->bit_cnt;

	return (struct fr_fit){.sign = f->code == FR_CODE_LESS1, .outside = ~((1ULL << cnt) - 1)};
}

/* These return the bits that are set with sign added: what is outside is checked once, at the end. */

static u64 check_plain(const u64 *val, u32 cnt, u64 sign)
{
	u64 bits = 0;
	u32 i;

	for (i = 0; i < cnt; i++)
		bits |= val[i] + sign;
	return bits;
}

static u64 undo_zigzag(u64 *val, u32 cnt, u64 sign)
{
	u64 bits = 0;
	u32 i;

	for (i = 0; i < cnt; i++) {
		val[i] = fr_unzigzag(val[i]);
		bits |= val[i] + sign;
	}
	return bits;
}

static u64 undo_delta(u64 *val, u32 cnt, u64 sign)
{
	u64 prev = 0, bits = 0;
	u32 i;

	for (i = 0; i < cnt; i++) {
		val[i] = prev += fr_unzigzag(val[i]);
		bits |= prev + sign;
	}
	return bits;
}

static u64 undo_rising(u64 *val, u32 cnt, u64 sign)
{
	u64 prev = 0, bits = 0;
	u32 i;

	for (i = 0; i < cnt; i++) {
		val[i] = prev += val[i];
		bits |= prev + sign;
	}
	return bits;
}

static u64 undo_keyed(u64 *val, const u8 *key, u32 cnt, u64 sign)
{
	u64 last[FR_KEY_CNT] = {}, bits = 0;
	u32 i;

	for (i = 0; i < cnt; i++) {
		val[i] = last[key[i]] += fr_unzigzag(val[i]);
		bits |= val[i] + sign;
	}
	return bits;
}

static u64 numbers_fill(u64 *out, u64 v, u32 cnt, u64 sign)
{
	u32 i;

	for (i = 0; i < cnt; i++)
		out[i] = v;
	return v + sign;
}

static bool undo_form(u8 form, const u8 *key, struct fr_fit fit, u64 *val, u32 cnt)
{
	u64 bits;

	switch (form) {
	case FR_FORM_PLAIN:
		bits = fit.outside ? check_plain(val, cnt, fit.sign) : 0;
		break;
	case FR_FORM_SIGNED:
		bits = undo_zigzag(val, cnt, fit.sign);
		break;
	case FR_FORM_DELTA:
		bits = undo_delta(val, cnt, fit.sign);
		break;
	case FR_FORM_RISING:
		bits = undo_rising(val, cnt, fit.sign);
		break;
	case FR_FORM_KEYED:
		if (!key)
			return false;
		bits = undo_keyed(val, key, cnt, fit.sign);
		break;
	default:
		return false;
	}
	return !(bits & fit.outside);
}

/* CONST and WIDE: no varints. */
static const u8 *get_wide(const u8 *p, const u8 *end, bool is_const, struct fr_fit fit, u64 *out, u32 cnt)
{
	size_t sz = is_const ? 8 : 8 * (size_t)cnt;
	u64 bits;

	if (sz > (size_t)(end - p))
		return NULL;
	if (is_const) {
		bits = numbers_fill(out, fr_get64(p), cnt, fit.sign);
	} else {
		memcpy(out, p, sz);
		bits = fit.outside ? check_plain(out, cnt, fit.sign) : 0;
	}
	return bits & fit.outside ? NULL : p + sz;
}

const u8 *fr_numbers_get(const u8 *p, const u8 *end, const u8 *key, struct fr_fit fit, u64 *out, u32 cnt)
{
	u8 form;

	if (!cnt)
		return p;
	if (p >= end)
		return NULL;
	form = *p++;
	if (form == FR_FORM_CONST || form == FR_FORM_WIDE)
		return get_wide(p, end, form == FR_FORM_CONST, fit, out, cnt);
	p = fr_varint_get_all(p, end, out, cnt);
	return p && undo_form(form, key, fit, out, cnt) ? p : NULL;
}

const u8 *fr_numbers_skip(const u8 *p, const u8 *end, bool has_key, u32 cnt)
{
	u64 wide_sz;
	u8 form;

	if (!cnt)
		return p;
	if (p >= end)
		return NULL;
	form = *p++;
	if (form == FR_FORM_CONST || form == FR_FORM_WIDE) {
		wide_sz = form == FR_FORM_CONST ? 8 : 8 * (u64)cnt;
		return wide_sz <= (u64)(end - p) ? p + wide_sz : NULL;
	}
	if (form >= FR_FORM_CNT || (form == FR_FORM_KEYED && !has_key))
		return NULL;
	return fr_varint_skip_all(p, end, cnt);
}
