/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flow/recorder/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pure/err.h"

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

/* The child reports here why it could not become the command; success closes the pipe. */
static pid_t spawn(char **argv, const sigset_t *mask, int *exec_errno)
{
	int p[2], e = 0;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		signal(SIGXFSZ, SIG_DFL); /* both ignored by us alone, see main() */
		signal(SIGPIPE, SIG_DFL);
		execvp(argv[0], argv);
		e = errno;
		if (write(p[1], &e, sizeof(e)) != sizeof(e))
			_exit(126);
		_exit(e == ENOENT ? 127 : 126);
	}
	close(p[1]);
	if (pid > 0 && read(p[0], &e, sizeof(e)) == sizeof(e))
		*exec_errno = e;
	close(p[0]);
	return pid;
}

int fr_command_start(struct fr_command *c, char **argv, const sigset_t *mask)
{
	int exec_errno = 0;

	c->pid = spawn(argv, mask, &exec_errno);
	if (c->pid < 0) {
		fr_err_errno(-errno, "cannot start %s", argv[0]);
		return FR_EXIT_FAIL;
	}
	if (exec_errno) {
		fr_err("cannot run %s: %s", argv[0], strerror(exec_errno));
		waitpid(c->pid, NULL, 0);
		c->pid = -1;
		return exec_errno == ENOENT ? 127 : 126;
	}
	return 0;
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
