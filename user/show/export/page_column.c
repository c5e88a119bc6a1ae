/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/export/page_column.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define FAST_LEVEL 3	       /* for zlib: 9 takes six times as long and saves a tenth */
#define PLAIN_MAX  (1LL << 50) /* numbers and their differences are exact in a double */

/* ---- growing arrays ---- */

int fr_page_nums_grow(struct fr_page_nums *n)
{
	u32 cap = n->cap ? 2 * n->cap : 1024;
	u64 *p = realloc(n->v, cap * sizeof(*p));

	if (!p)
		return -ENOMEM;
	n->v = p;
	n->cap = cap;
	return 0;
}

/* ---- columns ---- */

void fr_page_u32(struct fr_pbuf *b, u32 v)
{
	v = htole32(v);
	memcpy(b->p + b->len, &v, sizeof(v));
	b->len += sizeof(v);
}

static bool column_is_plain(const struct fr_page_nums *n)
{
	s64 v;
	u32 i;

	for (i = 0; i < n->cnt; i++) {
		v = n->v[i];
		if (v > PLAIN_MAX || v < -PLAIN_MAX)
			return false;
	}
	return true;
}

static void put_varints(struct fr_pbuf *b, const struct fr_page_nums *n)
{
	u64 last = 0, v;
	u32 i;

	for (i = 0; i < n->cnt; i++) {
		v = n->v[i] - last;
		last = n->v[i];
		v = v << 1 ^ (u64)((s64)v >> 63);
		for (; v > 0x7f; v >>= 7)
			b->p[b->len++] = v | 0x80;
		b->p[b->len++] = v;
	}
}

static void column_put_wide(struct fr_pbuf *b, const struct fr_page_nums *n)
{
	u64 v;
	u32 i;

	for (i = 0; i < n->cnt; i++) {
		v = htole64(n->v[i]);
		memcpy(b->p + b->len, &v, sizeof(v));
		b->len += sizeof(v);
	}
}

/* Also clears its numbers for the next piece. */
int fr_page_column(struct fr_pbuf *b, struct fr_page_nums *n)
{
	size_t at;
	u32 sz;

	if (fr_pbuf_room(b, 5 + 10 * (size_t)n->cnt))
		return -ENOMEM;
	b->p[b->len++] = !column_is_plain(n);
	at = b->len;
	b->len += sizeof(sz);
	if (b->p[at - 1])
		column_put_wide(b, n);
	else
		put_varints(b, n);
	sz = htole32(b->len - at - sizeof(sz));
	memcpy(b->p + at, &sz, sizeof(sz));
	n->cnt = 0;
	return 0;
}

int fr_page_columns_put(struct fr_pbuf *b, struct fr_page_nums *n, u32 cnt)
{
	u32 i;
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		err = fr_page_column(b, &n[i]);
	return err;
}

int fr_page_pack(const struct fr_pbuf *plain, struct fr_pbuf *packed)
{
	uLongf sz = compressBound(plain->len);

	packed->len = 0;
	if (fr_pbuf_room(packed, sz))
		return -ENOMEM;
	if (compress2(packed->p, &sz, plain->p, plain->len, FAST_LEVEL) != Z_OK)
		return -ENOMEM;
	packed->len = sz;
	return 0;
}
