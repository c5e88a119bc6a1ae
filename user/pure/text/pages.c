/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure/text/pages.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define PART_SZ sizeof(((struct fr_text_page *)0)->text)

u32 fr_pages_cnt(size_t sz)
{
	return sz ? (sz + PART_SZ - 1) / PART_SZ : 1;
}

static size_t part_sz(size_t sz, u32 nr)
{
	size_t left = sz - nr * PART_SZ;

	return left < PART_SZ ? left : PART_SZ;
}

void fr_pages_put(struct fr_text_page *page, u32 epoch, u64 made_ns, const char *text, size_t sz)
{
	u32 nr, cnt = fr_pages_cnt(sz);
	u64 hash = XXH64(text, sz, 0);

	for (nr = 0; nr < cnt; nr++) {
		page[nr] = (struct fr_text_page){
			.mark = {FR_TEXT_MAGIC, epoch},
			.made_ns = made_ns,
			.hash = hash,
			.sz = sz,
			.nr = nr,
		};
		memcpy(page[nr].text, text + nr * PART_SZ, part_sz(sz, nr));
	}
}

bool fr_pages_is(const struct fr_text_page *page)
{
	return page->mark.magic == FR_TEXT_MAGIC && page->sz <= FR_TEXT_MAX_SZ && page->nr < fr_pages_cnt(page->sz);
}

static bool is_of(const struct fr_text_page *p, const struct fr_text_page *text)
{
	return fr_pages_is(p) && p->mark.epoch == text->mark.epoch && p->made_ns == text->made_ns && p->hash == text->hash &&
	       p->sz == text->sz;
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

char *fr_pages_get(const struct fr_text_page *page, size_t cnt, u32 epoch, size_t *sz)
{
	char *best = NULL, *text;
	u64 best_ns = 0;
	size_t i;

	for (i = 0; i < cnt; i++) {
		if (!fr_pages_is(&page[i]) || page[i].mark.epoch != epoch || page[i].nr || (best && page[i].made_ns <= best_ns))
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
