/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * syscalls: numbers, names and counts of arguments of system calls.
 *
 * arch is the machine as uname -m says it: "x86_64" or "aarch64"; of any other all is unknown. abi is 0 for native calls,
 * 1 for those of 32-bit programs (i386; arm's are not known). x32 calls (bit 30 of the number) are not known either.
 */
#ifndef FR_SYSCALLS_H
#define FR_SYSCALLS_H

#include <stddef.h>

#include "types.h"

#define FR_SYSCALL_ABIS 2u

struct fr_syscall {
	const char *name; /* NULL: the number is no call's */
	u8 len;		  /* of the name */
	s8 args;
};

/* The calls of a machine and ABI, by number. */
struct fr_syscalls {
	const char *arch;
	u32 abi;
	const struct fr_syscall *call;
	u32 cnt;
};

/* NULL: they are not known. Static. */
const struct fr_syscalls *fr_syscalls_find(const char *arch, u32 abi);

/* One of them, NULL if unknown. */
static inline const struct fr_syscall *fr_syscalls_at(const struct fr_syscalls *c, s64 nr)
{
	return c && nr >= 0 && nr < c->cnt && c->call[nr].name ? &c->call[nr] : NULL;
}

/* The name of a call, NULL if unknown. Static. */
const char *fr_syscall_name(const char *arch, u32 abi, s64 nr);

/* Its number, -1 if unknown. */
int fr_syscall_nr(const char *arch, u32 abi, const char *name);

/* How many arguments it takes, 0 to 6, -1 if unknown. */
int fr_syscall_args(const char *arch, u32 abi, s64 nr);

#endif
