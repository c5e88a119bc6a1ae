/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "live/incident/incwatch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "live/incident/inclog.h"
#include "sys/child.h"
#include "sys/fd.h"
#include "sys/patience.h"

#define RETRY_MS 5000  /* after a failure */
#define FLUSH_MS 60000 /* after a record: what is pending since then */

/* Where to, from now on. */
struct order {
	u64 max_sz;
	char dir[PATH_MAX];
};

struct fr_incwatch {
	struct fr_sess *s; /* the recorder's */
	struct order order;
	pid_t pid; /* -1: none */
	int fd;	   /* -1: none */
};

/* ---- the process ---- */

struct saver {
	struct fr_sess *s;
	struct fr_inclog *log;
	struct fr_bell *bell;
	struct order now;
	int fd;
	int err; /* of the last save */
};

static void incwatch_save(struct saver *v)
{
	int err = fr_inclog_save(v->log, fr_patience_ms(FR_INCLOG_WAIT_MS));
	bool is_refused = err == -EPERM || err == -EACCES; /* by us; by the kernel, where fs.protected_regular is set */

	if (err && fr_sess_is_gone(v->s)) /* whoever ended it has saved them, or reported them lost */
		return;
	if (err && err != v->err)
		fr_warn("incidents cannot be saved to the journal in %s: %s%s: they stay in the log, as many as it holds",
			v->now.dir, strerror(-err), is_refused ? ": if the file there is somebody else's, remove it" : "");
	v->err = err;
}

/* What is already saved stays where it is. */
static void incwatch_obey(struct saver *v, const struct order *next)
{
	struct fr_inclog *log = NULL;
	int err = strcmp(next->dir, v->now.dir) ? fr_inclog_open(v->s, next->dir, next->max_sz, &log) : 0;

	if (err) {
		fr_warn_errno(err, "incidents are saved to the journal in %s as before, not in %s", v->now.dir, next->dir);
		return;
	}
	if (log) {
		fr_inclog_close(v->log);
		v->log = log;
		v->err = 0;
	}
	fr_inclog_limit(v->log, next->max_sz);
	v->now = *next;
}

/* False: the recorder has gone, or wants us to end. */
static bool take_order(struct saver *v)
{
	struct order next;
	ssize_t got = recv(v->fd, &next, sizeof(next), MSG_DONTWAIT);

	if (got != sizeof(next))
		return got < 0 && (errno == EAGAIN || errno == EINTR);
	next.dir[sizeof(next.dir) - 1] = 0;
	incwatch_obey(v, &next);
	return true;
}

static void incwatch_watch(struct saver *v)
{
	struct pollfd p[2] = {{.fd = fr_bell_fd(v->bell), .events = POLLIN}, {.fd = v->fd, .events = POLLIN}};
	bool recorded = true; /* since the last flush */
	bool goes_on = true;

	incwatch_save(v);
	while (goes_on) {
		if (!poll(p, 2, v->err ? RETRY_MS : recorded ? FLUSH_MS : -1) && !v->err) {
			fr_sess_flush_incidents(v->s);
			recorded = false;
		}
		recorded |= p[0].revents & POLLIN;
		fr_bell_hear(v->bell);
		goes_on = !p[1].revents || take_order(v);
		if (!goes_on)
			fr_sess_flush_incidents(v->s);
		incwatch_save(v);
	}
}

/* Signals stay blocked: the recorder handles interrupts of a terminal and a service manager's stop, and ends us. */
static int be_saver(struct fr_incwatch *w, int fd)
{
	struct saver v = {.now = w->order, .fd = fd};
	int keep[] = {fd, fileno(stderr)}, err;
	char name[FR_SESS_NAME_MAX + 1];

	prctl(PR_SET_NAME, "flightrec-log");
	snprintf(name, sizeof(name), "%s", fr_sess_name(w->s));
	fr_sess_close(w->s);
	fr_fd_close_but(keep, sizeof(keep) / sizeof(keep[0]));
	err = fr_sess_open(name, &v.s);
	err = err ?: fr_inclog_open(v.s, v.now.dir, v.now.max_sz, &v.log);
	err = err ?: fr_bell_open(v.s, &v.bell);
	if (!err)
		incwatch_watch(&v);
	else
		fr_err("cannot save incidents: %s: they stay in the log", strerror(-err));
	return 0;
}

/* ---- the recorder ---- */

int fr_incwatch_new(struct fr_sess *s, const char *dir, u64 max_sz, struct fr_incwatch **out)
{
	struct fr_incwatch *w;

	if (!fr_sess_has_incidents(s))
		return -ENOENT;
	w = calloc(1, sizeof(*w));
	if (!w) {
		fr_err("cannot save incidents: %s: they stay in the log", strerror(ENOMEM));
		return -ENOMEM;
	}
	*w = (struct fr_incwatch){.s = s, .order.max_sz = max_sz, .pid = -1, .fd = -1};
	snprintf(w->order.dir, sizeof(w->order.dir), "%s", dir);
	*out = w;
	return 0;
}

int fr_incwatch_start(struct fr_incwatch *w)
{
	int pair[2], err = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		err = -errno;
	} else {
		fflush(NULL);
		w->pid = fork();
		if (!w->pid)
			_exit(be_saver(w, pair[1]));
		err = w->pid < 0 ? -errno : 0;
		close(pair[1]);
		if (err)
			close(pair[0]);
		else
			w->fd = pair[0];
	}
	if (err)
		fr_err("cannot start the process that saves incidents: %s: they stay in the log", strerror(-err));
	return err;
}

int fr_incwatch_fd(const struct fr_incwatch *w)
{
	return w->fd;
}

void fr_incwatch_bury(struct fr_incwatch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->pid > 0)
		fr_child_end(w->pid, 0);
	w->fd = w->pid = -1;
}

void fr_incwatch_change(struct fr_incwatch *w, const char *dir, u64 max_sz)
{
	w->order.max_sz = max_sz;
	snprintf(w->order.dir, sizeof(w->order.dir), "%s", dir);
	/* one that does not take it waits for its disk; what is not sent the next process knows from its beginning */
	if (w->fd >= 0 && send(w->fd, &w->order, sizeof(w->order), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		fr_warn_errno(-errno, "incidents are still saved to the journal in the old directory");
}

bool fr_incwatch_free(struct fr_incwatch *w, u32 wait_ms)
{
	bool ended = true;

	if (!w)
		return true;
	if (w->fd >= 0)
		close(w->fd);
	if (w->pid > 0)
		ended = fr_child_wait(w->pid, wait_ms);
	if (!ended)
		fr_warn("saving incidents to the journal in %s takes too long: the last ones may not be in it", w->order.dir);
	free(w);
	return ended;
}
