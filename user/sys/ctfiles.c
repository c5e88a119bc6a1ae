/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/ctfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/dir.h"
#include "sys/safepath.h"
#include "types.h"

#define FILE_MOST_SZ (4 << 20)
#define LOGS_MOST    65536u /* entries of a directory that are looked at */

/* ID: the container's. */
static const struct {
	const char *before, *behind;
	enum fr_ctnames_form form;
} files[] = {
#define TASKS "/io.containerd.runtime.v2.task/"
	{"/run/containerd" TASKS "k8s.io/", "/config.json", FR_CTNAMES_oci},
	{"/run/k3s/containerd" TASKS "k8s.io/", "/config.json", FR_CTNAMES_oci},
	{"/var/snap/microk8s/common/run/containerd" TASKS "k8s.io/", "/config.json", FR_CTNAMES_oci},
	{"/run/containerd" TASKS "default/", "/config.json", FR_CTNAMES_oci},
#undef TASKS
	{"/var/lib/docker/containers/", "/config.v2.json", FR_CTNAMES_docker},
	{"/run/containers/storage/overlay-containers/", "/userdata/config.json", FR_CTNAMES_oci},
	{"/var/lib/containers/storage/overlay-containers/", "/userdata/config.json", FR_CTNAMES_oci},
	{"/var/lib/containers/storage/overlay-containers/containers.json", NULL, FR_CTNAMES_storage},
	{"/var/lib/containers/storage/overlay-containers/volatile-containers.json", NULL, FR_CTNAMES_storage},
};

#define LOGS "/var/log/containers"
#define PODS "/var/log/pods"

/* Is it not there, or not one that counts? -EPERM is the word for one that others may change; that we may not look is -EACCES.
 */
static bool ctfiles_is_none(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -EPERM || err == -ELOOP || err == -EINVAL || err == -EISDIR ||
	       err == -ENXIO || err == -EFBIG;
}

/* All of it; malloc'ed. Its size, or -errno. */
static ssize_t ctfiles_read(int fd, char **out)
{
	struct stat st;
	size_t sz = 0;
	ssize_t n = 1;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size > FILE_MOST_SZ)
		return -EFBIG;
	*out = malloc(st.st_size + 1);
	if (!*out)
		return -ENOMEM;
	while (n > 0 && sz < (size_t)st.st_size) {
		n = read(fd, *out + sz, st.st_size - sz);
		sz += n > 0 ? n : 0;
	}
	if (n < 0) {
		n = -errno;
		free(*out);
		return n;
	}
	return sz;
}

static int ctfiles_take(const char *path, enum fr_ctnames_form form, const char *id, struct fr_ctnames *names)
{
	int fd = fr_safepath_config(path), err;
	char *text = NULL;
	ssize_t sz;

	if (fd < 0)
		return ctfiles_is_none(fd) ? 0 : fd;
	sz = ctfiles_read(fd, &text);
	close(fd);
	if (sz < 0)
		return ctfiles_is_none(sz) ? 0 : (int)sz;
	err = fr_ctnames_read(form, text, sz, id, names);
	free(text);
	return ctfiles_is_none(err) ? 0 : err;
}

static int each_name(const char *root, const char *dir, void (*take)(const char *, const char *, struct fr_ctnames *),
		     const char *key, struct fr_ctnames *names)
{
	char path[PATH_MAX];
	struct dirent *e;
	struct stat st;
	int fd, err = 0;
	u32 i;
	DIR *d;

	snprintf(path, sizeof(path), "%s%s", root, dir);
	fd = fr_safepath_dir(path);
	if (fd < 0)
		return ctfiles_is_none(fd) ? 0 : fd;
	err = fstat(fd, &st) ? -errno : 0;
	if (err || !fr_safepath_is_ours(&st)) {
		close(fd);
		return err;
	}
	d = fdopendir(fd);
	if (!d) {
		err = -errno;
		close(fd);
		return err;
	}
	for (i = 0; i < LOGS_MOST && (e = fr_dir_next(d, &err)); i++)
		take(e->d_name, key, names);
	closedir(d);
	return err;
}

/* One engine's files may be closed to us, those of the one that has the container open: go on, and say so behind the last. */
static int ctfiles_may(int *denied, int err)
{
	if (err != -EACCES)
		return err;
	*denied = err;
	return 0;
}

/* Is there something that a file of this form could add? */
static bool ctfiles_may_add(enum fr_ctnames_form form, const struct fr_ctnames *names)
{
	bool lacks_own = !*names->container || !*names->image;

	return lacks_own || (form != FR_CTNAMES_storage && !*names->pod);
}

int fr_ctfiles_names(const char *root, const char *id, struct fr_ctnames *names)
{
	char path[PATH_MAX];
	int err = 0, denied = 0;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]) && !err; i++) {
		bool has_id = files[i].behind;

		if (!ctfiles_may_add(files[i].form, names))
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s%s%s%s", root, files[i].before, has_id ? id : "",
				     has_id ? files[i].behind : "") < sizeof(path))
			err = ctfiles_may(&denied, ctfiles_take(path, files[i].form, id, names));
	}
	if (!err && (!*names->container || !*names->pod))
		err = ctfiles_may(&denied, each_name(root, LOGS, fr_ctnames_of_log, id, names));
	if (!err && !*names->pod && *names->pod_uid)
		err = ctfiles_may(&denied, each_name(root, PODS, fr_ctnames_of_pod, names->pod_uid, names));
	return err ?: denied;
}
