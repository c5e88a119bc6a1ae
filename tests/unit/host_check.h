/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* host_check: is a row of a snapshot the record that was written to a ring of host_ring.h? */
#ifndef FR_HOST_CHECK_H
#define FR_HOST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host_ring.h"

static size_t text_room(const struct fr_field *f, const struct host_rec *rec)
{
	return f->type == FR_TYPE_comm ? FR_COMM_SZ : f->type == FR_TYPE_text8 ? 8 : rec->sz - f->off;
}

/* What the record's bits say of it. */
static u64 bits_of(const struct fr_field *f, const struct host_rec *rec)
{
	u64 word, code;

	memcpy(&word, rec->bytes + 8, 8);
	code = word >> f->bit & ((1ULL << f->bit_cnt) - 1);
	if (f->code == FR_CODE_ONEBIT && code)
		return 1ULL << (code - 1);
	return f->code == FR_CODE_LESS1 ? code - 1 : code;
}

/* Is the field of a row what its record said? */
static void check_field(const struct fr_row *row, const struct fr_field *f, const struct host_rec *rec)
{
	const u8 *p = rec->bytes + f->off;
	s16 v16;
	s32 v32;
	const void *back;
	u64 v = 0;
	size_t n;

	if (f->bit_cnt) {
		assert_int_equal(fr_row_num(row, f), bits_of(f, rec));
		return;
	}
	switch (f->type) {
	case FR_TYPE_comm:
	case FR_TYPE_text8:
	case FR_TYPE_str:
		back = fr_row_text(row, f, &n);
		assert_int_equal(n, strnlen((const char *)p, text_room(f, rec)));
		assert_memory_equal(back, p, n);
		return;
	case FR_TYPE_u64s:
		back = fr_row_nums(row, f, &n);
		assert_int_equal(n, (rec->sz - f->off) / 8);
		assert_memory_equal(back, p, n * 8);
		return;
	case FR_TYPE_s16:
		memcpy(&v16, p, 2);
		v = v16;
		break;
	case FR_TYPE_s32:
		memcpy(&v32, p, 4);
		v = v32;
		break;
	default:
		memcpy(&v, p, f->type == FR_TYPE_u8 ? 1 : f->type == FR_TYPE_u16 ? 2 : f->type == FR_TYPE_u32 ? 4 : 8);
	}
	assert_int_equal(fr_row_num(row, f), v);
}

static void check_row(const struct fr_row *row, const struct host_rec *rec)
{
	u32 i, off, task;
	u64 seq;

	memcpy(&task, rec->bytes + 8, 4);
	fr_row_pos(row, &seq, &off);
	assert_int_equal(row->ts, rec->ts);
	assert_int_equal(row->ev->nr, rec->bytes[1]);
	assert_int_equal(row->tid, task & FR_TID_MASK);
	assert_int_equal(seq, rec->seq);
	assert_int_equal(off, host_place(rec));
	for (i = 0; i < row->ev->field_cnt; i++)
		if (row->ev->fields[i].kind != FR_KIND_DERIVED)
			check_field(row, &row->ev->fields[i], rec);
}

#endif
