/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/tail/tail_know.h"

#include <errno.h>
#include <stdlib.h>

#include "base/offbound.h"
#include "live/snapshot/others.h"
#include "live/snapshot/procs.h"
#include "live/tail/tail_ring.h"
#include "sys/now.h"

#define LEARNT_MOST   (1u << 17) /* rows of names and stacks: some 20 MB */
#define LOOK_AGAIN_NS 1000000000u

void fr_know_free(struct fr_know *k)
{
	fr_names_free(k->names);
	fr_stacks_free(k->stacks);
	fr_cgroups_free(k->cgroups);
	k->names = NULL;
	k->stacks = NULL;
	k->cgroups = NULL;
}

int fr_know_names(struct fr_know *k, const struct fr_batch *b)
{
	k->unready = true;
	k->learnt += b->row_cnt;
	return fr_names_add_batch(k->names, b);
}

int fr_know_stacks(struct fr_know *k, const struct fr_batch *b)
{
	k->learnt += b->row_cnt;
	return fr_stacks_add_batch(k->stacks, b);
}

static int learn(void *arg, const struct fr_batch *b)
{
	return b->tier == FR_TIER_STACK ? fr_know_stacks(arg, b) : fr_know_names(arg, b);
}

static int load_rings(struct fr_know *k)
{
	const struct fr_ring_map *ring;
	u8 *buf = fr_off_bound_new(FR_SUBBUF_PAGE_MAX);
	size_t cnt, i;
	int err = buf ? 0 : -ENOMEM;

	ring = fr_sess_rings(k->s, &cnt);
	for (i = 0; i < cnt && !err; i++)
		if (ring[i].tier == FR_TIER_LIFE || ring[i].tier == FR_TIER_STACK)
			err = fr_tail_ring_scan(&ring[i], buf, k->lapbatch, learn, k);
	fr_off_bound_free(buf);
	return err;
}

static int load_procs(struct fr_know *k, const struct fr_snap_task *task, size_t task_cnt)
{
	const struct fr_procs_ask ask = {.task = task, .task_cnt = task_cnt};
	struct fr_errand_job job[FR_PROCS_JOB_CNT];
	struct fr_procs *p = fr_procs_new(&ask, job);
	struct fr_procs_lack lack;
	const char *text;
	size_t sz;
	int err;

	if (!p)
		return -ENOMEM;
	fr_others_run(k->s, job, FR_PROCS_JOB_CNT, NULL, NULL);
	text = fr_procs_text(p, &sz, &lack);
	err = sz ? fr_cgroups_add_procs(k->cgroups, text, sz) : 0;
	fr_procs_free(p);
	return err;
}

static int load_tasks(struct fr_know *k, bool cgroups_too)
{
	struct fr_snap_task *task = NULL;
	size_t cnt, i;
	int err = fr_sess_read_tasks(k->s, &task, &cnt);

	for (i = 0; !err && i < cnt; i++) {
		err = fr_names_add_task(k->names, task[i].tid, task[i].start_ns, &task[i].task);
		if (!err && cgroups_too)
			err = fr_cgroups_add_task(k->cgroups, task[i].tid, task[i].start_ns, &task[i].task);
	}
	if (!err && cgroups_too)
		err = load_procs(k, task, cnt);
	free(task);
	return err;
}

static int know_load(struct fr_know *k)
{
	int err;

	k->names = fr_names_new();
	k->stacks = fr_stacks_new();
	k->cgroups = k->with_cgroups ? fr_cgroups_new() : NULL;
	if (!k->names || !k->stacks || (k->with_cgroups && !k->cgroups))
		return -ENOMEM;
	err = load_rings(k);
	err = err ?: load_tasks(k, k->with_cgroups);
	return err ?: fr_names_ready(k->names);
}

int fr_know_load(struct fr_know *k)
{
	struct fr_know fresh = {.s = k->s, .lapbatch = k->lapbatch, .with_cgroups = k->with_cgroups};
	int err = know_load(&fresh);

	k->stale = false;
	if (err) {
		fr_know_free(&fresh);
		return err;
	}
	fr_know_free(k);
	k->names = fresh.names;
	k->stacks = fresh.stacks;
	k->cgroups = fresh.cgroups;
	k->learnt = 0;
	k->unready = false;
	return 0;
}

int fr_know_ready(struct fr_know *k)
{
	if (k->stale || k->learnt > LEARNT_MOST)
		fr_know_load(k); /* if that fails, continue with what was known */
	if (!k->unready)
		return 0;
	k->unready = false;
	return fr_names_ready(k->names);
}

/* Forks of our own processes are in the task table only. It is read whole, so what it does not hold is not asked for again
 * soon. */
int fr_know_look(struct fr_know *k, u32 tid, u64 ts)
{
	int err;

	if (k->in_vain_ns && fr_now_ns(CLOCK_MONOTONIC) - k->in_vain_ns < LOOK_AGAIN_NS)
		return 0;
	err = load_tasks(k, false);
	err = err == -ENOMEM ? err : fr_names_ready(k->names);
	k->in_vain_ns = err || fr_names_who(k->names, tid, ts, 0).pid < 0 ? fr_now_ns(CLOCK_MONOTONIC) : 0;
	return err;
}

void fr_know_view(const struct fr_know *k, struct fr_view *v)
{
	v->names = k->names;
	v->stacks = k->stacks;
	v->cgroups = k->cgroups;
}
