/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* export_ctf: what the parts of the CTF export share: classes of events, and the words for them. */
#ifndef FR_EXPORT_CTF_H
#define FR_EXPORT_CTF_H

#include <stdio.h>

#include "flow/export/export.h"
#include "flow/export/export_ctf_stream.h"

#define FR_CTF_CLASS_MAX 4096u /* event classes of a trace: one for each event, and one for each system call and direction */

/* What LTTng's events have beside the fields of ours. */
struct fr_ctf_extra {
	const char *name; /* NULL ends a list */
	enum { FR_CTF_TID, FR_CTF_PID, FR_CTF_COMM, FR_CTF_SOFTIRQ, FR_CTF_RWBS } what;
};

/* An event class: an event of a schema, of one system call if it is one; or one of LTTng's that is made of others. */
struct fr_ctf_class {
	const struct fr_event *ev;
	const struct fr_ctf_extra *extra; /* behind the event's fields, NULL none */
	const char *fields;		  /* without ev: the words for its fields */
	s64 call;			  /* number of the system call, -1 none */
	u8 abi;
	char name[64];
};

/* The list for an event; NULL: there is none, or the event, as its file describes it, has such fields. */
const struct fr_ctf_extra *fr_ctf_extras(const struct fr_event *ev);

/* The bits that LTTng has for a request's letters ("WS", "FWFS"). */
u32 fr_ctf_rwbs(const char *s, size_t len);

/* The name LTTng has for a field of this event (prev_tid), or its own. */
const char *fr_ctf_field_name(const struct fr_event *ev, const char *field);

/* The name LTTng has for an event (irq_softirq_entry), or its own. */
void fr_ctf_event_name(char *buf, size_t sz, const struct fr_event *ev, const struct fr_sys *sys, s64 call);

/* What a trace says of itself. */
struct fr_ctf_trace {
	u8 uuid[FR_CTF_UUID_SZ];
	s64 offset_ns; /* from the recording clock to wall time */
	const struct fr_snap *snap;
	const struct fr_ctf_class *class;
	u32 class_cnt;
};

/* Write the metadata text (TSDL of CTF 1.8). 0 or -errno. */
int fr_ctf_metadata(FILE *f, const struct fr_ctf_trace *t);

/* Classes that are no event of ours are the first: who lived when the trace began, and who is no more. */
#define FR_CTF_STATEDUMP_ID 0u
#define FR_CTF_FREE_ID	    1u

#endif
