/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/rows_put.h"

#include <errno.h>
#include <string.h>

#define LAP_MOST 256u /* of a chunk: its header lists them */

static u32 lap_most(const struct fr_rows *r)
{
	u32 room = r->raw_cap / FR_PAGE_SZ;

	return room < LAP_MOST ? room : LAP_MOST;
}

/* Bytes of a row's record. */
static u32 rec_sz(const struct fr_row *row)
{
	return fr_batch_rec_sz(row->b, row->ev, row->k);
}

/* Where the last listed row ends in its lap. */
static u32 last_end(const struct fr_rows *r)
{
	const struct fr_pos_run *run = &r->run[r->run_cnt - 1];
	u32 first = r->rec[run->row];

	return run->off + (u32)(r->raw_sz - first);
}

/*
 * Is it behind the last listed row? That one may reach beyond the place of this one: a text that was replaced may be longer
 * than it was in the ring.
 */
static bool is_later(const struct fr_rows *r, u64 ts, u64 seq, u32 off)
{
	const struct fr_pos_run *run = &r->run[r->run_cnt - 1];
	u32 last = run->off + (r->rec[r->cnt - 1] - r->rec[run->row]);

	return ts >= r->ts[r->cnt - 1] && (seq > run->seq || (seq == run->seq && off > last));
}

bool fr_rows_takes_row(const struct fr_rows *r, const struct fr_row *row, u64 seq, u32 off)
{
	const struct fr_batch *b = row->b;

	if (!r->cnt)
		return true;
	if (r->epoch != b->epoch || r->cpu != b->cpu || r->tier != b->tier || r->raw_sz + FR_REC_MAX_SZ > r->raw_cap ||
	    r->cnt == fr_row_cap(r->raw_cap))
		return false;
	if (!is_later(r, row->ts, seq, off))
		return false;
	return r->lap_cnt < lap_most(r) || r->lap[r->lap_cnt - 1].seq == seq;
}

static void put_number(u8 *to, u64 v, u8 type)
{
	switch (type) {
	case FR_TYPE_u8:
	case FR_TYPE_s8:
		*to = v;
		break;
	case FR_TYPE_u16:
	case FR_TYPE_s16:
		memcpy(to, &(u16){v}, 2);
		break;
	case FR_TYPE_u32:
	case FR_TYPE_s32:
		memcpy(to, &(u32){v}, 4);
		break;
	default:
		memcpy(to, &v, 8);
	}
}

/* Returns whether it fits. */
static bool put_bits(u8 *rec, u64 v, const struct fr_field *f)
{
	u64 code = fr_bits_code(v, f->code, f->bit_cnt), bits = fr_get64(rec + FR_UNIT_SZ) | code << f->bit;

	memcpy(rec + FR_UNIT_SZ, &bits, sizeof(bits));
	return fr_bits_value(code, f->code, 0, f->bit_cnt) == v;
}

/* Text to the record's end is after all that has a fixed place; its NUL is already there. Returns whether it fits. */
static bool put_field(u8 *rec, const struct fr_row *row, const struct fr_field *f)
{
	const void *from;
	size_t len;

	switch (f->type) {
	case FR_TYPE_comm:
		memcpy(rec + f->off, row->b->type[row->ev->nr].col[f->col].text + (size_t)row->k * FR_COMM_SZ, FR_COMM_SZ);
		break;
	case FR_TYPE_array:
	case FR_TYPE_data:
		from = fr_row_bytes(row, f, &len);
		memcpy(rec + f->off, from, len);
		break;
	case FR_TYPE_str:
		from = fr_row_text(row, f, &len);
		memcpy(rec + f->off, from, len);
		break;
	case FR_TYPE_u64s:
		from = fr_row_nums(row, f, &len);
		memcpy(rec + f->off, from, len * 8);
		break;
	default:
		if (f->bit_cnt)
			return put_bits(rec, fr_row_num(row, f), f);
		put_number(rec + f->off, fr_row_num(row, f), f->type);
	}
	return true;
}

/* Write what a recorder would have written: length, flags and tid, fields. Returns whether that is possible. */
static bool put_record(u8 *rec, const struct fr_row *row, u32 sz)
{
	u64 head = fr_rec_head(row->ts, row->ev->nr, sz / FR_UNIT_SZ);
	bool fits = true;
	u32 i;

	memset(rec, 0, sz);
	memcpy(rec, &head, sizeof(head));
	memcpy(rec + sizeof(head), &row->tid, sizeof(row->tid));
	for (i = 0; i < row->ev->field_cnt; i++)
		if (row->ev->fields[i].kind != FR_KIND_DERIVED)
			fits &= put_field(rec, row, &row->ev->fields[i]);
	return fits;
}

/* A run continues where the previous record ends, for at most 4096 bytes, so that finding a place is a short walk. */
static bool put_goes_on(const struct fr_rows *r, u64 seq, u32 off)
{
	const struct fr_pos_run *run = r->cnt ? &r->run[r->run_cnt - 1] : NULL;

	return run && run->seq == seq && last_end(r) == off && run->off / FR_PAGE_SZ == off / FR_PAGE_SZ;
}

static void count_in_lap(struct fr_rows *r, u64 seq)
{
	if (!r->lap_cnt || r->lap[r->lap_cnt - 1].seq != seq)
		r->lap[r->lap_cnt++] = (struct fr_lap_rows){.seq = seq};
	r->lap[r->lap_cnt - 1].row_cnt++;
}

int fr_rows_put(struct fr_rows *r, const struct fr_row *row, u64 seq, u32 off)
{
	u32 sz = rec_sz(row);

	if (sz > FR_REC_MAX_SZ || sz < FR_REC_MIN_SZ || off % FR_UNIT_SZ || off >= FR_PLACE_MAX)
		return -EBADMSG;
	if (!fr_rows_takes_row(r, row, seq, off))
		return -ENOBUFS;
	if (!put_record(r->raw + r->raw_sz, row, sz))
		return -EBADMSG;
	if (!put_goes_on(r, seq, off))
		r->run[r->run_cnt++] = (struct fr_pos_run){.row = r->cnt, .off = off, .seq = seq};
	count_in_lap(r, seq);
	r->epoch = row->b->epoch;
	r->cpu = row->cpu;
	r->tier = row->tier;
	r->ts[r->cnt] = row->ts;
	r->tid[r->cnt] = row->tid;
	r->ev[r->cnt] = row->ev->nr;
	r->rec[r->cnt++] = r->raw_sz;
	r->raw_sz += sz;
	r->laps_sz += sz;
	r->rec_sz += sz;
	r->ring_sz += sz;
	return 0;
}
