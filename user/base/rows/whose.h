/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * whose: what is known around the task of an event, beside its own name: the program that it is a thread of, the cgroup, and
 * what that tells (belongs.h). Printers and exports show of these what was asked for; each is an entry of this table. Pure.
 *
 *	 whose=[program=nginx container=web pod=api-0]
 *	,"whose":{"program":"nginx","container":"web","pod":"api-0"}
 */
#ifndef FR_WHOSE_H
#define FR_WHOSE_H

#include "base/rows/view.h"
#include "base/text/out.h"

/* W(name, meaning) */
#define FR_WHOSE(W)                                                       \
	W(program, "the name of its process's first thread at that time") \
	W(cgroup, "the path of its cgroup")                               \
	FR_BELONGS(W)

enum fr_whose_what {
#define W(name, meaning) FR_WHOSE_##name,
	FR_WHOSE(W)
#undef W
		FR_WHOSE_CNT
};

/* All names that a list may have, for completion and messages: "program cgroup ... all". */
#define FR_WHOSE_WORD(name, meaning) #name " "
#define FR_WHOSE_WORDS		     FR_WHOSE(FR_WHOSE_WORD) "all"

#define FR_WHOSE_ALL ((1u << FR_WHOSE_CNT) - 1)

/* The name of one, NULL: there are no more. */
const char *fr_whose_name(u32 i);

/* "program,pod", or "all": bits of the names. 0; -EINVAL, reported after `option` ("--columns: "). */
int fr_whose_parse(const char *option, const char *list, u32 *bits);

/* Do these need view->cgroups? */
bool fr_whose_needs_cgroups(u32 bits);

/* One of them for who did something at a time and CPU; *len bytes, not terminated. NULL: it has none, or it is not known. */
const char *fr_whose_of(const struct fr_view *v, struct fr_who who, u64 ts, u16 cpu, enum fr_whose_what what, size_t *len);

/* The same for a row. */
static inline const char *fr_whose_text(const struct fr_view *v, const struct fr_row *r, enum fr_whose_what what, size_t *len)
{
	return fr_whose_of(v, fr_view_who(v, r), r->ts, r->cpu, what, len);
}

/*
 * The same of a process, beside its name, which formats of other tools have themselves: pid, a time of its life, the cgroup it
 * was born in (0: unknown); what: not FR_WHOSE_program.
 */
const char *fr_whose_process(const struct fr_cgroups *c, s32 pid, u64 ts, u64 cgroup, enum fr_whose_what what);

/* As a line of text has them, those that are known; as a line of NDJSON has them, null: none, or not known. bits: not 0. */
void fr_whose_put_text(struct fr_out *o, const struct fr_view *v, const struct fr_row *r);
void fr_whose_put_json(struct fr_out *o, const struct fr_view *v, const struct fr_row *r);

#endif
