/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "show/report/report.h"
#include "sys/fd.h"

/* In a process of its own: an error number, and the verdict. Whoever makes the page says what is wrong with the file. */
static void page_tell(const struct fr_export_ask *ask, int fd)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), err;
	char *json = NULL;

	if (null >= 0)
		dup2(null, STDERR_FILENO);
	err = fr_report_verdict(ask->file[0], ask->no_symbols ? NULL : &ask->symbols, &json);
	if (!fr_write_all(fd, &err, sizeof(err)) && !err)
		fr_write_all(fd, json, strlen(json) + 1);
	_exit(0);
}

/* A text that came whole, malloc'ed; NULL and *err. */
static char *page_hear(int fd, int *err)
{
	FILE *f = fdopen(fd, "r");
	char *text = NULL;
	size_t room = 0;
	ssize_t len;

	if (!f) {
		*err = -ENOMEM;
		close(fd);
		return NULL;
	}
	if (fread(err, sizeof(*err), 1, f) != 1)
		*err = -EPROTO;
	len = *err ? -1 : getdelim(&text, &room, 0, f);
	if (!*err && (len <= 0 || text[len - 1]))
		*err = errno == ENOMEM ? -ENOMEM : -EPROTO;
	fclose(f);
	if (!*err)
		return text;
	free(text);
	return NULL;
}

/*
 * What `report` says of the file. It takes as much memory as a report, before the page takes its own: in another process,
 * since what is freed stays with who had it. Standard input cannot be read twice.
 */
static char *page_verdict(const struct fr_export_ask *ask, int *err)
{
	int fd[2];
	char *text;
	pid_t pid;

	if (!strcmp(ask->file[0], "-"))
		return NULL;
	if (pipe2(fd, O_CLOEXEC)) {
		*err = -errno;
		return NULL;
	}
	pid = fork();
	if (!pid)
		page_tell(ask, fd[1]);
	*err = pid < 0 ? -errno : 0;
	close(fd[1]);
	if (pid < 0) {
		close(fd[0]);
		return NULL;
	}
	text = page_hear(fd[0], err);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return text;
}

int fr_page(struct fr_export_ask *ask)
{
	char *verdict = page_verdict(ask, &ask->verdict_err);
	int status;

	if (ask->verdict_err == -EPROTO) {
		fr_err("the verdict was not found: its process ended too early, as one does that is killed for want of memory: "
		       "give less by --memory");
		return FR_EXIT_FAIL;
	}
	ask->verdict = verdict;
	status = fr_export(ask);
	ask->verdict = NULL;
	free(verdict);
	return status;
}
