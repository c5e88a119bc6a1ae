/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* argv: the arguments of a program, as a ring has them, become the text that files and readers have. Pure. */
#ifndef FR_ARGV_H
#define FR_ARGV_H

#include "event_fields.h"

/* What becomes of secrets in records, by threads that share it. */
struct fr_secrets {
	const char *words; /* of secret keys (base/text/redact.h), NULL: no further ones */
	u32 cnt;	   /* values that were redacted; threads add to it */
};

/*
 * The record's arguments, each with a NUL, become one text: without the values of secret keys, a blank between arguments. The
 * record keeps its size: what gets longer by "[redacted]" loses its end, and says so (FR_REDACT_CUT). sz: the record's bytes,
 * so many are there; a shorter record, or one that was joined before, stays. s: NULL: no further words, nothing is counted.
 */
void fr_argv_join(struct fr_rec_exec_argv *rec, u32 sz, struct fr_secrets *s);

#endif
