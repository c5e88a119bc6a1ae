/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure/text/folded.h"

#include "pure/text/out.h"

void fr_folded_add(struct fr_folded *l, const char *text, size_t sz)
{
	size_t i;

	if (l->len && l->len < FR_FOLDED_SZ)
		l->text[l->len++] = ';';
	for (i = 0; i < sz && l->len < FR_FOLDED_SZ; i++) {
		u8 c = text[i];

		l->text[l->len++] = c == ';' ? ':' : c < ' ' || c == 0x7f ? '?' : c;
	}
}

void fr_folded_put(void *out, const char *text, size_t sz, u64 weight)
{
	fr_out_mem(out, text, sz);
	fr_out_char(out, ' ');
	fr_out_u64(out, weight);
	fr_out_char(out, '\n');
}
