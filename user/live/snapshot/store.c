/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * store: quotas and marks. Keeps no state between two looks: other recorders, hosts and users work in the same directory. Order
 * and age follow the time in the name, which copying preserves; files whose names do not have our form are ignored.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "live/snapshot/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/set/hash.h"
#include "base/set/idmap.h"
#include "base/set/vec.h"
#include "base/text/units.h"
#include "base/trigger/quota.h"
#include "live/snapshot/name.h"
#include "live/snapshot/store_int.h"
#include "read/snapfile/snapfile.h"
#include "read/snapfile/snapfile_format.h"
#include "sys/dir.h"
#include "sys/now.h"
#include "sys/safepath.h"

#define WANT_FIRST_SZ (1ULL << 20) /* of room, where nobody knows what a snapshot takes */

struct fr_store {
	char *dir;
	struct fr_store_conf conf; /* dir is ours */
	u64 removed;
	int err;		   /* of the last look */
	bool told;		   /* that there is no room; once until there is */
	bool is_stuck, told_stuck; /* the last time, a file could not be removed; and the time before */
	struct fr_idmap signature; /* u64 of files whose facts were read, by the hash of their names: each is read once */
	u64 gone[FR_STORE_GONE_MAX];
	u32 gone_cnt;
};

/* ---- a directory as it is now ---- */

struct entry {
	char *name;
	u64 real_ns;
	u64 sz, disk_sz;
	bool marked;
};

struct listing {
	int dir_fd;
	struct entry *entry; /* oldest first */
	size_t cnt;
};

static int store_by_age(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->real_ns != y->real_ns)
		return x->real_ns < y->real_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int add_entry(struct listing *l, const char *name, u64 real_ns, const struct stat *st)
{
	struct entry *more;

	more = fr_vec_more(&l->entry, l->cnt);
	if (!more)
		return -ENOMEM;
	*more = (struct entry){
		.name = strdup(name),
		.real_ns = real_ns,
		.sz = st->st_size,
		/* another name keeps the bytes on the disk */
		.disk_sz = st->st_nlink == 1 ? st->st_blocks * 512ULL : 0,
		.marked = !(st->st_mode & S_IWUSR),
	};
	return l->entry[l->cnt].name ? (l->cnt++, 0) : -ENOMEM;
}

static int read_entries(struct listing *l, DIR *d)
{
	struct fr_name_parts parts;
	struct dirent *e;
	struct stat st;
	int err = 0;

	while ((e = fr_dir_next(d, &err))) {
		if (!fr_name_parse(e->d_name, &parts))
			continue;
		/* gone meanwhile, or not a file: not ours */
		if (fstatat(l->dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		err = add_entry(l, e->d_name, parts.real_ns, &st);
	}
	return err;
}

static void close_listing(struct listing *l)
{
	size_t i;

	for (i = 0; i < l->cnt; i++)
		free(l->entry[i].name);
	free(l->entry);
	if (l->dir_fd >= 0)
		close(l->dir_fd);
}

static int open_listing(const char *dir, struct listing *l)
{
	DIR *d;
	int fd, err;

	memset(l, 0, sizeof(*l));
	l->dir_fd = fr_safepath_dir(dir);
	if (l->dir_fd < 0)
		return l->dir_fd;
	fd = openat(l->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	err = d ? read_entries(l, d) : -errno;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	if (err)
		close_listing(l);
	else if (l->cnt)
		qsort(l->entry, l->cnt, sizeof(*l->entry), store_by_age);
	return err;
}

/* Create a directory that vanished again, if its parent still exists. */
static int store_look(struct fr_store *st, struct listing *l)
{
	int err = open_listing(st->dir, l);

	if (err == -ENOENT && !fr_safepath_mkdir(st->dir)) {
		fr_warn("directory %s was missing, and has been made again", st->dir);
		err = open_listing(st->dir, l);
	}
	if (err && err != st->err)
		fr_err("cannot read directory %s: %s: snapshots cannot be written; recording goes on", st->dir, strerror(-err));
	st->err = err;
	return err;
}

/* ---- what goes ---- */

/* 0; -EBADMSG: it does not begin so; -errno: what cannot be read may be a snapshot. */
static int check_magic(int fd)
{
	struct fr_part_head h;
	ssize_t n = pread(fd, &h, sizeof(h), 0);

	if (n < 0)
		return -errno;
	return n == sizeof(h) && h.magic == FR_FILE_MAGIC && !memcmp(h.tag, FR_FILE_TAG, FR_TAG_SZ) ? 0 : -EBADMSG;
}

/*
 * Does the file begin like a snapshot? name: must not be a symbolic link. 0; -EBADMSG: it does not; -errno. *fd is open for
 * reading.
 */
static int probe(int dir_fd, const char *name, int *fd)
{
	struct stat st;
	int err;

	*fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0)
		return errno == ELOOP ? -EBADMSG : -errno;
	err = fstat(*fd, &st) ? -errno : S_ISREG(st.st_mode) ? check_magic(*fd) : -EBADMSG;
	if (!err)
		return 0;
	close(*fd);
	*fd = -1;
	return err;
}

/* May it go? Not if *marked, perhaps since it was listed. 0, also where it is gone; -EBADMSG: it is no snapshot; -errno. */
static int may_remove(int dir_fd, const char *name, bool *marked)
{
	struct stat st;
	int fd, err = probe(dir_fd, name, &fd);

	*marked = false;
	if (err)
		return err == -ENOENT ? 0 : err;
	err = fstat(fd, &st) ? -errno : 0;
	*marked = !err && !(st.st_mode & S_IWUSR);
	close(fd);
	return err;
}

/* 0, or -EROFS. */
static int disk_space(int dir_fd, u64 *free_sz, u64 *fs_sz, u64 *free_files)
{
	struct statvfs fs;

	*free_sz = *free_files = ~0ULL / 2; /* no limit, and files may be added to it */
	*fs_sz = 0;
	if (fstatvfs(dir_fd, &fs))
		return 0;
	if (fs.f_files) /* else they are made as they are needed */
		*free_files = fs.f_favail;
	*free_sz = (u64)fs.f_bavail * fs.f_frsize;
	*fs_sz = (u64)fs.f_blocks * fs.f_frsize;
	return fs.f_flag & ST_RDONLY ? -EROFS : 0;
}

static struct fr_quota_file *quota_files(const struct listing *l)
{
	struct fr_quota_file *f = calloc(l->cnt + 1, sizeof(*f));
	size_t i;

	for (i = 0; f && i < l->cnt; i++)
		f[i] = (struct fr_quota_file){.real_ns = l->entry[i].real_ns,
					      .sz = l->entry[i].sz,
					      .disk_sz = l->entry[i].disk_sz,
					      .keep = l->entry[i].marked};
	return f;
}

/* What failed, as its facts say; 0: they do not, or it cannot be read. */
static u64 read_signature(const struct fr_store *st, const char *name)
{
	struct fr_snap *snap;
	char path[PATH_MAX];
	const char *text;
	u64 v;

	if (snprintf(path, sizeof(path), "%s/%s", st->dir, name) >= (int)sizeof(path) || fr_snap_open(path, &snap))
		return 0;
	text = fr_snap_fact(snap, FR_FACT_SIGNATURE);
	v = text ? strtoull(text, NULL, 16) : 0;
	fr_snap_close(snap);
	return v;
}

static void find_signatures(struct fr_store *st, const struct listing *l, struct fr_quota_file *file)
{
	u64 key, *known;
	size_t i;

	for (i = 0; i < l->cnt; i++) {
		key = fr_hash(FR_HASH_SEED, l->entry[i].name, strlen(l->entry[i].name));
		known = fr_idmap_find(&st->signature, key);
		if (!known && (known = fr_idmap_get(&st->signature, key)))
			*known = read_signature(st, l->entry[i].name);
		file[i].signature = known ? *known : 0;
	}
}

/* Of those that were removed, what is in no file any more. */
static void note_gone(struct fr_store *st, const struct fr_quota_file *file, size_t cnt)
{
	size_t i, k;

	for (i = 0; i < cnt && st->gone_cnt < FR_STORE_GONE_MAX; i++) {
		if (!file[i].remove || !file[i].gone || !file[i].signature)
			continue;
		for (k = 0; k < cnt && (file[k].gone || file[k].signature != file[i].signature); k++)
			;
		if (k == cnt)
			st->gone[st->gone_cnt++] = file[i].signature;
	}
}

u32 fr_store_take_gone(struct fr_store *st, u64 gone[FR_STORE_GONE_MAX])
{
	u32 cnt = st->gone_cnt;

	memcpy(gone, st->gone, cnt * sizeof(*gone));
	st->gone_cnt = 0;
	return cnt;
}

/* It cannot be removed: it stays, and others go in its place. */
static void keep_stuck(struct fr_store *st, struct fr_quota_file *file, const char *name, int err)
{
	file->keep = st->is_stuck = true;
	if (!st->told_stuck)
		fr_warn("cannot remove %s/%s: %s: it stays, and others go in its place: check that it may be written", st->dir,
			name, strerror(-err));
}

static bool is_any_chosen(const struct fr_quota_file *file, size_t cnt)
{
	while (cnt && !file[cnt - 1].remove)
		cnt--;
	return cnt;
}

/*
 * If any is chosen, look at each file once more. Whether all that are may go: those that may not are kept now, and what is no
 * snapshot but for its name counts no more, so choose anew.
 */
static bool may_all_go(struct fr_store *st, const struct listing *l, struct fr_quota_file *file)
{
	bool all = true, marked;
	size_t i;
	int err;

	if (!is_any_chosen(file, l->cnt))
		return true;
	for (i = 0; i < l->cnt; i++) {
		if (file[i].gone)
			continue;
		err = may_remove(l->dir_fd, l->entry[i].name, &marked);
		file[i].gone = err == -EBADMSG;
		all &= !file[i].gone;
		if (!file[i].remove || (!err && !marked))
			continue;
		if (err && err != -EBADMSG)
			keep_stuck(st, &file[i], l->entry[i].name, err);
		file[i].keep |= marked;
		all = false;
	}
	return all;
}

/* Whether all went: if not, choose anew. */
static bool remove_chosen(struct fr_store *st, const struct listing *l, struct fr_quota_file *file, u64 *free_sz, u32 *removed)
{
	bool all = true;
	size_t i;

	for (i = 0; i < l->cnt; i++) {
		if (!file[i].remove)
			continue;
		if (!unlinkat(l->dir_fd, l->entry[i].name, 0)) {
			st->removed++;
			++*removed;
			file[i].gone = true;
			*free_sz += file[i].disk_sz;
		} else if (errno == ENOENT) {
			file[i].gone = true;
		} else {
			keep_stuck(st, &file[i], l->entry[i].name, -errno);
			all = false;
		}
	}
	return all;
}

static const char *cure_of(const struct fr_store *st, enum fr_quota_short is_short, u64 want_sz)
{
	static const char *const cure[] = {
		[FR_QUOTA_COUNT] =
			"marked snapshots fill MaxFiles=: unmark some with `flightrec list --no-keep`, or allow more",
		[FR_QUOTA_BYTES] =
			"marked snapshots fill MaxBytes=: unmark some with `flightrec list --no-keep`, or allow more",
		[FR_QUOTA_FREE] = "the file system is full but for KeepFree=: free some space, or name another directory",
		[FR_QUOTA_INODES] = "the file system has no inode left: remove some files, or name another directory",
	};

	if (is_short == FR_QUOTA_FREE && !st->conf.keep_free)
		return "the file system is full: free some space, or name another directory";
	if (is_short == FR_QUOTA_BYTES && want_sz > st->conf.max_sz)
		return "MaxBytes= is less than one takes: allow more";
	return cure[is_short];
}

static void store_say_short(struct fr_store *st, enum fr_quota_short is_short, u64 want_sz)
{
	char size[32];

	if (!st->told)
		fr_err("no room for a snapshot of about %s in %s: %s", fr_show_size(want_sz, size, sizeof(size)), st->dir,
		       cure_of(st, is_short, want_sz));
	st->told = true;
}

/* Remove what the limits leave no room for. 0 and *is_short, or -ENOMEM. */
static int keep_limits(struct fr_store *st, const struct listing *l, const struct fr_quota_limit *limit,
		       struct fr_quota_now *now, enum fr_quota_short *is_short, u32 *removed)
{
	struct fr_quota_file *file = quota_files(l);

	if (!file)
		return -ENOMEM;
	st->is_stuck = false;
	*is_short = fr_quota_choose(file, l->cnt, limit, now);
	if (is_any_chosen(file, l->cnt))
		find_signatures(st, l, file);
	do
		*is_short = fr_quota_choose(file, l->cnt, limit, now);
	while (!may_all_go(st, l, file) || !remove_chosen(st, l, file, &now->free_sz, removed));
	st->told_stuck = st->is_stuck;
	note_gone(st, file, l->cnt);
	free(file);
	return 0;
}

static int store_make_room(struct fr_store *st, const struct listing *l, u64 want_sz, u64 signature, u32 *removed)
{
	struct fr_quota_limit limit = {st->conf.max_files, st->conf.max_sz, st->conf.max_age_ns, 0};
	struct fr_quota_now now = {.real_ns = fr_now_ns(CLOCK_REALTIME), .want_sz = want_sz, .want_signature = signature};
	enum fr_quota_short is_short = FR_QUOTA_ROOM;
	u64 fs_sz;
	int err;

	disk_space(l->dir_fd, &now.free_sz, &fs_sz, &now.free_files);
	limit.keep_free_sz = fs_sz / 100000 * st->conf.keep_free;
	err = keep_limits(st, l, &limit, &now, &is_short, removed);
	if (!err && is_short > FR_QUOTA_TRY) {
		store_say_short(st, is_short, want_sz);
		return -ENOSPC;
	}
	if (!err)
		st->told = false;
	return err;
}

/* Without any, no snapshot leaves for another: if the disk is full, who writes is told. */
static bool has_quota(const struct fr_store_conf *conf)
{
	return conf->max_files || conf->max_sz || conf->max_age_ns || conf->keep_free;
}

u64 fr_store_want_sz(struct fr_store *st, u64 last_sz)
{
	u64 quarter_sz = st->conf.max_sz / 4;
	struct fr_store_usage u;

	if (!last_sz && !fr_store_usage(st, &u))
		last_sz = u.newest_sz;
	if (last_sz)
		return last_sz;
	return quarter_sz && quarter_sz < WANT_FIRST_SZ ? quarter_sz : WANT_FIRST_SZ;
}

u64 fr_store_want_more(struct fr_store *st, u64 want_sz)
{
	struct fr_store_usage u;

	if (fr_store_usage(st, &u))
		u.free_sz = 0;
	return want_sz + (u.free_sz > want_sz ? u.free_sz : want_sz);
}

int fr_store_make_room(struct fr_store *st, u64 want_sz, u64 signature, u32 *removed)
{
	struct listing l;
	u32 mine = 0;
	int err = store_look(st, &l);

	if (err)
		return err;
	err = has_quota(&st->conf) ? store_make_room(st, &l, want_sz, signature, &mine) : 0;
	close_listing(&l);
	if (removed)
		*removed = mine;
	return err;
}

u64 fr_store_removed(const struct fr_store *st)
{
	return st->removed;
}

const char *fr_store_dir(const struct fr_store *st)
{
	return st->dir;
}

int fr_store_tidy(struct fr_store *st, bool age_only)
{
	const struct fr_quota_limit limit = {
		.max_files = age_only ? 0 : st->conf.max_files,
		.max_sz = age_only ? 0 : st->conf.max_sz,
		.max_age_ns = st->conf.max_age_ns,
	};
	struct fr_quota_now now = {.real_ns = fr_now_ns(CLOCK_REALTIME)};
	enum fr_quota_short is_short;
	struct listing l;
	u32 removed = 0;
	int err;

	if (!limit.max_files && !limit.max_sz && !limit.max_age_ns)
		return 0;
	err = store_look(st, &l);
	if (err)
		return err;
	err = keep_limits(st, &l, &limit, &now, &is_short, &removed);
	close_listing(&l);
	return err;
}

int fr_store_usage(struct fr_store *st, struct fr_store_usage *out)
{
	struct listing l;
	u64 free_files;
	size_t i;

	memset(out, 0, sizeof(*out));
	out->removed = st->removed;
	out->err = open_listing(st->dir, &l);
	if (out->err)
		return out->err;
	for (i = 0; i < l.cnt; i++) {
		out->files++;
		out->marked += l.entry[i].marked;
		out->sz += l.entry[i].sz;
		out->newest_sz = l.entry[i].sz;
	}
	out->err = disk_space(l.dir_fd, &out->free_sz, &out->fs_sz, &free_files);
	/* with the rights in force: a confined recorder is bound by modes, though it is root's */
	if (!out->err && faccessat(l.dir_fd, ".", W_OK | X_OK, AT_EACCESS))
		out->err = -errno;
	close_listing(&l);
	return out->err;
}

/* ---- marks ---- */

int fr_store_mark(const char *path, bool keep)
{
	struct stat st;
	int fd, err = probe(AT_FDCWD, path, &fd);

	if (err)
		return err;
	if (fstat(fd, &st) || fchmod(fd, keep ? st.st_mode & 07777 & ~0222 : (st.st_mode & 07777) | S_IWUSR))
		err = -errno;
	close(fd);
	return err;
}

/* ---- the module ---- */

int fr_store_change(struct fr_store *st, const struct fr_store_conf *conf)
{
	char *dir = strdup(conf->dir);

	if (!dir)
		return -ENOMEM;
	free(st->dir);
	st->dir = dir;
	st->conf = *conf;
	st->conf.dir = dir;
	st->told = st->told_stuck = false;
	st->err = 0;
	return 0;
}

int fr_store_follow(struct fr_store *st, const struct fr_store_conf *conf)
{
	const struct fr_store_conf *was = &st->conf;

	if (!strcmp(was->dir, conf->dir) && was->max_files == conf->max_files && was->max_sz == conf->max_sz &&
	    was->max_age_ns == conf->max_age_ns && was->keep_free == conf->keep_free)
		return 0;
	return fr_store_change(st, conf);
}

struct fr_store_conf fr_store_conf_of(const struct fr_config *c)
{
	return (struct fr_store_conf){
		.dir = c->dir,
		.max_files = c->max_files,
		.max_sz = c->max_sz,
		.max_age_ns = c->max_age_ns,
		.keep_free = c->keep_free,
	};
}

int fr_store_open(const struct fr_store_conf *conf, struct fr_store **out)
{
	struct fr_store *st = calloc(1, sizeof(*st));
	int err = st ? fr_store_change(st, conf) : -ENOMEM;

	if (st)
		fr_idmap_init(&st->signature, sizeof(u64));
	if (err) {
		fr_store_close(st);
		return err;
	}
	*out = st;
	return 0;
}

void fr_store_close(struct fr_store *st)
{
	if (!st)
		return;
	fr_idmap_free(&st->signature);
	free(st->dir);
	free(st);
}
