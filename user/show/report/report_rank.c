/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_rank: the order of each table: what costs most time comes first, and equal rows are ordered by their key. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "show/report/report.h"

struct item {
	u64 weight, then, key;
	const void *rec;
};

static int by_weight(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->then != y->then)
		return x->then > y->then ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static const struct {
	const char *name, *what;
	size_t at;
} sorts[] = {
	{"oncpu", "time on a CPU", offsetof(struct fr_an_sums, oncpu_ns)},
	{"offcpu", "off it", offsetof(struct fr_an_sums, offcpu_ns)},
	{"queued", "waiting for one", offsetof(struct fr_an_sums, queued_ns)},
	{"blocked", "in D", offsetof(struct fr_an_sums, blocked_ns)},
	{"runs", "times that they got a CPU", offsetof(struct fr_an_sums, run_cnt)},
	{"wakes", "of others", offsetof(struct fr_an_sums, wake_cnt)},
	{"syscalls", "system calls", offsetof(struct fr_an_sums, call_cnt)},
	{"errors", "of these, failed", offsetof(struct fr_an_sums, error_cnt)},
	{"bytes", "of block requests", offsetof(struct fr_an_sums, io_bytes)},
	{"samples", "of running code", offsetof(struct fr_an_sums, sample_cnt)},
	{"events", "of any kind", offsetof(struct fr_an_sums, event_cnt)},
};

bool fr_report_sort_name(u32 i, const char **name, const char **what)
{
	if (i >= sizeof(sorts) / sizeof(sorts[0]))
		return false;
	*name = sorts[i].name;
	*what = sorts[i].what;
	return true;
}

static const struct {
	const char *name, *what;
	enum fr_rank rank;
} groups[] = {
	/* the usual ones */
	{"task", "each task", FR_RANK_TASKS},
	{"process", "each process", FR_RANK_PROCESSES},
	{"cgroup", "those of one cgroup", FR_RANK_CGROUPS},
	/* others */
	{"program", "the processes of one name", FR_RANK_PROGRAMS},
	{"container", "those of one container, and those of none", FR_RANK_CONTAINERS},
};

bool fr_report_by_name(u32 i, const char **name, const char **what)
{
	if (i >= sizeof(groups) / sizeof(groups[0]))
		return false;
	*name = groups[i].name;
	*what = groups[i].what;
	return true;
}

bool fr_report_has(const struct fr_report_ask *ask, enum fr_rank what)
{
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (groups[i].rank == what)
			return ask->by >> i & 1;
	return true;
}

static void weigh_sums(struct item *i, const struct fr_an_sums *s, u32 sort)
{
	memcpy(&i->weight, (const char *)s + sorts[sort].at, sizeof(i->weight));
	i->then = sort ? s->oncpu_ns : s->event_cnt;
}

static void weigh_hist(struct item *i, const struct fr_hist *h, u64 cnt)
{
	i->weight = fr_hist_sum(h);
	i->then = cnt;
}

static void rank_weigh(struct item *i, enum fr_rank what, u32 sort)
{
	const struct fr_an_block *b = i->rec;
	const struct fr_an_wait *w = i->rec;

	switch (what) {
	case FR_RANK_PROCESSES:
	case FR_RANK_CGROUPS:
	case FR_RANK_PROGRAMS:
	case FR_RANK_CONTAINERS:
		weigh_sums(i, &((const struct fr_an_group *)i->rec)->sum, sort);
		break;
	case FR_RANK_CALLS:
		weigh_hist(i, &((const struct fr_an_call *)i->rec)->latency, ((const struct fr_an_call *)i->rec)->enter_cnt);
		break;
	case FR_RANK_ERRORS:
		i->weight = ((const struct fr_an_error *)i->rec)->cnt;
		break;
	case FR_RANK_REASONS:
		weigh_hist(i, &((const struct fr_an_reason *)i->rec)->offcpu, 0);
		break;
	case FR_RANK_WAITS:
		i->weight = w->wakeup_ns + w->offcpu_ns;
		i->then = w->cnt;
		break;
	case FR_RANK_BLOCKS:
		weigh_hist(i, &b->latency, b->begin_cnt);
		break;
	default:
		weigh_hist(i, &((const struct fr_an_irq *)i->rec)->latency, ((const struct fr_an_irq *)i->rec)->begin_cnt);
	}
}

static const struct fr_tally *tally_of(const struct fr_an_result *res, enum fr_rank what)
{
	const struct fr_tally *tally[FR_RANK_CNT] = {
		[FR_RANK_PROCESSES] = &res->processes, [FR_RANK_CGROUPS] = &res->cgroups,	[FR_RANK_CALLS] = &res->calls,
		[FR_RANK_ERRORS] = &res->errors,       [FR_RANK_REASONS] = &res->reasons,	[FR_RANK_WAITS] = &res->waits,
		[FR_RANK_PROGRAMS] = &res->programs,   [FR_RANK_CONTAINERS] = &res->containers, [FR_RANK_BLOCKS] = &res->blocks,
		[FR_RANK_IRQS] = &res->irqs,	       [FR_RANK_SOFTIRQS] = &res->softirqs,
	};

	return tally[what];
}

/* Only tasks that have events or time on a CPU. Idle tasks are left out: they belong to the table of CPUs. */
static u32 rank_list_tasks(const struct fr_an_result *res, struct item *item, u32 sort)
{
	u32 i, cnt = 0;

	for (i = FR_AN_IDLE + 1; i < res->task_cnt; i++) {
		const struct fr_an_task *t = res->task[i];

		if (!t->sum.event_cnt && !t->sum.oncpu_ns && !t->sum.run_cnt && !t->sum.migrate_cnt)
			continue;
		item[cnt] = (struct item){.rec = t, .key = i};
		weigh_sums(&item[cnt++], &t->sum, sort);
	}
	return cnt;
}

static u32 rank_list_tally(const struct fr_tally *t, enum fr_rank what, struct item *item, u32 sort)
{
	u32 i;

	for (i = 0; i < t->cnt; i++) {
		item[i].rec = fr_tally_at(t, i);
		item[i].key = *(const u64 *)item[i].rec;
		rank_weigh(&item[i], what, sort);
	}
	return t->cnt;
}

static int rank_one(struct fr_report *r, enum fr_rank what)
{
	const struct fr_tally *t = what == FR_RANK_TASKS ? NULL : tally_of(r->res, what);
	u32 max = t ? t->cnt : r->res->task_cnt, i;
	struct item *item = calloc(max + 1, sizeof(*item));
	struct fr_report_rank *out = &r->rank[what];

	out->rec = calloc(max + 1, sizeof(*out->rec));
	if (!item || !out->rec) {
		free(item);
		return -ENOMEM;
	}
	out->all = t ? rank_list_tally(t, what, item, r->ask->sort) : rank_list_tasks(r->res, item, r->ask->sort);
	out->cnt = r->ask->top && out->all > r->ask->top ? r->ask->top : out->all;
	qsort(item, out->all, sizeof(*item), by_weight);
	for (i = 0; i < out->all; i++)
		out->rec[i] = item[i].rec;
	free(item);
	return 0;
}

int fr_report_rank(struct fr_report *r)
{
	enum fr_rank what;
	int err = 0;

	for (what = 0; what < FR_RANK_CNT && !err; what++)
		err = rank_one(r, what);
	return err;
}
