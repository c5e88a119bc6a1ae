/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top_live: what it does next, and until when it waits, where looks fail, stand still or are held. No session, no screen. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/text/units.h"
#include "cmd/open.h"
#include "cmd/top_live.h"
#include "live/snapshot/glance.h"

#define FAR_MS 30000

/* ---- instead of a session, its glances, what shows them, and the time ---- */

struct fr_top {
	const struct fr_top_ask *ask;
	int fails; /* -errno, for ever */
	bool loaded;
};

static struct {
	u64 now_ns;
	bool gone, held, stands; /* the session; the screen; the glance */
	int load_fails;		 /* of the looks that begin now */
	u32 glances;
	int pipe[2]; /* readable: the glance has ended */
} live_rig;

/* In place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	*ts = (struct timespec){live_rig.now_ns / FR_SEC_NS, live_rig.now_ns % FR_SEC_NS};
	return 0;
}

int fr_cmd_open_session(const char *name, struct fr_sess **out)
{
	(void)name;
	*out = NULL;
	return FR_EXIT_OK;
}

bool fr_sess_is_gone(const struct fr_sess *s)
{
	(void)s;
	return live_rig.gone;
}

void fr_sess_say_none(const char *name, bool can_start)
{
	(void)name;
	(void)can_start;
}

void fr_sess_close(struct fr_sess *s)
{
	(void)s;
}

int fr_glance_begin(struct fr_sess *s, u64 last_ns, struct fr_aside **out)
{
	(void)s;
	(void)last_ns;
	live_rig.glances++;
	*out = (struct fr_aside *)&live_rig;
	return 0;
}

int fr_aside_fd(const struct fr_aside *g)
{
	(void)g;
	return live_rig.pipe[live_rig.stands];
}

int fr_glance_take(struct fr_aside *g, int *fd, char *why, size_t sz)
{
	(void)g;
	snprintf(why, sz, "gone");
	*fd = dup(live_rig.pipe[0]);
	return live_rig.gone ? -EIO : 0;
}

void fr_aside_drop(struct fr_aside *g)
{
	(void)g;
}

int fr_top_new(const struct fr_top_ask *ask, struct fr_top **out)
{
	*out = calloc(1, sizeof(**out));
	(*out)->ask = ask;
	(*out)->fails = live_rig.load_fails;
	return 0;
}

void fr_top_free(struct fr_top *t)
{
	free(t);
}

int fr_top_work(struct fr_top *t)
{
	if (t->fails)
		return t->fails;
	t->loaded = true;
	return 0;
}

bool fr_top_is_loaded(const struct fr_top *t)
{
	return t->loaded;
}

bool fr_top_holds(const struct fr_top *t)
{
	(void)t;
	return live_rig.held;
}

void fr_top_follow(struct fr_top *t, const struct fr_top *was)
{
	(void)t;
	(void)was;
}

/* ---- the rig ---- */

static struct fr_top_looks_ask live_ask = {.session = "web", .interval_ns = 2 * FR_SEC_NS, .last_ns = FR_SEC_NS};

static struct fr_top_looks *live_begun(int load_fails)
{
	struct fr_top_looks *l = NULL;

	memset(&live_rig, 0, sizeof(live_rig));
	live_rig.now_ns = 1000 * FR_SEC_NS;
	live_rig.load_fails = load_fails;
	assert_int_equal(pipe(live_rig.pipe), 0);
	assert_int_equal(write(live_rig.pipe[1], "x", 1), 1);
	assert_int_equal(fr_top_looks_begin(&live_ask, &l), FR_EXIT_OK);
	return l;
}

static void live_ended(struct fr_top_looks *l)
{
	fr_top_looks_end(l);
	close(live_rig.pipe[0]);
	close(live_rig.pipe[1]);
}

static const char *looks_problem(struct fr_top_looks *l)
{
	return fr_top_looks_shown(l)->ask->live->problem;
}

/* Until nothing is to be done now; how long it waits then. */
static int live_settle(struct fr_top_looks *l)
{
	int fd, i, got = FR_TOP_LOOKS_MORE;

	for (i = 0; i < 100 && got == FR_TOP_LOOKS_MORE; i++)
		got = fr_top_looks_step(l);
	assert_int_equal(got, FR_TOP_LOOKS_IDLE);
	return fr_top_looks_wait(l, &fd);
}

/* ---- tests ---- */

static void test_a_look_that_failed_is_waited_for_and_the_next_heals_it(void **state)
{
	const int errs[] = {-ENOMEM, -ENOENT};
	struct fr_top_looks *l;
	struct fr_top *was;
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		l = live_begun(errs[i]);
		was = fr_top_looks_shown(l);
		assert_in_range(live_settle(l), 1900, 2100);
		assert_string_equal(looks_problem(l), strerror(-errs[i]));
		live_rig.now_ns += 3 * FR_SEC_NS; /* the next one fails, too */
		live_settle(l);
		assert_in_range(live_settle(l), 1900, 2100);
		assert_ptr_equal(fr_top_looks_shown(l), was);
		assert_int_equal(live_rig.glances, 2);
		live_rig.load_fails = 0;
		live_rig.now_ns += 3 * FR_SEC_NS;
		live_settle(l);
		assert_in_range(live_settle(l), 1900, 2100);
		assert_int_equal(live_rig.glances, 3);
		assert_int_equal(fr_top_work(fr_top_looks_shown(l)), 0);
		assert_null(looks_problem(l));
		live_ended(l);
	}
}

static void test_a_look_that_stands_still_is_not_waited_for(void **state)
{
	struct fr_top_looks *l = live_begun(0);
	int fd, ms;

	(void)state;
	live_settle(l);
	live_rig.stands = true;
	live_rig.now_ns += 3 * FR_SEC_NS;
	ms = live_settle(l);
	assert_null(looks_problem(l));
	assert_in_range(ms, 1, FAR_MS);
	live_rig.now_ns += ms * FR_MSEC_NS;
	assert_int_equal(live_settle(l), -1);
	assert_string_equal(looks_problem(l), "the process that looks at the session does not end");
	fr_top_looks_wait(l, &fd);
	assert_int_equal(fd, live_rig.pipe[1]);
	live_rig.stands = false;
	live_settle(l);
	assert_null(looks_problem(l));
	live_ended(l);
}

static void test_a_held_screen_says_that_its_session_has_ended(void **state)
{
	struct fr_top_looks *l = live_begun(0);

	(void)state;
	live_settle(l);
	live_rig.held = true;
	assert_in_range(live_settle(l), 1, FAR_MS);
	assert_null(looks_problem(l));
	live_rig.gone = true;
	assert_int_equal(live_settle(l), -1);
	assert_string_equal(looks_problem(l), "the session has ended");
	live_rig.held = false;
	live_rig.now_ns += 3 * FR_SEC_NS;
	assert_int_equal(fr_top_looks_step(l), FR_TOP_LOOKS_ENDED);
	live_ended(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_look_that_failed_is_waited_for_and_the_next_heals_it),
		cmocka_unit_test(test_a_look_that_stands_still_is_not_waited_for),
		cmocka_unit_test(test_a_held_screen_says_that_its_session_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
