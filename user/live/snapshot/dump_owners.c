/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_owners: who holds the locks that tasks still wait for: as the locks' own memory says (bpf/owner.h), or of a file's lock
 * as the kernel does (filelock.h). The memory may be a file's whose server does not answer, so a runner reads it
 * (sys/errand.h).
 *
 *	of each process with tasks in futex(), flock() or fcntl(): an item
 *	  has the task left a CPU since it was looked at?	then it may wait for something else: nothing is told
 *	  the lock's memory says: this tid			in the process's own pid namespace
 *	  a thread of the process that lives has it		told; otherwise nobody is
 *	  the kernel says: this process			told if a file of it has the lock, or of one before it
 *	  has the task left a CPU meanwhile?			as above
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/snapshot/dump_int.h"
#include "live/snapshot/filelock.h"
#include "owner.h"
#include "sys/dir.h"
#include "sys/ns.h"

#define OWNERS_CPU_NS (100 * 1000000ULL)
#define THREADS_MAX   4096u /* of a process in another pid namespace, each of which is asked for its tid there */
#define FILES_MAX     1024u /* of a process, each of which is asked for its locks */
#define HEIRS_MAX     64u   /* processes that may have the file of one that took its lock */

struct fr_dump_owners {
	struct fr_dump *d;
	struct fr_vec lock; /* struct fr_dump_lock, those of a process beside each other */
	struct fr_vec proc; /* u32: where the locks of each process begin */
};

/* What the runner tells. */
struct owner_told {
	u32 at; /* in locks */
	u32 owner;
};

/* ---- the runner ---- */

/* The number behind a name in the text of /proc/PID/status, the last one of its line; false: it is not there. */
static bool owners_number(const char *status, const char *name, u64 *out)
{
	const char *line = strstr(status, name), *end, *last;

	if (!line)
		return false;
	end = strchrnul(line + 1, '\n'); /* the name begins with the one before */
	for (last = end; last > line && isdigit((unsigned char)last[-1]); last--)
		;
	*out = strtoull(last, NULL, 10);
	return last < end;
}

static bool owners_status(int dir, const char *path, char *buf, size_t sz)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sz - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* Is the task still where it was when it was looked at? */
static bool owners_stands(int dir, const struct fr_dump_lock *l)
{
	char text[4096];
	u64 tgid, mine, forced;

	return owners_status(dir, "status", text, sizeof(text)) && owners_number(text, "\nTgid:", &tgid) && tgid == l->tgid &&
	       owners_number(text, "\nvoluntary_ctxt_switches:", &mine) &&
	       owners_number(text, "\nnonvoluntary_ctxt_switches:", &forced) && mine + forced == l->switch_cnt;
}

/* Is this entry of a process's task directory a living thread with that tid in its own pid namespace? */
static bool owners_is_thread(int tasks, const char *tid, u32 claimed)
{
	char path[32], text[4096];
	const char *state;
	u64 nr;

	if (snprintf(path, sizeof(path), "%.16s/status", tid) >= (int)sizeof(path) ||
	    !owners_status(tasks, path, text, sizeof(text)))
		return false;
	state = strstr(text, "\nState:\t");
	return state && !strchr("ZX", state[8]) && owners_number(text, "\nNSpid:", &nr) && nr == claimed;
}

/* The tid of the thread of this process that has the claimed one in its own pid namespace; 0: there is none. */
static u32 owners_thread(int proc, u32 claimed)
{
	int fd = openat(proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	u32 left = THREADS_MAX, found = 0;
	struct dirent *e;
	char name[16];

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	snprintf(name, sizeof(name), "%u", claimed);
	if (owners_is_thread(fd, name, claimed))
		found = claimed;
	while (!found && left-- && (e = fr_dir_next(dir, &err)))
		if (isdigit((unsigned char)e->d_name[0]) && owners_is_thread(fd, e->d_name, claimed))
			found = strtoul(e->d_name, NULL, 10);
	closedir(dir);
	return found;
}

static u32 owners_claimed(int dir, const struct fr_dump_lock *l)
{
	u32 sz = fr_owner_sz(l->op, l->val);
	struct fr_lock lock = {};
	int fd = openat(dir, "mem", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, &lock, sz, l->addr);

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)sz ? fr_owner_claimed(l->op, l->val, &lock) : 0;
}

static FILE *owners_open(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

/* Has this process a file open that has the lock? */
static bool owners_has(u32 pid, const struct fr_filelock *held)
{
	char path[32];
	u32 left = FILES_MAX;
	bool found = false;
	struct dirent *e;
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/fdinfo", pid);
	dir = opendir(path);
	while (dir && !found && left-- && (e = fr_dir_next(dir, &err))) {
		FILE *f = isdigit((unsigned char)e->d_name[0]) ? owners_open(dirfd(dir), e->d_name) : NULL;

		found = f && fr_filelock_is_in(f, held);
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return found;
}

static int owners_downwards(const void *a, const void *b)
{
	const u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/*
 * Who took it has ended, or given its file away: as flock(1) does, which takes the lock of a shell's open file. Such a one
 * began before: the processes with the next lower pids are asked, so many.
 */
static u32 owners_heir(const struct fr_filelock *held)
{
	struct fr_vec pids = {.item_sz = sizeof(u32)};
	DIR *dir = opendir("/proc");
	struct dirent *e;
	u32 pid, found = 0, i;
	int err = 0;

	while (dir && (e = fr_dir_next(dir, &err))) {
		pid = isdigit((unsigned char)e->d_name[0]) ? strtoul(e->d_name, NULL, 10) : 0;
		if (pid && pid < (u32)held->pid)
			err = fr_vec_add(&pids, &pid, 1);
	}
	if (dir)
		closedir(dir);
	if (pids.cnt)
		qsort(pids.at, pids.cnt, sizeof(pid), owners_downwards);
	for (i = 0; i < pids.cnt && i < HEIRS_MAX && !found && !err; i++)
		if (owners_has(((u32 *)pids.at)[i], held))
			found = ((u32 *)pids.at)[i];
	fr_vec_free(&pids);
	return found;
}

/* dir: the waiter's. */
static u32 owners_of_file(int dir, const struct fr_dump_lock *l)
{
	struct fr_filelock held;
	char path[32], text[4096];
	bool is_known;
	FILE *locks;
	u64 ino;

	snprintf(path, sizeof(path), "fdinfo/%u", l->fd);
	if (!owners_status(dir, path, text, sizeof(text)) || !owners_number(text, "\nino:", &ino)) /* since 5.14 */
		return 0;
	locks = fopen("/proc/locks", "re");
	is_known = locks && fr_filelock_awaited(locks, l->tgid, ino, &held);
	if (locks)
		fclose(locks);
	if (!is_known)
		return 0;
	return owners_has(held.pid, &held) ? (u32)held.pid : owners_heir(&held);
}

static u32 owners_of_word(int dir, const struct fr_dump_lock *l)
{
	u32 claimed = owners_claimed(dir, l);

	return claimed ? owners_thread(dir, claimed) : 0;
}

static u32 owners_of(const struct fr_dump_lock *l)
{
	char path[32];
	int dir;
	u32 owner = 0;

	snprintf(path, sizeof(path), "/proc/%u", l->tid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return 0;
	if (owners_stands(dir, l)) {
		owner = l->is_file ? owners_of_file(dir, l) : owners_of_word(dir, l);
		if (owner == l->tid || (owner && !owners_stands(dir, l)))
			owner = 0;
	}
	close(dir);
	return owner;
}

static size_t owners_end(const struct fr_dump_owners *o, u32 item)
{
	const u32 *from = o->proc.at;

	return item + 1 < o->proc.cnt ? from[item + 1] : o->lock.cnt;
}

static void owners_run(void *arg, u32 item, struct fr_errand_out *out)
{
	struct fr_dump_owners *o = arg;
	const struct fr_dump_lock *l = o->lock.at;
	struct owner_told told;

	/* in any other pid namespace than the events', these tids would be other tasks */
	if (!fr_ns_is_first(FR_NS_PID))
		return;
	for (told.at = ((const u32 *)o->proc.at)[item]; told.at < owners_end(o, item); told.at++) {
		told.owner = owners_of(&l[told.at]);
		if (told.owner)
			fr_errand_tell(out, 0, &told, sizeof(told));
	}
}

/* ---- the asker ---- */

static void owners_take(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	struct fr_dump_owners *o = arg;
	const struct fr_dump_lock *l = o->lock.at;
	struct owner_told told;

	if (kind || sz != sizeof(told))
		return;
	memcpy(&told, data, sz);
	if (told.at >= ((const u32 *)o->proc.at)[item] && told.at < owners_end(o, item) && told.owner <= FR_TID_MASK)
		fr_dump_state_is_owned(o->d, l[told.at].state, told.owner);
}

static u32 owners_cnt(void *arg)
{
	return ((struct fr_dump_owners *)arg)->proc.cnt;
}

static u64 owners_key(void *arg, u32 item)
{
	struct fr_dump_owners *o = arg;

	return ((const struct fr_dump_lock *)o->lock.at)[((const u32 *)o->proc.at)[item]].tgid;
}

static void owners_miss(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	struct fr_dump_owners *o = arg;

	(void)step;
	fr_unread_add(&o->d->unread, owners_key(arg, item), "locks", why);
}

static int owners_by_process(const void *a, const void *b)
{
	const struct fr_dump_lock *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int owners_list(struct fr_dump_owners *o)
{
	struct fr_dump_lock *l;
	u32 i;
	int err = fr_dump_find_locks(o->d, &o->lock);

	l = o->lock.at;
	if (!err && o->lock.cnt)
		qsort(l, o->lock.cnt, sizeof(*l), owners_by_process);
	for (i = 0; i < o->lock.cnt && !err; i++)
		if (!i || l[i].tgid != l[i - 1].tgid)
			err = fr_vec_add(&o->proc, &i, 1);
	return err;
}

struct fr_dump_owners *fr_dump_owners_new(struct fr_dump *d, struct fr_errand_job job[FR_DUMP_OWNERS_JOB_CNT])
{
	struct fr_dump_owners *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->d = d;
	o->lock.item_sz = sizeof(struct fr_dump_lock);
	o->proc.item_sz = sizeof(u32);
	if (owners_list(o)) {
		fr_dump_owners_free(o);
		return NULL;
	}
	job[0] = (struct fr_errand_job){.arg = o,
					.cnt = owners_cnt,
					.key = owners_key,
					.run = owners_run,
					.take = owners_take,
					.miss = owners_miss,
					.cpu_ns = OWNERS_CPU_NS};
	return o;
}

void fr_dump_owners_free(struct fr_dump_owners *o)
{
	if (!o)
		return;
	fr_vec_free(&o->lock);
	fr_vec_free(&o->proc);
	free(o);
}
