/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pages: a text in pages that can be found one by one, in any order, among those of others: struct fr_text_page. Pure. */
#ifndef FR_PAGES_H
#define FR_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "layout.h"

#define FR_TEXT_MAX_SZ (192u << 10) /* of a text that is believed */

/* How many pages a text of sz bytes takes, at least 1. */
u32 fr_pages_cnt(size_t sz);

/* Write the pages of a text. made_ns: of texts of the same epoch, the one with the latest is valid. */
void fr_pages_put(struct fr_text_page *page, u32 epoch, u64 made_ns, const char *text, size_t sz);

/* Could this be a page of a text? */
bool fr_pages_is(const struct fr_text_page *page);

/*
 * The latest text of an epoch that is complete among cnt pages in any order, malloc'ed, with a NUL that *sz does not count; the
 * caller frees it. NULL: there is none, or no memory.
 */
char *fr_pages_get(const struct fr_text_page *page, size_t cnt, u32 epoch, size_t *sz);

#endif
