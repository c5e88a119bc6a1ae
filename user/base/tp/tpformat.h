/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tpformat: the format of a tracepoint, a text of the kernel's (events/SYSTEM/NAME/format of tracefs): which fields its records
 * have, as an event of a schema; and its records in the kernel's own words. Pure.
 *
 * libtraceevent reads the text and prints. A text may come from a file that somebody made, and that library trusts what it
 * reads: it divides by what the text says, and prints as many bytes as a record says. So a text is looked at before it is
 * parsed, the fields before they are believed, and the words of a text that could lead it out of a record are not used: then
 * fr_tpformat_text() has none, and the fields are shown one by one.
 */
#ifndef FR_TPFORMAT_H
#define FR_TPFORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/schema/schema.h"
#include "tp.h"

#define FR_TPFORMAT_MAX_SZ (64u << 10) /* of a text; the longest of 2323 of Linux 6.18 has 5523 bytes */

/* Fields that a tracepoint's event has beside the kernel's. */
#define FR_TP_CUT_NAME	"tp_cut"
#define FR_TP_SZ_NAME	"tp_sz"
#define FR_TP_DATA_NAME "tp_data"

struct fr_tpformat; /* opaque */

/* Parse the text of tracepoint system:name. 0 and *out; -EINVAL: it is no format, or names fields that no record can have;
 * -ENOMEM. */
int fr_tpformat_new(const char *system, const char *name, const char *text, size_t sz, struct fr_tpformat **out);
void fr_tpformat_free(struct fr_tpformat *t); /* NULL is fine */

/* A field as the kernel has it. */
struct fr_tpfield {
	const char *name; /* the kernel's */
	const char *type; /* the kernel's, "const char *" */
	u32 off, sz;	  /* in the kernel's record */
	u32 elem_sz;	  /* of an array, and of what a text's word names; 0: a number */
	bool is_signed, is_pointer, is_text, is_loc, is_rel;
};

u32 fr_tpformat_field_cnt(const struct fr_tpformat *t);
struct fr_tpfield fr_tpformat_field(const struct fr_tpformat *t, u32 i);

/*
 * Record these of its fields alone: names with commas, the kernel's or the schema's. What follows (schema, conf) is about a
 * record that has nothing else. 0; -EINVAL and why: it has no such field; -ENOMEM.
 */
int fr_tpformat_choose(struct fr_tpformat *t, const char *names, size_t sz, char *why, size_t why_sz);

/* What the schema says that the event is: one line. By default that it is a tracepoint of the kernel. 0 or -ENOMEM. */
int fr_tpformat_say(struct fr_tpformat *t, const char *doc);

/* Its records are rows of this event, which may lack fields: words that need one are none. 0 or -ENOMEM. */
int fr_tpformat_read_as(struct fr_tpformat *t, const struct fr_event *ev);

/* Does the event that it is read as lack any field; this one, by the schema's name for it? */
bool fr_tpformat_is_part(const struct fr_tpformat *t);
bool fr_tpformat_lacks(const struct fr_tpformat *t, const char *name);

/* The field that the schema calls so. False: none. */
bool fr_tpformat_find(const struct fr_tpformat *t, const char *name, struct fr_tpfield *out);

/* Bytes of the kernel's record before its texts. */
u32 fr_tpformat_fixed_sz(const struct fr_tpformat *t);

/*
 * The lines of a schema (docs/format.md) that describe it as event nr of a tier. Fields that each event has by their name (pid,
 * comm,
 * ...) are called target_NAME. 0; -E2BIG: too many fields, or its records are longer than one of a ring; -EINVAL: a name that a
 * schema cannot have.
 */
int fr_tpformat_put_schema(const struct fr_tpformat *t, u32 nr, u32 tier, FILE *f);

/* What the recording program must know of it. 0; -E2BIG. */
int fr_tpformat_conf(const struct fr_tpformat *t, struct fr_tp *out);

/*
 * A record in the kernel's words, NUL-terminated, until the next call; NULL: it has none that are safe, or no memory. rec: the
 * record as the kernel had it, sz bytes, common fields included.
 */
const char *fr_tpformat_text(struct fr_tpformat *t, const void *rec, size_t sz);

/* Has it words at all: is what stands behind "print fmt:" sound? */
bool fr_tpformat_has_words(const struct fr_tpformat *t);

/* The record as any reader may take it: words that lead out of it lead nowhere. As above; sz bytes until the next call. */
const void *fr_tpformat_hold(struct fr_tpformat *t, const void *rec, size_t sz);

/* The kernel's word for the value of the field that the schema calls so, by __print_symbolic() or __print_flags(); NULL: it has
 * none. Until the next call. */
const char *fr_tpformat_symbol(struct fr_tpformat *t, const char *field, u64 v);

/* May fr_tpformat_symbol() have any for this field? */
bool fr_tpformat_has_symbols(const struct fr_tpformat *t, const char *field);

/*
 * The number that has this word in the field that the schema calls so. 0 and *v; -EINVAL: none has it, or several have. Filters
 * about this event alone ask it (struct fr_filter_file): format is a struct fr_tpformat, event is not looked at.
 */
int fr_tpformat_value(const void *format, u32 event, const char *field, const char *word, s64 *v);

/* Tell all words that the field has, some of which may stand for several numbers. As above. */
void fr_tpformat_values(const void *format, u32 event, const char *field, void (*tell)(void *arg, const char *word), void *arg);

/*
 * A schema with this event alone, as nr, so that a condition may use its fields and no other event's. Free it with
 * fr_schema_free(). NULL: no memory, or fr_tpformat_put_schema() refuses it.
 */
struct fr_schema *fr_tpformat_schema(const struct fr_tpformat *t, u32 nr);

#endif
