/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/saving.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/text/units.h"
#include "live/incident/incwatch.h"
#include "live/recorder/daemon.h"

#define DEATHS_MAX 3
#define END_NS	   (10 * FR_SEC_NS) /* for a disk that answers, with what is left */

struct fr_saving {
	struct fr_daemon *d;
	struct fr_incwatch *w;
	u32 deaths;
};

static void on_death(void *arg, u32 events)
{
	struct fr_saving *v = arg;

	(void)events;
	fr_daemon_unwatch(v->d, fr_incwatch_fd(v->w));
	fr_incwatch_bury(v->w);
	if (fr_sess_is_gone(fr_daemon_sess(v->d)))
		return;
	if (++v->deaths > DEATHS_MAX) {
		fr_warn("the process that saves incidents ends again and again: they stay in the log until another recorder "
			"begins");
		return;
	}
	fr_warn("the process that saves incidents has ended: a new one is started");
	fr_saving_start(v);
}

void fr_saving_start(struct fr_saving *v)
{
	int err = fr_incwatch_start(v->w);

	if (!err && fr_daemon_watch(v->d, fr_incwatch_fd(v->w), EPOLLIN, on_death, v))
		fr_warn("the end of the process that saves incidents would not be noticed");
}

int fr_saving_new(struct fr_daemon *d, struct fr_saving **out)
{
	const struct fr_config *c = fr_daemon_config(d);
	struct fr_saving *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return -ENOMEM;
	v->d = d;
	err = fr_incwatch_new(fr_daemon_sess(d), c->dir, c->incident_sz, &v->w);
	if (err)
		free(v);
	else
		*out = v;
	return err;
}

void fr_saving_change(struct fr_saving *v)
{
	const struct fr_config *c = fr_daemon_config(v->d);

	fr_incwatch_change(v->w, c->dir, c->incident_sz);
}

/* Its disk is that of the snapshots: it is waited for no longer than they are. */
bool fr_saving_free(struct fr_saving *v)
{
	u64 ns;
	bool ended;

	if (!v)
		return true;
	ns = fr_daemon_config(v->d)->write_timeout_ns;
	if (fr_incwatch_fd(v->w) >= 0)
		fr_daemon_unwatch(v->d, fr_incwatch_fd(v->w));
	ended = fr_incwatch_free(v->w, (ns < END_NS ? ns : END_NS) / FR_MSEC_NS);
	free(v);
	return ended;
}
