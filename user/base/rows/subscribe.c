/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/subscribe.h"

#include <errno.h>

#include "base/err.h"

static const char *const sub_type_words[] = {
	[FR_SUB_IS_NUM] = "number",
	[FR_SUB_IS_TEXT8] = "short text",
	[FR_SUB_IS_TEXT] = "text",
	[FR_SUB_IS_NUMS] = "array",
};

static bool sub_fits(const struct fr_field *f, enum fr_sub_type type)
{
	if (!f || f->kind == FR_KIND_DERIVED)
		return false;
	switch (type) {
	case FR_SUB_IS_NUM:
		return f->type < FR_TYPE_text8;
	case FR_SUB_IS_TEXT8:
		return f->type == FR_TYPE_text8;
	case FR_SUB_IS_TEXT:
		return f->type == FR_TYPE_str || f->type == FR_TYPE_comm;
	default:
		return f->type == FR_TYPE_u64s;
	}
}

/* The index of the first field that the event must have and has not, or the number of fields. *out is filled in up to there. */
static u32 sub_bind(const struct fr_event *ev, const struct fr_sub_want *want, struct fr_sub *out)
{
	u32 i;

	for (i = 0; i < FR_SUB_FIELD_MAX && want->field[i].name; i++) {
		const struct fr_field *f = fr_event_field(ev, want->field[i].name);
		bool fits = sub_fits(f, want->field[i].type);

		if (!fits && !want->field[i].may_lack)
			return i;
		out->field[i] = fits ? f : NULL;
		out->col[i] = fits ? f->col : 0;
	}
	out->ev = ev;
	out->cnt = i;
	return i;
}

int fr_subscribe(const struct fr_schema *s, const struct fr_sub_want *want, struct fr_sub *out)
{
	const struct fr_event *ev = fr_schema_find(s, want->event);
	struct fr_sub sub = {0};

	*out = sub;
	if (!ev)
		return -ENOENT;
	sub_bind(ev, want, &sub);
	if (!sub.ev)
		return -EINVAL;
	*out = sub;
	return 0;
}

void fr_sub_say(const char *path, const struct fr_schema *s, const struct fr_sub_want *want)
{
	const struct fr_event *ev = fr_schema_find(s, want->event);
	struct fr_sub sub = {0};
	u32 lacks = ev ? sub_bind(ev, want, &sub) : 0;

	if (!ev || sub.ev)
		return;
	fr_warn("%s: its event %s has no %s named %s, so what follows from these events is not known", path, want->event,
		sub_type_words[want->field[lacks].type], want->field[lacks].name);
}
