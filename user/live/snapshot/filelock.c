// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/snapshot/filelock.h"

#include <stdlib.h>
#include <string.h>

enum filelock_kind { FILELOCK_FLOCK, FILELOCK_RANGE, FILELOCK_KIND_CNT }; /* those of one kind know nothing of the other's */

struct line {
	long long id; /* those that wait have the id of the lock that they wait for */
	bool waits;
	enum filelock_kind kind;
	struct fr_filelock lock;
};

/* Of leases nobody asks. */
static bool filelock_kind_of(const char *word, enum filelock_kind *kind)
{
	*kind = strcmp(word, "FLOCK") ? FILELOCK_RANGE : FILELOCK_FLOCK;
	return *kind == FILELOCK_FLOCK || !strcmp(word, "POSIX") || !strcmp(word, "OFDLCK");
}

static bool filelock_parse(const char *text, struct line *l)
{
	char kind[16];
	int at = 0;

	if (sscanf(text, "%lld: %n", &l->id, &at) != 1 || !at)
		return false;
	text += at;
	l->waits = !strncmp(text, "->", 2);
	if (l->waits)
		text += 2;
	/* FLOCK ADVISORY WRITE PID WHERE */
	if (sscanf(text, "%15s %*15s %*15s %d %63s", kind, &l->lock.pid, l->lock.where) != 3 ||
	    !filelock_kind_of(kind, &l->kind))
		return false;
	l->lock.is_given = l->kind == FILELOCK_FLOCK;
	return true;
}

static bool filelock_is_of(const struct fr_filelock *l, u64 ino)
{
	const char *nr = strrchr(l->where, ':');

	return nr && strtoull(nr + 1, NULL, 10) == ino;
}

static bool filelock_is_same(const struct fr_filelock *a, const struct fr_filelock *b)
{
	return a->pid == b->pid && a->is_given == b->is_given && !strcmp(a->where, b->where);
}

/* What others than a process have of a file: *pid, who that is, and how many different ones were seen. */
struct others {
	s32 pid;
	u32 cnt;
};

static void filelock_count(struct others *o, s32 pid)
{
	o->cnt += !o->cnt || pid != o->pid;
	o->pid = pid;
}

bool fr_filelock_awaited(FILE *locks, u32 tgid, u64 ino, struct fr_filelock *held)
{
	struct others others[FILELOCK_KIND_CNT] = {};
	struct line taken = {.id = -1}, l;
	bool is_known = false;
	char *text = NULL;
	size_t cap = 0;

	while (getline(&text, &cap, locks) > 0) {
		if (!filelock_parse(text, &l))
			continue;
		if (!l.waits)
			taken = l;
		if (!filelock_is_of(&l.lock, ino))
			continue;
		if (!l.waits && l.lock.pid != (s32)tgid)
			filelock_count(&others[l.kind], l.lock.pid);
		if (!l.waits || l.id != taken.id || l.lock.pid != (s32)tgid)
			continue;
		is_known = true;
		*held = taken.lock;
	}
	free(text);
	/* of a lock of an open file description nobody is told: -1 */
	return is_known && held->pid > 0 && others[held->is_given ? FILELOCK_FLOCK : FILELOCK_RANGE].cnt == 1;
}

bool fr_filelock_is_in(FILE *fdinfo, const struct fr_filelock *held)
{
	bool is_in = false;
	char *text = NULL;
	size_t cap = 0;
	struct line l;

	while (!is_in && getline(&text, &cap, fdinfo) > 0)
		is_in = !strncmp(text, "lock:", 5) && filelock_parse(text + 5 + strspn(text + 5, "\t "), &l) && !l.waits &&
			filelock_is_same(&l.lock, held);
	free(text);
	return is_in;
}
