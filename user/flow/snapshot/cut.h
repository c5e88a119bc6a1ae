/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cut: a smaller snapshot: the events that match, as they were and where they were, and all that is needed to name them.
 * What was cut away is said in its facts (cut_*).
 */
#ifndef FR_CUT_H
#define FR_CUT_H

#include "flow/replay/replay.h"
#include "pure/set/ranges.h"

struct fr_cut_ask {
	const char *path, *out;
	struct fr_replay_opts opts; /* window and filter; the rest is cut's */
	struct fr_ranges cpus;	    /* empty: all */
	struct fr_ranges pids;	    /* processes; empty: all */
	const char *cpu_text, *pid_text;
	const char *cgroup; /* glob, or NULL */
	const char *host;   /* glob: only snapshots of such hosts, of a file of several; or NULL */
};

/* Returns the exit status; messages are printed. */
int fr_cut(const struct fr_cut_ask *ask);

#endif
