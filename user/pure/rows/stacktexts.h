/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stacktexts: how printers ask for the frames of a stack in words, without knowing where these come from. Pure. */
#ifndef FR_STACKTEXTS_H
#define FR_STACKTEXTS_H

#include "pure/rows/batch.h"

struct fr_stacktexts {
	/* The texts of the stack that field f (rule STACK) of row r is, innermost first; NULL or *cnt 0: none. Until the next
	 * call. */
	const char *const *(*of)(void *arg, const struct fr_row *r, const struct fr_field *f, u32 *cnt);
	void *arg;
};

static inline bool fr_is_stack(const struct fr_field *f)
{
	return f->kind == FR_KIND_DERIVED && f->rule == FR_RULE_STACK;
}

#endif
