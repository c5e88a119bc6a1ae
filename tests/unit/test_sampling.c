/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a recorder reads the profile: each interval, when a CPU's table fills up, and then not again for an interval. The loop,
 * its timer, the tables and the reading are stood in for.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/recorder/blocking.h"
#include "live/recorder/counting.h"
#include "live/recorder/daemon.h"
#include "live/recorder/sampling.h"
#include "live/session/sampler.h"

#define TIMER_FD 7
#define CALLS_FD 8

static struct {
	u64 now_ns, due_ns, period_ns; /* of the timer */
	fr_source_fn timer, call;
	void *arg;
	u32 reads, calls; /* readings; calls that wait */
} rig;

struct fr_sess *fr_daemon_sess(struct fr_daemon *d)
{
	(void)d;
	return NULL;
}

int fr_daemon_timer(struct fr_daemon *d, u64 delay_ns, u64 period_ns, fr_source_fn fn, void *arg)
{
	(void)d;
	rig.due_ns = rig.now_ns + delay_ns;
	rig.period_ns = period_ns;
	rig.timer = fn;
	rig.arg = arg;
	return TIMER_FD;
}

void fr_daemon_timer_again(int fd, u64 period_ns)
{
	assert_int_equal(fd, TIMER_FD);
	rig.due_ns = rig.now_ns + period_ns;
}

int fr_daemon_watch(struct fr_daemon *d, int fd, u32 epoll_events, fr_source_fn fn, void *arg)
{
	(void)d;
	(void)epoll_events;
	assert_int_equal(fd, CALLS_FD);
	assert_ptr_equal(arg, rig.arg);
	rig.call = fn;
	return 0;
}

void fr_daemon_unwatch(struct fr_daemon *d, int fd)
{
	(void)d;
	assert_int_equal(fd, CALLS_FD);
	rig.call = NULL;
}

void fr_daemon_drop(struct fr_daemon *d, int *fd)
{
	(void)d;
	assert_int_equal(*fd, TIMER_FD);
	*fd = -1;
	rig.timer = NULL;
}

struct fr_counting *fr_counting_new(struct fr_sess *s)
{
	(void)s;
	return NULL;
}

void fr_counting_free(struct fr_counting *c)
{
	(void)c;
}

void fr_counting_read(struct fr_counting *c)
{
	(void)c;
}

struct fr_blocking *fr_blocking_new(struct fr_sess *s)
{
	(void)s;
	return NULL;
}

void fr_blocking_free(struct fr_blocking *c)
{
	(void)c;
}

void fr_blocking_read(struct fr_blocking *c)
{
	(void)c;
}

void fr_blocking_read_all(struct fr_blocking *c)
{
	(void)c;
}

int fr_sampler_open(struct fr_sess *s, struct fr_sampler **out)
{
	(void)s;
	*out = (struct fr_sampler *)&rig;
	return 0;
}

void fr_sampler_close(struct fr_sampler *sp)
{
	assert_ptr_equal(sp, &rig);
}

int fr_sampler_read(struct fr_sampler *sp, u32 timeout_ms, const struct fr_prof **prof, struct fr_sampler_read *what)
{
	(void)prof;
	(void)what;
	assert_ptr_equal(sp, &rig);
	assert_int_equal(timeout_ms, 0); /* the recorder has more to do than to wait */
	rig.reads++;
	return rig.reads % 2 ? 0 : -EWOULDBLOCK; /* somebody else reads: as good */
}

struct fr_hits *fr_sampler_hits(const struct fr_sampler *sp)
{
	(void)sp;
	return NULL;
}

int fr_hits_calls_fd(const struct fr_hits *h)
{
	(void)h;
	return CALLS_FD;
}

int fr_hits_take_calls(struct fr_hits *h)
{
	int cnt = rig.calls;

	(void)h;
	rig.calls = 0;
	return cnt;
}

/* Time goes on, and the loop calls the timer when it is due. */
static void go_on(u64 ns)
{
	const u64 until_ns = rig.now_ns + ns;

	while (rig.due_ns <= until_ns) {
		rig.now_ns = rig.due_ns;
		rig.due_ns += rig.period_ns;
		rig.timer(rig.arg, 0);
	}
	rig.now_ns = until_ns;
}

/* Without calls: once each interval, for an hour. */
static void each_interval(void **state)
{
	(void)state;
	rig.reads = 0;
	go_on(FR_SAMPLER_INTERVAL_NS - 1);
	assert_int_equal(rig.reads, 0);
	go_on(1);
	assert_int_equal(rig.reads, 1);
	go_on(359 * FR_SAMPLER_INTERVAL_NS);
	assert_int_equal(rig.reads, 360);
}

/* A table fills up: at once, however many CPUs call; not for a call that somebody else has taken; and next after an interval.
 */
static void when_called(void **state)
{
	(void)state;
	rig.reads = 0;
	go_on(FR_SAMPLER_INTERVAL_NS / 2);
	rig.calls = 3;
	rig.call(rig.arg, 0);
	assert_int_equal(rig.reads, 1);
	rig.call(rig.arg, 0);
	assert_int_equal(rig.reads, 1);
	go_on(FR_SAMPLER_INTERVAL_NS - 1);
	assert_int_equal(rig.reads, 1);
	go_on(1);
	assert_int_equal(rig.reads, 2);
}

static struct fr_sampling *m;

static int begin(void **state)
{
	(void)state;
	return fr_sampling_new(NULL, &m);
}

static int end(void **state)
{
	(void)state;
	fr_sampling_free(m);
	return rig.timer || rig.call;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_interval, begin, end),
		cmocka_unit_test_setup_teardown(when_called, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
