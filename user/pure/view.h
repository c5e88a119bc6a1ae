/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * view: a row with all that is known around it: names, stacks, wall time, the machine. What printers and filters read,
 * so that a derived field is like a stored one to them. Pure.
 */
#ifndef FR_VIEW_H
#define FR_VIEW_H

#include "pure/names.h"
#include "pure/stacks.h"
#include "pure/sysnames.h"
#include "pure/wall.h"

struct fr_view {
	const struct fr_schema *schema;
	struct fr_names *names;
	const struct fr_stacks *stacks;
	const struct fr_wall *wall;
	const char *arch; /* as `uname -m` says, NULL unknown */
};

enum fr_val_kind { FR_VAL_NONE, FR_VAL_NUM, FR_VAL_TEXT, FR_VAL_NUMS };

struct fr_val {
	enum fr_val_kind kind;
	bool is_signed; /* num */
	u64 num;
	const char *text; /* len bytes, not terminated */
	const u64 *nums;  /* len numbers */
	size_t len;
};

/* The value of a field in a row; FR_VAL_NONE: unknown (a name or a stack that is not in the file). */
struct fr_val fr_view_field(const struct fr_view *v, const struct fr_row *r, const struct fr_field *f);

/* The names numbers of this row go by. */
struct fr_sys fr_view_sys(const struct fr_view *v, const struct fr_row *r);

/* Is the field a number, a text, an array? By its type; derived ones too. */
enum fr_val_kind fr_field_kind(const struct fr_field *f);
bool fr_field_signed(const struct fr_field *f);

static inline struct fr_who fr_view_who(const struct fr_view *v, const struct fr_row *r)
{
	return fr_names_who(v->names, r->tid, r->ts, r->cpu);
}

#endif
