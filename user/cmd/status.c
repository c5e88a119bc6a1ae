/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/err.h"
#include "base/text/escape.h"
#include "cmd/cmd.h"
#include "cmd/open.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "cmd/remote.h"
#include "live/recorder/live_kinds.h"
#include "sys/fd.h"
#include "sys/safepath.h"

#define TIMEOUT_MS 10000

struct ask {
	const char *name;
	bool json, metrics, overhead;
	const char *file; /* of the metrics, NULL: standard output */
};

static int status_metrics(const struct fr_option *option, void *to, const char *value)
{
	struct ask *ask = to;

	ask->metrics = true;
	return fr_option_text(option, to, value);
}

static const struct fr_option table[] = {
	FR_OPTION_GROUP(fr_option_session, offsetof(struct ask, name)),
	FR_OPTION(0, "json", NULL, "the same for programs", fr_option_flag, offsetof(struct ask, json)),
	FR_OPTION(0, "metrics", "[=FILE]", "OpenMetrics, for node_exporter's textfile collector; FILE is\nreplaced in one step",
		  status_metrics, offsetof(struct ask, file), .words = "@file"),
	FR_OPTION(0, "overhead", NULL, "measure for a second what recording costs (root)", fr_option_flag,
		  offsetof(struct ask, overhead)),
	FR_OPTION_GROUP(fr_coloropts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec status [options]\n"
		"Show what a session records, how long its history is, what it loses and costs, what\n"
		"its triggers saw and took, and what is wrong. Events a second are of the newest\n"
		"second. Members of the recorder's StatusGroup need not be root.\n"
		"\n",
	.option = table,
	.table = &fr_live_kind,
	.foot = "\n"
		"Example: flightrec status --metrics=/var/lib/node_exporter/flightrec.prom\n",
	.none = "name the session with -n",
};

/* Of the terminal; a pipe gets whole lines. */
static u32 status_columns(const struct fr_out *o)
{
	return isatty(o->fd) ? fr_out_columns(o) : 0;
}

static void status_show(const struct ask *ask, const struct fr_live *l, struct fr_out *o)
{
	if (ask->json)
		fr_live_json(l, o);
	else if (ask->metrics)
		fr_live_metrics(l, o);
	else
		fr_live_text(l, o, status_columns(o));
}

/* As root: from the session itself, with or without a live recorder. */
static int status_local(const struct ask *ask, struct fr_out *o)
{
	struct fr_sess *s;
	struct fr_live l;
	int err, status = fr_cmd_open_session(ask->name, &s);

	if (status)
		return status;
	err = fr_live_read(s, &l);
	if (err)
		fr_err("cannot read the counters of session '%s': %s: %s", ask->name, strerror(-err),
		       fr_err_cure(err, "try again"));
	if (!err && ask->overhead)
		err = fr_live_measure(&l);
	if (!err) {
		fr_live_read_store(&l);
		fr_live_look(&l);
		status_show(ask, &l, o);
	}
	fr_live_free(&l);
	fr_sess_close(s);
	return err ? FR_EXIT_FAIL : FR_EXIT_OK;
}

static int put_answer(const char *line, bool json, struct fr_out *o)
{
	static const char ok[] = "{\"ok\":true,";
	const char *why = "";
	struct fr_jsonr j;
	char *text;

	if (json && !strncmp(line, ok, sizeof(ok) - 1)) {
		fr_out_char(o, '{');
		fr_out_str(o, line + sizeof(ok) - 1);
		fr_out_char(o, '\n');
		return FR_EXIT_OK;
	}
	if (fr_jsonr_parse(line, strlen(line), &j, &why)) {
		fr_err("bad answer from the recorder: %s: is it another version?", why);
		return FR_EXIT_FAIL;
	}
	text = strdup(fr_jsonr_text(&j, "text", ""));
	fr_jsonr_free(&j);
	if (!text)
		return FR_EXIT_FAIL;
	fr_out_mem(o, text, fr_unescape(text, strlen(text)));
	free(text);
	return FR_EXIT_OK;
}

/* As another user: the recorder's answer. */
static int status_remote(const struct ask *ask, struct fr_out *o)
{
	char request[128], *line;
	int status;

	if (ask->overhead) {
		fr_err("--overhead switches the kernel's statistics on: run as root");
		return FR_EXIT_FAIL;
	}
	snprintf(request, sizeof(request), "{\"cmd\":\"status\",\"format\":\"%s\",\"columns\":%u}",
		 ask->json	? "json"
		 : ask->metrics ? "metrics"
				: "text",
		 status_columns(o));
	status = fr_cmd_ask_once(ask->name, request, TIMEOUT_MS, &line);
	if (status)
		return status;
	status = put_answer(line, ask->json, o);
	free(line);
	return status;
}

/* ---- where it goes ---- */

/* Readers of the file see the old metrics or the new ones. While it is written its name does not end in .prom. */
static int replace_file(int dir, const char *name, const char *text, size_t sz)
{
	char tmp[NAME_MAX + 1];
	unsigned chance;
	int fd, err;

	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		return -errno;
	if (snprintf(tmp, sizeof(tmp), "%s.%08x", name, chance) >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = fchmod(fd, 0644) ? -errno : fr_write_all(fd, text, sz);
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir, tmp, dir, name))
		err = -errno;
	if (err)
		unlinkat(dir, tmp, 0);
	return err;
}

/* A pipe, a device, a file without a name: nothing that could be replaced. */
static int write_into(int fd, const char *text, size_t sz)
{
	int err = fd < 0 ? -errno : fr_write_all(fd, text, sz);

	return fd >= 0 && close(fd) && !err ? -errno : err;
}

/* Whoever makes a pipe decides how long its writers wait. */
static bool is_foreign_pipe(const struct stat *st)
{
	return S_ISFIFO(st->st_mode) && !fr_safepath_is_owned(st);
}

/* A link itself is not to be replaced, whose target may have no name (/dev/stdout). */
static int put_file(const char *path, const char *text, size_t sz)
{
	char name[NAME_MAX + 1];
	int dir = fr_safepath_target(path, name), err;
	struct stat st;

	if (dir == -ENOLINK)
		return write_into(open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC), text, sz);
	if (dir < 0)
		return dir;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || S_ISREG(st.st_mode))
		err = replace_file(dir, name, text, sz);
	else if (is_foreign_pipe(&st))
		err = -EPERM;
	else
		err = write_into(openat(dir, name, O_WRONLY | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC), text, sz);
	close(dir);
	return err;
}

static int status_finish(const struct ask *ask, struct fr_out *o, int status)
{
	char *text;
	size_t sz;
	int err;

	if (!ask->file)
		return fr_err_finish(o, status);
	text = fr_out_take_mem(o, &sz);
	if (status) {
		free(text);
		return status;
	}
	err = text ? put_file(ask->file, text, sz) : -ENOMEM;
	free(text);
	if (err) {
		const char *cure = fr_err_cure(err, NULL);

		fr_err("cannot write %s: %s: what was there is unchanged%s%s", ask->file, strerror(-err), cure ? ": " : "",
		       cure ?: "");
	}
	return err ? FR_EXIT_FAIL : FR_EXIT_OK;
}

static int status(const struct ask *ask)
{
	struct fr_out *o = malloc(sizeof(*o));
	int status;

	if (!o)
		return fr_err_memory();
	if (ask->file)
		fr_out_init_mem(o);
	else
		fr_out_init(o, STDOUT_FILENO);
	status = fr_cmd_is_remote(ask->name) ? status_remote(ask, o) : status_local(ask, o);
	status = status_finish(ask, o, status);
	free(o);
	return status;
}

int fr_cmd_status(int argc, char **argv)
{
	struct ask ask = {.name = FR_DEF_NAME};
	int got = fr_options_parse(&options, argc, argv, &ask);

	if (got >= 0)
		return got;
	if (ask.json && ask.metrics) {
		fr_err("--json and --metrics are two formats: choose one");
		return FR_EXIT_USAGE;
	}
	return status(&ask);
}
