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
 * Without locked instructions (FR_WAY_PLAIN), where writers nest strictly: whoever interrupts one on its CPU ends before it
 * goes on. Words of the writer's page, and one behind the slots:
 *	busy	RECORD: a writer is between its load of w and its commit; SETTLING: it puts away what nested ones left
 *	ahead	where the next record goes, instead of w, if it is not 0: writers came who found another one busy
 *	found	the w that they found
 *	owed	what they committed to the lap of found
 *  A. Who finds nobody busy: store busy; load w, the clock, the slot's word; if the record fits, store w. Look at ahead: if
 *     there is none, or found is what was stored, the place was taken before all others'. If not, it is theirs: settle,
 *     then as above. Write; store the slot's word, as loaded and with the commit; not busy; if there is ahead, settle.
 *  B. Who finds A busy: as above, but by ahead instead of w; and what it commits to A's lap goes to owed, since A may have
 *     loaded the lap's word, which it will store.
 *  S. Settle: busy again, so that nobody takes w; owed to its word, w by ahead, ahead cleared by CAS, for it may move; not
 *     busy; and look again. A writer that finds ahead, but nobody busy, has come just before that look: it has lost its
 *     place, and settles itself.
 *  A writer that never goes on leaves busy: all others are B from then on. Writers that do not nest strictly with each other
 *  may be among them (FR_WAY_APART): they go by locked instructions as ever, or as B does if they find busy; but they must
 *  not interrupt A or B.
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

/* How to reserve and commit. */
enum fr_way {
	FR_WAY_LOCKED, /* by locked instructions, however writers interrupt each other */
	FR_WAY_PLAIN,  /* by plain stores: they nest strictly */
	FR_WAY_APART,  /* by locked ones, in a ring whose other writers go by plain stores */
};

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
	enum fr_way way;
};

/* A reservation: what fr_ring_reserve() gives and fr_ring_commit() takes. */
struct fr_res {
	u64 time_ns;
	u64 at;	     /* the w of the record, 0 if it took the slow path */
	u32 is_near; /* it has one unit less, by a struct fr_near */
	u64 add;     /* what to add to the slot word */
	u64 whole;   /* what it is to be, by a plain store; 0: it is added to */
	u64 *word;   /* the slot's, or FR_SLOT_OWED's */
	u32 page_nr; /* page of the ring's map */
	u32 unit;    /* record's first unit on that page */
	u16 tier;
	struct fr_writer *wr;
	struct fr_slots *sl;
};

/* A reservation in numbers, as the slow path makes it. */
struct fr_grant {
	u64 time_ns;
	u64 add;
	u64 whole; /* 0 */
	u32 page_nr;
	u32 unit;
	u32 slot;
	u32 pad;
};

/*
 * A record that needs one unit less if it comes to a certain w, and less than span_ns behind a time of which 48 bits are given:
 * what tells of another record by how far before it lies on the page.
 */
struct fr_near {
	u64 w;	/* 0: none */
	u64 at; /* the other one's w */
	u64 time;
	u64 span_ns;
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
	u64 time_ns;
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

/* The word of a slot, or FR_SLOT_OWED's. */
FR_INLINE u64 *fr_ring_slot(struct fr_slots *sl, u32 slot)
{
	asm volatile("" : "+r"(slot)); /* what is compared is what is used, for the verifier */
	return &sl->slot[slot <= FR_SLOT_OWED ? slot : 0];
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
 * Take a place and a time for a record of units, by ahead if nested. Returns 0, or -1 when it moved meanwhile (try again), or
 * the enum fr_lost + 1 by which the record is lost.
 */
FR_INLINE int fr_ring_try(const struct fr_ring *r, u32 nested, u32 units, struct fr_place *p)
{
	u64 *at = nested ? &r->wr->ahead : &r->wr->w;
	u64 seen = fr_load(at), w = seen, now;

	if (nested && !seen) {
		w = fr_load(&r->wr->w); /* stands still: its owner is the one we interrupted */
		fr_store(&r->wr->found, w);
	}
	now = fr_clock_ns(r->clock_word, r->grain_ns, &r->wr->health);
	fr_ring_place(r, w, units, now, p);
	if (p->cross && !fr_slot_free(r, fr_load(fr_ring_slot(r->sl, p->slot)), p->seq))
		return fr_load(at) != seen ? -1 : FR_LOST_wrap + 1;
	return fr_cas(at, seen, fr_w(p->seq, p->slot, p->off + units)) == seen ? 0 : -1;
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
	u64 nr = why, cnt;

	asm volatile("" : "+r"(nr)); /* what is compared is what is used, for the verifier of 6.1 */
	cnt = fr_add(&r->wr->lost[nr < FR_LOST_CNT ? nr : FR_LOST_broken], 1) + 1;
	if (!(cnt & (cnt - 1)))
		FR_RING_LOST(r, why, cnt);
	return -1;
}

/* ---- all cases ---- */

/*
 * How the environment gets to the parts of the slow path: functions of their own, once for all who record. What is passed by
 * address is a copy, so that the rest stays in registers.
 */
#ifndef FR_RING_TRY
FR_COLD s32 fr_ring_open_here(const struct fr_ring *r, u32 nr, u64 seq)
{
	return fr_ring_open(r, nr, seq);
}
#define FR_RING_OPEN(r, nr, seq)		    fr_ring_open_here(r, nr, seq)
#define FR_RING_TRY(r, nested, units, p)	    fr_ring_try(r, nested, units, p)
#define FR_RING_ENTER(r, mine)			    fr_ring_enter(r, mine)
#define FR_RING_READY(r, lost, nested, units, p, g) fr_ring_ready(r, lost, nested, units, p, g)
#define FR_RING_SETTLE(res)			    fr_ring_settle((res)->wr, (res)->sl)
#define FR_RING_HERE
#endif

/* Where to commit to lap seq in slot. A busy writer may have loaded the word of found's lap, and will store it. */
FR_INLINE u32 fr_ring_due(const struct fr_ring *r, u32 nested, u64 seq, u32 slot)
{
	if (nested && fr_load(&r->wr->busy) == FR_BUSY_RECORD && fr_w_seq(fr_load(&r->wr->found)) == seq)
		return FR_SLOT_OWED;
	return slot;
}

/* Step 2: padding that ends the lap before p's. Returns 0, or -1 if its word is damaged. */
FR_INLINE int fr_ring_end_lap(const struct fr_ring *r, u32 nested, const struct fr_place *p)
{
	u32 prev = p->slot ? p->slot - 1 : r->slot_cnt - 1;
	s32 idx = FR_RING_OPEN(r, prev, p->seq - 1);

	if (idx < 0 || fr_ring_pad(r, idx, p->pad_off))
		return -1;
	fr_add(fr_ring_slot(r->sl, fr_ring_due(r, nested, p->seq - 1, prev)), fr_slot_add(0, p->pad));
	return 0;
}

/* p is reserved: make it ready to be written to. Returns 0, or -1 if something is damaged. */
FR_INLINE int fr_ring_prepare(const struct fr_ring *r, u32 nested, u32 units, const struct fr_place *p, struct fr_grant *g)
{
	s32 idx;

	if (p->cross && p->pad && fr_ring_end_lap(r, nested, p))
		return -1;
	idx = FR_RING_OPEN(r, p->slot, p->seq);
	if (idx < 0)
		return -1;
	g->time_ns = p->time_ns;
	g->page_nr = fr_ring_page_nr(r, idx, p->off);
	g->unit = p->off % FR_PAGE_UNITS;
	g->slot = fr_ring_due(r, nested, p->seq, p->slot);
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
 * Put away what nested writers left; see above. Whoever gives up, interrupted each time, leaves it busy, so that all others go
 * by ahead.
 */
FR_INLINE void fr_ring_settle(struct fr_writer *wr, struct fr_slots *sl)
{
	u64 ahead;
	int i;

	fr_store(&wr->busy, FR_BUSY_SETTLING);
	for (i = 0; i < FR_TRIES; i++) {
		ahead = fr_load(&wr->ahead);
		if (ahead) {
			fr_add(fr_ring_slot(sl, fr_w_slot(fr_load(&wr->found))), fr_xchg(&sl->slot[FR_SLOT_OWED], 0));
			fr_store(&wr->w, ahead);
			if (fr_cas(&wr->ahead, ahead, 0) != ahead)
				continue;
		}
		fr_store(&wr->busy, 0);
		if (!fr_load(&wr->ahead))
			return;
		fr_store(&wr->busy, FR_BUSY_SETTLING);
	}
}

/* The same, unless it was reserved for nobody: lost, an enum fr_lost + 1, or 0. Returns 0, or -1, counted as lost. */
FR_INLINE int fr_ring_ready(const struct fr_ring *r, u32 lost, u32 nested, u32 units, const struct fr_place *p,
			    struct fr_grant *g)
{
	if (!lost && fr_ring_prepare(r, nested, units, p, g))
		lost = FR_LOST_broken + 1;
	return lost ? fr_ring_lose_aloud(r, lost - 1) : 0;
}

/* Before a reservation in all cases. mine: the caller is who is busy. Returns whether it is nested. */
FR_INLINE u32 fr_ring_enter(const struct fr_ring *r, u32 mine)
{
	if (mine)
		fr_ring_settle(r->wr, r->sl);
	return r->way != FR_WAY_LOCKED && fr_load(&r->wr->busy);
}

/* The lap of held, at which the caller has reserved, was not open. */
FR_INLINE void fr_ring_place_held(u64 held, u64 time_ns, struct fr_place *p)
{
	p->seq = fr_w_seq(held);
	p->slot = fr_w_slot(held);
	p->off = p->start = fr_w_off(held);
	p->time_ns = time_ns;
}

/*
 * Reserve in all cases: pages and laps that begin, w moved by nested writers. held: the w at which the caller has reserved at
 * g->time_ns; 0: it has not. Returns 0 and *g, or -1, counted as lost. It calls, and is not called: the frames of all have 512
 * bytes.
 */
FR_INLINE int fr_ring_slow(const struct fr_ring *r, u32 units, u32 mine, u64 held, struct fr_grant *g)
{
	struct fr_place p = {};
	u32 nested = FR_RING_ENTER(r, mine);
	int i, lost = -1;

	if (held) {
		fr_ring_place_held(held, g->time_ns, &p);
		lost = 0;
	}
	for (i = 0; i < FR_TRIES && lost < 0; i++)
		lost = FR_RING_TRY(r, nested, units, &p);
	if (lost < 0)
		lost = FR_LOST_retry + 1;
	return FR_RING_READY(r, lost, nested, units, &p, g);
}

#ifdef FR_RING_HERE
FR_COLD int fr_ring_slow_here(const struct fr_ring *r, u32 units, u32 mine, u64 held, struct fr_grant *g)
{
	return fr_ring_slow(r, units, mine, held, g);
}
#define FR_RING_SLOW(r, units, mine, held, g) fr_ring_slow_here(r, units, mine, held, g)
#else
#define FR_RING_SLOW(r, units, mine, held, g) fr_ring_slow(r, units, mine, held, g)
#endif

/* ---- what is nearly always so, in a straight line: the record fits the page, nobody came between, the lap is open ---- */

enum fr_straight {
	FR_STRAIGHT_DONE,
	FR_STRAIGHT_NOT,  /* nothing was done */
	FR_STRAIGHT_MINE, /* we are busy */
	FR_STRAIGHT_HELD, /* reserved, but the lap is not open */
};

/* So many units does a record of units need at w and res->time_ns. */
FR_INLINE u32 fr_ring_needs(const struct fr_near *near, u64 w, u32 units, struct fr_res *res)
{
	res->is_near = near && w == near->w && ((res->time_ns - near->time) & FR_TIME_MASK) < near->span_ns;
	return units - res->is_near;
}

/* The record goes to w in the sub-buffer that its slot's word says. */
FR_INLINE void fr_ring_found(const struct fr_ring *r, u64 w, u64 *slot, u64 word, u32 units, struct fr_res *res)
{
	u32 off = fr_w_off(w);

	res->at = w;
	res->page_nr = fr_ring_page_nr(r, fr_slot_idx(word), off);
	res->unit = off % FR_PAGE_UNITS;
	res->word = slot;
	res->add = fr_slot_add(1, units);
}

FR_INLINE enum fr_straight fr_ring_locked(const struct fr_ring *r, u32 units, const struct fr_near *near, struct fr_res *res,
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
	res->whole = 0;
	*held = w;
	return fr_slot_seq(word) == (p.seq & FR_SEQ_MASK) ? FR_STRAIGHT_DONE : FR_STRAIGHT_HELD;
}

FR_INLINE enum fr_straight fr_ring_plain(const struct fr_ring *r, u32 units, const struct fr_near *near, struct fr_res *res)
{
	struct fr_writer *wr = r->wr;
	struct fr_place p;
	u64 w, *slot, word;

	if (fr_load(&wr->busy))
		return FR_STRAIGHT_NOT;
	fr_store(&wr->busy, FR_BUSY_RECORD);
	w = fr_load(&wr->w);
	res->time_ns = fr_clock_ns(r->clock_word, r->grain_ns, &wr->health);
	units = fr_ring_needs(near, w, units, res);
	fr_ring_place(r, w, units, res->time_ns, &p);
	if (p.new_page)
		return FR_STRAIGHT_MINE;
	slot = fr_ring_slot(r->sl, p.slot);
	word = fr_load(slot);
	if (fr_slot_seq(word) != (p.seq & FR_SEQ_MASK))
		return FR_STRAIGHT_MINE;
	fr_store(&wr->w, w + units);
	if (fr_load(&wr->ahead) && fr_load(&wr->found) != w + units)
		return FR_STRAIGHT_MINE;
	fr_ring_found(r, w, slot, word, units, res);
	res->whole = word + res->add;
	return FR_STRAIGHT_DONE;
}

/* By the slow path. As fr_ring_reserve(). */
FR_INLINE int fr_ring_reserve_any(const struct fr_ring *r, u32 units, u32 mine, u64 held, struct fr_res *res)
{
	struct fr_grant g = {.time_ns = held ? res->time_ns : 0};

	if (FR_RING_SLOW(r, units, mine, held, &g))
		return -1;
	res->time_ns = g.time_ns;
	res->at = 0;
	res->page_nr = g.page_nr;
	res->unit = g.unit % FR_PAGE_UNITS;
	res->word = fr_ring_slot(r->sl, g.slot & FR_SLOT_MASK);
	res->add = g.add;
	res->whole = g.whole;
	return 0;
}

/*
 * Reserve a record of units (heads not counted; at most FR_REC_MAX_SZ / FR_UNIT_SZ), or of one less if near (NULL: no
 * record) allows it: then res->is_near. Returns 0 and *res, of which the caller fills the record at res->page_nr, res->unit and
 * then commits; or -1, counted as lost.
 */
FR_INLINE int fr_ring_reserve_near(const struct fr_ring *r, u32 units, const struct fr_near *near, struct fr_res *res)
{
	enum fr_straight got = FR_STRAIGHT_NOT;
	u64 held = 0;

	res->wr = r->wr;
	res->sl = r->sl;
	res->tier = r->tier;
	if (r->way == FR_WAY_PLAIN)
		got = fr_ring_plain(r, units, near, res);
	else if (r->way == FR_WAY_LOCKED)
		got = fr_ring_locked(r, units, near, res, &held);
	if (got == FR_STRAIGHT_DONE)
		return 0;
	if (got != FR_STRAIGHT_HELD)
		res->is_near = 0;
	return fr_ring_reserve_any(r, units - res->is_near, got == FR_STRAIGHT_MINE, got == FR_STRAIGHT_HELD ? held : 0, res);
}

/* The same of a record that needs its units wherever it comes. */
FR_INLINE int fr_ring_reserve(const struct fr_ring *r, u32 units, struct fr_res *res)
{
	return fr_ring_reserve_near(r, units, NULL, res);
}

/* What was reserved cannot be written: its lap stays incomplete. */
FR_INLINE void fr_ring_drop(const struct fr_res *res)
{
	if (res->whole)
		fr_store(&res->wr->busy, 0);
}

/*
 * Commit: the record and all it reserved is written. Pairs with the reader's load of the slot word: who sees the sum sees
 * the bytes.
 */
FR_INLINE void fr_ring_commit(const struct fr_res *res)
{
	if (!res->whole) {
		fr_add(res->word, res->add);
		return;
	}
	fr_publish(res->word, res->whole);
	fr_store(&res->wr->busy, 0);
	if (fr_load(&res->wr->ahead))
		FR_RING_SETTLE(res);
}

#endif
