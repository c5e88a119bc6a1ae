/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/child.h"
#include "sys/fd.h"
#include "types.h"

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

/* In single quotes, unless it stands for itself; a single quote as '\''. */
static void show_word(FILE *f, const char *word)
{
	bool quoted = !*word || word[strspn(word, plain)];

	if (quoted)
		putc('\'', f);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			putc(*word, f);
	if (quoted)
		putc('\'', f);
}

void fr_command_show(char *const *argv, char *buf, size_t sz)
{
	FILE *f = fmemopen(buf, sz, "w");

	buf[0] = 0;
	if (!f)
		return;
	for (; *argv; argv++) {
		show_word(f, *argv);
		if (argv[1])
			putc(' ', f);
	}
	fclose(f);
	buf[sz - 1] = 0;
}

/* 0, or -errno of what execve() would fail with, as far as can be told beforehand. */
static int command_look_in(const char *dir, int len, const char *name)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%.*s/%s", len, dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return access(path, X_OK) ? -errno : 0;
}

/* In the directories where execvp() looks. */
static int command_look_for(const char *name)
{
	const char *dir = getenv("PATH") ?: "/bin:/usr/bin", *end;
	bool denied = false;
	int err;

	if (strchr(name, '/'))
		return access(name, X_OK) ? -errno : 0;
	for (; dir; dir = *end ? end + 1 : NULL) {
		end = strchrnul(dir, ':');
		err = end == dir ? command_look_in(".", 1, name) : command_look_in(dir, end - dir, name);
		if (!err)
			return 0;
		denied |= err == -EACCES;
	}
	return denied ? -EACCES : -ENOENT;
}

static int cannot_run(const char *name, int exec_errno)
{
	fr_err("cannot run %s: %s", name, strerror(exec_errno));
	return exec_errno == ENOENT ? 127 : 126;
}

int fr_command_check(char *const *argv)
{
	int err = command_look_for(argv[0]);

	return err ? cannot_run(argv[0], -err) : 0;
}

/* A signalfd for what tells us to end: blocked, it stays unseen otherwise. -1: none. */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/*
 * Waits until the child closes its end of the pipe, by becoming the command or by ending, or has put an errno into it. On a
 * disk that does not answer this takes as long as it takes: so a signal that tells us to end is returned. 0: none came.
 */
static int command_hear(int fd, int *exec_errno)
{
	struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = open_signals(), .events = POLLIN}};
	struct signalfd_siginfo si = {};

	while (poll(p, 2, -1) < 0 && errno == EINTR)
		;
	if (p[0].revents && read(fd, exec_errno, sizeof(*exec_errno)) < 0)
		*exec_errno = errno;
	if (!p[0].revents && read(p[1].fd, &si, sizeof(si)) < 0)
		si.ssi_signo = SIGTERM;
	if (p[1].fd >= 0)
		close(p[1].fd);
	return si.ssi_signo;
}

/*
 * What the child does: it waits for its turn, and becomes the command. It reports why it could not; success closes the pipe. If
 * we die before its turn, so does it.
 */
static void command_become(char **argv, const sigset_t *mask, int turn_fd, int said_fd, pid_t parent)
{
	u64 turn;
	int e;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent || read(turn_fd, &turn, sizeof(turn)) != sizeof(turn) ||
	    prctl(PR_SET_PDEATHSIG, 0))
		_exit(126);
	sigprocmask(SIG_SETMASK, mask, NULL);
	signal(SIGXFSZ, SIG_DFL); /* both ignored by us alone, see main() */
	signal(SIGPIPE, SIG_DFL);
	fr_fd_restore_limit();
	execvp(argv[0], argv);
	e = errno;
	if (write(said_fd, &e, sizeof(e)) != sizeof(e))
		_exit(126);
	_exit(e == ENOENT ? 127 : 126);
}

static void command_close(struct fr_command *c)
{
	if (c->turn_fd >= 0)
		close(c->turn_fd);
	if (c->said_fd >= 0)
		close(c->said_fd);
	c->turn_fd = c->said_fd = -1;
}

int fr_command_fork(struct fr_command *c, char **argv, const sigset_t *mask)
{
	const pid_t parent = getpid();
	int p[2] = {-1, -1};

	c->argv = argv;
	c->turn_fd = eventfd(0, EFD_CLOEXEC);
	c->pid = c->turn_fd < 0 || pipe2(p, O_CLOEXEC) ? -1 : fork();
	if (!c->pid)
		command_become(argv, mask, c->turn_fd, p[1], parent);
	if (c->pid < 0)
		fr_err_errno(-errno, "cannot start %s", argv[0]);
	c->said_fd = p[0];
	if (p[1] >= 0)
		close(p[1]);
	if (c->pid < 0)
		command_close(c);
	return c->pid < 0 ? FR_EXIT_FAIL : 0;
}

void fr_command_drop(struct fr_command *c)
{
	if (c->pid >= 0)
		fr_child_end(c->pid, 0);
	c->pid = -1;
	command_close(c);
}

int fr_command_start(struct fr_command *c)
{
	int exec_errno = 0, sig = 0;
	const u64 turn = 1;

	if (write(c->turn_fd, &turn, sizeof(turn)) != sizeof(turn))
		exec_errno = errno;
	else
		sig = command_hear(c->said_fd, &exec_errno);
	if (!sig && !exec_errno) {
		command_close(c);
		return 0;
	}
	fr_command_drop(c);
	if (!sig)
		return cannot_run(c->argv[0], exec_errno);
	fr_err("told to end before %s began", c->argv[0]);
	return 128 + sig;
}

bool fr_command_ended(struct fr_command *c)
{
	int status;

	if (c->pid < 0 || waitpid(c->pid, &status, WNOHANG) != c->pid)
		return false;
	c->sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	c->status = c->sig ? 128 + c->sig : WEXITSTATUS(status);
	return true;
}
