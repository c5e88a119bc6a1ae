/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* store_list: all snapshots of a directory, with the facts that each holds. Events are not read. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/set/vec.h"
#include "base/text/units.h"
#include "base/text/wall.h"
#include "live/snapshot/name.h"
#include "live/snapshot/store_int.h"
#include "read/replay/summary.h"
#include "read/snapfile/snapfile.h"
#include "sys/dir.h"

#define SUFFIX ".flight"

/* ---- from a snapshot's facts ---- */

static char *store_copy(const char *text)
{
	return strdup(text ? text : "");
}

/* Wall time of the trigger, 0 unknown. */
static u64 trigger_real_ns(const struct fr_snap *s)
{
	const struct fr_snap_clock *c;
	struct fr_wall wall;
	size_t cnt, i;
	s64 ts;

	if (!fr_snap_fact_num(s, "trigger_ts", &ts))
		return 0;
	fr_wall_init(&wall);
	c = fr_snap_clocks(s, &cnt);
	for (i = 0; i < cnt; i++)
		fr_wall_add(&wall, c[i].ts, c[i].real_ns);
	return fr_wall_real(&wall, ts);
}

static u64 store_num(const struct fr_snap *s, const char *name, u64 most)
{
	s64 v;

	return fr_snap_fact_num(s, name, &v) && v > 0 && (u64)v <= most ? v : 0;
}

static bool take_facts(struct fr_stored *f, const struct fr_snap *s)
{
	u64 real_ns = trigger_real_ns(s);
	size_t cnt = fr_snap_damage(s);

	if (real_ns)
		f->real_ns = real_ns;
	f->reason = store_copy(fr_snap_fact(s, "trigger_reason"));
	f->comm = store_copy(fr_snap_fact(s, "trigger_comm"));
	f->exe = store_copy(fr_snap_fact(s, "trigger_exe"));
	f->boot_id = store_copy(fr_snap_fact(s, "boot_id"));
	f->pid = store_num(s, "trigger_pid", ~0U);
	f->ns_pid = store_num(s, "trigger_ns_pid", ~0U) ?: f->pid;
	f->tid = store_num(s, "trigger_tid", ~0U);
	if (!fr_snap_fact_num(s, "trigger_uid", &f->uid))
		f->uid = -1;
	f->sig = store_num(s, "trigger_sig", 0x7fffffff);
	f->exited = fr_snap_fact(s, "trigger_status");
	f->status = store_num(s, "trigger_status", 255);
	if (cnt)
		f->damage = store_copy(fr_snap_damage_text(s, 0));
	return f->reason && f->comm && f->exe && f->boot_id && (!cnt || f->damage);
}

/* The file could not be opened: its name still tells the reason and the process. */
static bool store_take_name(struct fr_stored *f, const struct fr_name_parts *parts)
{
	f->reason = store_copy(parts->reason);
	f->comm = store_copy(parts->comm);
	f->exe = store_copy("");
	f->boot_id = store_copy("");
	f->pid = f->ns_pid = parts->pid;
	f->uid = -1;
	return f->reason && f->comm && f->exe && f->boot_id;
}

/* The same for a damaged file. */
static bool store_take_damage(struct fr_stored *f, const struct fr_name_parts *parts, const char *why)
{
	f->damage = store_copy(why);
	return store_take_name(f, parts) && f->damage;
}

/* ---- a directory ---- */

struct found {
	struct fr_stored *list;
	size_t cnt;
};

static void store_release(struct fr_stored *f)
{
	free(f->path);
	free(f->reason);
	free(f->comm);
	free(f->exe);
	free(f->boot_id);
	free(f->core);
	free(f->damage);
}

static struct fr_stored *store_next(struct found *l)
{
	struct fr_stored *f = fr_vec_more(&l->list, l->cnt);

	return f ? memset(f, 0, sizeof(*f)) : NULL;
}

/* A file that the system does not let us read may be sound, so it is not called damaged. */
static bool take_error(struct fr_stored *f, const struct fr_name_parts *parts, int err)
{
	switch (err) {
	case -EBADMSG:
		return store_take_damage(f, parts, "not a snapshot, or nothing of it can be read");
	case -EPROTONOSUPPORT:
		return store_take_damage(f, parts, "a snapshot of another version of the format");
	default:
		f->err = err;
		return store_take_name(f, parts);
	}
}

/* 0; -ENOMEM; -ENOENT: the file is gone. */
static int read_one(struct fr_stored *f, const char *name, const struct stat *st)
{
	struct fr_name_parts parts;
	struct fr_snap *s;
	bool ok;
	int err;

	f->sz = st->st_size;
	f->marked = !(st->st_mode & S_IWUSR);
	f->real_ns = fr_name_parse(name, &parts) ? parts.real_ns : st->st_mtim.tv_sec * FR_SEC_NS + st->st_mtim.tv_nsec;
	if (!S_ISREG(st->st_mode))
		return store_take_damage(f, &parts, "not a regular file: not looked into") ? 0 : -ENOMEM;
	err = fr_snap_open(f->path, &s);
	if (err == -ENOMEM || err == -ENOENT)
		return err;
	if (err)
		return take_error(f, &parts, err) ? 0 : -ENOMEM;
	ok = take_facts(f, s);
	fr_snap_close(s);
	return ok ? 0 : -ENOMEM;
}

static int store_add(struct found *l, int dir_fd, const char *dir, const char *name)
{
	struct fr_stored *f = store_next(l);
	struct stat st;
	int err;

	if (!f)
		return -ENOMEM;
	/* gone meanwhile */
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (asprintf(&f->path, "%s/%s", dir, name) < 0) {
		f->path = NULL;
		return -ENOMEM;
	}
	err = read_one(f, name, &st);
	if (err != -ENOENT) {
		l->cnt++;
		return err;
	}
	store_release(f);
	return 0;
}

static bool is_snapshot_name(const char *name)
{
	size_t len = strlen(name), suffix = strlen(SUFFIX);

	return name[0] != '.' && len > suffix && !strcmp(name + len - suffix, SUFFIX);
}

static int store_by_time(const void *a, const void *b)
{
	const struct fr_stored *x = a, *y = b;

	if (x->real_ns != y->real_ns)
		return x->real_ns < y->real_ns ? -1 : 1;
	return strcmp(x->path, y->path);
}

int fr_store_list(const char *dir, struct fr_stored **out, size_t *cnt)
{
	struct found l = {0};
	DIR *d = opendir(dir);
	struct dirent *e;
	int err = d ? 0 : -errno;

	while (d && (e = fr_dir_next(d, &err)))
		if (is_snapshot_name(e->d_name))
			err = store_add(&l, dirfd(d), dir, e->d_name);
	if (d)
		closedir(d);
	if (!err && l.cnt)
		qsort(l.list, l.cnt, sizeof(*l.list), store_by_time);
	err = err ?: fr_store_join_host(l.list, l.cnt);
	if (err) {
		fr_stored_free(l.list, l.cnt);
		return err;
	}
	*out = l.list;
	*cnt = l.cnt;
	return 0;
}

void fr_stored_free(struct fr_stored *list, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		store_release(&list[i]);
	free(list);
}
