/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/view.h"

#include <string.h>

#include "base/rows/rows.h"
#include "tp.h"

enum fr_val_kind fr_field_kind(const struct fr_field *f)
{
	if (f->type <= FR_TYPE_s64)
		return FR_VAL_NUM;
	if (f->type == FR_TYPE_u64s)
		return FR_VAL_NUMS;
	return f->type == FR_TYPE_array && f->elem != FR_TYPE_str ? FR_VAL_NUMS : FR_VAL_TEXT;
}

static struct fr_val view_num_of(u64 num, bool is_signed)
{
	return (struct fr_val){.kind = FR_VAL_NUM, .num = num, .is_signed = is_signed};
}

/* The number that a derived field is computed from: the row's tid, or a stored field, perhaps through one derived TID. */
static bool view_source(const struct fr_row *r, const struct fr_field *f, u64 *num)
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

/* Id 0: there was no stack, which is known, and empty. */
static struct fr_val view_stack_of(const struct fr_view *v, u64 id)
{
	struct fr_val val = {.kind = FR_VAL_NUMS};

	if (!id)
		return val;
	val.nums = v->stacks ? fr_stacks_find(v->stacks, id, &val.len) : NULL;
	if (!val.nums)
		val.kind = FR_VAL_NONE;
	return val;
}

/* Elements of a record of the kernel, made numbers; they last until a thread has asked for NUMS_TURNS more arrays. */
#define NUMS_TURNS 4u

/* Kept out of those that all events go through. */
#define RARE __attribute__((noinline))

static struct fr_val nums_of(const void *bytes, size_t sz, u8 elem)
{
	static _Thread_local u64 room[NUMS_TURNS][FR_REC_MAX_SZ];
	static _Thread_local u32 turn;
	u32 one = fr_type_sz(elem);
	struct fr_val val = {
		.kind = FR_VAL_NUMS, .nums = room[turn % NUMS_TURNS], .len = sz / one, .is_signed = fr_type_signed(elem)};
	const u32 above = 64 - 8 * one; /* bits that an element does not have */
	u64 *to = room[turn++ % NUMS_TURNS];
	size_t i;

	if (val.len > FR_REC_MAX_SZ)
		val.len = FR_REC_MAX_SZ;
	memset(to, 0, val.len * sizeof(*to));
	for (i = 0; i < val.len; i++) {
		memcpy(&to[i], (const char *)bytes + i * one, one);
		if (val.is_signed)
			to[i] = (s64)(to[i] << above) >> above;
	}
	return val;
}

/*
 * A text or an array of a tracepoint: loc says where the kernel put it in its record, which begins before ours' fields do. What
 * the ring had no room for, or no kernel wrote, is cut off.
 */
static RARE struct fr_val loc_of(const struct fr_row *r, const struct fr_field *f, u64 loc)
{
	const struct fr_field *data = fr_event_tail(r->ev), *word = &r->ev->fields[f->from_idx];
	u64 at = loc & 0xffff, len = loc >> 16 & 0xffff;
	struct fr_val val = {.kind = FR_VAL_NONE};
	const char *bytes;
	size_t sz;

	if (data->type != FR_TYPE_data || !r->b->type[r->ev->nr].col[data->col].text)
		return val;
	at += word->style == FR_STYLE_RELLOC ? word->off + sizeof(u32) : FR_TP_AHEAD_SZ;
	bytes = fr_row_bytes(r, data, &sz);
	if (at < data->off || at - data->off > sz)
		return val;
	bytes += at - data->off;
	sz -= at - data->off;
	sz = len < sz ? len : sz;
	if (f->elem != FR_TYPE_str)
		return nums_of(bytes, sz, f->elem);
	return (struct fr_val){.kind = FR_VAL_TEXT, .text = bytes, .len = strnlen(bytes, sz)};
}

/* An array, or data: of tracepoints alone. */
static RARE struct fr_val bytes_of(const struct fr_row *r, const struct fr_field *f)
{
	struct fr_val val = {.kind = fr_field_kind(f)};

	val.text = fr_row_bytes(r, f, &val.len);
	if (val.kind == FR_VAL_NUMS)
		return nums_of(val.text, val.len, f->elem);
	val.len = f->type == FR_TYPE_data ? val.len : strnlen(val.text, val.len);
	return val;
}

static struct fr_val view_derived(const struct fr_view *v, const struct fr_row *r, const struct fr_field *f)
{
	u64 num;

	if (!view_source(r, f, &num))
		return (struct fr_val){.kind = FR_VAL_NONE};
	switch (f->rule) {
	case FR_RULE_TID:
		return view_num_of(num, true);
	case FR_RULE_COMM:
		return comm_of(v, r, f, num);
	case FR_RULE_STACK:
		if (!num && r->ev->fields[f->from_idx].style == FR_STYLE_TAKEN)
			return (struct fr_val){.kind = FR_VAL_NONE};
		return view_stack_of(v, num);
	case FR_RULE_LOC:
		return loc_of(r, f, num);
	default:
		return (struct fr_val){.kind = FR_VAL_NONE};
	}
}

struct fr_val fr_view_other(const struct fr_view *v, const struct fr_row *r, const struct fr_field *f)
{
	struct fr_val val = {};

	if (f->kind == FR_KIND_DERIVED)
		return view_derived(v, r, f);
	if (f->type >= FR_TYPE_array)
		return bytes_of(r, f);
	val.kind = fr_field_kind(f);
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
