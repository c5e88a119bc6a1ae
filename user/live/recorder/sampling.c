/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/sampling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/err.h"
#include "live/recorder/blocking.h"
#include "live/recorder/counting.h"
#include "live/recorder/daemon.h"
#include "live/session/sampler.h"

struct fr_sampling {
	struct fr_daemon *d;
	struct fr_sampler *sp;
	struct fr_counting *counting; /* NULL: none */
	struct fr_blocking *blocking; /* likewise */
	int timer_fd;
	bool said;
};

/* Read, and then not again for an interval, unless a table fills up. */
static void read_now(struct fr_sampling *m)
{
	struct fr_sampler_read what = {};
	int err = fr_sampler_read(m->sp, 0, NULL, &what);

	fr_daemon_timer_again(m->timer_fd, FR_SAMPLER_INTERVAL_NS);
	fr_counting_read(m->counting);
	fr_blocking_read(m->blocking);
	if ((err && err != -EWOULDBLOCK) || what.damaged) {
		if (!m->said)
			fr_warn("the profile cannot be read: %s: some of it is missing",
				err ? strerror(-err) : "its tables are damaged");
		m->said = true;
	}
}

static void on_timer(void *arg, u32 events)
{
	(void)events;
	read_now(arg);
}

static void on_call(void *arg, u32 events)
{
	struct fr_sampling *m = arg;

	(void)events;
	if (fr_hits_take_calls(fr_sampler_hits(m->sp)))
		read_now(m);
}

static int sampling_begin(struct fr_sampling *m)
{
	m->timer_fd = fr_daemon_timer(m->d, FR_SAMPLER_INTERVAL_NS, FR_SAMPLER_INTERVAL_NS, on_timer, m);
	if (m->timer_fd < 0)
		return m->timer_fd;
	return fr_daemon_watch(m->d, fr_hits_calls_fd(fr_sampler_hits(m->sp)), EPOLLIN, on_call, m);
}

int fr_sampling_new(struct fr_daemon *d, struct fr_sampling **out)
{
	struct fr_sampling *m = calloc(1, sizeof(*m));
	int err;

	*out = NULL;
	if (!m)
		return -ENOMEM;
	*m = (struct fr_sampling){.d = d, .timer_fd = -1};
	err = fr_sampler_open(fr_daemon_sess(d), &m->sp);
	err = err ?: sampling_begin(m);
	if (err) {
		if (err != -ENOENT)
			fr_err_errno(err, "cannot keep the profile");
		fr_sampling_free(m);
		return err == -ENOENT ? 0 : err;
	}
	m->counting = fr_counting_new(fr_daemon_sess(d));
	fr_counting_read(m->counting);
	m->blocking = fr_blocking_new(fr_daemon_sess(d));
	fr_blocking_read(m->blocking);
	*out = m;
	return 0;
}

void fr_sampling_last(struct fr_sampling *m)
{
	if (m)
		fr_blocking_read_all(m->blocking);
}

void fr_sampling_free(struct fr_sampling *m)
{
	if (!m)
		return;
	fr_counting_free(m->counting);
	fr_blocking_free(m->blocking);
	fr_daemon_drop(m->d, &m->timer_fd);
	if (m->sp) {
		fr_daemon_unwatch(m->d, fr_hits_calls_fd(fr_sampler_hits(m->sp)));
		fr_sampler_close(m->sp);
	}
	free(m);
}
