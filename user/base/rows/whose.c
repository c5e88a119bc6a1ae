/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/whose.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/text/escape.h"
#include "base/text/nearest.h"

static const char *const whose_names[FR_WHOSE_CNT + 1] = {
#define W(name, meaning) [FR_WHOSE_##name] = #name,
	FR_WHOSE(W)
#undef W
};

const char *fr_whose_name(u32 i)
{
	return i < FR_WHOSE_CNT ? whose_names[i] : NULL;
}

static int whose_refuse(const char *option, const char *name)
{
	struct fr_nearest near = {.to = name};
	const char *close;
	u32 i;

	for (i = 0; i < FR_WHOSE_CNT; i++)
		fr_nearest_consider(&near, whose_names[i]);
	close = fr_nearest_likely(&near);
	if (close)
		fr_err("%sthere is no column '%s': did you mean %s?", option, name, close);
	else
		fr_err("%sthere is no column '%s': give some of these, with commas: " FR_WHOSE_WORDS, option, name);
	return -EINVAL;
}

static u32 whose_bits(const char *name)
{
	u32 i;

	for (i = 0; i < FR_WHOSE_CNT; i++)
		if (!strcmp(name, whose_names[i]))
			return 1u << i;
	return strcmp(name, "all") ? 0 : FR_WHOSE_ALL;
}

int fr_whose_parse(const char *option, const char *list, u32 *bits)
{
	const char *at = list;
	u32 found = 0, now;
	char name[32];
	size_t len;

	do {
		at += *at == ',';
		len = strcspn(at, ",");
		memcpy(name, at, len < sizeof(name) ? len : sizeof(name) - 1);
		name[len < sizeof(name) ? len : sizeof(name) - 1] = 0;
		now = len < sizeof(name) ? whose_bits(name) : 0;
		if (!now)
			return whose_refuse(option, name);
		found |= now;
		at += len;
	} while (*at);
	*bits = found;
	return 0;
}

bool fr_whose_needs_cgroups(u32 bits)
{
	return bits & ~(1u << FR_WHOSE_program);
}

const char *fr_whose_text(const struct fr_view *v, const struct fr_row *r, enum fr_whose_what what, size_t *len)
{
	struct fr_who who;
	const char *text;

	if (what == FR_WHOSE_program) {
		who = fr_view_who(v, r);
		if (who.pid > 0)
			who = fr_names_who(v->names, who.pid, r->ts, r->cpu);
		*len = who.len;
		return who.comm;
	}
	text = what == FR_WHOSE_cgroup ? fr_view_cgroup(v, r) : fr_view_belongs(v, r, what - FR_WHOSE_container);
	*len = text ? strlen(text) : 0;
	return text;
}

void fr_whose_put_text(struct fr_out *o, const struct fr_view *v, const struct fr_row *r)
{
	const char *text;
	bool any = false;
	size_t len;
	u32 i;

	for (i = 0; i < FR_WHOSE_CNT; i++) {
		text = v->whose >> i & 1 ? fr_whose_text(v, r, i, &len) : NULL;
		if (!text)
			continue;
		fr_out_str(o, any ? " " : " whose=[");
		fr_out_str(o, whose_names[i]);
		fr_out_char(o, '=');
		fr_escape_text(o, text, len);
		any = true;
	}
	if (any)
		fr_out_char(o, ']');
}

void fr_whose_put_json(struct fr_out *o, const struct fr_view *v, const struct fr_row *r)
{
	const char *before = ",\"whose\":{\"", *text;
	size_t len;
	u32 i;

	for (i = 0; i < FR_WHOSE_CNT; i++) {
		if (!(v->whose >> i & 1))
			continue;
		fr_out_str(o, before);
		fr_out_str(o, whose_names[i]);
		text = fr_whose_text(v, r, i, &len);
		fr_out_str(o, text ? "\":\"" : "\":null");
		if (text) {
			fr_escape_json(o, text, len);
			fr_out_char(o, '"');
		}
		before = ",\"";
	}
	fr_out_char(o, '}');
}
