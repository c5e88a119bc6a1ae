/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf-script: text as `perf script -F comm,pid,tid,cpu,time,event,trace,ip,sym,dso` prints it, for tools that read that.
 *
 *	sh 4711/4711 [001] 15619.092235:          1 cpu-clock:
 *		            7fa5bf3c7d24 read+0x14 (/usr/lib/libc.so.6)
 *		            55b04f827dc0 main+0x20 (/usr/bin/sh)
 *
 *	sh 4711/4711 [001] 15619.092240: sched:sched_switch: prev_comm=sh prev_pid=4711 prev_prio=120 prev_state=S ==> ...
 *
 * Like perf with stacks, an empty line ends each event, with or without a stack. Times have six decimals: readers accept no
 * more. Kernel events have the kernel's system, field names and texts (from the table in export_tracecmd_format.c); ours have
 * the system "flightrec".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/schema/sysnames.h"
#include "base/text/dev.h"
#include "base/text/escape.h"
#include "event_fields.h"
#include "show/export/export_stack.h"
#include "show/export/export_tracecmd.h"
#include "task_state.h"

struct perf {
	const struct fr_schema *schema; /* the schema that event belongs to */
	struct fr_trc_event event[FR_EVENT_MAX];
	struct fr_export_frame frame[FR_EXPORT_FRAME_MAX];
};

/* ---- text ---- */

static void perf_put_hex(struct fr_out *o, u64 v)
{
	fr_out_printf(o, "%llx", v);
}

static struct fr_val perf_val_of(const struct fr_trc_event *e, const char *name, const struct fr_view *v,
				 const struct fr_row *r)
{
	u32 i;

	for (i = 0; i < e->cnt; i++) {
		if (!strcmp(e->field[i].name, name))
			return fr_trc_value(&e->field[i], v, r);
	}
	return (struct fr_val){.kind = FR_VAL_NONE};
}

static u64 perf_num_of(const struct fr_trc_event *e, const char *name, const struct fr_view *v, const struct fr_row *r)
{
	struct fr_val val = perf_val_of(e, name, v, r);

	return val.kind == FR_VAL_NUM ? val.num : 0;
}

static void perf_put_state(struct fr_out *o, u64 state)
{
	u64 waits = state & FR_PREV_STATE_WAITS;
	const char *name = waits ? fr_sysname(&(struct fr_sys){0}, FR_STYLE_STATE, waits) : "R";

	fr_out_str(o, name ?: "?");
	if (state & FR_PREV_STATE_PREEMPTED)
		fr_out_char(o, '+');
}

static void perf_put_nums(struct fr_out *o, const struct fr_val *v)
{
	size_t i;

	fr_out_char(o, '{');
	for (i = 0; i < v->len; i++) {
		if (i)
			fr_out_char(o, ',');
		if (v->is_signed)
			fr_out_s64(o, v->nums[i]);
		else
			fr_out_hex(o, v->nums[i]);
	}
	fr_out_char(o, '}');
}

static void perf_put_val(struct fr_out *o, const struct fr_trc_field *f, const struct fr_val *v)
{
	enum fr_style style = f->field ? f->field->style : FR_STYLE_DEC;

	if (v->kind == FR_VAL_TEXT)
		fr_escape_text(o, v->text, v->len);
	else if (v->kind == FR_VAL_NUMS)
		perf_put_nums(o, v);
	else if (v->kind != FR_VAL_NUM)
		return;
	else if (style == FR_STYLE_STATE)
		perf_put_state(o, v->num);
	else if (fr_style_is_hex(style))
		fr_out_hex(o, v->num);
	else if (v->is_signed)
		fr_out_s64(o, v->num);
	else
		fr_out_u64(o, v->num);
}

/* name=value for the fields from nr on; stacks follow on separate lines. */
static void perf_put_fields(struct fr_out *o, const struct fr_trc_event *e, u32 nr, const struct fr_view *v,
			    const struct fr_row *r)
{
	const char *before = "";

	for (; nr < e->cnt; nr++) {
		const struct fr_trc_field *f = &e->field[nr];
		struct fr_val val = fr_trc_value(f, v, r);

		if (!strcmp(f->name, "kstack") || !strcmp(f->name, "ustack") || f->from == FR_TRC_ZERO)
			continue;
		fr_out_str(o, before);
		if (r->ev->nr == FR_EV_sched_switch && !strcmp(f->name, "next_comm"))
			fr_out_str(o, "==> ");
		fr_out_str(o, f->name);
		fr_out_char(o, '=');
		perf_put_val(o, f, &val);
		before = " ";
	}
}

/* ---- the kernel's own texts where they are not name=value ---- */

static void put_enter(struct fr_out *o, const struct fr_trc_event *e, const struct fr_view *v, const struct fr_row *r)
{
	struct fr_val args = perf_val_of(e, "args", v, r);
	size_t i, cnt = args.kind == FR_VAL_NUMS ? args.len : 0;

	fr_out_str(o, "NR ");
	fr_out_s64(o, perf_num_of(e, "id", v, r));
	fr_out_str(o, " (");
	for (i = 0; i < 6; i++) {
		if (i)
			fr_out_str(o, ", ");
		perf_put_hex(o, i < cnt ? args.nums[i] : 0);
	}
	fr_out_char(o, ')');
}

static void perf_put_exit(struct fr_out *o, const struct fr_trc_event *e, const struct fr_view *v, const struct fr_row *r)
{
	fr_out_str(o, "NR ");
	fr_out_s64(o, perf_num_of(e, "id", v, r));
	fr_out_str(o, " = ");
	fr_out_s64(o, perf_num_of(e, "ret", v, r));
}

static void put_softirq(struct fr_out *o, const struct fr_trc_event *e, const struct fr_view *v, const struct fr_row *r)
{
	u64 vec = perf_num_of(e, "vec", v, r);

	fr_out_printf(o, "vec=%llu [action=%s]", vec, fr_sysname(&(struct fr_sys){0}, FR_STYLE_SOFTIRQ, vec) ?: "?");
}

static void put_block(struct fr_out *o, const struct fr_trc_event *e, const struct fr_view *v, const struct fr_row *r)
{
	u64 dev = perf_num_of(e, "dev", v, r);
	struct fr_val rwbs = perf_val_of(e, "rwbs", v, r), comm = perf_val_of(e, "comm", v, r);
	bool done = r->ev->nr == FR_EV_block_rq_complete;

	fr_out_printf(o, "%u,%u ", fr_dev_major(dev), fr_dev_minor(dev));
	if (rwbs.kind == FR_VAL_TEXT)
		fr_escape_text(o, rwbs.text, rwbs.len);
	if (!done)
		fr_out_printf(o, " %llu", perf_num_of(e, "bytes", v, r));
	fr_out_printf(o, " () %llu + %llu [", perf_num_of(e, "sector", v, r), perf_num_of(e, "nr_sector", v, r));
	if (done)
		fr_out_s64(o, perf_num_of(e, "error", v, r));
	else if (comm.kind == FR_VAL_TEXT)
		fr_escape_text(o, comm.text, comm.len);
	fr_out_char(o, ']');
}

static void perf_put_words(struct fr_out *o, const struct fr_trc_event *e, const struct fr_view *v, const struct fr_row *r)
{
	switch (r->ev->nr) {
	case FR_EV_sys_enter:
		put_enter(o, e, v, r);
		break;
	case FR_EV_sys_exit:
		perf_put_exit(o, e, v, r);
		break;
	case FR_EV_softirq_entry:
	case FR_EV_softirq_exit:
		put_softirq(o, e, v, r);
		break;
	case FR_EV_block_rq_issue:
	case FR_EV_block_rq_complete:
	case FR_EV_block_io_start:
	case FR_EV_block_io_done:
		put_block(o, e, v, r);
		break;
	default:
		perf_put_fields(o, e, 0, v, r);
	}
}

/* ---- lines ---- */

/* Task, CPU, time. */
static void perf_put_head(struct fr_out *o, const struct fr_view *v, const struct fr_row *r)
{
	struct fr_who who = fr_view_who(v, r);
	u64 us = r->ts / 1000;

	if (who.comm && who.len)
		fr_escape_text(o, who.comm, who.len);
	else
		fr_out_str(o, ":-1");
	fr_out_printf(o, " %d/%u [%03u] %llu.%06llu: ", who.pid < 0 ? (s32)r->tid : who.pid, r->tid, r->cpu, (us / 1000000),
		      (us % 1000000));
}

/* Kernel code has perf's name for its file. */
static void perf_put_module(struct fr_out *o, const struct fr_export_frame *f)
{
	const char *module = f->symbol.module;

	if (f->kernel && (!module || !strcmp(module, "[kernel]"))) {
		fr_out_str(o, "[kernel.kallsyms]");
	} else if (f->kernel) {
		fr_out_char(o, '[');
		fr_escape_text(o, module, strlen(module));
		fr_out_char(o, ']');
	} else if (module) {
		fr_escape_text(o, module, strlen(module));
	} else {
		fr_out_str(o, "[unknown]");
	}
}

static void perf_put_frame(struct fr_out *o, const struct fr_export_frame *f)
{
	const struct fr_symbol *s = &f->symbol;

	fr_out_printf(o, "\t%16llx ", f->ip);
	if (s->name) {
		fr_escape_text(o, s->name, strlen(s->name));
		if (!s->inlined)
			fr_out_printf(o, "+0x%llx", s->off);
	} else {
		fr_out_str(o, "[unknown]");
	}
	fr_out_str(o, " (");
	if (s->inlined)
		fr_out_str(o, "inlined");
	else
		perf_put_module(o, f);
	fr_out_str(o, ")\n");
}

/* Readers take each stack for a sample of a running task, whatever the event is called. */
static bool is_running(const struct fr_row *r)
{
	return r->ev->nr != FR_EV_wait;
}

static void perf_put_stack(struct fr_export *x, struct perf *p, const struct fr_view *v, const struct fr_row *r)
{
	u32 cnt = fr_export_has_stack(r->ev) && is_running(r) ? fr_export_frames(x, v, r, p->frame) : 0, i;

	for (i = 0; i < cnt; i++)
		perf_put_frame(x->out, &p->frame[i]);
	fr_out_char(x->out, '\n');
}

static void perf_bind_all(struct perf *p, const struct fr_schema *s)
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		if (fr_schema_event(s, nr))
			fr_trc_bind(&p->event[nr], fr_schema_event(s, nr), NULL);
	}
	p->schema = s;
}

static int perf_begin(struct fr_export *x)
{
	x->state = calloc(1, sizeof(struct perf));
	return x->state ? 0 : -ENOMEM;
}

static int perf_row(struct fr_export *x, const struct fr_view *v, const struct fr_row *r)
{
	struct perf *p = x->state;
	const struct fr_trc_event *e = &p->event[r->ev->nr];
	bool sample = r->ev->nr == FR_EV_cpu_sample;

	if (p->schema != v->schema)
		perf_bind_all(p, v->schema);
	perf_put_head(x->out, v, r);
	if (sample) {
		fr_out_str(x->out, "         1 cpu-clock: \n");
	} else {
		fr_out_str(x->out, e->system);
		fr_out_char(x->out, ':');
		fr_out_str(x->out, e->name);
		fr_out_str(x->out, ": ");
		perf_put_words(x->out, e, v, r);
		fr_out_char(x->out, '\n');
	}
	perf_put_stack(x, p, v, r);
	x->event_cnt++;
	return 0;
}

const struct fr_exporter fr_export_perf = {
	.name = "perf-script",
	.doc = "text as perf script prints it: flame graph tools, Firefox Profiler, Perfetto",
	.stacks = true,
	.begin = perf_begin,
	.row = perf_row,
};
