/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 *
 * hook: the command of --exec, run by /bin/sh -c for each snapshot as the configured user, in the background.
 *
 * Its environment has FLIGHTREC_FILE, _REASON, _SESSION, _HOST, and where known _PID, _COMM, _SIGNAL (a number), _EXE; PATH,
 * LANG, USER, HOME, SHELL, and nothing else of ours. Its working directory is /, its standard input /dev/null; output and error
 * are ours. Descriptor FLIGHTREC_FD (3) is the snapshot, open for reading: files are 0600 and owned by root, so a hook of
 * another user reads it by `<&3`. It has no capabilities, no new privileges, default signals, and its own process group. On a
 * timeout the group is terminated (SIGTERM, and SIGKILL two seconds later); when the command ends, what is left in the group is
 * killed.
 *
 * FR_HOOK_RUN_MAX run at once, FR_HOOK_QUEUE_MAX wait; any beyond these are counted and reported. Children are reaped by pidfd:
 * other code of the same loop must not wait for any child (waitpid(-1)).
 */
#ifndef FR_HOOK_H
#define FR_HOOK_H

#include <stdbool.h>

#include "types.h"

#define FR_HOOK_RUN_MAX	  4u
#define FR_HOOK_QUEUE_MAX 32u
#define FR_HOOK_FD	  3
#define FR_HOOK_GRACE_NS  2000000000ULL	 /* from SIGTERM to SIGKILL */
#define FR_HOOK_FINISH_NS 20000000000ULL /* when the recorder ends; the unit's TimeoutStopSec= is 60s */

struct fr_hooks; /* opaque */

struct fr_hook_conf {
	const char *command; /* "" or NULL: none */
	const char *user;    /* name or number; NULL: ours */
	u64 timeout_ns;	     /* 0: none */
	/* In a child, before it waits for the snapshot's disk, or for who knows users: give up memory that must not stay if it
	 * does. Only what is safe after fork(). NULL is fine. */
	void (*leave)(void *arg);
	void *leave_arg;
};

struct fr_hook_ask {
	const char *file;
	const char *reason;
	const char *session;
	const char *comm; /* NULL or "": unknown; likewise below */
	const char *exe;
	u32 pid; /* 0 */
	s32 sig; /* 0 */
};

struct fr_hook_count {
	u64 started, failed, timed_out, dropped;
	u32 running, queued;
};

/* Is this a user of this host, by name or number? NULL is: ours. leave, and 0 or not, as of fr_nss_user(). */
int fr_hook_check_user(const char *user, void (*leave)(void *arg), void *leave_arg);

/* 0 and *out; -ENOENT: no such user, -errno; with a message. */
int fr_hooks_new(const struct fr_hook_conf *conf, struct fr_hooks **out);
void fr_hooks_free(struct fr_hooks *h); /* kills what runs; NULL is fine */

/* Applies to the next command. 0; or -errno with a message, and the old configuration stays. */
int fr_hooks_change(struct fr_hooks *h, const struct fr_hook_conf *conf);

/* Does it need permission to change users? */
bool fr_hooks_wants_user(const struct fr_hooks *h);

/* Start, or queue. 0; -ENOBUFS: too many wait; -errno. Errors are counted and have a message. No command: 0. */
int fr_hooks_run(struct fr_hooks *h, const struct fr_hook_ask *ask);

/* Readable when fr_hooks_poll() has something to do: a command ended or timed out. */
int fr_hooks_fd(const struct fr_hooks *h);
void fr_hooks_poll(struct fr_hooks *h);

/*
 * At shutdown: let running and queued commands finish, for at most limit_ns and until enough_fd (-1: none) becomes readable.
 * Those still running are then ended as on a timeout, those queued are dropped, counted and reported.
 */
void fr_hooks_finish(struct fr_hooks *h, u64 limit_ns, int enough_fd);

/* What was started, dropped and failed so far, and what runs and waits now. */
void fr_hooks_count(const struct fr_hooks *h, struct fr_hook_count *out);

#endif
