/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recording clock is derived from CLOCK_MONOTONIC: slewing affects it like wall time, so their difference changes only when
 * the wall clock is set, at a leap second, or over a suspend. A timer with TFD_TIMER_CANCEL_ON_SET reports all of these at
 * once. The previous difference is known from the last sample.
 */
#include "live/recorder/wallstep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "base/err.h"
#include "live/recorder/daemon.h"
#include "live/snapshot/clock_sample.h"

#define SAME_NS 1000000 /* samples this close are no step */

struct fr_wallstep {
	struct fr_daemon *d;
	int fd;
	u64 ahead_ns; /* wall time - recording clock; wraps */
	bool known;
};

static bool differ(u64 a, u64 b)
{
	s64 by = a - b;

	return by > SAME_NS || by < -SAME_NS;
}

/*
 * The store of the count pairs with readers' load of it: they read it first, and validate a step that may have been overwritten
 * meanwhile (live/snapshot/dump_meta.c).
 */
static void wallstep_keep(struct fr_session *sh, const struct fr_snap_clock *c, u64 before_ahead_ns)
{
	u64 nr = fr_load(&sh->wall_step_cnt);

	sh->wall_step[nr % FR_WALL_STEP_MAX] = (struct fr_wall_step){
		.ts = c->ts,
		.mono_ns = c->mono_ns,
		.boot_ns = c->boot_ns,
		.tai_ns = c->tai_ns,
		.before_ns = c->ts + before_ahead_ns,
		.after_ns = c->real_ns,
		.uncertainty_ns = c->uncertainty_ns,
	};
	fr_store(&sh->wall_step_cnt, nr + 1);
}

/* Compare the clocks: keep a step. */
static void wallstep_look(struct fr_wallstep *w)
{
	struct fr_sess *s = fr_daemon_sess(w->d);
	struct fr_snap_clock c;
	u64 ahead;

	if (fr_clock_sample(s, &c))
		return;
	ahead = c.real_ns - c.ts;
	if (w->known && differ(ahead, w->ahead_ns)) {
		wallstep_keep(fr_sess_shared(s), &c, w->ahead_ns);
		w->ahead_ns = ahead;
	}
	if (!w->known)
		w->ahead_ns = ahead;
	w->known = true;
}

/* It is armed before looking: a step in between is reported again. */
static void on_step(void *arg, u32 events)
{
	struct fr_wallstep *w = arg;
	(void)events;
	if (fr_daemon_jumped(w->fd))
		wallstep_look(w);
}

/* The last known difference: after the latest step kept, or when the recording began. */
static void wallstep_recall(struct fr_wallstep *w)
{
	struct fr_sess *s = fr_daemon_sess(w->d);
	const struct fr_session *sh = fr_sess_shared(s);
	u64 nr = fr_load(&sh->wall_step_cnt);
	const struct fr_wall_step *last = &sh->wall_step[(nr - 1) % FR_WALL_STEP_MAX];
	char *begin = fr_sess_fact(s, "begin_clock");
	struct fr_snap_clock c;

	if (nr) {
		w->ahead_ns = last->after_ns - last->ts;
		w->known = true;
	} else if (begin && !fr_clock_parse(begin, &c)) {
		w->ahead_ns = c.real_ns - c.ts;
		w->known = true;
	}
	free(begin);
}

/*
 * A step while no recorder lived is noticed now, and kept with the current time: what was recorded in between gets the old wall
 * time.
 */
int fr_wallstep_new(struct fr_daemon *d, struct fr_wallstep **out)
{
	struct fr_wallstep *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	*w = (struct fr_wallstep){.d = d, .fd = fr_daemon_jump_timer(d, on_step, w)};
	if (w->fd < 0) {
		err = w->fd;
		fr_err_errno(err, "cannot watch the wall clock");
		free(w);
		return err;
	}
	wallstep_recall(w);
	wallstep_look(w);
	*out = w;
	return 0;
}

void fr_wallstep_free(struct fr_wallstep *w)
{
	if (!w)
		return;
	fr_daemon_drop(w->d, &w->fd);
	free(w);
}
