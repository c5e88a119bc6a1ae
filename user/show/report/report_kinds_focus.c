/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_kinds_focus: the kinds of what is told of the task in focus: its last events, calls and states, wakers, stack. */
#include "base/text/regnames.h"
#include "show/report/report_kinds.h"

/* ---- last events and calls ---- */

static const void *focus_event(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return i < r->last.event_cnt ? &r->last.event[i] : NULL;
}

static struct fr_value focus_event_name(const struct fr_at *at)
{
	const struct fr_report_event *e = at->rec;

	return fr_value_text(e->ev->name);
}

static struct fr_value event_text(const struct fr_at *at)
{
	const struct fr_report *r = at->of;
	const struct fr_report_event *e = at->rec;

	return fr_value_mem(r->last.text + e->line_at, e->line_sz ? e->line_sz - 1 : 0);
}

static const void *focus_call(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return i < r->last.call_cnt ? &r->last.call[i] : NULL;
}

static struct fr_value focus_call_name(const struct fr_at *at)
{
	const struct fr_report_call *c = at->rec;

	return fr_value_text(fr_report_call_name(at->of, c->abi, c->id));
}

static const void *call_arg(const struct fr_at *at, u32 i)
{
	const struct fr_report_call *c = at->rec;

	return i < c->arg_cnt ? &c->arg[i] : NULL;
}

static struct fr_value call_ret(const struct fr_at *at)
{
	const struct fr_report_call *c = at->rec;

	return c->exit_ns ? fr_value_snr(c->ret) : fr_value_null();
}

static struct fr_value call_errno_name(const struct fr_at *at)
{
	const struct fr_report_call *c = at->rec;

	return fr_value_text(c->exit_ns ? fr_report_errno_name(c->ret) : NULL);
}

/* clang-format off */
static const struct fr_column event_columns[] = {
	FR_COLUMN(struct fr_report_event, ts, "ts", CLOCK, "when"),
	FR_COLUMN(struct fr_report_event, cpu, "cpu", NUMBER, "where"),
	FR_COLUMN_MADE(focus_event_name, "event", TEXT, "[its name](events.md)"),
	FR_COLUMN_MADE(event_text, "text", TEXT, "the line of `replay`", .escaped = true),
	{},
};
static const struct fr_table kind_event = {"last_event", "Its own, and those in which it is woken, gets a CPU, or (as its process) is sent a signal.", event_columns};

static const struct fr_column call_columns[] = {
	FR_COLUMN(struct fr_report_call, id, "id", NUMBER, "of the system call"),
	FR_COLUMN(struct fr_report_call, abi, "abi", NUMBER, "0: the machine's; 1: the 32-bit one"),
	FR_COLUMN_MADE(focus_call_name, "name", TEXT, "`null`: not known"),
	FR_COLUMN(struct fr_report_call, enter_ns, "enter_ns", CLOCK, "begin; `null`: not seen", .null = true),
	FR_COLUMN(struct fr_report_call, exit_ns, "exit_ns", CLOCK, "end; `null`: not seen", .null = true),
	FR_LIST(call_arg, "args", NULL, "arguments"),
	FR_COLUMN_MADE(call_ret, "ret", NUMBER, "what it returned; `null`: its end was not seen"),
	FR_COLUMN_MADE(call_errno_name, "errno_name", TEXT, "the error's name; `null`: none"),
	{},
};
static const struct fr_table kind_call = {"last_call", "A system call among its last events.", call_columns};
/* clang-format on */

/* ---- states ---- */

static const void *focus_step(const struct fr_at *at, u32 i)
{
	const struct fr_an_focus *f = at->rec;
	u64 first = f->step_cnt > FR_AN_STEP_MAX ? f->step_cnt - FR_AN_STEP_MAX : 0;

	return first + i < f->step_cnt ? &f->step[(first + i) % FR_AN_STEP_MAX] : NULL;
}

static struct fr_value step_did(const struct fr_at *at)
{
	const struct fr_an_step *s = at->rec;

	return fr_value_text(s->did == FR_AN_RUNS ? "runs" : s->did == FR_AN_LEAVES ? "leaves" : "woken");
}

static const void *step_in(const struct fr_at *at, u32 i)
{
	const struct fr_an_step *s = at->rec;
	struct fr_report_in *in = (void *)at->room;

	*in = (struct fr_report_in){.state = s->state, .in = s->in, .abi = s->abi, .id = s->id};
	return i || s->did != FR_AN_LEAVES ? NULL : in;
}

static const void *by_put(const struct fr_at *at, u8 by, u32 nr)
{
	struct fr_report_by *b = (void *)at->room;

	*b = (struct fr_report_by){.by = by, .nr = nr};
	return b;
}

static const void *step_by(const struct fr_at *at, u32 i)
{
	const struct fr_an_step *s = at->rec;

	return i || s->did != FR_AN_WOKEN ? NULL : by_put(at, s->by, s->by_nr);
}

/* ---- the wake chain ---- */

static struct fr_value focus_chain_of(const struct fr_at *at)
{
	static const char *const states[] = {[FR_AN_CHAIN_RUNS] = "runs",
					     [FR_AN_CHAIN_SLEEPS] = "sleeps",
					     [FR_AN_CHAIN_WAITS] = "waits",
					     [FR_AN_CHAIN_ENDED] = "ended"};
	const struct fr_an_focus *f = at->rec;

	return fr_value_text(f->chain_cnt ? states[f->chain_of] : NULL);
}

static const void *focus_link(const struct fr_at *at, u32 i)
{
	const struct fr_an_focus *f = at->rec;

	return i < f->chain_cnt ? &f->chain[i] : NULL;
}

static struct fr_value link_comm(const struct fr_at *at)
{
	const struct fr_an_wake *c = at->rec;

	return fr_report_comm(at->of, c->tid, c->ran_ns ?: c->woken_ns, 0);
}

static const void *link_by(const struct fr_at *at, u32 i)
{
	const struct fr_an_wake *c = at->rec;

	return i ? NULL : by_put(at, c->by, c->by_nr);
}

static struct fr_value link_waker_comm(const struct fr_at *at)
{
	const struct fr_an_wake *c = at->rec;

	return c->by == FR_SPAN_BY_TASK && c->by_nr ? fr_report_comm(at->of, c->by_nr, c->woken_ns, 0) : fr_value_absent();
}

/* clang-format off */
static const struct fr_column step_columns[] = {
	FR_COLUMN(struct fr_an_step, ts, "ts", CLOCK, "when"),
	FR_COLUMN(struct fr_an_step, cpu, "cpu", NUMBER, "where"),
	FR_COLUMN_MADE(step_did, "did", TEXT, "`runs`, `leaves` or `woken`"),
	FR_PART_MADE(step_in, NULL, &fr_report_kind_in, "of `leaves`"),
	FR_PART_MADE(step_by, NULL, &fr_report_kind_by, "of `woken`"),
	{},
};
static const struct fr_table kind_step = {"state", "A change of its state.", step_columns};

static const struct fr_column link_columns[] = {
	FR_COLUMN(struct fr_an_wake, tid, "tid", NUMBER, "who was woken"),
	FR_COLUMN_MADE(link_comm, "comm", TEXT, "its name; `null`: not known"),
	FR_PART_MADE(link_by, NULL, &fr_report_kind_by, NULL),
	FR_COLUMN_MADE(link_waker_comm, "waker_comm", TEXT, "of `task`; `null`: not known"),
	FR_COLUMN(struct fr_an_wake, woken_ns, "woken_ns", CLOCK, "when it was woken"),
	FR_COLUMN(struct fr_an_wake, ran_ns, "ran_ns", CLOCK, "when it got a CPU; `null`: it has not since", .null = true),
	{},
};
static const struct fr_table kind_link = {"link", "A link of the wake chain.", link_columns};
/* clang-format on */

/* ---- its stack ---- */

static const void *focus_stack_frame(const struct fr_at *at, bool user, u32 i)
{
	const struct fr_report_stack *s = &((const struct fr_report *)at->of)->stack[user];

	return i < s->cnt ? &s->frame[i] : NULL;
}

static const void *stack_kernel(const struct fr_at *at, u32 i)
{
	return focus_stack_frame(at, false, i);
}

static const void *stack_user(const struct fr_at *at, u32 i)
{
	return focus_stack_frame(at, true, i);
}

/* A register, of the record fr_an_focus. */
struct focus_reg {
	const char *name;
	u64 value;
};

static const void *stack_reg(const struct fr_at *at, u32 i)
{
	const struct fr_an_focus *f = at->rec;
	const char *name = i < f->reg_cnt ? fr_reg_name(((const struct fr_report *)at->of)->view->arch, i) : NULL;
	struct focus_reg *reg = (struct focus_reg *)at->room;

	if (!name)
		return NULL;
	*reg = (struct focus_reg){name, f->reg[i]};
	return reg;
}

static struct fr_value frame_line(const struct fr_at *at)
{
	const struct fr_report_frame *f = at->rec;

	return f->symbol.file ? fr_value_nr(f->symbol.line) : fr_value_null();
}

static struct fr_value stack_from(const struct fr_at *at)
{
	static const char *const events[] = {[FR_AN_STACK_SAMPLE] = "cpu_sample",
					     [FR_AN_STACK_CRASH] = "crash",
					     [FR_AN_STACK_EXIT] = "failure",
					     [FR_AN_STACK_HUNG] = "hung",
					     [FR_AN_STACK_LATENCY] = "latency"};
	const struct fr_an_focus *f = at->rec;

	return fr_value_text(f->stack_ns ? events[f->stack_of] : NULL);
}

/* clang-format off */
static const struct fr_column frame_columns[] = {
	FR_COLUMN(struct fr_report_frame, ip, "ip", NUMBER, "address"),
	FR_COLUMN(struct fr_report_frame, symbol.name, "name", TEXT, "function; `null`: not known"),
	FR_COLUMN(struct fr_report_frame, symbol.off, "off", SIZE, "place in it"),
	FR_COLUMN(struct fr_report_frame, symbol.module, "module", TEXT, "program, library, `[kernel]` or kernel module; `null`: not known"),
	FR_COLUMN(struct fr_report_frame, symbol.missing, "missing", TEXT, "why there is no name; `null`: nothing is missing"),
	FR_COLUMN(struct fr_report_frame, symbol.file, "file", TEXT, "source; `null`: not known, or without `--lines`"),
	FR_COLUMN_MADE(frame_line, "line", NUMBER, "of it; `null`: not known"),
	FR_COLUMN(struct fr_report_frame, symbol.inlined, "inlined", BOOL, "into the next one, which is of the same frame"),
	FR_COLUMN(struct fr_report_frame, is_own, "recorder", BOOL, "it is of the program that took the stack; text leaves it out"),
	{},
};
static const struct fr_table kind_frame = {"frame", "A frame of a stack.", frame_columns};

static const struct fr_column reg_columns[] = {
	FR_COLUMN(struct focus_reg, name, "name", TEXT, "as debuggers call it"),
	FR_COLUMN(struct focus_reg, value, "value", NUMBER, "what it had"),
	{},
};
static const struct fr_table kind_reg = {"register", "A register of user code.", reg_columns};

static const struct fr_column stack_columns[] = {
	FR_COLUMN(struct fr_an_focus, stack_ns, "ts", CLOCK, "when it was taken; `null`: there is none", .null = true),
	FR_COLUMN_MADE(stack_from, "from", TEXT, "the event that it is of: `crash`, `failure`, `hung`, `latency` or `cpu_sample`; `null`: there is none"),
	FR_LIST(stack_kernel, "kernel", &kind_frame, "innermost first"),
	FR_LIST(stack_user, "user", &kind_frame, "innermost first"),
	FR_LIST(stack_reg, "registers", &kind_reg, "of `crash`, as its process entered the kernel for the last time; empty: not recorded"),
	{},
};
static const struct fr_table kind_stack = {"stack", "Its stack.", stack_columns};

static struct fr_value focus_comm(const struct fr_at *at)
{
	const struct fr_an_focus *f = at->rec;

	return fr_report_comm(at->of, f->tid, f->at_ns, 0);
}

static const void *focus_stack(const struct fr_at *at, u32 i)
{
	return i ? NULL : at->rec;
}

static const struct fr_column focus_columns[] = {
	FR_COLUMN(struct fr_an_focus, tid, "tid", NUMBER, "the task"),
	FR_COLUMN_MADE(focus_comm, "comm", TEXT, "its name; `null`: not known"),
	FR_LIST(focus_event, "events", &kind_event, "the last 64"),
	FR_LIST(focus_call, "syscalls", &kind_call, "those among them"),
	FR_LIST(focus_step, "states", &kind_step, "the last 64"),
	FR_COLUMN_MADE(focus_chain_of, "woken_by_state", TEXT,
		       "what the task did at the moment: `runs` (or was preempted), `sleeps` or `ended` (the first link is its last wakeup), "
		       "`waits` (woken, and not run since); `null`: no chain"),
	FR_LIST(focus_link, "woken_by", &kind_link, "the wake chain, latest first"),
	FR_PART_MADE(focus_stack, "stack", &kind_stack, NULL),
	{},
};
const struct fr_table fr_report_kind_focus = {"focus", "The task that the trigger is about, or `--task`.", focus_columns};
/* clang-format on */
