/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * folded: one line per distinct stack, with its weight: the input format of flame graph tools, speedscope and others.
 *
 *	sh;main;run;do_syscall_64;ksys_read 12			samples: on the CPU
 *	sh;[S];wait4 18303120					--off-cpu: ns off the CPU
 *	sh;[S];wait4;[runnable] 20120				of these, already runnable, waiting for a CPU
 *	sh;[S];wait4;main;run;__x64_sys_wait4;do_wait 18303120	of a long wait, which has a record
 *
 * Switches carry no stack, so time off the CPU is described by the task's state when it left, and the system call it was in. It
 * is counted when the task runs again. Where a CPU's events are missing, the task may have run there: that time is not counted.
 * If the wait was long, and such waits were recorded, the record that follows the switch tells the call, and has the stacks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/schema/sysnames.h"
#include "base/set/foldset.h"
#include "base/set/idmap.h"
#include "base/text/folded.h"
#include "event_fields.h"
#include "read/waits/waited.h"
#include "show/export/export_gaps.h"
#include "show/export/export_stack.h"
#include "task_state.h"

#define SET_SIZE_MAX (32u << 20) /* at this size it is written and started over: readers add up equal lines */

/* A task that left its CPU. */
struct off {
	u64 left_ns;  /* 0: it is running, or nothing is known */
	u64 woken_ns; /* 0: not woken yet */
	u64 call_ns;  /* since when the call is known */
	u16 state;
	u16 abi;
	s32 call; /* the system call it is in, -1 none */
	bool in_call;
};

/* A task that has just got a CPU, whose wait may get a record. */
struct back {
	struct off off;
	u64 ts, ready_ns; /* it got it; it was runnable */
	u32 tid;	  /* 0: none */
};

struct folded {
	struct fr_foldset *set;
	struct fr_export_frame frame[FR_EXPORT_FRAME_MAX];
	struct fr_folded line;
	struct fr_idmap off;  /* by boot and tid */
	struct fr_idmap back; /* by boot and CPU */
	struct fr_waited_fields waits;
	u32 boot; /* of the current row */
};

/* ---- lines ---- */

static void add_str(struct folded *f, const char *text)
{
	fr_folded_add(&f->line, text, strlen(text));
}

/* "container=web", before everything else: a flame graph has a part for each. What is not known has no frame. */
static void folded_add_whose(struct fr_export *x, struct folded *f, const struct fr_view *v, struct fr_who who, u64 ts, u16 cpu)
{
	char text[FR_EXPORT_WHOSE_MAX + 64];
	const char *whose;
	size_t len;
	u32 i;

	for (i = 0; i < FR_WHOSE_CNT; i++) {
		whose = x->ask->whose >> i & 1 ? fr_whose_of(v, who, ts, cpu, i, &len) : NULL;
		if (whose && len <= FR_EXPORT_WHOSE_MAX)
			fr_folded_add(&f->line, text,
				      snprintf(text, sizeof(text), "%s=%.*s", fr_whose_name(i), (int)len, whose));
	}
}

/* A new line. */
static void folded_add_comm(struct fr_export *x, struct folded *f, const struct fr_view *v, struct fr_who who, u64 ts, u16 cpu)
{
	f->line.len = 0;
	folded_add_whose(x, f, v, who, ts, cpu);
	if (who.comm && who.len)
		fr_folded_add(&f->line, who.comm, who.len);
	else
		add_str(f, "[unknown]");
}

static const char *folded_base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* A function; without a name, its place in its file; without a file, its address. */
static void folded_add_frame(struct folded *f, const struct fr_export_frame *frame)
{
	const struct fr_symbol *s = &frame->symbol;
	char text[512];

	if (s->name) {
		add_str(f, s->name);
		return;
	}
	if (s->module && s->module_off)
		snprintf(text, sizeof(text), "%.400s+0x%llx", folded_base_of(s->module), s->module_off);
	else
		snprintf(text, sizeof(text), "0x%llx", frame->ip);
	add_str(f, text);
}

static int folded_weigh(struct fr_export *x, struct folded *f, u64 weight)
{
	int err = weight ? fr_foldset_add(f->set, f->line.text, f->line.len, weight) : 0;

	if (!err && fr_foldset_size(f->set) > SET_SIZE_MAX)
		fr_foldset_take(f->set, fr_folded_put, x->out);
	return err;
}

/* ---- on the CPU ---- */

static int folded_put_sample(struct fr_export *x, struct folded *f, const struct fr_view *v, const struct fr_row *r)
{
	u32 i = fr_export_frames(x, v, r, f->frame);

	folded_add_comm(x, f, v, fr_view_who(v, r), r->ts, r->cpu);
	while (i--)
		folded_add_frame(f, &f->frame[i]);
	x->event_cnt++;
	return folded_weigh(x, f, 1);
}

/* ---- off the CPU ---- */

static u64 folded_num_of(const struct fr_row *r, const char *name)
{
	const struct fr_field *f = fr_event_field(r->ev, name);

	return f && f->kind != FR_KIND_DERIVED && fr_field_kind(f) == FR_VAL_NUM ? fr_row_num(r, f) : 0;
}

static u64 folded_task_of(const struct folded *f, u32 tid)
{
	return (u64)f->boot << 32 | tid;
}

static void add_state(struct folded *f, u16 state)
{
	const char *name = fr_sysname(&(struct fr_sys){0}, FR_STYLE_STATE, state & 0xff);
	char text[32];

	snprintf(text, sizeof(text), "[%s]", state & FR_PREV_STATE_WAITS ? name ?: "?" : "R");
	add_str(f, text);
}

/* Behind a gap nobody knows whether it is still the same one. */
static void folded_add_call(struct fr_export *x, struct folded *f, const struct off *off, const char *arch)
{
	const struct fr_sys sys = {.arch = arch, .abi = off->abi};
	char text[FR_SYSNAME_CALL_SZ];

	if (off->in_call && !fr_export_is_gap(x, f->boot, off->call_ns, off->left_ns))
		add_str(f, fr_sysname_call(&sys, off->call, text));
}

/* The call and the stacks that the record of its wait has. */
static void folded_add_wait(struct fr_export *x, struct folded *f, const struct fr_view *v, const struct fr_row *r)
{
	u32 i = fr_export_frames(x, v, r, f->frame);
	char call[FR_WAITED_CALL_SZ];
	struct fr_waited w;

	fr_waited_read(&f->waits, v, r, &w);
	if (w.in == FR_WAITED_call)
		add_str(f, fr_waited_call(&w, v->arch, call));
	while (i--)
		folded_add_frame(f, &f->frame[i]);
}

/* The task that came back to this CPU; wait: its wait's record, NULL: there is none. */
static int put_back(struct fr_export *x, struct folded *f, struct back *b, const struct fr_view *v, u16 cpu,
		    const struct fr_row *wait)
{
	u64 from = b->off.left_ns;
	int err;

	folded_add_comm(x, f, v, fr_names_who(v->names, b->tid, b->ts, cpu), b->ts, cpu);
	add_state(f, b->off.state);
	if (wait)
		folded_add_wait(x, f, v, wait);
	else
		folded_add_call(x, f, &b->off, v->arch);
	err = folded_weigh(x, f, b->ready_ns - from);
	add_str(f, "[runnable]");
	x->event_cnt++;
	b->tid = 0;
	return err ?: folded_weigh(x, f, b->ts - b->ready_ns);
}

/* A switch, or a wait, on this CPU ends what is known of the last one who came back to it. */
static int end_back(struct fr_export *x, struct folded *f, const struct fr_view *v, const struct fr_row *r)
{
	struct back *b = fr_idmap_find(&f->back, folded_task_of(f, r->cpu));
	bool is_wait = r->ev == f->waits.ev;

	if (!b || !b->tid || (is_wait && b->tid != r->tid) || b->ts > r->ts)
		return 0;
	return put_back(x, f, b, v, r->cpu, is_wait ? r : NULL);
}

static int put_off(struct fr_export *x, struct folded *f, const struct fr_view *v, const struct fr_row *r)
{
	u32 tid = folded_num_of(r, "next_pid") & FR_TID_MASK;
	const struct off *off = fr_idmap_find(&f->off, folded_task_of(f, tid));
	u64 from = off ? off->left_ns : 0;
	struct back *b;

	if (!tid || !from || from > r->ts || fr_export_is_gap(x, f->boot, from, r->ts))
		return 0;
	b = fr_idmap_get(&f->back, folded_task_of(f, r->cpu));
	if (!b)
		return -ENOMEM;
	*b = (struct back){.off = *off, .ts = r->ts, .ready_ns = off->woken_ns ? off->woken_ns : r->ts, .tid = tid};
	return f->waits.ev ? 0 : put_back(x, f, b, v, r->cpu, NULL);
}

static int folded_leave(struct folded *f, const struct fr_row *r)
{
	struct off *off = r->tid ? fr_idmap_get(&f->off, folded_task_of(f, r->tid)) : NULL;
	u16 state = folded_num_of(r, "prev_state");

	if (!off)
		return r->tid ? -ENOMEM : 0;
	off->left_ns = r->ts;
	off->state = state;
	off->woken_ns = state & FR_PREV_STATE_WAITS ? 0 : r->ts; /* it was still runnable */
	if (state & FR_PREV_STATE_ENDED)
		fr_idmap_drop(&f->off, folded_task_of(f, r->tid));
	return 0;
}

static void come(struct folded *f, const struct fr_row *r)
{
	struct off *off = fr_idmap_find(&f->off, folded_task_of(f, folded_num_of(r, "next_pid") & FR_TID_MASK));

	if (off)
		off->left_ns = 0;
}

static void wake(struct folded *f, const struct fr_row *r)
{
	struct off *off = fr_idmap_find(&f->off, folded_task_of(f, folded_num_of(r, "target_pid") & FR_TID_MASK));

	if (off && off->left_ns && !off->woken_ns)
		off->woken_ns = r->ts;
}

static int folded_call(struct folded *f, const struct fr_row *r)
{
	struct off *off = fr_idmap_get(&f->off, folded_task_of(f, r->tid));

	if (!off)
		return -ENOMEM;
	off->in_call = r->ev->nr == FR_EV_sys_enter;
	off->call = folded_num_of(r, "id");
	off->call_ns = r->ts;
	off->abi = folded_num_of(r, "abi");
	return 0;
}

/* A new task's tid may have belonged to another. */
static void born(struct folded *f, const struct fr_row *r)
{
	fr_idmap_drop(&f->off, folded_task_of(f, folded_num_of(r, "child_pid") & FR_TID_MASK));
}

/* A thread that executes a program gets the tid of the first one, and is still in its call. */
static int folded_execs(struct folded *f, const struct fr_row *r)
{
	u32 old = folded_num_of(r, "old_pid") & FR_TID_MASK;
	struct off *off = old == r->tid ? NULL : fr_idmap_find(&f->off, folded_task_of(f, old)), moved;

	if (!off)
		return 0;
	moved = *off;
	fr_idmap_drop(&f->off, folded_task_of(f, old));
	off = fr_idmap_get(&f->off, folded_task_of(f, r->tid));
	if (!off)
		return -ENOMEM;
	*off = moved;
	return 0;
}

/* ---- lifetime ---- */

static int folded_begin(struct fr_export *x)
{
	struct folded *f = calloc(1, sizeof(*f));

	x->state = f;
	if (!f)
		return -ENOMEM;
	fr_idmap_init(&f->off, sizeof(struct off));
	fr_idmap_init(&f->back, sizeof(struct back));
	f->set = fr_foldset_new();
	return f->set ? 0 : -ENOMEM;
}

static int folded_row(struct fr_export *x, const struct fr_view *v, const struct fr_row *r)
{
	struct folded *f = x->state;

	int err;

	f->boot = fr_replay_boot(x->replay, x->file);
	if (!x->off_cpu)
		return r->ev->nr == FR_EV_cpu_sample ? folded_put_sample(x, f, v, r) : 0;
	if (r->ev->nr != FR_EV_sched_switch)
		return 0;
	if (v->schema != f->waits.schema)
		fr_waited_bind(&f->waits, v->schema);
	err = end_back(x, f, v, r);
	return err ?: put_off(x, f, v, r);
}

/* Of several files' schemas, the row's counts. */
static int ends_back(struct fr_export *x, struct folded *f, const struct fr_view *v, const struct fr_row *r)
{
	const struct back *b = fr_idmap_find(&f->back, folded_task_of(f, r->cpu));

	if (v->schema != f->waits.schema)
		fr_waited_bind(&f->waits, v->schema);
	if (r->ev != f->waits.ev && (r->ev->nr != FR_EV_sched_switch || !b || b->ts == r->ts))
		return 0;
	return end_back(x, f, v, r);
}

static int folded_see(struct fr_export *x, const struct fr_view *v, const struct fr_row *r)
{
	struct folded *f = x->state;
	int err;

	f->boot = fr_replay_boot(x->replay, x->file);
	if (!x->off_cpu)
		return 0;
	err = ends_back(x, f, v, r);
	if (err)
		return err;
	switch (r->ev->nr) {
	case FR_EV_sched_switch:
		come(f, r);
		return folded_leave(f, r);
	case FR_EV_sched_waking:
		wake(f, r);
		return 0;
	case FR_EV_sched_process_fork:
		born(f, r);
		return 0;
	case FR_EV_sched_process_exec:
		return folded_execs(f, r);
	case FR_EV_sys_enter:
	case FR_EV_sys_exit:
		return folded_call(f, r);
	default:
		return 0;
	}
}

/* Those that came back last. */
static int put_backs(struct fr_export *x, struct folded *f)
{
	u32 i, file;
	int err = 0;

	for (i = 0; i < f->back.cap && !err; i++) {
		struct back *b = f->back.used[i] ? fr_idmap_find(&f->back, f->back.key[i]) : NULL;

		f->boot = f->back.key[i] >> 32;
		for (file = 0; b && fr_replay_boot(x->replay, file) != f->boot;)
			file++;
		if (b && b->tid)
			err = put_back(x, f, b, fr_replay_view(x->replay, file), (u16)f->back.key[i], NULL);
	}
	return err;
}

static int folded_end(struct fr_export *x)
{
	struct folded *f = x->state;
	int err = put_backs(x, f);

	fr_foldset_take(f->set, fr_folded_put, x->out);
	return err;
}

static void folded_release(struct fr_export *x)
{
	struct folded *f = x->state;

	if (!f)
		return;
	fr_foldset_free(f->set);
	fr_idmap_free(&f->off);
	fr_idmap_free(&f->back);
}

const struct fr_exporter fr_export_folded = {
	.name = "folded",
	.doc = "a line for each stack with its samples, or --off-cpu its ns: flame graphs",
	.stacks = true,
	.columns = true,
	.begin = folded_begin,
	.row = folded_row,
	.see = folded_see,
	.end = folded_end,
	.release = folded_release,
};
