/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sess_end: detach a session's programs, remove its pins. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/set/vec.h"
#include "live/session/bpffs.h"
#include "live/session/sess_int.h"
#include "sys/dir.h"

int fr_sess_link_id(int fd, u32 *link, u32 *prog)
{
	struct bpf_link_info info = {};
	u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	*link = info.id;
	*prog = info.prog_id;
	return 0;
}

bool fr_sess_is_gone(const struct fr_sess *s)
{
	return !fr_bpffs_is_at(AT_FDCWD, s->dir, s->dir_fd);
}

/* A link disappears with its last reference, some time after its pin: wait until the kernel no longer knows it. */
static void wait_gone(u32 link)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	int fd, tries;

	for (tries = 0; tries < 5000; tries++) {
		fd = bpf_link_get_fd_by_id(link);
		if (fd < 0)
			return;
		close(fd);
		nanosleep(&nap, NULL);
	}
}

struct links {
	u32 *id;
	u32 cnt;
};

static int add_id(struct links *l, u32 id)
{
	u32 *more = fr_vec_more(&l->id, l->cnt);

	if (!more)
		return -ENOMEM;
	l->cnt++;
	*more = id;
	return 0;
}

/* Links are pinned as link-EVENT; those of trigger programs as trig-GENERATION-PROGRAM, of the incident log as inc-PROGRAM. */
static bool is_link(const char *pin)
{
	return !strncmp(pin, "link-", 5) || !strncmp(pin, "trig-", 5) || !strncmp(pin, "inc-", 4);
}

/* Note the link behind a pin, and remove the pin. */
static int drop_link(const struct fr_sess *s, const char *pin, struct links *links)
{
	int fd = fr_sess_get_pin(s, pin), err = 0;
	u32 id = 0, prog;
	char path[512];

	if (fd >= 0) {
		if (!fr_sess_link_id(fd, &id, &prog))
			err = add_id(links, id);
		close(fd);
	}
	snprintf(path, sizeof(path), "%s/%s", s->dir, pin);
	if (unlink(path))
		err = err ?: -errno;
	return err;
}

/* Pairs with fr_enabled() (bpf/record.bpf.h): programs that begin from here on record nothing. */
static void disable_events(struct fr_session *shared)
{
	u32 nr;

	for (nr = 0; shared && nr < FR_EVENT_MAX; nr++)
		__atomic_store_n(&shared->enable[nr], 0, __ATOMIC_RELEASE);
}

/*
 * Without its meta it is unfinished, like one that is just being made: nobody opens it half removed, and if we are killed it is
 * swept away.
 */
static int hide(const struct fr_sess *s)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/meta", s->dir);
	return unlink(path) && errno != ENOENT ? -errno : 0;
}

int fr_sess_detach(struct fr_sess *s)
{
	DIR *d = opendir(s->dir);
	struct links links = {};
	struct dirent *e;
	int err, list_err = 0, one;
	u32 i;

	if (!d)
		return -errno;
	err = hide(s);
	disable_events(s->shared);
	while ((e = fr_dir_next(d, &list_err))) {
		one = is_link(e->d_name) ? drop_link(s, e->d_name, &links) : 0;
		err = err ?: one;
	}
	closedir(d);
	err = err ?: list_err;
	for (i = 0; i < links.cnt; i++)
		wait_gone(links.id[i]);
	free(links.id);
	/* programs still running on other CPUs are in RCU read-side critical sections */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	return err;
}

int fr_sess_remove(struct fr_sess *s)
{
	return fr_bpffs_remove(s->dir);
}
