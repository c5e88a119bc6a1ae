/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/cgroup_soon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sys/errand.h"
#include "sys/now.h"
#include "sys/patience.h"

#define PATH_SZ	  4096
#define KNOWN_MAX 16u
#define CAN_NAME  0 /* no cgroup's id */

struct known {
	u64 id; /* 0: free */
	u64 asked_ns;
	char path[PATH_SZ];
};

struct fr_cgroup_soon {
	void (*leave)(void *arg);
	void *leave_arg;
	u64 quiet_until_ns;
	struct fr_left left[FR_LEFT_MAX];
	struct known known[KNOWN_MAX];
};

/* A question, and what a runner told. */
struct asking {
	u64 id;
	s32 err;
	char path[PATH_SZ];
};

static u32 soon_one(void *arg)
{
	(void)arg;
	return 1;
}

/* All of them wait for the same locks. */
static u64 soon_key(void *arg, u32 item)
{
	(void)arg;
	(void)item;
	return 1;
}

static void soon_run(void *arg, u32 item, struct fr_errand_out *to)
{
	struct asking *a = arg;

	(void)item;
	a->err = a->id == CAN_NAME ? fr_cgroup_can_name() : fr_cgroup_path(a->id, a->path, sizeof(a->path));
	fr_errand_tell(to, 0, a, sizeof(*a));
}

static void soon_take(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	struct asking *a = arg;

	(void)item;
	(void)kind;
	if (sz != sizeof(*a))
		return;
	memcpy(a, data, sz);
	a->path[sizeof(a->path) - 1] = 0;
	a->err = a->err > 0 ? -EIO : a->err;
}

static void soon_miss(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	struct asking *a = arg;

	(void)item;
	(void)step;
	a->err = why == FR_ERRAND_DIED || why == FR_ERRAND_FORK ? -EIO : -ETIMEDOUT;
}

static int soon_ask(struct fr_cgroup_soon *c, struct asking *a)
{
	const struct fr_errand_job job = {
		.arg = a, .cnt = soon_one, .key = soon_key, .run = soon_run, .take = soon_take, .miss = soon_miss};
	const struct fr_errand e = {
		.job = &job,
		.job_cnt = 1,
		.item_ns = fr_patience_ns(FR_CGROUP_SOON_NS),
		.all_ns = fr_patience_ns(FR_CGROUP_SOON_NS),
		.left = c->left,
		.leave = c->leave,
		.leave_arg = c->leave_arg,
	};

	if (fr_now_ns(CLOCK_MONOTONIC) < c->quiet_until_ns)
		return -ETIMEDOUT;
	a->err = -EIO;
	if (fr_errand_run(&e))
		return -EIO;
	if (a->err == -ETIMEDOUT)
		c->quiet_until_ns = fr_now_ns(CLOCK_MONOTONIC) + fr_patience_ns(FR_CGROUP_QUIET_NS);
	return a->err;
}

static bool is_fresh(const struct known *k, u64 now_ns)
{
	return now_ns - k->asked_ns < FR_CGROUP_KEEP_NS;
}

static const struct known *soon_find(const struct fr_cgroup_soon *c, u64 id, u64 now_ns)
{
	u32 i;

	for (i = 0; i < KNOWN_MAX; i++)
		if (c->known[i].id == id && is_fresh(&c->known[i], now_ns))
			return &c->known[i];
	return NULL;
}

/* In the place of the oldest one. */
static void soon_keep(struct fr_cgroup_soon *c, const struct asking *a, u64 now_ns)
{
	struct known *k = c->known;
	u32 i;

	for (i = 1; i < KNOWN_MAX; i++)
		if (c->known[i].asked_ns < k->asked_ns)
			k = &c->known[i];
	k->id = a->id;
	k->asked_ns = now_ns;
	memcpy(k->path, a->path, sizeof(k->path));
}

static int soon_copy(const char *path, char *buf, size_t sz)
{
	return (size_t)snprintf(buf, sz, "%s", path) < sz ? 0 : -ENAMETOOLONG;
}

int fr_cgroup_soon_path(struct fr_cgroup_soon *c, u64 id, char *buf, size_t sz)
{
	u64 now_ns = fr_now_ns(CLOCK_MONOTONIC);
	const struct known *k = soon_find(c, id, now_ns);
	struct asking *a;
	int err;

	if (k)
		return soon_copy(k->path, buf, sz);
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->id = id;
	err = soon_ask(c, a);
	if (!err)
		soon_keep(c, a, now_ns);
	err = err ?: soon_copy(a->path, buf, sz);
	free(a);
	return err;
}

int fr_cgroup_soon_can_name(struct fr_cgroup_soon *c)
{
	struct asking *a = calloc(1, sizeof(*a));
	int err = a ? 0 : -ENOMEM;

	if (a) {
		a->id = CAN_NAME;
		err = soon_ask(c, a);
	}
	free(a);
	return err;
}

struct fr_cgroup_soon *fr_cgroup_soon_new(void (*leave)(void *arg), void *leave_arg)
{
	struct fr_cgroup_soon *c = calloc(1, sizeof(*c));

	if (c) {
		c->leave = leave;
		c->leave_arg = leave_arg;
	}
	return c;
}

void fr_cgroup_soon_free(struct fr_cgroup_soon *c)
{
	free(c);
}
