/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events per second by group, from the newest RATE_NS in each CPU's rings, or as much of it as is there. Nothing is enabled for
 * that and nothing is moved: pages are copied, and discarded if a writer interfered.
 */
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "base/rows/unfold.h"
#include "base/schema/schema.h"
#include "live/recorder/live.h"

#define RATE_NS	      1000000000ULL
#define RATE_PAGE_MAX 512u /* per ring: 2 MiB, so that a look takes a millisecond */

struct look {
	const struct fr_ring_map *m;
	u64 now_ns, since_ns;
	u64 oldest_ns; /* of the records counted */
	u64 cnt[FR_GROUP_CNT];
	u8 group[256]; /* of an event */
	u64 page[FR_PAGE_SZ / 8];
};

/* Copy page nr of lap seq. False: it is another lap's, or was taken meanwhile. */
static bool rate_copy_page(struct look *k, u64 seq, u32 nr)
{
	u64 *slot = &k->m->sl->slot[seq % k->m->slot_cnt], word = fr_load(slot);
	const struct fr_page_head *head = (const void *)k->page;
	u32 idx = fr_slot_idx(word);

	if (fr_slot_seq(word) != (seq & FR_SEQ_MASK) || idx > k->m->slot_cnt)
		return false;
	memcpy(k->page, k->m->data + ((size_t)idx * k->m->subbuf_pages + nr) * FR_PAGE_SZ, FR_PAGE_SZ);
	if (fr_slot_seq(fr_load(slot)) != (seq & FR_SEQ_MASK))
		return false;
	return head->magic == FR_PAGE_MAGIC && head->epoch == k->m->epoch && head->seq == seq && head->page == nr;
}

/* The 48 bits of time of the record at unit. */
static u64 time_of(const u64 *page, u32 unit)
{
	u64 rec = page[unit];
	struct fr_begun call;

	if (!fr_short_is_told(fr_head_event(rec)))
		return fr_head_time(rec);
	if (fr_short_is_near(fr_head_event(rec)))
		return fr_short_begun(page, unit, &call) ? call.time : 0;
	return fr_short_begun(page, unit - fr_near_back(rec), &call) ? fr_near_time(rec, &call) : 0;
}

/* Count the records of the current page, up to unit end. Could older pages count, too? */
static bool count_page(struct look *k, u32 end)
{
	const struct fr_page_head *head = (const void *)k->page;
	u32 unit = FR_PAGE_HEAD_UNITS + (head->page ? 0 : FR_SUBBUF_HEAD_UNITS), units;
	u64 rec, ts;

	for (; unit < end; unit += units) {
		rec = k->page[unit];
		units = fr_head_units(rec);
		if (!units || unit + units > end)
			break;
		ts = fr_time_unroll(head->base_ns, time_of(k->page, unit));
		if (ts < k->since_ns || ts > k->now_ns)
			continue;
		if (ts < k->oldest_ns)
			k->oldest_ns = ts;
		k->cnt[k->group[fr_head_event(rec)]]++;
	}
	return head->base_ns > k->since_ns;
}

/* From the newest page backwards. Were all records since since_ns seen? */
static bool look_at_ring(struct look *k)
{
	u32 page, left = RATE_PAGE_MAX, end;
	u64 first, last, seq, w;

	if (fr_ring_read_range(k->m, &first, &last))
		return true;
	w = fr_writer_w(k->m->wr);
	for (seq = last; seq >= first && seq; seq--) {
		page = k->m->subbuf_pages;
		end = FR_PAGE_UNITS;
		if (seq == fr_w_seq(w)) {
			page = fr_w_off(w) / FR_PAGE_UNITS + 1;
			end = fr_w_off(w) % FR_PAGE_UNITS;
		}
		for (; page; page--, end = FR_PAGE_UNITS) {
			if (!left--)
				return false;
			if (page > k->m->subbuf_pages || !end)
				continue;
			if (!rate_copy_page(k, seq, page - 1))
				return false;
			if (!count_page(k, end))
				return true;
		}
	}
	return first <= 1;
}

static void rate_add_ring(struct fr_live *l, struct look *k, const struct fr_ring_map *m)
{
	u64 span;
	u32 g;

	k->m = m;
	k->oldest_ns = k->now_ns;
	memset(k->cnt, 0, sizeof(k->cnt));
	/* missing history is not silence: take the rate of what is present */
	span = look_at_ring(k) ? k->now_ns - k->since_ns : k->now_ns - k->oldest_ns;
	for (g = 0; span && g < FR_GROUP_CNT; g++)
		l->rate[g] += (double)k->cnt[g] * 1e9 / span;
}

void fr_live_read_rates(struct fr_live *l)
{
	struct look *k = calloc(1, sizeof(*k));
	const struct fr_event *ev;
	u32 i;

	if (!k || !l->now_ns) {
		free(k);
		return;
	}
	for (i = 0; i < 256; i++) {
		ev = fr_schema_event(fr_schema_builtin(), fr_unfolded_event(i));
		k->group[i] = ev ? ev->group : FR_GROUP_MARK;
	}
	k->now_ns = l->now_ns;
	k->since_ns = l->now_ns > RATE_NS ? l->now_ns - RATE_NS : 0;
	if (k->since_ns < l->begin_ns)
		k->since_ns = l->begin_ns;
	for (i = 0; i < l->ring_cnt; i++)
		if (l->ring[i].map->tier != FR_TIER_STACK)
			rate_add_ring(l, k, l->ring[i].map);
	l->has_rates = true;
	free(k);
}
