/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/snapshot/askdir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sys/errand.h"

struct asking {
	struct fr_sess *s;
	const char *dir;
	void (*run)(void *arg, void *out);
	void *arg, *out;
	u32 sz;
	int err;
};

static u32 askdir_one(void *arg)
{
	(void)arg;
	return 1;
}

/* Of a directory, not of a process: its name's hash (FNV-1a). */
static u64 askdir_key(void *arg, u32 item)
{
	const struct asking *a = arg;
	u64 hash = 0xcbf29ce484222325ULL;
	const char *p;

	(void)item;
	for (p = a->dir; *p; p++)
		hash = (hash ^ (u8)*p) * 0x100000001b3ULL;
	return hash | 1;
}

static void askdir_run(void *arg, u32 item, struct fr_errand_out *out)
{
	const struct asking *a = arg;

	(void)item;
	a->run(a->arg, a->out);
	fr_errand_tell(out, 0, a->out, a->sz);
}

static void askdir_take(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	struct asking *a = arg;

	(void)item;
	(void)kind;
	if (sz != a->sz)
		return;
	memcpy(a->out, data, sz);
	a->err = 0;
}

static void askdir_miss(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	struct asking *a = arg;

	(void)item;
	(void)step;
	if (a->err)
		a->err = why == FR_ERRAND_DIED || why == FR_ERRAND_FORK ? -EIO : -ETIMEDOUT;
}

/* The rings' memory must go when the session goes, whoever is left behind. What is closed is the runner's copy. */
static void askdir_leave(void *arg)
{
	const struct asking *a = arg;

	fr_sess_close(a->s);
}

static int askdir_ask(const struct asking *asked, struct fr_left *left, u64 ns)
{
	struct asking a = *asked;
	const struct fr_errand_job job = {
		.arg = &a, .cnt = askdir_one, .key = askdir_key, .run = askdir_run, .take = askdir_take, .miss = askdir_miss};
	const struct fr_errand e = {
		.job = &job,
		.job_cnt = 1,
		.item_ns = ns,
		.all_ns = ns,
		.left = left,
		.leave = askdir_leave,
		.leave_arg = &a,
	};

	return fr_errand_run(&e) ?: a.err;
}

int fr_askdir(struct fr_sess *s, const char *dir, u64 ns, void (*do_it)(void *arg, void *out), void *arg, void *out, u32 sz)
{
	const struct asking a = {.s = s, .dir = dir, .run = do_it, .arg = arg, .out = out, .sz = sz, .err = -EIO};

	return askdir_ask(&a, s ? fr_sess_shared(s)->left_dir : NULL, ns);
}

int fr_askfile(struct fr_sess *s, const char *path, u64 ns, void (*do_it)(void *arg, void *out), void *arg, void *out, u32 sz)
{
	static struct fr_left left_behind[FR_LEFT_MAX]; /* of all that this process asked */
	const struct asking a = {.s = s, .dir = path, .run = do_it, .arg = arg, .out = out, .sz = sz, .err = -EIO};

	return askdir_ask(&a, left_behind, ns);
}
