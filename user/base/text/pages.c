/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/pages.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define PART_SZ FR_PAGES_PART_SZ

u32 fr_pages_cnt(size_t sz)
{
	return sz ? (sz + PART_SZ - 1) / PART_SZ : 1;
}

static size_t part_sz(size_t sz, u32 nr)
{
	size_t left = sz - nr * PART_SZ;

	return left < PART_SZ ? left : PART_SZ;
}

void fr_pages_put_as(struct fr_text_page *page, struct fr_mark mark, u64 made_ns, const void *bytes, size_t sz)
{
	u32 nr, cnt = fr_pages_cnt(sz);
	u64 hash = XXH64(bytes, sz, 0);

	for (nr = 0; nr < cnt; nr++) {
		page[nr] = (struct fr_text_page){
			.mark = mark,
			.made_ns = made_ns,
			.hash = hash,
			.sz = sz,
			.nr = nr,
		};
		memcpy(page[nr].text, (const char *)bytes + nr * PART_SZ, part_sz(sz, nr));
	}
}

/* 0: it is no such page. */
static u32 max_sz(const struct fr_text_page *page)
{
	switch (page->mark.magic) {
	case FR_TEXT_MAGIC:
		return FR_TEXT_MAX_SZ;
	case FR_PROFILE_MAGIC:
		return FR_PAGES_PROFILE_MAX_SZ;
	case FR_COUNTERS_MAGIC:
		return FR_PAGES_COUNTERS_MAX_SZ;
	default:
		return 0;
	}
}

bool fr_pages_is(const struct fr_text_page *page)
{
	return max_sz(page) && page->sz <= max_sz(page) && page->nr < fr_pages_cnt(page->sz);
}

/* ---- in order: all pages of a text follow each other ---- */

static int by_mark(const void *a, const void *b)
{
	const struct fr_mark *x = &((const struct fr_text_page *)a)->mark, *y = &((const struct fr_text_page *)b)->mark;

	if (x->magic != y->magic)
		return x->magic < y->magic ? -1 : 1;
	return x->epoch < y->epoch ? -1 : x->epoch > y->epoch;
}

/* The latest text first. */
static int pages_by_text(const void *a, const void *b)
{
	const struct fr_text_page *x = a, *y = b;
	int order = by_mark(a, b);

	if (order)
		return order;
	if (x->made_ns != y->made_ns)
		return x->made_ns > y->made_ns ? -1 : 1;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->sz < y->sz ? -1 : x->sz > y->sz;
}

void fr_pages_sort(struct fr_text_page *page, size_t cnt)
{
	if (cnt)
		qsort(page, cnt, sizeof(*page), pages_by_text);
}

/* Where pages with this mark, or a later one, begin. */
static size_t pages_find(const struct fr_text_page *page, size_t cnt, struct fr_mark mark)
{
	const struct fr_text_page like = {.mark = mark};
	size_t from = 0, mid;

	while (from < cnt) {
		mid = from + (cnt - from) / 2;
		if (by_mark(&page[mid], &like) < 0)
			from = mid + 1;
		else
			cnt = mid;
	}
	return from;
}

/* ---- a text ---- */

static void pages_put_part(char *text, const struct fr_text_page *p)
{
	memcpy(text + p->nr * PART_SZ, p->text, part_sz(p->sz, p->nr));
}

static bool pages_is_whole(const char *text, const struct fr_text_page *of)
{
	return XXH64(text, of->sz, 0) == of->hash;
}

/*
 * It may be for one page: memory that is free may have a copy of it, of which a part is overwritten. Is it with another copy of
 * that page?
 */
static bool mend(char *text, const struct fr_text_page *page, size_t cnt)
{
	char was[PART_SZ], *part;
	size_t i, sz;

	for (i = 0; i < cnt; i++) {
		if (!fr_pages_is(&page[i]))
			continue;
		part = text + page[i].nr * PART_SZ;
		sz = part_sz(page->sz, page[i].nr);
		if (!memcmp(part, page[i].text, sz))
			continue;
		memcpy(was, part, sz);
		pages_put_part(text, &page[i]);
		if (pages_is_whole(text, page))
			return true;
		memcpy(part, was, sz);
	}
	return false;
}

/* The text that these are the pages of. NULL: it is not whole, or no memory. */
static char *pages_gather(const struct fr_text_page *page, size_t cnt)
{
	char *text;
	size_t i;

	if (page->sz > max_sz(page))
		return NULL;
	text = calloc(page->sz + 1, 1);
	for (i = 0; text && i < cnt; i++)
		if (fr_pages_is(&page[i]))
			pages_put_part(text, &page[i]);
	if (text && (pages_is_whole(text, page) || mend(text, page, cnt)))
		return text;
	free(text);
	return NULL;
}

void *fr_pages_get_as(const struct fr_text_page *page, size_t cnt, struct fr_mark mark, size_t *sz)
{
	size_t i = pages_find(page, cnt, mark), end;
	char *text;

	for (; i < cnt && page[i].mark.magic == mark.magic && page[i].mark.epoch == mark.epoch; i = end) {
		for (end = i + 1; end < cnt && !pages_by_text(&page[i], &page[end]); end++)
			;
		text = pages_gather(&page[i], end - i);
		if (!text)
			continue;
		*sz = page[i].sz;
		return text;
	}
	return NULL;
}
