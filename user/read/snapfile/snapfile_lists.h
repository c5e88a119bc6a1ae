/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* snapfile_lists: converts tasks, rings, holes and clocks between the tools' structs and the file's entries. */
#ifndef FR_SNAPFILE_LISTS_H
#define FR_SNAPFILE_LISTS_H

#include "read/snapfile/entry.h"
#include "read/snapfile/snapfile.h"
#include "read/snapfile/snapfile_format.h"

/* A kind of list. All functions copy entries; none needs them aligned. */
struct fr_list_kind {
	enum fr_chunk_kind kind;
	u32 entry_sz;  /* in the file, as written by this version */
	u32 struct_sz; /* of the tools' struct */
	void (*to_entry)(void *entry, const void *item, struct fr_texts *none);
	void (*to_item)(void *item, const void *entry, const char *none);
};

/* The kind of list of a chunk, NULL if it is no list. */
const struct fr_list_kind *fr_list_kind(u32 kind);

/*
 * Check a list's content and count its entries. 0 and *cnt, or -EBADMSG. fr_list_items() then converts them to *cnt structs;
 * fields that an older writer's shorter entries lack are zero.
 */
int fr_list_check(const u8 *buf, size_t sz, size_t *cnt);
void fr_list_items(const struct fr_list_kind *k, const u8 *buf, void *items);

#endif
