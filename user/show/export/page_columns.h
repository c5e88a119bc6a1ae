/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page_columns: rows as columns in compressed pieces, for a reader in a browser (user/show/view/data.js).
 *
 *	piece	u32 rows, then columns: event, time, cpu, tid, comm; then for each event that occurs, ascending: u8 its number,
 *		u32 its rows, a column for each of its fields in the schema's order; two for an array, counts and numbers
 *	column	as user/show/export/page_column.h says
 *	text	is its number in the list of texts, 0 unknown; little-endian throughout; a piece is one zlib stream
 */
#ifndef FR_PAGE_COLUMNS_H
#define FR_PAGE_COLUMNS_H

#include "base/rows/view.h"
#include "show/export/page_index.h"

#ifndef FR_PAGE_ROWS	    /* tests of tiles have small ones */
#define FR_PAGE_ROWS 16384u /* per piece */
#endif

struct fr_page_columns; /* opaque */

/* For rows of this schema; origin_ns is subtracted from all times. NULL: no memory. */
struct fr_page_columns *fr_page_columns_new(const struct fr_schema *s, u64 origin_ns);
void fr_page_columns_free(struct fr_page_columns *p); /* NULL is fine */

/* Add a row. 1: the piece is full and must be taken before the next row; 0; or -ENOMEM. */
int fr_page_columns_add(struct fr_page_columns *p, const struct fr_view *v, const struct fr_row *r);

/*
 * Compress the rows added so far: *out, *sz bytes, valid until the next call, and begin a new piece. *sz 0: there were none. 0
 * or -ENOMEM.
 */
int fr_page_columns_take(struct fr_page_columns *p, const u8 **out, size_t *sz);

/* Of its pieces and rows; it goes with p. */
struct fr_page_index *fr_page_columns_index(struct fr_page_columns *p);

/* The texts that rows refer to, [0] is "": *cnt of them, each len bytes. */
struct fr_page_text {
	const char *s;
	size_t len;
};
const struct fr_page_text *fr_page_columns_texts(const struct fr_page_columns *p, size_t *cnt);

/* For styles with names: call fn for each number that occurred in rows, with its name. */
void fr_page_columns_names(const struct fr_page_columns *p, const char *arch,
			   void (*fn)(void *arg, enum fr_style style, u32 abi, s64 v, const char *name), void *arg);

#endif
