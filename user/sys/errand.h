/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * errand: reading what may never answer, other processes and their files, in a process that can be left behind.
 *
 *	asker					runner, forked by the asker
 *	fr_errand_run()				for each item: job->run() reads, fr_errand_tell() what it found
 *	    job->take() <-- messages, a pipe --
 *
 * A process that holds its memory's lock, a file server that does not answer, a dead disk: whoever reads waits for them,
 * some of it in the kernel where not even SIGKILL ends it. So the asker reads nothing, and waits for a runner no longer than
 * an item may take, and for all no longer than that may take. A runner that is late is killed, and the next one goes on
 * behind the item. One that cannot be killed is left behind: it has neither locks nor sockets nor rings, and nobody waits
 * for it. There are two at most (struct fr_left: they are remembered with the session, since the next asker is another
 * process). While there are, no runner is started, and while there is one, what it waits for is not asked again.
 *
 * The asker trusts no message: its runner has read what others rigged.
 */
#ifndef FR_ERRAND_H
#define FR_ERRAND_H

#include <stddef.h>

#include "session.h"

#define FR_ERRAND_TELL_MAX (256u << 10) /* bytes in a message */

/* Why an item, or the rest of it, is missing. */
enum fr_errand_why {
	FR_ERRAND_LATE,	  /* it took too long */
	FR_ERRAND_DIED,	  /* the runner died of it */
	FR_ERRAND_WAITED, /* a runner that was left behind still waits for it */
	FR_ERRAND_LEFT,	  /* as many are left behind as may be */
	FR_ERRAND_TIME,	  /* all time was up before its turn */
	FR_ERRAND_FORK,	  /* no process, memory or descriptor for a runner */
	FR_ERRAND_FAILED, /* the runner says so: fr_errand_fail() */
	FR_ERRAND_DENIED, /* likewise, it has no right to: fr_errand_deny() */
	FR_ERRAND_WHY_CNT
};

const char *fr_errand_why_text(enum fr_errand_why why); /* one word: late, died, ... */

struct fr_errand_out; /* opaque: the runner's side of the pipe */

/* Items of one kind. */
struct fr_errand_job {
	void *arg;
	u32 (*cnt)(void *arg);		 /* items, known when the job's turn has come */
	u64 (*key)(void *arg, u32 item); /* what it is about, to be remembered: a pid; NULL: not remembered */
	void (*run)(void *arg, u32 item, struct fr_errand_out *out);	       /* the runner reads */
	void (*take)(void *arg, u32 item, u32 kind, const void *data, u32 sz); /* the asker gets what was told */
	void (*end)(void *arg, u32 item);				       /* it is complete; NULL is fine */
	void (*miss)(void *arg, u32 item, u32 step,
		     enum fr_errand_why why); /* from that step on it is not; end() is not called */
	u64 cpu_ns; /* of processor time for all items in a runner, 0: any; what is beyond is missing (FR_ERRAND_TIME) */
};

struct fr_errand {
	const struct fr_errand_job *job;
	u32 job_cnt;
	u64 item_ns, all_ns;	  /* how long the asker waits */
	struct fr_left *left;	  /* FR_LEFT_MAX, shared by all askers; NULL: ours alone */
	void (*leave)(void *arg); /* in the runner: give up what it must not keep beside descriptors; NULL is fine */
	void *leave_arg;
};

/* In the runner: what follows is this step of the item, from 0; and tell something of a kind below 256. */
void fr_errand_step(struct fr_errand_out *out, u32 step);
void fr_errand_tell(struct fr_errand_out *out, u32 kind, const void *data, size_t sz);

/* Something of this step could not be read: when run() returns, the item is missing from there on, but for what was told. */
void fr_errand_fail(struct fr_errand_out *out);
void fr_errand_deny(struct fr_errand_out *out); /* likewise, for lack of a right */

/* Do all jobs, one after the other: each item ends or is missing. 0, or -errno: why there was no runner (FR_ERRAND_FORK). */
int fr_errand_run(const struct fr_errand *e);

/* How many runners are left behind now. */
u32 fr_errand_left_cnt(struct fr_left *left);

#endif
