/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/rows.h"

#include <errno.h>

#include "base/faulted.h"
#include "base/offbound.h"
#include "base/rows/argv.h"
#include "base/rows/calltext.h"
#include "base/rows/saidtext.h"
#include "base/rows/tptext.h"
#include "event_fields.h"

#define REC_TASK_OFF 8u

/* A page being walked. */
struct walk {
	struct fr_rows *r;
	const struct fr_rows_lap *lap;
	u64 since_ns;
	u32 page;  /* within the sub-buffer */
	u32 base;  /* where the lap begins in r->raw */
	u32 off;   /* of the next record, in the sub-buffer */
	u32 end;   /* of the page */
	u32 place; /* of the next record (unfold.h) */
	u64 base_ns;
	u64 last_ts;
	u32 next_place;		       /* expected place of the row after the last one listed, 0: none */
	u64 calls[FR_PAGE_UNITS / 64]; /* units of the page where a short call begins to which no end refers yet */
	u64 bases[FR_PAGE_UNITS / 64]; /* the same, of complete records */
};

/* What a damaged page is rolled back to. */
struct mark {
	u32 cnt, run_cnt, before_cnt;
	u64 rec_sz, ring_sz, last_ts;
};

static u32 lap_cap(size_t raw_cap)
{
	return raw_cap / FR_PAGE_SZ + 1;
}

/* Laps, what is unfolded, and what keeps laps off the bounds of pages. */
static size_t raw_mem(size_t raw_cap)
{
	return (1 + FR_UNFOLD_GROWS) * raw_cap + lap_cap(raw_cap) * FR_UNIT_SZ;
}

size_t fr_rows_mem_sz(size_t raw_cap)
{
	return raw_mem(raw_cap) + fr_row_cap(raw_cap) * (8 + 4 + 4 + sizeof(struct fr_pos_run) + 1) +
	       lap_cap(raw_cap) * sizeof(struct fr_lap_rows);
}

int fr_rows_init(struct fr_rows *r, size_t raw_cap)
{
	size_t rows = fr_row_cap(raw_cap);
	size_t sz = fr_rows_mem_sz(raw_cap);
	u8 *p = fr_faulted(sz);

	if (!p)
		return -ENOMEM;
	*r = (struct fr_rows){.mem = p, .raw_cap = raw_cap};
	r->ts = (u64 *)p;
	r->run = (struct fr_pos_run *)(r->ts + rows);
	r->lap = (struct fr_lap_rows *)(r->run + rows);
	r->raw = (u8 *)(r->lap + lap_cap(raw_cap));
	r->tid = (u32 *)(r->raw + raw_mem(raw_cap));
	r->rec = r->tid + rows;
	r->ev = (u8 *)(r->rec + rows);
	return 0;
}

void fr_rows_free(struct fr_rows *r)
{
	free(r->mem);
	*r = (struct fr_rows){};
}

void fr_rows_clear(struct fr_rows *r)
{
	r->cnt = 0;
	r->run_cnt = 0;
	r->lap_cnt = 0;
	r->raw_sz = 0;
	r->laps_sz = 0;
	r->rec_sz = 0;
	r->ring_sz = 0;
}

static u64 page_base_ns(const void *page)
{
	return fr_get64((const u8 *)page + offsetof(struct fr_page_head, base_ns));
}

bool fr_rows_takes(const struct fr_rows *r, const struct fr_rows_lap *lap)
{
	if (!r->lap_cnt)
		return lap->sz <= r->raw_cap;
	if (r->epoch != lap->epoch || r->cpu != lap->cpu || r->tier != lap->tier || r->lap[r->lap_cnt - 1].seq >= lap->seq)
		return false;
	if (r->laps_sz + lap->sz > r->raw_cap || r->lap_cnt == lap_cap(r->raw_cap))
		return false;
	if (r->cnt + lap->sz / FR_ROW_MIN_SZ > fr_row_cap(r->raw_cap))
		return false;
	/* A damaged clock must not shut out everything after it: a lap that would run backwards begins a chunk of its own. */
	return !r->cnt || lap->sz < FR_PAGE_SZ || page_base_ns(lap->buf) >= r->ts[r->cnt - 1];
}

/* Is the page's head as it must be in this lap, and its time not before what precedes it? */
static bool head_is_good(struct walk *w)
{
	const struct fr_page_head *h = (const void *)(w->r->raw + w->base + w->off);
	const struct fr_rows_lap *lap = w->lap;
	u32 sz = sizeof(*h) + (w->page ? 0 : sizeof(struct fr_subbuf_head));

	if (w->end - w->off < sz)
		return false;
	if (h->magic != FR_PAGE_MAGIC || h->epoch != lap->epoch || h->seq != lap->seq || h->cpu != lap->cpu)
		return false;
	if (h->page != w->page || h->tier != lap->tier || h->layout != FR_LAYOUT_VERSION || h->reserved)
		return false;
	w->base_ns = h->base_ns;
	w->off += sz;
	w->place += sz;
	return h->base_ns >= w->last_ts;
}

/* Numbers or bytes at the end of a record, for an event that has them. */
static u32 tail_cnt(const struct fr_event *ev, const u8 *rec, u32 sz)
{
	if (fr_event_tail(ev)->type == FR_TYPE_u64s)
		return (sz - ev->fixed_sz) / 8;
	if (fr_event_tail(ev)->type == FR_TYPE_data)
		return sz - ev->fixed_sz;
	return strnlen((const char *)rec + ev->fixed_sz, sz - ev->fixed_sz);
}

/* Is sz a size that records of this event may have? */
static bool size_is_good(const struct fr_event *ev, u32 sz)
{
	return ev->tail ? sz >= ev->fixed_sz : sz == ev->fixed_sz;
}

/*
 * List the record at rec, of sz bytes in its full form. A run begins at each page, so that finding a row's place walks at most
 * one page.
 */
static void list_row(struct walk *w, const struct fr_event *ev, const u8 *rec, u32 sz, u64 ts)
{
	struct fr_rows *r = w->r;
	u32 task;

	memcpy(&task, rec + REC_TASK_OFF, sizeof(task));
	if (w->next_place != w->place)
		r->run[r->run_cnt++] = (struct fr_pos_run){.row = r->cnt, .off = w->place, .seq = w->lap->seq};
	w->next_place = w->place + (ev->tail ? fr_rec_sz(ev, tail_cnt(ev, rec, sz)) : sz);
	r->lap[r->lap_cnt].before_cnt += w->off < w->lap->from_off;
	r->ts[r->cnt] = ts;
	r->ev[r->cnt] = ev->nr;
	r->tid[r->cnt] = task & FR_TID_MASK;
	r->rec[r->cnt++] = rec - r->raw;
	r->rec_sz += sz;
	r->ring_sz += fr_head_units(fr_get64(r->raw + w->base + w->off)) * FR_UNIT_SZ;
}

static u32 unit_of(const struct walk *w)
{
	return w->off % FR_PAGE_SZ / FR_UNIT_SZ;
}

static void set_unit(u64 *set, u32 unit)
{
	set[unit / 64] |= 1ULL << unit % 64;
}

/* The call that the near record at w->off refers to, which begins at one of the units of set. */
static bool rows_find_call(const struct walk *w, const u64 *set, u64 rec, struct fr_begun *call)
{
	u32 unit = unit_of(w), back = fr_near_back(rec), at = unit - back;

	return back <= unit && set[at / 64] >> at % 64 & 1 &&
	       fr_short_begun((const u64 *)(w->r->raw + w->base + w->page * FR_PAGE_SZ), at, call);
}

/* The full form of a near end. No other end may refer to its call. */
static u32 unfold_near_end(struct walk *w, const u64 *rec, u64 *out)
{
	u32 at = unit_of(w) - fr_near_back(rec[0]);
	struct fr_begun call;

	if (!rows_find_call(w, w->calls, rec[0], &call))
		return 0;
	w->calls[at / 64] &= ~(1ULL << at % 64);
	return fr_unfold(rec, &call, out);
}

/* The full form of a call's beginning. */
static u32 unfold_begun(struct walk *w, const u64 *rec, bool is_near, u64 *out)
{
	struct fr_begun base;
	u32 sz;

	if (is_near && !rows_find_call(w, w->bases, rec[0], &base))
		return 0;
	sz = fr_unfold(rec, is_near ? &base : NULL, out);
	if (!sz)
		return 0;
	set_unit(w->calls, unit_of(w));
	if (!is_near)
		set_unit(w->bases, unit_of(w));
	return sz;
}

/* The full form of the short record at w->off, of sz bytes. Returns the bytes in out, 0: no recorder wrote such a record. */
static u32 unfold(struct walk *w, const u8 *rec, u32 sz, u64 *out)
{
	u64 in[FR_UNFOLDED_MAX_SZ / FR_UNIT_SZ];
	u32 event = fr_head_event(fr_get64(rec));

	if (sz > sizeof(in))
		return 0;
	memcpy(in, rec, sz);
	if (fr_short_is_waking(event))
		return fr_unfold(in, NULL, out);
	switch (event) {
	case FR_SHORT_EXIT_NEAR:
		return unfold_near_end(w, in, out);
	case FR_SHORT_EXIT:
		return fr_unfold(in, NULL, out);
	default:
		return unfold_begun(w, in, fr_short_is_near(event), out);
	}
}

/* The record at rec, all of whose units are there, in its full form, *sz bytes: itself, or made after everything in raw. */
static const u8 *unfolded(struct walk *w, const u8 *rec, u32 *sz)
{
	u64 out[FR_UNFOLDED_MAX_SZ / FR_UNIT_SZ];
	u8 *to = w->r->raw + w->r->raw_sz;

	if (!fr_is_short(fr_head_event(fr_get64(rec))))
		return rec;
	*sz = unfold(w, rec, *sz, out);
	if (!*sz)
		return rec;
	memcpy(to, out, *sz);
	w->r->raw_sz += *sz;
	return to;
}

/* Check the record at w->off and step over it. Returns 1, 0 at the end of the page, -1 if it is not a record. */
static int walk_record(struct walk *w)
{
	const u8 *rec = w->r->raw + w->base + w->off;
	const struct fr_event *ev;
	u32 ring_sz, sz;
	u64 ts;

	if (w->off == w->end)
		return 0;
	ring_sz = sz = fr_head_units(fr_get64(rec)) * FR_UNIT_SZ;
	if (!sz)
		return 0;
	if (sz > w->end - w->off)
		return -1;
	rec = unfolded(w, rec, &sz);
	ev = fr_schema_event(w->r->schema, fr_head_event(fr_get64(rec)));
	ts = fr_time_unroll(w->base_ns, fr_head_time(fr_get64(rec)));
	if (!ev || !size_is_good(ev, sz) || ts < w->last_ts || ts - w->base_ns >= FR_PAGE_SPAN_NS)
		return -1;
	if (w->r->cnt == fr_row_cap(w->r->raw_cap)) /* more than a lap can count: no recorder wrote them */
		return -1;
	w->last_ts = ts;
	if (ev->nr == FR_EV_exec_argv)
		fr_argv_join((void *)(w->r->raw + w->base + w->off), sz, w->lap->secrets);
	if (ev->nr == FR_EV_sys_path)
		fr_calltext_make((void *)(w->r->raw + w->base + w->off), sz, w->lap->secrets);
	if (ev->nr == FR_EV_stderr_write)
		fr_saidtext_make((void *)(w->r->raw + w->base + w->off), sz, w->lap->secrets);
	fr_tptext_make(ev, w->r->raw + w->base + w->off, sz, w->lap->secrets);
	if (ts >= w->since_ns)
		list_row(w, ev, rec, sz, ts);
	w->off += ring_sz;
	w->place += sz;
	return 1;
}

/* List all records of a page, or none if one of them is malformed. */
static bool walk_page(struct walk *w)
{
	struct fr_rows *r = w->r;
	struct fr_lap_rows *lap = &r->lap[r->lap_cnt];
	struct mark mark = {r->cnt, r->run_cnt, lap->before_cnt, r->rec_sz, r->ring_sz, w->last_ts};
	int ret = -1;

	memset(w->calls, 0, sizeof(w->calls));
	memset(w->bases, 0, sizeof(w->bases));
	w->next_place = 0;
	if (head_is_good(w))
		while ((ret = walk_record(w)) > 0)
			;
	if (!ret)
		return true;
	r->cnt = mark.cnt;
	r->run_cnt = mark.run_cnt;
	lap->before_cnt = mark.before_cnt;
	r->rec_sz = mark.rec_sz;
	r->ring_sz = mark.ring_sz;
	w->last_ts = mark.last_ts;
	return false;
}

static void rows_begin_ring(struct fr_rows *r, const struct fr_rows_lap *lap)
{
	r->epoch = lap->epoch;
	r->cpu = lap->cpu;
	r->tier = lap->tier;
}

/* Returns where in raw. */
static size_t copy_lap(struct fr_rows *r, const struct fr_rows_lap *lap)
{
	size_t at = fr_off_bound(r->raw, r->raw_sz);

	memcpy(r->raw + at, lap->buf, lap->sz);
	r->raw_sz = at + lap->sz;
	r->laps_sz += lap->sz;
	return at;
}

int fr_rows_add(struct fr_rows *r, const struct fr_rows_lap *lap, u64 since_ns)
{
	struct walk w = {.r = r, .lap = lap, .since_ns = since_ns};
	struct fr_lap_rows *out = &r->lap[r->lap_cnt];
	u32 begin = r->cnt, sz = lap->sz;

	if (!fr_lap_sz_is_good(lap->sz))
		return -EINVAL;
	if (!fr_rows_takes(r, lap))
		return -ENOBUFS;
	if (!r->lap_cnt)
		rows_begin_ring(r, lap);
	if (r->cnt)
		w.last_ts = r->ts[r->cnt - 1];
	w.base = copy_lap(r, lap);
	*out = (struct fr_lap_rows){.seq = lap->seq};
	for (w.page = 0; w.page * FR_PAGE_SZ < sz; w.page++) {
		w.off = w.page * FR_PAGE_SZ;
		w.place = w.page * FR_PLACE_PAGE_SZ;
		w.end = sz - w.off < FR_PAGE_SZ ? sz : w.off + FR_PAGE_SZ;
		out->damaged_pages += !walk_page(&w);
	}
	out->row_cnt = r->cnt - begin;
	r->lap_cnt++;
	return 0;
}
