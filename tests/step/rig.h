/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rig: a ring in plain memory, written by bpf/ring.h as it is, read by user/live/ring/ring_read.c, with records that check
 * themselves. The test brings fr_clock_cpu_ns().
 *
 *	record	{ head | tag | mixed(tag, 2) | mixed(tag, 3) ... }	tag: who wrote it, and its how-manieth
 */
#ifndef FR_TEST_RIG_H
#define FR_TEST_RIG_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/ring/ring_read.h"
#include "ring.h"

#define RIG_FAR_S     60 /* how much longer threads go on, if the machine is so busy that not each thing happened */
#define RIG_EVENT     7u
#define RIG_UNITS_MIN 2u

struct rig {
	struct fr_writer wr;
	struct fr_slots sl;
	u8 *data;
	size_t data_sz;
	u64 clock_word;
	struct fr_ring ring;	/* the writers' view */
	struct fr_ring_map map; /* the reader's */
};

FR_INLINE void *fr_ring_page(const struct fr_ring *r, u32 nr)
{
	struct rig *rig = r->map;
	size_t off = (size_t)(nr - FR_DATA_PAGE) * FR_PAGE_SZ;

	return nr >= FR_DATA_PAGE && off < rig->data_sz ? rig->data + off : NULL;
}

/* A fresh ring of slot_cnt sub-buffers and a spare. Exits if there is no memory. */
static inline void rig_init(struct rig *rig, u32 slot_cnt, u32 subbuf_pages)
{
	u32 i;

	memset(rig, 0, sizeof(*rig));
	rig->data_sz = (size_t)(slot_cnt + 1) * subbuf_pages * FR_PAGE_SZ;
	rig->data = aligned_alloc(FR_PAGE_SZ, rig->data_sz);
	if (!rig->data)
		exit(1);
	memset(rig->data, 0, rig->data_sz);
	for (i = 0; i < slot_cnt; i++)
		rig->sl.slot[i] = fr_slot_fresh(i, slot_cnt, subbuf_pages);
	rig->ring = (struct fr_ring){
		.map = rig,
		.wr = &rig->wr,
		.sl = &rig->sl,
		.clock_word = &rig->clock_word,
		.grain_ns = FR_CLOCK_LOCAL,
		.slot_cnt = slot_cnt,
		.subbuf_pages = subbuf_pages,
		.epoch = 0x5eed,
		.cpu = 3,
		.tier = 1,
	};
	rig->map = (struct fr_ring_map){&rig->wr, &rig->sl, rig->data, slot_cnt, subbuf_pages, 0x5eed, 3, 1};
}

static inline size_t rig_subbuf_sz(const struct rig *rig)
{
	return (size_t)rig->map.subbuf_pages * FR_PAGE_SZ;
}

static inline u64 rig_mixed(u64 tag, u32 i)
{
	u64 x = (tag + i) * 0x9e3779b97f4a7c15ull;

	return x ^ x >> 29;
}

/* Write a record, as a BPF program does. Returns its time, 0 if it was lost. */
FR_INLINE u64 rig_write(const struct fr_ring *r, u64 tag, u32 units)
{
	struct fr_res res;
	u64 *rec;
	u32 i;

	if (fr_ring_reserve(r, units, &res))
		return 0;
	rec = (u64 *)fr_ring_page(r, res.page_nr) + res.unit;
	fr_store(&rec[0], fr_rec_head(res.time_ns, RIG_EVENT, units));
	fr_store(&rec[1], tag);
	for (i = 2; i < units; i++)
		fr_store(&rec[i], rig_mixed(tag, i));
	fr_ring_commit(&res);
	return res.time_ns;
}

/* Gets each record of a lap. */
typedef void (*rig_record_fn)(void *arg, u64 tag, u64 time_ns);

#define RIG_BAD(...)                      \
	do {                              \
		printf("  " __VA_ARGS__); \
		putchar('\n');            \
		return -1;                \
	} while (0)

/* Check the records of one page, of which end units are there. Returns how many, -1 and a message if one is not whole. */
static inline int rig_check_page(const u64 *page, u32 unit, u32 end, u64 base_ns, u64 *last_ns, rig_record_fn fn, void *arg)
{
	int cnt = 0;

	while (unit < end && fr_head_units(page[unit])) {
		u32 units = fr_head_units(page[unit]), i;
		u64 time = fr_time_unroll(base_ns, fr_head_time(page[unit])), tag = page[unit + 1];

		if (fr_head_event(page[unit]) != RIG_EVENT || units < RIG_UNITS_MIN || unit + units > end)
			RIG_BAD("unit %u: no record: %llx", unit, (unsigned long long)page[unit]);
		for (i = 2; i < units; i++)
			if (page[unit + i] != rig_mixed(tag, i))
				RIG_BAD("unit %u: torn", unit + i);
		if (time < *last_ns)
			RIG_BAD("unit %u: out of order", unit);
		*last_ns = time;
		unit += units;
		cnt++;
		if (fn)
			fn(arg, tag, time);
	}
	return cnt;
}

/* Check a lap that was copied to buf: heads, each record, the count. Returns 0, -1 and a message. */
static inline int rig_check_lap(const struct rig *rig, const void *buf, const struct fr_lap *lap, u64 *last_ns,
				rig_record_fn fn, void *arg)
{
	u32 off, cnt = 0;

	for (off = 0; off < lap->com_units; off += FR_PAGE_UNITS) {
		const u64 *page = (const u64 *)buf + off;
		const struct fr_page_head *head = (const void *)page;
		u32 left = lap->com_units - off, end = left < FR_PAGE_UNITS ? left : FR_PAGE_UNITS;
		u32 unit = FR_PAGE_HEAD_UNITS + (off ? 0 : FR_SUBBUF_HEAD_UNITS);
		int ret;

		if (head->magic != FR_PAGE_MAGIC || head->epoch != rig->map.epoch || head->seq != lap->seq ||
		    head->page != off / FR_PAGE_UNITS || head->cpu != rig->map.cpu || head->tier != rig->map.tier)
			RIG_BAD("lap %llu, page %u: not its head", (unsigned long long)lap->seq, (u32)(off / FR_PAGE_UNITS));
		ret = rig_check_page(page, unit, end, head->base_ns, last_ns, fn, arg);
		if (ret < 0)
			RIG_BAD("lap %llu, page %u", (unsigned long long)lap->seq, (u32)(off / FR_PAGE_UNITS));
		cnt += ret;
	}
	if (cnt != lap->cnt)
		RIG_BAD("lap %llu: %u records, its word counts %u", (unsigned long long)lap->seq, cnt, lap->cnt);
	return 0;
}

static inline u64 rig_lost(const struct rig *rig)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < FR_LOST_CNT; i++)
		sum += fr_load(&rig->wr.lost[i]);
	return sum;
}

#endif
