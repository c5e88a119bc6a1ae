/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Columns to a batch. The bytes are untrusted: each length is checked against the content's end, each count against the
 * bytes of its records, unfolded, which bounds the memory before it is allocated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows/columns.h"
#include "base/rows/numbers.h"

/* A batch's memory: one block, cut from the front, kept from chunk to chunk. */
struct arena {
	size_t cap, used;
	u8 mem[];
};

/* What is being decoded. */
struct decode {
	const struct fr_rows_head *head;
	struct fr_batch *b;
	struct arena *arena;
	const u8 *p, *end;
	u64 *tmp;      /* numbers of a column, before they get to their place */
	u8 *key;       /* keys of the rows of a type */
	u8 *sub_key;   /* keys of the rows that have a number at some place */
	u64 tail_left; /* bytes that texts and arrays of the records may still take */
};

static const struct fr_fit any_number;

int fr_event_key_col(const struct fr_event *ev)
{
	u32 i;

	for (i = 0; i < ev->field_cnt; i++)
		if (ev->fields[i].kind == FR_KIND_FIELD)
			return ev->fields[i].type <= FR_TYPE_s64 ? ev->fields[i].col : -1;
	return -1;
}

/* ---- memory ---- */

static size_t aligned(size_t sz)
{
	return (sz + 15) & ~(size_t)15;
}

static void *decode_take(struct decode *d, size_t sz)
{
	void *p = d->arena->mem + d->arena->used;

	sz = aligned(sz);
	if (sz > d->arena->cap - d->arena->used)
		return NULL;
	d->arena->used += sz;
	return p;
}

/* Memory of one column of a type, without its tail. */
static size_t col_sz(const struct fr_field *f, u32 cnt)
{
	switch (f->type) {
	case FR_TYPE_comm:
		return aligned((size_t)cnt * FR_COMM_SZ);
	case FR_TYPE_array:
		return aligned((size_t)cnt * fr_field_sz(f));
	case FR_TYPE_data:
	case FR_TYPE_str:
		return aligned((size_t)(cnt + 1) * 4) + cnt; /* NULs */
	case FR_TYPE_u64s:
		return aligned((size_t)(cnt + 1) * 4);
	default:
		return aligned((size_t)cnt * 8);
	}
}

static size_t type_sz(const struct fr_event *ev, u32 cnt)
{
	size_t sz = aligned(ev->col_cnt * sizeof(struct fr_col));
	u32 i;

	for (i = 0; i < ev->field_cnt; i++)
		if (ev->fields[i].kind != FR_KIND_DERIVED)
			sz += col_sz(&ev->fields[i], cnt);
	return sz + 16 + FR_REC_MAX_SZ; /* a tail's end, and what is written past it */
}

/* What all rows have, of whatever events they are. */
u64 fr_batch_least_sz(u32 row_cnt, u64 raw_sz)
{
	u64 rows = row_cnt + 8ULL, words = rows + raw_sz / 8;

	return rows * (8 + 4 + 4 + 1 + 2 * sizeof(struct fr_pos_run) + 8 + 1 + 1) + words * (8 + 4) + raw_sz + 18 * 16;
}

/* The most memory that a batch of these rows can need. */
static size_t batch_sz(const struct fr_schema *schema, const struct fr_rows_head *head, const u32 cnt[FR_EVENT_MAX])
{
	size_t sz = fr_batch_least_sz(head->row_cnt, head->raw_sz);
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		if (cnt[nr] && fr_schema_event(schema, nr))
			sz += type_sz(fr_schema_event(schema, nr), cnt[nr]);
	return sz;
}

static int decode_make_room(struct fr_batch *b, size_t sz)
{
	struct arena *a = b->arena;

	if (!a || a->cap < sz) {
		sz += sz / 8; /* chunks are about as large as each other */
		free(a);
		a = malloc(sizeof(*a) + sz);
		b->arena = a;
		if (!a)
			return -ENOMEM;
		a->cap = sz;
	}
	a->used = 0;
	return 0;
}

void fr_batch_free(struct fr_batch *b)
{
	free(b->arena);
	memset(b, 0, sizeof(*b));
}

/* Read a column of cnt numbers that fit. key is NULL if there are none. */
static bool get_numbers(struct decode *d, const u8 *key, struct fr_fit fit, u64 *out, u32 cnt)
{
	d->p = fr_numbers_get(d->p, d->end, key, fit, out, cnt);
	return d->p;
}

static bool get_u32(struct decode *d, u32 *v)
{
	if (d->end - d->p < 4)
		return false;
	memcpy(v, d->p, 4);
	d->p += 4;
	return true;
}

/* The same for numbers that are not needed: if any number fits, they need not be decoded. */
static bool pass_numbers(struct decode *d, const u8 *key, struct fr_fit fit, u32 cnt)
{
	if (fit.outside)
		return get_numbers(d, key, fit, d->tmp, cnt);
	d->p = fr_numbers_skip(d->p, d->end, key, cnt);
	return d->p;
}

/* ---- the columns of one type ---- */

/* What takes one_sz bytes in each row. */
static bool decode_get_bytes(struct decode *d, struct fr_col *col, u32 cnt, u32 one_sz, bool wanted)
{
	size_t sz = (size_t)cnt * one_sz;

	if (sz > (size_t)(d->end - d->p))
		return false;
	if (wanted) {
		col->text = decode_take(d, sz);
		if (!col->text)
			return false;
		memcpy(col->text, d->p, sz);
	}
	d->p += sz;
	return true;
}

/* Turn lengths in tmp into starts in off, each `extra` further; their sum is bounded by what the ring held. */
static bool make_starts(struct decode *d, u32 *off, u32 cnt, u32 extra, u32 unit_sz, u64 *sum)
{
	u64 at = 0;
	u32 k;

	*sum = 0;
	for (k = 0; k < cnt; k++) {
		if (d->tmp[k] > FR_REC_MAX_SZ)
			return false;
		off[k] = at;
		at += d->tmp[k] + extra;
		*sum += d->tmp[k];
	}
	off[cnt] = at;
	if (*sum * unit_sz > d->tail_left)
		return false;
	d->tail_left -= *sum * unit_sz;
	return true;
}

/* Put a NUL after each; extra: room for it. */
static void decode_put_texts(struct fr_col *col, const u8 *p, u32 cnt, u32 extra)
{
	u32 k;

	for (k = 0; k < cnt; k++) {
		u32 len = col->off[k + 1] - col->off[k] - extra;

		memcpy(col->text + col->off[k], p, len);
		if (extra)
			col->text[col->off[k] + len] = 0;
		p += len;
	}
}

static bool get_texts(struct decode *d, struct fr_col *col, u32 cnt, bool is_text, bool wanted)
{
	u64 sum;

	col->off = decode_take(d, (size_t)(cnt + 1) * 4);
	if (!col->off || !get_numbers(d, NULL, any_number, d->tmp, cnt) || !make_starts(d, col->off, cnt, is_text, 1, &sum))
		return false;
	if (sum > (u64)(d->end - d->p) || (is_text && memchr(d->p, 0, sum)))
		return false;
	if (wanted) {
		col->text = decode_take(d, sum + cnt);
		if (!col->text)
			return false;
		decode_put_texts(col, d->p, cnt, is_text);
	}
	d->p += sum;
	return true;
}

/* Which rows have a number at place j: row[begin[j]] to row[begin[j + 1]]. */
struct places {
	u32 *row;
	u32 begin[FR_REC_MAX_SZ / 8 + 1];
};

/*
 * Each place is listed from the rows of the one before, so this takes time by the number of numbers, however long the longest
 * row.
 */
static void list_places(struct places *p, const u32 *off, u32 cnt, u32 max)
{
	u32 *row = p->row, j, i, n = 0;

	for (i = 0; i < cnt; i++) {
		row[n] = i;
		n += off[i + 1] > off[i];
	}
	p->begin[0] = 0;
	p->begin[1] = n;
	for (j = 1; j < max; j++) {
		for (i = p->begin[j - 1]; i < p->begin[j]; i++) {
			row[n] = row[i];
			n += off[row[i] + 1] - off[row[i]] > j;
		}
		p->begin[j + 1] = n;
	}
}

static void keys_of(const u8 *key, const u32 *row, u32 cnt, u8 *out)
{
	u32 i;

	for (i = 0; i < cnt; i++)
		out[i] = key[row[i]];
}

/* Put the numbers of place j where they belong. */
static void scatter(const u64 *val, const u32 *row, u32 cnt, const u32 *off, u32 j, u64 *nums)
{
	u32 i;

	for (i = 0; i < cnt; i++)
		nums[off[row[i]] + j] = val[i];
}

/* The last place comes first. */
static bool get_places(struct decode *d, const struct places *p, u32 max, const u32 *off, u64 *nums, bool keyed)
{
	u32 j;

	for (j = max; j-- > 0;) {
		const u32 *row = p->row + p->begin[j];
		u32 cnt = p->begin[j + 1] - p->begin[j];

		if (keyed)
			keys_of(d->key, row, cnt, d->sub_key);
		if (!get_numbers(d, keyed ? d->sub_key : NULL, any_number, d->tmp, cnt))
			return false;
		scatter(d->tmp, row, cnt, off, j, nums);
	}
	return true;
}

/* The same for arrays that are not needed; their lengths are in tmp. */
static bool pass_places(struct decode *d, u32 cnt, u32 max, bool keyed)
{
	u32 of_len[FR_REC_MAX_SZ / 8 + 1] = {}, j, k, rows = 0;

	for (k = 0; k < cnt; k++)
		of_len[d->tmp[k]]++;
	for (j = max; j-- > 0;) {
		rows += of_len[j + 1];
		if (!pass_numbers(d, keyed ? d->key : NULL, any_number, rows))
			return false;
	}
	return true;
}

static bool get_arrays(struct decode *d, struct fr_col *col, u32 cnt, bool keyed, bool wanted)
{
	struct places p;
	u32 k, max = 0;
	size_t used;
	bool good;
	u64 sum;

	col->off = decode_take(d, (size_t)(cnt + 1) * 4);
	if (!col->off || !get_numbers(d, keyed ? d->key : NULL, any_number, d->tmp, cnt) ||
	    !make_starts(d, col->off, cnt, 0, 8, &sum))
		return false;
	for (k = 0; k < cnt; k++)
		max = d->tmp[k] > max ? d->tmp[k] : max;
	if (max > FR_REC_MAX_SZ / 8)
		return false;
	if (!wanted)
		return pass_places(d, cnt, max, keyed);
	col->num = decode_take(d, sum * 8);
	used = d->arena->used;
	p.row = decode_take(d, (sum + 1) * 4);
	if (!col->num || !p.row)
		return false;
	list_places(&p, col->off, cnt, max);
	good = get_places(d, &p, max, col->off, col->num, keyed);
	d->arena->used = used;
	return good;
}

/* A column of numbers. One that is the same in all rows is kept once: less to write, and less to read. */
static bool get_column(struct decode *d, const u8 *key, struct fr_fit fit, struct fr_col *col, u32 cnt)
{
	bool is_const = d->p < d->end && *d->p == FR_FORM_CONST;

	col->mask = is_const ? 0 : ~0u;
	col->num = decode_take(d, (is_const ? 1 : (size_t)cnt) * 8);
	return col->num && get_numbers(d, key, fit, col->num, is_const ? 1 : cnt);
}

static bool get_field(struct decode *d, u32 nr, const struct fr_field *f, int key_col)
{
	bool keyed = key_col >= 0 && f->col > key_col, wanted = fr_wants_col(d->b->wants, nr, f->col);
	struct fr_type_cols *t = &d->b->type[nr];
	struct fr_col *col = &t->col[f->col];
	struct fr_fit fit;
	u32 k;

	switch (f->type) {
	case FR_TYPE_comm:
		return decode_get_bytes(d, col, t->cnt, FR_COMM_SZ, wanted);
	case FR_TYPE_array:
		return decode_get_bytes(d, col, t->cnt, fr_field_sz(f), wanted);
	case FR_TYPE_str:
	case FR_TYPE_data:
		return get_texts(d, col, t->cnt, f->type == FR_TYPE_str, wanted);
	case FR_TYPE_u64s:
		return get_arrays(d, col, t->cnt, keyed, wanted);
	}
	fit = f->bit_cnt ? fr_fit_of_bits(f) : fr_fit_of(f->type);
	if (!wanted && f->col != key_col)
		return pass_numbers(d, keyed ? d->key : NULL, fit, t->cnt);
	if (!get_column(d, keyed ? d->key : NULL, fit, col, t->cnt))
		return false;
	if (f->col == key_col)
		for (k = 0; k < t->cnt; k++)
			d->key[k] = *fr_col_num(col, k);
	return true;
}

/* One type's section, which must be used up exactly. */
static bool get_type(struct decode *d, u32 nr)
{
	const struct fr_event *ev = fr_schema_event(d->b->schema, nr);
	struct fr_type_cols *t = &d->b->type[nr];
	const u8 *outer = d->end;
	u32 i, sz;

	if (!get_u32(d, &sz) || sz > (size_t)(d->end - d->p))
		return false;
	d->end = d->p + sz;
	if (!ev) {
		t->cnt = 0;
		d->p = d->end;
	} else {
		int key_col = fr_event_key_col(ev);

		t->col = decode_take(d, ev->col_cnt * sizeof(*t->col));
		if (!t->col)
			return false;
		memset(t->col, 0, ev->col_cnt * sizeof(*t->col));
		for (i = 0; i < ev->field_cnt; i++)
			if (ev->fields[i].kind != FR_KIND_DERIVED && !get_field(d, nr, &ev->fields[i], key_col))
				return false;
	}
	if (d->p != d->end)
		return false;
	d->end = outer;
	return true;
}

static bool get_types(struct decode *d)
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		if (d->b->type[nr].cnt && !get_type(d, nr))
			return false;
	return d->p == d->end;
}

/* ---- what all rows have ---- */

static bool get_times(struct decode *d)
{
	const struct fr_rows_head *h = d->head;
	u64 *ts = d->b->ts;
	u32 i, falls = 0;

	if (!get_numbers(d, NULL, any_number, ts, h->row_cnt))
		return false;
	for (i = 1; i < h->row_cnt; i++)
		falls |= ts[i] < ts[i - 1];
	return !falls && ts[0] == h->first_ts && ts[h->row_cnt - 1] == h->last_ts;
}

static bool get_tids(struct decode *d)
{
	const struct fr_fit fit = {.outside = ~(u64)FR_TID_MASK};
	u32 i, cnt = d->head->row_cnt;

	if (!get_numbers(d, NULL, fit, d->tmp, cnt))
		return false;
	for (i = 0; i < cnt; i++)
		d->b->tid[i] = d->tmp[i];
	return true;
}

static bool run_is_good(const struct decode *d, const struct fr_pos_run *run)
{
	const struct fr_rows_head *h = d->head;

	if (run->off % FR_UNIT_SZ || run->off >= FR_PLACE_MAX || run->seq < h->first_seq || run->seq > h->last_seq)
		return false;
	if (run == d->b->run)
		return !run->row;
	if (run->row <= run[-1].row || run->row >= h->row_cnt)
		return false;
	return run->seq > run[-1].seq || (run->seq == run[-1].seq && run->off > run[-1].off);
}

static bool get_runs(struct decode *d)
{
	struct fr_batch *b = d->b;
	u32 i;

	if (!get_u32(d, &b->run_cnt) || !b->run_cnt || b->run_cnt > d->head->row_cnt)
		return false;
	b->run = decode_take(d, b->run_cnt * sizeof(*b->run));
	if (!b->run || !get_numbers(d, NULL, any_number, d->tmp, b->run_cnt))
		return false;
	for (i = 0; i < b->run_cnt; i++)
		b->run[i].row = d->tmp[i] < d->head->row_cnt ? d->tmp[i] : d->head->row_cnt;
	if (!get_numbers(d, NULL, any_number, d->tmp, b->run_cnt))
		return false;
	for (i = 0; i < b->run_cnt; i++)
		b->run[i].seq = d->tmp[i];
	if (!get_numbers(d, NULL, any_number, d->tmp, b->run_cnt))
		return false;
	for (i = 0; i < b->run_cnt; i++) {
		b->run[i].off = d->tmp[i] < FR_PLACE_MAX ? d->tmp[i] : FR_PLACE_MAX;
		if (!run_is_good(d, &b->run[i]))
			return false;
	}
	return b->run[b->run_cnt - 1].seq == d->head->last_seq && b->run[0].seq == d->head->first_seq;
}

/* Event numbers, and each row's index among the rows of its type. */
static void get_events(struct decode *d, const u8 *ev)
{
	struct fr_batch *b = d->b;
	u32 i, at[FR_EVENT_MAX] = {};

	memcpy(b->ev, ev, d->head->row_cnt);
	for (i = 0; i < d->head->row_cnt; i++)
		b->in_type[i] = at[ev[i]]++;
}

/* ---- rows of events that the schema does not know ---- */

/*
 * The place of such a row is known, its size is not: it counts as the smallest record, so that rows after it keep their order
 * and their own place. So that runs keep their meaning, one begins at each row that is kept.
 */
static u32 split_runs(struct fr_batch *b, struct fr_pos_run *out)
{
	u32 i, run = 0, off = 0, n = 0;

	for (i = 0; i < b->row_cnt; i++) {
		const struct fr_event *ev = fr_schema_event(b->schema, b->ev[i]);

		if (run < b->run_cnt && b->run[run].row == i)
			off = b->run[run++].off;
		if (ev) {
			out[n] = (struct fr_pos_run){.row = n, .off = off, .seq = b->run[run - 1].seq};
			n++;
		}
		off += ev ? fr_batch_rec_sz(b, ev, b->in_type[i]) : FR_REC_MIN_SZ;
	}
	return n;
}

static u32 drop_unknown(struct decode *d)
{
	struct fr_batch *b = d->b;
	u32 i, n = 0, before = b->row_cnt;
	struct fr_pos_run *run = decode_take(d, before * sizeof(*run));

	if (!run)
		return 0;
	b->run_cnt = split_runs(b, run);
	b->run = run;
	for (i = 0; i < before; i++) {
		b->ts[n] = b->ts[i];
		b->ev[n] = b->ev[i];
		b->tid[n] = b->tid[i];
		b->in_type[n] = b->in_type[i];
		n += fr_schema_event(b->schema, b->ev[i]) != NULL;
	}
	b->row_cnt = n;
	return before - n;
}

/* ---- a chunk ---- */

/* Count rows by type, and the least bytes of their records: not more than the header says. */
static bool count_types(const struct fr_schema *schema, const struct fr_rows_head *head, const u8 *ev, u32 cnt[FR_EVENT_MAX],
			u64 *tail_left)
{
	u64 sz = 0;
	u32 i, nr;

	for (i = 0; i < head->row_cnt; i++)
		cnt[ev[i]]++;
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *known = fr_schema_event(schema, nr);

		sz += (u64)cnt[nr] * (known ? known->fixed_sz : FR_REC_MIN_SZ);
	}
	*tail_left = head->raw_sz - sz;
	return sz <= head->raw_sz && !cnt[0] && !cnt[FR_EVENT_MAX - 1];
}

static void begin_batch(struct decode *d, const struct fr_schema *schema, const u32 cnt[FR_EVENT_MAX])
{
	const struct fr_rows_head *h = d->head;
	struct fr_batch *b = d->b;
	u32 nr, rows = h->row_cnt + 8;

	d->arena = b->arena;
	b->schema = schema;
	b->epoch = h->epoch;
	b->cpu = h->cpu;
	b->tier = h->tier;
	b->row_cnt = h->row_cnt;
	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		b->type[nr] = (struct fr_type_cols){.cnt = cnt[nr]};
	b->ts = decode_take(d, rows * 8);
	b->ev = decode_take(d, rows);
	b->tid = decode_take(d, rows * 4);
	b->in_type = decode_take(d, rows * 4);
	b->walk = decode_take(d, sizeof(*b->walk));
	b->walk->row = UINT32_MAX; /* of nothing yet: begins anew */
	d->key = decode_take(d, rows);
	d->sub_key = decode_take(d, rows);
	d->tmp = decode_take(d, rows * 8);
}

static bool get_all(struct decode *d, const u8 *ev)
{
	get_events(d, ev);
	return get_times(d) && get_tids(d) && get_runs(d) && get_types(d);
}

static void forget_rows(struct fr_batch *b)
{
	*b = (struct fr_batch){.wants = b->wants, .arena = b->arena};
}

static bool knows_all(const struct fr_schema *schema, const u32 cnt[FR_EVENT_MAX])
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		if (cnt[nr] && !fr_schema_event(schema, nr))
			return false;
	return true;
}

int fr_decode_rows(const struct fr_schema *schema, const struct fr_rows_head *head, const u8 *buf, size_t sz,
		   struct fr_batch *b, u32 *unknown)
{
	struct decode d = {.head = head, .b = b, .p = buf + head->row_cnt, .end = buf + sz};
	u32 cnt[FR_EVENT_MAX] = {};
	int err;

	*unknown = 0;
	if (!head->row_cnt || head->row_cnt > sz || !count_types(schema, head, buf, cnt, &d.tail_left)) {
		forget_rows(b);
		return -EBADMSG;
	}
	err = decode_make_room(b, batch_sz(schema, head, cnt));
	if (err) {
		forget_rows(b);
		return err;
	}
	begin_batch(&d, schema, cnt);
	if (!get_all(&d, buf)) {
		forget_rows(b);
		return -EBADMSG;
	}
	if (!knows_all(schema, cnt))
		*unknown = drop_unknown(&d);
	return 0;
}
