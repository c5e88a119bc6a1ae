/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export_tracecmd: shared by the parts of the trace.dat export: the layout of an event in a ring-buffer page, and the format
 * text that describes it to the reader. Both are generated from one table, so they cannot differ.
 */
#ifndef FR_EXPORT_TRACECMD_H
#define FR_EXPORT_TRACECMD_H

#include "base/rows/pbuf.h"
#include "base/tp/tps.h"
#include "show/export/export.h"

#define FR_TRC_FIELD_MAX 40u   /* fields of an event: a schema's most, plus the kernel's additional ones */
#define FR_TRC_DATA_MAX	 4064u /* bytes of an event's data: it must fit one page */
#define FR_TRC_FLAGS_AT	 2u    /* of common_flags in an event */

/* A field's type in the kernel's terms, with its size and how it prints. */
enum fr_trc_kind {
	FR_TRC_U8,
	FR_TRC_S8,
	FR_TRC_S16,
	FR_TRC_U16,
	FR_TRC_S32,
	FR_TRC_U32,
	FR_TRC_S64,
	FR_TRC_U64,
	FR_TRC_TEXT8,
	FR_TRC_TEXT10,
	FR_TRC_TEXT16,
	FR_TRC_ARGS6,
	FR_TRC_STR,  /* u32 {offset:16, length:16} of a text after the fields */
	FR_TRC_NUMS, /* the same for numbers */
	FR_TRC_KIND_CNT
};

/* The source of a value that is not one of our fields. */
enum fr_trc_from { FR_TRC_FIELD, FR_TRC_PID, FR_TRC_COMM, FR_TRC_ZERO };

struct fr_trc_field {
	const char *name;
	const struct fr_field *field; /* FR_TRC_FIELD; NULL: not in this schema, writes 0 */
	u8 kind;
	u8 from;
	u16 off;
};

/* An event of a schema as it is written. cnt 0: not present. */
struct fr_trc_event {
	const struct fr_event *ev;
	u16 id; /* in the file */
	const char *system, *name;
	char own_system[FR_NAME_MAX + 1]; /* of a tracepoint */
	const char *print;		  /* its own format, or NULL: name=value */
	u32 print_cnt;			  /* fields covered by `print`; the others are appended */
	struct fr_trc_field field[FR_TRC_FIELD_MAX];
	u32 cnt;
	u32 fixed_sz;
	const char *kernels; /* the kernel's format of a tracepoint, from "format:" on: rows are its records; NULL: not so */
	size_t kernels_sz;
};

/* Lay out an event of a schema. tps: the file's tracepoints, whose records are written as the kernel's, NULL: field by field.
 */
void fr_trc_bind(struct fr_trc_event *e, const struct fr_event *ev, const struct fr_tps *tps);

/* The value of a field in a row; FR_VAL_NONE: unknown. */
struct fr_val fr_trc_value(const struct fr_trc_field *f, const struct fr_view *v, const struct fr_row *r);

/* Write the data of a row to buf, common fields first: a multiple of 4, at most FR_TRC_DATA_MAX bytes, which buf must hold. */
u32 fr_trc_put(const struct fr_trc_event *e, const struct fr_view *v, const struct fr_row *r, u8 *buf);

/* The event process_whose, of no schema: whose a process is. Its number is behind theirs. */
#define FR_TRC_WHOSE	 FR_EVENT_MAX
#define FR_TRC_EVENT_CNT (FR_EVENT_MAX + 1)
void fr_trc_bind_whose(struct fr_trc_event *e);

/* As fr_trc_put(), of that event. */
u32 fr_trc_put_whose(const struct fr_trc_event *e, const struct fr_export_whose *w, u8 *buf);

/* The format text, as in events/SYSTEM/NAME/format. */
void fr_trc_format(FILE *f, const struct fr_trc_event *e);

#endif
