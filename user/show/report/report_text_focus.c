/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_text_focus: what triggered it, and the last moments of its task. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert.h"
#include "base/text/escape.h"
#include "base/text/regnames.h"
#include "base/trigger/trigger.h"
#include "fatal.h"
#include "show/format/format_text.h"
#include "show/report/report_kinds.h"
#include "show/report/report_text.h"
#include "task_state.h"

#define EVENTS_SHOWN 16u
#define CALLS_SHOWN  10u
#define STEPS_SHOWN  12u
#define FRAMES_SHOWN 24u
#define OUTER_SHOWN  4u	 /* of these, the outermost */
#define PERIOD_MOST  16u /* functions that call each other */
#define REGS_WIDTH   31u /* of one */
#define FAR_NS	     10000000000ULL

/* ---- trigger ---- */

static bool focus_put_fact(struct fr_report_page *p, const char *before, const char *fact)
{
	const char *text = fr_snap_fact(p->r->snap, fact);

	if (!text || !*text)
		return false;
	fr_out_str(p->o, before);
	fr_escape_text(p->o, text, strlen(text));
	return true;
}

static void focus_put_signal(struct fr_report_page *p)
{
	const struct fr_sys none = {0};
	const char *name;
	s64 sig = 0, code;

	if (!fr_snap_fact_num(p->r->snap, "trigger_sig", &sig) || !sig)
		return;
	name = fr_signal_name(sig);
	fr_out_printf(p->o, ": %s", name ?: "signal");
	if (!name)
		fr_out_printf(p->o, " %lld", sig);
	name = fr_snap_fact_num(p->r->snap, "trigger_code", &code) ? fr_sysname(&none, FR_STYLE_SICODE, code) : NULL;
	if (name)
		fr_out_printf(p->o, " (%s)", name);
}

/* How many of what within which time. */
static void focus_put_rate(struct fr_report_page *p, const char *rate)
{
	s64 cnt = 0, max = 0, ns = 0;

	fr_snap_fact_num(p->r->snap, "trigger_cnt", &cnt);
	fr_snap_fact_num(p->r->snap, "trigger_limit_cnt", &max);
	fr_snap_fact_num(p->r->snap, "trigger_value_ns", &ns);
	fr_out_printf(p->o, ", %lld %s within ", cnt, fr_rate_doc(fr_rate_find(rate)));
	fr_report_duration(p->o, ns, 0);
	fr_out_printf(p->o, ", allowed %lld", max);
}

static void focus_put_limits(struct fr_report_page *p)
{
	const char *rate = fr_snap_fact(p->r->snap, "trigger_rate");
	s64 v;

	if (rate) {
		focus_put_rate(p, rate);
		return;
	}
	focus_put_fact(p, ", ", "trigger_latency");
	focus_put_fact(p, " ", "trigger_span");
	if (fr_snap_fact_num(p->r->snap, "trigger_value_ns", &v) && v > 0) {
		fr_out_str(p->o, " took ");
		fr_report_duration(p->o, v, 0);
	}
	if (fr_snap_fact_num(p->r->snap, "trigger_limit_ns", &v) && v > 0) {
		fr_out_str(p->o, ", limit ");
		fr_report_duration(p->o, v, 0);
	}
}

/* Where a time lies in the window, or how far outside. */
static void focus_put_place(struct fr_report_page *p, u64 ts)
{
	const struct fr_an_result *res = p->r->res;

	if (ts < res->begin_ns) {
		fr_report_duration(p->o, res->begin_ns - ts, 0);
		fr_out_str(p->o, " before the window");
	} else if (ts > res->end_ns) {
		fr_report_duration(p->o, ts - res->end_ns, 0);
		fr_out_str(p->o, " after the window");
	} else {
		fr_report_duration(p->o, res->end_ns - ts, 0);
		fr_out_str(p->o, " before the end");
	}
}

static void focus_put_when(struct fr_report_page *p)
{
	u64 ts = p->r->res->focus.trigger_ns, real_ns = fr_wall_real(p->r->view->wall, ts);

	fr_report_label(p, "when");
	if (!ts) {
		fr_out_str(p->o, "not known\n");
		return;
	}
	if (real_ns)
		fr_text_wall(p->o, real_ns);
	else
		fr_out_printf(p->o, "%llu ns of the recording clock (no clock sample)", ts);
	fr_out_str(p->o, ", ");
	focus_put_place(p, ts);
	fr_out_char(p->o, '\n');
}

/* A signal that a process sent has no address, and a 0 in its place looks like NULL. */
static bool focus_has_addr(const struct fr_snap *s)
{
	s64 sig, code;

	return !fr_snap_fact_num(s, "trigger_sig", &sig) || !fr_snap_fact_num(s, "trigger_code", &code) ||
	       fr_sig_has_addr(sig, code);
}

void fr_report_put_trigger(struct fr_report_page *p)
{
	fr_report_label(p, "trigger");
	fr_out_paint(p->o, FR_PAINT_RED);
	if (!focus_put_fact(p, "", "trigger_reason"))
		fr_out_str(p->o, "not known");
	focus_put_signal(p);
	fr_out_paint(p->o, FR_PAINT_NONE);
	focus_put_fact(p, " of ", "trigger_comm");
	focus_put_fact(p, ", pid ", "trigger_pid");
	focus_put_fact(p, ", exit status ", "trigger_status");
	focus_put_limits(p);
	focus_put_fact(p, ": ", "trigger_text");
	focus_put_fact(p, "; rule ", "trigger_rule");
	fr_out_char(p->o, '\n');
	if (fr_snap_fact(p->r->snap, "trigger_exe")) {
		fr_report_label(p, "program");
		focus_put_fact(p, "", "trigger_exe");
		focus_put_fact(p, ", at ", "trigger_ip");
		if (focus_has_addr(p->r->snap))
			focus_put_fact(p, ", address ", "trigger_addr");
		focus_put_fact(p, ", cgroup ", "trigger_cgroup");
		fr_out_char(p->o, '\n');
	}
	focus_put_when(p);
}

/* ---- its last events ---- */

/* A table of times beside the moment. */
static void focus_put_title(struct fr_report_page *p, const char *title, const char *note)
{
	char text[64];

	snprintf(text, sizeof(text), "%stime beside %s", note, fr_report_moment_name(p));
	fr_report_title(p, title, text);
}

/* A time beside the moment's: -1.234567 ms. */
static void focus_put_beside(struct fr_report_page *p, u64 ts)
{
	u64 at_ns = p->r->res->focus.at_ns;
	double diff = ts >= at_ns ? (double)(ts - at_ns) : -(double)(at_ns - ts);

	fr_out_paint(p->o, FR_PAINT_DIM);
	if (diff > -(double)FAR_NS && diff < (double)FAR_NS)
		fr_out_printf(p->o, "  %+13.6f ms  ", diff / 1e6);
	else
		fr_out_printf(p->o, "  %+13.3f s   ", diff / 1e9);
	fr_out_paint(p->o, FR_PAINT_NONE);
}

static void focus_put_events(struct fr_report_page *p)
{
	const struct fr_report_last *l = &p->r->last;
	u32 i = l->event_cnt > EVENTS_SHOWN ? l->event_cnt - EVENTS_SHOWN : 0;

	if (!l->event_cnt)
		return;
	fr_report_title(p, "Its last events", NULL);
	for (; i < l->event_cnt; i++) {
		fr_out_str(p->o, "  ");
		fr_out_mem(p->o, l->text + l->event[i].line_at, l->event[i].line_sz);
	}
}

static void put_call_name(struct fr_report_page *p, u8 abi, s32 id)
{
	char text[FR_SYSNAME_CALL_SZ];

	fr_out_str(p->o, fr_report_call_text(p->r, abi, id, text));
}

static void focus_put_ret(struct fr_report_page *p, const struct fr_report_call *c)
{
	const char *name = fr_report_errno_name(c->ret), *words = name ? fr_report_errno_words(-c->ret) : NULL;

	if (!c->exit_ns) {
		fr_out_paint(p->o, FR_PAINT_YELLOW);
		fr_out_str(p->o, " ... it did not return");
		fr_out_paint(p->o, FR_PAINT_NONE);
		return;
	}
	fr_out_str(p->o, " = ");
	if (name) {
		fr_out_paint(p->o, FR_PAINT_RED);
		fr_out_printf(p->o, "-%s", name);
		if (words)
			fr_out_printf(p->o, " (%s)", words);
		fr_out_paint(p->o, FR_PAINT_NONE);
	} else if (c->ret > 0xffffffffLL || c->ret < -FR_ERRNO_MAX) {
		fr_out_hex(p->o, c->ret);
	} else {
		fr_out_s64(p->o, c->ret);
	}
	if (c->enter_ns && c->exit_ns >= c->enter_ns) {
		fr_out_str(p->o, "  ");
		fr_report_duration(p->o, c->exit_ns - c->enter_ns, 0);
	}
}

static void focus_put_arg(struct fr_report_page *p, const struct fr_report_call *c, u32 i)
{
	const struct fr_syscall *call = fr_syscalls_at(fr_syscalls_find(p->r->view->arch, c->abi), c->id);
	char text[FR_CALLWORDS_SZ];

	if (call && call->signature->args && i < (u32)call->args)
		fr_out_any(p->o, text, fr_callwords_put(call->signature, c->arg, c->arg_cnt, i, text) - text);
	else if (c->arg[i] < 4096)
		fr_out_u64(p->o, c->arg[i]);
	else
		fr_out_hex(p->o, c->arg[i]);
}

static void focus_put_call(struct fr_report_page *p, const struct fr_report_call *c)
{
	u32 i;

	focus_put_beside(p, c->enter_ns ?: c->exit_ns);
	put_call_name(p, c->abi, c->id);
	fr_out_char(p->o, '(');
	if (!c->enter_ns)
		fr_out_str(p->o, "...");
	for (i = 0; i < c->arg_cnt; i++) {
		if (i)
			fr_out_str(p->o, ", ");
		focus_put_arg(p, c, i);
	}
	fr_out_char(p->o, ')');
	focus_put_ret(p, c);
	fr_out_char(p->o, '\n');
}

static void put_calls(struct fr_report_page *p)
{
	const struct fr_report_last *l = &p->r->last;
	u32 i = l->call_cnt > CALLS_SHOWN ? l->call_cnt - CALLS_SHOWN : 0;

	if (!l->call_cnt)
		return;
	focus_put_title(p, "Its system calls", "");
	for (; i < l->call_cnt; i++)
		focus_put_call(p, &l->call[i]);
}

/* ---- the consequences ---- */

static void put_by(struct fr_report_page *p, u8 by, u32 nr, u64 ts)
{
	const struct fr_report_by b = {.by = by, .nr = nr};
	char text[FR_REPORT_BY_SZ];
	const char *words;

	if (by == FR_SPAN_BY_TASK && nr) {
		fr_report_who(p, nr, ts, 0);
		return;
	}
	words = fr_report_by_words(p->r, &b, text);
	fr_escape_text(p->o, words, strlen(words));
}

static void focus_put_in(struct fr_report_page *p, u16 state, u8 in, u8 abi, s32 id)
{
	const char *word = fr_report_state_word(state);

	if (state & FR_PREV_STATE_ENDED)
		fr_out_str(p->o, "it ends");
	else if (word)
		fr_out_str(p->o, word);
	else
		fr_out_printf(p->o, "state %u", state);
	if (in == FR_SPAN_IN_CALL) {
		fr_out_str(p->o, " in ");
		put_call_name(p, abi, id);
	} else if (in == FR_SPAN_IN_FAULT) {
		fr_out_str(p->o, " in a page fault");
	}
}

static void focus_put_step(struct fr_report_page *p, const struct fr_an_step *s)
{
	focus_put_beside(p, s->ts);
	if (s->did == FR_AN_RUNS) {
		fr_out_printf(p->o, "runs on CPU %u", s->cpu);
	} else if (s->did == FR_AN_LEAVES) {
		fr_out_str(p->o, "leaves its CPU: ");
		focus_put_in(p, s->state, s->in, s->abi, s->id);
	} else {
		fr_out_str(p->o, "is woken by ");
		put_by(p, s->by, s->by_nr, s->ts);
	}
	fr_out_char(p->o, '\n');
}

static void put_steps(struct fr_report_page *p)
{
	const struct fr_an_focus *f = &p->r->res->focus;
	u64 cnt = f->step_cnt < FR_AN_STEP_MAX ? f->step_cnt : FR_AN_STEP_MAX, i;

	if (!cnt)
		return;
	focus_put_title(p, "Its states", "");
	for (i = f->step_cnt - (cnt < STEPS_SHOWN ? cnt : STEPS_SHOWN); i < f->step_cnt; i++)
		focus_put_step(p, &f->step[i % FR_AN_STEP_MAX]);
}

static void put_chain(struct fr_report_page *p)
{
	static const char *const notes[] = {[FR_AN_CHAIN_RUNS] = "the latest first, ",
					    [FR_AN_CHAIN_SLEEPS] = "it sleeps: what woke it last, the latest first, ",
					    [FR_AN_CHAIN_WAITS] = "it waits for a CPU, the latest first, ",
					    [FR_AN_CHAIN_ENDED] = "it has ended: what woke it last, the latest first, "};
	const struct fr_an_focus *f = &p->r->res->focus;
	u32 i;

	if (!f->chain_cnt)
		return;
	focus_put_title(p, "Who waited for whom", notes[f->chain_of]);
	for (i = 0; i < f->chain_cnt; i++) {
		const struct fr_an_wake *c = &f->chain[i];

		focus_put_beside(p, c->woken_ns);
		fr_report_who(p, c->tid, c->ran_ns ?: c->woken_ns, 0);
		fr_out_str(p->o, " <- woken by ");
		put_by(p, c->by, c->by_nr, c->woken_ns);
		if (!c->ran_ns) {
			fr_out_str(p->o, ", has not run since\n");
			continue;
		}
		fr_out_str(p->o, ", ran ");
		fr_report_duration(p->o, c->ran_ns - c->woken_ns, 0);
		fr_out_str(p->o, " later\n");
	}
}

/* ---- its stack ---- */

static void focus_put_frame(struct fr_report_page *p, u32 nr, const struct fr_report_frame *f)
{
	const struct fr_symbol *s = &f->symbol;

	fr_out_printf(p->o, "    #%-2u 0x%016llx ", nr, f->ip);
	if (s->name) {
		fr_escape_text(p->o, s->name, strlen(s->name));
		if (!s->inlined)
			fr_out_printf(p->o, "+0x%llx", s->off);
	} else {
		fr_out_str(p->o, "?");
	}
	if (s->module) {
		fr_out_str(p->o, " (");
		fr_escape_text(p->o, s->module, strlen(s->module));
		fr_out_char(p->o, ')');
	}
	if (s->file) {
		fr_out_char(p->o, ' ');
		fr_escape_text(p->o, s->file, strlen(s->file));
		fr_out_printf(p->o, ":%u%s", s->line, s->inlined ? " (inlined)" : "");
	}
	if (!s->name && s->missing)
		fr_out_printf(p->o, ": %s", s->missing);
	fr_out_char(p->o, '\n');
}

/* Calls of a stack, without the recorder's own: where the frames of each begin, of which those that are inlined share one. */
struct focus_calls {
	const struct fr_report_frame *frame;
	u32 first[FR_STACK_DEPTH_MAX + 1];
	u32 cnt;
};

static void focus_calls_find(struct focus_calls *c, const struct fr_report_stack *s)
{
	u32 own = 0, i;

	while (own < s->cnt && s->frame[own].is_own)
		own++;
	*c = (struct focus_calls){.frame = s->frame};
	for (i = own; i < s->cnt && c->cnt < FR_STACK_DEPTH_MAX; i++)
		if (i == own || s->frame[i].nr != s->frame[i - 1].nr)
			c->first[c->cnt++] = i;
	c->first[c->cnt] = i;
}

/* So many calls from this one on are there so often, one on the other. */
static u32 focus_times(const struct focus_calls *c, u32 at, u32 period)
{
	u32 i = at;

	while (i + period < c->cnt && c->frame[c->first[i]].ip == c->frame[c->first[i + period]].ip)
		i++;
	return (i - at) / period + 1;
}

/*
 * Of how many functions that call each other is this call, and how often are they there? A recursion, or a chain of frame
 * pointers that leads back to itself, would hide what it was called from.
 */
static u32 focus_period(const struct focus_calls *c, u32 at, u32 *times)
{
	u32 period;

	for (period = 1; period <= PERIOD_MOST; period++) {
		*times = focus_times(c, at, period);
		if (*times >= 3)
			return period;
	}
	*times = 1;
	return 1;
}

/* Calls that are shown from this one on. */
static u32 focus_shown(const struct focus_calls *c, u32 at)
{
	u32 shown = 0, period, times;

	for (; at < c->cnt; at += period * times, shown += period)
		period = focus_period(c, at, &times);
	return shown;
}

static void focus_put_calls(struct fr_report_page *p, const struct focus_calls *c, u32 at, u32 cnt)
{
	u32 i;

	for (; cnt; at++, cnt--)
		for (i = c->first[at]; i < c->first[at + 1]; i++)
			focus_put_frame(p, at, &c->frame[i]);
}

static void focus_put_again(struct fr_report_page *p, u32 at, u32 period, u32 times)
{
	if (times < 2)
		return;
	fr_out_str(p->o, "        the same ");
	if (period > 1)
		fr_out_printf(p->o, "%u ", period);
	fr_out_printf(p->o, "in #%u to #%u\n", at + period, at + period * times - 1);
}

/* The innermost ones and, where there are too many, the outermost: a stack is known by where its thread began. */
static void focus_put_frames(struct fr_report_page *p, bool user)
{
	u32 inner = FRAMES_SHOWN - OUTER_SHOWN, shown = 0, at = 0, period, times;
	struct focus_calls c;

	focus_calls_find(&c, &p->r->stack[user]);
	if (focus_shown(&c, 0) <= FRAMES_SHOWN)
		inner = FRAMES_SHOWN;
	while (at < c.cnt) {
		if (inner && shown >= inner && c.cnt - at > OUTER_SHOWN) {
			fr_out_printf(p->o, "        ... %u more ...\n", c.cnt - OUTER_SHOWN - at);
			at = c.cnt - OUTER_SHOWN;
			inner = 0;
		}
		period = focus_period(&c, at, &times);
		focus_put_calls(p, &c, at, period);
		focus_put_again(p, at, period, times);
		at += period * times;
		shown += period;
	}
}

/* Where a task was at some sample long before tells nothing of the moment. */
static bool is_of_moment(const struct fr_report_page *p)
{
	const struct fr_an_result *res = p->r->res;

	return res->focus.stack_of != FR_AN_STACK_SAMPLE ||
	       (res->focus.stack_ns >= res->moment_begin_ns && res->focus.stack_ns <= res->moment_end_ns);
}

/* What user code had in its registers when it entered the kernel for the last time. */
static void focus_put_regs(struct fr_report_page *p)
{
	const struct fr_an_focus *f = &p->r->res->focus;
	u32 in_line = (p->width ?: REGS_WIDTH) / REGS_WIDTH, i;
	const char *name;

	for (i = 0; i < f->reg_cnt && (name = fr_reg_name(p->r->view->arch, i)); i++) {
		if (i % in_line == 0)
			fr_out_str(p->o, i ? "\n" : "    registers\n");
		fr_out_printf(p->o, "    %-8s 0x%016llx", name, f->reg[i]);
	}
	if (i)
		fr_out_char(p->o, '\n');
}

static void focus_put_stack(struct fr_report_page *p)
{
	static const char *const when[] = {[FR_AN_STACK_SAMPLE] = "of its last sample, ",
					   [FR_AN_STACK_CRASH] = "as it crashed, ",
					   [FR_AN_STACK_EXIT] = "as it ended its process, ",
					   [FR_AN_STACK_HUNG] = "where it hung, ",
					   [FR_AN_STACK_LATENCY] = "where it waited, "};
	const struct fr_an_focus *f = &p->r->res->focus;

	if (!f->stack_ns || !is_of_moment(p))
		return;
	focus_put_title(p, "Its stack", when[f->stack_of]);
	focus_put_beside(p, f->stack_ns);
	fr_out_char(p->o, '\n');
	focus_put_frames(p, false);
	focus_put_frames(p, true);
	focus_put_regs(p);
}

void fr_report_put_task(struct fr_report_page *p)
{
	const struct fr_an_focus *f = &p->r->res->focus;

	if (!f->tid)
		return;
	fr_report_label(p, "task");
	fr_report_who(p, f->tid, f->at_ns, 0);
	if (!f->last_cnt)
		fr_out_str(p->o, ": no event of it is in the window");
	fr_out_char(p->o, '\n');
}

void fr_report_put_focus(struct fr_report_page *p)
{
	if (!p->r->res->focus.tid)
		return;
	focus_put_events(p);
	put_calls(p);
	put_steps(p);
	put_chain(p);
	focus_put_stack(p);
}
