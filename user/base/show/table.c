/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/show/table.h"

/* A member may be in memory that others write to: it is read once. */
static u64 column_unsigned(const void *p, size_t sz)
{
	switch (sz) {
	case 1:
		return __atomic_load_n((const u8 *)p, __ATOMIC_RELAXED);
	case 2:
		return __atomic_load_n((const u16 *)p, __ATOMIC_RELAXED);
	case 4:
		return __atomic_load_n((const u32 *)p, __ATOMIC_RELAXED);
	default:
		return __atomic_load_n((const u64 *)p, __ATOMIC_RELAXED);
	}
}

static s64 column_signed(const void *p, size_t sz)
{
	u32 unused = 64 - 8 * sz;

	return (s64)(column_unsigned(p, sz) << unused) >> unused;
}

struct fr_value fr_column_member(const struct fr_at *at, const void *rec)
{
	const struct fr_column *c = at->column;
	const void *p = (const char *)rec + c->off;

	switch (c->from) {
	case FR_FROM_UNSIGNED:
		return fr_value_nr(column_unsigned(p, c->sz));
	case FR_FROM_SIGNED:
		return fr_value_snr(column_signed(p, c->sz));
	case FR_FROM_BOOL:
		return fr_value_bool(*(const bool *)p);
	case FR_FROM_REAL:
		return fr_value_real(*(const double *)p);
	case FR_FROM_TEXT:
		return fr_value_text(*(const char *const *)p);
	case FR_FROM_CHARS:
		return fr_value_mem(p, strnlen(p, c->sz));
	case FR_FROM_HIST:
		return (struct fr_value){.kind = FR_VALUE_HIST, .hist = p};
	case FR_FROM_SUM:
		return fr_value_nr(fr_hist_sum(p));
	case FR_FROM_CNT:
		return fr_value_nr(((const struct fr_hist *)p)->cnt);
	case FR_FROM_MEAN:
		return fr_value_nr(fr_hist_mean(p));
	case FR_FROM_P50:
		return fr_value_nr(fr_hist_quantile(p, 500000));
	case FR_FROM_P99:
		return fr_value_nr(fr_hist_quantile(p, 990000));
	case FR_FROM_MAX:
		return fr_value_nr(((const struct fr_hist *)p)->max);
	}
	return fr_value_absent();
}

struct fr_value fr_column_value(const struct fr_at *at)
{
	return at->column->get ? at->column->get(at) : fr_column_member(at, at->rec);
}

const void *fr_column_part(const struct fr_at *at, u32 i)
{
	const struct fr_column *c = at->column;

	if (c->find)
		return c->find(at, i);
	return i ? NULL : (const char *)at->rec + c->off;
}

const void *fr_one_part(const struct fr_at *at, u32 i)
{
	const struct fr_one *one = at->rec;

	return i || one->kind != at->column->kind ? NULL : one->rec;
}

struct fr_value fr_one_name(const struct fr_at *at)
{
	return fr_value_text(((const struct fr_one *)at->rec)->kind->name);
}
