/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/admin.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/text/units.h"
#include "live/ring/percpu.h"
#include "sys/child.h"
#include "sys/patience.h"

#ifdef __aarch64__
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#define OUR_ARCH AUDIT_ARCH_X86_64
#endif

#define SOCKET 3 /* the helper's only open file */

/* What is asked takes microseconds. The recorder's loop stands still meanwhile. */
#define ANSWER_NS (2 * FR_SEC_NS)
#define END_MS	  1000

struct fr_admin {
	int fd; /* -1: it did not answer */
	pid_t pid;
};

struct request {
	enum { STATS, EVENT } what;
	enum fr_sample_event event;
	u32 cpu, hz;
};

static int enable(void)
{
	union bpf_attr attr = {.enable_stats.type = BPF_STATS_RUN_TIME};

	int fd = syscall(SYS_bpf, BPF_ENABLE_STATS, &attr, sizeof(attr));

	return fd < 0 ? -errno : fd;
}

/* ---- messages: a request; an errno, with or without an fd ---- */

union fd_room {
	struct cmsghdr head;
	char buf[CMSG_SPACE(sizeof(int))];
};

/* Send fd, or -errno. */
static void answer(int fd)
{
	union fd_room room = {};
	int err = fd < 0 ? -fd : 0;
	struct iovec data = {&err, sizeof(err)};
	struct msghdr msg = {.msg_iov = &data, .msg_iovlen = 1};

	if (fd >= 0) {
		room.head = (struct cmsghdr){CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(&room.head), &fd, sizeof(fd));
		msg.msg_control = room.buf;
		msg.msg_controllen = sizeof(room.buf);
	}
	if (sendmsg(SOCKET, &msg, MSG_NOSIGNAL) < 0)
		_exit(1);
}

/* ---- the helper ---- */

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* Two instructions. */
#define ALLOW(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Skip this many instructions unless the value matches. */
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (u32)(value), 0, (skip))

/*
 * Allow receive, send, close, exit, and bpf() and perf_event_open() only for their purpose: events of a CPU, not of a task or
 * group.
 */
static int forbid_the_rest(void)
{
	struct sock_filter code[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		ALLOW(SYS_recvfrom),
		ALLOW(SYS_sendmsg),
		ALLOW(SYS_close),
		ALLOW(SYS_exit_group),
		ALLOW(SYS_rt_sigreturn),
		UNLESS(SYS_bpf, 4),
		LOAD(args[0]),
		ALLOW(BPF_ENABLE_STATS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		UNLESS(SYS_perf_event_open, 7),
		LOAD(args[1]),
		UNLESS(-1, 5),
		LOAD(args[3]),
		UNLESS(-1, 3),
		LOAD(args[4]),
		ALLOW(PERF_FLAG_FD_CLOEXEC),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog prog = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) ? -errno : 0;
}

static int keep_one_capability(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {};

	data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective = CAP_TO_MASK(CAP_SYS_ADMIN);
	data[CAP_TO_INDEX(CAP_SYS_ADMIN)].permitted = CAP_TO_MASK(CAP_SYS_ADMIN);
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

static void admin_serve(void)
{
	struct request ask;
	int fd;

	while (recv(SOCKET, &ask, sizeof(ask), 0) == sizeof(ask)) {
		fd = ask.what == STATS ? enable() : fr_percpu_open_event(ask.event, ask.cpu, ask.hz);
		answer(fd);
		if (fd >= 0)
			close(fd);
	}
}

/* None of the recorder's files stays open in the helper: their locks would outlive it. */
static void be_helper(int fd)
{
	sigset_t all;

	if (dup2(fd, SOCKET) != SOCKET || close_range(SOCKET + 1, ~0u, 0))
		_exit(1);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* the recorder handles interrupts from the terminal */
	close(0);
	close(1);
	close(2);
	prctl(PR_SET_NAME, "flightrec-admin");
	if (!keep_one_capability() && !forbid_the_rest())
		admin_serve();
	_exit(0);
}

/* ---- the recorder's side ---- */

int fr_admin_start(struct fr_admin **out)
{
	const u64 limit_us = fr_patience_ns(ANSWER_NS) / 1000;
	const struct timeval limit = {.tv_sec = limit_us / 1000000, .tv_usec = limit_us % 1000000};
	struct fr_admin *a = calloc(1, sizeof(*a));
	int pair[2], err = 0;

	if (!a)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		err = -errno;
		free(a);
		return err;
	}
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	a->pid = fork();
	if (!a->pid)
		be_helper(pair[1]);
	err = a->pid < 0 ? -errno : 0;
	close(pair[1]);
	a->fd = pair[0];
	if (err)
		fr_admin_stop(a);
	else
		*out = a;
	return err;
}

void fr_admin_stop(struct fr_admin *a)
{
	if (!a)
		return;
	if (a->fd >= 0)
		close(a->fd);
	if (a->pid > 0)
		fr_child_end(a->pid, END_MS);
	free(a);
}

void fr_admin_reap(struct fr_admin *a)
{
	if (a && a->pid > 0 && fr_child_wait(a->pid, 0))
		a->pid = -1;
}

static int admin_receive(const struct fr_admin *a)
{
	union fd_room room = {};
	int err, fd = -1;
	struct iovec data = {&err, sizeof(err)};
	struct msghdr msg = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room.buf, .msg_controllen = sizeof(room.buf)};
	struct cmsghdr *c;
	ssize_t got;

	got = recvmsg(a->fd, &msg, MSG_CMSG_CLOEXEC);
	if (got != sizeof(err))
		return got < 0 && errno == EAGAIN ? -ETIMEDOUT : -EPIPE;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (fd < 0)
		return err > 0 ? -err : -EPROTO;
	return fd;
}

/* One that is stopped is not asked again: its late answer would be taken for that to the next request. */
static int admin_give_up(struct fr_admin *a)
{
	close(a->fd);
	a->fd = -1;
	if (fr_child_end(a->pid, 0))
		a->pid = -1;
	return -ETIMEDOUT;
}

static int admin_ask_for(struct fr_admin *a, const struct request *ask)
{
	int err;

	if (a->fd < 0)
		return -EPIPE;
	if (send(a->fd, ask, sizeof(*ask), MSG_NOSIGNAL) != sizeof(*ask))
		return -errno;
	err = admin_receive(a);
	return err == -ETIMEDOUT ? admin_give_up(a) : err;
}

int fr_admin_stats_on(struct fr_admin *a)
{
	return admin_ask_for(a, &(struct request){.what = STATS});
}

int fr_admin_open_event(struct fr_admin *a, enum fr_sample_event ev, u32 cpu, u32 hz)
{
	return admin_ask_for(a, &(struct request){.what = EVENT, .event = ev, .cpu = cpu, .hz = hz});
}
