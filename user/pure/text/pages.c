/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure/text/pages.h"

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

bool fr_pages_is(const struct fr_text_page *page)
{
	const u32 magic = page->mark.magic, max_sz = magic == FR_TEXT_MAGIC ? FR_TEXT_MAX_SZ : FR_PAGES_PROFILE_MAX_SZ;

	return (magic == FR_TEXT_MAGIC || magic == FR_PROFILE_MAGIC) && page->sz <= max_sz && page->nr < fr_pages_cnt(page->sz);
}

static bool is_marked(const struct fr_text_page *p, struct fr_mark mark)
{
	return fr_pages_is(p) && p->mark.magic == mark.magic && p->mark.epoch == mark.epoch;
}

static bool is_of(const struct fr_text_page *p, const struct fr_text_page *text)
{
	return is_marked(p, text->mark) && p->made_ns == text->made_ns && p->hash == text->hash && p->sz == text->sz;
}

static void put_part(char *text, const struct fr_text_page *p)
{
	memcpy(text + p->nr * PART_SZ, p->text, part_sz(p->sz, p->nr));
}

static bool is_whole(const char *text, const struct fr_text_page *of)
{
	return XXH64(text, of->sz, 0) == of->hash;
}

/*
 * It may be for one page: memory that is free may have a copy of it, of which a part is overwritten. Is it with another copy of
 * that page?
 */
static bool mend(char *text, const struct fr_text_page *page, size_t cnt, const struct fr_text_page *of)
{
	char was[PART_SZ], *part;
	size_t i, sz;

	for (i = 0; i < cnt; i++) {
		if (!is_of(&page[i], of))
			continue;
		part = text + page[i].nr * PART_SZ;
		sz = part_sz(of->sz, page[i].nr);
		if (!memcmp(part, page[i].text, sz))
			continue;
		memcpy(was, part, sz);
		put_part(text, &page[i]);
		if (is_whole(text, of))
			return true;
		memcpy(part, was, sz);
	}
	return false;
}

/* The whole text of which this is a page. NULL: it is not whole, or no memory. */
static char *gather(const struct fr_text_page *page, size_t cnt, const struct fr_text_page *of)
{
	char *text = calloc(of->sz + 1, 1);
	size_t i;

	for (i = 0; text && i < cnt; i++)
		if (is_of(&page[i], of))
			put_part(text, &page[i]);
	if (text && (is_whole(text, of) || mend(text, page, cnt, of)))
		return text;
	free(text);
	return NULL;
}

void *fr_pages_get_as(const struct fr_text_page *page, size_t cnt, struct fr_mark mark, size_t *sz)
{
	char *best = NULL, *text;
	u64 best_ns = 0;
	size_t i;

	for (i = 0; i < cnt; i++) {
		if (!is_marked(&page[i], mark) || page[i].nr || (best && page[i].made_ns <= best_ns))
			continue;
		text = gather(page, cnt, &page[i]);
		if (!text)
			continue;
		free(best);
		best = text;
		best_ns = page[i].made_ns;
		*sz = page[i].sz;
	}
	return best;
}
