/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entry: how a list's entry in the file and the tools' struct of it correspond, member by member, said once for both ways:
 *
 *	#define HOLE(NUMBER, ARRAY, NAME, TEXT, OTHER) \
 *		NUMBER(cpu, cpu)		a number: the entry's member, the struct's
 *		ARRAY(lost, lost)		as many bytes as the struct has
 *		NAME(comm, task.comm)		an array of char that ends with a NUL, whatever the file says
 *		TEXT(path, path)		a text of a list with texts: its offset among them, a pointer
 *		OTHER(e.why = h->why, ...)	what is converted otherwise: when it is written, when it is read
 *	FR_ENTRY(hole, fr_hole_entry, fr_snap_hole, HOLE)
 *
 * makes hole_to_entry() and hole_to_item(), in which e is the entry and i the struct. None needs entries aligned, and members
 * that are not named are 0. Texts come in the order of the members. Pure.
 */
#ifndef FR_SNAPFILE_ENTRY_H
#define FR_SNAPFILE_ENTRY_H

#include <string.h>

#include "types.h"

#define FR_ENTRY_TEXT_MAX 4095u

/* Texts while they are written: offset 0 is the empty text. */
struct fr_texts {
	char *at; /* NULL: only count */
	u32 sz;
};

static inline u32 fr_texts_put(struct fr_texts *t, const char *text)
{
	size_t len = text ? strnlen(text, FR_ENTRY_TEXT_MAX) : 0;
	u32 off = t->sz;

	if (!len)
		return 0;
	if (t->at) {
		memcpy(t->at + off, text, len);
		t->at[off + len] = 0;
	}
	t->sz += len + 1;
	return off;
}

/* clang-format off */
#define FR_ENTRY_PUT_NUMBER(of, to) e.of = i->to;
#define FR_ENTRY_PUT_ARRAY(of, to) \
	_Static_assert(sizeof(e.of) >= sizeof(i->to), #of " has room"); \
	memcpy(e.of, i->to, sizeof(i->to));
#define FR_ENTRY_PUT_TEXT(of, to) e.of = fr_texts_put(texts, i->to);
#define FR_ENTRY_PUT_OTHER(put, take) put;
#define FR_ENTRY_TAKE_NUMBER(of, to) i->to = e.of;
#define FR_ENTRY_TAKE_ARRAY(of, to) memcpy(i->to, e.of, sizeof(i->to));
#define FR_ENTRY_TAKE_NAME(of, to) memcpy(i->to, e.of, sizeof(i->to) - 1);
#define FR_ENTRY_TAKE_TEXT(of, to) i->to = texts + e.of;
#define FR_ENTRY_TAKE_OTHER(put, take) take;

#define FR_ENTRY(noun, entry_type, item_type, MEMBERS)                                                                          \
	static void noun##_to_entry(void *entry, const void *item, struct fr_texts *texts)                                      \
	{                                                                                                                       \
		const struct item_type *i = item;                                                                               \
		struct entry_type e = {};                                                                                       \
                                                                                                                                \
		(void)texts;                                                                                                    \
		MEMBERS(FR_ENTRY_PUT_NUMBER, FR_ENTRY_PUT_ARRAY, FR_ENTRY_PUT_ARRAY, FR_ENTRY_PUT_TEXT, FR_ENTRY_PUT_OTHER)     \
		memcpy(entry, &e, sizeof(e));                                                                                   \
	}                                                                                                                       \
                                                                                                                                \
	static void noun##_to_item(void *item, const void *entry, const char *texts)                                            \
	{                                                                                                                       \
		struct item_type *i = item;                                                                                     \
		struct entry_type e;                                                                                            \
                                                                                                                                \
		(void)texts;                                                                                                    \
		memcpy(&e, entry, sizeof(e));                                                                                   \
		memset(i, 0, sizeof(*i));                                                                                       \
		MEMBERS(FR_ENTRY_TAKE_NUMBER, FR_ENTRY_TAKE_ARRAY, FR_ENTRY_TAKE_NAME, FR_ENTRY_TAKE_TEXT, FR_ENTRY_TAKE_OTHER) \
	}
/* clang-format on */

#endif
