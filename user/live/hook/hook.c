/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hook: running, queued and overdue commands. hook_spawn.c starts one. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "live/hook/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/units.h"
#include "live/hook/hook_spawn.h"
#include "sys/child.h"
#include "sys/now.h"
#include "sys/patience.h"

#define P_PIDFD_ID 3 /* idtype_t's P_PIDFD, which older headers lack */

#define START_NS (5 * FR_SEC_NS) /* to become the command */

struct job {
	struct fr_hook_process process; /* pid 0: free; tell_fd -1: it has become the command, or will not */
	bool begun;			/* it has */
	u64 due_ns;			/* START_NS, its timeout, or the end of the grace period after SIGTERM; 0: no limit */
	bool told;			/* SIGTERM was sent */
	char *file;			/* for messages */
};

struct fr_hooks {
	int epoll_fd, timer_fd;
	char *command; /* NULL: none */
	u64 timeout_ns;
	struct fr_hook_conf conf; /* of it leave() */
	struct fr_hook_user user;
	struct job job[FR_HOOK_RUN_MAX];
	struct fr_hook_own *queue[FR_HOOK_QUEUE_MAX]; /* oldest first */
	u32 queued;
	struct fr_hook_count count;
};

/* ---- time ---- */

/* Set the timer to the first timeout of a job; off if there is none. */
static void set_timer(struct fr_hooks *h)
{
	struct itimerspec t = {};
	u64 due_ns = ~0ULL;
	u32 i;

	for (i = 0; i < FR_HOOK_RUN_MAX; i++)
		if (h->job[i].process.pid && h->job[i].due_ns && h->job[i].due_ns < due_ns)
			due_ns = h->job[i].due_ns;
	if (due_ns != ~0ULL) {
		t.it_value.tv_sec = due_ns / FR_SEC_NS;
		t.it_value.tv_nsec = due_ns % FR_SEC_NS;
	}
	timerfd_settime(h->timer_fd, TFD_TIMER_ABSTIME, &t, NULL);
}

/* Nothing is heard of how far it is from here on. */
static void stop_hearing(struct fr_hooks *h, struct job *j)
{
	if (j->process.tell_fd < 0)
		return;
	epoll_ctl(h->epoll_fd, EPOLL_CTL_DEL, j->process.tell_fd, NULL);
	close(j->process.tell_fd);
	j->process.tell_fd = -1;
}

/* It is not the command, and will not be. */
static void say_not_begun(struct fr_hooks *h, struct job *j, int err)
{
	stop_hearing(h, j);
	h->count.failed++;
	fr_warn_errno(err, "cannot run the hook for %s", j->file);
	if (err == -EPERM && h->user.change)
		fr_warn("a hook of another user, set by a reload, needs a restart: the right to change users was given up");
}

/* Has it become the command, or told why not? Until then nobody waits for it: its snapshot's disk may not answer. */
static void hook_hear(struct fr_hooks *h, struct job *j)
{
	ssize_t got;
	int err = 0;

	if (!j->process.pid || j->process.tell_fd < 0)
		return;
	got = read(j->process.tell_fd, &err, sizeof(err));
	if (got == sizeof(err)) {
		say_not_begun(h, j, -err);
	} else if (!got) {
		stop_hearing(h, j);
		j->begun = true;
		h->count.started++;
		if (!j->told)
			j->due_ns = h->timeout_ns ? fr_now_ns(CLOCK_MONOTONIC) + h->timeout_ns : 0;
	}
}

static void hook_tell_to_end(struct fr_hooks *h, struct job *j, u64 now_ns, const char *why)
{
	h->count.timed_out++;
	fr_warn("the hook for %s takes too long: it is ended: %s", j->file, why);
	if (kill(-j->process.pid, SIGTERM))
		fr_warn_errno(-errno, "cannot end the hook for %s", j->file);
	j->told = true;
	j->due_ns = now_ns + fr_patience_ns(FR_HOOK_GRACE_NS);
}

static void end_overdue(struct fr_hooks *h, struct job *j, u64 now_ns)
{
	if (!j->process.pid || !j->due_ns || now_ns < j->due_ns)
		return;
	if (j->begun && !j->told) {
		hook_tell_to_end(h, j, now_ns, "give it more time with ExecTimeout=");
		return;
	}
	if (!j->begun && j->process.tell_fd >= 0) /* stopped, or its shell or its snapshot is on a dead disk */
		say_not_begun(h, j, -ETIMEDOUT);
	kill(j->process.pid, SIGKILL);
	kill(-j->process.pid, SIGKILL);
	j->due_ns = 0;
}

/* ---- ending ---- */

static void say_end(struct fr_hooks *h, const struct job *j, const siginfo_t *info)
{
	if (!j->begun) /* that was said */
		return;
	if (info->si_code == CLD_EXITED && !info->si_status)
		return;
	h->count.failed++;
	if (info->si_code == CLD_EXITED)
		fr_warn("the hook for %s ended with status %d", j->file, info->si_status);
	else if (!j->told)
		fr_warn("the hook for %s was killed by signal %d", j->file, info->si_status);
}

static void hook_forget(struct fr_hooks *h, struct job *j)
{
	stop_hearing(h, j);
	epoll_ctl(h->epoll_fd, EPOLL_CTL_DEL, j->process.pidfd, NULL);
	close(j->process.pidfd);
	free(j->file);
	memset(j, 0, sizeof(*j));
}

/* Has it ended? Until it is reaped, nothing else can have its pid as a process group: kill what is left in the group. */
static void reap(struct fr_hooks *h, struct job *j)
{
	siginfo_t info = {};

	if (!j->process.pid || waitid(P_PIDFD_ID, j->process.pidfd, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
		return;
	kill(-j->process.pid, SIGKILL);
	waitid(P_PIDFD_ID, j->process.pidfd, &info, WEXITED | WNOHANG);
	hook_hear(h, j);
	say_end(h, j, &info);
	hook_forget(h, j);
}

/* ---- starting ---- */

static struct job *free_job(struct fr_hooks *h)
{
	u32 i;

	for (i = 0; i < FR_HOOK_RUN_MAX; i++)
		if (!h->job[i].process.pid)
			return &h->job[i];
	return NULL;
}

static int hook_watch(struct fr_hooks *h, const struct fr_hook_process *p)
{
	struct epoll_event ev = {.events = EPOLLIN};

	return epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, p->pidfd, &ev) || epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, p->tell_fd, &ev)
		       ? -errno
		       : 0;
}

static int hook_start(struct fr_hooks *h, struct job *j, const struct fr_hook_own *own)
{
	int err = fr_hook_spawn(&h->conf, h->command, &h->user, own, &j->process);

	if (err) {
		memset(j, 0, sizeof(*j));
	} else {
		j->file = strdup(own->file);
		err = j->file ? hook_watch(h, &j->process) : -ENOMEM;
		if (err) {
			kill(j->process.pid, SIGKILL);
			fr_child_end(j->process.pid, 0);
			hook_forget(h, j);
		}
	}
	if (err) {
		h->count.failed++;
		fr_warn_errno(err, "cannot run the hook for %s", own->file);
		return err;
	}
	j->due_ns = fr_now_ns(CLOCK_MONOTONIC) + fr_patience_ns(START_NS);
	set_timer(h);
	return 0;
}

static void start_queued(struct fr_hooks *h)
{
	struct fr_hook_own *own;
	struct job *j;

	while (h->queued && (j = free_job(h))) {
		own = h->queue[0];
		memmove(h->queue, h->queue + 1, --h->queued * sizeof(h->queue[0]));
		if (h->command)
			hook_start(h, j, own);
		fr_hook_own_free(own);
	}
}

int fr_hooks_run(struct fr_hooks *h, const struct fr_hook_ask *ask)
{
	struct fr_hook_own *own;
	struct job *j;
	int err = 0;

	if (!h->command)
		return 0;
	if (h->queued == FR_HOOK_QUEUE_MAX) {
		h->count.dropped++;
		fr_warn("no hook for %s: %u wait already", ask->file, FR_HOOK_QUEUE_MAX);
		return -ENOBUFS;
	}
	own = fr_hook_own(ask);
	if (!own)
		return -ENOMEM;
	j = h->queued ? NULL : free_job(h);
	if (!j) {
		h->queue[h->queued++] = own;
		return 0;
	}
	err = hook_start(h, j, own);
	fr_hook_own_free(own);
	return err;
}

void fr_hooks_poll(struct fr_hooks *h)
{
	u64 ticks, now_ns = fr_now_ns(CLOCK_MONOTONIC);
	u32 i;

	if (read(h->timer_fd, &ticks, sizeof(ticks)) < 0)
		ticks = 0;
	for (i = 0; i < FR_HOOK_RUN_MAX; i++) {
		hook_hear(h, &h->job[i]);
		reap(h, &h->job[i]);
		end_overdue(h, &h->job[i], now_ns);
	}
	start_queued(h);
	set_timer(h);
}

/* ---- shutting down ---- */

static bool hook_is_busy(const struct fr_hooks *h)
{
	struct fr_hook_count c;

	fr_hooks_count(h, &c);
	return c.running + c.queued;
}

static void poll_until(struct fr_hooks *h, u64 until_ns, int enough_fd)
{
	struct pollfd p[2] = {{.fd = h->epoll_fd, .events = POLLIN}, {.fd = enough_fd, .events = POLLIN}};
	u64 now_ns;

	while (hook_is_busy(h) && !p[1].revents && (now_ns = fr_now_ns(CLOCK_MONOTONIC)) < until_ns) {
		poll(p, 2, (until_ns - now_ns) / FR_MSEC_NS + 1);
		fr_hooks_poll(h);
	}
}

static void drop_queued(struct fr_hooks *h)
{
	while (h->queued) {
		h->count.dropped++;
		fr_warn("no hook for %s: the recorder ends", h->queue[--h->queued]->file);
		fr_hook_own_free(h->queue[h->queued]);
	}
}

void fr_hooks_finish(struct fr_hooks *h, u64 limit_ns, int enough_fd)
{
	u64 now_ns = fr_now_ns(CLOCK_MONOTONIC);
	u32 i;

	poll_until(h, now_ns + limit_ns, enough_fd);
	drop_queued(h);
	now_ns = fr_now_ns(CLOCK_MONOTONIC);
	for (i = 0; i < FR_HOOK_RUN_MAX; i++) {
		if (!h->job[i].process.pid)
			continue;
		if (!h->job[i].begun)
			h->job[i].due_ns = now_ns;
		else if (!h->job[i].told)
			hook_tell_to_end(h, &h->job[i], now_ns, "the recorder ends");
	}
	set_timer(h);
	poll_until(h, now_ns + 2 * fr_patience_ns(FR_HOOK_GRACE_NS), -1);
}

/* ---- the module ---- */

int fr_hooks_change(struct fr_hooks *h, const struct fr_hook_conf *conf)
{
	struct fr_hook_user user = {};
	char *command = NULL;
	int err = 0;

	if (conf->command && *conf->command) {
		err = fr_hook_find_user(conf, &user);
		command = err ? NULL : strdup(conf->command);
		if (!err && !command) {
			fr_hook_user_free(&user);
			err = -ENOMEM;
		}
	}
	if (err)
		return err;
	free(h->command);
	fr_hook_user_free(&h->user);
	h->command = command;
	h->user = user;
	h->timeout_ns = conf->timeout_ns;
	h->conf = (struct fr_hook_conf){.leave = conf->leave, .leave_arg = conf->leave_arg};
	return 0;
}

static int open_fds(struct fr_hooks *h)
{
	struct epoll_event ev = {.events = EPOLLIN};

	h->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	h->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (h->epoll_fd < 0 || h->timer_fd < 0 || epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, h->timer_fd, &ev))
		return -errno;
	return 0;
}

int fr_hooks_new(const struct fr_hook_conf *conf, struct fr_hooks **out)
{
	struct fr_hooks *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	h->epoll_fd = h->timer_fd = -1;
	err = open_fds(h);
	if (err)
		fr_err("cannot prepare hooks: %s: check the limit of open files", strerror(-err));
	err = err ?: fr_hooks_change(h, conf);
	if (err) {
		fr_hooks_free(h);
		return err;
	}
	*out = h;
	return 0;
}

void fr_hooks_free(struct fr_hooks *h)
{
	u32 i;

	if (!h)
		return;
	for (i = 0; i < FR_HOOK_RUN_MAX; i++) {
		if (!h->job[i].process.pid)
			continue;
		kill(-h->job[i].process.pid, SIGKILL);
		fr_child_end(h->job[i].process.pid, 0);
		hook_forget(h, &h->job[i]);
	}
	for (i = 0; i < h->queued; i++)
		fr_hook_own_free(h->queue[i]);
	if (h->epoll_fd >= 0)
		close(h->epoll_fd);
	if (h->timer_fd >= 0)
		close(h->timer_fd);
	free(h->command);
	fr_hook_user_free(&h->user);
	free(h);
}

bool fr_hooks_wants_user(const struct fr_hooks *h)
{
	return h->command && h->user.change;
}

int fr_hooks_fd(const struct fr_hooks *h)
{
	return h->epoll_fd;
}

void fr_hooks_count(const struct fr_hooks *h, struct fr_hook_count *out)
{
	u32 i;

	*out = h->count;
	out->queued = h->queued;
	for (i = 0, out->running = 0; i < FR_HOOK_RUN_MAX; i++)
		out->running += h->job[i].process.pid != 0;
}
