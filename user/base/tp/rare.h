/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rare: the table of rare tracepoints that are recorded by default (rare.def). Pure. */
#ifndef FR_RARE_H
#define FR_RARE_H

#include "types.h"

struct fr_rare {
	const char *name;  /* SYSTEM:NAME */
	const char *how;   /* rate and condition, as behind the name of a -e; "": none */
	const char *begin; /* the one that begins what it ends; "": it ends nothing */
	const char *doc;
};

/* The i-th, NULL behind the last. */
const struct fr_rare *fr_rare_get(u32 i);

/* Its number; -1: no such entry. */
int fr_rare_find(const char *name);

#endif
