/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/format/format_pair.h"

#include <stddef.h>

#include "base/text/units.h"

static const struct {
	const char *name;
	size_t off;
} durations[] = {
#define T(name) {#name, offsetof(struct fr_pair, name##_ns)},
	FR_PAIR_TIMES(T)
#undef T
};
#define DURATION_CNT (sizeof(durations) / sizeof(durations[0]))

static u64 value(const struct fr_pair *p, size_t i)
{
	return *(const u64 *)((const char *)p + durations[i].off);
}

void fr_pair_json(struct fr_out *o, const struct fr_pair *p)
{
	size_t i;

	for (i = 0; i < DURATION_CNT; i++) {
		if (!value(p, i))
			continue;
		fr_out_str(o, ",\"");
		fr_out_str(o, durations[i].name);
		fr_out_str(o, "_ns\":");
		fr_out_u64(o, value(p, i));
	}
	if (p->waker) {
		fr_out_str(o, ",\"waker\":");
		fr_out_u64(o, p->waker);
	}
}

void fr_pair_text(struct fr_out *o, const struct fr_pair *p)
{
	char buf[32];
	size_t i;

	for (i = 0; i < DURATION_CNT; i++) {
		if (!value(p, i))
			continue;
		fr_out_char(o, ' ');
		fr_out_str(o, durations[i].name);
		fr_out_char(o, '=');
		fr_out_str(o, fr_show_duration(value(p, i), buf, sizeof(buf)));
	}
	if (p->waker) {
		fr_out_str(o, " waker=");
		fr_out_u64(o, p->waker);
	}
}
