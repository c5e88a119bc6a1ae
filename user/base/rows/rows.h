/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rows: the records of one ring's laps, checked and listed, to become an event chunk. Pure.
 *
 * A lap's bytes come from memory that others may write to: they are copied first and checked afterwards, and every check is
 * done on the copy.
 */
#ifndef FR_ROWS_H
#define FR_ROWS_H

#include "base/rows/batch.h"
#include "base/rows/unfold.h"
#include "base/rows/varint.h"
#include "layout.h"

#define FR_LAP_MAX_SZ (FR_SUBBUF_PAGE_MAX * FR_PAGE_SZ)
#define FR_REC_MIN_SZ 16u /* the smallest record, unfolded */
#define FR_ROW_MIN_SZ 12u /* a row's least share of a ring: the smallest call and its end are three units (bpf/near.h) */

/* A lap to add: sz committed bytes of a sub-buffer. */
struct fr_rows_lap {
	const void *buf;
	size_t sz;
	u32 epoch;
	u16 cpu;
	u8 tier;
	u64 seq;
	u32 from_off;		    /* rows before this are counted separately */
	struct fr_secrets *secrets; /* NULL: secret keys have no further words, what is redacted is not counted */
};

/* What became of each lap. */
struct fr_lap_rows {
	u64 seq;
	u32 row_cnt;
	u32 damaged_pages; /* left out */
	u32 before_cnt;	   /* rows before the lap's from_off */
};

struct fr_rows {
	const struct fr_schema *schema;
	u32 epoch;
	u16 cpu;
	u8 tier;
	/* by row */
	u32 cnt;
	u64 *ts;
	u32 *tid;
	u32 *rec; /* byte offset of its record in raw */
	u8 *ev;
	/* copies of laps, and what was unfolded */
	u8 *raw;
	size_t raw_sz, raw_cap;
	size_t laps_sz; /* bytes of the laps and of the rows put; raw also has what was unfolded */
	u64 rec_sz;	/* bytes of the records, unfolded */
	u64 ring_sz;	/* what they took in the ring */
	struct fr_pos_run *run;
	u32 run_cnt;
	struct fr_lap_rows *lap;
	u32 lap_cnt;
	void *mem; /* all of the above */
};

/* Room for raw_cap bytes of laps, faulted in. 0, or -ENOMEM; free with fr_rows_free(). */
int fr_rows_init(struct fr_rows *r, size_t raw_cap);
void fr_rows_free(struct fr_rows *r);

/*
 * The most rows that raw_cap bytes of laps may hold; a lap, and so all laps gathered, has at most as many as its count can say.
 */
static inline size_t fr_row_cap(size_t raw_cap)
{
	return raw_cap / FR_ROW_MIN_SZ < 1u << FR_CNT_BITS ? raw_cap / FR_ROW_MIN_SZ : 1u << FR_CNT_BITS;
}

/* Bytes that fr_rows_init() takes. */
size_t fr_rows_mem_sz(size_t raw_cap);

/* Forget all rows. */
void fr_rows_clear(struct fr_rows *r);

/* May a lap have this size? */
static inline bool fr_lap_sz_is_good(size_t sz)
{
	return sz && sz <= FR_LAP_MAX_SZ && sz % FR_UNIT_SZ == 0;
}

/* May this lap be added: same ring, later than those there, and there is room? Always true if there is none. */
bool fr_rows_takes(const struct fr_rows *r, const struct fr_rows_lap *lap);

/*
 * Add the records of a lap from since_ns on. A malformed page is left out and counted in the lap's damaged_pages. Returns 0,
 * -EINVAL if sz is not the size of a lap, -ENOBUFS if fr_rows_takes() says no.
 */
int fr_rows_add(struct fr_rows *r, const struct fr_rows_lap *lap, u64 since_ns);

/* The field that takes the rest of the record; ev->tail. */
static inline const struct fr_field *fr_event_tail(const struct fr_event *ev)
{
	const struct fr_field *f = &ev->fields[ev->field_cnt - 1];

	while (f->kind == FR_KIND_DERIVED)
		f--;
	return f;
}

/* Bytes of a record that ends in this many bytes (str: without NUL; data) or numbers (u64s), as its length word should say. */
static inline u32 fr_rec_sz(const struct fr_event *ev, u32 tail_cnt)
{
	u32 sz = ev->fixed_sz;

	if (ev->tail)
		sz += fr_event_tail(ev)->type == FR_TYPE_u64s ? tail_cnt * 8
							      : tail_cnt + (fr_event_tail(ev)->type == FR_TYPE_str);
	return (sz + FR_UNIT_SZ - 1) / FR_UNIT_SZ * FR_UNIT_SZ;
}

/* The same for row k of the rows of type ev in a batch. */
u32 fr_batch_rec_sz(const struct fr_batch *b, const struct fr_event *ev, u32 k);

#endif
