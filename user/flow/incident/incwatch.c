/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flow/incident/incwatch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "atomic.h"
#include "flow/incident/inclog.h"
#include "pure/err.h"

#define RETRY_MS 5000  /* after a failure */
#define END_S	 10    /* for the thread, at the end */
#define FLUSH_MS 60000 /* after a record: what is pending since then */

struct fr_incwatch {
	struct fr_sess *s; /* owned by the thread */
	struct fr_inclog *log;
	struct fr_bell *bell;
	char *dir;	/* of the journal; owned by the thread once it runs */
	char *next_dir; /* new directory, for the thread to take; NULL: no change */
	int wake_fd;
	pthread_t thread;
	bool runs;
	u64 stop;   /* request to the thread; its load pairs with the store before wake() */
	u64 max_sz; /* likewise */
	int err;    /* of the last save */
};

static void save(struct fr_incwatch *w)
{
	int err = fr_inclog_save(w->log, FR_INCLOG_WAIT_MS);
	bool is_refused = err == -EPERM || err == -EACCES; /* by us; by the kernel, where fs.protected_regular is set */

	if (err && fr_sess_is_gone(w->s)) /* whoever ended it has saved them, or reported them lost */
		return;
	if (err && err != w->err)
		fr_warn("incidents cannot be saved to the journal in %s: %s%s: they stay in the log, as many as it holds",
			w->dir, strerror(-err), is_refused ? ": if the file there is somebody else's, remove it" : "");
	w->err = err;
}

/* Switch to another directory. What is already saved stays where it is. */
static void move(struct fr_incwatch *w, char *dir)
{
	struct fr_inclog *log = NULL;
	int err = strcmp(dir, w->dir) ? fr_inclog_open(w->s, dir, fr_load(&w->max_sz), &log) : 0;

	if (err)
		fr_warn_errno(err, "incidents are saved to the journal in %s as before, not in %s", w->dir, dir);
	if (!log) {
		free(dir);
		return;
	}
	fr_inclog_close(w->log);
	free(w->dir);
	w->log = log;
	w->dir = dir;
	w->err = 0;
}

static void *watch(void *arg)
{
	struct fr_incwatch *w = arg;
	struct pollfd p[2] = {{.fd = fr_bell_fd(w->bell), .events = POLLIN}, {.fd = w->wake_fd, .events = POLLIN}};
	bool recorded = true; /* since the last flush */
	char *dir;
	u64 woken;

	do {
		if (!poll(p, 2, w->err ? RETRY_MS : recorded ? FLUSH_MS : -1) && !w->err) {
			fr_sess_flush_incidents(w->s);
			recorded = false;
		}
		recorded |= p[0].revents & POLLIN;
		if (p[1].revents && read(w->wake_fd, &woken, sizeof(woken)) < 0)
			continue;
		fr_bell_hear(w->bell);
		/* pairs with that of fr_incwatch_change(): the text is complete, and belongs to one of the two */
		dir = __atomic_exchange_n(&w->next_dir, NULL, __ATOMIC_ACQ_REL);
		if (dir)
			move(w, dir);
		fr_inclog_limit(w->log, fr_load(&w->max_sz));
		if (fr_load(&w->stop))
			fr_sess_flush_incidents(w->s);
		save(w);
	} while (!fr_load(&w->stop));
	return NULL;
}

static void wake(struct fr_incwatch *w)
{
	const u64 one = 1;

	if (write(w->wake_fd, &one, sizeof(one)) < 0)
		fr_warn_errno(-errno, "cannot wake the thread that saves incidents");
}

static int open_all(struct fr_incwatch *w, const char *session, const char *dir)
{
	int err = fr_sess_open(session, &w->s);

	w->dir = strdup(dir);
	err = err ?: w->dir ? 0 : -ENOMEM;
	err = err ?: fr_inclog_open(w->s, dir, w->max_sz, &w->log);
	err = err ?: fr_bell_open(w->s, &w->bell);
	if (err)
		return err;
	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return w->wake_fd < 0 ? -errno : 0;
}

static void free_watch(struct fr_incwatch *w)
{
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	fr_bell_close(w->bell);
	fr_inclog_close(w->log);
	fr_sess_close(w->s);
	free(w->dir);
	free(w->next_dir);
	free(w);
}

int fr_incwatch_new(const char *session, const char *dir, u64 max_sz, struct fr_incwatch **out)
{
	struct fr_incwatch *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->wake_fd = -1;
	w->max_sz = max_sz;
	err = open_all(w, session, dir);
	if (err) {
		if (err != -ENOENT)
			fr_err("cannot save incidents: %s: they stay in the log", strerror(-err));
		free_watch(w);
		return err;
	}
	save(w);
	*out = w;
	return 0;
}

int fr_incwatch_start(struct fr_incwatch *w)
{
	int err = pthread_create(&w->thread, NULL, watch, w);

	w->runs = !err;
	if (err)
		fr_err("cannot start the thread that saves incidents: %s: they stay in the log", strerror(err));
	return -err;
}

void fr_incwatch_change(struct fr_incwatch *w, const char *dir, u64 max_sz)
{
	char *next = strdup(dir);

	if (!next)
		fr_warn("out of memory: incidents are still saved to the journal in the old directory");
	else /* pairs with that of the thread in its loop */
		free(__atomic_exchange_n(&w->next_dir, next, __ATOMIC_ACQ_REL));
	fr_store(&w->max_sz, max_sz);
	wake(w);
}

/* A thread stuck in its disk keeps everything here until the process ends. */
void fr_incwatch_free(struct fr_incwatch *w)
{
	struct timespec until;

	if (!w)
		return;
	if (w->runs) {
		fr_store(&w->stop, 1);
		wake(w);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += END_S;
		if (pthread_timedjoin_np(w->thread, NULL, &until)) {
			fr_warn("saving incidents to the journal takes too long: the last ones may not be in it");
			return;
		}
	}
	free_watch(w);
}
