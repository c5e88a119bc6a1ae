/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * up: what programs tell (-e uprobe:, uretprobe:, usdt:), as records of tracepoints that the kernel does not have (tp.h). Their
 * formats are made here (base/tp/upformat.h), in the kernel's own grammar, so all that reads tracepoints reads them:
 *
 *	| head, 8 | task, 4 | sz, 4 | fields, naturally aligned | texts |
 *
 * A link's cookie is the event's number and, in its upper half, the site's in fr_up_sites: several sites may be one event.
 */
#ifndef FR_UP_H
#define FR_UP_H

#include "tp.h"

#define FR_UP_MAX		  256u		      /* sites of a session */
#define FR_UP_ARG_MAX		  14u		      /* fields that are read; a static mark has up to 12 arguments */
#define FR_UP_TEXT_SZ		  256u		      /* of a text, its NUL included */
#define FR_UP_LOOK_SZ		  (FR_UP_TEXT_SZ + 1) /* read of one: a byte more than is kept tells one that is longer */
#define FR_UP_TEXT_CNT		  6u
#define FR_UP_FIXED_SZ		  128u	    /* of the fields, at most */
#define FR_UP_FAULT		  "(fault)" /* the kernel's word in place of a text that cannot be read */
#define FR_UP_COOKIE(event, site) ((u64)(site) << 32 | (event))

/* Where a value comes from. */
enum fr_up_from {
	FR_UP_REG,    /* a register */
	FR_UP_MEM,    /* memory of the program, at a register + off: of static marks (base/tp/upspec.h) */
	FR_UP_CONST,  /* off, likewise */
	FR_UP_LASTED, /* ns since the function began */
};

struct fr_up_arg {
	u8 from;
	u8 sz;	      /* bytes of the value */
	u8 to_sz;     /* bytes of the field; 0: a text, the value is its address */
	u8 is_signed; /* the value, where the field is wider */
	u16 reg;      /* where in struct pt_regs */
	u16 to;	      /* where in the record, from FR_TP_HEAD_SZ of the kernel's on */
	s64 off;
};

/* Arguments of a site of flightrec_mark.h's begin and end (FR_MARKS): the first is where it is. */
#define FR_UP_MARK_NAME 1u
#define FR_UP_MARK_ID	2u

/* A site. */
struct fr_up {
	u16 arg_cnt;
	u16 fixed_sz;
	u16 faulted; /* where the word is that says which texts could not be read, bit by argument; 0: there are no texts */
	u16 is_return;
	struct fr_up_arg arg[FR_UP_ARG_MAX];
};

/* A call that has begun. The stack pointer tells calls of one thread apart, one in the other. */
struct fr_up_call {
	u64 sp;
	u32 tid;
	u32 event;
};

struct fr_up_begun {
	u64 ns;
	u64 start_ns; /* of the thread, whose tid may be used again */
};

#define FR_TP_WORK_CNT 2u     /* buffers of a CPU where records are made */
#define FR_UP_WORK_CNT 4u     /* and those of programs' probes */
#define FR_UP_OPEN_MAX 16384u /* calls that have begun, and not ended: of more, the oldest end without a record */

_Static_assert(FR_UP_FIXED_SZ + FR_UP_TEXT_CNT * FR_UP_TEXT_SZ <= FR_TP_ROOM_SZ, "a record of texts fits");

#endif
