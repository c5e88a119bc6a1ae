/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The directory of all sessions is watched, not the session's own: that is held open, and the kernel tells of the end of a
 * directory only when nobody has it open any more. Other sessions seldom end, so this costs no wake-ups worth mentioning.
 */
#include "live/recorder/endwatch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/err.h"
#include "live/recorder/daemon.h"
#include "live/session/sess.h"

struct fr_endwatch {
	struct fr_daemon *d;
	int fd;
};

static void endwatch_look(void *arg, u32 events)
{
	struct fr_endwatch *w = arg;
	char ignored[4096];

	(void)events;
	while (read(w->fd, ignored, sizeof(ignored)) > 0)
		;
	if (fr_sess_is_gone(fr_daemon_sess(w->d)))
		fr_daemon_lost(w->d);
}

static int endwatch_watch(struct fr_endwatch *w)
{
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->fd < 0 || inotify_add_watch(w->fd, FR_SESSION_ROOT, IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR) < 0)
		return -errno;
	return fr_daemon_watch(w->d, w->fd, EPOLLIN, endwatch_look, w);
}

int fr_endwatch_new(struct fr_daemon *d, struct fr_endwatch **out)
{
	struct fr_endwatch *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	*w = (struct fr_endwatch){.d = d, .fd = -1};
	err = endwatch_watch(w);
	if (err) {
		fr_warn_errno(err, "this recorder will not notice if other means than `flightrec stop` end session '%s'",
			      fr_sess_name(fr_daemon_sess(d)));
		fr_endwatch_free(w);
		return err;
	}
	*out = w;
	return 0;
}

void fr_endwatch_free(struct fr_endwatch *w)
{
	if (!w)
		return;
	fr_daemon_drop(w->d, &w->fd);
	free(w);
}
