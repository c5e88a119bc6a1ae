/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/nss.h"

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/errand.h"
#include "sys/patience.h"

/* A question, and what a runner told. */
struct asking {
	const char *name;
	int (*find)(const char *name, void *out);
	void *out;
	u32 sz;
	int err;
};

static struct fr_left left_behind[FR_LEFT_MAX]; /* of all that this process asked */

enum { TOLD_ERROR, TOLD_ANSWER };

static u32 nss_one(void *arg)
{
	(void)arg;
	return 1;
}

static void nss_run(void *arg, u32 item, struct fr_errand_out *to)
{
	struct asking *a = arg;
	int err = a->find(a->name, a->out);

	(void)item;
	if (err)
		fr_errand_tell(to, TOLD_ERROR, &err, sizeof(err));
	else
		fr_errand_tell(to, TOLD_ANSWER, a->out, a->sz);
}

static void nss_take(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	struct asking *a = arg;

	(void)item;
	if (kind == TOLD_ERROR && sz == sizeof(a->err)) {
		memcpy(&a->err, data, sz);
	} else if (kind == TOLD_ANSWER && sz == a->sz) {
		memcpy(a->out, data, sz);
		a->err = 0;
	}
}

static void nss_miss(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	struct asking *a = arg;

	(void)item;
	(void)step;
	a->err = why == FR_ERRAND_DIED || why == FR_ERRAND_FORK ? -EIO : -ETIMEDOUT;
}

static int nss_ask(struct asking *a, void (*leave)(void *arg), void *leave_arg)
{
	const struct fr_errand_job job = {.arg = a, .cnt = nss_one, .run = nss_run, .take = nss_take, .miss = nss_miss};
	const struct fr_errand e = {
		.job = &job,
		.job_cnt = 1,
		.item_ns = fr_patience_ns(FR_NSS_NS),
		.all_ns = fr_patience_ns(FR_NSS_NS),
		.left = left_behind,
		.leave = leave,
		.leave_arg = leave_arg,
	};

	a->err = -EIO;
	return fr_errand_run(&e) ?: a->err;
}

/* ---- in the runner ---- */

static struct passwd *nss_look_up(const char *name)
{
	unsigned long uid;

	errno = 0;
	if (!*name || name[strspn(name, "0123456789")])
		return getpwnam(name);
	uid = strtoul(name, NULL, 10);
	return errno || uid >= (uid_t)-1 ? NULL : getpwuid(uid);
}

/* What is not there has many names; getpwnam(3). */
static int why_none(void)
{
	return errno == EIO || errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : -ENOENT;
}

static int nss_find_user(const char *name, void *out)
{
	struct fr_nss_user *u = out;
	struct passwd *pw = nss_look_up(name);

	if (!pw)
		return why_none();
	if (strlen(pw->pw_name) >= sizeof(u->name) || strlen(pw->pw_dir) >= sizeof(u->home))
		return -ENAMETOOLONG;
	u->uid = pw->pw_uid;
	u->gid = pw->pw_gid;
	strcpy(u->name, pw->pw_name);
	strcpy(u->home, pw->pw_dir);
	u->group_cnt = FR_NSS_GROUP_MAX;
	return getgrouplist(u->name, u->gid, u->group, &u->group_cnt) < 0 ? -E2BIG : 0;
}

static int find_uid(const char *name, void *out)
{
	struct passwd *pw;

	errno = 0;
	pw = getpwnam(name);
	if (!pw)
		return why_none();
	memcpy(out, &pw->pw_uid, sizeof(pw->pw_uid));
	return 0;
}

static int nss_find_group(const char *name, void *out)
{
	struct group *g;

	errno = 0;
	g = getgrnam(name);
	if (!g)
		return why_none();
	memcpy(out, &g->gr_gid, sizeof(g->gr_gid));
	return 0;
}

/* ---- asking ---- */

int fr_nss_user(const char *name, void (*leave)(void *arg), void *leave_arg, struct fr_nss_user *out)
{
	int err = nss_ask(&(struct asking){.name = name, .find = nss_find_user, .out = out, .sz = sizeof(*out)}, leave,
			  leave_arg);

	if (err)
		return err;
	out->name[sizeof(out->name) - 1] = out->home[sizeof(out->home) - 1] = 0;
	return out->group_cnt >= 0 && out->group_cnt <= FR_NSS_GROUP_MAX ? 0 : -EIO;
}

int fr_nss_group(const char *name, void (*leave)(void *arg), void *leave_arg, gid_t *out)
{
	return nss_ask(&(struct asking){.name = name, .find = nss_find_group, .out = out, .sz = sizeof(*out)}, leave,
		       leave_arg);
}

int fr_nss_uid(const char *name, void (*leave)(void *arg), void *leave_arg, u32 *out)
{
	return nss_ask(&(struct asking){.name = name, .find = find_uid, .out = out, .sz = sizeof(*out)}, leave, leave_arg);
}
