/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kmsg: a record of the kernel's log, as a read of /dev/kmsg gives it (Documentation/ABI/testing/dev-kmsg). Pure.
 *
 *	6,339,5140900,-;NET: Registered PF_INET6\n
 *	 SUBSYSTEM=net\n
 *
 * level + 8 * facility, number, us of the kernel's local clock, flags; the text, in which the kernel writes what is not
 * printable, and what is not ASCII, as \xNN; then lines of a dictionary, which are left out.
 */
#ifndef FR_KMSG_H
#define FR_KMSG_H

#include <stddef.h>

#include "types.h"

#define FR_KMSG_TEXT_MAX 4095u /* bytes of a text; the kernel's own are shorter */
#define FR_KMSG_PART	 1u    /* flag: not the whole of a line, of which more records come */

struct fr_kmsg {
	u64 seq;
	u64 stamp_ns;
	u16 facility; /* 0: the kernel; others are of those who write to the log */
	u8 level;     /* 0 to 7 */
	u8 flags;     /* FR_KMSG_* */
	u16 len;
	char text[FR_KMSG_TEXT_MAX + 1]; /* as it was logged, but a NUL is ?; ends in a NUL */
};

/* 0, or -EINVAL: it is no such record, and *out is not to be used. */
int fr_kmsg_parse(const char *record, size_t sz, struct fr_kmsg *out);

const char *fr_kmsg_level(u8 level); /* "err", as dmesg has it; NULL: there is none */

/* "kern", "user", as dmesg has it; beyond those that have names, "local". */
const char *fr_kmsg_facility(u16 facility);

#endif
