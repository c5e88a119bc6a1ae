/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * columns: rows turned into columns and back: the content of an event chunk before compression. docs/format.md has the
 * bytes. Pure.
 *
 * The event numbers come first, since they tell how many rows of each type there are, and so how much memory is needed.
 */
#ifndef FR_COLUMNS_H
#define FR_COLUMNS_H

#include "base/rows/rows.h"
#include "base/rows/varint.h"

/* How a column of numbers is written; its first byte. */
enum fr_form {
	FR_FORM_CONST,	/* 8 bytes: all are this number */
	FR_FORM_PLAIN,	/* varints */
	FR_FORM_SIGNED, /* varints, zigzag */
	FR_FORM_DELTA,	/* varints, zigzag, of the difference from the number before, initially 0 */
	FR_FORM_KEYED,	/* the same, from the last number whose row has the same key */
	FR_FORM_RISING, /* varints of the difference from the number before, which is never larger */
	FR_FORM_WIDE,	/* 8 bytes each */
	FR_FORM_CNT
};

/* A key is the low byte of the row's first stored number: a system call's, an interrupt's, the next task's. */
#define FR_KEY_CNT 256u

/* The column of ev that keys are taken from, -1: it has none. */
int fr_event_key_col(const struct fr_event *ev);

/* What a chunk's header says of its rows; the content must agree. */
struct fr_rows_head {
	u32 epoch;
	u16 cpu;
	u8 tier;
	u32 row_cnt;
	u64 raw_sz; /* bytes of the records, unfolded */
	u64 first_ts, last_ts;
	u64 first_seq, last_seq;
};

struct fr_encoder; /* opaque */

/* Scratch memory to encode rows of up to raw_cap bytes of laps, faulted in. Returns 0 and *out, or -ENOMEM. Free takes NULL. */
int fr_encoder_new(size_t raw_cap, struct fr_encoder **out);
void fr_encoder_free(struct fr_encoder *e);

/* Bytes that fr_encoder_new() takes; the most that encoded rows of a recorder's events take. */
size_t fr_encoder_mem_sz(size_t raw_cap);
size_t fr_encoded_max_sz(size_t raw_cap);

/*
 * Encode rows, at least one, to out, of fr_encoded_max_sz() bytes. Returns the bytes written; 0: they do not fit, since a
 * file's schema has events that no recorder writes.
 */
size_t fr_encode_rows(struct fr_encoder *e, const struct fr_rows *r, u8 *out);

/* The least that a batch of so many rows takes, whatever they are, in records of raw_sz bytes. */
u64 fr_batch_least_sz(u32 row_cnt, u64 raw_sz);

/*
 * Decode sz bytes into b, whose memory is reused. FR_VARINT_SLACK_SZ more bytes must be readable after them. Rows of events
 * that schema does not know are left out and counted in *unknown. Returns 0, -EBADMSG if they are not what head says (b is then
 * empty), or -ENOMEM.
 */
int fr_decode_rows(const struct fr_schema *schema, const struct fr_rows_head *head, const u8 *buf, size_t sz,
		   struct fr_batch *b, u32 *unknown);

#endif
