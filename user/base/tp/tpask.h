/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tpask: what a -e asks of tracepoints, in its parts. Pure.
 *
 *	tp:SYSTEM:NAME [{FIELD,...}] [@N/T] [if CONDITION]
 *						the ones whose names match; of each these fields alone, at most N times in T, if
 *						the condition holds, in the language of filters
 *	-tp:SYSTEM:NAME				none of those
 *	tp, -tp					those of rare.def, as it says; none at all
 *
 * T: s, m, h, or a duration (100ms). A rate may also stand behind the condition.
 */
#ifndef FR_TPASK_H
#define FR_TPASK_H

#include <stdbool.h>

#include "base/schema/schema.h"
#include "rate.h"

#define FR_TPASK_WHY_SZ 160

struct fr_tpask {
	bool removes;
	bool table;			   /* tp alone: all of rare.def, and of what is removed any; no pattern */
	char pattern[2 * FR_NAME_MAX + 2]; /* SYSTEM:NAME, with * ? [...] */
	const char *fields;		   /* in the text, fields_sz bytes: names with commas; NULL: all */
	size_t fields_sz;
	struct fr_rate rate;
	const char *cond; /* in the text, cond_sz bytes; NULL: none */
	size_t cond_sz;
};

/* Is a -e about tracepoints: tp:..., -tp:..., or tp alone? */
bool fr_tpask_is(const char *what);

/* Which tracepoints there are is the kernel's to say. 0 and *out; -EINVAL and why. */
int fr_tpask_parse(const char *what, struct fr_tpask *out, char why[FR_TPASK_WHY_SZ]);

#endif
