/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jsonw: writes JSON documents piece by piece, with commas and escapes. key NULL: an element of an array. Pure. */
#ifndef FR_JSONW_H
#define FR_JSONW_H

#include "base/text/out.h"

struct fr_jsonw {
	struct fr_out *o;
	bool comma; /* something was written before in this object or array */
};

void fr_jsonw_open(struct fr_jsonw *w, const char *key, char bracket); /* { or [ */
void fr_jsonw_close(struct fr_jsonw *w, char bracket);		       /* } or ] */
void fr_jsonw_u64(struct fr_jsonw *w, const char *key, u64 v);
void fr_jsonw_s64(struct fr_jsonw *w, const char *key, s64 v);
void fr_jsonw_real(struct fr_jsonw *w, const char *key, double v, u32 digits);
void fr_jsonw_bool(struct fr_jsonw *w, const char *key, bool v);
void fr_jsonw_text(struct fr_jsonw *w, const char *key, const char *s); /* NULL: null */
void fr_jsonw_mem(struct fr_jsonw *w, const char *key, const char *s, size_t sz);
void fr_jsonw_escaped(struct fr_jsonw *w, const char *key, const char *s, size_t sz); /* as fr_escape_text() made it */

#endif
