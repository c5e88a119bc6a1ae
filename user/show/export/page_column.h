/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page_column: columns of numbers in the pieces of a page (user/show/view/data.js reads them).
 *
 *	column	u8 form, u32 bytes, then	0: varints (7 bits a byte, low first) of zigzag(number - previous number)
 *						1: 8 bytes per number
 */
#ifndef FR_PAGE_COLUMN_H
#define FR_PAGE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rows/pbuf.h"
#include "types.h"

struct fr_page_nums {
	u64 *v;
	u32 cnt, cap;
};

/* Twice as much room as there was. 0 or -ENOMEM. */
int fr_page_nums_grow(struct fr_page_nums *n);

/* One more number: there are millions. 0 or -ENOMEM. */
static inline int fr_page_num(struct fr_page_nums *n, u64 v)
{
	int err = n->cnt == n->cap ? fr_page_nums_grow(n) : 0;

	if (!err)
		n->v[n->cnt++] = v;
	return err;
}

/* There must be room for it. */
void fr_page_u32(struct fr_pbuf *b, u32 v);

/* Its numbers as a column; they are gone then. 0 or -ENOMEM. */
int fr_page_column(struct fr_pbuf *b, struct fr_page_nums *n);

/* Each of these as a column. 0 or -ENOMEM. */
int fr_page_columns_put(struct fr_pbuf *b, struct fr_page_nums *n, u32 cnt);

/* A piece: one zlib stream. 0 or -ENOMEM. */
int fr_page_pack(const struct fr_pbuf *plain, struct fr_pbuf *packed);

#endif
