/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* info: what snapshots say about themselves, what they hold, and what they lack. */
#include <errno.h>
#include <string.h>

#include "base/schema/reasons.h"
#include "lib/handle.h"

unsigned flightrec_file_cnt(const struct flightrec *fr)
{
	return fr && fr->replay ? fr_replay_file_cnt(fr->replay) : 0;
}

const char *flightrec_file_path(const struct flightrec *fr, unsigned file)
{
	return fr_lib_has_file(fr, file) ? fr_replay_path(fr->replay, file) : NULL;
}

const char *flightrec_fact(const struct flightrec *fr, unsigned file, const char *name)
{
	return name && fr_lib_has_file(fr, file) ? fr_snap_fact(fr_replay_snap(fr->replay, file), name) : NULL;
}

int flightrec_fact_s64(const struct flightrec *fr, unsigned file, const char *name, int64_t *v)
{
	s64 got;

	if (!flightrec_fact(fr, file, name))
		return -ENODATA;
	if (!fr_snap_fact_num(fr_replay_snap(fr->replay, file), name, &got))
		return -EINVAL;
	*v = got;
	return 0;
}

void flightrec_window(const struct flightrec *fr, uint64_t *begin_ns, uint64_t *end_ns)
{
	u64 begin = 0, end = 0;

	if (fr && fr->replay)
		fr_replay_window(fr->replay, &begin, &end);
	if (begin_ns)
		*begin_ns = begin;
	if (end_ns)
		*end_ns = end;
}

uint64_t flightrec_wall_ns(const struct flightrec *fr, unsigned file, uint64_t ts)
{
	return fr_lib_has_file(fr, file) ? fr_wall_real(fr_replay_view(fr->replay, file)->wall, ts) : 0;
}

const char *flightrec_damage(const struct flightrec *fr, unsigned file, unsigned nr)
{
	const struct fr_snap *s = fr_lib_has_file(fr, file) ? fr_replay_snap(fr->replay, file) : NULL;

	return s && nr < fr_snap_damage(s) ? fr_snap_damage_text(s, nr) : NULL;
}

bool flightrec_is_damaged(const struct flightrec *fr)
{
	return fr && (fr->disorder || (fr->replay && fr_replay_is_damaged(fr->replay)));
}

bool flightrec_warn_damage(struct flightrec *fr)
{
	const struct fr_err_sink *was;

	if (!fr)
		return false;
	was = fr_lib_enter(fr);
	if (fr->replay)
		fr_replay_say_damage(fr->replay);
	if (fr->disorder)
		fr_warn("times go backwards: a file holds events in an order no recorder wrote");
	fr_lib_leave(was);
	return flightrec_is_damaged(fr);
}

/* ---- rings ---- */

const struct fr_summary *fr_lib_summary(struct flightrec *fr, unsigned file)
{
	if (!fr_lib_has_file(fr, file) || !fr->summary)
		return NULL;
	if (!fr->summary[file] && fr_summary_new(fr_replay_snap(fr->replay, file), &fr->summary[file]))
		fr_lib_no_memory(fr);
	return fr->summary[file];
}

uint64_t flightrec_horizon_ns(struct flightrec *fr, unsigned file, const char *tier)
{
	const struct fr_summary *m = fr_lib_summary(fr, file);
	u32 nr;

	for (nr = 0; m && tier && fr_tier_name(nr); nr++) {
		if (!strcmp(fr_tier_name(nr), tier))
			return fr_summary_horizon(m, nr);
	}
	return 0;
}

const struct flightrec_ring *flightrec_ring(struct flightrec *fr, unsigned file, unsigned nr)
{
	const struct fr_summary *m = fr_lib_summary(fr, file);

	return m && nr < m->ring_cnt ? (const struct flightrec_ring *)&m->ring[nr] : NULL;
}

static const struct fr_sum_ring *info_ring_of(const struct flightrec_ring *r)
{
	return (const struct fr_sum_ring *)r;
}

static u64 all_lost(const struct fr_sum_ring *r)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < FR_LOST_CNT; i++)
		sum += r->count.lost[i];
	return sum;
}

uint64_t flightrec_ring_get(const struct flightrec_ring *ring, enum flightrec_ring_value which)
{
	const struct fr_sum_ring *r = info_ring_of(ring);

	switch (which) {
	case FLIGHTREC_RING_CPU:
		return r->cpu;
	case FLIGHTREC_RING_EVENTS:
		return r->event_cnt;
	case FLIGHTREC_RING_FIRST_NS:
		return r->first_ts;
	case FLIGHTREC_RING_LAST_NS:
		return r->last_ts;
	case FLIGHTREC_RING_HORIZON_NS:
		return r->horizon_ns;
	case FLIGHTREC_RING_WRITTEN:
		return r->count.written;
	case FLIGHTREC_RING_OVERWRITTEN:
		return r->count.overwritten;
	case FLIGHTREC_RING_LOST:
		return all_lost(r);
	case FLIGHTREC_RING_HOLES:
		return r->hole_cnt;
	case FLIGHTREC_RING_TIER:
		return r->tier;
	case FLIGHTREC_RING_PRESENT:
		return r->count.present;
	case FLIGHTREC_RING_FIRST_SEQ:
		return r->count.first_seq;
	case FLIGHTREC_RING_LAST_SEQ:
		return r->count.last_seq;
	case FLIGHTREC_RING_SLOTS:
		return r->count.slot_cnt;
	case FLIGHTREC_RING_SUBBUF_BYTES:
		return r->count.subbuf_sz;
	case FLIGHTREC_RING_END_NS:
		return r->end_ns;
	case FLIGHTREC_RING_HOLDER:
		return r->count.holder;
	}
	return 0;
}

const char *flightrec_ring_tier(const struct flightrec_ring *r)
{
	return fr_tier_name(info_ring_of(r)->tier);
}

const char *flightrec_loss_name(unsigned reason)
{
	return fr_lost_name(reason);
}

uint64_t flightrec_ring_lost(const struct flightrec_ring *r, unsigned reason)
{
	return reason < FR_LOST_CNT ? info_ring_of(r)->count.lost[reason] : 0;
}
