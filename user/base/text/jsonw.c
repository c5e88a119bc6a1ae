/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/jsonw.h"

#include "base/text/escape.h"

static void quoted(struct fr_out *o, const char *s, size_t sz)
{
	fr_out_char(o, '"');
	fr_escape_json(o, s, sz);
	fr_out_char(o, '"');
}

static void jsonw_begin(struct fr_jsonw *w, const char *key)
{
	if (w->comma)
		fr_out_char(w->o, ',');
	w->comma = true;
	if (!key)
		return;
	quoted(w->o, key, strlen(key));
	fr_out_char(w->o, ':');
}

void fr_jsonw_open(struct fr_jsonw *w, const char *key, char bracket)
{
	jsonw_begin(w, key);
	fr_out_char(w->o, bracket);
	w->comma = false;
}

void fr_jsonw_close(struct fr_jsonw *w, char bracket)
{
	fr_out_char(w->o, bracket);
	w->comma = true;
}

void fr_jsonw_u64(struct fr_jsonw *w, const char *key, u64 v)
{
	jsonw_begin(w, key);
	fr_out_u64(w->o, v);
}

void fr_jsonw_s64(struct fr_jsonw *w, const char *key, s64 v)
{
	jsonw_begin(w, key);
	fr_out_s64(w->o, v);
}

void fr_jsonw_real(struct fr_jsonw *w, const char *key, double v, u32 digits)
{
	jsonw_begin(w, key);
	fr_out_printf(w->o, "%.*f", (int)digits, v);
}

void fr_jsonw_bool(struct fr_jsonw *w, const char *key, bool v)
{
	jsonw_begin(w, key);
	fr_out_str(w->o, v ? "true" : "false");
}

void fr_jsonw_mem(struct fr_jsonw *w, const char *key, const char *s, size_t sz)
{
	jsonw_begin(w, key);
	quoted(w->o, s, sz);
}

void fr_jsonw_escaped(struct fr_jsonw *w, const char *key, const char *s, size_t sz)
{
	jsonw_begin(w, key);
	fr_out_char(w->o, '"');
	fr_escape_json_again(w->o, s, sz);
	fr_out_char(w->o, '"');
}

void fr_jsonw_text(struct fr_jsonw *w, const char *key, const char *s)
{
	if (s) {
		fr_jsonw_mem(w, key, s, strlen(s));
		return;
	}
	jsonw_begin(w, key);
	fr_out_str(w->o, "null");
}
