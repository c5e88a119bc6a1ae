/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * snapfile_texts: converts lists whose entries have texts, mappings and symbols, between the tools' structs and the file's
 * content.
 */
#ifndef FR_SNAPFILE_TEXTS_H
#define FR_SNAPFILE_TEXTS_H

#include "read/snapfile/snapfile.h"
#include "read/snapfile/snapfile_format.h"

struct fr_text_kind; /* opaque */

/* The kind of a chunk, NULL if it is no list with texts. */
const struct fr_text_kind *fr_text_kind(u32 kind);
size_t fr_text_struct_sz(const struct fr_text_kind *k); /* of the tools' struct */

/* Write as many of cnt items as fit in cap bytes to buf: *sz bytes. Returns how many, at least 1 if cap is 16 KiB. */
size_t fr_text_write(const struct fr_text_kind *k, const void *items, size_t cnt, u8 *buf, size_t cap, size_t *sz);

/*
 * Check a content. 0 and *cnt entries, with *texts_sz bytes of texts at its end; -EBADMSG. fr_text_items() then converts them
 * to *cnt structs that point into texts, a copy of the texts.
 */
int fr_text_check(const struct fr_text_kind *k, const u8 *buf, size_t sz, size_t *cnt, size_t *texts_sz);
void fr_text_items(const struct fr_text_kind *k, const u8 *buf, const char *texts, void *items);

/* Sort structs the way they are returned: by process and address. */
void fr_text_sort(const struct fr_text_kind *k, void *items, size_t cnt);

#endif
