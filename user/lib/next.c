/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* next: events one after another, and what all of them have. */
#include <errno.h>
#include <string.h>

#include "base/rows/whose.h"
#include "lib/handle.h"

/* Do runs follow each other in time, as the rows within each do? This is checked, not trusted. */
static void check_order(struct flightrec *fr)
{
	const struct fr_replay_run *run = &fr->run;
	u64 first = run->b->ts[run->from] + run->shift_ns, last = run->b->ts[run->to - 1] + run->shift_ns;

	fr->disorder |= first < fr->last_key || last < first;
	fr->last_key = last;
}

/* The next run, inside fr_lib_enter(). Returns as fr_replay_next(). */
static int read_run(struct flightrec *fr)
{
	int got = fr_replay_next(fr->replay, &fr->run);

	if (got > 0) {
		check_order(fr);
		fr->at = fr->run.from;
	} else {
		fr->at = fr->run.to = 0;
		fr->ended = !got;
	}
	if (got < 0)
		fr_err_errno(got, "replay stopped");
	return got;
}

static int next_run(struct flightrec *fr)
{
	const struct fr_err_sink *was = fr_lib_enter(fr);
	int got = read_run(fr);

	fr_lib_leave(was);
	return got;
}

/* Is row i to be returned? If so, it becomes the event. */
static bool next_take_row(struct flightrec *fr, u32 i)
{
	struct flightrec_event *ev = &fr->event;

	if (!fr->run.filter) {
		ev->row = fr_batch_row(fr->run.b, i);
		return ev->matches = true;
	}
	ev->matches = fr_replay_match(&fr->run, i, &ev->row);
	if (ev->matches || !(fr->flags & FLIGHTREC_UNMATCHED))
		return ev->matches;
	ev->row = fr_batch_row(fr->run.b, i);
	return true;
}

int flightrec_next(struct flightrec *fr, const struct flightrec_event **ev)
{
	int err = fr_lib_check_open(fr);

	if (err)
		return err;
	for (;;) {
		while (fr->at < fr->run.to) {
			if (next_take_row(fr, fr->at++)) {
				*ev = &fr->event;
				return 1;
			}
		}
		int got = next_run(fr);

		if (got <= 0)
			return got;
	}
}

static const struct fr_wants no_columns;

static u64 next_count_run(struct flightrec *fr)
{
	u32 from = fr->at, to = fr->run.to, i;
	struct fr_row r;
	u64 cnt = 0;

	if (!fr->run.filter)
		return to - from;
	for (i = from; i < to; i++)
		cnt += fr_replay_match(&fr->run, i, &r);
	return cnt;
}

int flightrec_count(struct flightrec *fr, uint64_t *cnt)
{
	const struct fr_err_sink *was;
	int got = fr_lib_check_open(fr);
	u64 sum;

	if (got)
		return got;
	was = fr_lib_enter(fr);
	fr_replay_want(fr->replay, &no_columns);
	sum = next_count_run(fr);
	while ((got = read_run(fr)) > 0)
		sum += next_count_run(fr);
	if (!got)
		got = fr_replay_check_unread(fr->replay);
	fr_lib_leave(was);
	if (!got)
		*cnt = sum;
	return got;
}

/* ---- of an event ---- */

const struct flightrec_type *flightrec_event_type(const struct flightrec_event *ev)
{
	return (const struct flightrec_type *)ev->row.ev;
}

unsigned flightrec_event_file(const struct flightrec_event *ev)
{
	return ev->fr->run.file;
}

uint64_t flightrec_event_ts(const struct flightrec_event *ev)
{
	return ev->row.ts;
}

uint64_t flightrec_event_order_ns(const struct flightrec_event *ev)
{
	return ev->row.ts + ev->fr->run.shift_ns;
}

uint64_t flightrec_event_wall_ns(const struct flightrec_event *ev)
{
	return fr_wall_real(ev->fr->run.view->wall, ev->row.ts);
}

unsigned flightrec_event_cpu(const struct flightrec_event *ev)
{
	return ev->row.cpu;
}

unsigned flightrec_event_tid(const struct flightrec_event *ev)
{
	return ev->row.tid;
}

int64_t flightrec_event_pid(const struct flightrec_event *ev)
{
	return fr_view_who(ev->fr->run.view, &ev->row).pid;
}

const char *flightrec_event_comm(const struct flightrec_event *ev)
{
	struct fr_who who = fr_view_who(ev->fr->run.view, &ev->row);
	char *to = ev->fr->comm;
	u32 len = who.len < sizeof(ev->fr->comm) ? who.len : sizeof(ev->fr->comm) - 1;

	if (!who.comm)
		return NULL;
	memcpy(to, who.comm, len);
	to[len] = 0;
	return to;
}

const char *flightrec_event_cgroup(const struct flightrec_event *ev)
{
	return fr_view_cgroup(ev->fr->run.view, &ev->row);
}

/* The number of chosen column i, FR_WHOSE_CNT: there are not so many. */
static u32 next_column(const struct flightrec *fr, unsigned i)
{
	u32 bits = fr->opts.whose;

	for (; bits && i; i--)
		bits &= bits - 1;
	return bits ? (u32)__builtin_ctz(bits) : FR_WHOSE_CNT;
}

const char *flightrec_column_name(const struct flightrec *fr, unsigned i)
{
	return fr_whose_name(next_column(fr, i));
}

const char *flightrec_event_column(const struct flightrec_event *ev, unsigned i, size_t *sz)
{
	u32 what = next_column(ev->fr, i);

	return what < FR_WHOSE_CNT ? fr_whose_text(ev->fr->run.view, &ev->row, what, sz) : NULL;
}

const char *flightrec_event_tier(const struct flightrec_event *ev)
{
	return fr_tier_name(ev->row.tier);
}

bool flightrec_event_matches(const struct flightrec_event *ev)
{
	return ev->matches;
}

void flightrec_event_pos(const struct flightrec_event *ev, unsigned *epoch, uint64_t *seq, unsigned *offset)
{
	u64 lap;
	u32 off;

	fr_row_pos(&ev->row, &lap, &off);
	if (epoch)
		*epoch = ev->row.b->epoch;
	if (seq)
		*seq = lap;
	if (offset)
		*offset = off;
}

static u64 pair_value(const struct fr_pair *p, enum flightrec_pair which)
{
	switch (which) {
	case FLIGHTREC_PAIR_LATENCY:
		return p->latency_ns;
	case FLIGHTREC_PAIR_OFFCPU:
		return p->offcpu_ns;
	case FLIGHTREC_PAIR_QUEUED:
		return p->queued_ns;
	case FLIGHTREC_PAIR_BLOCKED:
		return p->blocked_ns;
	case FLIGHTREC_PAIR_ONCPU:
		return p->oncpu_ns;
	case FLIGHTREC_PAIR_WAKER:
		return p->waker;
	case FLIGHTREC_PAIR_BEGIN_TS:
		return p->begin_ns;
	}
	return 0;
}

int flightrec_event_pair(const struct flightrec_event *ev, enum flightrec_pair which, uint64_t *v)
{
	const struct fr_pair *p = fr_view_pair(ev->fr->run.view, &ev->row);
	u64 value;

	if (!p)
		return fr_lib_fail(ev->fr, -EINVAL, "what events end was not asked for: set FLIGHTREC_PAIRS before opening");
	value = pair_value(p, which);
	if (value)
		*v = value;
	return value ? 0 : -ENODATA;
}
