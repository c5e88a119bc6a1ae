/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host_ring: a ring in the test's own memory, written by the real bpf/ring.h, and records of all events with random
 * content. Each record written is remembered, so that a test can compare what comes back.
 */
#ifndef FR_HOST_RING_H
#define FR_HOST_RING_H

#include <stdlib.h>
#include <string.h>

#include "base/rows/unfold.h"
#include "event_fields.h"
#include "read/snapfile/snapfile.h"
#include "ring.h"
#include "short.h"

static u64 host_clock_ns = 1000000000;

static void (*host_at_clock)(void); /* what interrupts the next writer, once, between its loads and its reservation */

FR_INLINE u64 fr_clock_cpu_ns(void)
{
	void (*interrupt)(void) = host_at_clock;

	host_at_clock = NULL;
	if (interrupt)
		interrupt();
	return host_clock_ns;
}

FR_INLINE void *fr_ring_page(const struct fr_ring *r, u32 nr)
{
	return (u8 *)r->map + (size_t)nr * FR_PAGE_SZ;
}

/* A record as it was written. */
struct host_rec {
	u64 ts, seq;
	u32 off, sz;
	u8 bytes[FR_REC_MAX_SZ];
};

/* Its place (base/rows/unfold.h), if nothing before it on its page has a short form. */
__attribute__((unused)) static u32 host_place(const struct host_rec *rec)
{
	return rec->off / FR_PAGE_SZ * FR_PLACE_PAGE_SZ + rec->off % FR_PAGE_SZ;
}

struct host_ring {
	struct fr_ring r;
	u64 word;
	struct host_rec *rec;
	u32 rec_cnt, rec_cap;
	bool remember;
};

static u64 host_seed = 88172645463325252ULL;

__attribute__((unused)) static u64 host_random(void)
{
	host_seed ^= host_seed << 13;
	host_seed ^= host_seed >> 7;
	host_seed ^= host_seed << 17;
	return host_seed * 0x2545f4914f6cdd1dULL;
}

__attribute__((unused)) static struct host_ring *host_ring_new(u16 cpu, u16 tier, u32 slot_cnt, u32 subbuf_pages)
{
	size_t pages = FR_DATA_PAGE + (size_t)(slot_cnt + 1) * subbuf_pages;
	struct host_ring *h = calloc(1, sizeof(*h));
	u32 i;

	h->r.map = aligned_alloc(FR_PAGE_SZ, pages * FR_PAGE_SZ);
	memset(h->r.map, 0, pages * FR_PAGE_SZ);
	h->r.wr = fr_ring_page(&h->r, FR_WRITER_PAGE);
	h->r.sl = fr_ring_page(&h->r, FR_SLOT_PAGE);
	h->r.clock_word = &h->word;
	h->r.slot_cnt = slot_cnt;
	h->r.subbuf_pages = subbuf_pages;
	h->r.epoch = 0xabcd1234;
	h->r.cpu = cpu;
	h->r.tier = tier;
	h->remember = true;
	for (i = 0; i < slot_cnt; i++)
		h->r.sl->slot[i] = fr_slot_fresh(i, slot_cnt, subbuf_pages);
	return h;
}

__attribute__((unused)) static void host_ring_free(struct host_ring *h)
{
	free(h->r.map);
	free(h->rec);
	free(h);
}

__attribute__((unused)) static void host_ring_remember(struct host_ring *h, const struct fr_res *res, const void *rec, u32 sz)
{
	const struct fr_page_head *page = fr_ring_page(&h->r, res->page_nr);
	struct host_rec *out;

	if (h->rec_cnt == h->rec_cap) {
		h->rec_cap = h->rec_cap ? 2 * h->rec_cap : 1024;
		h->rec = realloc(h->rec, h->rec_cap * sizeof(*h->rec));
	}
	out = &h->rec[h->rec_cnt++];
	*out = (struct host_rec){.ts = res->time_ns, .seq = page->seq, .sz = sz};
	out->off = page->page * FR_PAGE_SZ + res->unit * FR_UNIT_SZ;
	memcpy(out->bytes, rec, sz);
}

/* Write a record of sz bytes, of which the head is filled in here. 0, or -1 when the ring lost it. */
__attribute__((unused)) static int host_ring_put(struct host_ring *h, u32 event, void *rec, u32 sz)
{
	struct fr_res res;
	u64 head;

	if (fr_ring_reserve(&h->r, sz / FR_UNIT_SZ, &res))
		return -1;
	head = fr_rec_head(res.time_ns, event, sz / FR_UNIT_SZ);
	memcpy(rec, &head, sizeof(head));
	memcpy((u8 *)fr_ring_page(&h->r, res.page_nr) + res.unit * FR_UNIT_SZ, rec, sz);
	fr_ring_commit(&res);
	if (h->remember)
		host_ring_remember(h, &res, rec, sz);
	return 0;
}

/* The same of a struct fr_rec_NAME, as BPF does: one of bits becomes such. */
#define host_ring_put_rec(h, name, rec) \
	(FR_EV_##name == FR_EV_sched_waking ? host_ring_put_waking(h, (const void *)(rec)) : host_ring_put_form(h, name, rec))

/* .task of a waking that was made so: FR_BY(tid, softirq) */
#define FR_BY(tid, how) ((tid) | (u32)FR_WAKER_##how << 24)

/* As a recorder does it: in the short form. */
__attribute__((unused)) static int host_ring_put_waking(struct host_ring *h, const struct fr_rec_sched_waking *rec)
{
	struct fr_rec_sched_wakeup_new v = {.target_pid = rec->target_pid, .prio = rec->prio, .target_cpu = rec->target_cpu};
	u64 bits[] = {0, fr_bits_sched_wakeup_new(&v, rec->task)};

	return host_ring_put(h, fr_short_waking(rec->task >> 24), bits, sizeof(bits));
}

#define host_ring_put_form(h, name, rec)                                                 \
	({                                                                               \
		u64 bits_[] = {0, fr_bits_##name(rec, (rec)->task)};                     \
		FR_HAS_BITS(name) ? host_ring_put(h, FR_EV_##name, bits_, sizeof(bits_)) \
				  : host_ring_put(h, FR_EV_##name, rec, sizeof(*(rec))); \
	})

/* A record that ends in cnt numbers (0: nums may be NULL), behind fixed_sz bytes. 0, or -1 when the ring lost it. */
__attribute__((unused)) static int host_ring_put_nums(struct host_ring *h, u32 event, const void *fixed, u32 fixed_sz,
						      const u64 *nums, u32 cnt)
{
	u8 rec[FR_REC_MAX_SZ] = {0};

	memcpy(rec, fixed, fixed_sz);
	if (cnt)
		memcpy(rec + fixed_sz, nums, cnt * sizeof(*nums));
	return host_ring_put(h, event, rec, (fixed_sz + cnt * 8 + 7) / 8 * 8);
}

/* The i'th lap present, oldest first. false: there are no more. */
__attribute__((unused)) static bool host_ring_lap(const struct host_ring *h, u32 i, struct fr_snap_lap *lap)
{
	/* Laps count from 1: a fresh ring's lap 0 was never written. */
	u64 w = h->r.wr->w, last = fr_w_seq(w), first = last > h->r.slot_cnt ? last - h->r.slot_cnt + 1 : 1, seq = first + i;
	u64 word;

	if (!w || seq > last)
		return false;
	word = h->r.sl->slot[(fr_w_slot(w) + h->r.slot_cnt - (u32)(last - seq)) % h->r.slot_cnt];
	*lap = (struct fr_snap_lap){
		.buf = fr_ring_page(&h->r, fr_ring_page_nr(&h->r, fr_slot_idx(word), 0)),
		.sz = fr_slot_com(word) * FR_UNIT_SZ,
		.epoch = h->r.epoch,
		.cpu = h->r.cpu,
		.tier = h->r.tier,
		.seq = seq,
	};
	return true;
}

/* For fr_snap_watch_laps(): add a lap's events to *arg, a u64, and stop at damaged pages. */
__attribute__((unused)) static void host_ring_count(void *arg, const struct fr_snap_lap_rows *got)
{
	u64 *cnt = arg;

	*cnt += got->to - got->from;
	if (got->damaged_pages)
		abort();
}

/* All laps present into a snapshot. 0 or -errno. */
__attribute__((unused)) static int host_ring_put_laps(const struct host_ring *h, struct fr_snap_writer *w)
{
	struct fr_snap_lap lap;
	int err = 0;
	u32 i;

	for (i = 0; host_ring_lap(h, i, &lap) && !err; i++)
		err = lap.sz ? fr_snap_put_lap(w, &lap, 0) : 0;
	return err ? err : fr_snap_settle(w);
}

/* Numbers as they come in life: mostly small, some repeated, some addresses, some extreme. */
__attribute__((unused)) static u64 host_random_number(void)
{
	static const u64 known[] = {0, ~0ULL, 1ULL << 63, 0x7fffffffffffffffULL, 0xffffffff, 120, 0x7f0012345678ULL};
	u64 r = host_random();

	switch (r % 5) {
	case 0:
		return known[(r >> 8) % (sizeof(known) / sizeof(*known))];
	case 1:
		return r >> (r >> 3) % 64;
	case 2:
		return 0x7ffd00000000ULL + (r >> 40);
	default:
		return (r >> 8) % 100;
	}
}

__attribute__((unused)) static u32 host_random_text(u8 *out, u32 room)
{
	u32 len = host_random() % room, i;

	for (i = 0; i < len; i++)
		out[i] = 1 + host_random() % 255;
	memset(out + len, 0, room - len);
	return len;
}

/* A random record of an event: its size, in whole units. */
__attribute__((unused)) static u32 host_random_record(const struct fr_event *ev, u8 rec[FR_REC_MAX_SZ])
{
	u32 task = host_random() & 0xff003fff, i, sz = ev->fixed_sz, cnt;
	u64 bits = 0;

	memset(rec, 0, FR_REC_MAX_SZ);
	memcpy(rec + 8, &task, 4);
	for (i = 0; i < ev->field_cnt; i++) {
		const struct fr_field *f = &ev->fields[i];
		static const u8 sizes[] = {
			[FR_TYPE_u8] = 1,  [FR_TYPE_u16] = 2, [FR_TYPE_u32] = 4,   [FR_TYPE_u64] = 8,  [FR_TYPE_s16] = 2,
			[FR_TYPE_s32] = 4, [FR_TYPE_s64] = 8, [FR_TYPE_text8] = 8, [FR_TYPE_comm] = 16};
		u64 v = host_random_number();

		if (f->kind != FR_KIND_FIELD)
			continue;
		if (f->bit_cnt) {
			bits |= (v & ((1ULL << f->bit_cnt) - 1)) << f->bit;
		} else if (f->type == FR_TYPE_u64s) {
			for (cnt = host_random() % (host_random() % 64 ? 7 : 100); cnt; cnt--, sz += 8) {
				v = host_random_number();
				memcpy(rec + sz, &v, 8);
			}
		} else if (f->type == FR_TYPE_str) {
			sz += host_random_text(rec + sz, ev->nr == FR_EV_sys_path ? FR_CALL_TEXT_MAX - 8 : 200) +
			      host_random() % 9;
		} else if (f->type == FR_TYPE_comm || f->type == FR_TYPE_text8) {
			host_random_text(rec + f->off, sizes[f->type]);
		} else {
			memcpy(rec + f->off, &v, sizes[f->type]);
		}
	}
	if (ev->nr == FR_EV_sys_path) /* a text: what is an address becomes another record on reading */
		((struct fr_rec_sys_path *)rec)->arg &= ~FR_CALL_RAW_ARG;
	if (ev->nr == FR_EV_stderr_write) /* all of it: of an end the first word goes on reading */
		((struct fr_rec_stderr_write *)rec)->bytes = 0;
	if (bits)
		memcpy(rec + 8, &(u64){bits | (task & FR_TID_MASK)}, 8);
	return (sz + FR_UNIT_SZ - 1) / FR_UNIT_SZ * FR_UNIT_SZ;
}

/* Write cnt random records of random events of the built-in schema. */
__attribute__((unused)) static void host_ring_fill(struct host_ring *h, u32 cnt)
{
	const struct fr_schema *s = fr_schema_builtin();
	u8 rec[FR_REC_MAX_SZ];

	while (cnt) {
		const struct fr_event *ev = fr_schema_event(s, host_random() % FR_EVENT_MAX);

		if (!ev)
			continue;
		host_clock_ns += host_random() % 5 ? host_random() % 5000 : host_random() % 5000000;
		host_ring_put(h, ev->nr, rec, host_random_record(ev, rec));
		cnt--;
	}
}

#endif
