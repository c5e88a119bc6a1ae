/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows to columns: rows are sorted by event type, then each field is gathered and written in the smallest form. */
#include <errno.h>
#include <stdlib.h>

#include "base/faulted.h"
#include "base/rows/columns.h"

struct fr_encoder {
	size_t out_cap;
	const u8 *end; /* of the output */
	bool full;     /* something did not fit, and is not there */
	u32 *order;    /* rows by type, in row order within a type */
	u32 *cnt;      /* numbers at the end of each row of a type */
	u64 *val;      /* the column being written */
	u64 *rest;     /* what remains of it after prediction */
	u8 *key;       /* and its keys */
	u8 *row_key;   /* the keys of a type's rows */
};

/* The rows of one type. */
struct typed {
	const struct fr_rows *r;
	const struct fr_event *ev;
	const u32 *row;
	u32 cnt;
};

size_t fr_encoder_mem_sz(size_t raw_cap)
{
	return sizeof(struct fr_encoder) + fr_row_cap(raw_cap) * (8 + 8 + 4 + 4 + 1 + 1);
}

/*
 * For events that recorders write. Time and tid take at most 8 + 3.5 bytes for 12 in the ring, a field at most 1.5 bytes for
 * each of its own, a row's run at most 12, and no unfolded row is smaller than 16. The fields of a short record take at most
 * 5/3 of it. A call of two units that is near another one takes 32 for 16 (its three arguments have only 79 bits), its end 20
 * for 8. Together they take at most 2.5 times the ring's bytes; the rest is for what a choice by samples may miss. A file's
 * schema can have events of which this is not true.
 */
size_t fr_encoded_max_sz(size_t raw_cap)
{
	return 3 * raw_cap + 65536;
}

int fr_encoder_new(size_t raw_cap, struct fr_encoder **out)
{
	size_t rows = fr_row_cap(raw_cap);
	struct fr_encoder *e = fr_faulted(fr_encoder_mem_sz(raw_cap));

	if (!e)
		return -ENOMEM;
	e->out_cap = fr_encoded_max_sz(raw_cap);
	e->val = (u64 *)(e + 1);
	e->rest = e->val + rows;
	e->order = (u32 *)(e->rest + rows);
	e->cnt = e->order + rows;
	e->key = (u8 *)(e->cnt + rows);
	e->row_key = e->key + rows;
	*out = e;
	return 0;
}

void fr_encoder_free(struct fr_encoder *e)
{
	free(e);
}

/* ---- one column of numbers ---- */

/* Half bytes that a number takes, including its length. */
static u64 cost(u64 v)
{
	return 1 + 2 * fr_varint_sz(v);
}

/*
 * Of a column of LONG_CNT numbers or more, a stretch of STRETCH is measured in each PERIOD: the form that is best for an eighth
 * of it is hardly ever worse for the rest. If it is, by an eighth, all numbers are measured.
 */
#define STRETCH	 64u
#define PERIOD	 512u
#define LONG_CNT (2 * PERIOD)

static u32 next_measured(u32 i, bool all)
{
	return all || (i + 1) % PERIOD < STRETCH ? i + 1 : i + 1 + PERIOD - STRETCH;
}

/* Half bytes that the measured numbers would take as they are, and as differences from the ones before. */
static void encode_measure(const u64 *val, u32 cnt, bool all, u64 sz[FR_FORM_CNT])
{
	u32 i;

	for (i = 0; i < cnt; i = next_measured(i, all)) {
		u64 v = val[i], prev = i ? val[i - 1] : 0;

		sz[FR_FORM_PLAIN] += cost(v);
		sz[FR_FORM_SIGNED] += cost(fr_zigzag(v));
		sz[FR_FORM_DELTA] += cost(fr_zigzag(v - prev));
		sz[FR_FORM_RISING] += cost(v - prev);
		sz[FR_FORM_WIDE] += 16;
	}
}

/* The same as differences from the last ones with their keys, which may be among those not measured. */
static u64 measure_keyed(const u64 *val, const u8 *key, u32 cnt, bool all)
{
	u64 last[FR_KEY_CNT] = {}, sz = 0;
	u32 i;

	for (i = 0; i < cnt; i++) {
		if (all || i % PERIOD < STRETCH)
			sz += cost(fr_zigzag(val[i] - last[key[i]]));
		last[key[i]] = val[i];
	}
	return sz;
}

/* Are not all the same? Is one smaller than the one before? */
static void encode_look(const u64 *val, u32 cnt, bool *differ, bool *fall)
{
	u64 differs = 0, falls = 0;
	u32 i;

	for (i = 1; i < cnt; i++) {
		differs |= val[i] ^ val[i - 1];
		falls |= val[i] < val[i - 1];
	}
	*differ = differs;
	*fall = falls;
}

struct choice {
	enum fr_form form;
	u64 sz; /* half bytes, if those not measured are like the others */
};

/* If sizes are equal, zstd finds more in what repeats: numbers before differences. */
static struct choice encode_choose(const u64 *val, const u8 *key, u32 cnt, bool all)
{
	static const u8 order[] = {FR_FORM_CONST,  FR_FORM_PLAIN, FR_FORM_SIGNED, FR_FORM_KEYED,
				   FR_FORM_RISING, FR_FORM_DELTA, FR_FORM_WIDE};
	u64 sz[FR_FORM_CNT] = {};
	bool differ, fall;
	u32 i, best = 0;

	encode_look(val, cnt, &differ, &fall);
	if (!differ && cnt > 16)
		return (struct choice){FR_FORM_CONST, 16};
	encode_measure(val, cnt, all, sz);
	sz[FR_FORM_CONST] = differ ? ~0ULL : 16;
	sz[FR_FORM_KEYED] = key ? measure_keyed(val, key, cnt, all) : ~0ULL;
	if (fall)
		sz[FR_FORM_RISING] = ~0ULL;
	for (i = 1; i < sizeof(order); i++)
		if (sz[order[i]] < sz[order[best]])
			best = i;
	return (struct choice){order[best], sz[order[best]] * 16 * cnt / sz[FR_FORM_WIDE]};
}

static void predict_keyed(u64 *rest, const u64 *val, const u8 *key, u32 cnt)
{
	u64 last[FR_KEY_CNT] = {};
	u32 i;

	for (i = 0; i < cnt; i++) {
		rest[i] = fr_zigzag(val[i] - last[key[i]]);
		last[key[i]] = val[i];
	}
}

static void predict_delta(u64 *rest, const u64 *val, u32 cnt, bool rising)
{
	u64 prev = 0;
	u32 i;

	for (i = 0; i < cnt; i++) {
		rest[i] = rising ? val[i] - prev : fr_zigzag(val[i] - prev);
		prev = val[i];
	}
}

static void zigzag_all(u64 *rest, const u64 *val, u32 cnt)
{
	u32 i;

	for (i = 0; i < cnt; i++)
		rest[i] = fr_zigzag(val[i]);
}

static u8 *encode_put_wide(u8 *p, const u64 *val, size_t sz)
{
	memcpy(p, val, sz);
	return p + sz;
}

/* What is written as varints in this form; NULL: no varints. */
static const u64 *predict(struct fr_encoder *e, enum fr_form form, const u8 *key, u32 cnt)
{
	switch (form) {
	case FR_FORM_CONST:
	case FR_FORM_WIDE:
		return NULL;
	case FR_FORM_PLAIN:
		return e->val;
	case FR_FORM_SIGNED:
		zigzag_all(e->rest, e->val, cnt);
		break;
	case FR_FORM_KEYED:
		predict_keyed(e->rest, e->val, key, cnt);
		break;
	default:
		predict_delta(e->rest, e->val, cnt, form == FR_FORM_RISING);
	}
	return e->rest;
}

/* Asked before anything is written: what does not fit is left out. */
static bool encode_has_room(struct fr_encoder *e, const u8 *p, size_t sz)
{
	if (sz <= (size_t)(e->end - p))
		return true;
	e->full = true;
	return false;
}

/* The most bytes that numbers take in a form, and may be written: exactly only if that matters. varint NULL: they are no
 * varints. */
static size_t most_sz(const struct fr_encoder *e, const u8 *p, enum fr_form form, const u64 *varint, u32 cnt)
{
	size_t most = fr_varint_max_sz(cnt);

	if (!varint)
		return form == FR_FORM_CONST ? 8 : 8ULL * cnt;
	return most < (size_t)(e->end - p) ? most : fr_varint_all_sz(varint, cnt) + 8;
}

/* Write the first cnt numbers of e->val in the smallest form. No numbers take no bytes. key may be NULL. */
static u8 *put_numbers(struct fr_encoder *e, u8 *p, const u8 *key, u32 cnt)
{
	bool all = cnt < LONG_CNT;
	const u64 *varint;
	struct choice c;
	size_t most;
	u8 *end;

	if (!cnt)
		return p;
	for (;; all = true) {
		c = encode_choose(e->val, key, cnt, all);
		varint = predict(e, c.form, key, cnt);
		most = most_sz(e, p, c.form, varint, cnt);
		if (1 + most > (size_t)(e->end - p) && !all)
			continue;
		if (!encode_has_room(e, p, 1 + most))
			return p;
		*p = c.form;
		end = varint ? fr_varint_put_all(p + 1, varint, cnt) : encode_put_wide(p + 1, e->val, most);
		if (all || 2 * (u64)(end - p - 1) <= c.sz + c.sz / 8)
			return end;
	}
}

/* ---- the columns of one type ---- */

static const u8 *encode_record(const struct typed *t, u32 k)
{
	return t->r->raw + t->r->rec[t->row[k]];
}

static u32 record_sz(const struct typed *t, u32 k)
{
	return fr_head_units(fr_get64(encode_record(t, k))) * FR_UNIT_SZ;
}

#define GATHER(type)                                                 \
	for (k = 0; k < t->cnt; k++) {                               \
		type v;                                              \
		memcpy(&v, encode_record(t, k) + f->off, sizeof(v)); \
		val[k] = (u64)(s64)v; /* signed ones are extended */ \
	}                                                            \
	break

/* Gather a field's numbers from bits. */
static void gather_bits(const struct typed *t, const struct fr_field *f, u64 *val)
{
	u32 k;

	for (k = 0; k < t->cnt; k++)
		val[k] = fr_bits_value(fr_get64(encode_record(t, k) + FR_UNIT_SZ), f->code, f->bit, f->bit_cnt);
}

/* Gather a field's numbers. */
static void encode_gather(const struct typed *t, const struct fr_field *f, u64 *val)
{
	u32 k;

	if (f->bit_cnt) {
		gather_bits(t, f, val);
		return;
	}
	switch (f->type) {
	case FR_TYPE_u8:
		GATHER(u8);
	case FR_TYPE_u16:
		GATHER(u16);
	case FR_TYPE_u32:
		GATHER(u32);
	case FR_TYPE_s8:
		GATHER(s8);
	case FR_TYPE_s16:
		GATHER(s16);
	case FR_TYPE_s32:
		GATHER(s32);
	default:
		GATHER(u64);
	}
}

/* What takes sz bytes in each row. */
static u8 *encode_put_bytes(struct fr_encoder *e, u8 *p, const struct typed *t, const struct fr_field *f, u32 sz)
{
	u32 k;

	if (!encode_has_room(e, p, (size_t)sz * t->cnt))
		return p;
	for (k = 0; k < t->cnt; k++, p += sz)
		memcpy(p, encode_record(t, k) + f->off, sz);
	return p;
}

/* Bytes of the text, or of the data, at the end of a row's record. */
static u32 tail_len(const struct typed *t, const struct fr_field *f, u32 k)
{
	u32 sz = record_sz(t, k) - f->off;

	return f->type == FR_TYPE_data ? sz : strnlen((const char *)encode_record(t, k) + f->off, sz);
}

/* Lengths, then all bytes. */
static u8 *encode_put_texts(struct fr_encoder *e, u8 *p, const struct typed *t, const struct fr_field *f)
{
	size_t sz = 0;
	u32 k;

	for (k = 0; k < t->cnt; k++) {
		e->val[k] = tail_len(t, f, k);
		sz += e->val[k];
	}
	p = put_numbers(e, p, NULL, t->cnt);
	if (!encode_has_room(e, p, sz))
		return p;
	for (k = 0; k < t->cnt; k++) {
		u32 len = tail_len(t, f, k);

		memcpy(p, encode_record(t, k) + f->off, len);
		p += len;
	}
	return p;
}

/* The j'th numbers of all rows that have that many. */
static u8 *encode_put_place(struct fr_encoder *e, u8 *p, const struct typed *t, const struct fr_field *f, bool keyed, u32 j)
{
	u32 k, n = 0;

	for (k = 0; k < t->cnt; k++) {
		if (e->cnt[k] <= j)
			continue;
		e->val[n] = fr_get64(encode_record(t, k) + f->off + 8 * j);
		e->key[n++] = e->row_key[k];
	}
	return put_numbers(e, p, keyed ? e->key : NULL, n);
}

/* Counts, then a column for each place in the array: a call's third argument is like other third arguments. */
static u8 *put_arrays(struct fr_encoder *e, u8 *p, const struct typed *t, const struct fr_field *f, bool keyed)
{
	u32 k, j, max = 0;

	for (k = 0; k < t->cnt; k++) {
		e->cnt[k] = (record_sz(t, k) - f->off) / 8;
		e->val[k] = e->cnt[k];
		max = e->cnt[k] > max ? e->cnt[k] : max;
	}
	p = put_numbers(e, p, keyed ? e->row_key : NULL, t->cnt);
	for (j = max; j-- > 0;)
		p = encode_put_place(e, p, t, f, keyed, j);
	return p;
}

static u8 *encode_put_field(struct fr_encoder *e, u8 *p, const struct typed *t, const struct fr_field *f, int key_col)
{
	bool keyed = key_col >= 0 && f->col > key_col;
	u32 k;

	switch (f->type) {
	case FR_TYPE_comm:
		return encode_put_bytes(e, p, t, f, FR_COMM_SZ);
	case FR_TYPE_array:
		return encode_put_bytes(e, p, t, f, fr_field_sz(f));
	case FR_TYPE_str:
	case FR_TYPE_data:
		return encode_put_texts(e, p, t, f);
	case FR_TYPE_u64s:
		return put_arrays(e, p, t, f, keyed);
	}
	encode_gather(t, f, e->val);
	p = put_numbers(e, p, keyed ? e->row_key : NULL, t->cnt);
	if (f->col == key_col)
		for (k = 0; k < t->cnt; k++)
			e->row_key[k] = e->val[k];
	return p;
}

static u8 *put_type(struct fr_encoder *e, u8 *p, const struct typed *t)
{
	int key_col = fr_event_key_col(t->ev);
	u8 *begin = p;
	u32 i, sz;

	if (!encode_has_room(e, p, sizeof(sz)))
		return p;
	p += sizeof(sz);
	for (i = 0; i < t->ev->field_cnt; i++)
		if (t->ev->fields[i].kind != FR_KIND_DERIVED)
			p = encode_put_field(e, p, t, &t->ev->fields[i], key_col);
	sz = p - begin - sizeof(sz);
	memcpy(begin, &sz, sizeof(sz));
	return p;
}

/* ---- a chunk ---- */

/* Sort rows by type, keeping their order: order[] and where each type ends in it. */
static void sort_by_type(const struct fr_rows *r, u32 *order, u32 end[FR_EVENT_MAX])
{
	u32 i, nr, at = 0;

	memset(end, 0, FR_EVENT_MAX * sizeof(*end));
	for (i = 0; i < r->cnt; i++)
		end[r->ev[i]]++;
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		u32 cnt = end[nr];

		end[nr] = at;
		at += cnt;
	}
	for (i = 0; i < r->cnt; i++)
		order[end[r->ev[i]]++] = i;
}

static u8 *put_types(struct fr_encoder *e, u8 *p, const struct fr_rows *r)
{
	u32 end[FR_EVENT_MAX], nr, begin = 0;

	sort_by_type(r, e->order, end);
	for (nr = 0; nr < FR_EVENT_MAX; begin = end[nr++]) {
		struct typed t = {
			.r = r, .ev = fr_schema_event(r->schema, nr), .row = e->order + begin, .cnt = end[nr] - begin};

		if (t.cnt)
			p = put_type(e, p, &t);
	}
	return p;
}

static u8 *put_runs(struct fr_encoder *e, u8 *p, const struct fr_rows *r)
{
	u32 i;

	if (!encode_has_room(e, p, sizeof(r->run_cnt)))
		return p;
	memcpy(p, &r->run_cnt, sizeof(r->run_cnt));
	p += sizeof(r->run_cnt);
	for (i = 0; i < r->run_cnt; i++)
		e->val[i] = r->run[i].row;
	p = put_numbers(e, p, NULL, r->run_cnt);
	for (i = 0; i < r->run_cnt; i++)
		e->val[i] = r->run[i].seq;
	p = put_numbers(e, p, NULL, r->run_cnt);
	for (i = 0; i < r->run_cnt; i++)
		e->val[i] = r->run[i].off;
	return put_numbers(e, p, NULL, r->run_cnt);
}

size_t fr_encode_rows(struct fr_encoder *e, const struct fr_rows *r, u8 *out)
{
	u8 *p = out;
	u32 i;

	e->end = out + e->out_cap;
	e->full = !encode_has_room(e, p, r->cnt);
	if (e->full)
		return 0;
	memcpy(p, r->ev, r->cnt);
	p += r->cnt;
	memcpy(e->val, r->ts, 8ULL * r->cnt);
	p = put_numbers(e, p, NULL, r->cnt);
	for (i = 0; i < r->cnt; i++)
		e->val[i] = r->tid[i];
	p = put_numbers(e, p, NULL, r->cnt);
	p = put_runs(e, p, r);
	p = put_types(e, p, r);
	return e->full ? 0 : p - out;
}
