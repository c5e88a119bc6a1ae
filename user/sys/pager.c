/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/out.h"

#define PIPE_SZ	 65536u /* what a pipe holds (pipe(7)) */
#define KEPT_SZ	 (4 * PIPE_SZ)
#define WORD_MAX 32

static pid_t relay_pid;
static int stderr_fd = -1; /* the terminal, while standard error is the pipe */

/* ---- the relay: a process of its own ---- */

/* The last of what the pager was given. */
struct kept {
	size_t len;
	char text[KEPT_SZ];
};

static void pager_keep(struct kept *k, const char *text, size_t sz)
{
	size_t drop = k->len + sz > KEPT_SZ ? k->len + sz - KEPT_SZ : 0;

	memmove(k->text, k->text + drop, k->len - drop);
	memcpy(k->text + k->len - drop, text, sz);
	k->len += sz - drop;
}

static bool write_whole(int fd, const char *text, size_t sz)
{
	while (sz) {
		ssize_t n = write(fd, text, sz);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text += n;
		sz -= n;
	}
	return true;
}

/* As git does: words are a program and its arguments; all else is the shell's. */
static void run_pager(const char *command, int in, int failed_fd)
{
	char *word[WORD_MAX + 1] = {"sh", "-c", strdup(command)}, *save = NULL;
	int cnt = 0, err;

	dup2(in, STDIN_FILENO);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	if (word[2] && !strpbrk(command, "|&;<>()$`\\\"'*?[#~=%")) {
		for (word[0] = strtok_r(word[2], " \t", &save); word[cnt] && cnt < WORD_MAX;)
			word[++cnt] = strtok_r(NULL, " \t", &save);
		word[cnt] = NULL;
	}
	if (word[0])
		execvp(word[0], word);
	err = errno;
	write_whole(failed_fd, (const char *)&err, sizeof(err));
	_exit(127);
}

/* Begin the pager: its process, and where to write to; 0: it cannot run. */
static pid_t begin_pager(const char *command, int *to)
{
	int out[2], failed[2], err;
	ssize_t n;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		return 0;
	pid = fork();
	if (!pid)
		run_pager(command, out[0], failed[1]);
	close(out[0]);
	close(failed[1]);
	n = pid > 0 ? read(failed[0], &err, sizeof(err)) : 0;
	close(failed[0]);
	*to = out[1];
	if (pid > 0 && n != sizeof(err))
		return pid;
	dprintf(STDERR_FILENO, "flightrec: warning: cannot run the pager '%s': %s: set PAGER, or give --no-pager\n", command,
		strerror(pid > 0 ? err : EAGAIN));
	return 0;
}

static bool ended_well(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void relay(const char *command, int in)
{
	static struct kept kept;
	static char buf[PIPE_SZ];
	bool alive, well;
	ssize_t n = 0;
	pid_t pid;
	int to = -1;

	/* the pager knows what a key means; the command ends by itself, and then this */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	pid = begin_pager(command, &to);
	for (alive = pid > 0; alive && (n = read(in, buf, sizeof(buf))) > 0;) {
		pager_keep(&kept, buf, n);
		alive = write_whole(to, buf, n);
	}
	close(to);
	well = pid > 0 && ended_well(pid);
	if (!well)
		write_whole(STDOUT_FILENO, kept.text, kept.len);
	while (!well && (n = read(in, buf, sizeof(buf))) > 0 && write_whole(STDOUT_FILENO, buf, n))
		;
	_exit(0);
}

/* ---- the command ---- */

/* Only what a signal handler may do. The pager's end is the command's. */
static void end_pager(void)
{
	int status;

	if (!relay_pid)
		return;
	close(STDOUT_FILENO);
	if (stderr_fd >= 0)
		dup2(stderr_fd, STDERR_FILENO);
	while (waitpid(relay_pid, &status, 0) < 0 && errno == EINTR)
		;
	relay_pid = 0;
}

static void end_by_signal(int sig)
{
	end_pager();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void end_at_exit(void)
{
	fflush(stdout);
	end_pager();
}

static const char *find_pager(void)
{
	const char *term = getenv("TERM"), *pager = getenv("FLIGHTREC_PAGER");

	if (!isatty(STDOUT_FILENO) || !term || !strcmp(term, "dumb"))
		return NULL;
	pager = pager ?: getenv("PAGER") ?: "less";
	return *pager && strcmp(pager, "cat") ? pager : NULL;
}

/* Behind a pipe nobody can ask the terminal. */
static void keep_width(void)
{
	struct winsize size = {0};
	char text[16];

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return;
	snprintf(text, sizeof(text), "%u", size.ws_col);
	setenv("COLUMNS", text, 0);
}

void fr_pager_begin(void)
{
	const char *pager = find_pager();
	int p[2];

	if (!pager || relay_pid || pipe2(p, O_CLOEXEC))
		return;
	keep_width();
	fr_out_keep_color();
	fflush(stdout);
	relay_pid = fork();
	if (!relay_pid) {
		close(p[1]);
		relay(pager, p[0]);
	}
	close(p[0]);
	if (relay_pid > 0) {
		dup2(p[1], STDOUT_FILENO);
		if (isatty(STDERR_FILENO)) {
			stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
			dup2(p[1], STDERR_FILENO);
		}
		signal(SIGINT, end_by_signal);
		signal(SIGTERM, end_by_signal);
		atexit(end_at_exit);
	} else {
		relay_pid = 0;
	}
	close(p[1]);
}
