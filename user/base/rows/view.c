/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/view.h"

enum fr_val_kind fr_field_kind(const struct fr_field *f)
{
	switch (f->type) {
	case FR_TYPE_text8:
	case FR_TYPE_comm:
	case FR_TYPE_str:
		return FR_VAL_TEXT;
	case FR_TYPE_u64s:
		return FR_VAL_NUMS;
	default:
		return FR_VAL_NUM;
	}
}

static struct fr_val num_of(u64 num, bool is_signed)
{
	return (struct fr_val){.kind = FR_VAL_NUM, .num = num, .is_signed = is_signed};
}

/* The number that a derived field is computed from: the row's tid, or a stored field, perhaps through one derived TID. */
static bool source(const struct fr_row *r, const struct fr_field *f, u64 *num)
{
	if (f->from_idx >= 0) {
		f = &r->ev->fields[f->from_idx];
		if (f->kind != FR_KIND_DERIVED) {
			*num = fr_field_kind(f) == FR_VAL_NUM ? fr_row_num(r, f) : 0;
			return fr_field_kind(f) == FR_VAL_NUM;
		}
		if (f->rule != FR_RULE_TID || f->from_idx >= 0)
			return false;
	}
	*num = r->tid;
	return true;
}

/*
 * In the kernel's events, task 0 is the CPU's idle task; in the recorder's own (a trigger of no task, a latency of a device,
 * a wait that no task ended) the field is 0 for none.
 */
static bool has_no_task_0(const struct fr_row *r)
{
	return r->ev->group == FR_GROUP_MARK || r->ev->group == FR_GROUP_WAIT;
}

bool fr_view_is_none(const struct fr_row *r, const struct fr_field *f)
{
	if (!has_no_task_0(r))
		return false;
	if (f->kind == FR_KIND_DERIVED && f->rule == FR_RULE_COMM && f->from_idx >= 0)
		f = &r->ev->fields[f->from_idx];
	return f->kind != FR_KIND_DERIVED && f->style == FR_STYLE_TID && !fr_row_num(r, f);
}

static struct fr_val comm_of(const struct fr_view *v, const struct fr_row *r, const struct fr_field *f, u64 tid)
{
	struct fr_who who = fr_names_who(v->names, tid, r->ts, r->cpu);

	if (tid > FR_TID_MASK || !who.comm || (!tid && fr_view_is_none(r, f)))
		return (struct fr_val){.kind = FR_VAL_NONE};
	return (struct fr_val){.kind = FR_VAL_TEXT, .text = who.comm, .len = who.len};
}

/* Id 0: no stack was taken, which is known, and empty. */
static struct fr_val stack_of(const struct fr_view *v, u64 id)
{
	struct fr_val val = {.kind = FR_VAL_NUMS};

	if (!id)
		return val;
	val.nums = v->stacks ? fr_stacks_find(v->stacks, id, &val.len) : NULL;
	if (!val.nums)
		val.kind = FR_VAL_NONE;
	return val;
}

static struct fr_val derived(const struct fr_view *v, const struct fr_row *r, const struct fr_field *f)
{
	u64 num;

	if (!source(r, f, &num))
		return (struct fr_val){.kind = FR_VAL_NONE};
	switch (f->rule) {
	case FR_RULE_TID:
		return num_of(num, true);
	case FR_RULE_COMM:
		return comm_of(v, r, f, num);
	case FR_RULE_STACK:
		return stack_of(v, num);
	default:
		return (struct fr_val){.kind = FR_VAL_NONE};
	}
}

struct fr_val fr_view_other(const struct fr_view *v, const struct fr_row *r, const struct fr_field *f)
{
	struct fr_val val = {.kind = fr_field_kind(f)};

	if (f->kind == FR_KIND_DERIVED)
		return derived(v, r, f);
	if (val.kind == FR_VAL_TEXT)
		val.text = fr_row_text(r, f, &val.len);
	else
		val.nums = fr_row_nums(r, f, &val.len);
	return val;
}

struct fr_sys fr_view_sys(const struct fr_view *v, const struct fr_row *r)
{
	return (struct fr_sys){.arch = v->arch, .abi = fr_row_abi(r)};
}
