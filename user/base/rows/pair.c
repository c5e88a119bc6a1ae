/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows/pair_int.h"
#include "base/set/vec.h"

#define ENDED_NS 1000000000ULL /* nothing more comes of a task this long after its exit */

/* ---- tasks ---- */

static bool pair_is_over(void *arg, u64 tid, void *record)
{
	const struct fr_pair_task *t = record;
	const u64 *now_ns = arg;

	(void)tid;
	return t->ended_ns && fr_lat_since(t->ended_ns, *now_ns) > ENDED_NS;
}

/* There is no room for more: nothing is known of any. */
static void forget_all(struct fr_pairs *p, u64 now_ns)
{
	u32 i;

	fr_idmap_clear(&p->tasks);
	for (i = 0; i < p->cpu_cnt; i++)
		fr_pairs_gap(p, i, now_ns);
	p->forgot_cnt++;
}

struct fr_pair_task *fr_pair_task(struct fr_pairs *p, u32 tid, u64 now_ns)
{
	struct fr_pair_task *t = fr_idmap_find(&p->tasks, tid);

	if (t)
		return t;
	if (fr_idmap_is_full(&p->tasks))
		fr_idmap_sweep(&p->tasks, pair_is_over, &now_ns);
	if (fr_idmap_is_full(&p->tasks) && p->tasks.cap && p->has_room && !p->has_room(fr_idmap_growth_sz(&p->tasks)))
		forget_all(p, now_ns);
	return fr_idmap_get(&p->tasks, tid);
}

/* ---- system calls ---- */

/* fields: id, abi. The call that restart_syscall resumes may have been interrupted unseen: then its beginning is unknown. */
static int pair_enters(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	struct fr_pair_task *t = fr_pair_task(p, r->tid, r->ts);
	u32 again = fr_syscall_restarts(&p->odd, (s32)r->v[0], r->v[1]);

	(void)out;
	if (!t)
		return -ENOMEM;
	t->in_call = r->ts < p->lack_ns[FR_PAIR_CALL] ? 0 : ((r->v[1] & 0xff) << 32 | (u32)r->v[0]) + 1;
	t->in_fault = false;
	fr_lat_enters(&t->lat, r->ts, r->v[0], again, fr_syscall_execs(&p->odd, (s32)r->v[0], r->v[1]));
	if (t->lat.call == r->ts)
		t->call_abi = r->v[1];
	if (again && t->lat.call == r->ts && t->called_ns < fr_pair_blind_ns(p, FR_PAIR_CALL))
		t->lat.call = 0;
	t->called_ns = r->ts;
	return 0;
}

/* Has this CPU run the task from then until now, without a pause? */
static bool ran_through(const struct fr_pairs *p, const struct fr_pair_row *r, u64 since_ns)
{
	const struct fr_pair_cpu *c = r->cpu;
	bool seen = c->ran_ns >= c->blind_ns && c->ran_ns >= p->lack_ns[FR_PAIR_ON];

	return c->tid == r->tid && c->ran_ns && c->ran_ns <= since_ns && seen;
}

/* Is the beginning of its current call known? */
static bool is_call_known(const struct fr_pairs *p, const struct fr_pair_task *t, const struct fr_pair_row *r)
{
	bool seen = t->lat.call >= p->blind_ns || ran_through(p, r, t->lat.call);

	return t->lat.call && seen && t->lat.call >= p->lack_ns[FR_PAIR_CALL];
}

/* fields: id, abi, ret */
static int pair_exits(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	struct fr_pair_task *t = fr_idmap_find(&p->tasks, r->tid);
	s32 nr = r->v[0], entered;
	bool known = t && is_call_known(p, t, r);

	p->row.call = t ? t->in_call : 0;
	if (!t)
		return 0;
	t->in_call = 0;
	t->in_fault = false;
	if (t->lat.call && (nr == -1 || (known && fr_lat_execed(&t->lat, r->v[2])))) {
		out->call_nr = t->lat.call_nr;
		out->call_abi = t->call_abi;
	}
	t->called_ns = known || (s64)r->v[2] != FR_RESTART_BLOCK ? r->ts : 0;
	if (!known) {
		t->lat.call = 0;
		t->lat.call_again = 0;
		return 0;
	}
	out->latency_ns = fr_lat_exits(&t->lat, r->ts, nr, fr_syscall_restarts(&p->odd, nr, r->v[1]), r->v[2], &entered);
	return 0;
}

/* ---- interrupts: each CPU's own ---- */

static int pair_softirq_begins(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	(void)p;
	(void)out;
	fr_lat_softirq_begins(&r->cpu->lat, r->ts, r->v[0]);
	r->cpu->softirq = r->v[0] + 1;
	return 0;
}

static int ended(const struct fr_pairs *p, enum fr_pair_what what, const struct fr_pair_row *r, struct fr_pair *out, u64 ns)
{
	u64 begin_ns = r->ts - ns;

	out->latency_ns = begin_ns >= r->cpu->blind_ns && begin_ns >= p->lack_ns[what] ? ns : 0;
	return 0;
}

static int pair_softirq_ends(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	r->cpu->softirq = 0;
	return ended(p, FR_PAIR_SOFTIRQ, r, out, fr_lat_softirq_ends(&r->cpu->lat, r->ts, r->v[0]));
}

static int pair_irq_begins(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	(void)p;
	(void)out;
	fr_lat_irq_begins(&r->cpu->lat, r->ts, r->v[0]);
	return 0;
}

static int pair_irq_ends(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	return ended(p, FR_PAIR_IRQ, r, out, fr_lat_irq_ends(&r->cpu->lat, r->ts, r->v[0]));
}

/* ---- what is missing ---- */

/* The governor turns groups of events off and on: meanwhile, anything may have gone on unseen. */
static int governor(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	u32 i;

	(void)out;
	for (i = 0; i < p->cpu_cnt; i++)
		fr_pairs_gap(p, i, r->ts);
	return 0;
}

/* ---- events and their fields ---- */

#define TELLS(what) (1u << FR_PAIR_##what)
#define RUNS	    (TELLS(OFF) | TELLS(WAKE) | TELLS(ON) | TELLS(OTHERS))

/* clang-format off */
#define RULE(fn_, tells_, ends_, event_, ...) {.ev = {{event_, {__VA_ARGS__}}, tells_, ends_}, .fn = fn_}
#define BLOCK FR_SUB_NUM("dev"), FR_SUB_NUM("sector"), FR_SUB_NUM("nr_sector")

static const struct {
	struct fr_pair_event ev;
	fr_pair_fn fn;
	fr_pair_fn without; /* where the event lacks a field that it may lack: that one and those behind it are not there */
} pair_rules[] = {
	RULE(fr_pair_switch, RUNS, true, "sched_switch", FR_SUB_NUM("next_pid"), FR_SUB_NUM("prev_state")),
	{.ev = {{"sched_waking", {FR_SUB_NUM("target_pid"), FR_SUB_MAY_NUM("waker")}}, TELLS(WAKE), false},
	 .fn = fr_pair_waking, .without = fr_pair_waking_untold},
	RULE(fr_pair_wakeup_new, TELLS(WAKE), false, "sched_wakeup_new", FR_SUB_NUM("target_pid")),
	RULE(fr_pair_fork, 0, false, "sched_process_fork", FR_SUB_NUM("child_pid")),
	RULE(fr_pair_exec, TELLS(WAKE), false, "sched_process_exec", FR_SUB_NUM("old_pid")),
	RULE(fr_pair_exit, 0, false, "sched_process_exit", ),
	RULE(pair_enters, TELLS(CALL), false, "sys_enter", FR_SUB_NUM("id"), FR_SUB_NUM("abi")),
	RULE(pair_exits, TELLS(CALL), true, "sys_exit", FR_SUB_NUM("id"), FR_SUB_NUM("abi"), FR_SUB_NUM("ret")),
	RULE(pair_irq_begins, TELLS(IRQ), false, "irq_handler_entry", FR_SUB_NUM("irq")),
	RULE(pair_irq_ends, TELLS(IRQ), true, "irq_handler_exit", FR_SUB_NUM("irq")),
	RULE(pair_softirq_begins, TELLS(SOFTIRQ), false, "softirq_entry", FR_SUB_NUM("vec")),
	RULE(pair_softirq_ends, TELLS(SOFTIRQ), true, "softirq_exit", FR_SUB_NUM("vec")),
	RULE(fr_pair_fault, 0, false, "page_fault_user", ),
	RULE(fr_pair_fault, 0, false, "page_fault_kernel", ),
	RULE(fr_pair_rq_issue, TELLS(RQ), false, "block_rq_issue", BLOCK),
	RULE(fr_pair_rq_complete, TELLS(RQ) | TELLS(IO), true, "block_rq_complete", BLOCK),
	RULE(fr_pair_io_start, TELLS(IO), false, "block_io_start", BLOCK),
	RULE(fr_pair_io_done, TELLS(IO), true, "block_io_done", BLOCK),
	RULE(governor, 0, false, "governor", ),
};
/* clang-format on */

#define PAIR_RULE_CNT (sizeof(pair_rules) / sizeof(pair_rules[0]))

const struct fr_pair_event *fr_pairs_event(u32 i)
{
	return i < PAIR_RULE_CNT ? &pair_rules[i].ev : NULL;
}

/* The events of a schema. */
struct fr_pair_plan {
	const struct fr_schema *schema;
	struct fr_pair_rule rule[FR_EVENT_MAX];
};

/* An event that lacks a field means nothing here. */
static void pair_bind(struct fr_pair_plan *plan, size_t rule)
{
	struct fr_pair_rule *to;
	struct fr_sub sub;
	u8 cnt = 0;

	if (fr_subscribe(plan->schema, &pair_rules[rule].ev.want, &sub))
		return;
	while (cnt < sub.cnt && sub.field[cnt])
		cnt++;
	to = &plan->rule[sub.ev->nr];
	to->fn = cnt < sub.cnt ? pair_rules[rule].without : pair_rules[rule].fn;
	to->col_cnt = cnt;
	memcpy(to->col, sub.col, sizeof(to->col));
}

static struct fr_pair_plan *new_plan(struct fr_pairs *p, const struct fr_schema *s)
{
	struct fr_pair_plan *plan = fr_vec_more(&p->plan, p->plan_cnt);
	size_t i;

	if (!plan)
		return NULL;
	memset(plan, 0, sizeof(*plan));
	plan->schema = s;
	for (i = 0; i < PAIR_RULE_CNT; i++)
		pair_bind(plan, i);
	p->plan_cur = p->plan_cnt++;
	return plan;
}

static struct fr_pair_plan *plan_of(struct fr_pairs *p, const struct fr_schema *s)
{
	u32 i;

	if (p->plan_cnt && p->plan[p->plan_cur].schema == s)
		return &p->plan[p->plan_cur];
	for (i = 0; i < p->plan_cnt; i++) {
		if (p->plan[i].schema == s) {
			p->plan_cur = i;
			return &p->plan[i];
		}
	}
	return new_plan(p, s);
}

/* ---- rows ---- */

static bool pair_have_cpu(struct fr_pairs *p, u16 cpu)
{
	while (p->cpu_cnt <= cpu) {
		struct fr_pair_cpu **more = fr_vec_more(&p->cpu, p->cpu_cnt);

		if (more)
			*more = calloc(1, sizeof(**more));
		if (!more || !*more)
			return false;
		p->cpu_cnt++;
	}
	return true;
}

void fr_pairs_gap(struct fr_pairs *p, u16 cpu, u64 until_ns)
{
	if (until_ns > p->blind_ns)
		p->blind_ns = until_ns;
	if (pair_have_cpu(p, cpu) && until_ns > p->cpu[cpu]->blind_ns)
		p->cpu[cpu]->blind_ns = until_ns;
}

void fr_pairs_lack(struct fr_pairs *p, u32 what, u64 until_ns)
{
	u32 i;

	for (i = 0; i < FR_PAIR_WHAT_CNT; i++)
		if (what & 1u << i && until_ns > p->lack_ns[i])
			p->lack_ns[i] = until_ns;
}

int fr_pairs_rule(struct fr_pairs *p, const struct fr_schema *s, u8 nr, struct fr_pair_rule *rule)
{
	const struct fr_pair_plan *plan = plan_of(p, s);

	if (!plan)
		return -ENOMEM;
	*rule = plan->rule[nr];
	return 0;
}

struct fr_pair_cpu *fr_pairs_cpu(struct fr_pairs *p, u16 cpu)
{
	return pair_have_cpu(p, cpu) ? p->cpu[cpu] : NULL;
}

int fr_pairs_feed(struct fr_pairs *p, const struct fr_row *r, struct fr_pair *out)
{
	const struct fr_pair_plan *plan = plan_of(p, r->b->schema);
	const struct fr_pair_rule *rule;
	u64 num[FR_PAIR_FIELD_MAX];
	struct fr_pair_row row = {.ts = r->ts, .v = num, .tid = r->tid, .cpu = fr_pairs_cpu(p, r->cpu)};
	const struct fr_col *col;
	u32 i;

	if (!plan || !row.cpu)
		return -ENOMEM;
	rule = &plan->rule[r->ev->nr];
	col = r->b->type[r->ev->nr].col;
	for (i = 0; i < rule->col_cnt; i++)
		num[i] = *fr_col_num(&col[rule->col[i]], r->k);
	return fr_pairs_take(p, rule, &row, out);
}

/* ---- life ---- */

struct fr_pairs *fr_pairs_new(void)
{
	struct fr_pairs *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	fr_idmap_init(&p->tasks, sizeof(struct fr_pair_task));
	fr_pair_block_init(p);
	fr_pairs_set_arch(p, NULL);
	return p;
}

void fr_pairs_set_wakers(struct fr_pairs *p, fr_pairs_waker_fn fn, const void *arg)
{
	p->waker_of = fn;
	p->waker_arg = arg;
}

void fr_pairs_set_room(struct fr_pairs *p, bool (*has_room)(u64 sz))
{
	p->has_room = has_room;
}

u64 fr_pairs_forgot(const struct fr_pairs *p)
{
	return p->forgot_cnt;
}

void fr_pairs_set_arch(struct fr_pairs *p, const char *arch)
{
	fr_syscall_odd(arch, &p->odd);
}

void fr_pairs_free(struct fr_pairs *p)
{
	u32 i;

	if (!p)
		return;
	fr_idmap_free(&p->tasks);
	fr_idmap_free(&p->requests);
	fr_idmap_free(&p->ios);
	for (i = 0; i < p->cpu_cnt; i++)
		free(p->cpu[i]);
	free(p->cpu);
	free(p->plan);
	free(p);
}
