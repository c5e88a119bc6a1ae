/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * daemon: the loop of a recorder: foreground `record`, `record -- CMD` and `record --config` are the same loop with more or
 * fewer sources. One epoll; every source is a file descriptor and a function; nothing in it blocks.
 *
 *	alerts ----.				.---> writer process (writer.h): copies, compresses, writes
 *	psi -------+--> engine.c: match, gate --+---> hook, journal, watchers of the control socket
 *	timers ----'        mark in the ring	'---> slot counters
 *	signals, control socket, CPU hotplug, governor, watchdog: each its own module
 */
#ifndef FR_DAEMON_H
#define FR_DAEMON_H

#include "live/recorder/record.h"

struct fr_daemon; /* opaque */

/* A source of the loop: fn is called when fd is readable. */
typedef void (*fr_source_fn)(void *arg, u32 events);

int fr_daemon_watch(struct fr_daemon *d, int fd, u32 epoll_events, fr_source_fn fn, void *arg); /* 0 or -errno */
void fr_daemon_unwatch(struct fr_daemon *d, int fd);
void fr_daemon_drop(struct fr_daemon *d, int *fd); /* the same, and close it; -1 then, and may be before */

/*
 * A timer: calls fn after delay_ns, then every period_ns (0: once). Returns its fd, to be passed to fr_daemon_drop();
 * or -errno.
 */
int fr_daemon_timer(struct fr_daemon *d, u64 delay_ns, u64 period_ns, fr_source_fn fn, void *arg);

/* Its job has just been done: restart the period from now. */
void fr_daemon_timer_again(int fd, u64 period_ns);

/*
 * A timer that never expires: it calls fn when the wall clock jumps, as it does when the machine wakes up, too. Returns its fd,
 * likewise. fn is to ask whether it did, which arms it again.
 */
int fr_daemon_jump_timer(struct fr_daemon *d, fr_source_fn fn, void *arg);
bool fr_daemon_jumped(int fd);

/* What modules may use. */
struct fr_sess *fr_daemon_sess(struct fr_daemon *d);
const struct fr_config *fr_daemon_config(const struct fr_daemon *d); /* the configuration in force */
struct fr_engine *fr_daemon_engine(struct fr_daemon *d);
struct fr_ctl *fr_daemon_ctl(struct fr_daemon *d); /* NULL: none */
struct fr_store *fr_daemon_store(struct fr_daemon *d);
struct fr_admin *fr_daemon_admin(struct fr_daemon *d);		     /* NULL: none */
int fr_daemon_reload(struct fr_daemon *d, char *why, size_t why_sz); /* says what came of it; 0, or -errno and why */
void fr_daemon_stop(struct fr_daemon *d, bool session);		     /* like SIGTERM; session: whoever asks ends that, too */

void fr_daemon_lost(struct fr_daemon *d); /* its session is gone: there is nothing to record into any more */

/* Record until told to end. Returns the exit status. The session is open and owned. */
int fr_daemon_run(struct fr_record_ask *ask, struct fr_sess *s);

#endif
