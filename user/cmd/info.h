/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* info: the two forms of `flightrec info`. */
#ifndef FR_CMD_INFO_H
#define FR_CMD_INFO_H

#include "flow/replay/summary.h"
#include "pure/text/out.h"

void fr_info_json(struct fr_out *o, const struct fr_snap *s, const struct fr_summary *m);
void fr_info_text(struct fr_out *o, const struct fr_snap *s, const struct fr_summary *m, const char *path);

/* What begins a line; a fact between two texts, nothing if there is none. */
void fr_info_label(struct fr_out *o, const char *label);
void fr_info_fact(struct fr_out *o, const struct fr_snap *s, const char *before, const char *fact, const char *after);

/* What was cut away, and of which files it was merged; nothing of other files. */
struct fr_jsonw;
void fr_info_cut_text(struct fr_out *o, const struct fr_snap *s);
void fr_info_cut_json(struct fr_jsonw *w, const struct fr_snap *s);

/* "a=3;b=1": the next pair at *at, moved behind it. False at the end. */
bool fr_info_pair(const char **at, const char **name, int *name_len, u64 *v);

/* What a snapshot tells of its addresses. */
struct fr_info_names {
	size_t kernel, jit; /* functions */
	size_t mappings, procs;
	size_t stacks; /* user stacks whose frames are known by build-id */
};

void fr_info_names(const struct fr_snap *s, struct fr_info_names *n);

extern const char *const fr_hole_words[FR_HOLE_CNT];
extern const char *const fr_lost_words[FR_LOST_CNT];

#endif
