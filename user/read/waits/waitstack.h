/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waitstack: the kernel functions that a task waited in, innermost first, without those of the scheduler that every wait ends
 * in, and of the entry that every call begins with.
 *
 *	futex_do_wait < __futex_wait < futex_wait < do_futex < __x64_sys_futex
 *
 * And the user functions that called them, as when the task left its CPU.
 */
#ifndef FR_WAITSTACK_H
#define FR_WAITSTACK_H

#include "base/rows/stacks.h"
#include "read/symbols/symbols.h"

#define FR_WAITUSER_SZ 96u

/* What is left of a stack's frames: [from, to). */
struct fr_waitstack {
	const u64 *ip; /* NULL: none */
	u32 from, to;
};

/* y NULL: addresses have no names, so none is left out. */
struct fr_waitstack fr_waitstack_find(struct fr_symbols *y, const struct fr_stacks *stacks, u64 id);

/* The name of a frame, or its address in text, which is returned or not; never NULL. */
const char *fr_waitstack_name(struct fr_symbols *y, u64 ip, char text[20]);

struct fr_waituser {
	u64 ip;
	struct fr_symbol sym;
};

/*
 * The user functions of a stack of process pid, innermost first, inlined ones too: at most max. Returns how many, 0: none was
 * recorded, or its frames are lost.
 */
u32 fr_waituser_find(struct fr_symbols *y, const struct fr_stacks *stacks, u32 pid, u64 id, struct fr_waituser *out, u32 max);

/* The name of a function, or where it is: "libc.so.6+0x1234", an address. Never NULL. */
const char *fr_waituser_name(const struct fr_waituser *u, char text[FR_WAITUSER_SZ]);

#endif
