/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/snapshot/others.h"

#include "sys/patience.h"

struct leaving {
	struct fr_sess *s;
	void (*leave)(void *arg);
	void *arg;
};

/* The rings' memory must go when the session goes, whoever is left behind. What is closed is the runner's copy. */
static void leave_all(void *arg)
{
	struct leaving *l = arg;

	if (l->leave)
		l->leave(l->arg);
	fr_sess_close(l->s);
}

void fr_others_run(struct fr_sess *s, const struct fr_errand_job *job, u32 cnt, void (*leave)(void *arg), void *arg)
{
	struct leaving l = {s, leave, arg};
	const struct fr_errand e = {
		.job = job,
		.job_cnt = cnt,
		.item_ns = fr_patience_ns(FR_OTHERS_ITEM_NS),
		.all_ns = fr_patience_ns(FR_OTHERS_ALL_NS),
		.left = fr_sess_shared(s)->left,
		.leave = leave_all,
		.leave_arg = &l,
	};

	fr_errand_run(&e);
}
