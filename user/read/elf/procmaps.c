/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "read/elf/procmaps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text/units.h"
#include "read/elf/lines.h"
#include "sys/ns.h"
#include "sys/procquery.h"

#define MAPS_MAX_SZ (8u << 20)
#define DELETED	    " (deleted)"

#define CTIME_SLACK_NS 20000000LL /* inode times are those of the last tick, and the clocks are read one after the other */

int fr_proc_open(u32 pid, struct fr_proc *p)
{
	char path[32];
	int err;

	*p = (struct fr_proc){.pid = pid, .dir = -1, .maps = -1};
	if (!fr_ns_is_first(FR_NS_PID))
		return -ESRCH; /* another process has this pid here */
	snprintf(path, sizeof(path), "/proc/%u", pid);
	p->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0)
		return -errno;
	p->maps = openat(p->dir, "maps", O_RDONLY | O_CLOEXEC);
	if (p->maps >= 0)
		return 0;
	err = -errno;
	fr_proc_close(p);
	return err;
}

void fr_proc_close(struct fr_proc *p)
{
	if (p->dir >= 0)
		close(p->dir);
	if (p->maps >= 0)
		close(p->maps);
	p->dir = p->maps = -1;
}

/* "55d0c000-55d0f000 r-xp 00002000 fd:01 1835 /usr/bin/cat": 1 executable, 0 not, -1 no such line */
static int procmaps_parse(char *text, struct fr_procmap *m)
{
	const char *at = text, *perms;
	char *end;
	size_t len;

	if (!fr_hex_u64(&at, &m->begin) || *at++ != '-' || !fr_hex_u64(&at, &m->end) || *at++ != ' ')
		return -1;
	perms = at;
	if (strlen(perms) < 5 || perms[4] != ' ')
		return -1;
	at += 5;
	if (!fr_hex_u64(&at, &m->off) || *at++ != ' ')
		return -1;
	at += strcspn(at, " ");
	m->inode = strtoull(at, &end, 10);
	m->path = end + strspn(end, " ");
	len = strlen(m->path);
	m->deleted = len > strlen(DELETED) && m->inode && !strcmp(m->path + len - strlen(DELETED), DELETED);
	if (m->deleted)
		end[m->path - end + len - strlen(DELETED)] = 0;
	return perms[2] == 'x' && m->begin < m->end;
}

int fr_proc_maps(struct fr_proc *p, fr_procmap_fn fn, void *arg)
{
	struct fr_lines *l = malloc(sizeof(*l));
	struct fr_procmap m;
	char *text;
	int err = 0;

	if (!l)
		return -ENOMEM;
	fr_lines_init(l, p->maps, MAPS_MAX_SZ);
	while (!err && (text = fr_lines_next(l)))
		if (procmaps_parse(text, &m) > 0)
			err = fn(arg, &m);
	err = err ?: l->err;
	free(l);
	return err;
}

/* ---- untrusted files ---- */

/* Open a path for reading if it is a regular file; check first, because opening other kinds has effects. Or -errno. */
static int open_regular(int dir, const char *path, int flags, struct stat *st)
{
	int place = openat(dir, path, O_PATH | O_CLOEXEC | flags), fd;
	char self[32];

	if (place < 0)
		return -errno;
	if (fstat(place, st) || !S_ISREG(st->st_mode)) {
		close(place);
		return -EPERM;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
	fd = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(place);
	return fd;
}

/* Was it last changed in this span of CLOCK_MONOTONIC, by its inode's ctime, which users cannot set? From 0: ever before. */
static bool procmaps_is_of(const struct stat *st, u64 from_ns, u64 to_ns)
{
	struct timespec real, mono;
	s64 at_ns;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	at_ns = (st->st_ctim.tv_sec - real.tv_sec + mono.tv_sec) * (s64)FR_SEC_NS + st->st_ctim.tv_nsec - real.tv_nsec +
		mono.tv_nsec;
	return (!from_ns || at_ns + CTIME_SLACK_NS >= (s64)from_ns) && at_ns <= (s64)(to_ns + CTIME_SLACK_NS);
}

/* The same below a directory, if it is this inode. */
static int open_inode(int dir, const char *path, u64 inode, struct stat *st)
{
	int fd = open_regular(dir, path, O_NOFOLLOW, st);

	if (fd < 0 || st->st_ino == inode)
		return fd;
	close(fd);
	return -ESTALE;
}

/* A new file may have got the inode of an old one, and another content the same file. */
int fr_open_mapped(int dir, const char *path, u64 inode, u64 died_ns)
{
	struct stat st;
	int fd = open_inode(dir, path, inode, &st);

	if (fd < 0 || procmaps_is_of(&st, 0, died_ns))
		return fd;
	close(fd);
	return -ESTALE;
}

/* Open the file behind a mapping: by the kernel's own link, which may be refused, or by its path in the process's root. */
static int open_mapped(const struct fr_proc *p, const struct fr_procmap *m)
{
	char path[64 + 4096];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "map_files/%llx-%llx", m->begin, m->end);
	fd = open_regular(p->dir, path, 0, &st);
	if (fd >= 0 || m->path[0] != '/' || m->deleted)
		return fd;
	if (snprintf(path, sizeof(path), "root%s", m->path) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return open_inode(p->dir, path, m->inode, &st);
}

/* The kernel answers this since Linux 6.11. */
static bool ask_kernel(const struct fr_proc *p, const struct fr_procmap *m, u8 *id, u8 *sz)
{
	struct fr_procmap_query q = {
		.size = sizeof(q),
		.query_addr = m->begin,
		.build_id_size = FR_BUILD_ID_MAX,
		.build_id_addr = (u64)(unsigned long)id,
	};

	if (ioctl(p->maps, FR_PROCMAP_QUERY, &q))
		return false;
	*sz = q.build_id_size <= FR_BUILD_ID_MAX && q.inode == m->inode ? q.build_id_size : 0;
	return true;
}

/* It is gone, is another file, or is none that we may open: nothing failed. */
static bool is_no_failure(int err)
{
	return err == -ENOENT || err == -ESTALE || err == -ESRCH || err == -EPERM || err == -EACCES || err == -ENOTDIR ||
	       err == -ELOOP || err == -ENAMETOOLONG;
}

u8 fr_proc_build_id(const struct fr_proc *p, const struct fr_procmap *m, u8 *id, int *err)
{
	u8 sz = 0;
	int fd;

	if (!m->inode)
		return 0;
	if (ask_kernel(p, m, id, &sz) && sz)
		return sz;
	fd = open_mapped(p, m);
	if (fd < 0) {
		if (err && !is_no_failure(fd))
			*err = fd;
		return 0;
	}
	sz = fr_build_id_of(fd, id, err);
	close(fd);
	return sz;
}

bool fr_procmap_is_gone(const struct fr_procmap *m)
{
	struct stat st;

	return m->deleted || (m->path[0] == '/' && (stat(m->path, &st) || st.st_ino != m->inode));
}

/* ---- JITed code ---- */

/* From /proc/PID/status: its pid in its innermost namespace, and its effective user. */
static int read_status(const struct fr_proc *p, u32 *ns_pid, u32 *uid)
{
	char text[8192], *line, *last;
	int fd = openat(p->dir, "status", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return -EIO;
	text[n] = 0;
	*ns_pid = p->pid;
	line = strstr(text, "\nNSpid:");
	if (line) {
		line[1 + strcspn(line + 1, "\n")] = 0;
		last = strrchr(line, '\t');
		*ns_pid = last ? strtoul(last, NULL, 10) : p->pid;
		line[strlen(line)] = '\n';
	}
	line = strstr(text, "\nUid:");
	return line && sscanf(line, "\nUid: %*u %u", uid) == 1 ? 0 : -EIO;
}

/* Open perf-PID.map in tmp below a root, and stat it to *st; or -errno. */
static int open_map(int dir, const char *root_path, u32 ns_pid, struct stat *st)
{
	int root = openat(dir, root_path, O_PATH | O_DIRECTORY | O_CLOEXEC), tmp, fd;
	char name[32];

	if (root < 0)
		return -errno;
	tmp = openat(root, "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	snprintf(name, sizeof(name), "perf-%u.map", ns_pid);
	fd = tmp < 0 ? -errno : open_regular(tmp, name, O_NOFOLLOW, st);
	if (tmp >= 0)
		close(tmp);
	close(root);
	return fd;
}

static int if_trusted(int fd, bool trusted)
{
	if (fd < 0 || trusted)
		return fd;
	close(fd);
	return -EPERM;
}

int fr_proc_perf_map(const struct fr_proc *p)
{
	u32 ns_pid = 0, uid = 0;
	struct stat st = {};
	int fd, err = read_status(p, &ns_pid, &uid);

	if (err)
		return err;
	fd = open_map(p->dir, "root", ns_pid, &st);
	return if_trusted(fd, (!st.st_uid || st.st_uid == uid) && st.st_nlink == 1);
}

int fr_ended_perf_map(u32 pid, u64 start_ns, u64 exit_ns)
{
	struct stat st = {};
	int fd;

	if (!fr_ns_is_first(FR_NS_PID))
		return -ESRCH;
	fd = open_map(AT_FDCWD, "/proc/1/root", pid, &st);
	if (fd < 0)
		fd = open_map(AT_FDCWD, "/", pid, &st);
	return if_trusted(fd, st.st_nlink == 1 && !(st.st_mode & 002) && procmaps_is_of(&st, start_ns, exit_ns));
}
