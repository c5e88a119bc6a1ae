/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * subscribe: the events that a reader needs, by name, and the fields that it reads of them, by name and type. A file has a
 * schema of its own: an event may have another number there, more fields, or other columns.
 *
 *	want	sched_switch { next_pid: a number, prev_state: a number }
 *	got	event 4 of this file: columns 0 and 1
 *
 * If the file's event lacks a field, or has it with another type, it is another event of the same name: it is not bound. Then
 * the caller says so (fr_sub_say()), and what would follow from such events is not known, which is not 0. Pure.
 */
#ifndef FR_SUBSCRIBE_H
#define FR_SUBSCRIBE_H

#include "base/rows/batch.h"

#define FR_SUB_FIELD_MAX 6

enum fr_sub_type {
	FR_SUB_IS_NUM,	 /* a number or flags */
	FR_SUB_IS_TEXT8, /* 8 bytes of text, which are read as text or as a number */
	FR_SUB_IS_TEXT,	 /* str or comm */
	FR_SUB_IS_NUMS,	 /* an array */
};

struct fr_sub_field {
	const char *name; /* NULL: no more fields */
	enum fr_sub_type type;
	bool may_lack; /* the event is bound without it, too */
};

#define FR_SUB_NUM(field)                              \
	{                                              \
		.name = (field), .type = FR_SUB_IS_NUM \
	}
#define FR_SUB_TEXT8(field)                              \
	{                                                \
		.name = (field), .type = FR_SUB_IS_TEXT8 \
	}
#define FR_SUB_TEXT(field)                              \
	{                                               \
		.name = (field), .type = FR_SUB_IS_TEXT \
	}
#define FR_SUB_NUMS(field)                              \
	{                                               \
		.name = (field), .type = FR_SUB_IS_NUMS \
	}
#define FR_SUB_MAY_NUM(field)                                            \
	{                                                                \
		.name = (field), .type = FR_SUB_IS_NUM, .may_lack = true \
	}
#define FR_SUB_MAY_TEXT(field)                                            \
	{                                                                 \
		.name = (field), .type = FR_SUB_IS_TEXT, .may_lack = true \
	}

struct fr_sub_want {
	const char *event;
	struct fr_sub_field field[FR_SUB_FIELD_MAX];
};

/* An event of one schema, bound. Valid as long as the schema. */
struct fr_sub {
	const struct fr_event *ev; /* NULL: not bound, and the rest is empty */
	u8 cnt;
	u8 col[FR_SUB_FIELD_MAX];
	const struct fr_field *field[FR_SUB_FIELD_MAX]; /* in the order of the want; NULL: it lacks this one */
};

/*
 * Bind an event. 0 and *out; -ENOENT: the schema has no such event; -EINVAL: it lacks a field, or has it with another type. On
 * failure *out is empty.
 */
int fr_subscribe(const struct fr_schema *s, const struct fr_sub_want *want, struct fr_sub *out);

/* Say on standard error which field of an event this schema, of the file at path, lacks, if fr_subscribe() failed for that. */
void fr_sub_say(const char *path, const struct fr_schema *s, const struct fr_sub_want *want);

/* Field i of a row of the bound event; a number is 0 and a text is empty if the event is bound without it. */
static inline u64 fr_sub_num(const struct fr_sub *sub, const struct fr_row *r, u32 i)
{
	return sub->field[i] ? fr_row_num(r, sub->field[i]) : 0;
}

static inline const char *fr_sub_text(const struct fr_sub *sub, const struct fr_row *r, u32 i, size_t *len)
{
	*len = 0;
	return sub->field[i] ? fr_row_text(r, sub->field[i], len) : "";
}

#endif
