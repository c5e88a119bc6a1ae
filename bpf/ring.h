/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ring: one CPU's records of one tier. It overwrites the oldest, and is read by swapping a spare sub-buffer in.
 *
 * The swap is that of LTTng's flight recorder (M. Desnoyers, 2009): reserve and commit know nothing of it, only the word that
 * says which sub-buffer a slot uses is exchanged. This file is the whole protocol, for BPF programs, the reader and host
 * tests alike. It calls nothing but fr_ring_page() and fr_clock_cpu_ns(), which each environment provides.
 * tests/model holds its Spin model, tests/step interrupts it at each instruction.
 *
 * Words
 *	unit		8 bytes; all offsets and lengths of the protocol are in units
 *	page		512 units; records never cross a page; each begins with a struct fr_page_head
 *	sub-buffer	P pages; there are N + 1 of them, numbered by idx
 *	slot		a writer's place, N of them; slot i holds the word { seq | idx | cnt | com }
 *	lap		one filling of one slot, numbered by seq from 1; lap s is in slot s mod N
 *	spare		the one idx that no slot names: the reader's. Derived, never stored
 *
 *	w    { seq:36 | slot:10 | off:18 }   where the next record goes; off 0: this lap was never begun (fresh ring).
 *					    Only grows. Only BPF writes it
 *	slot { seq:19 | idx:10 | hole:1 | cnt:16 | com:18 }	com units of lap seq are committed, with cnt records.
 *					    com == P*512 <=> no reservation is open, the lap may be read or overwritten.
 *					    hole: the lap was healed, not all of its bytes were written; the opener clears it
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
 * A writer runs on its own CPU, in any context, nested in any way, and never waits:
 *  1. Load w, then read the clock, then CAS w: position order is time order. If the record does not fit, it needs lap seq+1,
 *     whose slot word must be { seq+1-N, any idx, full }. If it is not, a record of that old lap is not committed yet: count
 *     a loss and return. Never wait, never overwrite.
 *  2. If the reservation ends the previous lap: open that slot (we may have interrupted its first writer), write the padding
 *     head, commit the padding there.
 *  3. Open the target slot: CAS { s-N, idx, full } -> { s, idx, 0 }. Only then use idx: until then the reader may swap it.
 *  4. Write the heads of page and sub-buffer if the reservation begins one, then the record.
 *  5. Commit: add units and count to the slot word.
 *
 * Rules
 *  - Every byte is written once, by the writer that reserved it; no field is filled in later. (An interrupted opener that
 *    "initialised" a field destroyed what nested writers had stored: found by stepping, not by stress.)
 *  - The writer that opens a slot holds a reservation in that lap, so the lap cannot become full before the opener resumes.
 *  - The opener adds the old cnt to `overwritten`: each record is counted once, by the CAS that discards it.
 *  - No two records of a page are more than FR_PAGE_SPAN_NS apart, so that 48 bits of time are enough on a quiet CPU.
 *  - seq in the slot word has 19 bits: a stalled writer holds its lap, so no writer is ever more than N laps away from it.
 *
 * Order: what each ordered access pairs with
 *	CAS of w		 the next writer's; readers load it after the slot word (fr_writer_w())
 *	CAS that opens a slot	 the reader's swap: one wins; and its load after a copy: it sees whether the lap was left
 *	commit to a slot word	 the reader's load of that word: whoever sees the sum sees the bytes, page heads and padding
 *	stores of page heads	 none, the commit orders them. Whole words: a reader may look while a head is replaced
 */
#ifndef FR_RING_H
#define FR_RING_H

#include "clock.h"
#include "layout.h"

#ifndef FR_TRIES
#define FR_TRIES 12 /* tries to reserve, and to open a slot */
#endif

/* One ring as a writer sees it. map belongs to the environment: it is what fr_ring_page() uses. */
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

/* A reservation: filled by fr_ring_reserve(), taken by fr_ring_commit(). */
struct fr_res {
	u64 time_ns;
	u64 at;	     /* where the record begins, as a w; 0 if it took the slow path */
	u32 is_near; /* it takes one unit less (struct fr_near) */
	u64 add;     /* what to add to the slot word */
	u64 *word;   /* the slot's */
	u32 page_nr; /* page of the ring's map */
	u32 unit;    /* record's first unit on that page */
	struct fr_writer *wr;
};

/* A reservation in numbers, as the slow path returns it. */
struct fr_grant {
	u64 time_ns;
	u64 add;
	u32 page_nr;
	u32 unit;
	u32 slot;
	u32 pad;
};

/*
 * The condition for a near form, which refers to an earlier record on its page and takes one unit less: the record must begin
 * at w, less than span_ns after time (48 bits).
 */
struct fr_near {
	u64 w;	/* 0: none */
	u64 at; /* where the earlier record begins */
	u64 time;
	u64 span_ns;
};

/* The environment may define this to report losses: called at the 1st, 2nd, 4th, 8th, ... loss for each reason. */
#ifndef FR_RING_LOST
#define FR_RING_LOST(r, why, cnt) ((void)(cnt))
#endif

/* Provided by the environment: returns the start of page nr of the ring's map, NULL if there is no such page. */
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
	u64 time_ns;
	u32 slot;
	u32 start;   /* first unit reserved in this lap, heads included */
	u32 off;     /* first unit of the record */
	u32 pad_off; /* where padding in the previous lap begins */
	u32 pad;     /* units of padding; in this lap if !cross */
	u8 cross;    /* begins a lap */
	u8 new_page; /* begins a page */
};

/* Place a record of units after w at time now. */
FR_INLINE void fr_ring_place(const struct fr_ring *r, u64 w, u32 units, u64 now, struct fr_place *p)
{
	u32 off = fr_w_off(w), in_page = off % FR_PAGE_UNITS, room = (FR_PAGE_UNITS - in_page) % FR_PAGE_UNITS;
	u64 base = fr_load(&r->wr->page_base_ns);

	p->seq = fr_w_seq(w);
	p->time_ns = now;
	p->slot = fr_w_slot(w);
	p->pad_off = off;
	p->pad = 0;
	p->cross = 0;
	p->new_page = 0;
	p->start = off;
	p->off = off;
	if (units <= room && now - base < FR_PAGE_SPAN_NS) /* off 0: no room */
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

/* The word of a slot. */
FR_INLINE u64 *fr_ring_slot(struct fr_slots *sl, u32 slot)
{
	asm volatile("" : "+r"(slot)); /* the register compared is the one used, for the verifier */
	return &sl->slot[slot < FR_SLOT_MAX ? slot : 0];
}

/* Is the slot free for lap seq, i.e. is its previous lap complete? */
FR_INLINE int fr_slot_free(const struct fr_ring *r, u64 word, u64 seq)
{
	return fr_slot_seq(word) == ((seq - r->slot_cnt) & FR_SEQ_MASK) && fr_slot_com(word) == fr_ring_units(r);
}

/*
 * Open the slot for lap seq unless it is open. The caller holds a reservation in that lap. Returns the idx in use, or -1 if the
 * word is damaged. The CAS pairs with the reader's swap (user/live/ring/ring_read.c): one of the two wins, the other sees it.
 */
FR_INLINE s32 fr_ring_open(const struct fr_ring *r, u32 nr, u64 seq)
{
	u64 *slot = fr_ring_slot(r->sl, nr);
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

/* Write a head with len 0: nothing follows on this page. Returns 0, or -1 if there is no such page. */
FR_INLINE int fr_ring_pad(const struct fr_ring *r, u32 idx, u32 off)
{
	u64 *page = fr_ring_page(r, fr_ring_page_nr(r, idx, off));

	if (!page)
		return -1;
	fr_store(&page[off % FR_PAGE_UNITS], 0);
	return 0;
}

/*
 * Write the head of the page that p begins, and of the sub-buffer if p begins one. Stores whole words: a partial read or
 * healing may look at a head while it is replaced.
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
	/* A writer interrupted here may leave an older page's base: the next page is then begun early, no more. */
	fr_store(&r->wr->page_base_ns, now);
	if (!p->cross)
		return;
	for (i = 0; i < FR_LOST_CNT; i++)
		fr_store(&page[FR_PAGE_HEAD_UNITS + i], fr_load(&r->wr->lost[i]));
	fr_store(&page[FR_PAGE_HEAD_UNITS + FR_LOST_CNT], fr_load(&r->wr->overwritten));
}

/*
 * Reserve a place and a time for a record of units. Returns 0, -1 if the position moved meanwhile (try again), or the enum
 * fr_lost + 1 that loses the record.
 */
FR_INLINE int fr_ring_try(const struct fr_ring *r, u32 units, struct fr_place *p)
{
	u64 w = fr_load(&r->wr->w), now;

	now = fr_clock_ns(r->clock_word, r->grain_ns, &r->wr->health);
	fr_ring_place(r, w, units, now, p);
	if (p->cross && !fr_slot_free(r, fr_load(fr_ring_slot(r->sl, p->slot)), p->seq))
		return fr_load(&r->wr->w) != w ? -1 : FR_LOST_wrap + 1;
	return fr_cas(&r->wr->w, w, fr_w(p->seq, p->slot, p->off + units)) == w ? 0 : -1;
}

/* Count a lost record. Returns -1. */
FR_INLINE int fr_ring_lose(const struct fr_ring *r, enum fr_lost why)
{
	fr_count(&r->wr->lost[why], 1);
	return -1;
}

/* Count a lost record, and report it if the count is a power of two. Returns -1. */
FR_INLINE int fr_ring_lose_aloud(const struct fr_ring *r, u32 why)
{
	u64 nr = why, cnt;

	asm volatile("" : "+r"(nr)); /* the register compared is the one used, for the verifier of 6.1 */
	cnt = fr_add(&r->wr->lost[nr < FR_LOST_CNT ? nr : FR_LOST_broken], 1) + 1;
	if (!(cnt & (cnt - 1)))
		FR_RING_LOST(r, why, cnt);
	return -1;
}

/* ---- all cases ---- */

/*
 * How the environment reaches the parts of the slow path: separate functions, shared by all event programs. Only copies are
 * passed by address, so that the rest stays in registers.
 */
#ifndef FR_RING_TRY
FR_COLD s32 fr_ring_open_here(const struct fr_ring *r, u32 nr, u64 seq)
{
	return fr_ring_open(r, nr, seq);
}
#define FR_RING_OPEN(r, nr, seq)	    fr_ring_open_here(r, nr, seq)
#define FR_RING_TRY(r, units, p)	    fr_ring_try(r, units, p)
#define FR_RING_READY(r, lost, units, p, g) fr_ring_ready(r, lost, units, p, g)
#define FR_RING_HERE
#endif

/* Step 2: write and commit the padding that ends the lap before p's. Returns 0, or -1 if its word is damaged. */
FR_INLINE int fr_ring_end_lap(const struct fr_ring *r, const struct fr_place *p)
{
	u32 prev = p->slot ? p->slot - 1 : r->slot_cnt - 1;
	s32 idx = FR_RING_OPEN(r, prev, p->seq - 1);

	if (idx < 0 || fr_ring_pad(r, idx, p->pad_off))
		return -1;
	/* pairs like fr_ring_commit() */
	fr_add(fr_ring_slot(r->sl, prev), fr_slot_add(0, p->pad));
	return 0;
}

/* Prepare the reservation p for writing. Returns 0, or -1 if something is damaged. */
FR_INLINE int fr_ring_prepare(const struct fr_ring *r, u32 units, const struct fr_place *p, struct fr_grant *g)
{
	s32 idx;

	if (p->cross && p->pad && fr_ring_end_lap(r, p))
		return -1;
	idx = FR_RING_OPEN(r, p->slot, p->seq);
	if (idx < 0)
		return -1;
	g->time_ns = p->time_ns;
	g->page_nr = fr_ring_page_nr(r, idx, p->off);
	g->unit = p->off % FR_PAGE_UNITS;
	g->slot = p->slot;
	g->add = fr_slot_add(1, p->off + units - p->start);
	if (p->new_page) {
		u64 *page = fr_ring_page(r, g->page_nr);

		if (!page || (!p->cross && p->pad && fr_ring_pad(r, idx, p->pad_off)))
			return -1;
		fr_ring_heads(r, page, p, g->time_ns);
	}
	return 0;
}

/*
 * Prepare p, unless the reservation failed: lost is then the enum fr_lost + 1, otherwise 0. Returns 0, or -1, counted as lost.
 */
FR_INLINE int fr_ring_ready(const struct fr_ring *r, u32 lost, u32 units, const struct fr_place *p, struct fr_grant *g)
{
	if (!lost && fr_ring_prepare(r, units, p, g))
		lost = FR_LOST_broken + 1;
	return lost ? fr_ring_lose_aloud(r, lost - 1) : 0;
}

/* Set p to the reservation that the caller made at held, in a lap that was not open. */
FR_INLINE void fr_ring_place_held(u64 held, u64 time_ns, struct fr_place *p)
{
	p->seq = fr_w_seq(held);
	p->slot = fr_w_slot(held);
	p->off = p->start = fr_w_off(held);
	p->time_ns = time_ns;
}

/*
 * Reserve in any case: beginning pages and laps, or with w moved by others. held: where the caller has already reserved
 * at g->time_ns, as a w; 0: it has not. Returns 0 and *g, or -1, counted as lost. It is inlined, and only its parts are called:
 * nested frames share 512 bytes of stack.
 */
FR_INLINE int fr_ring_slow(const struct fr_ring *r, u32 units, u64 held, struct fr_grant *g)
{
	struct fr_place p = {};
	int i, lost = -1;

	if (held) {
		fr_ring_place_held(held, g->time_ns, &p);
		lost = 0;
	}
	for (i = 0; i < FR_TRIES && lost < 0; i++)
		lost = FR_RING_TRY(r, units, &p);
	if (lost < 0)
		lost = FR_LOST_retry + 1;
	return FR_RING_READY(r, lost, units, &p, g);
}

#ifdef FR_RING_HERE
FR_COLD int fr_ring_slow_here(const struct fr_ring *r, u32 units, u64 held, struct fr_grant *g)
{
	return fr_ring_slow(r, units, held, g);
}
#define FR_RING_SLOW(r, units, held, g) fr_ring_slow_here(r, units, held, g)
#else
#define FR_RING_SLOW(r, units, held, g) fr_ring_slow(r, units, held, g)
#endif

/* ---- the fast path, a straight line: the record fits the page, nobody interrupted, the lap is open ---- */

enum fr_straight {
	FR_STRAIGHT_DONE,
	FR_STRAIGHT_NOT,  /* nothing was done */
	FR_STRAIGHT_HELD, /* reserved, but the lap is not open */
};

/* Units of the record if it is placed at w at res->time_ns. */
FR_INLINE u32 fr_ring_needs(const struct fr_near *near, u64 w, u32 units, struct fr_res *res)
{
	res->is_near = near && w == near->w && ((res->time_ns - near->time) & FR_TIME_MASK) < near->span_ns;
	return units - res->is_near;
}

/* Fill res for a record at w, in the sub-buffer that the slot word names. */
FR_INLINE void fr_ring_found(const struct fr_ring *r, u64 w, u64 *slot, u64 word, u32 units, struct fr_res *res)
{
	u32 off = fr_w_off(w);

	res->at = w;
	res->page_nr = fr_ring_page_nr(r, fr_slot_idx(word), off);
	res->unit = off % FR_PAGE_UNITS;
	res->word = slot;
	res->add = fr_slot_add(1, units);
}

FR_INLINE enum fr_straight fr_ring_straight(const struct fr_ring *r, u32 units, const struct fr_near *near, struct fr_res *res,
					    u64 *held)
{
	u64 w = fr_load(&r->wr->w), *slot, word;
	struct fr_place p;

	res->time_ns = fr_clock_ns(r->clock_word, r->grain_ns, &r->wr->health);
	units = fr_ring_needs(near, w, units, res);
	fr_ring_place(r, w, units, res->time_ns, &p);
	if (p.new_page || fr_cas(&r->wr->w, w, w + units) != w)
		return FR_STRAIGHT_NOT;
	slot = fr_ring_slot(r->sl, p.slot);
	word = fr_load(slot);
	fr_ring_found(r, w, slot, word, units, res);
	*held = w;
	return fr_slot_seq(word) == (p.seq & FR_SEQ_MASK) ? FR_STRAIGHT_DONE : FR_STRAIGHT_HELD;
}

/* Reserve by the slow path. Returns as fr_ring_reserve(). */
FR_INLINE int fr_ring_reserve_any(const struct fr_ring *r, u32 units, u64 held, struct fr_res *res)
{
	struct fr_grant g = {.time_ns = held ? res->time_ns : 0};

	if (FR_RING_SLOW(r, units, held, &g))
		return -1;
	res->time_ns = g.time_ns;
	res->at = 0;
	res->page_nr = g.page_nr;
	res->unit = g.unit % FR_PAGE_UNITS;
	res->word = fr_ring_slot(r->sl, g.slot & FR_SLOT_MASK);
	res->add = g.add;
	return 0;
}

/*
 * Reserve a record of units (page heads not counted; at most FR_REC_MAX_SZ / FR_UNIT_SZ), or one less if near allows it, which
 * sets res->is_near (near NULL: never). Returns 0 and *res: the caller writes the record at res->page_nr, res->unit, then
 * commits. Or returns -1, counted as lost.
 */
FR_INLINE int fr_ring_reserve_near(const struct fr_ring *r, u32 units, const struct fr_near *near, struct fr_res *res)
{
	enum fr_straight got;
	u64 held = 0;

	res->wr = r->wr;
	got = fr_ring_straight(r, units, near, res, &held);
	if (got == FR_STRAIGHT_DONE)
		return 0;
	if (got != FR_STRAIGHT_HELD)
		res->is_near = 0;
	return fr_ring_reserve_any(r, units - res->is_near, got == FR_STRAIGHT_HELD ? held : 0, res);
}

/* The same without a near form. */
FR_INLINE int fr_ring_reserve(const struct fr_ring *r, u32 units, struct fr_res *res)
{
	return fr_ring_reserve_near(r, units, NULL, res);
}

/*
 * Commit: the record and everything else reserved with it is written. Pairs with the reader's load of the slot word: a reader
 * that sees the sum sees the bytes.
 */
FR_INLINE void fr_ring_commit(const struct fr_res *res)
{
	fr_add(res->word, res->add);
}

#endif
