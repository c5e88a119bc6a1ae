/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schema: the table of events at run time, from bpf/events.def or from a file. Pure.
 *
 * A file's events are decoded by the file's own schema, so an older reader prints events that it has never heard of.
 */
#ifndef FR_SCHEMA_H
#define FR_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "bit_code.h"
#include "event.h"

#define FR_NAME_MAX	63    /* length of an event's or a field's name: [a-z0-9_] only, so it needs no escapes anywhere */
#define FR_TP_PREFIX	"tp:" /* of events that are tracepoints, tp:SYSTEM:NAME (tpname.h): names may also have [A-Z:-] */
#define FR_SCHEMA_TITLE "flightrec-schema 1" /* the first line of a schema as text */
#define FR_FIELD_MAX	32		     /* fields of one event, derived ones included */

#define FR_LABEL_SZ 16u

enum fr_kind { FR_KIND_FLAGS, FR_KIND_FIELD, FR_KIND_DERIVED };

enum fr_type {
	FR_TYPE_u8,
	FR_TYPE_u16,
	FR_TYPE_u32,
	FR_TYPE_u64,
	FR_TYPE_s8,
	FR_TYPE_s16,
	FR_TYPE_s32,
	FR_TYPE_s64,
	FR_TYPE_text8, /* 8 bytes of text */
	FR_TYPE_comm,  /* 16 bytes of text */
	FR_TYPE_str,   /* text to the end of the record */
	FR_TYPE_u64s,  /* u64s to the end of the record */
	FR_TYPE_array, /* a number of elements: text or numbers, by elem */
	FR_TYPE_data,  /* bytes to the end of the record: what fields with rule LOC are in */
	FR_TYPE_CNT
};

enum fr_style {
	FR_STYLE_DEC,
	FR_STYLE_HEX,
	FR_STYLE_TEXT,
	FR_STYLE_TID,
	FR_STYLE_STATE,
	FR_STYLE_SIG,
	FR_STYLE_SICODE,
	FR_STYLE_HANDLER,
	FR_STYLE_SYSCALL,
	FR_STYLE_ABI,
	FR_STYLE_RET,
	FR_STYLE_EXIT,
	FR_STYLE_NS,
	FR_STYLE_DEV,
	FR_STYLE_IRQRET,
	FR_STYLE_SOFTIRQ,
	FR_STYLE_VERDICT,
	FR_STYLE_WAITEDIN,
	FR_STYLE_WAKER,
	FR_STYLE_UNREAD,
	FR_STYLE_ARG,	 /* an argument of the call that the field of style SYSCALL names; all of them, if it is an array */
	FR_STYLE_LOC,	 /* of a tracepoint: where in the record a text or an array is, offset | bytes << 16 */
	FR_STYLE_RELLOC, /* the same from the end of this word on */
	FR_STYLE_TAKEN,	 /* HEX, the id of a stack; 0: it was not taken, which does not say that there was none */
	FR_STYLE_CNT
};

enum fr_rule { FR_RULE_TID, FR_RULE_COMM, FR_RULE_STACK, FR_RULE_LOC, FR_RULE_CNT };

struct fr_field {
	const char *name;
	const char *doc;
	const char *from; /* derived: the field it is computed from, "tid" for the record's own */
	u8 kind;
	u8 type; /* of flags: FR_TYPE_u8; of derived: what it reads as (s32, comm, u64s) */
	u8 style;
	u8 rule;
	s8 from_idx;  /* derived: index of `from` in fields[], -1 for the record's own tid */
	s8 col;	      /* flags and stored: its column, 0 and up in order; derived: -1 */
	u16 off;      /* stored: byte offset in the record, of bits in its struct fr_rec_NAME */
	u8 bit_cnt;   /* bits: how many, 0: the field is not bits */
	u8 bit;	      /* bits: the first one */
	u8 code;      /* bits: enum fr_code */
	u8 elem;      /* array, and what rule LOC finds: type of the elements, FR_TYPE_str: text */
	u16 elem_cnt; /* array: how many */
	u8 name_len;
	u8 label_len;
	char label[FR_LABEL_SZ]; /* " name=", label_len bytes, not terminated; 0: too long */
};

struct fr_event {
	const char *name;
	const char *doc;
	const struct fr_field *fields;
	u32 field_cnt;
	u32 col_cnt;
	u32 fixed_sz; /* bytes of the record in a ring up to its str or u64s, or all of it (padded to 8) if it has none */
	u8 nr;
	u8 tier;
	u8 group;
	bool tail;  /* ends in str, u64s or data */
	s8 abi_col; /* the column that has the system call's ABI, -1: none */
	u8 name_len;
};

struct fr_schema; /* opaque */

/* The schema of this build. Static, never freed. Takes no memory, so it cannot fail. */
const struct fr_schema *fr_schema_builtin(void);

/* The schema as text (docs/format.md), *sz bytes, not NUL-terminated; malloc'ed, the caller frees it. NULL: no memory. */
char *fr_schema_write(const struct fr_schema *s, size_t *sz);

/* Parse and check such a text. Returns 0 and *out (free with fr_schema_free), or -EINVAL, -ENOMEM with *out untouched. */
int fr_schema_parse(const char *text, size_t sz, struct fr_schema **out);
void fr_schema_free(struct fr_schema *s);

/* The event of a number or a name, NULL: none. */
const struct fr_event *fr_schema_event(const struct fr_schema *s, u32 nr);
const struct fr_event *fr_schema_find(const struct fr_schema *s, const char *name);

/* Bytes of a number's type, or of an array in a record; 0: of another type. */
u32 fr_field_sz(const struct fr_field *f);
u32 fr_type_sz(u32 type);

static inline bool fr_type_signed(u32 type)
{
	return type == FR_TYPE_s8 || type == FR_TYPE_s16 || type == FR_TYPE_s32 || type == FR_TYPE_s64;
}

/*
 * A tracepoint's bookkeeping: the place of a text, the bytes that texts are in. Readers that show fields by their names leave
 * it out.
 */
static inline bool fr_field_is_inner(const struct fr_field *f)
{
	return f->style == FR_STYLE_LOC || f->style == FR_STYLE_RELLOC || f->type == FR_TYPE_data;
}

/* Is a number that has no name in this style written in hex? */
static inline bool fr_style_is_hex(u32 style)
{
	return style == FR_STYLE_HEX || style == FR_STYLE_HANDLER || style == FR_STYLE_ARG || style == FR_STYLE_TAKEN;
}

/* A field of an event by name, NULL: none. */
const struct fr_field *fr_event_field(const struct fr_event *ev, const char *name);

const char *fr_tier_name(u32 tier);   /* NULL: none */
const char *fr_group_name(u32 group); /* NULL: none */
const char *fr_style_name(u32 style);
const char *fr_type_name(u32 type);

#endif
