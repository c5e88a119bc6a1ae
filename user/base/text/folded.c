/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/folded.h"

#include "base/text/escape.h"
#include "base/text/out.h"

void fr_folded_add(struct fr_folded *l, const char *text, size_t sz)
{
	size_t at;

	if (l->len && l->len < FR_FOLDED_SZ)
		l->text[l->len++] = ';';
	at = l->len;
	l->len += fr_escape_mem(l->text + at, FR_FOLDED_SZ - at, text, sz);
	for (; at < l->len; at++)
		if (l->text[at] == ';')
			l->text[at] = ':';
}

void fr_folded_put(void *out, const char *text, size_t sz, u64 weight)
{
	fr_out_mem(out, text, sz);
	fr_out_char(out, ' ');
	fr_out_u64(out, weight);
	fr_out_char(out, '\n');
}
