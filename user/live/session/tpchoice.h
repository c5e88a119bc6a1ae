/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tpchoice: from `-e tp:SYSTEM:NAME` to the tracepoints of this kernel that a session records, with numbers and formats; and
 * the programs' probes, which are numbered and described like them (upchoice.h).
 */
#ifndef FR_TPCHOICE_H
#define FR_TPCHOICE_H

#include "base/schema/schema.h"
#include "base/tp/rare.h"
#include "base/trigger/watch_set.h"
#include "live/session/upchoice.h"
#include "tp.h"

/* One that is recorded. */
struct fr_tpchosen {
	char system[FR_NAME_MAX + 1], name[FR_NAME_MAX + 1];
	u8 nr;	/* of its event */
	u32 id; /* the kernel's */
	struct fr_tp conf;
	const struct fr_rare *rare; /* chosen as rare.def says; NULL: by its name */
	struct fr_upfound up;	    /* of a program's probe, which has no id; path NULL: of the kernel */
};

#define FR_TPCHOICE_RARE_MAX 64u /* entries of rare.def, at most */

struct fr_tpchoice {
	struct fr_tpchosen chosen[FR_TP_MAX];
	u32 cnt;
	u32 site_cnt;  /* of programs' probes */
	char *schema;  /* the built-in one and theirs, text; NULL: cnt is 0 */
	char *formats; /* base/tp/tps.h */
	size_t formats_sz;
	struct fr_watch_set cond; /* their conditions */
	char rare_missing[2048];  /* of rare.def, chosen and not there, with commas; "all": tracefs cannot be read */
};

/*
 * Begin with the tracepoints of rare.def, if rare, that this kernel has. Then apply each of cnt -e values that is about
 * tracepoints (base/tp/tpask.h), in order: patterns (fnmatch) add to what is chosen or remove from it. 0 and *out, to be freed
 * with fr_tpchoice_free(); -EINVAL: no tracepoint or place in a program has that name, there are too many, or one cannot be
 * recorded; -errno; with a message.
 */
int fr_tpchoice_make(bool rare, char *const *event, u32 cnt, struct fr_tpchoice *out);
void fr_tpchoice_free(struct fr_tpchoice *c);

#endif
