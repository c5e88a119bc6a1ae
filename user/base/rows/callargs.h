/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * callargs: the arguments of a row's system call, and how its machine writes them. They are its fields of style ARG: one array
 * (sys_enter), or numbers in the order of the arguments (wait). The call is the field of style SYSCALL. Pure.
 */
#ifndef FR_CALLARGS_H
#define FR_CALLARGS_H

#include "base/rows/view.h"
#include "base/schema/callwords.h"
#include "base/schema/syscalls.h"

struct fr_callargs {
	const struct fr_signature *signature; /* of at least known_cnt arguments */
	u64 v[FR_CALL_ARG_MAX];
	u32 cnt, known_cnt; /* those behind the known ones are registers that the call does not take */
};

/* The arguments of the row's call c (fr_syscalls_at()), NULL: unknown. False: they have no names. */
bool fr_callargs_of(const struct fr_row *r, const struct fr_syscall *c, struct fr_callargs *out);

/* The row's call. NULL: none, or unknown. */
const struct fr_syscall *fr_callargs_call(const struct fr_view *v, const struct fr_row *r);

/* Which argument a number of style ARG is. */
u32 fr_callargs_at(const struct fr_row *r, const struct fr_field *f);

#endif
