/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * analyze_groups: what tasks did, added up: of all, of each process and cgroup; and of processes, by the program that they run
 * and the container that they are in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows/cgroups.h"
#include "read/analyze/analyze_int.h"
#include "sys/memory.h"

static int groups_add_sums(struct fr_an_sums *to, const struct fr_an_sums *s)
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

/* Some of its times from being woken to running are not to be had. */
static void groups_leave_out_wakeup(struct fr_an_sums *s)
{
	s->wakeup_left_out = true;
	fr_hist_free(&s->wakeup);
}

/* A part of a group: a task, or for programs and containers a process. NULL: it has no place there, for lack of memory. */
static struct fr_an_group *groups_add(struct fr_analyze *a, enum fr_an_left what, struct fr_tally *groups, u64 key,
				      const struct fr_an_sums *s)
{
	struct fr_an_group *g = fr_an_get(a, what, groups, key, &a->rest.group, FR_MEMORY_SUMS);
	struct fr_an_sums without_wakeup = *s;
	u64 more;

	if (!g)
		return NULL;
	more = fr_hist_merge_sz(&g->sum.wakeup, &s->wakeup);
	if (!s->wakeup_left_out && !g->sum.wakeup_left_out && (!more || fr_memory_has_room(more, FR_MEMORY_SUMS)))
		return groups_add_sums(&g->sum, s) ? NULL : g;
	groups_leave_out_wakeup(&g->sum);
	without_wakeup.wakeup = (struct fr_hist){};
	return groups_add_sums(&g->sum, &without_wakeup) ? NULL : g;
}

static int groups_add_task(struct fr_analyze *a, enum fr_an_left what, struct fr_tally *groups, u64 key, u32 nr)
{
	struct fr_an_group *g = groups_add(a, what, groups, key, &a->task[nr]->sum);

	if (g && !g->task_cnt++)
		g->task = nr;
	return g ? 0 : -ENOMEM;
}

/* ---- processes, by program and container ---- */

struct groups_named {
	const char *name; /* NULL: not known */
	size_t len;
	const struct fr_an_group *process;
};

static int groups_compare(const struct groups_named *x, const struct groups_named *y)
{
	size_t len = x->len < y->len ? x->len : y->len;
	int cmp = x->name && y->name ? memcmp(x->name, y->name, len) : !!x->name - !!y->name;

	return cmp ?: x->len < y->len ? -1 : x->len > y->len;
}

static int groups_by_name(const void *a, const void *b)
{
	const struct groups_named *x = a, *y = b;

	return groups_compare(x, y) ?: x->process->key < y->process->key ? -1 : x->process->key > y->process->key;
}

static void groups_program(const struct fr_analyze *a, struct groups_named *n)
{
	(void)a;
	n->name = n->process->comm;
	n->len = n->process->comm_len;
}

/* What no other container has: its id, or else its name. Empty: it is in none. */
static void groups_container(const struct fr_analyze *a, struct groups_named *n)
{
	const struct fr_an_task *t = a->task[n->process->task];
	const struct fr_belongs *b = fr_cgroups_belongs(a->cgroups, t->pid, t->seen_ns, t->cgroup);

	n->name = b ? b->text[FR_BELONGS_container_id] ?: b->text[FR_BELONGS_container] ?: "" : NULL;
	n->len = n->name ? strlen(n->name) : 0;
}

/* What belongs to no process that is known is in the group that is not known. */
static int groups_of_processes(struct fr_analyze *a, enum fr_an_left what, struct fr_tally *groups,
			       void (*name)(const struct fr_analyze *a, struct groups_named *n))
{
	u32 cnt = a->res.processes.cnt, i;
	struct groups_named *n = calloc(cnt + 1, sizeof(*n));
	struct fr_an_group *g;
	u64 key = 0;
	int err = n ? 0 : -ENOMEM;

	for (i = 0; n && i < cnt; i++) {
		n[i].process = fr_tally_at(&a->res.processes, i);
		if (n[i].process->key != FR_AN_NO_PROCESS)
			name(a, &n[i]);
	}
	if (n)
		qsort(n, cnt, sizeof(*n), groups_by_name);
	for (i = 0; i < cnt && !err; i++) {
		key += n[i].name && (!i || groups_compare(&n[i - 1], &n[i]));
		g = groups_add(a, what, groups, key, &n[i].process->sum);
		if (!g) {
			err = -ENOMEM;
			break;
		}
		if (!g->task_cnt) {
			g->task = n[i].process->task;
			g->comm = n[i].process->comm;
			g->comm_len = n[i].process->comm_len;
		}
		g->task_cnt += n[i].process->task_cnt;
		g->process_cnt += n[i].process->key != FR_AN_NO_PROCESS;
	}
	free(n);
	return err;
}

/* First threads may have no row in the window, and be no task of it. */
static void groups_find_names(struct fr_analyze *a)
{
	u32 i;

	for (i = 0; i < a->res.processes.cnt && a->names; i++) {
		struct fr_an_group *g = fr_tally_at(&a->res.processes, i);
		struct fr_who who = {0};

		if (g->key != FR_AN_NO_PROCESS)
			who = fr_names_who(a->names, g->key, a->task[g->task]->seen_ns, 0);
		g->comm = who.comm;
		g->comm_len = who.comm ? who.len : 0;
	}
}

int fr_an_sum_up(struct fr_analyze *a)
{
	struct fr_an_result *res = &a->res;
	struct fr_an_group *process;
	u32 i;
	int err = 0;

	for (i = FR_AN_IDLE + 1; i < res->task_cnt && !err; i++) {
		const struct fr_an_task *t = a->task[i];

		err = groups_add_sums(&res->all, &t->sum);
		err = err
			      ?: groups_add_task(a, FR_AN_LEFT_processes, &res->processes,
						 t->pid < 0 ? FR_AN_NO_PROCESS : (u64)t->pid, i);
		err = err ?: groups_add_task(a, FR_AN_LEFT_cgroups, &res->cgroups, t->cgroup, i);
		/* the process's first thread, if it is a task of the window */
		process = err || t->pid != (s32)t->tid ? NULL : fr_tally_find(&res->processes, t->pid);
		if (process)
			process->task = i;
	}
	groups_find_names(a);
	if (a->grouped)
		err = err ?: groups_of_processes(a, FR_AN_LEFT_programs, &res->programs, groups_program);
	if (a->grouped && a->cgroups)
		err = err ?: groups_of_processes(a, FR_AN_LEFT_containers, &res->containers, groups_container);
	err = err ?: groups_add_sums(&res->all, &a->rest.own.sum);
	err = err ?: groups_add_sums(&res->all, &a->rest.other.sum);
	res->left_event_cnt = a->rest.own.sum.event_cnt;
	return err;
}
