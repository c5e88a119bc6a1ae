/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_live: while one snapshot is shown, a child takes the next one (glance.h) when it is due, an interval after the last one
 * began. It is read piece by piece, between keys, and takes the other's place once its tables are made, too. What the user
 * holds is not replaced.
 */
#include "cmd/top_live.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/open.h"
#include "live/snapshot/glance.h"
#include "sys/now.h"

#define WHY_SZ	256u
#define LATE_NS (5 * FR_SEC_NS) /* behind when the next look is due */
#define HELD_MS 1000		/* has the session ended? */

/* A snapshot that is shown. */
struct look {
	struct fr_top *top; /* NULL: none */
	struct fr_top_ask ask;
	char path[32];
	int fd;
	bool follows;
};

struct fr_top_looks {
	struct fr_top_looks_ask *ask;
	struct fr_sess *s;
	char name[FR_SESS_NAME_MAX + 16];
	struct fr_top_live live;
	char why[WHY_SZ];
	struct fr_aside *glance; /* NULL: none is taken */
	u64 due_ns;		 /* CLOCK_MONOTONIC */
	bool gone, late;	 /* the session; what looks at it: said */
	struct look *shown, *next;
	struct look look[2];
};

/* ---- a look ---- */

static void look_end(struct look *k)
{
	fr_top_free(k->top);
	if (k->fd >= 0)
		close(k->fd);
	*k = (struct look){.fd = -1};
}

/* Takes fd over. */
static int look_begin(struct fr_top_looks *l, struct look *k, int fd)
{
	*k = (struct look){.fd = fd, .ask = l->ask->top};
	snprintf(k->path, sizeof(k->path), "/proc/self/fd/%d", fd);
	k->ask.path = k->path;
	k->ask.name = l->name;
	k->ask.live = &l->live;
	return fr_top_new(&k->ask, &k->top);
}

/* ---- the next one ---- */

static u64 live_now_ns(void)
{
	return fr_now_ns(CLOCK_MONOTONIC);
}

static void looks_problem(struct fr_top_looks *l, const char *why)
{
	snprintf(l->why, sizeof(l->why), "%s", why);
	l->live.problem = l->why;
}

static int live_look(struct fr_top_looks *l)
{
	int err;

	if (fr_sess_is_gone(l->s))
		return FR_TOP_LOOKS_ENDED;
	l->due_ns = live_now_ns() + l->ask->interval_ns;
	err = fr_glance_begin(l->s, l->ask->last_ns, &l->glance);
	if (err)
		looks_problem(l, strerror(-err));
	return FR_TOP_LOOKS_IDLE;
}

/* What looks does not end: it is stopped, or the machine is too slow for this interval. */
static bool live_is_late(const struct fr_top_looks *l)
{
	return live_now_ns() >= l->due_ns + LATE_NS;
}

static int live_await(struct fr_top_looks *l)
{
	if (l->late || !live_is_late(l))
		return FR_TOP_LOOKS_IDLE;
	l->late = true;
	looks_problem(l, "the process that looks at the session does not end");
	return FR_TOP_LOOKS_MORE;
}

/* No look is taken while the user holds the screen, but it is not called live of a session that is no more. */
static int live_hold(struct fr_top_looks *l)
{
	if (l->gone || !fr_sess_is_gone(l->s))
		return FR_TOP_LOOKS_IDLE;
	l->gone = true;
	looks_problem(l, "the session has ended");
	return FR_TOP_LOOKS_MORE;
}

/* Where messages go while the screen is the terminal's: the last one is shown. */
static void live_hear(void *arg, bool is_error, const char *text)
{
	struct fr_top_looks *l = arg;

	if (is_error)
		snprintf(l->why, sizeof(l->why), "%s", text);
}

/* The glance has ended. */
static int live_take(struct fr_top_looks *l)
{
	const struct fr_err_sink sink = {live_hear, l}, *was;
	int fd = -1, err = fr_glance_take(l->glance, &fd, l->why, sizeof(l->why));

	l->glance = NULL;
	l->late = false;
	if (err && fr_sess_is_gone(l->s) && !fr_top_holds(l->shown->top))
		return FR_TOP_LOOKS_ENDED;
	if (!err) {
		was = fr_err_divert(&sink);
		err = look_begin(l, l->next, fd);
		fr_err_divert(was);
		if (err)
			look_end(l->next);
	}
	if (err)
		l->live.problem = l->why;
	return FR_TOP_LOOKS_MORE;
}

static bool glance_has_ended(const struct fr_top_looks *l)
{
	struct pollfd p = {.fd = fr_aside_fd(l->glance), .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/* It is read, and its tables are those of the window that is shown: it takes the place. */
static int live_swap(struct fr_top_looks *l)
{
	struct look *was = l->shown;

	fr_top_follow(l->next->top, was->top); /* what was pressed meanwhile */
	l->shown = l->next;
	l->next = was;
	look_end(was);
	l->live.problem = NULL;
	return FR_TOP_LOOKS_MORE;
}

static int live_read_next(struct fr_top_looks *l)
{
	struct look *k = l->next;
	int got;

	if (fr_top_holds(l->shown->top))
		return live_hold(l);
	got = fr_top_work(k->top);
	if (got < 0) {
		looks_problem(l, strerror(-got));
		look_end(k);
		return FR_TOP_LOOKS_MORE;
	}
	if (fr_top_is_loaded(k->top) && !k->follows) {
		fr_top_follow(k->top, l->shown->top);
		k->follows = true;
		return FR_TOP_LOOKS_MORE;
	}
	return got ? FR_TOP_LOOKS_MORE : live_swap(l);
}

/* What is shown may have failed, for lack of memory, say, and stays so: the next look heals it. */
int fr_top_looks_step(struct fr_top_looks *l)
{
	int got = fr_top_work(l->shown->top);

	if (got > 0)
		return FR_TOP_LOOKS_MORE;
	if (got < 0)
		looks_problem(l, strerror(-got));
	if (l->next->top)
		return live_read_next(l);
	if (l->glance)
		return glance_has_ended(l) ? live_take(l) : live_await(l);
	if (fr_top_holds(l->shown->top))
		return live_hold(l);
	return live_now_ns() >= l->due_ns ? live_look(l) : FR_TOP_LOOKS_IDLE;
}

static int live_ms_until(u64 at_ns)
{
	u64 now_ns = live_now_ns();

	return at_ns > now_ns ? (at_ns - now_ns) / FR_MSEC_NS + 1 : 0;
}

int fr_top_looks_wait(const struct fr_top_looks *l, int *fd)
{
	*fd = l->glance ? fr_aside_fd(l->glance) : -1;
	if (l->glance)
		return l->late ? -1 : live_ms_until(l->due_ns + LATE_NS);
	if (fr_top_holds(l->shown->top))
		return l->gone ? -1 : HELD_MS;
	return live_ms_until(l->due_ns);
}

/* ---- life ---- */

const char *fr_top_looks_name(const struct fr_top_looks *l)
{
	return l->name;
}

struct fr_top *fr_top_looks_shown(struct fr_top_looks *l)
{
	return l->shown->top;
}

void fr_top_looks_set_color(struct fr_top_looks *l, bool color)
{
	l->shown->ask.color = color;
	l->ask->top.color = color;
}

/* On an unchanged terminal: what goes wrong is said there. */
static int live_first(struct fr_top_looks *l)
{
	struct pollfd p = {.events = POLLIN};
	int fd = -1, err = fr_glance_begin(l->s, l->ask->last_ns, &l->glance);

	if (err) {
		fr_err_errno(err, "cannot look at session '%s'", l->ask->session);
		return FR_EXIT_FAIL;
	}
	l->due_ns = live_now_ns() + l->ask->interval_ns;
	p.fd = fr_aside_fd(l->glance);
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	err = fr_glance_take(l->glance, &fd, l->why, sizeof(l->why));
	l->glance = NULL;
	if (err && fr_sess_is_gone(l->s)) {
		fr_sess_say_none(l->ask->session, true);
		return FR_EXIT_NO_SESSION;
	}
	if (err) {
		fr_err("%s", l->why);
		return FR_EXIT_FAIL;
	}
	return look_begin(l, l->shown, fd) ? FR_EXIT_FAIL : FR_EXIT_OK;
}

int fr_top_looks_begin(struct fr_top_looks_ask *ask, struct fr_top_looks **out)
{
	struct fr_top_looks *l = calloc(1, sizeof(*l));
	int status;

	if (!l)
		return fr_err_memory();
	l->ask = ask;
	l->look[0].fd = l->look[1].fd = -1;
	l->shown = &l->look[0];
	l->next = &l->look[1];
	snprintf(l->name, sizeof(l->name), "session '%s'", ask->session);
	status = fr_cmd_open_session(ask->session, &l->s);
	status = status ?: live_first(l);
	if (status)
		fr_top_looks_end(l);
	else
		*out = l;
	return status;
}

void fr_top_looks_end(struct fr_top_looks *l)
{
	if (!l)
		return;
	fr_aside_drop(l->glance);
	look_end(l->shown);
	look_end(l->next);
	fr_sess_close(l->s);
	free(l);
}
