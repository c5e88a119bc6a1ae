/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * syscalls: numbers, names and argument counts of system calls.
 *
 * arch is the machine as uname -m says: "x86_64" or "aarch64"; for any other, and for NULL, everything is unknown. abi is 0 for
 * native calls, 1 for those of 32-bit programs (i386; arm's are unknown, but for those of struct fr_syscall_odd). x32 calls
 * (bit 30 of the number) are unknown, too.
 */
#ifndef FR_SYSCALLS_H
#define FR_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/schema/callwords.h"
#include "types.h"

#define FR_SYSCALL_ABIS 2u

struct fr_syscall {
	const char *name; /* NULL: no call has this number */
	u8 len;		  /* of the name */
	s8 args;
	const struct fr_signature *signature; /* its args are NULL: unknown */
};

/* The calls of a machine and ABI, by number. */
struct fr_syscalls {
	const char *arch;
	u32 abi;
	const struct fr_syscall *call;
	u32 cnt;
};

/* NULL: unknown. Static. */
const struct fr_syscalls *fr_syscalls_find(const char *arch, u32 abi);

/* One of them, NULL: unknown. */
static inline const struct fr_syscall *fr_syscalls_at(const struct fr_syscalls *c, s64 nr)
{
	return c && nr >= 0 && nr < c->cnt && c->call[nr].name ? &c->call[nr] : NULL;
}

/* The name of a call, NULL: unknown. Static. */
const char *fr_syscall_name(const char *arch, u32 abi, s64 nr);

/* Its number, -1: unknown. */
int fr_syscall_nr(const char *arch, u32 abi, const char *name);

/* The calls that end with another number than they began with, by ABI; -1: unknown. */
struct fr_syscall_odd {
	s32 restart[FR_SYSCALL_ABIS]; /* restart_syscall resumes an interrupted call */
	s32 execve[FR_SYSCALL_ABIS], execveat[FR_SYSCALL_ABIS];
};

void fr_syscall_odd(const char *arch, struct fr_syscall_odd *out);

static inline bool fr_syscall_restarts(const struct fr_syscall_odd *o, s64 nr, u64 abi)
{
	return nr >= 0 && nr == o->restart[abi & 1];
}

/* Is it execve or execveat? */
static inline bool fr_syscall_execs(const struct fr_syscall_odd *o, s64 nr, u64 abi)
{
	return nr >= 0 && (nr == o->execve[abi & 1] || nr == o->execveat[abi & 1]);
}

/*
 * Which arguments of a call are texts or an address of a socket, at most two: in a byte, as FR_CALL_HAS_TEXT says (session.h);
 * 0: none.
 */
u8 fr_syscall_texts(const struct fr_syscall *call);

/* Likewise, if it may write to standard error: FR_CALL_SAYS and what goes with it; 0: it does not. */
u8 fr_syscall_says(const struct fr_syscall *call);

/* How many arguments it takes, 0 to 6; -1: unknown. */
int fr_syscall_args(const char *arch, u32 abi, s64 nr);

#endif
