/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * profile: the profile of a snapshot or of a running session: functions and stacks of a time window, and what became hotter
 * than before.
 *
 *	profile.c	opens it, sums up a window, names frames
 *	profile_off.c	where tasks were blocked: from events, not from the profile
 *	profile_blocked.c	the same of the hour, as the recorder added it up
 *	profile_text.c, profile_diff.c, profile_json.c, profile_perfetto.c, profile_folded.c	print it
 */
#ifndef FR_PROFILE_H
#define FR_PROFILE_H

#include "base/set/hashed.h"
#include "base/show/table.h"
#include "base/text/out.h"
#include "read/symbols/symbols.h"

struct fr_profile_ask {
	const char *path;   /* of a snapshot */
	const char *name;   /* its name in headings */
	const char *format; /* text, folded, json, perfetto */
	const char *output; /* a new file; NULL: standard output */
	u64 since_ns;	    /* this much before the end */
	u32 top;	    /* functions shown */
	bool diff;	    /* compare with the time before since_ns */
	bool blocked;	    /* not the samples: where tasks were blocked in the hour (base/profile/blocked.h) */
	bool no_symbols;
	struct fr_symbols_opts symbols;
};

/* A range of buckets, and their sums. */
struct fr_profile_sum {
	u64 begin_ns, end_ns; /* recording clock */
	u64 taken, lost, expected;
	u64 idle;      /* hits of these */
	u64 other;     /* hits without room: they lack stacks and task */
	u64 stackless; /* those that lack only stacks */
	u64 cnt;       /* all hits: taken - lost */
};

/* Now, and, with diff, before. */
enum { FR_PROFILE_NOW, FR_PROFILE_BEFORE, FR_PROFILE_WINDOWS };

struct fr_profile_func {
	char *name;
	const char *module; /* NULL: unknown */
	u64 self[FR_PROFILE_WINDOWS], total[FR_PROFILE_WINDOWS];
	u32 mark; /* the key it was last counted for */
};

/* A key's stack as numbers of functions, outermost first. */
struct fr_profile_stack {
	const struct fr_prof_key *key;
	u32 *func;
	u32 cnt;
	u64 hits[FR_PROFILE_WINDOWS];
};

struct fr_profile {
	const struct fr_profile_ask *ask;
	struct fr_snap *snap;
	const struct fr_prof *prof;
	struct fr_symbols *symbols; /* NULL: none wanted */
	struct fr_profile_sum sum[FR_PROFILE_WINDOWS];
	struct fr_profile_func *func;
	u32 func_cnt;
	struct fr_hashed slots;		/* of functions: numbers from 1 */
	struct fr_profile_stack *stack; /* of each key that was hit, except idle and other */
	u32 stack_cnt;
	u32 (*hits)[FR_PROFILE_WINDOWS]; /* of each key */
	struct fr_out *out;
};

extern const struct fr_table fr_profile_kind; /* struct fr_profile: all of it */

/* Print it. Returns the exit status; messages are printed. */
int fr_profile(const struct fr_profile_ask *ask);

/*
 * The same of where tasks were blocked: by the long waits of a snapshot or, where they do not go back so far and a recorder has
 * added them up, by those sums. format is text or folded, diff is not looked at.
 */
int fr_profile_off(const struct fr_profile_ask *ask);

void fr_profile_text(struct fr_profile *p);
void fr_profile_diff(struct fr_profile *p);
void fr_profile_json(struct fr_profile *p);    /* as fr_profile_kind says */
int fr_profile_folded(struct fr_profile *p);   /* 0 or -ENOMEM */
int fr_profile_perfetto(struct fr_profile *p); /* likewise */

/* The name of an enum fr_hit_state. A literal. */
const char *fr_profile_state(u32 state);

/* Hits that kept a CPU busy in a key's task, of all. */
static inline u64 fr_profile_busy(const struct fr_profile_sum *s)
{
	return s->cnt - s->idle;
}

#endif
