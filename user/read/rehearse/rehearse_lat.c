/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rehearse_lat: latencies and hung tasks, as bpf/trigger/{latency,hung}.bpf.c measure them, by the same bpf/latency.h.
 *
 * What differs is how things are known: a task by its tid, until another is born with it; a request by its device and sector;
 * a task's state by what sched_switch said when it left. Nothing is measured where events are missing (rehearse_known.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/schema/syscalls.h"
#include "base/set/vec.h"
#include "base/trigger/trig_lat.h"
#include "read/rehearse/rehearse_int.h"
#include "task_state.h"

#define TOLD_MAX   16u /* hung tasks in one look, as live */
#define SECTOR_SZ  512u
#define ABI_NATIVE 0u

struct task {
	struct fr_lat_task lat;
	u32 state; /* as __state would be, while it is off the CPU */
	u16 cpu;   /* it runs there, or did last */
};

struct request {
	struct fr_lat_request rq;
	u64 ts;	  /* issued, recording clock: names are of then */
	u32 left; /* bytes */
};

struct fr_re_lat {
	struct fr_trig_lat conf;
	u32 measured; /* bit set: rules measure this latency */
	bool tasks;   /* rules follow tasks and their CPUs */
	bool calls;
	struct fr_syscall_odd odd;
	struct fr_re_known *known;
	struct fr_idmap task;
	struct fr_idmap request;
	struct fr_lat_cpu *cpu; /* by number, cpu_cnt of them */
	struct fr_re_span *span;
	u32 *runs; /* the task that runs there, 0 none or not known */
	u32 cpu_cnt;
	u32 hung_left;
};

/* ---- life ---- */

static void lat_forget(struct fr_re_lat *l)
{
	fr_idmap_clear(&l->task);
	fr_idmap_clear(&l->request);
	fr_re_span_forget(l->span);
	if (l->cpu_cnt) {
		memset(l->cpu, 0, l->cpu_cnt * sizeof(*l->cpu));
		memset(l->runs, 0, l->cpu_cnt * sizeof(*l->runs));
	}
}

static bool lat_is_known(struct fr_re_lat *l, u64 ts)
{
	bool anew = false, known = fr_re_is_known(l->known, ts, &anew);

	if (anew)
		lat_forget(l);
	return known;
}

int fr_re_lat_new(struct fr_re *re, struct fr_re_lat **out)
{
	struct fr_re_lat *l = calloc(1, sizeof(*l));
	const struct fr_rehearse *h = re->h;
	u32 i;

	if (!l)
		return -ENOMEM;
	fr_trig_lat(h->rule, h->rule_cnt, &l->conf);
	for (i = 0; i < FR_LATENCY_CNT; i++)
		l->measured |= (u32)(l->conf.min_ns[i] != ~0ULL) << i;
	l->tasks = l->conf.hung_min_ns != ~0ULL || l->measured & (1u << FR_LATENCY_wakeup | 1u << FR_LATENCY_offcpu);
	l->calls = l->measured >> FR_LATENCY_syscall & 1;
	fr_syscall_odd(re->view->arch, &l->odd);
	fr_idmap_init(&l->task, sizeof(struct task));
	fr_idmap_init(&l->request, sizeof(struct request));
	if (fr_re_known_new(re, &l->known) || fr_re_span_new(&l->span)) {
		fr_re_lat_free(l);
		return -ENOMEM;
	}
	*out = l;
	return 0;
}

void fr_re_lat_free(struct fr_re_lat *l)
{
	if (!l)
		return;
	fr_idmap_free(&l->task);
	fr_idmap_free(&l->request);
	fr_re_known_free(l->known);
	fr_re_span_free(l->span);
	free(l->cpu);
	free(l->runs);
	free(l);
}

static int make_cpus(struct fr_re_lat *l, u16 cpu)
{
	u32 cnt = cpu + 1;

	if (fr_vec_upto(&l->cpu, l->cpu_cnt, cnt) || fr_vec_upto(&l->runs, l->cpu_cnt, cnt))
		return -ENOMEM;
	l->cpu_cnt = cnt;
	return 0;
}

/* ---- it took so long ---- */

int fr_re_took(struct fr_re *re, const struct fr_re_took *t)
{
	const struct fr_rehearse *h = re->h;
	struct fr_moment *m;
	u32 set = 0, i;

	if (t->value_ns <= re->lat->conf.min_ns[t->latency])
		return 0;
	for (i = 0; i < h->rule_cnt; i++)
		if (fr_rule_is_for_latency(&h->bpf[i], t->latency, t->value_ns, t->id))
			set |= 1u << i;
	if (!set)
		return 0;
	m = fr_re_moment(re, FR_TRIGGER_latency, t->named_ns, t->tid, t->cpu);
	m->ts = t->now_ns;
	m->value_ns = t->value_ns;
	m->what = t->what;
	m->latency = t->latency;
	re->moment.text = t->text;
	set = fr_re_passing(re, set, re->moment.comm, m->uid);
	return set && !fr_re_is_self(re->who, m->pid, t->now_ns) ? fr_re_tell(re, set) : 0;
}

/* tid 0: none. named_ns: use the task's name and process of that time. */
static int took(struct fr_re *re, u64 now_ns, u32 latency, u64 value_ns, u64 id, u32 tid, u64 named_ns, u16 cpu)
{
	const struct fr_re_took t = {.latency = latency,
				     .now_ns = now_ns,
				     .value_ns = value_ns,
				     .id = id,
				     .what = id,
				     .named_ns = named_ns,
				     .tid = tid,
				     .cpu = cpu};

	return fr_re_took(re, &t);
}

static u32 hung_rules(const struct fr_re *re, u64 value_ns, u32 said)
{
	u32 set = 0, i;

	for (i = 0; i < re->h->rule_cnt; i++)
		if (fr_rule_is_for_hung(&re->h->bpf[i], value_ns))
			set |= 1u << i;
	return set & ~said;
}

/* Which hung rules does this task's pause of this length match? The moment has been begun. */
static u32 begin_hung(struct fr_re *re, u64 now_ns, u64 value_ns, u32 state, u32 said, u32 tid, u16 cpu)
{
	u32 set = hung_rules(re, value_ns, said);
	struct fr_moment *m;

	if (!set)
		return 0;
	m = fr_re_moment(re, FR_TRIGGER_hung, now_ns, tid, cpu);
	m->value_ns = value_ns;
	m->what = state;
	set = fr_re_passing(re, set, re->moment.comm, m->uid);
	return fr_re_is_self(re->who, m->pid, now_ns) ? 0 : set;
}

/* ---- tasks and their CPUs ---- */

/* What sched_switch calls prev_state, as __state. */
static u32 lat_state_of(u32 prev_state)
{
	switch (prev_state) {
	case FR_PREV_STATE_PREEMPTED:
		return 0;
	case FR_PREV_STATE_IDLE:
		return FR_STATE_IS_IDLE;
	default:
		return prev_state;
	}
}

static int lat_leaves(struct fr_re_lat *l, const struct fr_row *r, u32 prev_state)
{
	struct task *t = fr_idmap_get(&l->task, r->tid);

	if (!t)
		return -ENOMEM;
	if (prev_state & FR_PREV_STATE_ENDED) {
		fr_idmap_drop(&l->task, r->tid);
		return 0;
	}
	if (!t->lat.off && t->cpu != r->cpu && t->cpu < l->cpu_cnt && l->runs[t->cpu] == r->tid)
		return 0; /* two CPUs' times differ by a grain: it is already running elsewhere */
	t->state = lat_state_of(prev_state);
	t->cpu = r->cpu;
	fr_lat_leaves(&t->lat, r->ts, fr_off_how(prev_state == FR_PREV_STATE_PREEMPTED, t->state));
	return 0;
}

static int lat_runs(struct fr_re *re, const struct fr_row *r, u32 tid)
{
	struct fr_re_lat *l = re->lat;
	struct task *t = fr_idmap_find(&l->task, tid);
	struct fr_lat_run ran;
	u32 said, set, blocked;
	int err;

	if (!t)
		return 0;
	said = t->lat.hung_set;
	t->cpu = r->cpu;
	fr_lat_runs(&t->lat, r->ts, &ran);
	err = took(re, r->ts, FR_LATENCY_wakeup, ran.wakeup_ns, 0, tid, r->ts, r->cpu);
	err = err ?: took(re, r->ts, FR_LATENCY_offcpu, ran.offcpu_ns, 0, tid, r->ts, r->cpu);
	if (err || l->conf.hung_min_ns == ~0ULL)
		return err;
	blocked = ran.blocked_ns > ran.queued_ns;
	set = begin_hung(re, r->ts, blocked ? ran.blocked_ns : ran.queued_ns, blocked ? FR_PREV_STATE_BLOCKED : 0, said, tid,
			 r->cpu);
	return set ? fr_re_tell(re, set) : 0;
}

static int on_switch(struct fr_re *re, const struct fr_re_schema *s, const struct fr_row *r)
{
	struct fr_re_lat *l = re->lat;
	u32 next = fr_re_num(s, r, FR_RE_SWITCH, 0);
	int err = r->tid ? lat_leaves(l, r, fr_re_num(s, r, FR_RE_SWITCH, 1)) : 0;

	l->runs[r->cpu] = next;
	return err ?: next ? lat_runs(re, r, next) : 0;
}

static bool is_on_cpu(const struct fr_re_lat *l, u32 tid)
{
	u32 i;

	for (i = 0; i < l->cpu_cnt; i++)
		if (l->runs[i] == tid)
			return true;
	return false;
}

static int on_waking(struct fr_re *re, const struct fr_re_schema *s, enum fr_re_what what, const struct fr_row *r)
{
	struct fr_re_lat *l = re->lat;
	u32 tid = fr_re_num(s, r, what, 0);
	struct task *t = fr_idmap_find(&l->task, tid);

	if (t && what == FR_RE_WAKING) {
		fr_lat_woken(&t->lat, r->ts);
		return 0;
	}
	if (what == FR_RE_WAKING && is_on_cpu(l, tid))
		return 0;
	t = fr_idmap_get(&l->task, tid);
	if (!t)
		return -ENOMEM;
	fr_lat_born(&t->lat, r->ts);
	return 0;
}

/* A thread that executes a program becomes the leader, and takes the leader's tid. */
static int on_exec(struct fr_re *re, const struct fr_re_schema *s, const struct fr_row *r)
{
	u32 old = fr_re_num(s, r, FR_RE_EXEC, 0);
	struct task *t = old != r->tid ? fr_idmap_find(&re->lat->task, old) : NULL, was;

	if (!t)
		return 0;
	was = *t;
	fr_idmap_drop(&re->lat->task, old);
	t = fr_idmap_get(&re->lat->task, r->tid);
	if (!t)
		return -ENOMEM;
	*t = was;
	re->lat->runs[r->cpu] = r->tid;
	return 0;
}

/* ---- looking for hung tasks ---- */

struct look {
	u64 now_ns, min_ns;
	u32 *tid; /* of tasks that hang, room for all */
	u32 cnt;
};

/* Like the live look, skip running tasks; a task that was never seen to leave is not known to hang. */
static u64 lat_hangs(struct task *t, u64 now_ns, u32 *blocked)
{
	return t->lat.off ? fr_lat_hung(&t->lat, now_ns, t->lat.off, t->lat.wake ? 0 : t->state, blocked) : 0;
}

static bool note_hung(void *arg, u64 tid, void *record)
{
	struct look *k = arg;
	u32 blocked;

	if (lat_hangs(record, k->now_ns, &blocked) > k->min_ns)
		k->tid[k->cnt++] = tid;
	return false;
}

static int lat_by_number(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* As lat_look_at() of bpf/trigger/hung.bpf.c. */
static int lat_look_at(struct fr_re *re, u64 now_ns, u32 tid)
{
	struct task *t = fr_idmap_find(&re->lat->task, tid);
	u32 blocked = 0, set;
	u64 value = lat_hangs(t, now_ns, &blocked);

	set = begin_hung(re, now_ns, value, blocked ? FR_PREV_STATE_BLOCKED : 0, t->lat.hung_set, tid, t->cpu);
	if (!set || !re->lat->hung_left)
		return 0;
	re->lat->hung_left--;
	t->lat.hung_set |= set;
	return fr_re_tell_each(re, set);
}

/* In order of tid, like the kernel's walk. */
int fr_re_lat_look(struct fr_re *re, u64 now_ns)
{
	struct fr_re_lat *l = re->lat;
	struct look k = {.now_ns = now_ns, .min_ns = l->conf.hung_min_ns};
	int err = 0;
	u32 i;

	if (!lat_is_known(l, now_ns))
		return 0;
	k.tid = calloc(l->task.cnt + 1, sizeof(*k.tid));
	if (!k.tid)
		return -ENOMEM;
	fr_idmap_sweep(&l->task, note_hung, &k);
	qsort(k.tid, k.cnt, sizeof(*k.tid), lat_by_number);
	l->hung_left = TOLD_MAX;
	for (i = 0; i < k.cnt && !err; i++)
		err = lat_look_at(re, now_ns, k.tid[i]);
	free(k.tid);
	return err;
}

/* ---- system calls ---- */

static bool is_chosen(const struct fr_trig_lat *c, s64 nr)
{
	return nr >= 0 && nr < (s64)FR_SYSCALL_MAX && c->call_set[nr / 64] >> nr % 64 & 1;
}

static int on_enter(struct fr_re *re, const struct fr_re_schema *s, const struct fr_row *r)
{
	struct fr_re_lat *l = re->lat;
	s32 nr = fr_re_num(s, r, FR_RE_SYS_ENTER, 0);
	u32 abi = fr_re_num(s, r, FR_RE_SYS_ENTER, 1);
	struct task *t;

	if (!l->conf.call_all && (abi != ABI_NATIVE || !is_chosen(&l->conf, nr)))
		return 0;
	t = fr_idmap_get(&l->task, r->tid);
	if (!t)
		return -ENOMEM;
	fr_lat_enters(&t->lat, r->ts, nr, fr_syscall_restarts(&l->odd, nr, abi), fr_syscall_execs(&l->odd, nr, abi));
	return 0;
}

static int on_call_exit(struct fr_re *re, const struct fr_re_schema *s, const struct fr_row *r)
{
	struct fr_re_lat *l = re->lat;
	s32 nr = fr_re_num(s, r, FR_RE_SYS_EXIT, 0), entered;
	u32 abi = fr_re_num(s, r, FR_RE_SYS_EXIT, 1), again = fr_syscall_restarts(&l->odd, nr, abi);
	struct task *t;
	u64 value;

	if (!l->conf.call_all && nr != -1 && !again && !fr_syscall_execs(&l->odd, nr, abi) && !is_chosen(&l->conf, nr))
		return 0;
	t = fr_idmap_find(&l->task, r->tid);
	if (!t || !t->lat.call)
		return 0;
	value = fr_lat_exits(&t->lat, r->ts, nr, again, fr_re_num(s, r, FR_RE_SYS_EXIT, 2), &entered);
	return took(re, r->ts, FR_LATENCY_syscall, value, (u32)entered, r->tid, r->ts, r->cpu);
}

/* ---- block requests ---- */

static u64 request_key(u32 dev, u64 sector)
{
	return (u64)dev << 40 ^ sector;
}

/* If it is issued again, it continues. */
static int on_issue(struct fr_re *re, const struct fr_re_schema *s, const struct fr_row *r)
{
	u64 key = request_key(fr_re_num(s, r, FR_RE_RQ_ISSUE, 0), fr_re_num(s, r, FR_RE_RQ_ISSUE, 1));
	struct request *q = fr_idmap_find(&re->lat->request, key);

	if (q)
		return 0;
	q = fr_idmap_get(&re->lat->request, key);
	if (!q)
		return -ENOMEM;
	*q = (struct request){.rq = {.issued = r->ts, .tid = r->tid}, .ts = r->ts, .left = fr_re_num(s, r, FR_RE_RQ_ISSUE, 2)};
	return 0;
}

static int on_complete(struct fr_re *re, const struct fr_re_schema *s, const struct fr_row *r)
{
	u32 dev = fr_re_num(s, r, FR_RE_RQ_COMPLETE, 0), done = fr_re_num(s, r, FR_RE_RQ_COMPLETE, 2) * SECTOR_SZ;
	u64 sector = fr_re_num(s, r, FR_RE_RQ_COMPLETE, 1), key = request_key(dev, sector);
	struct request *q = fr_idmap_find(&re->lat->request, key), was;

	if (!q)
		return 0;
	was = *q;
	fr_idmap_drop(&re->lat->request, key);
	if (fr_lat_request_done(done, was.left))
		return took(re, r->ts, FR_LATENCY_block, fr_lat_since(was.rq.issued, r->ts), dev, was.rq.tid, was.ts, r->cpu);
	/* the rest of it begins behind */
	q = fr_idmap_get(&re->lat->request, request_key(dev, sector + done / SECTOR_SZ));
	if (!q)
		return -ENOMEM;
	was.left -= done;
	*q = was;
	return 0;
}

/* ---- interrupts ---- */

static int on_interrupt(struct fr_re *re, const struct fr_re_schema *s, enum fr_re_what what, const struct fr_row *r)
{
	struct fr_lat_cpu *c = &re->lat->cpu[r->cpu];
	u32 nr = fr_re_num(s, r, what, 0);

	switch (what) {
	case FR_RE_SOFTIRQ_ENTRY:
		fr_lat_softirq_begins(c, r->ts, nr);
		return 0;
	case FR_RE_IRQ_ENTRY:
		fr_lat_irq_begins(c, r->ts, nr);
		return 0;
	case FR_RE_SOFTIRQ_EXIT:
		return took(re, r->ts, FR_LATENCY_softirq, fr_lat_softirq_ends(c, r->ts, nr), nr, 0, r->ts, r->cpu);
	default:
		return took(re, r->ts, FR_LATENCY_irq, fr_lat_irq_ends(c, r->ts, nr), nr, 0, r->ts, r->cpu);
	}
}

/* ---- rows ---- */

static int task_row(struct fr_re *re, const struct fr_re_schema *s, enum fr_re_what what, const struct fr_row *r)
{
	switch (what) {
	case FR_RE_SWITCH:
		return on_switch(re, s, r);
	case FR_RE_WAKING:
	case FR_RE_WAKEUP_NEW:
		return on_waking(re, s, what, r);
	default:
		return 0;
	}
}

/* Latencies that no rule measures cost nothing here. */
static int measured_row(struct fr_re *re, const struct fr_re_schema *s, enum fr_re_what what, const struct fr_row *r)
{
	struct fr_re_lat *l = re->lat;

	switch (what) {
	case FR_RE_SYS_ENTER:
		return l->calls ? on_enter(re, s, r) : 0;
	case FR_RE_SYS_EXIT:
		return l->calls ? on_call_exit(re, s, r) : 0;
	case FR_RE_RQ_ISSUE:
		return l->measured >> FR_LATENCY_block & 1 ? on_issue(re, s, r) : 0;
	case FR_RE_RQ_COMPLETE:
		return l->measured >> FR_LATENCY_block & 1 ? on_complete(re, s, r) : 0;
	case FR_RE_IRQ_ENTRY:
	case FR_RE_IRQ_EXIT:
		return l->measured >> FR_LATENCY_irq & 1 ? on_interrupt(re, s, what, r) : 0;
	case FR_RE_SOFTIRQ_ENTRY:
	case FR_RE_SOFTIRQ_EXIT:
		return l->measured >> FR_LATENCY_softirq & 1 ? on_interrupt(re, s, what, r) : 0;
	default:
		return l->tasks ? task_row(re, s, what, r) : 0;
	}
}

int fr_re_lat_row(struct fr_re *re, const struct fr_re_schema *s, enum fr_re_what what, const struct fr_row *r)
{
	struct fr_re_lat *l = re->lat;

	if (!l->measured && !l->tasks)
		return 0;
	if (!lat_is_known(l, r->ts))
		return 0;
	if (r->cpu >= l->cpu_cnt && make_cpus(l, r->cpu))
		return -ENOMEM;
	switch (what) {
	case FR_RE_NONE:
		return 0;
	case FR_RE_GOVERNOR: /* before or after this something was not recorded */
		lat_forget(l);
		return 0;
	case FR_RE_FORK:
		fr_idmap_drop(&l->task, fr_re_num(s, r, what, 0));
		return 0;
	case FR_RE_EXEC:
		return on_exec(re, s, r);
	case FR_RE_SPAN_BEGIN:
	case FR_RE_SPAN_END:
	case FR_RE_EXIT:
		return l->measured >> FR_LATENCY_span & 1 ? fr_re_span_row(re, l->span, s, what, r) : 0;
	default:
		if (what != FR_RE_SWITCH && !l->runs[r->cpu])
			l->runs[r->cpu] = r->tid;
		return measured_row(re, s, what, r);
	}
}

u64 fr_re_lat_known_ns(const struct fr_re_lat *l)
{
	return fr_re_known_begin(l->known);
}
