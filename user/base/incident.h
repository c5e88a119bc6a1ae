/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* incident: records of the incident log outside of it: their names, as a line of JSON and back, and in words. Pure. */
#ifndef FR_INCIDENT_TEXT_H
#define FR_INCIDENT_TEXT_H

#include "base/show/table.h"
#include "base/text/out.h"
#include "incident_layout.h"

#define FR_INCIDENT_LINE_MAX 4096u

/* A record, and what makes it unique in the world: boot, epoch of the session, number. */
struct fr_incident_item {
	char boot[40];	  /* boot id, "": unknown */
	char session[64]; /* its name */
	u32 epoch;
	u64 seq;
	u64 wall_ns; /* since 1970, 0: unknown */
	struct fr_incident rec;
};

const char *fr_incident_kind(u32 kind);	     /* "signal", "unknown" */
u32 fr_incident_kind_find(const char *name); /* its number, 0: none */

/* The name of the task that sent the signal, whose process is its value: up to FR_COMM_SZ bytes. NULL: itself, or not known. */
const char *fr_incident_sender(const struct fr_incident *rec);

/* Does it stand for many that have no records of their own? Its count says how many, and its time is that of the last. */
bool fr_incident_is_sum(const struct fr_incident *rec);
u64 fr_incident_first_ts(const struct fr_incident *rec); /* of these */

/* How many incidents it is: those of a sum; else 1, whatever its count means. */
u64 fr_incident_weight(const struct fr_incident *rec);

/* Redact a line of the kernel's (base/text/redact.h); *cnt grows by the values. */
void fr_incident_redact(struct fr_incident *rec, const char *words, u32 *cnt);

/* Make a record of the log one of a file: its texts end, a line of the kernel's where the line does, and its mark is gone. */
void fr_incident_tidy(struct fr_incident *rec);

/* "3 signal, 1 oom": the kinds that occur. */
void fr_incident_put_kinds(struct fr_out *o, const u64 of_kind[FR_INCIDENT_KIND_MAX]);

/* One JSON object, without a newline, as the table says: struct fr_incident_item. */
extern const struct fr_table fr_incident_table;
void fr_incident_json(struct fr_out *o, const struct fr_incident_item *item);

/* The inverse. Returns 0 and *out; -EINVAL: it is not such a line; -ENOMEM. Unknown members are skipped. */
int fr_incident_parse(const char *line, size_t len, struct fr_incident_item *out);

/* What happened, in words: "SIGSEGV at 0x10, ip 0x55..., bin/foo". */
void fr_incident_words(struct fr_out *o, const struct fr_incident *rec);
enum fr_paint fr_incident_paint(u32 kind);

/* Sort, and remove duplicates. Returns how many are left. */
size_t fr_incident_unique(struct fr_incident_item *item, size_t cnt);

#endif
