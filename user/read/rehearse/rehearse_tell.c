/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rehearse_tell: what follows when a rule holds. It takes the same decisions as the triggers' programs
 * (bpf/trigger/trigger.bpf.c) and the engine (live/recorder/engine.c): rules whose gap is over are reported in one alert; then
 * come each rule's filters and the gate.
 */
#include <string.h>

#include "read/rehearse/rehearse_int.h"

u32 fr_re_passing(const struct fr_re *re, u32 rules, const char *comm, u32 uid)
{
	const struct fr_rehearse *h = re->h;
	u64 name[FR_COMM_SZ / sizeof(u64)] = {};
	u32 i;

	memcpy(name, comm, strnlen(comm, FR_COMM_SZ));
	for (i = 0; i < h->rule_cnt; i++)
		if (!fr_rule_user_fits(&h->bpf[i], uid) || !fr_rule_name_fits(&h->bpf[i], name))
			rules &= ~(1u << i);
	return rules;
}

u32 fr_re_exe_passing(struct fr_re *re, u32 rules)
{
	const struct fr_moment *m = &re->moment.m;
	const char *path = NULL, *slash;
	u64 exe[2] = {};
	u32 i;

	for (i = 0; i < re->h->rule_cnt; i++) {
		if (!(rules >> i & 1) || !re->h->bpf[i].exe_mask[0])
			continue;
		if (!path && m->pid) {
			path = fr_re_exe(re->who, m->pid, m->ts);
			slash = strrchr(path, '/');
			slash = slash ? slash + 1 : path;
			memcpy(exe, slash, strnlen(slash, sizeof(exe) - 1));
		}
		if (!fr_rule_exe_fits(&re->h->bpf[i], exe))
			rules &= ~(1u << i);
	}
	return rules;
}

static void tell_copy_comm(char *to, struct fr_who who)
{
	u32 len = who.comm ? who.len : 0;

	len = len < FR_COMM_SZ ? len : FR_COMM_SZ;
	memcpy(to, who.comm ? who.comm : "", len);
	to[len] = 0;
}

struct fr_moment *fr_re_moment(struct fr_re *re, u32 kind, u64 ts, u32 tid, u16 cpu)
{
	struct fr_re_moment *m = &re->moment;
	struct fr_who who = {.pid = 0};

	if (tid || kind == FR_TRIGGER_event)
		who = fr_names_who(re->view->names, tid, ts, cpu);
	tell_copy_comm(m->comm, who);
	m->text = NULL;
	m->m = (struct fr_moment){
		.kind = kind,
		.ts = ts,
		.tid = tid,
		.pid = who.pid > 0 ? who.pid : 0,
		.uid = ~0u,
		.owner = ~0u,
		.comm = m->comm,
		.exe = "",
		.cgroup = "",
	};
	return &m->m;
}

void fr_re_name_process(struct fr_re *re, u16 cpu)
{
	const struct fr_moment *m = &re->moment.m;

	if (m->pid)
		tell_copy_comm(re->moment.comm, fr_names_who(re->view->names, m->pid, m->ts, cpu));
}

/* Only what is told is asked for. */
static void find_program(struct fr_re *re)
{
	struct fr_moment *m = &re->moment.m;

	if (!m->pid || (m->kind == FR_TRIGGER_latency && m->latency == FR_LATENCY_block))
		return; /* requests are matched by name only, as in the live recorder */
	m->exe = fr_re_exe(re->who, m->pid, m->ts);
	m->cgroup = fr_re_cgroup(re->who, m->tid, m->ts);
}

/* ---- what waits for its post time ---- */

static void drop_taken(struct fr_re *re, u64 now_ns)
{
	u32 i, to = 0;

	for (i = 0; i < re->pending_cnt; i++)
		if (re->pending[i].due_ns > now_ns)
			re->pending[to++] = re->pending[i];
	re->pending_cnt = to;
}

static bool tell_is_busy(const struct fr_re *re, u32 rule, u64 key)
{
	u32 i;

	for (i = 0; i < re->pending_cnt; i++)
		if (re->pending[i].rule == rule && re->pending[i].key == key)
			return true;
	return re->pending_cnt == FR_PENDING_MAX;
}

/* ---- verdicts ---- */

static int tell_decide(struct fr_re *re, u32 rule, bool *granted)
{
	const struct fr_trigger *t = &re->h->rule[rule];
	const struct fr_moment *m = &re->moment.m;
	u64 key = fr_trigger_key(m);
	const struct fr_gate_asked asked = {.now_ns = m->ts, .granted = *granted, .busy = tell_is_busy(re, rule, key)};
	struct fr_rehearsed told = {
		.rule = rule,
		.verdict = fr_gate_decide(re->gate, t, rule, m, &asked),
		.m = m,
		.text = re->moment.text,
		.shift_ns = re->shift_ns,
		.view = re->view,
	};

	re->total[rule].verdict[told.verdict]++;
	if (told.verdict == FR_TRIGGER_VERDICT_taken) {
		*granted = true;
		if (t->post_ns)
			re->pending[re->pending_cnt++] =
				(struct fr_re_pending){.due_ns = m->ts + t->post_ns, .key = key, .rule = rule};
	}
	return re->h->fn(re->h->arg, &told);
}

static int tell(struct fr_re *re, u32 due)
{
	bool granted = false;
	int err = 0;
	u32 i;

	if (!due)
		return 0;
	find_program(re);
	drop_taken(re, re->moment.m.ts);
	for (i = 0; i < re->h->rule_cnt && !err; i++) {
		if (!(due >> i & 1))
			continue;
		re->total[i].alerted++;
		err = tell_decide(re, i, &granted);
	}
	return err;
}

static void tell_count(struct fr_re *re, u32 rules)
{
	u32 i;

	for (i = 0; i < re->h->rule_cnt; i++)
		re->total[i].matched += rules >> i & 1;
}

/* As fr_rule_due() of bpf/trigger/trigger.bpf.c. */
int fr_re_tell(struct fr_re *re, u32 rules)
{
	const struct fr_rehearse *h = re->h;
	u32 i, due = rules, gap = fr_gap_of(re->moment.m.owner);

	tell_count(re, rules);
	for (i = 0; i < h->rule_cnt; i++)
		if (rules >> i & 1 && h->bpf[i].gap_ns && !fr_gap_over(&re->next_ns[i][gap], re->moment.m.ts, h->bpf[i].gap_ns))
			due &= ~(1u << i);
	return tell(re, due);
}

int fr_re_tell_each(struct fr_re *re, u32 rules)
{
	tell_count(re, rules);
	return tell(re, rules);
}
