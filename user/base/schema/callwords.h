/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * callwords: arguments of system calls by their names, and what they mean in the words of the kernel's headers. Pure.
 *
 *	openat	dfd=AT_FDCWD filename=0x7ffd310cb070 flags=O_WRONLY|O_CREAT|0x80000000 mode=0644
 *	poll	ufds=0x7f.. nfds=2 timeout_msecs=5000ms
 *
 * Names are those of the kernel's own prototypes. Of what the kernel takes as an int, the lower half of the register is shown.
 * Bits without a word are a number in hex behind the others. The tables are call_words.def, made by vmlinux/gen_syscalls.py.
 */
#ifndef FR_CALLWORDS_H
#define FR_CALLWORDS_H

#include <stddef.h>

#include "types.h"

#define FR_CALL_ARG_MAX 6u
#define FR_CALLWORDS_SZ 1024u /* for any argument; what had no room would be in the number */

/* How an argument is written where it has no word. */
enum fr_argkind {
	FR_ARG_INT,
	FR_ARG_UINT,
	FR_ARG_LONG, /* as wide as the register */
	FR_ARG_SIZE,
	FR_ARG_FD,
	FR_ARG_HEX,
	FR_ARG_HEX32,
	FR_ARG_PTR,
	FR_ARG_MODE,
	FR_ARG_MS,
	FR_ARG_SIGNAL,
	FR_ARG_FLAGS, /* several words, as bits or parts */
	FR_ARG_CLONE, /* the same; the lowest byte is a signal */
	FR_ARG_IOCTL,
	FR_ARG_TEXT,	 /* a pointer to a path or a name that the kernel reads */
	FR_ARG_SOCKADDR, /* to an address of a socket that it reads, whose size is the next argument */
};

struct fr_callword; /* opaque */

/* What an argument is. */
struct fr_callarg {
	const char *name;
	const struct fr_callword *words; /* NULL: none */
	u8 kind;			 /* enum fr_argkind */
	u8 name_len;
};

/* Of a call: argument target is something else where argument cause has this value. */
struct fr_callby {
	u64 value, mask;
	u8 cause, target;
	struct fr_callarg arg; /* its name is the target's */
};

struct fr_signature {
	const struct fr_callarg *args; /* as many as the call takes */
	const struct fr_callby *by;    /* mask 0 ends them */
};

/*
 * Write argument i of a call that has this signature, given cnt arguments, as text; not terminated, at most FR_CALLWORDS_SZ
 * bytes. Returns the end. named: only if it has words at least for a part of it, else nothing.
 */
char *fr_callwords_put(const struct fr_signature *s, const u64 *args, u32 cnt, u32 i, char *to);
char *fr_callwords_put_named(const struct fr_signature *s, const u64 *args, u32 cnt, u32 i, char *to);

/* Each signature by its symbol, for the tables of calls. */
#define FR_SIGNATURE(name) fr_signature_##name
#define SIGNATURE(name)	   extern const struct fr_signature FR_SIGNATURE(name);
#include "base/schema/call_words.def"

#endif
