/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records: what one event is in a ring. event_fields.h has the number and the fields of each.
 *
 *	byte 0		u64 head	{ time:48 | event:8 | len:8 }, len in 8-byte units, stored in one piece
 *	byte 8		u32 task	{ flags:8 | 0:2 | tid:22 } (the kernel's tids end at 2^22)
 *	byte 12		the event's fields, naturally aligned, padded to 8 bytes
 *
 * An event whose fields are BITS is shorter, since there are so many of them:
 *
 *	byte 8		u64 bits	{ 0 | ... | second field | first field | tid:22 }
 *
 * bits.h converts between the two: code that handles such an event has the first form, struct fr_rec_NAME.
 *
 * time is the low 48 bits of the clock in ns; the page header's time base gives the rest. A head with len 0 is padding:
 * nothing follows on this page. Event 255 is reserved for an extended number.
 */
#ifndef FR_EVENT_H
#define FR_EVENT_H

#include "types.h"

#define FR_UNIT_SZ     8u  /* records are counted in units of 8 bytes */
#define FR_REC_HEAD_SZ 12u /* head and task, in each record */
#define FR_REC_MAX_SZ  (255u * FR_UNIT_SZ)
#define FR_TIME_BITS   48
#define FR_TIME_MASK   ((1ULL << FR_TIME_BITS) - 1)
#define FR_COMM_SZ     16
#define FR_TID_BITS    22
#define FR_TID_MASK    ((1u << FR_TID_BITS) - 1)
#define FR_EVENT_MAX   256 /* event numbers are less than this */

/* Tiers: sets of rings with their own size and events. Their numbers are in page headers and files. */
#define FR_TIERS(T)                                                                                         \
	T(0, MAIN, main, "everything frequent")                                                             \
	T(1, LIFE, life, "rare and precious: fork, exec, exit, names, fatal signals, OOM, triggers, marks") \
	T(2, STACK, stack, "frames of stacks: of samples, of waits")                                        \
	T(3, WAIT, wait, "long waits")                                                                      \
	T(4, RARE, rare, "rare tracepoints that are recorded by default, each within its rate")

enum fr_tier {
#define T(nr, TIER, name, doc) FR_TIER_##TIER = nr,
	FR_TIERS(T)
#undef T
		FR_TIER_CNT
};

/* Groups: what `-e` and profiles choose from. One per line, which clang-format would not keep. */
/* clang-format off */
#define FR_GROUPS(G) \
	G(0, SCHED, sched) \
	G(1, TASK, task) \
	G(2, SIGNAL, signal) \
	G(3, IRQ, irq) \
	G(4, SOFTIRQ, softirq) \
	G(5, SYSCALL, syscall) \
	G(6, FAULT, fault) \
	G(7, BLOCK, block) \
	G(8, SAMPLE, sample) \
	G(9, MARK, mark) \
	G(10, WAIT, wait) \
	G(11, TP, tp) \
	G(12, STDERR, stderr)
/* clang-format on */

enum fr_group {
#define G(nr, GROUP, name) FR_GROUP_##GROUP = nr,
	FR_GROUPS(G)
#undef G
		FR_GROUP_CNT
};

struct fr_rec {
	u64 head;
	u32 task;
};

FR_INLINE u64 fr_rec_head(u64 time_ns, u32 event, u32 units)
{
	return (time_ns & FR_TIME_MASK) << 16 | (u64)(event & 0xff) << 8 | (units & 0xff);
}

FR_INLINE u64 fr_head_time(u64 head)
{
	return head >> 16;
}

FR_INLINE u32 fr_head_event(u64 head)
{
	return head >> 8 & 0xff;
}

FR_INLINE u32 fr_head_units(u64 head)
{
	return head & 0xff;
}

/* The full time of a record. base_ns: its page's time base, at most 2^47 ns before the record. */
FR_INLINE u64 fr_time_unroll(u64 base_ns, u64 time48)
{
	return base_ns + ((time48 - base_ns) & FR_TIME_MASK);
}

#endif
