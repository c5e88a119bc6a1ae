/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/export/export_stack.h"

#include "read/symbols/frames.h"

#define INLINE_MAX 16u /* functions per address */

bool fr_export_has_stack(const struct fr_event *ev)
{
	return fr_event_field(ev, "kstack") || fr_event_field(ev, "ustack");
}

static struct fr_val stack_val_of(const struct fr_view *v, const struct fr_row *r, const char *name, enum fr_val_kind kind)
{
	const struct fr_field *f = fr_event_field(r->ev, name);
	struct fr_val val = {.kind = FR_VAL_NONE};

	if (f && fr_field_kind(f) == kind)
		val = fr_view_field(v, r, f);
	return val;
}

static u64 stack_num_of(const struct fr_view *v, const struct fr_row *r, const char *name)
{
	struct fr_val val = stack_val_of(v, r, name, FR_VAL_NUM);

	return val.kind == FR_VAL_NUM ? val.num : 0;
}

struct stack {
	struct fr_symbols *symbols; /* NULL: raw addresses */
	u32 pid;
	u64 id;
	struct fr_export_frame *out;
	u32 cnt;
};

static void add_kernel(struct stack *s, u64 ip)
{
	struct fr_export_frame *f = &s->out[s->cnt++];

	*f = (struct fr_export_frame){.ip = ip, .kernel = true};
	if (s->symbols)
		fr_symbols_kernel(s->symbols, ip, &f->symbol);
}

static void add_user(struct stack *s, u32 nr, u64 ip)
{
	struct fr_symbol symbol[INLINE_MAX] = {0};
	u32 cnt = s->symbols ? fr_symbols_user(s->symbols, s->pid, s->id, nr, ip, symbol, INLINE_MAX) : 1, i;

	for (i = 0; i < cnt && s->cnt < FR_EXPORT_FRAME_MAX; i++)
		s->out[s->cnt++] = (struct fr_export_frame){.ip = ip, .symbol = symbol[i]};
}

u32 fr_export_frames(struct fr_export *x, const struct fr_view *v, const struct fr_row *r, struct fr_export_frame *out)
{
	struct fr_val kernel = stack_val_of(v, r, "kstack", FR_VAL_NUMS), user = stack_val_of(v, r, "ustack", FR_VAL_NUMS);
	s32 pid = fr_view_who(v, r).pid;
	struct stack s = {
		.symbols = x->frames ? fr_frames_symbols(x->frames, x->file) : NULL,
		.pid = pid < 0 ? r->tid : (u32)pid,
		.id = stack_num_of(v, r, "ustack_id"),
		.out = out,
	};
	u64 ip = stack_num_of(v, r, "ip");
	size_t i;

	for (i = 0; kernel.kind == FR_VAL_NUMS && i < kernel.len && s.cnt < FR_EXPORT_FRAME_MAX; i++)
		add_kernel(&s, kernel.nums[i]);
	for (i = 0; user.kind == FR_VAL_NUMS && i < user.len && s.cnt < FR_EXPORT_FRAME_MAX; i++)
		add_user(&s, i, user.nums[i]);
	if (!s.cnt && ip && fr_is_kernel_ip(ip))
		add_kernel(&s, ip);
	else if (!s.cnt && ip)
		add_user(&s, 0, ip);
	return s.cnt;
}
