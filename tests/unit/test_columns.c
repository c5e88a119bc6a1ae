/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Columns: each form is used and smallest where it should be, no byte is believed. */
/* first: <signal.h> and <errno.h> make fields of ours macros */
#include "event_fields.h"
#include "host_ring.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rows/columns.h"
#include "base/rows/rows_put.h"

#define RAW_CAP (256u << 10)

struct fixture {
	struct fr_rows rows;
	struct fr_encoder *enc;
	u8 *buf; /* the rows encoded, sz bytes */
	size_t sz;
	struct fr_rows_head head;
	struct fr_batch b;
};

static void encode(struct fixture *f)
{
	const struct fr_rows *r = &f->rows;

	f->sz = fr_encode_rows(f->enc, r, f->buf);
	assert_true(f->sz <= fr_encoded_max_sz(RAW_CAP));
	f->head = (struct fr_rows_head){
		.epoch = r->epoch,
		.cpu = r->cpu,
		.tier = r->tier,
		.row_cnt = r->cnt,
		.raw_sz = r->rec_sz,
		.first_ts = r->ts[0],
		.last_ts = r->ts[r->cnt - 1],
		.first_seq = r->run[0].seq,
		.last_seq = r->run[r->run_cnt - 1].seq,
	};
}

static int decode(struct fixture *f, const struct fr_schema *schema)
{
	u32 unknown;

	return fr_decode_rows(schema, &f->head, f->buf, f->sz, &f->b, &unknown);
}

static void add_ring(struct fixture *f, const struct host_ring *h)
{
	struct fr_snap_lap lap;
	u32 i;

	for (i = 0; host_ring_lap(h, i, &lap); i++) {
		struct fr_rows_lap l = {lap.buf, lap.sz, lap.epoch, lap.cpu, lap.tier, lap.seq, 0, NULL};

		assert_int_equal(fr_rows_add(&f->rows, &l, 0), 0);
	}
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->buf = calloc(1, fr_encoded_max_sz(RAW_CAP) + FR_VARINT_SLACK_SZ);
	if (fr_rows_init(&f->rows, RAW_CAP) || fr_encoder_new(RAW_CAP, &f->enc))
		return -1;
	f->rows.schema = fr_schema_builtin();
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	fr_rows_free(&f->rows);
	fr_encoder_free(f->enc);
	fr_batch_free(&f->b);
	free(f->buf);
	free(f);
	return 0;
}

static void fill(struct fixture *f, u32 cnt)
{
	struct host_ring *h = host_ring_new(1, 0, 3, 4);

	h->remember = false;
	host_ring_fill(h, cnt);
	add_ring(f, h);
	encode(f);
	host_ring_free(h);
}

/* A column's form, found by writing rows of one event of one number: in its section, behind what all rows have. */
static u8 form_of(struct fixture *f, const u64 *val, u32 cnt)
{
	struct fr_rec_snapshot_begin rec = {};
	struct host_ring *h = host_ring_new(1, FR_TIER_LIFE, 3, 8);
	const struct fr_col *back;
	u32 i, skip;

	h->remember = false;
	for (i = 0; i < cnt; i++) {
		rec.nr = val[i];
		host_clock_ns += 10;
		host_ring_put(h, FR_EV_snapshot_begin, &rec, sizeof(rec));
	}
	fr_rows_clear(&f->rows);
	add_ring(f, h);
	assert_int_equal(f->rows.cnt, cnt);
	encode(f);
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
	back = &f->b.type[FR_EV_snapshot_begin].col[0];
	for (i = 0; i < cnt; i++)
		assert_int_equal(*fr_col_num(back, i), val[i]);
	host_ring_free(h);
	/* the section's length stands before it, and it ends the content */
	for (skip = f->sz - 4;; skip--) {
		u32 sz;

		memcpy(&sz, f->buf + skip, 4);
		if (sz == f->sz - skip - 4)
			return f->buf[skip + 4];
	}
}

static void test_the_smallest_form_is_chosen(void **state)
{
	struct fixture *f = *state;
	u64 val[200];
	u32 i;

	for (i = 0; i < 200; i++)
		val[i] = 0x123456789abcdefULL;
	assert_int_equal(form_of(f, val, 200), FR_FORM_CONST);
	for (i = 0; i < 200; i++)
		val[i] = i % 200;
	val[77] = 0;
	assert_int_equal(form_of(f, val, 200), FR_FORM_PLAIN);
	for (i = 0; i < 200; i++)
		val[i] = host_random() & 1 ? -(u64)(1 + host_random() % 120) : host_random() % 120;
	assert_int_equal(form_of(f, val, 200), FR_FORM_SIGNED);
	for (i = 0; i < 200; i++)
		val[i] = 0x7f0000000000ULL + host_random() % 100;
	assert_int_equal(form_of(f, val, 200), FR_FORM_DELTA);
	for (i = 0; i < 200; i++)
		val[i] = 0x7f0000000000ULL + i * 200;
	assert_int_equal(form_of(f, val, 200), FR_FORM_RISING);
	for (i = 0; i < 200; i++)
		val[i] = host_random() | 1ULL << 63;
	assert_int_equal(form_of(f, val, 200), FR_FORM_WIDE);
}

/* In long columns not all numbers are measured. Neither are those forgotten that are not. */
static void test_numbers_that_are_not_measured(void **state)
{
	enum { CNT = 3000, ODD = 300 };
	struct fixture *f = *state;
	u64 val[CNT];
	size_t sz;
	u32 i;

	for (i = 0; i < CNT; i++)
		val[i] = 7;
	assert_int_equal(form_of(f, val, CNT), FR_FORM_CONST);
	val[ODD] = 8;
	assert_int_equal(form_of(f, val, CNT), FR_FORM_DELTA);
	for (i = 0; i < CNT; i++)
		val[i] = 0x7f0000000000ULL + i * 200;
	assert_int_equal(form_of(f, val, CNT), FR_FORM_RISING);
	val[ODD] = 0x7f0000000000ULL;
	assert_int_equal(form_of(f, val, CNT), FR_FORM_DELTA);
	/* half of them are negative, but none of those that are measured */
	for (i = 0; i < CNT; i++)
		val[i] = i % 512 < 64 ? host_random() % 9 : host_random() % 240 - 120;
	assert_int_equal(form_of(f, val, CNT), FR_FORM_SIGNED);
	sz = f->sz;
	for (i = 0; i < CNT; i++)
		val[i] = host_random() % 240 - 120;
	assert_int_equal(form_of(f, val, CNT), FR_FORM_SIGNED);
	assert_in_range(sz, f->sz * 9 / 10, f->sz);
}

/* More than the output has room for, as it might be of events by a file's schema: not one byte behind it. */
static void test_what_does_not_fit(void **state)
{
	enum { SMALL_CAP = 4096, CNT = 60 };
	struct fixture *f = *state;
	struct host_ring *h = host_ring_new(1, FR_TIER_STACK, 4, 16);
	struct fr_rec_stack rec = {};
	u8 *out = malloc(fr_encoded_max_sz(SMALL_CAP));
	struct fr_encoder *small;
	u64 frame[200];
	u32 i, k;

	h->remember = false;
	for (i = 0; i < CNT; i++) {
		for (k = 0; k < 200; k++)
			frame[k] = host_random() | 1ULL << 63;
		host_clock_ns += 10;
		host_ring_put_nums(h, FR_EV_stack, &rec, offsetof(struct fr_rec_stack, frames), frame, 200);
	}
	add_ring(f, h);
	assert_int_equal(f->rows.cnt, CNT);
	assert_int_equal(fr_encoder_new(SMALL_CAP, &small), 0);
	assert_int_equal(fr_encode_rows(small, &f->rows, out), 0);
	encode(f);
	assert_true(f->sz > fr_encoded_max_sz(SMALL_CAP));
	fr_encoder_free(small);
	free(out);
	host_ring_free(h);
}

/* The same argument in each call of the same number, different ones in others. */
static void test_keys_predict(void **state)
{
	struct fixture *f = *state;
	struct host_ring *h = host_ring_new(1, 0, 3, 8);
	const u64 per_call[4] = {0x1111111111111ULL, 0x7fffffffffffffffULL, 0x5555, 0x8000000000000000ULL};
	u32 i, cnt = 400, plain_sz;
	u64 rec[3] = {};

	h->remember = false;
	for (i = 0; i < cnt; i++) {
		u64 nr = host_random() % 4;
		s32 id = nr;

		memcpy((u8 *)rec + 12, &id, 4);
		rec[2] = per_call[nr];
		host_ring_put(h, FR_EV_sys_enter, rec, sizeof(rec));
	}
	add_ring(f, h);
	encode(f);
	plain_sz = cnt * 4;
	/* event, number and half bytes of zeros a row: no argument is spelled out */
	assert_true(f->sz < plain_sz);
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
	for (i = 0; i < cnt; i++)
		assert_int_equal(f->b.type[FR_EV_sys_enter].col[2].num[i], per_call[f->b.type[FR_EV_sys_enter].col[1].num[i]]);
	host_ring_free(h);
}

/* Each number is predicted by the last one of its key, not by the first. */
static void test_keys_follow(void **state)
{
	struct fixture *f = *state;
	struct host_ring *h = host_ring_new(1, 0, 3, 8);
	u64 want[400], rec[3] = {};
	u32 i;

	h->remember = false;
	for (i = 0; i < 400; i++) {
		s32 id = host_random() % 4;

		want[i] = rec[2] = ((u64)id << 40) + i * 3;
		memcpy((u8 *)rec + 12, &id, 4);
		host_ring_put(h, FR_EV_sys_enter, rec, sizeof(rec));
	}
	add_ring(f, h);
	encode(f);
	assert_true(f->sz < 400 * 5); /* an argument that nothing predicts takes six bytes alone */
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
	for (i = 0; i < 400; i++)
		assert_int_equal(f->b.type[FR_EV_sys_enter].col[2].num[i], want[i]);
	host_ring_free(h);
}

static void test_cut_content_is_refused(void **state)
{
	struct fixture *f = *state;
	u8 *whole = f->buf;
	size_t sz;

	fill(f, 300);
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
	sz = f->sz;
	for (f->sz = 0; f->sz < sz; f->sz++) {
		/* at the end of its own memory, so that a sanitizer sees one byte too far */
		f->buf = calloc(1, f->sz + FR_VARINT_SLACK_SZ);
		memcpy(f->buf, whole, f->sz);
		assert_int_equal(decode(f, fr_schema_builtin()), -EBADMSG);
		assert_int_equal(f->b.row_cnt, 0);
		free(f->buf);
	}
	f->buf = whole;
}

static void test_content_and_head_must_agree(void **state)
{
	struct fixture *f = *state;
	struct fr_rows_head good;

	fill(f, 300);
	good = f->head;
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
#define WRONG(field, how)                                           \
	f->head.field how;                                          \
	assert_int_equal(decode(f, fr_schema_builtin()), -EBADMSG); \
	f->head = good
	WRONG(row_cnt, ++);
	WRONG(row_cnt, --);
	WRONG(row_cnt, = 0);
	WRONG(first_ts, ++);
	WRONG(last_ts, --);
	WRONG(first_seq, ++);
	WRONG(first_seq, --);
	WRONG(last_seq, ++);
	WRONG(raw_sz, = 16 * 300);
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
}

static void test_runs_are_checked(void **state)
{
	struct fixture *f = *state;
	struct fr_pos_run *last;
	u32 was;

	fill(f, 300);
	last = &f->rows.run[f->rows.run_cnt - 1];
	was = last->off;
	last->off = was + FR_UNIT_SZ / 2;
	encode(f);
	assert_int_equal(decode(f, fr_schema_builtin()), -EBADMSG);
	last->off = FR_PLACE_MAX;
	encode(f);
	assert_int_equal(decode(f, fr_schema_builtin()), -EBADMSG);
	last->off = FR_PLACE_MAX - FR_UNIT_SZ;
	encode(f);
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
	last->row = f->rows.cnt; /* a run of no row */
	encode(f);
	assert_int_equal(decode(f, fr_schema_builtin()), -EBADMSG);
	last->row = last[-1].row;
	encode(f);
	assert_int_equal(decode(f, fr_schema_builtin()), -EBADMSG);
}

/* What is behind the fixed part of records is bounded by what they take. */
static void test_tails_need_room(void **state)
{
	struct fixture *f = *state;
	u64 fixed = 0;
	u32 i;

	fill(f, 300);
	for (i = 0; i < f->rows.cnt; i++)
		fixed += fr_schema_event(f->rows.schema, f->rows.ev[i])->fixed_sz;
	assert_true(fixed < f->head.raw_sz);
	f->head.raw_sz = fixed;
	assert_int_equal(decode(f, fr_schema_builtin()), -EBADMSG);
}

/* To the byte: numbers take eight each. */
static void test_arrays_need_room(void **state)
{
	struct fixture *f = *state;
	struct host_ring *h = host_ring_new(1, FR_TIER_STACK, 4, 16);
	struct fr_rec_stack rec = {};
	u64 frame[20];
	u32 i;

	h->remember = false;
	for (i = 0; i < 20; i++)
		frame[i] = host_random();
	for (i = 0; i < 50; i++) {
		host_clock_ns += 10;
		host_ring_put_nums(h, FR_EV_stack, &rec, offsetof(struct fr_rec_stack, frames), frame, 20);
	}
	add_ring(f, h);
	encode(f);
	f->head.raw_sz = 50 * (fr_schema_event(f->rows.schema, FR_EV_stack)->fixed_sz + sizeof(frame));
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
	f->head.raw_sz--;
	assert_int_equal(decode(f, fr_schema_builtin()), -EBADMSG);
	host_ring_free(h);
}

/* Rows of a ring come in the order of time. */
static void test_times_do_not_fall(void **state)
{
	struct fixture *f = *state;

	fill(f, 300);
	f->rows.ts[150] = f->rows.ts[149];
	encode(f);
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
	f->rows.ts[150]--;
	encode(f);
	assert_int_equal(decode(f, fr_schema_builtin()), -EBADMSG);
}

/* The format's bound, which is the kernel's for pids. */
static void test_tids_are_below_the_bound(void **state)
{
	struct fixture *f = *state;

	fill(f, 300);
	f->rows.tid[7] = (1u << 22) - 1;
	encode(f);
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
	assert_int_equal(f->b.tid[7], (1u << 22) - 1);
	f->rows.tid[7] = 1u << 22;
	encode(f);
	assert_int_equal(decode(f, fr_schema_builtin()), -EBADMSG);
}

static volatile u64 touched; /* so that looking is not optimised away */

/* Walk all that a batch offers: a sanitizer tells if any of it lies outside. */
static u64 touch(const struct fr_batch *b)
{
	u64 sum = 0, seq;
	u32 i, k, off;
	size_t n;

	for (i = 0; i < b->row_cnt; i++) {
		struct fr_row row = fr_batch_row(b, i);

		fr_row_pos(&row, &seq, &off);
		sum += row.ts + row.tid + seq + off;
		for (k = 0; k < row.ev->field_cnt; k++) {
			const struct fr_field *f = &row.ev->fields[k];

			if (f->kind == FR_KIND_DERIVED)
				continue;
			if (f->type == FR_TYPE_u64s) {
				const u64 *nums = fr_row_nums(&row, f, &n);

				while (n)
					sum += nums[--n];
			} else if (f->type == FR_TYPE_str || f->type == FR_TYPE_comm) {
				const char *text = fr_row_text(&row, f, &n);

				while (n)
					sum += text[--n];
			} else {
				sum += fr_row_num(&row, f);
			}
		}
	}
	return sum;
}

static void test_any_bytes_may_come(void **state)
{
	struct fixture *f = *state;
	u32 round, i, taken = 0;
	u8 *copy;

	fill(f, 250);
	copy = malloc(f->sz);
	memcpy(copy, f->buf, f->sz);
	for (round = 0; round < 10000; round++) {
		for (i = 0; i < 1 + round % 3; i++)
			f->buf[host_random() % f->sz] = host_random();
		if (!decode(f, fr_schema_builtin())) {
			taken++;
			touched += touch(&f->b);
		}
		memcpy(f->buf, copy, f->sz);
	}
	assert_true(taken > 0 && taken < round); /* both ways were gone */
	free(copy);
}

/* Each row's place is the one it was given, whichever was asked for before. */
static void test_places_are_the_same_in_any_order(void **state)
{
	struct fixture *f = *state;
	u32 *off, i, n, run = 0, asked_off;
	u64 asked_seq;

	fill(f, 400);
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
	assert_true(f->b.run_cnt > 1 && f->b.run_cnt < f->b.row_cnt);
	off = calloc(f->b.row_cnt, sizeof(*off));
	for (i = 0; i < f->b.row_cnt; i++) {
		run += run + 1 < f->b.run_cnt && f->b.run[run + 1].row == i;
		off[i] = f->b.run[run].row == i
				 ? f->b.run[run].off
				 : off[i - 1] + fr_batch_rec_sz(&f->b, fr_schema_event(f->b.schema, f->b.ev[i - 1]),
								f->b.in_type[i - 1]);
	}
	for (n = 0; n < 20 * f->b.row_cnt; n++) {
		i = n < f->b.row_cnt ? n : host_random() % f->b.row_cnt;
		for (run = 0; run + 1 < f->b.run_cnt && f->b.run[run + 1].row <= i; run++)
			;
		fr_batch_pos(&f->b, i, &asked_seq, &asked_off);
		assert_int_equal(asked_seq, f->b.run[run].seq);
		assert_int_equal(asked_off, off[i]);
	}
	free(off);
}

/* A value that no bits stand for makes no record; each that is decoded does, and the record says the same. */
static void test_records_come_back(void **state)
{
	struct fixture *f = *state;
	const struct fr_field *field;
	struct fr_rows back = {};
	struct fr_row row;
	u64 seq, *state_of;
	u32 i, off;

	assert_int_equal(fr_rows_init(&back, RAW_CAP), 0);
	back.schema = fr_schema_builtin();
	fill(f, 400);
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
	for (i = 0; i < f->b.row_cnt; i++) {
		row = fr_batch_row(&f->b, i);
		fr_row_pos(&row, &seq, &off);
		if (!fr_rows_takes_row(&back, &row, seq, off)) /* behind a text that had no NUL, and takes more with one */
			fr_rows_clear(&back);
		assert_int_equal(fr_rows_put(&back, &row, seq, off), 0);
		if (fr_event_field(row.ev, "prev_state") || fr_event_field(row.ev, "target_cpu"))
			assert_memory_equal(back.raw + back.rec[back.cnt - 1], f->rows.raw + f->rows.rec[i], FR_BITS_REC_SZ);
	}
	for (i = 0; fr_batch_row(&f->b, i).ev->nr != FR_EV_sched_switch; i++)
		;
	row = fr_batch_row(&f->b, i);
	field = fr_event_field(row.ev, "prev_state");
	state_of = (u64 *)fr_col_num(&f->b.type[FR_EV_sched_switch].col[field->col], row.k);
	fr_rows_clear(&back);
	fr_row_pos(&row, &seq, &off);
	*state_of = 3; /* two bits */
	assert_int_equal(fr_rows_put(&back, &row, seq, off), -EBADMSG);
	*state_of = 2;
	assert_int_equal(fr_rows_put(&back, &row, seq, off), 0);
	fr_rows_free(&back);
}

/* A file that was made for it can have rows that no record holds: too long, or where no record can be. */
static void test_what_is_no_record_is_refused(void **state)
{
	struct fixture *f = *state;
	struct fr_rows back = {};
	struct fr_row row;
	u32 i = 0;

	assert_int_equal(fr_rows_init(&back, RAW_CAP), 0);
	back.schema = fr_schema_builtin();
	fill(f, 400);
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
	do
		row = fr_batch_row(&f->b, i++);
	while (!row.ev->tail || fr_event_tail(row.ev)->type != FR_TYPE_u64s);
	assert_int_equal(fr_rows_put(&back, &row, 1, FR_UNIT_SZ / 2), -EBADMSG);
	assert_int_equal(fr_rows_put(&back, &row, 1, FR_PLACE_MAX), -EBADMSG);
	row.b->type[row.ev->nr].col[fr_event_tail(row.ev)->col].off[row.k + 1] += FR_REC_MAX_SZ / 8;
	assert_int_equal(fr_rows_put(&back, &row, 1, 0), -EBADMSG);
	assert_int_equal(back.cnt, 0);
	fr_rows_free(&back);
}

static void same_rows(const struct fr_batch *a, const struct fr_batch *b)
{
	assert_int_equal(a->row_cnt, b->row_cnt);
	assert_memory_equal(a->ts, b->ts, a->row_cnt * sizeof(*a->ts));
	assert_memory_equal(a->ev, b->ev, a->row_cnt);
	assert_memory_equal(a->tid, b->tid, a->row_cnt * sizeof(*a->tid));
	assert_memory_equal(a->in_type, b->in_type, a->row_cnt * sizeof(*a->in_type));
}

/* A row's field, of which b has only what it was asked for. */
static void same_field(const struct fr_batch *a, const struct fr_batch *b, u32 i, const struct fr_field *f)
{
	struct fr_row x = fr_batch_row(a, i), y = fr_batch_row(b, i);
	const struct fr_col *col = &b->type[y.ev->nr].col[f->col];
	size_t n, m;

	if (f->type == FR_TYPE_str || f->type == FR_TYPE_u64s) /* where the row lies is known in any case */
		assert_memory_equal(a->type[x.ev->nr].col[f->col].off + x.k, col->off + y.k, 8);
	if (!fr_wants_col(b->wants, y.ev->nr, f->col)) {
		assert_null(col->text);
		assert_true(!col->num || f->col == fr_event_key_col(y.ev));
	} else if (f->type == FR_TYPE_u64s) {
		const u64 *p = fr_row_nums(&x, f, &n), *q = fr_row_nums(&y, f, &m);

		assert_memory_equal(p, q, n * sizeof(*p));
	} else if (f->type == FR_TYPE_str || f->type == FR_TYPE_comm) {
		const char *p = fr_row_text(&x, f, &n), *q = fr_row_text(&y, f, &m);

		assert_int_equal(n, m);
		assert_memory_equal(p, q, n);
	} else {
		assert_int_equal(fr_row_num(&x, f), fr_row_num(&y, f));
	}
}

static void same_wanted(const struct fr_batch *a, const struct fr_batch *b)
{
	u32 i, k;

	same_rows(a, b);
	for (i = 0; i < a->row_cnt; i++) {
		const struct fr_event *ev = fr_batch_row(a, i).ev;

		for (k = 0; k < ev->field_cnt; k++)
			if (ev->fields[k].kind != FR_KIND_DERIVED)
				same_field(a, b, i, &ev->fields[k]);
	}
}

/* What nobody wants is not there, and yet refused where it is wrong. */
static void test_unwanted_columns_are_checked(void **state)
{
	struct fixture *f = *state;
	struct fr_wants wants = {};
	struct fr_batch all = {};
	u32 round, i, unknown, taken = 0;
	u8 *copy;
	int err;

	fill(f, 250);
	copy = malloc(f->sz);
	memcpy(copy, f->buf, f->sz);
	for (round = 0; round < 5000; round++) {
		for (i = 0; i < round % 3; i++)
			f->buf[host_random() % f->sz] = host_random();
		for (i = 0; i < FR_EVENT_MAX; i++)
			wants.cols[i] = round % 2 ? host_random() : 0;
		f->b.wants = NULL;
		err = decode(f, fr_schema_builtin());
		all.wants = &wants;
		assert_int_equal(fr_decode_rows(fr_schema_builtin(), &f->head, f->buf, f->sz, &all, &unknown), err);
		if (!err) {
			taken++;
			same_wanted(&f->b, &all);
		}
		memcpy(f->buf, copy, f->sz);
	}
	assert_true(taken > round / 3 && taken < round);
	fr_batch_free(&all);
	free(copy);
}

/* What a reader without this event does: its rows are left out, the others keep their places. */
static void test_unknown_events_are_left_out(void **state)
{
	struct fixture *f = *state;
	struct fr_batch all = {};
	struct fr_schema *less;
	u32 unknown, i, k = 0, off_a, off_b;
	u64 seq_a, seq_b;
	size_t sz;
	char *text = fr_schema_write(fr_schema_builtin(), &sz), *at;

	fill(f, 400);
	at = strstr(text, "field s32:22:PLAIN next_pid"); /* in sched_switch */
	memcpy(at, "field x32", 9);
	assert_int_equal(fr_schema_parse(text, sz, &less), 0);
	assert_null(fr_schema_event(less, FR_EV_sched_switch));
	assert_int_equal(decode(f, fr_schema_builtin()), 0);
	all = f->b;
	f->b = (struct fr_batch){};
	assert_int_equal(fr_decode_rows(less, &f->head, f->buf, f->sz, &f->b, &unknown), 0);
	assert_true(unknown > 3);
	assert_int_equal(unknown, all.type[FR_EV_sched_switch].cnt);
	assert_int_equal(f->b.row_cnt + unknown, all.row_cnt);
	for (i = 0; i < all.row_cnt; i++) {
		struct fr_row a = fr_batch_row(&all, i), b;

		if (a.ev->nr == FR_EV_sched_switch)
			continue;
		b = fr_batch_row(&f->b, k++);
		fr_row_pos(&a, &seq_a, &off_a);
		fr_row_pos(&b, &seq_b, &off_b);
		assert_int_equal(a.ts, b.ts);
		assert_int_equal(a.ev->nr, b.ev->nr);
		assert_int_equal(seq_a, seq_b);
		assert_int_equal(off_a / FR_PAGE_SZ, off_b / FR_PAGE_SZ);
		assert_true(off_b <= off_a);
	}
	touched += touch(&f->b);
	fr_schema_free(less);
	fr_batch_free(&all);
	free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_the_smallest_form_is_chosen),
		TEST(test_numbers_that_are_not_measured),
		TEST(test_what_does_not_fit),
		TEST(test_keys_predict),
		TEST(test_keys_follow),
		TEST(test_cut_content_is_refused),
		TEST(test_content_and_head_must_agree),
		TEST(test_runs_are_checked),
		TEST(test_tails_need_room),
		TEST(test_arrays_need_room),
		TEST(test_times_do_not_fall),
		TEST(test_tids_are_below_the_bound),
		TEST(test_any_bytes_may_come),
		TEST(test_unwanted_columns_are_checked),
		TEST(test_unknown_events_are_left_out),
		TEST(test_places_are_the_same_in_any_order),
		TEST(test_records_come_back),
		TEST(test_what_is_no_record_is_refused),
	};

	return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
