/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nss: users and groups of this host (nsswitch.conf(5)). Who knows them may be a server that does not answer, so they are asked
 * by an errand (sys/errand.h), for FR_NSS_NS. A process leaves FR_LEFT_MAX runners behind, at most: while there are so many,
 * nothing is looked up.
 */
#ifndef FR_NSS_H
#define FR_NSS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "types.h"

#define FR_NSS_NS	 2000000000ULL
#define FR_NSS_GROUP_MAX 1024

struct fr_nss_user {
	uid_t uid;
	gid_t gid;
	char name[LOGIN_NAME_MAX];
	char home[PATH_MAX];
	int group_cnt;
	gid_t group[FR_NSS_GROUP_MAX];
};

/*
 * A user by name or number; a number is digits alone: "" and " 0" are not root. 0 and *out; -ENOENT: there is none; -ETIMEDOUT:
 * who knows does not answer; -E2BIG: it is in too many groups; -errno. Without a message. leave: in the runner: give up memory
 * that must not stay if it is left behind; NULL: there is none.
 */
int fr_nss_user(const char *name, void (*leave)(void *arg), void *leave_arg, struct fr_nss_user *out);

/* The number of a user by name alone. As above. */
int fr_nss_uid(const char *name, void (*leave)(void *arg), void *leave_arg, u32 *out);

/* A group by name. As above. */
int fr_nss_group(const char *name, void (*leave)(void *arg), void *leave_arg, gid_t *out);

#endif
