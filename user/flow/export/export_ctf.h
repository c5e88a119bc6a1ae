/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* export_ctf: what the parts of the CTF export share: classes of events, and the words for them. */
#ifndef FR_EXPORT_CTF_H
#define FR_EXPORT_CTF_H

#include <stdio.h>

#include "flow/export/export.h"

#define FR_CTF_CLASS_MAX 4096u /* event classes of a trace: one for each event, and one for each system call and direction */
#define FR_CTF_UUID_SZ	 16u

/* An event class: an event of a schema, of one system call if it is one. */
struct fr_ctf_class {
	const struct fr_event *ev;
	s64 call; /* number of the system call, -1 none */
	u8 abi;
	char name[64];
};

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

/* The statedump event: who lived when the trace began. Its class is the first. */
#define FR_CTF_STATEDUMP_ID 0u

#endif
