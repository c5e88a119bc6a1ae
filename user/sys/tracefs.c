/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/set/vec.h"
#include "sys/dir.h"

#define FORMAT_MAX_SZ (64u << 10)

/*
 * Mounted nowhere: for this process alone, by a descriptor that it keeps. Its path; NULL: not allowed, or the kernel has no
 * such file system.
 */
static const char *tracefs_alone(void)
{
	static char path[32];
	int fs, fd = -1;

	if (*path)
		return path;
	fs = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (fs >= 0 && !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (fs >= 0)
		close(fs);
	if (fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

int fr_tracefs_root(const char **root)
{
	static const char *const places[] = {FR_TRACEFS, "/sys/kernel/debug/tracing"};
	char path[256];
	int err = -ENOENT;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/events", places[i]);
		if (!access(path, R_OK | X_OK)) {
			*root = places[i];
			return 0;
		}
		if (errno == EACCES || errno == EPERM)
			err = -EACCES;
	}
	if (err == -ENOENT && (*root = tracefs_alone()))
		return 0;
	return err;
}

static int tracefs_add(struct fr_vec *v, const char *system, const char *name)
{
	struct fr_tracefs_event ev = {strdup(system), strdup(name)};
	int err = ev.system && ev.name ? fr_vec_add(v, &ev, 1) : -ENOMEM;

	if (err) {
		free(ev.system);
		free(ev.name);
	}
	return err;
}

/* The tracepoints of a system: directories that have an id and can be enabled. */
static int list_system(struct fr_vec *v, const char *root, const char *system)
{
	char path[512];
	struct dirent *e;
	int err = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/events/%s", root, system);
	d = opendir(path);
	if (!d)
		return errno == ENOTDIR || errno == ENOENT ? 0 : -errno;
	while ((e = fr_dir_next(d, &err))) {
		if (*e->d_name == '.' || e->d_type == DT_REG)
			continue;
		if (snprintf(path, sizeof(path), "%s/events/%s/%s/enable", root, system, e->d_name) >= (int)sizeof(path) ||
		    access(path, F_OK))
			continue;
		err = tracefs_add(v, system, e->d_name);
	}
	closedir(d);
	return err;
}

static int tracefs_by_name(const void *a, const void *b)
{
	const struct fr_tracefs_event *x = a, *y = b;
	int order = strcmp(x->system, y->system);

	return order ? order : strcmp(x->name, y->name);
}

void fr_tracefs_free(struct fr_tracefs_event *list, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++) {
		free(list[i].system);
		free(list[i].name);
	}
	free(list);
}

int fr_tracefs_list(struct fr_tracefs_event **out, size_t *cnt)
{
	struct fr_vec v = {.item_sz = sizeof(struct fr_tracefs_event)};
	const char *root;
	char path[256];
	struct dirent *e;
	int err = fr_tracefs_root(&root);
	DIR *d;

	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/events", root);
	d = opendir(path);
	if (!d)
		return -errno;
	while ((e = fr_dir_next(d, &err)))
		if (*e->d_name != '.' && e->d_type != DT_REG)
			err = list_system(&v, root, e->d_name);
	closedir(d);
	if (err) {
		fr_tracefs_free(v.at, v.cnt);
		return err;
	}
	if (v.cnt)
		qsort(v.at, v.cnt, v.item_sz, tracefs_by_name);
	*out = v.at;
	*cnt = v.cnt;
	return 0;
}

int fr_tracefs_format(const struct fr_tracefs_event *ev, char **text, size_t *sz)
{
	char path[512], *buf = malloc(FORMAT_MAX_SZ + 1);
	const char *root;
	ssize_t n = 1;
	int fd, err = buf ? fr_tracefs_root(&root) : -ENOMEM;

	*sz = 0;
	if (!err && snprintf(path, sizeof(path), "%s/events/%s/%s/format", root, ev->system, ev->name) >= (int)sizeof(path))
		err = -ENAMETOOLONG;
	fd = err ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (!err && fd < 0)
		err = -errno;
	while (!err && n > 0 && *sz < FORMAT_MAX_SZ) {
		n = read(fd, buf + *sz, FORMAT_MAX_SZ - *sz);
		if (n < 0 && errno != EINTR)
			err = -errno;
		*sz += n > 0 ? n : 0;
		n = n < 0 ? 1 : n;
	}
	if (fd >= 0)
		close(fd);
	if (!err && *sz == FORMAT_MAX_SZ)
		err = -E2BIG;
	if (err) {
		free(buf);
		return err;
	}
	buf[*sz] = 0;
	*text = buf;
	return 0;
}
