/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hook_spawn: a command becomes a process of another user, which is told what a request asks. */
#ifndef FR_HOOK_SPAWN_H
#define FR_HOOK_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "live/hook/hook.h"

/* The user to become, looked up in advance: a child between fork() and execve() may not. */
struct fr_hook_user {
	bool change; /* false: stay as we are */
	uid_t uid;
	gid_t gid;
	gid_t *group;
	int group_cnt;
	char *name, *home;
};

/* Of conf, user and leave() are used. 0; -ENOENT: no such user; -errno; with a message. */
int fr_hook_find_user(const struct fr_hook_conf *conf, struct fr_hook_user *out);
void fr_hook_user_free(struct fr_hook_user *u);

/* A copy of a request: the file, and the environment built from the rest. NULL: no memory. */
#define FR_HOOK_ENV_MAX 20u
struct fr_hook_own {
	char *file;
	char *env[FR_HOOK_ENV_MAX + 1];
	u32 env_cnt;
};
struct fr_hook_own *fr_hook_own(const struct fr_hook_ask *ask);
void fr_hook_own_free(struct fr_hook_own *o);

/* A child on its way to be the command: it tells a positive errno if it does not become it, and else closes the pipe. */
struct fr_hook_process {
	pid_t pid;
	int pidfd, tell_fd; /* tell_fd: not blocking */
};

/* Start it, and wait for nothing; of conf, leave() is used. 0 and *out; -errno. */
int fr_hook_spawn(const struct fr_hook_conf *conf, const char *command, const struct fr_hook_user *user,
		  const struct fr_hook_own *own, struct fr_hook_process *out);

#endif
