/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * record_check: record --check-config: checks what only this host knows about a configuration, and prints what would be
 * recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/units.h"
#include "cmd/record_opts.h"
#include "live/recorder/record.h"
#include "live/snapshot/askdir.h"
#include "sys/nss.h"
#include "sys/patience.h"

/* If files cannot be nameless: create and remove a directory. */
static int try_subdir(const char *dir)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/.flightrec-XXXXXX", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (!mkdtemp(path))
		return -errno;
	return rmdir(path) ? -errno : 0;
}

/* Can something be created in dir? Try it, since the mode does not tell: read-only file systems, quotas, /proc. 0 or -errno. */
static int try_write(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT ? try_subdir(dir) : -errno;
	close(fd);
	return 0;
}

/* path without its last name, in place: "/" stays. */
static void record_cut_last(char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len > 1 && path[len - 1] != '/')
		len--;
	while (len > 1 && path[len - 1] == '/')
		len--;
	path[len] = 0;
}

enum flaw { NO_FLAW, LINK_TO_NOTHING, NO_PARENT, NO_DIRECTORY, UNWRITABLE };

struct looked {
	enum flaw flaw;
	int err;       /* why it is unwritable */
	char in[4096]; /* what was looked at: dir, or where it would be made */
};

/* It is created if it is missing, but its parents are not. */
static enum flaw record_look_in(char *in)
{
	struct stat st;

	if (stat(in, &st) && errno == ENOENT && !lstat(in, &st))
		return LINK_TO_NOTHING;
	if (stat(in, &st) && errno == ENOENT) {
		record_cut_last(in);
		if (stat(in, &st) && errno == ENOENT)
			return NO_PARENT;
	}
	return !stat(in, &st) && !S_ISDIR(st.st_mode) ? NO_DIRECTORY : NO_FLAW;
}

static void record_look(void *dir, void *out)
{
	struct looked *l = out;

	snprintf(l->in, sizeof(l->in), "%s", (const char *)dir);
	l->flaw = record_look_in(l->in);
	if (l->flaw)
		return;
	l->err = try_write(l->in);
	l->flaw = l->err ? UNWRITABLE : NO_FLAW;
}

/* A user other than root only gets the errors that the recorder's user would get, too. */
static int say_unwritable(const char *dir, const char *in, int err)
{
	if ((err == -EACCES || err == -EPERM) && geteuid()) {
		fr_warn("Storage.Directory: %s cannot be checked by this user: %s: check as the recorder's user", dir,
			strerror(-err));
		return 0;
	}
	fr_err_errno(err, "Storage.Directory: no snapshot can be written to %s: %s", dir, in);
	return -EINVAL;
}

static int say_flaw(const char *dir, const struct looked *l)
{
	if (l->flaw == UNWRITABLE)
		return say_unwritable(dir, l->in, l->err);
	if (l->flaw == LINK_TO_NOTHING)
		fr_err("Storage.Directory: %s is a link to nothing", l->in);
	else if (l->flaw == NO_PARENT)
		fr_err("Storage.Directory: %s cannot be made: there is no %s: `mkdir -p %s` makes it", dir, l->in, l->in);
	else if (l->flaw == NO_DIRECTORY)
		fr_err("Storage.Directory: %s is not a directory", l->in);
	return l->flaw ? -EINVAL : 0;
}

/* That its disk does not answer just now is no reason to refuse a reload: a recorder goes on without it. */
static int record_check_dir(const char *dir)
{
	struct looked l = {};
	int err;

	if (dir[0] != '/') {
		fr_err("Storage.Directory: '%s' does not begin with /: a recorder is started from anywhere", dir);
		return -EINVAL;
	}
	err = fr_askdir(NULL, dir, fr_patience_ns(FR_OUT_DIR_NS), record_look, (void *)dir, &l, sizeof(l));
	if (err == -ETIMEDOUT)
		fr_warn("Storage.Directory: the disk of %s does not answer: whether snapshots can be written there is not "
			"known",
			dir);
	else if (err)
		fr_err_errno(err, "Storage.Directory: cannot look at %s", dir);
	return err == -ETIMEDOUT ? 0 : err ?: say_flaw(dir, &l);
}

static int record_check_group(const char *key, const char *group)
{
	gid_t gid;
	int err = group && *group ? fr_nss_group(group, NULL, NULL, &gid) : 0;

	if (err == -ENOENT)
		fr_err("Control.%s: no group '%s' on this host: `groupadd --system %s` makes it", key, group, group);
	else if (err)
		fr_err_errno(err, "Control.%s: cannot look up group '%s'", key, group);
	return err == -ENOENT ? -EINVAL : err;
}

static int check_plan(struct fr_record_opts *o)
{
	const char *why;

	if (!fr_plan(&o->ask.plan, o->ask.load.geo, &why))
		return 0;
	fr_err("%s", why);
	return -EINVAL;
}

static void record_show(const struct fr_record_opts *o)
{
	const struct fr_config *c = &o->live.config;
	char a[32], b[32], files[32] = "any number of";
	u32 i, events = 0;

	for (i = 0; i < FR_EVENT_MAX; i++)
		events += o->ask.load.enable[i];
	printf("session %s: profile %s, %u event%s, %s a CPU\n", o->ask.name, o->ask.profile, events, fr_plural(events),
	       fr_show_size(fr_plan_cpu_sz(o->ask.load.geo), a, sizeof(a)));
	for (i = 0; i < o->live.rule_cnt; i++)
		printf("trigger %s\n", o->live.rule[i].text);
	if (!o->live.rule_cnt)
		puts("trigger none: only `flightrec dump` and SIGUSR1 take snapshots");
	if (c->max_files)
		snprintf(files, sizeof(files), "at most %u", c->max_files);
	printf("snapshots in %s: %s file%s, %s, %s\n", c->dir, files, fr_plural(c->max_files),
	       c->max_sz ? fr_show_size(c->max_sz, a, sizeof(a)) : "of any size",
	       c->max_age_ns ? fr_show_duration(c->max_age_ns, b, sizeof(b)) : "of any age");
	if (c->exec && *c->exec)
		printf("each snapshot runs, as %s: %s\n", c->exec_user, c->exec);
}

int fr_record_check_config(struct fr_record_opts *o)
{
	const struct fr_config *c = &o->live.config;
	int err;

	err = check_plan(o) ?: record_check_dir(c->dir) ?: record_check_group("StatusGroup", c->status_group) ?: record_check_group("DumpGroup", c->dump_group);
	if (err)
		return err == -EINVAL ? FR_EXIT_USAGE : FR_EXIT_FAIL;
	record_show(o);
	return FR_EXIT_OK;
}
