/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flow/snapshot/procs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/cgroup.h"
#include "io/fd.h"
#include "io/ns.h"
#include "pure/rows/cgroups.h"
#include "pure/text/escape.h"
#include "pure/text/out.h"
#include "pure/text/path.h"

#define VALUE_MAX    1024	 /* bytes of a command line, path or cgroup that are kept */
#define PROCS_MAX_SZ (16u << 20) /* of all processes together: about 50,000 */
#define CGROUPS_MAX  4096u	 /* some 10 us each */

static ssize_t read_at(int dir, const char *name, char *buf, size_t sz)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, sz);
	close(fd);
	return n;
}

static void put(struct fr_out *o, const char *key, const char *value, size_t len)
{
	fr_out_str(o, ",\"");
	fr_out_str(o, key);
	fr_out_str(o, "\":\"");
	fr_escape_json(o, value, len);
	fr_out_char(o, '"');
}

/* 0, or why it could not be read (-errno); that it has ended since may be the reason. */
static int put_cmdline(struct fr_out *o, int dir)
{
	char buf[VALUE_MAX];
	ssize_t n = read_at(dir, "cmdline", buf, sizeof(buf)), i;

	while (n > 0 && !buf[n - 1])
		n--;
	for (i = 0; i < n; i++)
		if (!buf[i])
			buf[i] = ' ';
	if (n > 0)
		put(o, "cmdline", buf, n);
	return n < 0 ? n : 0;
}

/* Where a symbolic link of the process points to. */
static void put_link(struct fr_out *o, int dir, const char *name)
{
	char buf[VALUE_MAX];
	ssize_t n = readlinkat(dir, name, buf, sizeof(buf));

	if (n > 0)
		put(o, name, buf, n);
}

/* The path in the unified hierarchy is the line that begins with "0::", relative to `here`. NULL: `here` is not known. As
 * above. */
static int put_cgroup(struct fr_out *o, int dir, const char *here)
{
	char buf[4 * VALUE_MAX], path[8 * VALUE_MAX], *line;
	ssize_t n = read_at(dir, "cgroup", buf, sizeof(buf) - 1);

	if (n <= 0 || !here)
		return n < 0 ? n : 0;
	buf[n] = 0;
	line = !strncmp(buf, "0::", 3) ? buf : strstr(buf, "\n0::");
	if (!line)
		return 0;
	line += *line == '\n' ? 4 : 3;
	line[strcspn(line, "\n")] = 0;
	if (fr_path_join(path, sizeof(path), here, line))
		put(o, "cgroup", *path ? path : "/", *path ? strlen(path) : 1);
	return 0;
}

/* As above. */
static int put_proc(struct fr_out *o, int proc, const char *pid, const char *cgroup_here)
{
	int dir = openat(proc, pid, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err, cgroup_err;

	if (dir < 0)
		return -errno;
	fr_out_str(o, "{\"pid\":");
	fr_out_str(o, pid);
	err = put_cmdline(o, dir);
	put_link(o, dir, "exe");
	put_link(o, dir, "cwd");
	cgroup_err = put_cgroup(o, dir, cgroup_here);
	fr_out_str(o, "}\n");
	close(dir);
	return err ?: cgroup_err;
}

/* ---- cgroups ---- */

static int youngest_first(const void *a, const void *b)
{
	const u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* The different cgroups that tasks were born in; the kernel counts ids up. Returns how many; *out: malloc'ed. */
static size_t list_cgroups(const struct fr_snap_task *task, size_t task_cnt, u64 **out)
{
	u64 *id = malloc((task_cnt + 1) * sizeof(*id));
	size_t i, cnt = 0;

	*out = id;
	for (i = 0; id && i < task_cnt; i++)
		id[i] = task[i].task.cgroup;
	if (id)
		qsort(id, task_cnt, sizeof(*id), youngest_first);
	for (i = 0; id && i < task_cnt && id[i]; i++)
		if (!cnt || id[i] != id[cnt - 1])
			id[cnt++] = id[i];
	return cnt;
}

/*
 * Nobody may live in a cgroup any more whose dead are in the events: of living processes alone, its path would not be known.
 * Where there is no such directory any more, nothing can be said.
 */
static int write_cgroups(int fd, const struct fr_snap_task *task, size_t task_cnt)
{
	struct fr_out *o = malloc(sizeof(*o));
	int root_fd = fr_cgroup_open_root(), err = o ? 0 : -ENOMEM;
	char path[4096];
	u64 *id;
	size_t cnt = list_cgroups(task, task_cnt, &id), i;

	if (o && root_fd >= 0) {
		fr_out_init(o, fd);
		for (i = 0; i < cnt && i < CGROUPS_MAX; i++) {
			if (fr_cgroup_path_at(root_fd, id[i], path, sizeof(path)))
				continue;
			fr_out_printf(o, "{\"" FR_PROC_CGROUP_ID "\":%llu", (unsigned long long)id[i]);
			put(o, "cgroup", path, strlen(path));
			fr_out_str(o, "}\n");
		}
		err = fr_out_flush(o);
	}
	if (root_fd >= 0)
		close(root_fd);
	free(id);
	free(o);
	return err;
}

/* ---- all ---- */

static int write_procs(int fd, const char *cgroup_here, struct fr_procs_lack *lack)
{
	struct fr_out *o = malloc(sizeof(*o));
	DIR *d = opendir("/proc");
	int err = d ? -ENOMEM : -errno, one;
	struct dirent *e;

	if (o && d) {
		fr_out_init(o, fd);
		while ((e = readdir(d))) {
			if (!isdigit((unsigned char)e->d_name[0]))
				continue;
			if (lseek(fd, 0, SEEK_CUR) >= PROCS_MAX_SZ) {
				lack->cnt++;
				continue;
			}
			one = put_proc(o, dirfd(d), e->d_name, cgroup_here);
			if (fr_fd_is_want(one)) {
				lack->cnt++;
				lack->err = one;
			}
		}
		err = fr_out_flush(o);
	}
	free(o);
	if (d)
		closedir(d);
	return err;
}

static int read_all(int fd, char **text, size_t *sz)
{
	struct stat st;
	if (fstat(fd, &st))
		return -errno;
	*text = malloc(st.st_size + 1);
	if (!*text)
		return -ENOMEM;
	if (pread(fd, *text, st.st_size, 0) != st.st_size) {
		free(*text);
		return -EIO;
	}
	*sz = st.st_size;
	return 0;
}

int fr_procs_read(const struct fr_procs_ask *ask, char **text, size_t *sz, struct fr_procs_lack *lack)
{
	const char *cgroup_here = ask->cgroup_here;
	int fd = memfd_create("procs", MFD_CLOEXEC);
	char here[4096];
	int err;

	*lack = (struct fr_procs_lack){};
	if (fd < 0)
		return -errno;
	if (!cgroup_here && !fr_cgroup_here(here, sizeof(here)))
		cgroup_here = here;
	/* in any other pid namespace than the events', these pids would be other processes */
	err = fr_ns_is_first(FR_NS_PID) ? write_procs(fd, cgroup_here, lack) : 0;
	err = err ?: write_cgroups(fd, ask->task, ask->task_cnt);
	err = err ?: read_all(fd, text, sz);
	close(fd);
	return err;
}
