/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the recorder prints goes through a socket: its processes have it for as long as they live, and who reads the
 * command's output, as a shell's $(...) does, waits until nobody has that any more. Writing to the socket neither waits nor
 * raises SIGPIPE when the command is gone (sys/stdfd.h).
 *
 *	command (parent)				recorder (child)
 *	standard error <--- copies <--- said[0] ======= said[1]: descriptors 1 and 2
 *	returns <---------------------- ready[0] ====== ready[1]: a byte, when triggers are armed
 *	its exit status <-------------- pidfd: it has ended before
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "live/recorder/background.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

static volatile pid_t background_pid;

struct background {
	int said[2], ready[2], ended;
};

/* ---- the command ---- */

static void background_pass_on(int sig)
{
	if (background_pid > 0)
		kill(background_pid, sig);
}

static void background_copy(int said)
{
	char text[4096];
	ssize_t sz;

	while ((sz = recv(said, text, sizeof(text), MSG_DONTWAIT)) > 0)
		if (write(STDERR_FILENO, text, sz) < 0)
			return;
}

/* Wait until it is ready, or has ended. */
static bool background_is_ready(const struct background *b)
{
	struct pollfd fds[] = {{.fd = b->said[0], .events = POLLIN},
			       {.fd = b->ready[0], .events = POLLIN},
			       {.fd = b->ended, .events = POLLIN}};

	for (;;) {
		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			return false;
		background_copy(b->said[0]); /* what it said comes before that it is ready */
		if (fds[1].revents & POLLIN)
			return true;
		if (fds[2].revents)
			return false;
		if (fds[0].revents & POLLHUP)
			fds[0].fd = -1;
	}
}

static int background_status(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return FR_EXIT_FAIL;
	return WIFEXITED(status) ? WEXITSTATUS(status) : FR_EXIT_FAIL;
}

static int background_attend(struct background *b, const sigset_t *was)
{
	const struct sigaction pass_on = {.sa_handler = background_pass_on};

	close(b->said[1]);
	close(b->ready[1]);
	b->ended = syscall(SYS_pidfd_open, background_pid, 0);
	if (b->ended < 0) {
		fr_err_errno(-errno, "cannot watch the recorder in the background");
		kill(background_pid, SIGTERM);
		return background_status(background_pid);
	}
	sigaction(SIGINT, &pass_on, NULL);
	sigaction(SIGTERM, &pass_on, NULL);
	sigaction(SIGHUP, &pass_on, NULL);
	sigprocmask(SIG_SETMASK, was, NULL);
	return background_is_ready(b) ? FR_EXIT_OK : background_status(background_pid);
}

/* ---- the recorder ---- */

static void background_leave(struct background *b, int *ready)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct stat st;

	close(b->said[0]);
	close(b->ready[0]);
	dup2(null, STDIN_FILENO);
	dup2(b->said[1], STDOUT_FILENO);
	if (fstat(STDERR_FILENO, &st) || !S_ISREG(st.st_mode))
		dup2(b->said[1], STDERR_FILENO);
	close(b->said[1]);
	close(null);
	setsid();
	if (chdir("/"))
		fr_warn_errno(-errno, "the recorder keeps its working directory");
	*ready = b->ready[1];
}

int fr_background_begin(int *ready)
{
	struct background b;
	sigset_t ends, was;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	fflush(NULL);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, b.said) || pipe2(b.ready, O_CLOEXEC)) {
		fr_err_errno(-errno, "cannot begin a recorder in the background");
		return FR_EXIT_FAIL;
	}
	sigprocmask(SIG_BLOCK, &ends, &was); /* until they are passed on */
	background_pid = fork();
	if (background_pid < 0) {
		fr_err_errno(-errno, "cannot begin a recorder in the background");
		return FR_EXIT_FAIL;
	}
	if (background_pid)
		return background_attend(&b, &was);
	sigprocmask(SIG_SETMASK, &was, NULL);
	background_leave(&b, ready);
	return -1;
}

/* Hooks have these descriptors, too: writing to a socket that nobody has any more would end them. */
static void background_silence(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd;
	struct stat st;

	for (fd = STDOUT_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &st) && S_ISSOCK(st.st_mode))
			dup2(null, fd);
	if (null >= 0)
		close(null);
}

void fr_background_ready(int ready)
{
	const char byte = 0;

	background_silence();
	if (write(ready, &byte, 1) < 0)
		fr_warn_errno(-errno, "the command that began this recorder is gone");
	close(ready);
}
