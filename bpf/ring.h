/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ring: one CPU's records of one tier, overwriting the oldest, read by swapping a spare sub-buffer in.
 *
 * The swap is LTTng's flight recorder (M. Desnoyers, 2009): reservation and commit know nothing of it, only the word that
 * says which sub-buffer a slot uses is exchanged. This file is the whole protocol, for BPF programs, the reader and host
 * tests alike; it calls nothing but fr_ring_page() and fr_clock_cpu_ns(), which each environment brings.
 * tests/model holds its Spin model, tests/step interrupts it at each instruction.
 *
 * Words
 *	unit		8 bytes; all offsets and lengths of the protocol are in units
 *	page		512 units; records never cross a page; each begins with a struct fr_page_head
 *	sub-buffer	P pages; there are N + 1 of them, numbered by idx
 *	slot		a writer's place, N of them; slot i holds the word { seq | idx | cnt | com }
 *	lap		one filling of one slot, numbered by seq, 1 and up; lap s sits in slot s mod N
 *	spare		the one idx that no slot names: the reader's. Derived, never stored
 *
 *	w    { seq:36 | slot:10 | off:18 }   where the next record goes; off 0: this lap was never begun (fresh ring).
 *					    Only grows. Only BPF writes it
 *	slot { seq:19 | idx:10 | hole:1 | cnt:16 | com:18 }	com units of lap seq are committed, cnt records among them.
 *					    com == P*512 <=> no reference is held, the lap may be read or overwritten.
 *					    hole: it was healed, not all of its bytes were written; the opener clears it
 *
 * A fresh ring has w = 0 and slot[i] = { i ? i - N : 0, i, 0, full }: laps delivered and empty.
 *
 *	slots  0	1	   2	      3		       spare
 *	     +---------+----------+----------+----------+     +----------+
 *	idx  | 0  full | 4  full  | 2  com<  | 3  full  |     | 1	 |
 *	     | lap 4   | lap 5	  | lap 6    | lap 3	|     | the      |
 *	     +---------+----------+----------+----------+     | reader's |
 *			  ^ was 1, swapped   ^ w	      +----------+
 *
 * Writer, on its own CPU, in any context, nested in any way, never waiting:
 *  1. Load w, then take the clock, then CAS w: position order is time order. If the record does not fit, lap seq+1 is
 *     wanted, and its slot word must say { seq+1-N, any idx, full }. If it does not, a record of the lap before is not
 *     committed: count and go, never wait, never overwrite.
 *  2. If the reservation ends the lap before: open that slot (its first writer may be the one we interrupted), write the
 *     padding head, commit the padding there.
 *  3. Open the target slot: CAS { s-N, idx, full } -> { s, idx, 0 }. Only then take idx: until then the reader may swap it.
 *  4. Write the heads of page and sub-buffer if the reservation begins one, then the record.
 *  5. Commit: add units and count to the slot word.
 *
 * Rules
 *  - Every byte is written by the one who reserved it, once; there is no field that is filled in later. (A field that an
 *    interrupted opener "initialised" destroyed what nested writers had stored: found by stepping, not by stress.)
 *  - Whoever opens a slot holds a reservation in that lap, so it cannot become full before the opener goes on.
 *  - The opener adds the old cnt to `overwritten`: each record is counted once, by the CAS that lets it go.
 *  - A page holds no two records further apart than FR_PAGE_SPAN_NS, so that 48 bits of time are enough on a quiet CPU.
 *  - seq in the slot word is 19 bits: a stalled writer holds its lap, so nobody is ever more than N laps away from it.
 */
#ifndef FR_RING_H
#define FR_RING_H

#include "clock.h"
#include "layout.h"

#ifndef FR_TRIES
#define FR_TRIES 12 /* of a reservation, and of opening a slot */
#endif

/* One ring as a writer sees it. map is the environment's: what fr_ring_page() takes. */
struct fr_ring {
	void *map;
	struct fr_writer *wr;
	struct fr_slots *sl;
	u64 *clock_word;
	u64 grain_ns;
	u32 slot_cnt;	  /* N */
	u32 subbuf_pages; /* P */
	u32 epoch;
	u16 cpu;
	u16 tier;
};

/* A reservation: what fr_ring_reserve() gives and fr_ring_commit() takes. */
struct fr_res {
	u64 time_ns;
	u64 *word;   /* slot word to commit to */
	u64 add;     /* what to add to it */
	u32 page_nr; /* page of the ring's map */
	u32 unit;    /* record's first unit on that page */
};

/* What the environment may do at the first, second, fourth, eighth record that is lost for a reason, and so on. */
#ifndef FR_RING_LOST
#define FR_RING_LOST(r, why, cnt) ((void)(cnt))
#endif

/* What the environment gives: the start of page nr of the ring's map, NULL if there is no such page. */
FR_INLINE void *fr_ring_page(const struct fr_ring *r, u32 nr);

FR_INLINE u32 fr_ring_units(const struct fr_ring *r)
{
	return r->subbuf_pages * FR_PAGE_UNITS;
}

FR_INLINE u32 fr_ring_page_nr(const struct fr_ring *r, u32 idx, u32 off)
{
	return FR_DATA_PAGE + idx * r->subbuf_pages + off / FR_PAGE_UNITS;
}

/* Where a reservation goes. */
struct fr_place {
	u64 seq; /* lap */
	u32 slot;
	u32 start;   /* first unit reserved in this lap, heads included */
	u32 off;     /* first unit of the record */
	u32 pad_off; /* padding in the lap before begins here */
	u32 pad;     /* units of it; in this lap if !cross */
	u8 cross;    /* begins a lap */
	u8 new_page; /* begins a page */
};

/* Place units after w at time now, by the rules above. */
FR_INLINE void fr_ring_place(const struct fr_ring *r, u64 w, u32 units, u64 now, struct fr_place *p)
{
	u32 off = fr_w_off(w), in_page = off % FR_PAGE_UNITS, room = (FR_PAGE_UNITS - in_page) % FR_PAGE_UNITS;
	u64 base = fr_load(&r->wr->page_base_ns);

	p->seq = fr_w_seq(w);
	p->slot = fr_w_slot(w);
	p->pad_off = off;
	p->pad = 0;
	p->cross = 0;
	p->new_page = 0;
	p->start = off;
	p->off = off;
	if (off && units <= room && now - base < FR_PAGE_SPAN_NS)
		return;
	p->new_page = 1;
	if (off)
		p->pad = room;
	p->off = off + room + FR_PAGE_HEAD_UNITS;
	if (off && off + room < fr_ring_units(r))
		return;
	p->cross = 1;
	p->seq++;
	p->slot = p->slot + 1 < r->slot_cnt ? p->slot + 1 : 0;
	p->start = 0;
	p->off = FR_PAGE_HEAD_UNITS + FR_SUBBUF_HEAD_UNITS;
}

/* The word of a slot; slot is masked by its caller's compare with slot_cnt and by this. */
FR_INLINE u64 *fr_ring_slot(const struct fr_ring *r, u32 slot)
{
	return &r->sl->slot[slot < FR_SLOT_MAX ? slot : 0];
}

/* Is lap seq's slot free to be taken, i.e. is the lap before it in the same slot complete? */
FR_INLINE int fr_slot_free(const struct fr_ring *r, u64 word, u64 seq)
{
	return fr_slot_seq(word) == ((seq - r->slot_cnt) & FR_SEQ_MASK) && fr_slot_com(word) == fr_ring_units(r);
}

/*
 * Open the slot for lap seq, unless somebody has. The caller holds a reservation in that lap. Returns the idx it uses, or
 * -1 if the word is damaged. The CAS pairs with the reader's swap (user/io/ring/ring_read.c): one of both wins, the other sees
 * it.
 */
FR_COLD s32 fr_ring_open(const struct fr_ring *r, u64 *slot, u64 seq)
{
	int i;

	for (i = 0; i < FR_TRIES; i++) {
		u64 word = fr_load(slot);

		if (fr_slot_seq(word) == (seq & FR_SEQ_MASK))
			return fr_slot_idx(word);
		if (!fr_slot_free(r, word, seq))
			return -1;
		if (fr_cas(slot, word, fr_slot(seq, fr_slot_idx(word), 0, 0)) == word) {
			fr_count(&r->wr->overwritten, fr_slot_cnt(word));
			return fr_slot_idx(word);
		}
	}
	return -1;
}

/* Write a head with len 0, which says that nothing follows on its page. Returns 0, or -1 if there is no such page. */
FR_INLINE int fr_ring_pad(const struct fr_ring *r, u32 idx, u32 off)
{
	u64 *page = fr_ring_page(r, fr_ring_page_nr(r, idx, off));

	if (!page)
		return -1;
	fr_store(&page[off % FR_PAGE_UNITS], 0);
	return 0;
}

/*
 * Write the head of the page that p begins, and of the sub-buffer if it begins one. Whole words: the partial read and healing
 * may look at a head while it is replaced.
 */
FR_INLINE void fr_ring_heads(const struct fr_ring *r, u64 *page, const struct fr_place *p, u64 now)
{
	struct fr_page_head head = {
		.magic = FR_PAGE_MAGIC,
		.epoch = r->epoch,
		.seq = p->seq,
		.base_ns = now,
		.cpu = r->cpu,
		.page = p->off / FR_PAGE_UNITS,
		.tier = r->tier,
		.layout = FR_LAYOUT_VERSION,
	};
	u64 unit[FR_PAGE_HEAD_UNITS];
	u32 i;

	__builtin_memcpy(unit, &head, sizeof(head));
	for (i = 0; i < FR_PAGE_HEAD_UNITS; i++)
		fr_store(&page[i], unit[i]);
	/* An interrupted one of these leaves an older base than the newest page's: a page is then begun early, no more. */
	fr_store(&r->wr->page_base_ns, now);
	if (!p->cross)
		return;
	for (i = 0; i < FR_LOST_CNT; i++)
		fr_store(&page[FR_PAGE_HEAD_UNITS + i], fr_load(&r->wr->lost[i]));
	fr_store(&page[FR_PAGE_HEAD_UNITS + FR_LOST_CNT], fr_load(&r->wr->overwritten));
}

/*
 * Take a place and a time for a record of units. Returns 0, or -1 when w moved meanwhile (try again), or the
 * enum fr_lost + 1 by which the record is lost.
 */
FR_INLINE int fr_ring_try(const struct fr_ring *r, u32 units, struct fr_place *p, u64 *now)
{
	u64 w = fr_load(&r->wr->w);

	*now = fr_clock_ns(r->clock_word, r->grain_ns, &r->wr->health);
	fr_ring_place(r, w, units, *now, p);
	if (p->cross && !fr_slot_free(r, fr_load(fr_ring_slot(r, p->slot)), p->seq))
		return fr_load(&r->wr->w) != w ? -1 : FR_LOST_wrap + 1;
	return fr_cas(&r->wr->w, w, fr_w(p->seq, p->slot, p->off + units)) == w ? 0 : -1;
}

/* Count a lost record. Returns -1. */
FR_INLINE int fr_ring_lose(const struct fr_ring *r, enum fr_lost why)
{
	fr_count(&r->wr->lost[why], 1);
	return -1;
}

/* The same, and said: as often as the count doubles. */
FR_INLINE int fr_ring_lose_aloud(const struct fr_ring *r, u32 why)
{
	u64 cnt = fr_add(&r->wr->lost[why < FR_LOST_CNT ? why : FR_LOST_broken], 1) + 1;

	if (!(cnt & (cnt - 1)))
		FR_RING_LOST(r, why, cnt);
	return -1;
}

/* Step 2: padding that ends the lap before p's. Returns 0, or -1 if its word is damaged. */
FR_INLINE int fr_ring_end_lap(const struct fr_ring *r, const struct fr_place *p)
{
	u32 prev = p->slot ? p->slot - 1 : r->slot_cnt - 1;
	u64 *slot = fr_ring_slot(r, prev);
	s32 idx = fr_ring_open(r, slot, p->seq - 1);

	if (idx < 0 || fr_ring_pad(r, idx, p->pad_off))
		return -1;
	fr_add(slot, fr_slot_add(0, p->pad));
	return 0;
}

/* The record goes to p, in sub-buffer idx. */
FR_INLINE void fr_ring_found(const struct fr_ring *r, const struct fr_place *p, u32 idx, u32 units, struct fr_res *res)
{
	res->word = fr_ring_slot(r, p->slot);
	res->page_nr = fr_ring_page_nr(r, idx, p->off);
	res->unit = p->off % FR_PAGE_UNITS;
	res->add = fr_slot_add(1, p->off + units - p->start);
}

/* Reserve in all cases: pages and laps that begin, w moved by nested writers. Returns 0, or the enum fr_lost + 1. */
FR_INLINE int fr_ring_reserve_slow(const struct fr_ring *r, u32 units, struct fr_res *res)
{
	struct fr_place p = {};
	int i, ret = -1;
	s32 idx;

	for (i = 0; i < FR_TRIES && ret < 0; i++)
		ret = fr_ring_try(r, units, &p, &res->time_ns);
	if (ret)
		return ret < 0 ? FR_LOST_retry + 1 : ret;
	if (p.cross && p.pad && fr_ring_end_lap(r, &p))
		return FR_LOST_broken + 1;
	idx = fr_ring_open(r, fr_ring_slot(r, p.slot), p.seq);
	if (idx < 0)
		return FR_LOST_broken + 1;
	fr_ring_found(r, &p, idx, units, res);
	if (p.new_page) {
		u64 *page = fr_ring_page(r, res->page_nr);

		if (!page || (!p.cross && p.pad && fr_ring_pad(r, idx, p.pad_off)))
			return FR_LOST_broken + 1;
		fr_ring_heads(r, page, &p, res->time_ns);
	}
	return 0;
}

/* The same out of the way of what runs each time. As fr_ring_reserve(). */
FR_COLD int fr_ring_reserve_any(const struct fr_ring *r, u32 units, struct fr_res *res)
{
	int lost = fr_ring_reserve_slow(r, units, res);

	return lost ? fr_ring_lose_aloud(r, lost - 1) : 0;
}

/*
 * Reserve a record of units (heads not counted; at most FR_REC_MAX_SZ / FR_UNIT_SZ). Returns 0 and *res, of which the
 * caller fills the record at res->page_nr, res->unit and then commits; or -1, counted as lost.
 *
 * What is nearly always so stands here in a straight line: the record fits the page, nobody came between, the lap is open.
 * The other cases get copies, so that what is passed to them by address stays in registers here.
 */
FR_INLINE int fr_ring_reserve(const struct fr_ring *r, u32 units, struct fr_res *res)
{
	u64 w = fr_load(&r->wr->w), word;
	struct fr_ring ring;
	struct fr_place p;
	struct fr_res any;
	s32 idx;

	res->time_ns = fr_clock_ns(r->clock_word, r->grain_ns, &r->wr->health);
	fr_ring_place(r, w, units, res->time_ns, &p);
	if (p.new_page || fr_cas(&r->wr->w, w, w + units) != w) {
		ring = *r;
		if (fr_ring_reserve_any(&ring, units, &any))
			return -1;
		*res = any;
		return 0;
	}
	word = fr_load(fr_ring_slot(r, p.slot));
	idx = fr_slot_idx(word);
	if (fr_slot_seq(word) != (p.seq & FR_SEQ_MASK)) {
		ring = *r;
		idx = fr_ring_open(&ring, fr_ring_slot(r, p.slot), p.seq);
		if (idx < 0)
			return fr_ring_lose(r, FR_LOST_broken);
	}
	fr_ring_found(r, &p, idx, units, res);
	return 0;
}

/*
 * Commit: the record and all it reserved is written. Pairs with the reader's load of the slot word: who sees the sum sees
 * the bytes.
 */
FR_INLINE void fr_ring_commit(const struct fr_res *res)
{
	fr_add(res->word, res->add);
}

#endif
