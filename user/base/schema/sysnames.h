/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysnames: the names of numbers that do not depend on the machine: signals, errors, task states, softirqs, origins of signals.
 * By the numbers of x86 and arm64, not those of the machine that reads.
 */
#ifndef FR_SYSNAMES_H
#define FR_SYSNAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/schema/schema.h"

/* What system call numbers depend on: the recorded machine, as `uname -m` says, and the calling task's ABI. */
struct fr_sys {
	const char *arch;
	u32 abi;
};

/* The name of a number in this style ("SIGSEGV", "D", "openat", "-ENOENT"), NULL: none. Static. */
const char *fr_sysname(const struct fr_sys *sys, enum fr_style style, s64 v);

#define FR_SYSNAME_SZ 32

/* The same, and what is put together in room: errors ("-ENOENT"), ends of processes as wait() has them ("SIGSEGV+core",
 * "exit(2)"). */
const char *fr_sysname_text(const struct fr_sys *sys, enum fr_style style, s64 v, char room[FR_SYSNAME_SZ]);

#define FR_SYSNAME_CALL_SZ 40

/* A system call as people read it: "openat"; of 32 bits, which may have the same name, "openat/32"; without one "syscall 999".
 */
const char *fr_sysname_call(const struct fr_sys *sys, s32 id, char room[FR_SYSNAME_CALL_SZ]);

/* The number of a name in this style. Returns 0 and *v, or -ENOENT. */
int fr_sysname_find(const struct fr_sys *sys, enum fr_style style, const char *name, s64 *v);

/* Can values of this style have names? */
bool fr_sysname_style(enum fr_style style);

#define FR_ERRNO_MAX 4095

/* Is what a system call returned an error? Only then is -ret its number: the smallest number has no opposite. */
static inline bool fr_ret_is_error(s64 ret)
{
	return ret < 0 && ret >= -FR_ERRNO_MAX;
}

const char *fr_ret_error(s64 ret);   /* "ENOENT" for -2; NULL: it is none, or has no name */
const char *fr_errno_name(s64 nr);   /* "ENOENT" for 2, or NULL */
s64 fr_errno_find(const char *name); /* 2 for "ENOENT", 0: unknown */
const char *fr_signal_name(s64 nr);  /* "SIGSEGV" for 11; also "SIGRTMIN+3"; or NULL */

#endif
