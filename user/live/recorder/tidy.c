/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/tidy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/units.h"
#include "live/recorder/daemon.h"
#include "live/recorder/engine.h"

#define PERIOD_MIN_NS FR_SEC_NS
#define PERIOD_MAX_NS (3600 * FR_SEC_NS)
#define LOOKS	      8 /* per MaxAge= */

struct fr_tidy {
	struct fr_daemon *d;
	int fd; /* timer, -1: none */
};

static void tidy_look(void *arg, u32 events)
{
	struct fr_tidy *t = arg;

	(void)events;
	fr_engine_tidy(fr_daemon_engine(t->d), true);
}

static u64 period_ns(const struct fr_tidy *t)
{
	u64 ns = fr_daemon_config(t->d)->max_age_ns / LOOKS;

	return ns < PERIOD_MIN_NS ? PERIOD_MIN_NS : ns > PERIOD_MAX_NS ? PERIOD_MAX_NS : ns;
}

static int tidy_arm(struct fr_tidy *t)
{
	int fd;

	fr_daemon_drop(t->d, &t->fd);
	if (!fr_daemon_config(t->d)->max_age_ns)
		return 0;
	fd = fr_daemon_timer(t->d, period_ns(t), period_ns(t), tidy_look, t);
	if (fd < 0) {
		fr_warn_errno(fd, "old snapshots are removed only with a new one");
		return fd;
	}
	t->fd = fd;
	return 0;
}

int fr_tidy_new(struct fr_daemon *d, struct fr_tidy **out)
{
	struct fr_tidy *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	*t = (struct fr_tidy){.d = d, .fd = -1};
	err = tidy_arm(t);
	if (err) {
		free(t);
		return err;
	}
	*out = t;
	return 0;
}

void fr_tidy_change(struct fr_tidy *t)
{
	tidy_arm(t);
	fr_engine_tidy(fr_daemon_engine(t->d), false);
}

void fr_tidy_free(struct fr_tidy *t)
{
	if (!t)
		return;
	fr_daemon_drop(t->d, &t->fd);
	free(t);
}
