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
#include "sys/nss.h"

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
static void cut_last(char *path)
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

/* It is created if it is missing, but its parents are not. */
static int check_dir(const char *dir)
{
	char in[4096];
	struct stat st;
	int err;

	if (dir[0] != '/') {
		fr_err("Storage.Directory: '%s' does not begin with /: a recorder is started from anywhere", dir);
		return -EINVAL;
	}
	snprintf(in, sizeof(in), "%s", dir);
	if (stat(in, &st) && errno == ENOENT && !lstat(in, &st)) {
		fr_err("Storage.Directory: %s is a link to nothing", in);
		return -EINVAL;
	}
	if (stat(in, &st) && errno == ENOENT) {
		cut_last(in);
		if (stat(in, &st) && errno == ENOENT) {
			fr_err("Storage.Directory: %s cannot be made: there is no %s: `mkdir -p %s` makes it", dir, in, in);
			return -EINVAL;
		}
	}
	if (!stat(in, &st) && !S_ISDIR(st.st_mode)) {
		fr_err("Storage.Directory: %s is not a directory", in);
		return -EINVAL;
	}
	err = try_write(in);
	return err ? say_unwritable(dir, in, err) : 0;
}

static int check_group(const char *key, const char *group)
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

static void show(const struct fr_record_opts *o)
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

	err = check_plan(o) ?: check_dir(c->dir) ?: check_group("StatusGroup", c->status_group) ?: check_group("DumpGroup", c->dump_group);
	if (err)
		return err == -ETIMEDOUT ? FR_EXIT_FAIL : FR_EXIT_USAGE;
	show(o);
	return FR_EXIT_OK;
}
