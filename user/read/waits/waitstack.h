/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waitstack: the kernel functions that a task waited in, innermost first, without those of the scheduler that every wait ends
 * in, and of the entry that every call begins with.
 *
 *	futex_do_wait < __futex_wait < futex_wait < do_futex < __x64_sys_futex
 */
#ifndef FR_WAITSTACK_H
#define FR_WAITSTACK_H

#include "base/rows/stacks.h"
#include "read/symbols/symbols.h"

/* What is left of a stack's frames: [from, to). */
struct fr_waitstack {
	const u64 *ip; /* NULL: none */
	u32 from, to;
};

/* y NULL: addresses have no names, so none is left out. */
struct fr_waitstack fr_waitstack_find(struct fr_symbols *y, const struct fr_stacks *stacks, u64 id);

/* The name of a frame, or its address in text, which is returned or not; never NULL. */
const char *fr_waitstack_name(struct fr_symbols *y, u64 ip, char text[20]);

#endif
