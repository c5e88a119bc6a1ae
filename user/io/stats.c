/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/stats.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "types.h"

#ifdef __aarch64__
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#define OUR_ARCH AUDIT_ARCH_X86_64
#endif

#define SOCKET 3 /* the helper's only file */

struct fr_stats {
	int fd;
	pid_t pid;
};

static int enable(void)
{
	union bpf_attr attr = {.enable_stats.type = BPF_STATS_RUN_TIME};

	return syscall(SYS_bpf, BPF_ENABLE_STATS, &attr, sizeof(attr));
}

/* ---- messages: one byte of data, and an fd or none ---- */

union fd_room {
	struct cmsghdr head;
	char buf[CMSG_SPACE(sizeof(int))];
};

/* Send the errno of what was done, 0: and fd. */
static void answer(int fd, int err)
{
	union fd_room room = {};
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

#define ALLOW(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Receive, send, close, end; of bpf() only what it is for. */
static int forbid_the_rest(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_recvfrom),
		ALLOW(SYS_sendmsg),
		ALLOW(SYS_close),
		ALLOW(SYS_exit_group),
		ALLOW(SYS_rt_sigreturn),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		ALLOW(BPF_ENABLE_STATS),
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

static void serve(void)
{
	char ask;
	int fd;

	while (recv(SOCKET, &ask, 1, 0) == 1) {
		fd = enable();
		answer(fd, fd < 0 ? errno : 0);
		if (fd >= 0)
			close(fd);
	}
}

/* Nothing of the recorder's stays open in it: its locks would outlive it. */
static void be_helper(int fd)
{
	sigset_t all;

	if (dup2(fd, SOCKET) != SOCKET || close_range(SOCKET + 1, ~0u, 0))
		_exit(1);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* a terminal's interrupt is the recorder's to understand */
	close(0);
	close(1);
	close(2);
	prctl(PR_SET_NAME, "flightrec-stats");
	if (!keep_one_capability() && !forbid_the_rest())
		serve();
	_exit(0);
}

/* ---- its maker ---- */

int fr_stats_start(struct fr_stats **out)
{
	struct fr_stats *st = calloc(1, sizeof(*st));
	int pair[2], fd;

	if (!st)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		fd = -errno;
		free(st);
		return fd;
	}
	st->pid = fork();
	if (!st->pid)
		be_helper(pair[1]);
	close(pair[1]);
	st->fd = pair[0];
	fd = st->pid < 0 ? -errno : fr_stats_on(st);
	if (fd < 0) {
		fr_stats_stop(st);
		return fd;
	}
	close(fd);
	*out = st;
	return 0;
}

void fr_stats_stop(struct fr_stats *st)
{
	if (!st)
		return;
	close(st->fd);
	if (st->pid > 0)
		waitpid(st->pid, NULL, 0);
	free(st);
}

int fr_stats_on(struct fr_stats *st)
{
	union fd_room room = {};
	int err, fd = -1;
	struct iovec data = {&err, sizeof(err)};
	struct msghdr msg = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room.buf, .msg_controllen = sizeof(room.buf)};
	struct cmsghdr *c;

	if (send(st->fd, "", 1, MSG_NOSIGNAL) != 1)
		return -errno;
	if (recvmsg(st->fd, &msg, MSG_CMSG_CLOEXEC) != sizeof(err))
		return -EPIPE;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (fd < 0)
		return err > 0 ? -err : -EPROTO;
	return fd;
}
