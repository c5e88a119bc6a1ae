/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* export_ctf: shared by the parts of the CTF export: event classes and their names. */
#ifndef FR_EXPORT_CTF_H
#define FR_EXPORT_CTF_H

#include <stdio.h>

#include "base/rows/callargs.h"
#include "base/tp/tps.h"
#include "show/export/export.h"
#include "show/export/export_ctf_stream.h"
#include "show/export/export_ctf_words.h"

#define FR_CTF_CLASS_MAX 4096u /* event classes of a trace: one per event, and one per system call and direction */

/* Fields that LTTng's events have in addition to ours. */
struct fr_ctf_extra {
	const char *name; /* NULL ends a list */
	enum { FR_CTF_TID, FR_CTF_PID, FR_CTF_COMM, FR_CTF_SOFTIRQ, FR_CTF_RWBS } what;
};

/*
 * An event class: an event of a schema, for system calls of one call and direction; or one of LTTng's that is built from
 * others.
 */
struct fr_ctf_class {
	const struct fr_event *ev;
	const struct fr_ctf_extra *extra; /* after the event's own fields, NULL none */
	const struct fr_tpformat *format; /* of a tracepoint: the kernel's names and types; NULL: not known */
	const struct fr_callarg
		*arg; /* of a call's beginning: its arguments, behind the others; NULL: their names are not known */
	u32 arg_cnt;
	u64 worded;	    /* bits of fields that may have words; an argument is FR_FIELD_MAX + its number */
	const char *fields; /* without ev: the description of its fields */
	u32 whose;	    /* bits of texts behind them (base/rows/whose.h) */
	s64 call;	    /* number of the system call, -1 none */
	u8 abi;
	char name[64];
};

/* The list for an event. NULL: there is none, or the event has such fields already according to its file. */
const struct fr_ctf_extra *fr_ctf_extras(const struct fr_event *ev);

/* LTTng's bits for a request's letters ("WS", "FWFS"). */
u32 fr_ctf_rwbs(const char *s, size_t len);

/* LTTng's name for a field of this event (prev_tid), or the field's own. */
const char *fr_ctf_field_name(const struct fr_event *ev, const char *field);

/* Bytes of a number, of one in an array, in the trace: those of the kernel's record for a tracepoint's, else 8. */
static inline u32 fr_ctf_num_sz(const struct fr_event *ev, u32 type)
{
	return ev->group == FR_GROUP_TP && type <= FR_TYPE_s64 ? fr_type_sz(type) : sizeof(u64);
}

/* An argument that is negative where its register is not: the kernel takes the lower half as an int. */
static inline bool fr_ctf_arg_signed(const struct fr_callarg *a)
{
	return a->kind == FR_ARG_INT || a->kind == FR_ARG_FD || a->kind == FR_ARG_MS || a->kind == FR_ARG_SIGNAL;
}

/* LTTng's name for an event (irq_softirq_entry), or the event's own. */
void fr_ctf_event_name(char *buf, size_t sz, const struct fr_event *ev, const struct fr_sys *sys, s64 call);

/* What a trace says about itself. */
struct fr_ctf_trace {
	u8 uuid[FR_CTF_UUID_SZ];
	s64 offset_ns; /* from the recording clock to wall time */
	const struct fr_snap *snap;
	const struct fr_ctf_class *class;
	u32 class_cnt;
	struct fr_ctf_words *words;
};

/* May a string literal have this byte as it is? */
static inline bool fr_ctf_may_quote(char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* The contents of a string literal, with text from a file: without what could end it. */
void fr_ctf_put_quoted(FILE *f, const char *s);

/* Write the metadata text (TSDL of CTF 1.8). 0 or -errno. */
int fr_ctf_metadata(FILE *f, const struct fr_ctf_trace *t);

/* The first classes are no events of ours: tasks alive when the trace began, and tasks that have ended. */
#define FR_CTF_STATEDUMP_ID 0u
#define FR_CTF_FREE_ID	    1u

#endif
