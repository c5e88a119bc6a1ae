/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stacktexts: how printers ask for the frames of a stack in words, without knowing their source. Pure. */
#ifndef FR_STACKTEXTS_H
#define FR_STACKTEXTS_H

#include "base/rows/batch.h"

struct fr_stacktexts {
	/*
	 * The texts of the stack in field f (rule STACK) of row r, innermost first; NULL or *cnt 0: none. Valid until the next
	 * call.
	 */
	const char *const *(*of)(void *arg, const struct fr_row *r, const struct fr_field *f, u32 *cnt);
	void *arg;
};

static inline bool fr_is_stack(const struct fr_field *f)
{
	return f->kind == FR_KIND_DERIVED && f->rule == FR_RULE_STACK;
}

#endif
