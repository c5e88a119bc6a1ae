/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/whose.h"

#include <string.h>

#include "base/namelist.h"
#include "base/text/escape.h"

static const char *const whose_names[FR_WHOSE_CNT + 1] = {
#define W(name, meaning) [FR_WHOSE_##name] = #name,
	FR_WHOSE(W)
#undef W
};

const char *fr_whose_name(u32 i)
{
	return i < FR_WHOSE_CNT ? whose_names[i] : NULL;
}

int fr_whose_parse(const char *option, const char *list, u32 *bits)
{
	const struct fr_namelist l = {.what = "column", .name = whose_names, .cnt = FR_WHOSE_CNT, .all = FR_WHOSE_ALL};

	return fr_namelist_parse(&l, option, list, bits);
}

bool fr_whose_needs_cgroups(u32 bits)
{
	return bits & ~(1u << FR_WHOSE_program);
}

const char *fr_whose_process(const struct fr_cgroups *c, s32 pid, u64 ts, u64 cgroup, enum fr_whose_what what)
{
	const struct fr_belongs *w;

	if (what == FR_WHOSE_cgroup)
		return fr_cgroups_path(c, pid, ts, cgroup);
	w = fr_cgroups_belongs(c, pid, ts, cgroup);
	return w ? w->text[what - FR_WHOSE_container] : NULL;
}

const char *fr_whose_of(const struct fr_view *v, struct fr_who who, u64 ts, u16 cpu, enum fr_whose_what what, size_t *len)
{
	const char *text;

	if (what == FR_WHOSE_program) {
		if (who.pid > 0)
			who = fr_names_who(v->names, who.pid, ts, cpu);
		else if (who.pid) /* its process is not known, so its own name may be any thread's; 0: the idle task */
			who = (struct fr_who){.pid = who.pid};
		*len = who.len;
		return who.comm;
	}
	text = v->cgroups ? fr_whose_process(v->cgroups, who.pid, ts, who.cgroup, what) : NULL;
	*len = text ? strlen(text) : 0;
	return text;
}

/* A task chooses its name: "x pod=prod", or one with "]", may not look like another column, or like their end. */
static void whose_put_value(struct fr_out *o, const char *s, size_t sz)
{
	size_t i, from = 0;

	for (i = 0; i < sz; i++) {
		if (s[i] != ' ' && s[i] != ']')
			continue;
		fr_escape_text(o, s + from, i - from);
		fr_out_str(o, s[i] == ' ' ? "\\x20" : "\\x5d");
		from = i + 1;
	}
	fr_escape_text(o, s + from, sz - from);
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
		whose_put_value(o, text, len);
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
