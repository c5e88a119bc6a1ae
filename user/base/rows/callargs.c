/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/callargs.h"

static const struct fr_field *callargs_field(const struct fr_event *ev, u8 style)
{
	const struct fr_field *f = ev->fields, *end = f + ev->field_cnt;

	while (f < end && f->style != style)
		f++;
	return f < end ? f : NULL;
}

static void callargs_take(struct fr_callargs *a, const u64 *v, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt && a->cnt < FR_CALL_ARG_MAX; i++)
		a->v[a->cnt++] = v[i];
}

bool fr_callargs_of(const struct fr_row *r, const struct fr_syscall *c, struct fr_callargs *out)
{
	const struct fr_field *f = callargs_field(r->ev, FR_STYLE_ARG), *end = r->ev->fields + r->ev->field_cnt;
	const u64 *nums;
	size_t cnt;
	u64 v;

	if (!f || !c || !c->signature->args)
		return false;
	out->signature = c->signature;
	out->cnt = 0;
	for (; f < end; f++) {
		if (f->style != FR_STYLE_ARG || f->kind == FR_KIND_DERIVED)
			continue;
		if (fr_field_kind(f) == FR_VAL_NUMS) {
			nums = fr_row_nums(r, f, &cnt);
			callargs_take(out, nums, cnt);
		} else if (fr_is_stored_num(f)) {
			v = fr_row_num(r, f);
			callargs_take(out, &v, 1);
		}
	}
	out->known_cnt = out->cnt < (u32)c->args ? out->cnt : (u32)c->args;
	return true;
}

const struct fr_syscall *fr_callargs_call(const struct fr_view *v, const struct fr_row *r)
{
	const struct fr_field *f = callargs_field(r->ev, FR_STYLE_SYSCALL);

	if (!f || !fr_is_stored_num(f))
		return NULL;
	return fr_syscalls_at(fr_syscalls_find(v->arch, fr_row_abi(r)), (s64)fr_row_num(r, f));
}

u32 fr_callargs_at(const struct fr_row *r, const struct fr_field *f)
{
	const struct fr_field *one = r->ev->fields;
	u32 i = 0;

	for (; one < f; one++)
		i += one->style == FR_STYLE_ARG && fr_is_stored_num(one);
	return i;
}
