// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/snapshot/filelock.h"

#include <stdlib.h>
#include <string.h>

struct line {
	long long id; /* those that wait have the id of the lock that they wait for */
	bool waits;
	struct fr_filelock lock;
};

static bool filelock_parse(const char *text, struct line *l)
{
	int at = 0;

	if (sscanf(text, "%lld: %n", &l->id, &at) != 1 || !at)
		return false;
	text += at;
	l->waits = !strncmp(text, "->", 2);
	if (l->waits)
		text += 2;
	/* FLOCK ADVISORY WRITE PID WHERE */
	return sscanf(text, "%*15s %*15s %*15s %d %63s", &l->lock.pid, l->lock.where) == 2;
}

static bool filelock_is_of(const struct fr_filelock *l, u64 ino)
{
	const char *nr = strrchr(l->where, ':');

	return nr && strtoull(nr + 1, NULL, 10) == ino;
}

static bool filelock_is_same(const struct fr_filelock *a, const struct fr_filelock *b)
{
	return a->pid == b->pid && !strcmp(a->where, b->where);
}

bool fr_filelock_awaited(FILE *locks, u32 tgid, u64 ino, struct fr_filelock *held)
{
	struct line taken = {.id = -1}, l;
	u32 found = 0;
	char *text = NULL;
	size_t cap = 0;

	while (getline(&text, &cap, locks) > 0) {
		if (!filelock_parse(text, &l))
			continue;
		if (!l.waits)
			taken = l;
		else if (l.id == taken.id && l.lock.pid == (s32)tgid && filelock_is_of(&l.lock, ino)) {
			found += !found || !filelock_is_same(held, &taken.lock);
			*held = taken.lock;
		}
	}
	free(text);
	return found == 1 && held->pid > 0; /* of a lock of an open file description nobody is told: -1 */
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
