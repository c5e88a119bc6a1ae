/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* analyze_syscall: which calls were made, how long they took, and which failed. */
#include <errno.h>

#include "base/schema/sysnames.h"
#include "read/analyze/analyze_int.h"
#include "sys/memory.h"

static u64 syscall_key_of(u64 id, u64 abi)
{
	return (abi & 0xff) << 32 | (u32)id;
}

/* Most rows are system calls: find their records without hashing. */
static u32 *near(struct fr_analyze *a, u64 key)
{
	u32 abi = key >> 32, id = key;

	return abi < FR_AN_NEAR_ABIS && id < FR_AN_NEAR_CALLS ? &a->near_call[abi][id] : NULL;
}

static struct fr_an_call *have_call(struct fr_analyze *a, u64 key, u32 *nr)
{
	struct fr_an_call *c = fr_an_get(a, FR_AN_LEFT_calls, &a->res.calls, key, &a->rest.call, FR_MEMORY_ROWS);

	if (!c)
		return NULL;
	c->id = (s32)key;
	c->abi = key >> 32;
	if (nr && c != &a->rest.call)
		*nr = c - (struct fr_an_call *)a->res.calls.rec + 1;
	return c;
}

static inline struct fr_an_call *syscall_find_call(struct fr_analyze *a, u64 key)
{
	u32 *nr = near(a, key);

	return nr && *nr ? (struct fr_an_call *)a->res.calls.rec + (*nr - 1) : have_call(a, key, nr);
}

/* fields: id, abi */
static int syscall_enters(struct fr_analyze *a, const struct fr_an_row *r)
{
	u64 key = syscall_key_of(r->v[0], r->v[1]);
	struct fr_an_call *c;

	if (!r->counted)
		return 0;
	c = syscall_find_call(a, key);
	if (!c)
		return -ENOMEM;
	c->enter_cnt++;
	c->rated_cnt += r->rated;
	r->cpu->call_cnt++;
	r->task->sum.call_cnt++;
	return 0;
}

static int count_error(struct fr_analyze *a, const struct fr_an_row *r, struct fr_an_call *c, u64 key, u16 nr)
{
	struct fr_an_error *e = fr_an_get(a, FR_AN_LEFT_errors, &a->res.errors, key << 12 | nr, &a->rest.error, FR_MEMORY_ROWS);

	if (!e)
		return -ENOMEM;
	e->id = (s32)key;
	e->abi = key >> 32;
	e->errno_nr = nr;
	e->cnt++;
	c->error_cnt++;
	r->task->sum.error_cnt++;
	return 0;
}

static int count_exit(struct fr_analyze *a, const struct fr_an_row *r, u64 key)
{
	struct fr_an_call *c = syscall_find_call(a, key);
	s64 ret = r->v[2];
	u64 ns = r->pair.latency_ns;

	if (!c || (ns && fr_hist_add(&c->latency, ns)))
		return -ENOMEM;
	c->exit_cnt++;
	r->task->sum.call_ns += ns;
	return fr_ret_is_error(ret) ? count_error(a, r, c, key, -ret) : 0;
}

/* fields: id, abi, ret. A call may end with another number than it began with, or none: use the call that was begun. */
static int syscall_exits(struct fr_analyze *a, const struct fr_an_row *r)
{
	u64 key = syscall_key_of(r->v[0], r->v[1]);

	if ((s32)r->v[0] == -1 && a->span->call)
		key = a->span->call - 1;
	else if (r->pair.call_nr != -1)
		key = syscall_key_of((u32)r->pair.call_nr, r->pair.call_abi);
	return r->counted ? count_exit(a, r, key) : 0;
}

const struct fr_an_rule fr_an_syscall_rules[] = {
	{{"sys_enter", {FR_SUB_NUM("id"), FR_SUB_NUM("abi")}}, syscall_enters},
	{{"sys_exit", {FR_SUB_NUM("id"), FR_SUB_NUM("abi"), FR_SUB_NUM("ret")}}, syscall_exits},
	{},
};
