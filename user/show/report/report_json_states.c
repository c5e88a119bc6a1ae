/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_json_states: how all tasks were when the snapshot was taken, as docs/report.md lists it. */
#include <string.h>

#include "base/text/jsonw.h"
#include "show/report/report.h"

static void states_put_name(struct fr_jsonw *w, const char *key, const struct fr_waited_name *n)
{
	if (n->len)
		fr_jsonw_mem(w, key, n->text, n->len);
	else
		fr_jsonw_text(w, key, NULL);
}

static void states_put_time(struct fr_jsonw *w, const char *key, u64 ns)
{
	if (ns)
		fr_jsonw_u64(w, key, ns);
	else
		fr_jsonw_text(w, key, NULL);
}

static void states_put_call(struct fr_jsonw *w, struct fr_report *r, const struct fr_waited *one)
{
	const struct fr_sys sys = {0};
	bool in_call = one->in == FR_WAITED_call;
	char call[FR_WAITED_CALL_SZ];
	u32 i;

	fr_jsonw_text(w, "in", one->in == FR_STATE_IN_NONE ? NULL : fr_sysname(&sys, FR_STYLE_WAITEDIN, one->in));
	fr_jsonw_text(w, "call", in_call ? fr_waited_call(one, r->waits.arch, call) : NULL);
	if (!in_call) {
		fr_jsonw_text(w, "id", NULL);
		return;
	}
	fr_jsonw_s64(w, "id", one->id);
	fr_jsonw_u64(w, "abi", one->abi);
	fr_jsonw_open(w, "args", '[');
	for (i = 0; i < FR_WAITED_ARGS; i++)
		fr_jsonw_u64(w, NULL, one->arg[i]);
	fr_jsonw_close(w, ']');
}

static void states_put_waker(struct fr_jsonw *w, const struct fr_still *s)
{
	const struct fr_sys sys = {0};

	states_put_time(w, "woken_ns", s->state->woken_ns);
	fr_jsonw_text(w, "waker", s->state->woken_ns ? fr_sysname(&sys, FR_STYLE_WAKER, s->wait.waker) : NULL);
	if (s->wait.waker_pid)
		fr_jsonw_u64(w, "waker_tid", s->wait.waker_pid);
	else
		fr_jsonw_text(w, "waker_tid", NULL);
	states_put_name(w, "waker_comm", &s->wait.waker_comm);
}

static void states_put_one(struct fr_jsonw *w, struct fr_report *r, const struct fr_snap_state *t)
{
	static const char *const from[] = {
		[FR_SINCE_UNKNOWN] = NULL, [FR_SINCE_TABLE] = "table", [FR_SINCE_SWITCHES] = "switches"};
	char about[FR_WAITED_OBJECT_SZ];
	struct fr_still s;

	fr_states_read(&r->states, r->view, t, &s);
	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_u64(w, "tid", t->tid);
	if (s.wait.pid >= 0)
		fr_jsonw_s64(w, "pid", s.wait.pid);
	else
		fr_jsonw_text(w, "pid", NULL);
	states_put_name(w, "comm", &s.wait.comm);
	fr_jsonw_u64(w, "start_ns", t->start_ns);
	fr_jsonw_u64(w, "at_ns", t->at_ns);
	fr_jsonw_u64(w, "state", t->state);
	fr_jsonw_text(w, "state_name", fr_report_state_word(t->state));
	fr_jsonw_bool(w, "runs", t->flags & FR_STATE_RUNS);
	fr_jsonw_bool(w, "moved", t->flags & FR_STATE_MOVED);
	states_put_time(w, "since_ns", s.since_ns);
	fr_jsonw_text(w, "since_from", from[s.from]);
	states_put_call(w, r, &s.wait);
	fr_jsonw_text(w, "object", *t->object ? t->object : NULL);
	fr_waited_about(&s.wait, r->waits.arch, about);
	fr_jsonw_text(w, "about", *about ? about : NULL);
	states_put_waker(w, &s);
	fr_jsonw_u64(w, "cpu", t->cpu);
	fr_jsonw_s64(w, "prio", t->prio);
	fr_jsonw_u64(w, "policy", t->policy);
	fr_jsonw_u64(w, "cgroup_id", t->cgroup);
	fr_report_json_kernel(w, r, t->kstack_id);
	fr_jsonw_close(w, '}');
}

static void states_put_counts(struct fr_jsonw *w, struct fr_report *r)
{
	static const char *const counts[] = {"seen", "taken", "brief", "many", "late", "gone"};
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		fr_jsonw_u64(w, counts[i], fr_states_count(r->snap, counts[i]));
}

/* Not only of the window: they are of one moment. */
void fr_report_json_states(struct fr_jsonw *w, struct fr_report *r)
{
	size_t i;

	if (!fr_snap_fact(r->snap, "states") && !r->states.cnt) {
		fr_jsonw_text(w, "still_waiting", NULL);
		return;
	}
	fr_jsonw_open(w, "still_waiting", '{');
	states_put_counts(w, r);
	fr_jsonw_open(w, "tasks", '[');
	for (i = 0; i < r->states.cnt; i++)
		states_put_one(w, r, &r->states.at[i]);
	fr_jsonw_close(w, ']');
	fr_jsonw_close(w, '}');
}
