/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* watch_set: which events an expression is about, and a program for each of them. */
#include "base/trigger/watch_set.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/vec.h"
#include "base/trigger/watch_int.h"
#include "event_fields.h"

void fr_watch_fail(struct fr_watch_build *b, const struct fr_node *n, const char *fmt, ...)
{
	va_list ap;

	if (b->failed)
		return;
	b->failed = true;
	b->error->at = n->at;
	va_start(ap, fmt);
	vsnprintf(b->error->text, sizeof(b->error->text), fmt, ap);
	va_end(ap);
}

/* ---- which events ---- */

const char *fr_watch_refuses(const struct fr_event *ev)
{
	switch (ev->nr) {
	case FR_EV_cpu_sample:
	case FR_EV_stack:
	case FR_EV_stack_build_ids:
		return "samples come from a timer: they mark no moment";
	case FR_EV_sys_path:
	case FR_EV_sys_unread:
		return "what a call was given is looked at where the call is recorded: take event:sys_enter";
	case FR_EV_stderr_write:
		return "what a program writes is looked at where it is recorded: take a rule on what happens then, as crash or "
		       "exit:STATUS";
	case FR_EV_wait:
		return "it is written by the recording itself: use --on latency:offcpu>T, or hung>T";
	case FR_EV_crash:
		return "it is written by a trigger: use --on crash";
	case FR_EV_latency:
		return "it is written by a trigger: use --on latency:WHAT>T";
	case FR_EV_failure:
		return "it is written by a trigger: use --on exit:STATUS, or crash";
	case FR_EV_hung:
		return "it is written by a trigger: use --on hung>T";
	case FR_EV_kernel_report:
		return "it is written by a trigger: use --on kernel";
	default:
		return ev->group == FR_GROUP_MARK ? "it is written by the recorder itself" : NULL;
	}
}

/* Does this part of the expression name the event, alone or among few? Returns the part, or NULL. */
static const struct fr_node *named_by(const struct fr_filter *f, u8 nr)
{
	u32 i, k, cnt;

	for (i = 0; i < f->node_cnt; i++) {
		const struct fr_node *n = f->node[i];

		if (n->op != FR_OP_EVENTS || !n->events[nr])
			continue;
		for (k = cnt = 0; k < FR_EVENT_MAX; k++)
			cnt += n->events[k] && fr_schema_event(f->schema, k);
		if (cnt <= FR_WATCH_EVENT_MAX)
			return n;
	}
	return NULL;
}

/* Room for one more program; NULL: none, reported. It counts once it is compiled. */
static struct fr_watch_prog *new_prog(struct fr_watch_build *b, const struct fr_node *n)
{
	struct fr_watch_set *s = b->set;
	struct fr_watch_prog *more;

	if (s->prog_cnt == FR_WATCH_PROG_MAX) {
		fr_watch_fail(b, n, "too many events are watched: %u at most, counted for each rule", FR_WATCH_PROG_MAX);
		return NULL;
	}
	more = fr_vec_more(&s->prog, s->prog_cnt);
	if (!more) {
		fr_watch_fail(b, n, "no memory");
		return NULL;
	}
	memset(more, 0, sizeof(*more));
	return more;
}

/* A jump to a jump that will also be taken goes directly to its target. */
static void thread_jumps(struct fr_watch_prog *p)
{
	struct fr_watch_insn *in;
	u32 i;

	for (i = p->insn_cnt; i--;) {
		in = &p->insn[i];
		if (in->op == FR_WATCH_JF || in->op == FR_WATCH_JT)
			while (in->off < p->insn_cnt && p->insn[in->off].op == in->op && p->insn[in->off].a == in->a)
				in->off = p->insn[in->off].off;
	}
}

static bool is_small(const struct fr_watch_insn *in)
{
	return in->hi == (u64)((s64)in->lo >> 63);
}

/*
 * If a program begins by comparing a number of the event with a known one, and is false if they differ, the two are its guard.
 */
static void find_guard(struct fr_watch_prog *p)
{
	const struct fr_watch_insn *load = p->insn, *abi = p->insn + 1, *eq = abi, *after;
	bool by_abi = p->insn_cnt > 2 && abi->op == FR_WATCH_ABI;

	if (by_abi)
		eq++;
	after = eq + 1;
	if (p->insn_cnt < 2 || load->op != FR_WATCH_LOAD || eq->op != FR_WATCH_EQ || load->dst || eq->dst || eq->a)
		return;
	if (by_abi ? eq->b != abi->dst : eq->b != FR_WATCH_IMM || !is_small(eq))
		return;
	if (after < p->insn + p->insn_cnt && (after->op != FR_WATCH_JF || after->a || after->off != p->insn_cnt))
		return;
	p->guard = *load;
	p->guard.op = FR_WATCH_EQ;
	p->guard.a = by_abi ? abi->a : 3;
	p->guard.lo = by_abi ? abi->lo : eq->lo;
	p->guard.hi = by_abi ? abi->hi : eq->lo;
}

static void watch_add_event(struct fr_watch_build *b, const struct fr_filter *f, u32 rule)
{
	const char *why = fr_watch_refuses(b->ev);
	const struct fr_node *named = why ? named_by(f, b->ev->nr) : NULL;
	enum fr_watch_truth truth;

	if (named)
		fr_watch_fail(b, named, "%s cannot be watched: %s", b->ev->name, why);
	if (why)
		return;
	b->prog = new_prog(b, f->root);
	if (!b->prog)
		return;
	b->prog->rule = rule;
	b->prog->event = b->ev->nr;
	truth = fr_watch_truth(b, f->root, 0);
	if (truth == FR_WATCH_TRUE)
		b->prog->insn_cnt = 0;
	thread_jumps(b->prog);
	find_guard(b->prog);
	b->set->prog_cnt += truth != FR_WATCH_FALSE && !b->failed;
}

/* An event that the expression cannot hold for is not compiled, and need not be supported. */
static void watch_add_events(struct fr_watch_build *b, const struct fr_filter *f, u32 rule)
{
	u32 nr, before = b->set->prog_cnt, cnt;

	for (nr = 0; nr < FR_EVENT_MAX && !b->failed; nr++) {
		b->ev = fr_schema_event(f->schema, nr);
		if (b->ev && fr_filter_verdict(f, nr) != FR_VERDICT_NO)
			watch_add_event(b, f, rule);
	}
	cnt = b->set->prog_cnt - before;
	if (!cnt)
		fr_watch_fail(b, f->root, "no event that can be watched matches this");
	if (cnt > FR_WATCH_EVENT_MAX)
		fr_watch_fail(b, f->root,
			      "this matches %u events, %u at most can be watched: name one, as event == sys_exit && ...", cnt,
			      FR_WATCH_EVENT_MAX);
	if (b->failed)
		b->set->prog_cnt = before;
}

static int watch_add_of(struct fr_watch_set *s, u32 rule, const char *expr, const struct fr_filter_file *file, bool alone,
			struct fr_filter_error *error)
{
	struct fr_watch_build b = {.set = s, .arch = file->arch, .error = error, .alone = alone};
	struct fr_filter *f;
	u32 tables = s->table_cnt;
	int err;

	err = fr_filter_new_beside(expr, file, 1, 0, &f, error);
	if (err)
		return err;
	watch_add_events(&b, f, rule);
	if (b.failed)
		s->table_cnt = tables;
	fr_filter_free(f);
	return b.failed ? -EINVAL : 0;
}

int fr_watch_add(struct fr_watch_set *s, u32 rule, const char *expr, const char *arch, struct fr_filter_error *error)
{
	const struct fr_filter_file file = {.schema = fr_schema_builtin(), .arch = arch};

	return watch_add_of(s, rule, expr, &file, false, error);
}

int fr_watch_add_one(struct fr_watch_set *s, u32 rule, const char *expr, const struct fr_filter_file *file,
		     struct fr_filter_error *error)
{
	return watch_add_of(s, rule, expr, file, true, error);
}

int fr_watch_add_for(struct fr_watch_set *s, u32 nr, const char *expr, const struct fr_filter_file *file, u32 *prog,
		     struct fr_filter_error *error)
{
	struct fr_watch_build b = {
		.set = s, .ev = fr_schema_event(file->schema, nr), .arch = file->arch, .error = error, .alone = true};
	enum fr_watch_truth truth = FR_WATCH_FALSE;
	u32 tables = s->table_cnt;
	struct fr_filter *f;
	int err = fr_filter_new_beside(expr, file, 1, 0, &f, error);

	if (err)
		return err;
	b.prog = new_prog(&b, f->root);
	if (b.prog) {
		b.prog->event = nr;
		truth = fr_watch_truth(&b, f->root, 0);
	}
	if (!b.failed && truth == FR_WATCH_FALSE)
		fr_watch_fail(&b, f->root, "this never holds");
	if (b.failed) {
		s->table_cnt = tables;
	} else if (truth == FR_WATCH_TRUE) {
		*prog = FR_WATCH_ALWAYS;
	} else {
		thread_jumps(b.prog);
		find_guard(b.prog);
		*prog = s->prog_cnt++;
	}
	fr_filter_free(f);
	return b.failed ? -EINVAL : 0;
}

static int by_event_and_rule(const void *a, const void *b)
{
	const struct fr_watch_prog *x = a, *y = b;

	return x->event != y->event ? (int)x->event - (int)y->event : (int)x->rule - (int)y->rule;
}

void fr_watch_ready(struct fr_watch_set *s)
{
	u32 i;

	if (s->prog_cnt)
		qsort(s->prog, s->prog_cnt, sizeof(*s->prog), by_event_and_rule);
	memset(s->of, 0, sizeof(s->of));
	for (i = 0; i < s->prog_cnt; i++)
		if (!s->of[s->prog[i].event].cnt++)
			s->of[s->prog[i].event].first = i;
}

void fr_watch_free(struct fr_watch_set *s)
{
	free(s->prog);
	free(s->table);
	memset(s, 0, sizeof(*s));
}

int fr_watch_check(const char *expr, const char *arch, struct fr_filter_error *error)
{
	struct fr_watch_set s = {0};
	int err = fr_watch_add(&s, 0, expr, arch, error);

	fr_watch_free(&s);
	return err;
}
