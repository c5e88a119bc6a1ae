/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bits: events whose fields are BITS (events.def), as they are in a ring. Generated from the table.
 *
 * A record of such an event has two words: its head, and bits { 0 | ... | second field | first field | tid:22 }. sched_switch
 * needs all 64:
 *
 *	63	56	    48	       44	    22	      0
 *	[ next_prio | prev_prio | prev_state | next_pid | tid ]
 *
 * Its struct fr_rec_NAME is the form without bits: programs fill it, the triggers' programs read it, and readers extract the
 * fields one by one, as the schema says.
 */
#ifndef FR_BITS_H
#define FR_BITS_H

#include "bit_code.h"
#include "event_fields.h"

/* Where each field is. struct fr_places_sched_switch: a field's offset is its first bit, the struct's size the bits used. */
#define EVENT(nr, name, tier, group, doc) \
	struct fr_places_##name {         \
		char tid[FR_TID_BITS];
#define BITS(type, name, cnt, code, style, doc) char name[cnt];
#define END(name) \
	}         \
	;
#include "events.def"

/* u64 fr_bits_sched_switch(rec, tid), fr_unbits_sched_switch(bits, rec): pack and unpack the fields; rec->task is the tid. */
#define EVENT(nr, event, tier, group, doc)                                              \
	FR_INLINE u64 fr_bits_##event(const struct fr_rec_##event *rec, u32 tid)        \
	{                                                                               \
		typedef struct fr_places_##event places;                                \
		u64 bits = tid & FR_TID_MASK;                                           \
                                                                                        \
		_Static_assert(sizeof(places) <= 64, #event " has more bits than are"); \
		(void)rec;
#define BITS(type, name, cnt, code, style, doc) \
	bits |= fr_bits_code(rec->name, FR_CODE_##code, cnt) << __builtin_offsetof(places, name);
#define END(event)   \
	return bits; \
	}
#include "events.def"

#define EVENT(nr, event, tier, group, doc)                                       \
	FR_INLINE void fr_unbits_##event(u64 bits, struct fr_rec_##event *rec)   \
	{                                                                        \
		typedef struct fr_places_##event places __attribute__((unused)); \
                                                                                 \
		rec->task = bits & FR_TID_MASK;
#define BITS(type, name, cnt, code, style, doc) \
	rec->name = fr_bits_value(bits, FR_CODE_##code, __builtin_offsetof(places, name), cnt);
#define END(event) }
#include "events.def"

#define FR_HAS_BITS(name) (sizeof(struct fr_places_##name) > FR_TID_BITS)
/* Bytes of a record in a ring, without what it may end in. */
#define FR_RING_SZ(name) (FR_HAS_BITS(name) ? FR_BITS_REC_SZ : (u32)sizeof(struct fr_rec_##name))

_Static_assert(FR_CPU_MAX <= 1u << sizeof(((struct fr_places_sched_wakeup_new *)0)->target_cpu), "a CPU's number fits");

_Static_assert(FR_RING_SZ(sched_switch) == 16, "small records are history");
_Static_assert(FR_RING_SZ(sched_wakeup_new) == 16, "small records are history");
_Static_assert(FR_RING_SZ(sys_enter) == 16, "small records are history");
_Static_assert(FR_RING_SZ(sys_exit) == 24, "small records are history");

#endif
