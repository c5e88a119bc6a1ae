/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event_fields: the number and the fields of each event, generated from events.def. Whoever handles events by their schema does
 * not include it, and is not compiled anew when one is added.
 */
#ifndef FR_EVENT_FIELDS_H
#define FR_EVENT_FIELDS_H

#include "event.h"

/* enum { FR_EV_sched_switch = 1, ... } */
enum fr_event_nr {
#define EVENT(nr, name, tier, group, doc) FR_EV_##name = nr,
#include "events.def"
};

/* The C type of each field type; str and u64s extend to the record's end. */
#define FR_CTYPE_u8(name)    u8 name
#define FR_CTYPE_u16(name)   u16 name
#define FR_CTYPE_u32(name)   u32 name
#define FR_CTYPE_u64(name)   u64 name
#define FR_CTYPE_s16(name)   s16 name
#define FR_CTYPE_s32(name)   s32 name
#define FR_CTYPE_s64(name)   s64 name
#define FR_CTYPE_comm(name)  char name[FR_COMM_SZ]
#define FR_CTYPE_text8(name) char name[8]
#define FR_CTYPE_str(name)   char name[]
#define FR_CTYPE_u64s(name)  u64 name[]

/* Fields have the kernel's names; <errno.h> and <signal.h> define two of them as macros. */
#pragma push_macro("errno")
#pragma push_macro("sa_handler")
#undef errno
#undef sa_handler

/* struct fr_rec_sched_switch { u64 head; u32 task; s32 next_pid; ... } */
#define EVENT(nr, name, tier, group, doc) \
	struct fr_rec_##name {            \
		u64 head;                 \
		u32 task;
#define FIELD(type, name, style, doc) FR_CTYPE_##type(name);
#define END(name) \
	}         \
	FR_ALIGNED(8);
#include "events.def"

#pragma pop_macro("sa_handler")
#pragma pop_macro("errno")

#endif
