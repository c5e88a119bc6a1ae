/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * view: a row with everything known around it: names, stacks, wall time, the machine. Printers and filters read it, so that a
 * derived field is like a stored one to them. Pure.
 */
#ifndef FR_VIEW_H
#define FR_VIEW_H

#include "base/rows/cgroups.h"
#include "base/rows/names.h"
#include "base/rows/pair.h"
#include "base/rows/stacks.h"
#include "base/schema/sysnames.h"
#include "base/text/wall.h"

struct fr_tps;

struct fr_view {
	const struct fr_schema *schema;
	struct fr_names *names;
	const struct fr_stacks *stacks;
	const struct fr_wall *wall;
	const struct fr_cgroups *cgroups; /* NULL: not requested */
	struct fr_tps *tps;		  /* formats of tracepoints (base/tp/tps.h), NULL: none */
	const char *arch;		  /* as `uname -m` says, NULL: unknown */
	const char *disks;		  /* names of block devices (base/text/dev.h), NULL: unknown */
	const struct fr_pair *pair;	  /* what rows from pair_from on end, NULL: not requested */
	const struct fr_span_row *span;	  /* what the same rows tell beside times, NULL: not requested */
	u32 pair_from;
	bool shows_pairs; /* printers show them if they are known */
	u32 whose;	  /* printers show these (base/rows/whose.h), bits */
};

/* What a row ends; NULL: not requested. */
static inline const struct fr_pair *fr_view_pair(const struct fr_view *v, const struct fr_row *r)
{
	return v->pair ? &v->pair[r->i - v->pair_from] : NULL;
}

static inline const struct fr_span_row *fr_view_span(const struct fr_view *v, const struct fr_row *r)
{
	return v->span ? &v->span[r->i - v->pair_from] : NULL;
}

enum fr_val_kind { FR_VAL_NONE, FR_VAL_NUM, FR_VAL_TEXT, FR_VAL_NUMS };

struct fr_val {
	enum fr_val_kind kind;
	bool is_signed; /* num, nums */
	u64 num;
	const char *text; /* len bytes, not terminated */
	const u64 *nums;  /* len numbers, extended by their sign */
	size_t len;
};

/* Is the field a number, a text, an array? By its type, also for derived ones. */
enum fr_val_kind fr_field_kind(const struct fr_field *f);

static inline bool fr_field_signed(const struct fr_field *f)
{
	return fr_type_signed(f->type);
}

static inline bool fr_is_stored_num(const struct fr_field *f)
{
	return f->kind != FR_KIND_DERIVED && f->type <= FR_TYPE_s64;
}

/* Does a field that is a task's number or name say that there is none? Task 0 of kernel events is the idle one. */
bool fr_view_is_none(const struct fr_row *r, const struct fr_field *f);

/* As fr_view_field(), for fields that are not stored numbers. */
struct fr_val fr_view_other(const struct fr_view *v, const struct fr_row *r, const struct fr_field *f);

/* The value of a field in a row; FR_VAL_NONE: unknown (a name or a stack that is not in the file). */
static inline struct fr_val fr_view_field(const struct fr_view *v, const struct fr_row *r, const struct fr_field *f)
{
	if (!fr_is_stored_num(f))
		return fr_view_other(v, r, f);
	return (struct fr_val){.kind = FR_VAL_NUM, .num = fr_row_num(r, f), .is_signed = fr_field_signed(f)};
}

/* The names of this row's numbers. */
struct fr_sys fr_view_sys(const struct fr_view *v, const struct fr_row *r);

static inline struct fr_who fr_view_who(const struct fr_view *v, const struct fr_row *r)
{
	return fr_names_who(v->names, r->tid, r->ts, r->cpu);
}

/* The path of the cgroup that the row's task was in, NULL: unknown. */
static inline const char *fr_view_cgroup(const struct fr_view *v, const struct fr_row *r)
{
	struct fr_who who = fr_view_who(v, r);

	return v->cgroups ? fr_cgroups_path(v->cgroups, who.pid, r->ts, who.cgroup) : NULL;
}

/* Whose that cgroup is, in one respect (base/rows/belongs.h), NULL: unknown. */
static inline const char *fr_view_belongs(const struct fr_view *v, const struct fr_row *r, enum fr_belongs_what what)
{
	struct fr_who who = fr_view_who(v, r);
	const struct fr_belongs *w = v->cgroups ? fr_cgroups_belongs(v->cgroups, who.pid, r->ts, who.cgroup) : NULL;

	return w ? w->text[what] : NULL;
}

#endif
