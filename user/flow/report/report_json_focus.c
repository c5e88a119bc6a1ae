/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_json_focus: the trigger, the task in focus, CPUs and their last moments, what is missing. */
#include "alert.h"
#include "flow/report/report_json.h"

/* ---- trigger ---- */

static void put_fact(struct fr_jsonw *w, const char *key, const struct fr_snap *s, const char *fact)
{
	fr_jsonw_text(w, key, fr_snap_fact(s, fact));
}

static void put_num(struct fr_jsonw *w, const char *key, const struct fr_snap *s, const char *fact)
{
	s64 v;

	if (fr_snap_fact_num(s, fact, &v))
		fr_jsonw_s64(w, key, v);
	else
		fr_jsonw_text(w, key, NULL);
}

void fr_report_json_trigger(struct fr_jsonw *w, const struct fr_report *r)
{
	const struct fr_snap *s = r->snap;
	u64 ts = r->res->focus.trigger_ns;
	s64 sig = 0;

	fr_snap_fact_num(s, "trigger_sig", &sig);
	fr_jsonw_open(w, "trigger", '{');
	put_fact(w, "reason", s, "trigger_reason");
	put_fact(w, "rule", s, "trigger_rule");
	put_num(w, "ts", s, "trigger_ts");
	fr_jsonw_u64(w, "at_ns", r->res->focus.at_ns);
	fr_jsonw_u64(w, "real_ns", ts ? fr_wall_real(r->view->wall, ts) : 0);
	if (ts)
		fr_jsonw_s64(w, "before_end_ns", (s64)(r->res->end_ns - ts));
	else
		fr_jsonw_text(w, "before_end_ns", NULL);
	put_num(w, "pid", s, "trigger_pid");
	put_num(w, "tid", s, "trigger_tid");
	put_fact(w, "comm", s, "trigger_comm");
	put_fact(w, "exe", s, "trigger_exe");
	put_fact(w, "cgroup", s, "trigger_cgroup");
	put_num(w, "sig", s, "trigger_sig");
	fr_jsonw_text(w, "sig_name", sig ? fr_signal_name(sig) : NULL);
	put_num(w, "code", s, "trigger_code");
	put_num(w, "status", s, "trigger_status");
	put_fact(w, "addr", s, "trigger_addr");
	put_fact(w, "ip", s, "trigger_ip");
	put_fact(w, "latency", s, "trigger_latency");
	put_num(w, "what", s, "trigger_what");
	put_num(w, "value_ns", s, "trigger_value_ns");
	put_num(w, "limit_ns", s, "trigger_limit_ns");
	put_fact(w, "text", s, "trigger_text");
	fr_jsonw_close(w, '}');
}

/* ---- the task in focus ---- */

static void put_who(struct fr_jsonw *w, const struct fr_report *r, const char *key, u32 tid, u64 ts, u16 cpu)
{
	struct fr_who who = fr_names_who(r->view->names, tid, ts, cpu);

	if (who.comm)
		fr_jsonw_mem(w, key, who.comm, who.len);
	else
		fr_jsonw_text(w, key, NULL);
}

static void put_last_events(struct fr_jsonw *w, const struct fr_report *r)
{
	const struct fr_report_last *l = &r->last;
	u32 i;

	fr_jsonw_open(w, "events", '[');
	for (i = 0; i < l->event_cnt; i++) {
		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_u64(w, "ts", l->event[i].ts);
		fr_jsonw_u64(w, "cpu", l->event[i].cpu);
		fr_jsonw_text(w, "event", l->event[i].ev->name);
		fr_jsonw_mem(w, "text", l->text + l->event[i].line_at, l->event[i].line_sz ? l->event[i].line_sz - 1 : 0);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
}

static void put_time(struct fr_jsonw *w, const char *key, u64 ts)
{
	if (ts)
		fr_jsonw_u64(w, key, ts);
	else
		fr_jsonw_text(w, key, NULL);
}

static void put_call(struct fr_jsonw *w, const struct fr_report *r, const struct fr_report_call *c)
{
	u32 i;

	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_s64(w, "id", c->id);
	fr_jsonw_u64(w, "abi", c->abi);
	fr_jsonw_text(w, "name", fr_report_call_name(r, c->abi, c->id));
	put_time(w, "enter_ns", c->enter_ns);
	put_time(w, "exit_ns", c->exit_ns);
	fr_jsonw_open(w, "args", '[');
	for (i = 0; i < c->arg_cnt; i++)
		fr_jsonw_u64(w, NULL, c->arg[i]);
	fr_jsonw_close(w, ']');
	if (c->exit_ns)
		fr_jsonw_s64(w, "ret", c->ret);
	else
		fr_jsonw_text(w, "ret", NULL);
	fr_jsonw_text(w, "errno_name", c->exit_ns ? fr_report_errno_name(c->ret) : NULL);
	fr_jsonw_close(w, '}');
}

static void put_calls(struct fr_jsonw *w, const struct fr_report *r)
{
	u32 i;

	fr_jsonw_open(w, "syscalls", '[');
	for (i = 0; i < r->last.call_cnt; i++)
		put_call(w, r, &r->last.call[i]);
	fr_jsonw_close(w, ']');
}

static void put_frames(struct fr_jsonw *w, struct fr_report *r, const char *key, bool user, u64 stack_id)
{
	size_t cnt = 0, i;
	const u64 *ip = stack_id ? fr_stacks_find(r->view->stacks, stack_id, &cnt) : NULL;
	size_t own = ip ? fr_report_own_frames(r, user, ip, cnt) : 0;

	fr_jsonw_open(w, key, '[');
	for (i = 0; ip && i < cnt; i++) {
		struct fr_symbol s = fr_report_frame(r, user, i, ip[i]);

		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_u64(w, "ip", ip[i]);
		fr_jsonw_text(w, "name", s.name);
		fr_jsonw_u64(w, "off", s.off);
		fr_jsonw_text(w, "module", s.module);
		fr_jsonw_text(w, "missing", s.missing);
		fr_jsonw_bool(w, "recorder", i < own);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
}

static void put_stack(struct fr_jsonw *w, struct fr_report *r)
{
	static const char *const events[] = {[FR_AN_STACK_SAMPLE] = "cpu_sample",
					     [FR_AN_STACK_CRASH] = "crash",
					     [FR_AN_STACK_HUNG] = "hung",
					     [FR_AN_STACK_LATENCY] = "latency"};
	const struct fr_an_focus *f = &r->res->focus;

	fr_jsonw_open(w, "stack", '{');
	put_time(w, "ts", f->stack_ns);
	fr_jsonw_text(w, "from", f->stack_ns ? events[f->stack_of] : NULL);
	put_frames(w, r, "kernel", false, f->kstack_id);
	put_frames(w, r, "user", true, f->ustack_id);
	fr_jsonw_close(w, '}');
}

static void put_step(struct fr_jsonw *w, const struct fr_report *r, const struct fr_an_step *s)
{
	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_u64(w, "ts", s->ts);
	fr_jsonw_u64(w, "cpu", s->cpu);
	fr_jsonw_text(w, "did", s->did == FR_AN_RUNS ? "runs" : s->did == FR_AN_LEAVES ? "leaves" : "woken");
	if (s->did == FR_AN_LEAVES)
		fr_report_put_in(w, r, s->state, s->in, s->abi, s->id);
	if (s->did == FR_AN_WOKEN)
		fr_report_put_by(w, s->by, s->by_nr);
	fr_jsonw_close(w, '}');
}

static void put_steps(struct fr_jsonw *w, const struct fr_report *r)
{
	const struct fr_an_focus *f = &r->res->focus;
	u64 i = f->step_cnt > FR_AN_STEP_MAX ? f->step_cnt - FR_AN_STEP_MAX : 0;

	fr_jsonw_open(w, "states", '[');
	for (; i < f->step_cnt; i++)
		put_step(w, r, &f->step[i % FR_AN_STEP_MAX]);
	fr_jsonw_close(w, ']');
}

static void put_chain(struct fr_jsonw *w, const struct fr_report *r)
{
	static const char *const states[] = {[FR_AN_CHAIN_RUNS] = "runs",
					     [FR_AN_CHAIN_SLEEPS] = "sleeps",
					     [FR_AN_CHAIN_WAITS] = "waits",
					     [FR_AN_CHAIN_ENDED] = "ended"};
	const struct fr_an_focus *f = &r->res->focus;
	u32 i;

	fr_jsonw_text(w, "woken_by_state", f->chain_cnt ? states[f->chain_of] : NULL);
	fr_jsonw_open(w, "woken_by", '[');
	for (i = 0; i < f->chain_cnt; i++) {
		const struct fr_an_wake *c = &f->chain[i];

		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_u64(w, "tid", c->tid);
		put_who(w, r, "comm", c->tid, c->ran_ns ?: c->woken_ns, 0);
		fr_report_put_by(w, c->by, c->by_nr);
		if (c->by == FR_AN_BY_TASK && c->by_nr)
			put_who(w, r, "waker_comm", c->by_nr, c->woken_ns, 0);
		fr_jsonw_u64(w, "woken_ns", c->woken_ns);
		put_time(w, "ran_ns", c->ran_ns);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
}

void fr_report_json_focus(struct fr_jsonw *w, struct fr_report *r)
{
	const struct fr_an_focus *f = &r->res->focus;

	if (!f->tid) {
		fr_jsonw_text(w, "focus", NULL);
		return;
	}
	fr_jsonw_open(w, "focus", '{');
	fr_jsonw_u64(w, "tid", f->tid);
	put_who(w, r, "comm", f->tid, f->at_ns, 0);
	put_last_events(w, r);
	put_calls(w, r);
	put_steps(w, r);
	put_chain(w, r);
	put_stack(w, r);
	fr_jsonw_close(w, '}');
}

/* ---- CPUs ---- */

static void put_seg(struct fr_jsonw *w, const struct fr_report *r, u64 ts, u32 tid, u16 cpu)
{
	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_u64(w, "ts", ts);
	if (tid == FR_AN_NOT_KNOWN) {
		fr_jsonw_text(w, "tid", NULL);
		fr_jsonw_text(w, "comm", NULL);
	} else {
		fr_jsonw_u64(w, "tid", tid);
		put_who(w, r, "comm", tid, ts, cpu);
	}
	fr_jsonw_close(w, '}');
}

static void put_cpu(struct fr_jsonw *w, const struct fr_report *r, u32 nr)
{
	const struct fr_an_cpu *c = &r->res->cpu[nr];
	u32 i;

	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_u64(w, "cpu", nr);
	fr_jsonw_u64(w, "horizon_ns", c->horizon_ns);
	fr_jsonw_u64(w, "events", c->event_cnt);
	fr_jsonw_u64(w, "switches", c->switch_cnt);
	fr_jsonw_u64(w, "busy_ns", c->busy_ns);
	fr_jsonw_u64(w, "idle_ns", c->idle_ns);
	fr_jsonw_u64(w, "rated_busy_ns", c->rated_busy_ns);
	fr_jsonw_u64(w, "rated_idle_ns", c->rated_idle_ns);
	fr_jsonw_u64(w, "irq_ns", c->irq_ns);
	fr_jsonw_u64(w, "softirq_ns", c->softirq_ns);
	fr_jsonw_u64(w, "syscalls", c->call_cnt);
	fr_jsonw_u64(w, "faults", c->fault_cnt);
	fr_report_put_hist(w, "wakeup", &c->wakeup, true);
	fr_jsonw_open(w, "ran", '[');
	if (c->first_known)
		put_seg(w, r, r->res->moment_begin_ns, c->first_tid, nr);
	for (i = 0; i < c->seg_cnt; i++)
		put_seg(w, r, c->seg[i].ts, c->seg[i].tid, nr);
	fr_jsonw_close(w, ']');
	fr_jsonw_close(w, '}');
}

void fr_report_json_cpus(struct fr_jsonw *w, const struct fr_report *r)
{
	u32 i;

	fr_jsonw_open(w, "cpus", '[');
	for (i = 0; i < r->res->cpu_cnt; i++)
		if (r->res->cpu[i].seen)
			put_cpu(w, r, i);
	fr_jsonw_close(w, ']');
}

/* ---- what is missing ---- */

#define L(nr, name, doc) #name,
static const char *const lost_words[FR_LOST_CNT] = {FR_LOSTS(L)};
#undef L

/* What was left out on purpose; null: nothing. */
static void put_cut(struct fr_jsonw *w, const struct fr_snap *s)
{
	if (!fr_snap_fact(s, "cut_from")) {
		fr_jsonw_text(w, "cut", NULL);
		return;
	}
	fr_jsonw_open(w, "cut", '{');
	put_fact(w, "from", s, "cut_from");
	put_num(w, "since_ns", s, "cut_since");
	put_num(w, "until_ns", s, "cut_until");
	put_fact(w, "cpu", s, "cut_cpu");
	put_fact(w, "pid", s, "cut_pid");
	put_fact(w, "cgroup", s, "cut_cgroup");
	put_fact(w, "filter", s, "cut_filter");
	put_num(w, "away", s, "cut_away");
	fr_jsonw_close(w, '}');
}

void fr_report_json_health(struct fr_jsonw *w, const struct fr_report *r)
{
	const struct fr_summary *m = r->sum;
	u64 lost;
	u32 i, j;

	fr_jsonw_open(w, "lost", '{');
	for (i = 0; i < FR_LOST_CNT; i++) {
		for (lost = 0, j = 0; j < m->cpu_cnt; j++)
			lost += m->cpu[j].lost[i];
		fr_jsonw_u64(w, lost_words[i], lost);
	}
	fr_jsonw_u64(w, "holes", m->hole_cnt);
	fr_jsonw_u64(w, "damage", fr_snap_damage(r->snap));
	fr_jsonw_close(w, '}');
	put_cut(w, r->snap);
	fr_jsonw_open(w, "clock", '{');
	put_fact(w, "mode", r->snap, "clock_mode");
	put_num(w, "grain_ns", r->snap, "clock_grain_ns");
	fr_jsonw_u64(w, "ties", m->ties);
	fr_jsonw_u64(w, "ahead", m->ahead);
	fr_jsonw_u64(w, "losers", m->losers);
	fr_jsonw_close(w, '}');
}
