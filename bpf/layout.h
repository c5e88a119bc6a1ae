/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * layout: the bytes of a ring: the words of the protocol, and the pages of a ring's map. ring.h moves them.
 */
#ifndef FR_LAYOUT_H
#define FR_LAYOUT_H

#include "atomic.h"
#include "event.h"

/*
 * The version of everything in this file, of the maps' layout (struct fr_ustack is one's, too), and of which maps there are. A
 * session of another version can only be ended. Who adopts a session brings its own programs of bpf/trigger/, so the records
 * that they write must have the forms of the session's schema: a longer record needs another version
 * (tests/unit/test_layout.c).
 */
#ifndef FR_LAYOUT_VERSION
#define FR_LAYOUT_VERSION 16u
#endif

#define FR_PAGE_SZ	4096u
#define FR_PAGE_UNITS	(FR_PAGE_SZ / FR_UNIT_SZ)
#define FR_PAGE_SPAN_NS (1ULL << (FR_TIME_BITS - 1))
#define FR_PAGE_MAGIC	0x52464c46u /* "FLFR": a page of a ring */
#define FR_RING_MAGIC	0x474e4952u /* "RING": the page of slot words */

/*
 * A crash dump of the kernel has pages, but does not say of what (user/read/vmcore/carve.h finds them): those that do not begin
 * with one of the words above have a mark at a place that never changes. Set by user space before the page is used.
 */
#define FR_WRITER_MAGIC	  0x54495257u /* "WRIT": the writer's page */
#define FR_SESSION_MAGIC  0x53534553u /* "SESS": struct fr_session */
#define FR_TEXT_MAGIC	  0x54584554u /* "TEXT": part of a text, struct fr_text_page */
#define FR_PROFILE_MAGIC  0x464f5250u /* "PROF": part of a merged profile, likewise */
#define FR_COUNTERS_MAGIC 0x544e4f43u /* "CONT": part of the host's counters, likewise */
struct fr_mark {
	u32 magic;
	u32 epoch; /* the session's */
};

/* A ring's map is an array of pages: page 0 is the writer's, page 1 has the slots, then come N + 1 sub-buffers of P pages. */
#define FR_WRITER_PAGE 0u
#define FR_SLOT_PAGE   1u
#define FR_DATA_PAGE   2u

#define FR_SLOT_MAX	   448u /* largest N: the words fit their page */
#define FR_SLOT_MASK	   ((1u << FR_W_SLOT_BITS) - 1)
#define FR_SLOT_MIN	   2u	/* smallest N */
#define FR_SUBBUF_PAGE_MAX 256u /* largest P: 1 MiB */

/* w */
#define FR_W_OFF_BITS  18
#define FR_W_SLOT_BITS 10
FR_INLINE u64 fr_w(u64 seq, u64 slot, u64 off)
{
	return seq << (FR_W_OFF_BITS + FR_W_SLOT_BITS) | slot << FR_W_OFF_BITS | off;
}
FR_INLINE u64 fr_w_seq(u64 w)
{
	return w >> (FR_W_OFF_BITS + FR_W_SLOT_BITS);
}
FR_INLINE u32 fr_w_slot(u64 w)
{
	return w >> FR_W_OFF_BITS & FR_SLOT_MASK;
}
FR_INLINE u32 fr_w_off(u64 w)
{
	return w & ((1u << FR_W_OFF_BITS) - 1);
}

/* slot word { seq | idx | hole | cnt | com } */
#define FR_COM_BITS  18
#define FR_CNT_BITS  16
#define FR_IDX_BITS  10
#define FR_SEQ_BITS  19
#define FR_IDX_SHIFT (FR_COM_BITS + FR_CNT_BITS + 1)
#define FR_SEQ_SHIFT (FR_IDX_SHIFT + FR_IDX_BITS)
#define FR_SEQ_MASK  ((1u << FR_SEQ_BITS) - 1)
#define FR_SLOT_HOLE (1ULL << (FR_COM_BITS + FR_CNT_BITS)) /* completed by healing: not all of its bytes were written */
FR_INLINE u64 fr_slot(u64 seq, u64 idx, u64 cnt, u64 com)
{
	return (seq & FR_SEQ_MASK) << FR_SEQ_SHIFT | idx << FR_IDX_SHIFT | cnt << FR_COM_BITS | com;
}
FR_INLINE u32 fr_slot_seq(u64 word)
{
	return word >> FR_SEQ_SHIFT;
}
FR_INLINE u32 fr_slot_idx(u64 word)
{
	return word >> FR_IDX_SHIFT & ((1u << FR_IDX_BITS) - 1);
}
FR_INLINE u32 fr_slot_cnt(u64 word)
{
	return word >> FR_COM_BITS & ((1u << FR_CNT_BITS) - 1);
}
FR_INLINE u32 fr_slot_com(u64 word)
{
	return word & ((1u << FR_COM_BITS) - 1);
}
/* Slot i of a fresh ring: a lap delivered and empty. */
FR_INLINE u64 fr_slot_fresh(u32 i, u32 slot_cnt, u32 subbuf_pages)
{
	return fr_slot(i ? (u64)i - slot_cnt : 0, i, 0, (u64)subbuf_pages * FR_PAGE_UNITS);
}
/* What a commit adds to a slot word. */
FR_INLINE u64 fr_slot_add(u64 cnt, u64 units)
{
	return cnt << FR_COM_BITS | units;
}

/* Why a record was not written. */
#define FR_LOSTS(L)                                                         \
	L(0, wrap, "the lap to overwrite still held an uncommitted record") \
	L(1, retry, "each of the tries to reserve was overtaken")           \
	L(2, broken, "a slot word or a map was not as it must be")

enum fr_lost {
#define L(nr, name, doc) FR_LOST_##name = nr,
	FR_LOSTS(L)
#undef L
		FR_LOST_CNT
};

/* Why a program that ran deliberately wrote no record. */
#define FR_FILTEREDS(F)                                                    \
	F(0, off, "the event is switched off")                             \
	F(1, self, "it came from flightrec itself")                        \
	F(2, task, "its task was not chosen by --pid, --comm or --cgroup") \
	F(3, idle, "a sample of the idle task")                            \
	F(4, thinned, "its cgroup wrote more than its share (--thin)")

enum fr_filtered {
#define F(nr, name, doc) FR_FILTERED_##name = nr,
	FR_FILTEREDS(F)
#undef F
		FR_FILTERED_CNT
};

/* Grain of --clock local: no shared word at all (bpf/clock.h). */
#define FR_CLOCK_LOCAL (~0ULL)

/* Health of the clock, counted per CPU. */
struct fr_clock_health {
	u64 ties;   /* the CPU was behind the word: several events may have the word's value */
	u64 ahead;  /* the word was not believed */
	u64 losers; /* the word moved meanwhile in each of FR_CLOCK_TRIES tries */
};

/* Page 0 of a ring's map: only BPF writes it, user space maps it read-only. All zero but for its mark when fresh. */
struct fr_writer {
	u64 w;
	u64 page_base_ns; /* time base of a recent page; may be that of an older page, never of a newer one */
	u64 call;	  /* where the last system call began here, as a w, if later records may refer to it (bpf/near.h) */
	u64 base;	  /* the same for the last one whose record is complete */
	u64 pad0[FR_CACHE_SZ / 8 - 6];
	struct fr_mark mark;
	u16 cpu;
	u16 tier;
	u32 pad1;
	u64 overwritten;	       /* records discarded by the opener of their slot */
	u64 lost[FR_LOST_CNT];	       /* records */
	u64 filtered[FR_FILTERED_CNT]; /* program runs; the main tier's page counts them all */
	struct fr_clock_health health;
	u64 texts;   /* records of what calls were given, lost ones, too: the programs of calls write them besides */
	u64 told;    /* records `thinned`, likewise: programs of events, and control programs, write them besides */
	u64 reading; /* the task that we read that of, from user memory, just now; 0: none (frequent/syscall.bpf.h) */
};

/* Where the next record goes, for readers. Load the slot word first. */
FR_INLINE u64 fr_writer_w(const struct fr_writer *wr)
{
	return fr_load(&wr->w);
}

/* Page 1 of a ring's map: set up by user space; writers and the reader change the slot words. */
struct fr_slots {
	u32 magic;  /* FR_RING_MAGIC */
	u32 layout; /* FR_LAYOUT_VERSION */
	u32 epoch;  /* the session's, random */
	u16 cpu;
	u16 tier;
	u32 slot_cnt;	  /* N */
	u32 subbuf_pages; /* P */
	u64 since_ns;	  /* recorded from then on, for a CPU that came later; 0: since the session began */
	u64 pad0[FR_CACHE_SZ / 8 - 4];
	u64 slot[FR_SLOT_MAX];
};

/* The first 32 bytes of each page of a sub-buffer, so that pages can be carved from a crash dump one by one. */
struct fr_page_head {
	u32 magic; /* FR_PAGE_MAGIC */
	u32 epoch;
	u64 seq;
	u64 base_ns; /* time of the reservation that began the page */
	u16 cpu;
	u16 page; /* within the sub-buffer */
	u8 tier;
	u8 layout;
	u16 reserved;
};

/* Behind page 0's head: the ring's counters when this lap began, so that each loss has a place in time. */
struct fr_subbuf_head {
	u64 lost[FR_LOST_CNT];
	u64 overwritten;
};

/*
 * A session's facts and schema once more, for crash dumps: pages that each begin with this. The text has a NUL between the two.
 */
struct fr_text_page {
	struct fr_mark mark;
	u64 made_ns; /* CLOCK_BOOTTIME: of several texts the latest is valid */
	u64 hash;    /* XXH64 of the whole text */
	u32 sz;	     /* its bytes */
	u32 nr;	     /* page of it */
	char text[FR_PAGE_SZ - 32];
};

#define FR_PAGE_HEAD_UNITS   ((u32)sizeof(struct fr_page_head) / FR_UNIT_SZ)
#define FR_SUBBUF_HEAD_UNITS ((u32)sizeof(struct fr_subbuf_head) / FR_UNIT_SZ)

_Static_assert(sizeof(struct fr_page_head) == 32, "on disk in crash dumps");
_Static_assert(sizeof(struct fr_subbuf_head) == 32, "on disk in crash dumps");
_Static_assert(FR_SEQ_SHIFT + FR_SEQ_BITS == 64, "a slot word is full");
_Static_assert((FR_PAGE_UNITS - FR_PAGE_HEAD_UNITS) / (sizeof(struct fr_rec) / FR_UNIT_SZ) * FR_SUBBUF_PAGE_MAX <
		       1u << FR_CNT_BITS,
	       "cnt holds a sub-buffer of the smallest records, but for near ones (bpf/near.h)");
_Static_assert(sizeof(struct fr_text_page) == FR_PAGE_SZ, "one page");
_Static_assert(sizeof(struct fr_writer) <= FR_PAGE_SZ, "one page");
_Static_assert(__builtin_offsetof(struct fr_writer, mark) == FR_CACHE_SZ - 16, "in crash dumps");
_Static_assert(sizeof(struct fr_slots) <= FR_PAGE_SZ, "one page");
_Static_assert(FR_REC_MAX_SZ / FR_UNIT_SZ <= FR_PAGE_UNITS - FR_PAGE_HEAD_UNITS - FR_SUBBUF_HEAD_UNITS, "fits a page");

#endif
