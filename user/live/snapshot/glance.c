/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* glance: see glance.h. The child has nothing that others could wait for, so it may be killed at any time. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "live/snapshot/glance.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/snapshot/dump.h"

#define WHY_SZ 1024u
#define PREFIX "flightrec: "

struct fr_glance {
	pid_t pid;
	int file;
	int said; /* what the child says: a file in memory, which it can always write on without anybody reading it */
	int end;  /* its pidfd */
};

/* ---- the child ---- */

static void glance_child(struct fr_sess *s, u64 last_ns, int file, int say, pid_t parent)
{
	const struct fr_dump_ask ask = {.glance = true, .to_fd = file, .last_ns = last_ns, .reason = ""};
	struct fr_dump_done *done = malloc(sizeof(*done));
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !done)
		_exit(1);
	dup2(null, STDIN_FILENO); /* keys are the parent's */
	dup2(null, STDOUT_FILENO);
	dup2(say, STDERR_FILENO);
	_exit(fr_dump_glance(s, &ask, done) != 0);
}

/* ---- the parent ---- */

static int glance_start(struct fr_glance *g, struct fr_sess *s, u64 last_ns)
{
	pid_t parent = getpid();

	g->file = memfd_create("flightrec-glance", MFD_CLOEXEC);
	g->said = g->file < 0 ? -1 : memfd_create("flightrec-glance-says", MFD_CLOEXEC);
	if (g->said < 0)
		return -errno;
	g->pid = fork();
	if (!g->pid)
		glance_child(s, last_ns, g->file, g->said, parent);
	if (g->pid < 0)
		return -errno;
	g->end = (int)syscall(SYS_pidfd_open, g->pid, 0);
	return g->end < 0 ? -errno : 0;
}

static int glance_reap(const struct fr_glance *g)
{
	int status = 0;

	while (waitpid(g->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void glance_free(struct fr_glance *g)
{
	if (g->file >= 0)
		close(g->file);
	if (g->said >= 0)
		close(g->said);
	if (g->end >= 0)
		close(g->end);
	free(g);
}

int fr_glance_begin(struct fr_sess *s, u64 last_ns, struct fr_glance **out)
{
	struct fr_glance *g = malloc(sizeof(*g));
	int err;

	if (!g)
		return -ENOMEM;
	*g = (struct fr_glance){.pid = -1, .file = -1, .said = -1, .end = -1};
	err = glance_start(g, s, last_ns);
	if (err)
		fr_glance_drop(g);
	else
		*out = g;
	return err;
}

int fr_glance_fd(const struct fr_glance *g)
{
	return g->end;
}

/* Its last line, without its prefix: warnings and steps come before what they led to. */
static void glance_hear(const struct fr_glance *g, char *why, size_t sz)
{
	off_t end = lseek(g->said, 0, SEEK_END);
	char text[WHY_SZ], *line;
	ssize_t len;

	len = pread(g->said, text, sizeof(text) - 1, end >= (off_t)sizeof(text) ? end - (off_t)sizeof(text) + 1 : 0);
	len = len > 0 && text[len - 1] == '\n' ? len - 1 : len > 0 ? len : 0;
	text[len] = 0;
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	snprintf(why, sz, "%s", strncmp(line, PREFIX, strlen(PREFIX)) ? line : line + strlen(PREFIX));
}

int fr_glance_take(struct fr_glance *g, int *fd, char *why, size_t sz)
{
	int status = glance_reap(g), err;

	glance_hear(g, why, sz);
	err = !WIFEXITED(status) ? -ECANCELED : WEXITSTATUS(status) ? -EIO : 0;
	if (!err) {
		*fd = g->file;
		g->file = -1;
	} else if (!*why || !WIFEXITED(status)) {
		snprintf(why, sz, "the process that looks at the session was ended");
	}
	glance_free(g);
	return err;
}

void fr_glance_drop(struct fr_glance *g)
{
	if (!g)
		return;
	if (g->pid > 0) {
		kill(g->pid, SIGKILL);
		glance_reap(g);
	}
	glance_free(g);
}
