/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cut: makes a smaller snapshot: the events that match, unchanged and in their places, with everything needed to name them. Its
 * facts (cut_*) say what was cut away.
 */
#ifndef FR_CUT_H
#define FR_CUT_H

#include "base/set/ranges.h"
#include "read/replay/replay.h"

struct fr_cut_ask {
	const char *path, *out;
	struct fr_replay_opts opts; /* window and filter; cut sets the rest */
	struct fr_ranges cpus;	    /* empty: all */
	struct fr_ranges pids;	    /* processes; empty: all */
	const char *cpu_text, *pid_text;
	const char *cgroup; /* glob, or NULL */
	bool redacts;	    /* replace names and secrets */
	const char *key;    /* file by which names are replaced, NULL: none that anybody knows */
	const char *host;   /* glob: in a file of several snapshots, only those of matching hosts; or NULL */
};

/* Returns the exit status; messages are printed. */
int fr_cut(const struct fr_cut_ask *ask);

#endif
