/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * analyze_task: the tasks. A tid belongs to one task until a fork gives it to another. Tasks are allocated in blocks and never
 * move. Names, processes and cgroups are looked up at the end, once per task.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "flow/analyze/analyze_int.h"

#define BY_TID_SZ ((FR_TID_MASK + 1) * sizeof(struct fr_an_task *))

int fr_an_tasks_init(struct fr_analyze *a)
{
	/* most of it is never touched, and takes no memory; calloc() might clear it */
	void *p = mmap(NULL, BY_TID_SZ, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	a->names = NULL;
	a->by_tid = p == MAP_FAILED ? NULL : p;
	if (!a->by_tid)
		return -ENOMEM;
	return fr_an_new_task(a, 0) ? 0 : -ENOMEM;
}

void fr_an_sums_free(struct fr_an_sums *s)
{
	fr_hist_free(&s->wakeup);
}

void fr_an_tasks_free(struct fr_analyze *a)
{
	u32 i;

	for (i = 0; i < a->res.task_cnt; i++)
		fr_an_sums_free(&a->task[i]->sum);
	for (i = 0; i < a->owned_cnt; i++)
		free(a->owned[i]);
	free(a->owned);
	free(a->task);
	if (a->by_tid)
		munmap(a->by_tid, BY_TID_SZ);
}

static void *own(struct fr_analyze *a, size_t sz)
{
	void **owned = realloc(a->owned, (a->owned_cnt + 1) * sizeof(*owned));
	void *p = owned ? calloc(FR_AN_BLOCK_SZ, sz) : NULL;

	a->owned = owned ?: a->owned;
	if (p)
		a->owned[a->owned_cnt++] = p;
	return p;
}

/* Room for FR_AN_BLOCK_SZ more. */
static int add_block(struct fr_analyze *a)
{
	struct fr_an_task **task = realloc(a->task, (a->task_cap + FR_AN_BLOCK_SZ) * sizeof(*task));

	if (!task)
		return -ENOMEM;
	a->task = task;
	a->res.task = task;
	a->block = own(a, sizeof(*a->block));
	a->block_state = own(a, sizeof(*a->block_state));
	if (!a->block || !a->block_state)
		return -ENOMEM;
	a->task_cap += FR_AN_BLOCK_SZ;
	return 0;
}

struct fr_an_task *fr_an_new_task(struct fr_analyze *a, u32 tid)
{
	u32 nr = a->res.task_cnt;
	struct fr_an_task *t;

	if (nr == a->task_cap && add_block(a))
		return NULL;
	t = &a->block[nr % FR_AN_BLOCK_SZ];
	t->nr = nr;
	t->tid = tid;
	t->pid = -1;
	t->state = &a->block_state[nr % FR_AN_BLOCK_SZ];
	a->task[nr] = t;
	a->by_tid[tid] = t;
	a->res.task_cnt++;
	return t;
}

/* ---- cgroups, from the snapshot's table of tasks ---- */

static int by_tid_and_start(const void *a, const void *b)
{
	const struct fr_snap_task *x = *(const struct fr_snap_task *const *)a, *y = *(const struct fr_snap_task *const *)b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* The last of the table's tasks with this tid that had begun by then; NULL: none. */
static const struct fr_snap_task *find_in_table(const struct fr_snap_task *const *table, size_t cnt, u32 tid, u64 ts)
{
	size_t lo = 0, hi = cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (table[mid]->tid < tid || (table[mid]->tid == tid && table[mid]->start_ns <= ts))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && table[lo - 1]->tid == tid ? table[lo - 1] : NULL;
}

static int find_cgroups(struct fr_analyze *a)
{
	size_t cnt, j;
	const struct fr_snap_task *t = fr_snap_tasks(a->snap, &cnt), *found;
	const struct fr_snap_task **table = calloc(cnt + 1, sizeof(*table));
	u32 i;

	if (!table)
		return -ENOMEM;
	for (j = 0; j < cnt; j++)
		table[j] = &t[j];
	qsort(table, cnt, sizeof(*table), by_tid_and_start);
	for (i = 0; i < a->res.task_cnt; i++) {
		struct fr_an_task *task = a->task[i];

		found = task->tid ? find_in_table(table, cnt, task->tid, task->seen_ns) : NULL;
		task->cgroup = found && found->task.cgroup ? found->task.cgroup : task->state->cgroup;
	}
	free(table);
	return 0;
}

/* ---- names ---- */

static void find_names(struct fr_analyze *a)
{
	u32 i;

	for (i = 0; i < a->res.task_cnt && a->names; i++) {
		struct fr_an_task *t = a->task[i];
		struct fr_who who = fr_names_who(a->names, t->tid, t->seen_ns, 0);

		t->pid = who.pid;
		t->comm = t->tid ? who.comm : "idle";
		t->comm_len = t->tid ? who.len : 4;
	}
}

/* ---- sums ---- */

static int add_sums(struct fr_an_sums *to, const struct fr_an_sums *s)
{
	to->event_cnt += s->event_cnt;
	to->oncpu_ns += s->oncpu_ns;
	to->rated_oncpu_ns += s->rated_oncpu_ns;
	to->run_cnt += s->run_cnt;
	to->preempt_cnt += s->preempt_cnt;
	to->offcpu_ns += s->offcpu_ns;
	to->queued_ns += s->queued_ns;
	to->blocked_ns += s->blocked_ns;
	to->wake_cnt += s->wake_cnt;
	to->migrate_cnt += s->migrate_cnt;
	to->call_cnt += s->call_cnt;
	to->call_ns += s->call_ns;
	to->error_cnt += s->error_cnt;
	to->fault_user += s->fault_user;
	to->fault_kernel += s->fault_kernel;
	to->io_cnt += s->io_cnt;
	to->io_bytes += s->io_bytes;
	to->sample_cnt += s->sample_cnt;
	return fr_hist_merge(&to->wakeup, &s->wakeup);
}

static int add_to_group(struct fr_tally *groups, u64 key, u32 nr, const struct fr_an_sums *s)
{
	struct fr_an_group *g = fr_tally_get(groups, key);

	if (!g)
		return -ENOMEM;
	if (!g->task_cnt++)
		g->task = nr;
	return add_sums(&g->sum, s);
}

static int sum_up(struct fr_analyze *a)
{
	u32 i;
	int err = 0;

	for (i = FR_AN_IDLE + 1; i < a->res.task_cnt && !err; i++) {
		const struct fr_an_task *t = a->task[i];

		err = add_sums(&a->res.all, &t->sum);
		err = err ?: add_to_group(&a->res.processes, t->pid < 0 ? ~0ULL : (u64)t->pid, i, &t->sum);
		err = err ?: add_to_group(&a->res.cgroups, t->cgroup, i, &t->sum);
		/* the process's first thread, which has its name */
		if (!err && t->pid == (s32)t->tid)
			((struct fr_an_group *)fr_tally_find(&a->res.processes, t->pid))->task = i;
	}
	return err;
}

int fr_an_tasks_end(struct fr_analyze *a)
{
	int err = find_cgroups(a);

	find_names(a);
	return err ?: sum_up(a);
}
