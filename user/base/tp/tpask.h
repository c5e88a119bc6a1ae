/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tpask: what a -e asks of tracepoints, in its parts. Pure.
 *
 *	tp:SYSTEM:NAME [{FIELD,...}] [@N/T] [if CONDITION]
 *						the ones whose names match; of each these fields alone, at most N times in T, if
 *						the condition holds, in the language of filters
 *	-tp:SYSTEM:NAME				none of those
 *	uprobe:PATH:SYMBOL[+OFF] [{ARG:TYPE,...}] ...
 *						a place in a program or library, in the same way; so uretprobe:
 *	usdt:PATH:PROVIDER:NAME ...		and a static mark of it
 *	mark:PATH[:NAME] ...			and its marks of flightrec_mark.h; place_sz 0: all of them
 *	-uprobe:PATH:SYMBOL[+OFF]		not that one
 *	tp, -tp					those of rare.def, as it says; none at all
 *
 * T: s, m, h, or a duration (100ms). A rate may also stand behind the condition.
 */
#ifndef FR_TPASK_H
#define FR_TPASK_H

#include <stdbool.h>

#include "base/schema/tpname.h"
#include "rate.h"

#define FR_TPASK_WHY_SZ 160

struct fr_tpask {
	bool removes;
	bool table;			   /* tp alone: all of rare.def, and of what is removed any; no pattern */
	char pattern[2 * FR_NAME_MAX + 2]; /* SYSTEM:NAME, with * ? [...]; of a program's probe KIND:NAME */
	u32 kind;			   /* enum fr_up_kind; FR_UP_KIND_CNT: tracepoints of the kernel */
	const char *path, *place;	   /* of a program's probe, in the text: path_sz and place_sz bytes */
	size_t path_sz, place_sz;
	const char *fields; /* in the text, fields_sz bytes: names with commas; NULL: all */
	size_t fields_sz;
	struct fr_rate rate;
	const char *cond; /* in the text, cond_sz bytes; NULL: none */
	size_t cond_sz;
};

/* Is a -e about tracepoints: tp:..., -tp:..., or tp alone; or about programs' probes, uprobe:... and so on? */
bool fr_tpask_is(const char *what);

/* Which tracepoints there are is the kernel's to say. 0 and *out; -EINVAL and why. */
int fr_tpask_parse(const char *what, struct fr_tpask *out, char why[FR_TPASK_WHY_SZ]);

/* The same of what names an event that is recorded: a program's probe by KIND:NAME, not by its place. */
int fr_tpask_parse_event(const char *what, struct fr_tpask *out, char why[FR_TPASK_WHY_SZ]);

#endif
