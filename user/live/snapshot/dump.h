/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dump: writes a session's rings to a snapshot file while recording goes on. */
#ifndef FR_DUMP_H
#define FR_DUMP_H

#include <signal.h>

#include "live/session/sess.h"
#include "live/snapshot/dump_room.h"

#define FR_DUMP_WAIT_MS 2000  /* how long to wait for another dump, to take one beside it */
#define FR_DUMP_END_MS	30000 /* likewise, to end the session without it */

/* Why a snapshot is taken, and which task it is about. */
struct fr_dump_ask {
	const char *path;   /* of the file, NULL: a name according to the contract, in dir */
	const char *dir;    /* NULL: the session's */
	const char *reason; /* at most 8 bytes: command, signal, exit, end */
	const char *comm;   /* the task it is about, NULL none */
	u32 pid;
	s32 sig;
	u64 last_ns;	   /* only so much history, 0: all */
	u64 at_ns;	   /* the moment, already marked in the ring; 0: now, and the dump marks it */
	const char *facts; /* more name=value lines about the trigger, NULL none */
	const struct fr_cgroup_here
		*cgroup_here; /* what cgroups of processes are relative to, NULL: it is asked for (procs.h) */
	u32 only_tiers;	      /* to be looked at now: of the rings these tiers', bits, beside the profile, the tasks and what
			       * frames are called; nothing is marked in the rings. 0: all there is */
	bool glance;	      /* looked at once, and gone: see fr_dump_glance() */
	int to_fd;	      /* of a glance: the file */
	bool names_itself;    /* who asks sees to it if path is there already: -EEXIST without a message */
	const sigset_t *stop; /* one of these signals ends it, but waits until what was begun is taken back; NULL none */
	const struct fr_dump_room *room; /* to be used by one dump at a time, NULL: take it for this dump */
};

struct fr_dump_done {
	char path[4096];
	u64 events;
	u64 bytes;	/* of the file */
	u64 copied_ns;	/* time until the rings were copied, including allocation */
	u64 elapsed_ns; /* time until the file was complete and synced */
	u64 missed;	/* laps that could not be read */
	bool found;	/* it was complete, but nobody was told: only path and bytes are known */
};

/*
 * Take a snapshot: wait for another dump of the session, repair what a killed one left, copy the rings out, write the file. 0
 * and *done; or -errno with a message, and no file. The session may be gone then (fr_sess_is_gone()).
 */
int fr_dump(struct fr_sess *s, const struct fr_dump_ask *ask, struct fr_dump_done *done);

/*
 * The last of a session, as a snapshot in a file without a name, for who looks at it now and again in a moment (glance.h). It
 * leaves no trace: no lock is taken, so no trigger's snapshot waits for it, nothing is swapped out of a ring or healed, nothing
 * is marked in it. And nobody else is asked: it has events, tasks and their states, names of kernel functions, clocks and
 * counts, but no profile, and nothing of /proc, of files or of the kernel's log. It has no trigger. ask: last_ns, to_fd. 0 or
 * -errno with a message.
 */
int fr_dump_glance(struct fr_sess *s, const struct fr_dump_ask *ask, struct fr_dump_done *done);

/* Print one line about it to standard error. */
void fr_dump_say(const struct fr_dump_done *done);

#endif
