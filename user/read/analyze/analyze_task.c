/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * analyze_task: the tasks. A tid belongs to one task until a fork gives it to another. Tasks are allocated in blocks and never
 * move. Names and cgroups are looked up at the end, once per task.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/vec.h"
#include "read/analyze/analyze_int.h"
#include "sys/memory.h"

int fr_an_tasks_init(struct fr_analyze *a)
{
	a->names = NULL;
	a->rest.own = (struct fr_an_task){.tid = FR_AN_REST_TID, .pid = -1, .state = &a->rest.own_state};
	a->rest.other = (struct fr_an_task){.tid = FR_AN_REST_TID, .pid = -1, .state = &a->rest.other_state};
	return fr_an_new_task(a, 0, true, false) ? 0 : -ENOMEM;
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
	fr_an_sums_free(&a->rest.own.sum);
	fr_an_sums_free(&a->rest.other.sum);
	free(a->rest.seen);
	fr_tidmap_free(&a->by_tid);
}

static void *task_own(struct fr_analyze *a, size_t sz)
{
	void **owned = fr_vec_more(&a->owned, a->owned_cnt);
	void *p = owned ? calloc(FR_AN_BLOCK_SZ, sz) : NULL;

	if (p)
		a->owned[a->owned_cnt++] = p;
	return p;
}

/* Room for FR_AN_BLOCK_SZ more. */
static int task_add_block(struct fr_analyze *a)
{
	struct fr_an_task **task = realloc(a->task, (a->task_cap + FR_AN_BLOCK_SZ) * sizeof(*task));

	if (!task)
		return -ENOMEM;
	a->task = task;
	a->res.task = task;
	a->block = task_own(a, sizeof(*a->block));
	a->block_state = task_own(a, sizeof(*a->block_state));
	if (!a->block || !a->block_state)
		return -ENOMEM;
	a->task_cap += FR_AN_BLOCK_SZ;
	return 0;
}

/* A task in focus has its place whatever else has. */
static bool task_is_left_out(struct fr_analyze *a, u32 tid)
{
	u64 sz = a->res.task_cnt < a->task_cap
			 ? 0
			 : FR_AN_BLOCK_SZ * (sizeof(*a->task) + sizeof(*a->block) + sizeof(*a->block_state));

	if (!a->full[FR_AN_LEFT_tasks] && !fr_memory_has_row_room(sz + FR_TIDMAP_PAGE_SZ))
		a->full[FR_AN_LEFT_tasks] = true;
	return a->full[FR_AN_LEFT_tasks] && tid && tid != a->res.focus.tid;
}

/* Count it once, unless it is a new task with an old one's tid. */
static struct fr_an_task *task_leave_out(struct fr_analyze *a, u32 tid, bool own, bool is_born)
{
	struct fr_an_task *t = own ? &a->rest.own : &a->rest.other;
	u64 *tid_at = fr_tidmap_get(&a->by_tid, tid) ? fr_tidmap_at(&a->by_tid, tid) : NULL;

	if (!a->rest.seen)
		a->rest.seen = calloc((FR_TID_MASK + 1) / 64, sizeof(*a->rest.seen));
	if (!a->rest.seen)
		return NULL;
	if (tid_at)
		*tid_at = 0;
	if (is_born || !(a->rest.seen[tid / 64] >> tid % 64 & 1))
		a->res.left_out[FR_AN_LEFT_tasks]++;
	a->rest.seen[tid / 64] |= 1ULL << tid % 64;
	*t->state = (struct fr_an_state){};
	return t;
}

struct fr_an_task *fr_an_new_task(struct fr_analyze *a, u32 tid, bool own, bool is_born)
{
	u32 nr = a->res.task_cnt;
	struct fr_an_task *t;
	u64 *at;

	if (task_is_left_out(a, tid))
		return task_leave_out(a, tid, own, is_born);
	at = fr_tidmap_at(&a->by_tid, tid);
	if (!at || (nr == a->task_cap && task_add_block(a)))
		return NULL;
	t = &a->block[nr % FR_AN_BLOCK_SZ];
	t->nr = nr;
	t->tid = tid;
	t->pid = -1;
	t->state = &a->block_state[nr % FR_AN_BLOCK_SZ];
	a->task[nr] = t;
	*at = (uintptr_t)t;
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

int fr_an_first_wakeup(struct fr_analyze *a, struct fr_an_task *t, u64 ns)
{
	struct fr_hist *all = &a->rest.own.sum.wakeup;
	u64 more = fr_hist_growth_sz(&t->sum.wakeup, ns);
	bool fits = !t->sum.wakeup_left_out && (!more || fr_an_is_rest(t) || fr_memory_has_row_room(more));

	if (fits)
		return fr_hist_add(&t->sum.wakeup, ns);
	if (!t->sum.wakeup_left_out) {
		if (fr_hist_merge(all, &t->sum.wakeup))
			return -ENOMEM;
		fr_hist_free(&t->sum.wakeup);
		t->sum.wakeup_left_out = true;
		a->res.left_out[FR_AN_LEFT_wakeups]++;
	}
	return fr_hist_add(all, ns);
}

static int task_find_cgroups(struct fr_analyze *a)
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

static void task_find_names(struct fr_analyze *a)
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

int fr_an_tasks_end(struct fr_analyze *a)
{
	int err = task_find_cgroups(a);

	task_find_names(a);
	return err ?: fr_an_sum_up(a);
}
