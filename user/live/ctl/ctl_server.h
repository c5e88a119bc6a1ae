/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ctl_server: the recorder's side of the control socket. Lines in, lines out, never blocking; the caller interprets them.
 *
 * The server has its own epoll, so a loop watches a single descriptor: when fr_ctl_server_fd() is readable, fr_ctl_server_run()
 * does what there is to do. No timer runs while only watchers are connected.
 *
 *	a request line		must be complete within FR_CTL_TIMEOUT_MS of the connection or of the previous answer, at most
 *				FR_CTL_REQUEST_MAX bytes; a client may send FR_CTL_RATE_MAX of them per second, and a
 *				user as many on all connections together
 *	a flood			connections that one user, or all together, make beyond what user/base/admit.h allows
 *				are refused, or wait in the queue
 *	an answer		is one line; a client that leaves more than FR_CTL_OUT_MAX unread, or does not read for
 *				FR_CTL_TIMEOUT_MS (unless it watches), is dropped
 *	too many clients	drop the one that has been silent longest and neither watches nor waits for an answer; a
 *				user other than root, from FR_CTL_USER_MAX on, drops one of its own
 */
#ifndef FR_CTL_SERVER_H
#define FR_CTL_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "live/ctl/ctl.h"

#define FR_CTL_WATCH_MAX 24u /* of the clients; the others can make requests */
#define FR_CTL_USER_MAX	 8u  /* connections of one user, unless it is root */
#define FR_CTL_RATE_MAX	 100u

struct fr_ctl_server; /* opaque */
struct fr_ctl_client; /* opaque: valid within the call it was passed to; keep its id */

/* The other end, as the kernel saw it at connect(). */
struct fr_ctl_peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	const gid_t *group; /* supplementary ones */
	u32 group_cnt;
};

/* What became of connections. Each that was taken from the queue is one of these. */
struct fr_ctl_counts {
	u64 served;
	u64 denied; /* no right to ask anything */
	u64 full;   /* no slot, even by dropping a silent client */
	u64 rate;   /* too many of this user */
	u64 failed; /* gone already, or no memory */
};

struct fr_ctl_ops {
	/* May it talk to us at all? NULL: yes; otherwise the line to send it before it is disconnected. */
	const char *(*refuse)(void *arg, const struct fr_ctl_peer *peer);
	/* A request, sz bytes without the newline. Answer it with fr_ctl_reply(), or call fr_ctl_defer() and answer later. */
	void (*request)(void *arg, struct fr_ctl_client *c, const char *line, size_t sz);
	void *arg;
};

/*
 * Listen on dir/NAME.sock; creates dir if necessary. Replaces a socket that nobody listens on, never a live one. 0 and *out;
 * -EADDRINUSE: somebody listens; -errno; with a message.
 */
int fr_ctl_server_new(const char *dir, const char *name, const struct fr_ctl_ops *ops, struct fr_ctl_server **out);
void fr_ctl_server_free(struct fr_ctl_server *s); /* sends what can be sent, removes the socket; NULL is fine */

/* Does its path lead to it? Somebody may have removed the socket, or the directory. */
bool fr_ctl_server_is_there(const struct fr_ctl_server *s);

/* Readable when fr_ctl_server_run() has something to do: accept, read, answer, drop. That never waits. */
int fr_ctl_server_fd(const struct fr_ctl_server *s);
void fr_ctl_server_run(struct fr_ctl_server *s);

/* Since the socket was made. */
const struct fr_ctl_counts *fr_ctl_server_counts(const struct fr_ctl_server *s);

const struct fr_ctl_peer *fr_ctl_client_peer(const struct fr_ctl_client *c);
u64 fr_ctl_client_id(const struct fr_ctl_client *c); /* never 0, never reused */

/* May what it asks have a process forked? (base/admit.h) */
bool fr_ctl_may_look(struct fr_ctl_client *c);

/* Send one line, without its newline: the answer. sz bytes. */
void fr_ctl_reply(struct fr_ctl_client *c, const char *line, size_t sz);
void fr_ctl_defer(struct fr_ctl_client *c);			    /* its answer comes later */
struct fr_ctl_client *fr_ctl_find(struct fr_ctl_server *s, u64 id); /* NULL: it is gone */

/* From now on it gets the lines of fr_ctl_tell(), without a timeout. 0, or -EUSERS: too many watchers. */
int fr_ctl_watch(struct fr_ctl_client *c);
u32 fr_ctl_watchers(const struct fr_ctl_server *s);

/*
 * Send a line to all watchers. A watcher with a quarter of FR_CTL_OUT_MAX unread misses it. As soon as it reads again it gets a
 * line {"watch":"missed","lines":N}.
 */
void fr_ctl_tell(struct fr_ctl_server *s, const char *line, size_t sz);

#endif
