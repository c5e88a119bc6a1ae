/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* info: the two forms of `flightrec info`. */
#ifndef FR_CMD_INFO_H
#define FR_CMD_INFO_H

#include "base/show/table.h"
#include "base/text/out.h"
#include "base/waitsum.h"
#include "lib/flightrec.h"

/* One snapshot of an open handle. */
struct fr_info {
	struct flightrec *fr;
	unsigned file;
	bool each_cpu; /* as text: a line for each, however many there are */
};

/* All of it, as one JSON object; as text. */
extern const struct fr_table fr_info_kind;
void fr_info_json(struct fr_out *o, const struct fr_info *s);
void fr_info_text(struct fr_out *o, const struct fr_info *s);

/* The host's counters, as JSON or text: per ten seconds. */
void fr_info_counters(struct fr_out *o, const struct fr_info *s, bool json);

/* Of a tier: from when on each CPU's history is complete. Prints nothing of one without events. */
void fr_info_rings_text(struct fr_out *o, const struct fr_info *s, const char *tier);

/* A fact, NULL: there is none; a number of a table, 0: not known; one of its summary. */
const char *fr_info_fact(const struct fr_info *s, const char *name);
u64 fr_info_num(const struct fr_info *s, enum flightrec_table table, size_t row, const char *column);
u64 fr_info_sum(const struct fr_info *s, const char *column);

/* When the hole begins that is open to the end of this ring, or of any ring of the tier (cpu NULL); 0: there is none. */
u64 fr_info_open_hole(const struct fr_info *s, const char *tier, const u16 *cpu);

/* How many incidents it holds, and of each kind, [FR_INCIDENT_KIND_MAX], or NULL. */
u64 fr_info_incidents(const struct fr_info *s, u64 *of_kind);

/* Its waits beyond the budget, by task and call; to be freed. False: it does not say, or not in a way that can be read. */
bool fr_info_over(const struct fr_info *s, struct fr_waitsums *w);

/* What begins a line; a fact between two texts, nothing if there is none. */
void fr_info_label(struct fr_out *o, const char *label);
void fr_info_put(struct fr_out *o, const struct fr_info *s, const char *before, const char *fact, const char *after);

/* What was cut away, and which files it was merged from; prints nothing for other files. */
void fr_info_cut_text(struct fr_out *o, const struct fr_info *s);

/* "7 cmdline late;9 files died": the next thing that was not read, at *at, moved behind it. False at the end. */
struct fr_info_unread {
	u32 pid; /* 0: of no process */
	int what_len, why_len;
	const char *what, *why;
};
bool fr_info_unread(const char **at, struct fr_info_unread *u);

#endif
