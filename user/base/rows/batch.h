/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * batch: decoded events of one CPU and tier in ring order, as columns per event type. What a snapshot's event chunk holds
 * and what replay walks. Pure.
 */
#ifndef FR_BATCH_H
#define FR_BATCH_H

#include "base/schema/schema.h"

/* One column of one event type. */
struct fr_col {
	u64 *num;   /* numbers (signed ones sign-extended) and text8 (its bytes in memory order); u64s: of all rows; or NULL */
	u32 *off;   /* str, data, u64s: start in bytes/words of row i, [cnt + 1] entries; or NULL */
	char *text; /* comm: 16 bytes a row; array: all of it; str: all texts, each NUL-terminated; data: all bytes */
	u32 mask;   /* numbers, text8: ~0; 0: all rows have the same one, which is there once */
};

/* The number of a row of the type. */
static inline const u64 *fr_col_num(const struct fr_col *c, u32 k)
{
	return &c->num[k & c->mask];
}

/* Which columns of each event are needed: a bit for each. The others are checked, then dropped. */
struct fr_wants {
	u32 cols[FR_EVENT_MAX];
};

static inline bool fr_wants_col(const struct fr_wants *w, u32 nr, u32 col)
{
	return !w || w->cols[nr] >> col & 1;
}

struct fr_type_cols {
	u32 cnt;	    /* rows of this type */
	struct fr_col *col; /* [event's col_cnt] */
};

/* Where the rows are in the ring: from row on, records follow each other from (seq, off); off: their place (unfold.h). */
struct fr_pos_run {
	u32 row;
	u32 off;
	u64 seq;
};

/* The row whose place was asked for last, its run, and its place. */
struct fr_pos_walk {
	u32 row, run, off;
};

struct fr_batch {
	const struct fr_schema *schema;
	u32 epoch;
	u16 cpu;
	u8 tier;
	u32 row_cnt;
	u64 *ts; /* ns of the recording clock, not decreasing */
	u8 *ev;	 /* event number of each row, known in schema */
	u32 *tid;
	u32 *in_type; /* row's index in its type's columns */
	struct fr_type_cols type[FR_EVENT_MAX];
	struct fr_pos_run *run;
	u32 run_cnt;
	struct fr_pos_walk *walk; /* fr_batch_pos() */
	size_t chunk;		  /* the chunk of its file that it was read from, fr_snap_read_chunk() */
	/*
	 * Set before rows are decoded: only these columns are needed, NULL: all. The others have neither numbers (num) nor
	 * text.
	 */
	const struct fr_wants *wants;
	void *arena; /* private to the module */
};

/* A row of a batch: what merge returns, and printers and filters take. */
struct fr_row {
	const struct fr_batch *b;
	const struct fr_event *ev;
	u64 ts;
	u32 i; /* row in the batch */
	u32 k; /* row in its type's columns */
	u32 tid;
	u16 cpu;
	u8 tier;
};

static inline struct fr_row fr_batch_row(const struct fr_batch *b, u32 i)
{
	return (struct fr_row){
		.b = b,
		.ev = fr_schema_event(b->schema, b->ev[i]),
		.ts = b->ts[i],
		.i = i,
		.k = b->in_type[i],
		.tid = b->tid[i],
		.cpu = b->cpu,
		.tier = b->tier,
	};
}

/* A stored number (or flags, or text8) of a row; f->kind must not be DERIVED. */
static inline u64 fr_row_num(const struct fr_row *r, const struct fr_field *f)
{
	return *fr_col_num(&r->b->type[r->ev->nr].col[f->col], r->k);
}

/* The ABI of the row's system call; 0: native, or not a system call. */
static inline u32 fr_row_abi(const struct fr_row *r)
{
	return r->ev->abi_col < 0 ? 0 : *fr_col_num(&r->b->type[r->ev->nr].col[r->ev->abi_col], r->k);
}

/* A stored text (text8, comm, str): *len bytes, not necessarily terminated, no NUL within. */
const char *fr_row_text(const struct fr_row *r, const struct fr_field *f, size_t *len);

/* The bytes of an array, or of data. */
const void *fr_row_bytes(const struct fr_row *r, const struct fr_field *f, size_t *sz);

/* A stored array (u64s): *cnt numbers. */
const u64 *fr_row_nums(const struct fr_row *r, const struct fr_field *f, size_t *cnt);

/* The first row from the given one on that is not before ts; row_cnt: none. */
u32 fr_batch_lower(const struct fr_batch *b, u32 from, u64 ts);

/*
 * Row i's place in its ring: lap, and place of the record in the sub-buffer (unfold.h). Quick if rows are asked for in rising
 * order, since it is counted from the one before, which is remembered: by one thread at a time.
 */
void fr_batch_pos(const struct fr_batch *b, u32 i, u64 *seq, u32 *off);

static inline void fr_row_pos(const struct fr_row *r, u64 *seq, u32 *off)
{
	fr_batch_pos(r->b, r->i, seq, off);
}

#endif
