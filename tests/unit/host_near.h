/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* host_near: a ring of calls, and what lies between them, as the programs write them; and the rows that must come back. */
#ifndef FR_HOST_NEAR_H
#define FR_HOST_NEAR_H

/* first: <signal.h> and <errno.h> make fields of ours macros */
#include "event_fields.h"
#include "host_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rows/rows.h"

#define PAGES 4

/* A row as it must come back. */
struct want {
	u64 ts;
	u32 event, tid;
	s32 id;
	s64 ret;   /* of a call's end; of its beginning the last argument */
	u32 units; /* in the ring */
};

struct fixture {
	struct host_ring *ring;
	struct fr_rows rows;
	struct want *want;
	u32 cnt, near_cnt, begun_near_cnt;
};

static void set_up_ring(struct fixture *f, u32 slots, u32 pages)
{
	f->ring = host_ring_new(5, FR_TIER_MAIN, slots, pages);
	f->ring->remember = false;
	f->want = calloc(4 * FR_LAP_MAX_SZ / FR_REC_MIN_SZ, sizeof(*f->want));
	assert_non_null(f->want);
	assert_int_equal(fr_rows_init(&f->rows, (size_t)pages * FR_PAGE_SZ), 0);
	f->rows.schema = fr_schema_builtin();
}

static void tear_down_ring(struct fixture *f)
{
	fr_rows_free(&f->rows);
	host_ring_free(f->ring);
	free(f->want);
}

static u64 *record(struct fixture *f, const struct fr_res *res)
{
	return host_record(f->ring, res);
}

static void expect(struct fixture *f, const struct fr_res *res, u32 event, u32 tid, s32 id, s64 ret)
{
	f->want[f->cnt++] = (struct want){res->time_ns, event, tid, id, ret, fr_head_units(record(f, res)[0])};
}

/* With cnt arguments, of which the last of the first three is arg. Returns whether it was near. */
static bool begin(struct fixture *f, u32 tid, s32 id, u32 cnt, u64 arg)
{
	struct fr_res res = {};

	assert_int_equal(host_begin_call(f->ring, tid, id, cnt, arg, &res), 0);
	assert_true(fr_is_short(fr_head_event(record(f, &res)[0])));
	expect(f, &res, FR_EV_sys_enter, tid, id, cnt ? arg : 0);
	f->begun_near_cnt += res.is_near;
	return res.is_near;
}

static void between(struct fixture *f)
{
	u32 units = sizeof(struct fr_rec_softirq_entry) / FR_UNIT_SZ;
	struct fr_res res = {};

	assert_int_equal(fr_ring_reserve(&f->ring->r, units, &res), 0);
	memset(record(f, &res), 0, units * FR_UNIT_SZ);
	record(f, &res)[0] = fr_rec_head(res.time_ns, FR_EV_softirq_entry, units);
	record(f, &res)[1] = 7;
	fr_ring_commit(&res);
	expect(f, &res, FR_EV_softirq_entry, 7, 0, 0);
}

static struct fixture *interrupted;

static void interrupt(void)
{
	between(interrupted);
}

/* late: another record comes after the call was found. Returns whether it was near. */
static bool end(struct fixture *f, u32 tid, s32 id, s64 ret, bool late)
{
	struct fr_res res = {};

	interrupted = f;
	host_at_found = late ? interrupt : NULL;
	assert_int_equal(host_end_call(f->ring, tid, id, ret, &res), 0);
	expect(f, &res, FR_EV_sys_exit, tid, id, ret);
	f->near_cnt += res.is_near;
	return res.is_near;
}

/* What the rows that are there say of row i. */
static void check_row(const struct fixture *f, u32 i, const struct want *want)
{
	const struct fr_rec_sys_exit *rec = (const void *)(f->rows.raw + f->rows.rec[i]);
	const struct fr_rec_sys_enter *enter = (const void *)rec;
	u32 args = fr_head_units(rec->head) - sizeof(*enter) / FR_UNIT_SZ;

	assert_int_equal(f->rows.ts[i], want->ts);
	assert_int_equal(f->rows.ev[i], want->event);
	assert_int_equal(f->rows.tid[i], want->tid);
	assert_int_equal(fr_head_time(rec->head), want->ts & FR_TIME_MASK);
	if (want->event != FR_EV_softirq_entry)
		assert_int_equal(rec->id, want->id);
	if (want->event == FR_EV_sys_exit)
		assert_true(rec->ret == want->ret);
	if (want->event == FR_EV_sys_enter && args)
		assert_true(enter->args[args < 3 ? args - 1 : 2] == (u64)want->ret);
}

/* All laps: what they hold is what was written, in order, to the last one. */
static void check_all(struct fixture *f)
{
	struct fr_snap_lap lap;
	u32 i, row, n = 0;
	u64 units;

	for (i = 0; host_ring_lap(f->ring, i, &lap); i++) {
		struct fr_rows_lap in = {lap.buf, lap.sz, lap.epoch, lap.cpu, lap.tier, lap.seq, 0, NULL};

		fr_rows_clear(&f->rows);
		assert_int_equal(fr_rows_add(&f->rows, &in, 0), 0);
		assert_int_equal(f->rows.lap[0].damaged_pages, 0);
		assert_int_equal(f->rows.cnt, fr_slot_cnt(f->ring->r.sl->slot[lap.seq % f->ring->r.slot_cnt]));
		assert_true(f->rows.raw_sz <= (size_t)((u8 *)f->rows.tid - f->rows.raw));
		assert_true(f->rows.cnt <= fr_row_cap(f->rows.raw_cap));
		for (row = 0, units = 0; row < f->rows.cnt; row++) {
			assert_true(n < f->cnt);
			units += f->want[n].units;
			check_row(f, row, &f->want[n++]);
		}
		assert_int_equal(f->rows.ring_sz, units * FR_UNIT_SZ);
	}
	assert_int_equal(n, f->cnt);
}

#endif
