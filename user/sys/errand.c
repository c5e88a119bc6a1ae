/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sys/errand.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "atomic.h"
#include "base/text/units.h"
#include "sys/child.h"
#include "sys/fd.h"
#include "sys/now.h"

#define REAP_MS 500 /* for a killed runner */
#define PIPE_FD 0   /* the runner's */
#define PIPE_SZ (1 << 20)

/* Beside what run() tells, whose kinds are below. */
enum { MSG_BEGIN = 256, MSG_STEP, MSG_END, MSG_FAILED, MSG_DENIED, MSG_NO_TIME, MSG_WAITED };

struct message {
	u32 kind, job, item, sz;
};

struct fr_errand_out {
	u32 job, item;
	bool failed, denied;	 /* fr_errand_fail() and fr_errand_deny(), of this item */
	u64 waited[FR_LEFT_MAX]; /* what runners that are left behind wait for, as of the fork; 0: none */
};

const char *fr_errand_why_text(enum fr_errand_why why)
{
	static const char *const text[FR_ERRAND_WHY_CNT] = {
		[FR_ERRAND_LATE] = "late",     [FR_ERRAND_DIED] = "died",     [FR_ERRAND_WAITED] = "waited",
		[FR_ERRAND_LEFT] = "left",     [FR_ERRAND_TIME] = "time",     [FR_ERRAND_FORK] = "fork",
		[FR_ERRAND_FAILED] = "failed", [FR_ERRAND_DENIED] = "denied",
	};

	return text[why];
}

/* ---- the runner ---- */

static void errand_tell(const struct fr_errand_out *out, u32 kind, const void *data, u32 sz)
{
	const struct message m = {.kind = kind, .job = out->job, .item = out->item, .sz = sz};

	if (fr_write_all(PIPE_FD, &m, sizeof(m)) || (sz && fr_write_all(PIPE_FD, data, sz)))
		_exit(0); /* nobody listens any more */
}

void fr_errand_step(struct fr_errand_out *out, u32 step)
{
	errand_tell(out, MSG_STEP, &step, sizeof(step));
}

void fr_errand_tell(struct fr_errand_out *out, u32 kind, const void *data, size_t sz)
{
	if (sz <= FR_ERRAND_TELL_MAX)
		errand_tell(out, kind, data, sz);
}

void fr_errand_fail(struct fr_errand_out *out)
{
	out->failed = true;
}

void fr_errand_deny(struct fr_errand_out *out)
{
	out->denied = true;
}

/* A confined asker may not kill: the runner sees to it itself, a little after the asker has given the item up. */
static void end_behind(u64 item_ns)
{
	u64 ns = item_ns + item_ns / 4;
	const struct itimerval t = {
		.it_value = {.tv_sec = ns / FR_SEC_NS, .tv_usec = ns % FR_SEC_NS / 1000 + 1},
	};

	setitimer(ITIMER_REAL, &t, NULL);
}

static void errand_default_signals(void)
{
	const struct sigaction ends = {.sa_handler = SIG_DFL};
	sigset_t none;

	sigaction(SIGALRM, &ends, NULL);
	sigaction(SIGPIPE, &ends, NULL);
	sigaction(SIGTERM, &ends, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Keep nothing that others may wait for, but the pipe. */
static void errand_give_up(const struct fr_errand *e, int fd)
{
	prctl(PR_SET_NAME, "flightrec-look");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	errand_default_signals();
	dup2(fd, PIPE_FD);
	close_range(PIPE_FD + 1, ~0U, 0);
	/* so that no file that is read gets the number where messages go */
	open("/dev/null", O_RDWR);
	open("/dev/null", O_RDWR);
	if (e->leave)
		e->leave(e->leave_arg);
	malloc_trim(0);
}

static bool is_waited_for(const struct fr_errand_out *out, const struct fr_errand_job *job)
{
	u64 key = job->key ? job->key(job->arg, out->item) : 0;
	u32 i;

	for (i = 0; key && i < FR_LEFT_MAX; i++)
		if (out->waited[i] == key)
			return true;
	return false;
}

static void run_item(const struct fr_errand_job *job, struct fr_errand_out *out, bool in_time)
{
	if (!in_time) {
		errand_tell(out, MSG_NO_TIME, NULL, 0);
	} else if (is_waited_for(out, job)) {
		errand_tell(out, MSG_WAITED, NULL, 0);
	} else {
		errand_tell(out, MSG_BEGIN, NULL, 0);
		out->failed = out->denied = false;
		job->run(job->arg, out->item, out);
		errand_tell(out, out->denied ? MSG_DENIED : out->failed ? MSG_FAILED : MSG_END, NULL, 0);
	}
}

static void errand_run_job(const struct fr_errand *e, struct fr_errand_out *out)
{
	const struct fr_errand_job *job = &e->job[out->job];
	u64 began_ns = fr_now_ns(CLOCK_PROCESS_CPUTIME_ID);

	for (; out->item < job->cnt(job->arg); out->item++) {
		end_behind(e->item_ns);
		run_item(job, out, !job->cpu_ns || fr_now_ns(CLOCK_PROCESS_CPUTIME_ID) - began_ns <= job->cpu_ns);
	}
}

static void be_runner(const struct fr_errand *e, struct fr_errand_out *out, int fd)
{
	end_behind(e->item_ns);
	errand_give_up(e, fd);
	for (; out->job < e->job_cnt; out->job++, out->item = 0)
		errand_run_job(e, out);
	_exit(0);
}

/* ---- those that are left behind ---- */

/* When a process began, in the kernel's ticks, if it lives. 0: it does not. Of its stat(5), no lock of it is waited for. */
static u64 start_of(u64 pid)
{
	char path[48], text[1024], *at;
	unsigned long long start = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%llu/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	at = strrchr(text, ')');
	if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
		return 0;
	return sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &start) == 1
		       ? start
		       : 0;
}

static bool errand_is_there(const struct fr_left *l)
{
	u64 pid = fr_load(&l->pid);

	if (!pid || pid > INT32_MAX)
		return false;
	waitpid(pid, NULL, WNOHANG); /* it may be a child of ours */
	return start_of(pid) == l->start && l->start;
}

u32 fr_errand_left_cnt(struct fr_left *left)
{
	u32 i, cnt = 0;

	for (i = 0; i < FR_LEFT_MAX; i++)
		cnt += errand_is_there(&left[i]);
	return cnt;
}

/* A place for one more runner, NULL: all are taken. */
static struct fr_left *free_place(struct fr_left *left)
{
	u32 i;

	for (i = 0; i < FR_LEFT_MAX; i++)
		if (!errand_is_there(&left[i]))
			return &left[i];
	return NULL;
}

/* ---- the asker ---- */

struct asking {
	const struct fr_errand *e;
	struct fr_left *left;
	u32 job, item; /* the next one */
	u32 step;
	bool begun;
	u64 until_ns, all_until_ns;
	pid_t pid;
	int fd;
	int how; /* the runner ended, as waitpid() tells */
	u8 *buf;
};

static u64 errand_key_of(const struct asking *a)
{
	const struct fr_errand_job *job = &a->e->job[a->job];

	return job->key ? job->key(job->arg, a->item) : 0;
}

static void errand_next(struct asking *a)
{
	a->item++;
	a->step = 0;
	a->begun = false;
	a->until_ns = fr_now_ns(CLOCK_MONOTONIC) + a->e->item_ns;
}

static void errand_miss(struct asking *a, enum fr_errand_why why)
{
	const struct fr_errand_job *job = &a->e->job[a->job];

	job->miss(job->arg, a->item, a->step, why);
	errand_next(a);
}

/* Is there an item to be done? Jobs without any more are left behind. */
static bool any_item(struct asking *a)
{
	for (; a->job < a->e->job_cnt; a->job++, a->item = 0)
		if (a->item < a->e->job[a->job].cnt(a->e->job[a->job].arg))
			return true;
	return false;
}

static void miss_rest(struct asking *a, enum fr_errand_why why)
{
	while (any_item(a))
		errand_miss(a, why);
}

/*
 * Read all sz bytes by until_ns. 0; -ETIME; or -EPIPE: the runner has ended. What is there is taken behind an item's time, too:
 * it may be the asker that did not get the CPU.
 */
static int read_by(const struct asking *a, void *to, u32 sz)
{
	u64 until_ns = a->until_ns < a->all_until_ns ? a->until_ns : a->all_until_ns, now_ns;
	struct pollfd p = {.fd = a->fd, .events = POLLIN};
	u8 *at = to;
	ssize_t n;

	while (sz) {
		now_ns = fr_now_ns(CLOCK_MONOTONIC);
		n = now_ns < a->all_until_ns ? poll(&p, 1, now_ns < until_ns ? (until_ns - now_ns) / FR_MSEC_NS + 1 : 0) : 0;
		if (!n && fr_now_ns(CLOCK_MONOTONIC) >= until_ns)
			return -ETIME;
		n = n > 0 ? read(a->fd, at, sz) : -1;
		if (!n)
			return -EPIPE;
		if (n < 0)
			continue; /* a signal, or nothing there after all */
		at += n;
		sz -= n;
	}
	return 0;
}

/* How far the runner is. */
static void take_state(struct asking *a, u32 kind)
{
	const struct fr_errand_job *job = &a->e->job[a->job];

	if (kind == MSG_BEGIN) {
		a->begun = true;
		a->until_ns = fr_now_ns(CLOCK_MONOTONIC) + a->e->item_ns;
	} else if (kind == MSG_END) {
		if (job->end)
			job->end(job->arg, a->item);
		errand_next(a);
	} else if (kind == MSG_FAILED || kind == MSG_DENIED) {
		errand_miss(a, kind == MSG_DENIED ? FR_ERRAND_DENIED : FR_ERRAND_FAILED);
	} else if (kind == MSG_NO_TIME || kind == MSG_WAITED) {
		errand_miss(a, kind == MSG_WAITED ? FR_ERRAND_WAITED : FR_ERRAND_TIME);
	}
}

static int errand_take_one(struct asking *a)
{
	const struct fr_errand_job *job;
	struct message m;
	int err = read_by(a, &m, sizeof(m));

	if (err)
		return err;
	if (m.sz > FR_ERRAND_TELL_MAX || m.job >= a->e->job_cnt)
		return -EPIPE;
	err = m.sz ? read_by(a, a->buf, m.sz) : 0;
	if (err)
		return err;
	if (!any_item(a) || m.job != a->job || m.item != a->item)
		return -EPIPE; /* it is not what it was */
	job = &a->e->job[a->job];
	if (m.kind < MSG_BEGIN)
		job->take(job->arg, a->item, m.kind, a->buf, m.sz);
	else if (m.kind == MSG_STEP && m.sz == sizeof(a->step))
		memcpy(&a->step, a->buf, sizeof(a->step));
	else
		take_state(a, m.kind);
	return 0;
}

/* Fork a runner for what is left. 0 or -errno. */
static int errand_begin(struct asking *a, struct fr_left *place)
{
	struct fr_errand_out out = {.job = a->job, .item = a->item};
	int pair[2], err = 0;
	u32 i;

	for (i = 0; i < FR_LEFT_MAX; i++)
		out.waited[i] = errand_is_there(&a->left[i]) ? a->left[i].key : 0;
	if (pipe2(pair, O_CLOEXEC))
		return -errno;
	fcntl(pair[1], F_SETPIPE_SZ, PIPE_SZ); /* so that a runner seldom waits */
	a->pid = fork();
	if (!a->pid)
		be_runner(a->e, &out, pair[1]);
	err = a->pid < 0 ? -errno : 0;
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	a->fd = pair[0];
	place->key = 0;
	place->start = start_of(a->pid);
	fr_store(&place->pid, a->pid);
	return 0;
}

/*
 * It has done its work, or has been waited for long enough: whether it has gone. One that is done has an item's time to end by
 * itself: a kill is an incident, in the session's log and in others'.
 */
static bool end_runner(struct asking *a, bool is_done)
{
	close(a->fd);
	a->how = 0;
	if (fr_child_wait_how(a->pid, is_done ? a->e->item_ns / FR_MSEC_NS : 0, &a->how))
		return true;
	kill(a->pid, SIGKILL); /* refused where the asker is confined: end_behind() */
	return fr_child_wait_how(a->pid, REAP_MS, &a->how);
}

/* A runner that is late ends itself (end_behind()), which an asker that did not get the CPU sees before its own limit. */
static bool errand_has_died(const struct asking *a)
{
	return !WIFSIGNALED(a->how) || WTERMSIG(a->how) != SIGALRM;
}

/* One runner: it does all, or until an item is missed. */
static void run_one(struct asking *a, struct fr_left *place)
{
	int err = 0;

	a->until_ns = fr_now_ns(CLOCK_MONOTONIC) + a->e->item_ns;
	while (any_item(a) && !err)
		err = errand_take_one(a);
	place->key = err ? errand_key_of(a) : 0;
	if (end_runner(a, !err))
		fr_store(&place->pid, 0);
	if (!err)
		return;
	if (fr_now_ns(CLOCK_MONOTONIC) >= a->all_until_ns)
		errand_miss(a, a->begun ? FR_ERRAND_LATE : FR_ERRAND_TIME);
	else
		errand_miss(a, err == -EPIPE && errand_has_died(a) ? FR_ERRAND_DIED : FR_ERRAND_LATE);
}

/* 0, or -errno: why no runner could be begun. */
static int run_all(struct asking *a)
{
	struct fr_left *place;
	int err = 0;

	a->all_until_ns = fr_now_ns(CLOCK_MONOTONIC) + a->e->all_ns;
	while (any_item(a)) {
		place = free_place(a->left);
		if (!place)
			miss_rest(a, FR_ERRAND_LEFT);
		else if (fr_now_ns(CLOCK_MONOTONIC) >= a->all_until_ns)
			miss_rest(a, FR_ERRAND_TIME);
		else if ((err = errand_begin(a, place)))
			miss_rest(a, FR_ERRAND_FORK);
		else
			run_one(a, place);
	}
	return err;
}

int fr_errand_run(const struct fr_errand *e)
{
	struct fr_left own[FR_LEFT_MAX] = {};
	struct asking a = {.e = e, .left = e->left ?: own, .buf = malloc(FR_ERRAND_TELL_MAX)};
	int err = -ENOMEM;

	if (a.buf)
		err = run_all(&a);
	else
		miss_rest(&a, FR_ERRAND_FORK);
	free(a.buf);
	return err;
}
