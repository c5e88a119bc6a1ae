/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* analyze_fault: page faults, samples, and the stacks and signals of the focus task. */
#include <errno.h>
#include <string.h>

#include "read/analyze/analyze_int.h"
#include "sys/memory.h"

static void faults(const struct fr_an_row *r)
{
	r->cpu->fault_cnt += r->counted;
}

static int faults_user(struct fr_analyze *a, const struct fr_an_row *r)
{
	(void)a;
	faults(r);
	r->task->sum.fault_user += r->counted;
	return 0;
}

static int faults_kernel(struct fr_analyze *a, const struct fr_an_row *r)
{
	(void)a;
	faults(r);
	r->task->sum.fault_kernel += r->counted;
	return 0;
}

/* The stack of a task's end goes before one that it had while it waited, and that before a sample's. */
static u32 fault_rank(enum fr_an_stack of)
{
	return of == FR_AN_STACK_CRASH || of == FR_AN_STACK_EXIT ? 2 : of != FR_AN_STACK_SAMPLE;
}

/* The last one of the highest rank. tid: whose it is. */
static void fault_keep_stack(struct fr_analyze *a, u64 ts, u32 tid, u64 kstack_id, u64 ustack_id, enum fr_an_stack of)
{
	struct fr_an_focus *f = &a->res.focus;

	if (tid != f->tid || fr_an_is_before(a, ts) || ts > a->res.moment_end_ns || !(kstack_id | ustack_id))
		return;
	if (f->stack_ns && fault_rank(of) < fault_rank(f->stack_of))
		return;
	f->kstack_id = kstack_id;
	f->ustack_id = ustack_id;
	f->stack_ns = ts;
	f->stack_of = of;
	f->reg_cnt = 0;
}

static u64 fault_mix(u64 a, u64 b)
{
	u64 h = (a ^ b * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;

	return h ^ h >> 32;
}

/* fields: ip, kstack_id, ustack_id, user */
static int fault_samples(struct fr_analyze *a, const struct fr_an_row *r)
{
	bool user = r->v[3];
	u64 stack_id = user ? r->v[2] : 0;
	struct fr_row row = fr_batch_row(r->run->b, r->i);
	s32 pid = user ? fr_view_who(r->run->view, &row).pid : 0;
	struct fr_an_sample *s;

	fault_keep_stack(a, r->in.ts, r->in.tid, r->v[1], r->v[2], FR_AN_STACK_SAMPLE);
	if (!r->counted)
		return 0;
	r->task->sum.sample_cnt++;
	s = fr_an_get(a, FR_AN_LEFT_samples, &a->res.samples,
		      fault_mix(fault_mix(r->v[0], stack_id), (u64)(u32)pid << 1 | user), &a->rest.sample, FR_MEMORY_ROWS);
	if (!s)
		return -ENOMEM;
	s->ip = r->v[0];
	s->stack_id = stack_id;
	s->pid = pid;
	s->user = user;
	s->cnt++;
	return 0;
}

void fr_an_fault_bind(struct fr_analyze *a, const struct fr_schema *s)
{
	static const struct fr_sub_want crash = {"crash", {FR_SUB_NUMS("regs")}};

	if (!fr_subscribe(s, &crash, &a->crash))
		a->wants.cols[a->crash.ev->nr] |= 1u << a->crash.col[0];
}

/* fields: kstack_id, ustack_id */
static int crashes(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_an_focus *f = &a->res.focus;
	struct fr_row row = fr_batch_row(r->run->b, r->i);
	const u64 *reg;
	size_t cnt;

	fault_keep_stack(a, r->in.ts, r->in.tid, r->v[0], r->v[1], FR_AN_STACK_CRASH);
	if (f->stack_of != FR_AN_STACK_CRASH || f->stack_ns != r->in.ts || r->in.tid != f->tid || row.ev != a->crash.ev)
		return 0;
	reg = fr_row_nums(&row, a->crash.field[0], &cnt);
	f->reg_cnt = cnt < FR_REGS_MAX ? cnt : FR_REGS_MAX;
	memcpy(f->reg, reg, f->reg_cnt * sizeof(*reg));
	return 0;
}

/* Not of a fault, after which the task went on. fields: ustack_id, sig */
static int fault_ends(struct fr_analyze *a, const struct fr_an_row *r)
{
	if (!r->v[1])
		fault_keep_stack(a, r->in.ts, r->in.tid, 0, r->v[0], FR_AN_STACK_EXIT);
	return 0;
}

/* Written by who looked for hung tasks, or by the task before it on its CPU. fields: target_pid, kstack_id */
static int fault_hangs(struct fr_analyze *a, const struct fr_an_row *r)
{
	fault_keep_stack(a, r->in.ts, r->v[0], r->v[1], 0, FR_AN_STACK_HUNG);
	return 0;
}

static int waits(struct fr_analyze *a, const struct fr_an_row *r)
{
	fault_keep_stack(a, r->in.ts, r->v[0], r->v[1], 0, FR_AN_STACK_LATENCY);
	return 0;
}

/* Who sent the signal that it died of? That is seen at the sender only. fields: target_pid, group */
static int signals(struct fr_analyze *a, const struct fr_an_row *r)
{
	const struct fr_an_focus *f = &a->res.focus;
	u32 tid = r->v[0];

	if (tid && (tid == f->tid || (r->v[1] && tid == f->pid)) && r->in.tid != f->tid)
		fr_an_note(a, r->in.ts);
	return 0;
}

const struct fr_an_rule fr_an_fault_rules[] = {
	{{"page_fault_user", {}}, faults_user},
	{{"page_fault_kernel", {}}, faults_kernel},
	{{"cpu_sample", {FR_SUB_NUM("ip"), FR_SUB_NUM("kstack_id"), FR_SUB_NUM("ustack_id"), FR_SUB_NUM("user")}},
	 fault_samples},
	{{"signal_generate", {FR_SUB_NUM("target_pid"), FR_SUB_NUM("group")}}, signals},
	{{"crash", {FR_SUB_NUM("kstack_id"), FR_SUB_NUM("ustack_id")}}, crashes},
	{{"failure", {FR_SUB_NUM("ustack_id"), FR_SUB_NUM("sig")}}, fault_ends},
	{{"hung", {FR_SUB_NUM("target_pid"), FR_SUB_MAY_NUM("kstack_id")}}, fault_hangs},
	{{"latency", {FR_SUB_NUM("target_pid"), FR_SUB_MAY_NUM("kstack_id")}}, waits},
	{},
};
