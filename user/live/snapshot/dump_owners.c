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
 *	  the kernel says: this process			told if it has the lock, or one near it, and has one thread
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
#include "sys/patience.h"

#define OWNERS_CPU_NS (100 * 1000000ULL)
#define THREADS_MAX   4096u /* of a process in another pid namespace, each of which is asked for its tid there */
#define FILES_MAX     1024u /* of a process, each of which is asked for its locks */
#define HEIRS_MAX     64u   /* processes that may have the file of one that took its lock */

struct fr_dump_owners {
	struct fr_dump *d;
	struct fr_vec lock; /* struct fr_dump_lock, those of a process beside each other */
	struct fr_vec proc; /* u32: where the locks of each process begin; of files' locks behind all others */
	char *locks;	    /* /proc/locks */
	size_t locks_cap;
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

/* Is this descriptor a file's with a path? Of others, as of epoll, fdinfo may be long, and its reader hold up who uses them. */
static bool owners_is_file(int fds, const char *fd)
{
	char to[2] = "";

	return isdigit((unsigned char)*fd) && readlinkat(fds, fd, to, sizeof(to)) > 0 && *to == '/';
}

/* Has this process a file open that has the lock? */
static bool owners_has(u32 pid, const struct fr_filelock *held)
{
	u32 left = FILES_MAX;
	bool found = false;
	struct dirent *e;
	char path[300];
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	dir = opendir(path);
	while (dir && !found && left-- && (e = fr_dir_next(dir, &err))) {
		FILE *f;

		if (!owners_is_file(dirfd(dir), e->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%u/fdinfo/%s", pid, e->d_name);
		f = fopen(path, "re");
		found = f && fr_filelock_is_in(f, held);
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Pids begin anew behind the largest. */
static u32 owners_distance(u32 a, u32 b, u32 pid_max)
{
	u32 d = a < b ? b - a : a - b;

	return d < pid_max && pid_max - d < d ? pid_max - d : d;
}

struct heir {
	u32 pid, distance;
};

static int owners_nearest(const void *a, const void *b)
{
	const struct heir *x = a, *y = b;

	return x->distance < y->distance ? -1 : x->distance > y->distance;
}

static int owners_find_heirs(u32 pid, struct fr_vec *heirs)
{
	char text[32];
	u32 pid_max = owners_status(AT_FDCWD, "/proc/sys/kernel/pid_max", text, sizeof(text)) ? strtoul(text, NULL, 10) : ~0u;
	DIR *dir = opendir("/proc");
	struct heir h = {0};
	struct dirent *e;
	int err = 0;

	while (dir && !err && (e = fr_dir_next(dir, &err))) {
		h.pid = isdigit((unsigned char)e->d_name[0]) ? strtoul(e->d_name, NULL, 10) : 0;
		h.distance = owners_distance(h.pid, pid, pid_max);
		if (h.pid && h.distance)
			err = fr_vec_add(heirs, &h, 1);
	}
	if (dir)
		closedir(dir);
	if (heirs->cnt)
		qsort(heirs->at, heirs->cnt, sizeof(h), owners_nearest);
	return err;
}

/*
 * Who took it has ended, or given its file away: as flock(1), which takes the lock of a shell's open file, or who begins a
 * daemon. Its pid is near those of its parent and its children: so many are asked.
 */
static u32 owners_heir(const struct fr_filelock *held)
{
	struct fr_vec heirs = {.item_sz = sizeof(struct heir)};
	const struct heir *h;
	u32 found = 0, i;

	if (!owners_find_heirs(held->pid, &heirs)) {
		for (i = 0, h = heirs.at; i < heirs.cnt && i < HEIRS_MAX && !found; i++)
			found = owners_has(h[i].pid, held) ? h[i].pid : 0;
	}
	fr_vec_free(&heirs);
	return found;
}

/* Which of a process's threads took it nobody knows. */
static bool owners_is_one_thread(u32 pid)
{
	char path[32], text[4096];
	u64 cnt;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	return owners_status(AT_FDCWD, path, text, sizeof(text)) && owners_number(text, "\nThreads:", &cnt) && cnt == 1;
}

/* The text of /proc/locks, read once: those whose waits still stand waited when it was read. */
static FILE *owners_locks(struct fr_dump_owners *o)
{
	FILE *f;

	if (!o->locks) {
		f = fopen("/proc/locks", "re");
		if (f && getdelim(&o->locks, &o->locks_cap, 0, f) < 0 && o->locks)
			*o->locks = 0;
		if (f)
			fclose(f);
	}
	return o->locks && *o->locks ? fmemopen(o->locks, strlen(o->locks), "r") : NULL;
}

/* dir: the waiter's. */
static u32 owners_of_file(struct fr_dump_owners *o, int dir, const struct fr_dump_lock *l)
{
	struct fr_filelock held;
	char path[32], text[4096];
	bool is_known;
	FILE *locks;
	u32 pid;
	u64 ino;

	snprintf(path, sizeof(path), "fdinfo/%u", l->fd);
	if (!owners_status(dir, path, text, sizeof(text)) || !owners_number(text, "\nino:", &ino)) /* since 5.14 */
		return 0;
	locks = owners_locks(o);
	is_known = locks && fr_filelock_awaited(locks, l->tgid, ino, &held);
	if (locks)
		fclose(locks);
	if (!is_known)
		return 0;
	pid = owners_has(held.pid, &held) ? (u32)held.pid : held.is_given ? owners_heir(&held) : 0;
	return pid && owners_is_one_thread(pid) ? pid : 0;
}

static u32 owners_of_word(int dir, const struct fr_dump_lock *l)
{
	u32 claimed = owners_claimed(dir, l);

	return claimed ? owners_thread(dir, claimed) : 0;
}

static u32 owners_of(struct fr_dump_owners *o, const struct fr_dump_lock *l)
{
	char path[32];
	int dir;
	u32 owner = 0;

	snprintf(path, sizeof(path), "/proc/%u", l->tid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return 0;
	if (owners_stands(dir, l)) {
		owner = l->is_file ? owners_of_file(o, dir, l) : owners_of_word(dir, l);
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
		told.owner = owners_of(o, &l[told.at]);
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

	if (x->is_file != y->is_file)
		return x->is_file ? 1 : -1;
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
		if (!i || l[i].tgid != l[i - 1].tgid || l[i].is_file != l[i - 1].is_file)
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
					.cpu_ns = fr_patience_ns(OWNERS_CPU_NS)};
	return o;
}

void fr_dump_owners_free(struct fr_dump_owners *o)
{
	if (!o)
		return;
	fr_vec_free(&o->lock);
	fr_vec_free(&o->proc);
	free(o->locks);
	free(o);
}
