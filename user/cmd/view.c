/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/exportopts.h"
#include "cmd/memopts.h"
#include "show/report/report.h"
#include "sys/fd.h"

static const struct fr_option table[] = {
	FR_OPTION('o', "output", "FILE", "the page (default: the snapshot's name and .html)", fr_exportopts_output, 0,
		  .words = "@file"),
	FR_OPTION_GROUP(fr_exportopts_choice, 0),
	FR_OPTION_GROUP(fr_symopts_named, offsetof(struct fr_exportopts, symbols)),
	FR_OPTION_GROUP(fr_jobs_few, offsetof(struct fr_exportopts, ask.opts.jobs)),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec view [options] FILE\n"
		"Make a page for a browser from a snapshot: timeline of CPUs and tasks, search,\n"
		"histograms, flame graph. One file, without network; open it where you like.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read is shown.\n"
		"Example: flightrec view x.flight && xdg-open x.flight.html\n",
	.words = "@snapshot",
};

/* ---- the verdict ---- */

/* In a process of its own: an error number, and the verdict. Whoever makes the page says what is wrong with the file. */
static void view_tell(const struct fr_export_ask *ask, int fd)
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
static char *view_hear(int fd, int *err)
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
static char *view_verdict(const struct fr_export_ask *ask, int *err)
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
		view_tell(ask, fd[1]);
	*err = pid < 0 ? -errno : 0;
	close(fd[1]);
	if (pid < 0) {
		close(fd[0]);
		return NULL;
	}
	text = view_hear(fd[0], err);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return text;
}

static int view(struct fr_export_ask *ask, bool to_stdout)
{
	char *path = NULL, *verdict;
	int status;

	if (!ask->path && !to_stdout) {
		if (asprintf(&path, "%s.html", ask->file[0]) < 0)
			return FR_EXIT_FAIL;
		ask->path = path;
	}
	ask->verdict = verdict = view_verdict(ask, &ask->verdict_err);
	status = fr_export(ask);
	free(verdict);
	free(path);
	return status;
}

int fr_cmd_view(int argc, char **argv)
{
	struct fr_exportopts x = {
		.ask = {.format = "html", .opts = {.tiers = FR_REPLAY_TIERS, .jobs = FR_REPLAY_JOBS_FEW, .names = true}}};
	int status = fr_options_parse(&options, argc, argv, &x);

	if (status >= 0)
		return status;
	if (optind == argc) {
		fr_err("name the snapshot to be shown: flightrec view FILE");
		return FR_EXIT_USAGE;
	}
	if (!x.ask.path && !x.to_stdout && !strcmp(argv[optind], "-")) {
		fr_err("standard input has no name to be the page's: name the page with -o");
		return FR_EXIT_USAGE;
	}
	fr_exportopts_done(&x, (const char *const *)argv + optind, argc - optind);
	return view(&x.ask, x.to_stdout);
}
