/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/rateask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "live/session/sess_int.h"
#include "sys/dir.h"

#define TURN   "asked"
#define MARK   "asked-"
#define BEFORE "asked-before"

#define LOOKS	4
#define LOOK_NS 1000000

/* Open a directory of the session: an fd, locked according to op, or -errno. */
static int lock_dir(const struct fr_sess *s, const char *name, int op)
{
	int fd, err;

	fd = openat(s->dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	while (flock(fd, op)) {
		err = -errno;
		if (err == -EINTR)
			continue;
		close(fd);
		return err;
	}
	return fd;
}

/* Not once the session ends: the directory of a session that is being removed must stay empty. */
static int rateask_make_dir(const struct fr_sess *s, const char *name)
{
	return mkdirat(s->dir_fd, name, 0700) && errno != EEXIST ? -errno : 0;
}

/*
 * Is this rate still requested? If it is our turn, remove it when it is not. A process that looks without waiting for its turn
 * also holds the lock for a moment; a real request stays locked, so look several times.
 */
static bool rateask_is_asked(const struct fr_sess *s, const char *name, bool tidy)
{
	int fd = lock_dir(s, name, LOCK_EX | LOCK_NB), i;

	for (i = 0; tidy && fd == -EWOULDBLOCK && i < LOOKS; i++) {
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
		fd = lock_dir(s, name, LOCK_EX | LOCK_NB);
	}
	if (fd == -EWOULDBLOCK)
		return true;
	if (fd >= 0) {
		if (tidy)
			unlinkat(s->dir_fd, name, AT_REMOVEDIR);
		close(fd);
	}
	return false;
}

/* Find the highest rate still requested (*asked), and the highest that has a mark at all (*left). */
static int find_most(const struct fr_sess *s, bool tidy, u32 *asked, u32 *left)
{
	int fd = openat(s->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	u32 hz;
	int err;

	if (!d) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	*asked = *left = 0;
	err = 0;
	while ((e = fr_dir_next(d, &err))) {
		hz = strncmp(e->d_name, MARK, strlen(MARK)) ? 0 : strtoul(e->d_name + strlen(MARK), NULL, 10);
		if (!hz)
			continue;
		*left = hz > *left ? hz : *left;
		if (rateask_is_asked(s, e->d_name, tidy))
			*asked = hz > *asked ? hz : *asked;
	}
	closedir(d);
	return err;
}

u32 fr_rateask_most(const struct fr_sess *s)
{
	u32 asked = 0, left;

	find_most(s, false, &asked, &left);
	return asked;
}

/* 0: unknown. */
static u32 read_before(const struct fr_sess *s)
{
	char text[16] = "";

	return readlinkat(s->dir_fd, BEFORE, text, sizeof(text) - 1) < 0 ? 0 : strtoul(text, NULL, 10);
}

static int write_before(const struct fr_sess *s, u32 hz)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", hz);
	unlinkat(s->dir_fd, BEFORE, 0);
	return symlinkat(text, s->dir_fd, BEFORE) ? -errno : 0;
}

static u32 rateask_more(u32 a, u32 b)
{
	return a > b ? a : b;
}

/* The first request notes the current rate. What killed requesters noted still holds if the rate is as they left it. */
static int note_before(struct fr_sess *s, u32 asked, u32 left, u32 *before)
{
	const u32 now = fr_sess_sample_hz(s);

	*before = read_before(s);
	if (*before && (asked || now == rateask_more(left, *before)))
		return 0;
	*before = now;
	return write_before(s, now);
}

static int take_turn(struct fr_rateask *a)
{
	a->turn_fd = lock_dir(a->s, TURN, LOCK_EX);
	return a->turn_fd < 0 ? a->turn_fd : 0;
}

int fr_rateask_begin(struct fr_rateask *a, struct fr_sess *s, u32 hz, u32 *want)
{
	u32 asked = 0, left = 0, before = 0;
	char name[32];
	int err;

	*a = (struct fr_rateask){.s = s, .turn_fd = -1, .mark_fd = -1};
	snprintf(name, sizeof(name), MARK "%u", hz);
	err = rateask_make_dir(s, TURN) ?: take_turn(a);
	err = err ?: find_most(s, true, &asked, &left);
	err = err ?: note_before(s, asked, left, &before);
	err = err ?: rateask_make_dir(s, name);
	if (!err) {
		a->mark_fd = lock_dir(s, name, LOCK_SH);
		err = a->mark_fd < 0 ? a->mark_fd : 0;
	}
	if (err)
		fr_rateask_done(a);
	else
		*want = rateask_more(hz, rateask_more(asked, before));
	return err;
}

int fr_rateask_end(struct fr_rateask *a, u32 *was, u32 *want)
{
	u32 asked = 0, left = 0, before = 0;
	int err;

	fr_rateask_done(a); /* the process that began was killed meanwhile, and we hold its turn */
	err = take_turn(a);
	err = err ?: find_most(a->s, true, &asked, &left);
	if (!err) {
		before = read_before(a->s);
		*was = rateask_more(asked, before);
		flock(a->mark_fd, LOCK_UN);
		err = find_most(a->s, true, &asked, &left);
	}
	if (err) {
		fr_rateask_done(a);
		return err;
	}
	*want = rateask_more(asked, before);
	if (!asked)
		unlinkat(a->s->dir_fd, BEFORE, 0);
	return 0;
}

/* A child forked meanwhile shares the lock, so unlock explicitly. */
void fr_rateask_done(struct fr_rateask *a)
{
	if (a->turn_fd < 0)
		return;
	flock(a->turn_fd, LOCK_UN);
	close(a->turn_fd);
	a->turn_fd = -1;
}
