/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pages: a text, or other bytes, in pages that can be found one by one, in any order, among those of others. Pure. */
#ifndef FR_PAGES_H
#define FR_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "layout.h"

#define FR_TEXT_MAX_SZ		 (192u << 10) /* of a text that is believed */
#define FR_PAGES_PROFILE_MAX_SZ	 (800u << 10) /* of a profile */
#define FR_PAGES_COUNTERS_MAX_SZ (128u << 10) /* of the host's counters */
#define FR_PAGES_PART_SZ	 sizeof(((struct fr_text_page *)0)->text)

/* How many pages a text of sz bytes takes, at least 1. */
u32 fr_pages_cnt(size_t sz);

/* Write the pages of what the mark says. made_ns: of those with the same mark, the one with the latest is valid. */
void fr_pages_put_as(struct fr_text_page *page, struct fr_mark mark, u64 made_ns, const void *bytes, size_t sz);

/* Could this be a page of a text, or of a profile? */
bool fr_pages_is(const struct fr_text_page *page);

/*
 * Once all pages are there, in any order: sort them, for fr_pages_get_as(). Any process can fill memory with what looks like
 * such pages, so each is looked at once or twice, however many they are.
 */
void fr_pages_sort(struct fr_text_page *page, size_t cnt);

/*
 * The latest bytes with this mark that are complete among cnt sorted pages, malloc'ed, with a NUL that *sz does not count; the
 * caller frees them. NULL: there are none, or no memory.
 */
void *fr_pages_get_as(const struct fr_text_page *page, size_t cnt, struct fr_mark mark, size_t *sz);

/* The same for an epoch's text. */
static inline void fr_pages_put(struct fr_text_page *page, u32 epoch, u64 made_ns, const char *text, size_t sz)
{
	fr_pages_put_as(page, (struct fr_mark){FR_TEXT_MAGIC, epoch}, made_ns, text, sz);
}

static inline char *fr_pages_get(const struct fr_text_page *page, size_t cnt, u32 epoch, size_t *sz)
{
	return fr_pages_get_as(page, cnt, (struct fr_mark){FR_TEXT_MAGIC, epoch}, sz);
}

#endif
