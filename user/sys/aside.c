/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sys/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WHY_SZ 1024u
#define PREFIX "flightrec: "

struct fr_aside {
	pid_t pid;
	int file;
	int said; /* what the child says: a file in memory, which it can always write on without anybody reading it */
	int end;  /* of a pipe that nobody writes into: the child has its other end until it ends */
};

/* ---- the child ---- */

/* Keys are the parent's; a file is whoever's opens it, by its name /dev/stdin, too. */
static bool aside_keeps_stdin(void)
{
	struct stat st;

	return !fstat(STDIN_FILENO, &st) && (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode));
}

static void aside_child(const struct fr_aside *a, int (*work)(void *arg, int file), void *arg, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || null < 0)
		_exit(1);
	if (!aside_keeps_stdin())
		dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(a->said, STDERR_FILENO);
	_exit(work(arg, a->file) != 0);
}

/* ---- the parent ---- */

static int aside_start(struct fr_aside *a, int (*work)(void *arg, int file), void *arg)
{
	pid_t parent = getpid();
	int end[2];

	a->file = memfd_create("flightrec-aside", MFD_CLOEXEC);
	a->said = a->file < 0 ? -1 : memfd_create("flightrec-aside-says", MFD_CLOEXEC);
	if (a->said < 0 || pipe2(end, O_CLOEXEC))
		return -errno;
	a->end = end[0];
	a->pid = fork();
	if (!a->pid)
		aside_child(a, work, arg, parent);
	close(end[1]);
	return a->pid < 0 ? -errno : 0;
}

static int aside_reap(const struct fr_aside *a)
{
	int status = 0;

	while (waitpid(a->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void aside_free(struct fr_aside *a)
{
	if (a->file >= 0)
		close(a->file);
	if (a->said >= 0)
		close(a->said);
	if (a->end >= 0)
		close(a->end);
	free(a);
}

int fr_aside_begin(int (*work)(void *arg, int file), void *arg, struct fr_aside **out)
{
	struct fr_aside *a = malloc(sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	*a = (struct fr_aside){.pid = -1, .file = -1, .said = -1, .end = -1};
	err = aside_start(a, work, arg);
	if (err)
		fr_aside_drop(a);
	else
		*out = a;
	return err;
}

int fr_aside_fd(const struct fr_aside *a)
{
	return a->end;
}

/* Its last line, without its prefix: warnings and steps come before what they led to. */
static void aside_hear(const struct fr_aside *a, char *why, size_t sz)
{
	off_t end = lseek(a->said, 0, SEEK_END);
	char text[WHY_SZ], *line;
	ssize_t len;

	len = pread(a->said, text, sizeof(text) - 1, end >= (off_t)sizeof(text) ? end - (off_t)sizeof(text) + 1 : 0);
	len = len > 0 && text[len - 1] == '\n' ? len - 1 : len > 0 ? len : 0;
	text[len] = 0;
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	snprintf(why, sz, "%s", strncmp(line, PREFIX, strlen(PREFIX)) ? line : line + strlen(PREFIX));
}

int fr_aside_take(struct fr_aside *a, int *fd, char *why, size_t sz)
{
	int status = aside_reap(a), err;

	aside_hear(a, why, sz);
	err = !WIFEXITED(status) ? -ECANCELED : WEXITSTATUS(status) ? -EIO : 0;
	if (!err) {
		*fd = a->file;
		a->file = -1;
	}
	aside_free(a);
	return err;
}

void fr_aside_drop(struct fr_aside *a)
{
	if (!a)
		return;
	if (a->pid > 0) {
		kill(a->pid, SIGKILL);
		aside_reap(a);
	}
	aside_free(a);
}
