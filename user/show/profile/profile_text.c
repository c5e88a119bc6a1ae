/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* profile_text: a page: the number of samples, the tasks, the functions, the hottest stack. */
#include "show/profile/profile_page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/profile/sample_event.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "read/snapfile/snapfile.h"

#define WIDTH_DEFAULT 100u
#define WIDTH_LEAST   40u
#define BAR_MOST      24u
#define BAR_LEAST     4u
#define FUNC_COLS     20u /* of a line, beside bar and function */
#define SHARE_COLS    10u /* of the share that a line begins with */
#define BESIDE_COLS   36u /* either, with 16 of a function or 24 of a task: a bar gives up its own for them */
#define WIDTH_WORDS   80u /* from here on there is room for words */
#define STACK_DEPTH   12u
#define TASK_TOP      8u

u32 fr_profile_width(const struct fr_profile *p)
{
	u32 v = fr_out_columns(p->out) ?: WIDTH_DEFAULT;

	return v < WIDTH_LEAST ? WIDTH_LEAST : v;
}

void fr_profile_title(struct fr_out *o, const char *title)
{
	fr_out_char(o, '\n');
	fr_out_paint(o, FR_PAINT_BOLD);
	fr_out_str(o, title);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_char(o, '\n');
}

double fr_profile_percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void fr_profile_name(struct fr_out *o, const struct fr_profile_func *f, u32 room)
{
	const char *slash = f->module ? strrchr(f->module, '/') : NULL, *module = slash && slash[1] ? slash + 1 : f->module;
	size_t cols = fr_escape_text_to(o, f->name, strlen(f->name), room);

	if (!module || !strncmp(f->name, module, strlen(module)) || cols + strlen(module) + 3 > room)
		return;
	fr_out_paint(o, FR_PAINT_DIM);
	fr_out_str(o, " (");
	fr_escape_text(o, module, strlen(module));
	fr_out_char(o, ')');
	fr_out_paint(o, FR_PAINT_NONE);
}

void fr_profile_window(struct fr_profile *p, const struct fr_profile_sum *s)
{
	enum fr_sample_event event = fr_sample_event_find(fr_snap_fact(p->snap, "sample_event"));
	struct fr_out *o = p->out;
	char span[32];

	fr_out_printf(o, "%s, %u CPU%s, %u Hz by %s: %llu sample%s taken of %s%llu expected (%.1f%%), %llu lost",
		      fr_show_duration(s->end_ns - s->begin_ns, span, sizeof(span)), p->prof->cpu_cnt,
		      fr_plural(p->prof->cpu_cnt), p->prof->hz, fr_sample_event_name(event), s->taken, fr_plural(s->taken),
		      event == FR_SAMPLE_CYCLES ? "at most " : "", s->expected, fr_profile_percent(s->taken, s->expected),
		      s->lost);
	fr_out_printf(o, "; idle %.1f%%\n", fr_profile_percent(s->idle, s->cnt));
	if (s->lost)
		fr_out_printf(o, "%llu sample%s found a full table: shares are of the others, those of early ones too large\n",
			      s->lost, fr_plural(s->lost));
	if (s->stackless)
		fr_out_printf(o, "%llu sample%s without room for the stack, counted for the task only\n", s->stackless,
			      fr_plural(s->stackless));
	if (s->other)
		fr_out_printf(o, "%llu sample%s without room for the task either: [other]\n", s->other, fr_plural(s->other));
}

static u32 bar_width(u32 width)
{
	return width > BESIDE_COLS + BAR_MOST ? BAR_MOST : width < BESIDE_COLS + BAR_LEAST ? BAR_LEAST : width - BESIDE_COLS;
}

static void profile_put_bar(struct fr_out *o, double percent, u32 width, enum fr_paint paint)
{
	u32 len = (u32)(percent / 100 * width + 0.5), i;

	fr_out_paint(o, paint);
	for (i = 0; i < width; i++)
		fr_out_char(o, i < len || (!i && percent >= 0.1) ? '#' : ' ');
	fr_out_paint(o, FR_PAINT_NONE);
}

static enum fr_paint heat(double percent)
{
	return percent >= 20 ? FR_PAINT_RED : percent >= 5 ? FR_PAINT_YELLOW : FR_PAINT_GREEN;
}

/* ---- tasks ---- */

struct task {
	const char *comm;
	u32 pid; /* 0: several */
	u64 user, kernel;
};

static int profile_by_task(const void *a, const void *b)
{
	const struct task *x = a, *y = b;
	int order = strcmp(x->comm, y->comm);

	return order ? order : (int)(x->pid > y->pid) - (int)(x->pid < y->pid);
}

static int by_hits(const void *a, const void *b)
{
	const struct task *x = a, *y = b;
	u64 m = x->user + x->kernel, n = y->user + y->kernel;

	return m != n ? (m < n ? 1 : -1) : profile_by_task(a, b);
}

/* All tasks of the window, busiest first: malloc'ed; *cnt of them. */
static struct task *tasks_of(const struct fr_profile *p, u32 *cnt)
{
	struct task *t = calloc(p->stack_cnt + 1, sizeof(*t));
	u32 i, n = 0;

	if (!t)
		fr_out_fail(p->out, -ENOMEM);
	for (i = 0; t && i < p->stack_cnt; i++) {
		const struct fr_profile_stack *s = &p->stack[i];
		u64 hits = s->hits[FR_PROFILE_NOW];

		if (!hits)
			continue;
		t[n++] = (struct task){
			.comm = s->key->comm,
			.pid = s->key->pid,
			.user = s->key->state == FR_HIT_user ? hits : 0,
			.kernel = s->key->state == FR_HIT_kernel ? hits : 0,
		};
	}
	if (n)
		qsort(t, n, sizeof(*t), profile_by_task);
	for (i = 0, *cnt = 0; i < n; i++) {
		if (*cnt && !profile_by_task(&t[*cnt - 1], &t[i])) {
			t[*cnt - 1].user += t[i].user;
			t[*cnt - 1].kernel += t[i].kernel;
		} else {
			t[(*cnt)++] = t[i];
		}
	}
	if (*cnt)
		qsort(t, *cnt, sizeof(*t), by_hits);
	return t;
}

/* Returns the columns used. */
static u32 profile_put_who(struct fr_out *o, const char *comm, u32 pid)
{
	u32 cols = fr_escape_text(o, comm, strlen(comm));
	char nr[16] = "";

	if (pid)
		snprintf(nr, sizeof(nr), "/%u", pid);
	fr_out_str(o, nr);
	return cols + strlen(nr);
}

/* A row's share and bar, then who it is; likewise. */
static u32 put_share(struct fr_profile *p, u64 hits, u64 busy, const char *comm, u32 pid)
{
	u32 bar = bar_width(fr_profile_width(p));
	double percent = fr_profile_percent(hits, busy);

	fr_out_printf(p->out, "  %5.1f%%  ", percent);
	profile_put_bar(p->out, percent, bar, heat(percent));
	fr_out_str(p->out, "  ");
	return SHARE_COLS + bar + 2 + profile_put_who(p->out, comm, pid);
}

/* Behind a row, if there is room. */
static void put_note(struct fr_profile *p, u32 used, const char *note)
{
	if (used + strlen(note) <= fr_profile_width(p)) {
		fr_out_paint(p->out, FR_PAINT_DIM);
		fr_out_str(p->out, note);
		fr_out_paint(p->out, FR_PAINT_NONE);
	}
	fr_out_char(p->out, '\n');
}

static void profile_put_tasks(struct fr_profile *p, u64 busy)
{
	struct fr_out *o = p->out;
	u64 other = p->sum[FR_PROFILE_NOW].other;
	struct task *t;
	u32 cnt = 0, i;
	char note[40];

	t = tasks_of(p, &cnt);
	fr_profile_title(o, "Tasks");
	for (i = 0; t && i < cnt && i < TASK_TOP; i++) {
		snprintf(note, sizeof(note), "  %.0f%% in the kernel",
			 fr_profile_percent(t[i].kernel, t[i].user + t[i].kernel));
		put_note(p, put_share(p, t[i].user + t[i].kernel, busy, t[i].comm, t[i].pid), note);
	}
	if (cnt > TASK_TOP)
		fr_out_printf(o, "  and %u more\n", cnt - TASK_TOP);
	if (other)
		put_note(p, put_share(p, other, busy, "[other]", 0), "  no room for who it was");
	free(t);
}

/* ---- functions ---- */

static int by_self(const void *a, const void *b)
{
	const struct fr_profile_func *x = *(struct fr_profile_func *const *)a, *y = *(struct fr_profile_func *const *)b;

	if (x->self[0] != y->self[0])
		return x->self[0] < y->self[0] ? 1 : -1;
	return x->total[0] != y->total[0] ? (x->total[0] < y->total[0] ? 1 : -1) : strcmp(x->name, y->name);
}

/* All functions in this order: malloc'ed pointers, NULL: no memory. */
static struct fr_profile_func **profile_sorted(const struct fr_profile *p, int (*compare)(const void *, const void *))
{
	struct fr_profile_func **f = calloc(p->func_cnt + 1, sizeof(*f));
	u32 i;

	if (!f)
		fr_out_fail(p->out, -ENOMEM);
	for (i = 0; f && i < p->func_cnt; i++)
		f[i] = &p->func[i];
	if (f && p->func_cnt)
		qsort(f, p->func_cnt, sizeof(*f), compare);
	return f;
}

static void profile_put_funcs(struct fr_profile *p, u64 busy)
{
	struct fr_profile_func **f = profile_sorted(p, by_self);
	u32 width = fr_profile_width(p), bar = bar_width(width), i;
	struct fr_out *o = p->out;
	double percent;

	fr_profile_title(o, "Functions");
	fr_out_paint(o, FR_PAINT_DIM);
	fr_out_printf(o, "    self   total  %-*s  %s\n", bar, "",
		      width < WIDTH_WORDS ? "of busy samples" : "of samples that were not idle");
	fr_out_paint(o, FR_PAINT_NONE);
	for (i = 0; f && i < p->func_cnt && i < p->ask->top && (f[i]->self[0] || i < 3); i++) {
		percent = fr_profile_percent(f[i]->self[0], busy);
		fr_out_printf(o, "  %5.1f%%  %5.1f%%  ", percent, fr_profile_percent(f[i]->total[0], busy));
		profile_put_bar(o, percent, bar, heat(percent));
		fr_out_str(o, "  ");
		fr_profile_name(o, f[i], width - bar - FUNC_COLS);
		fr_out_char(o, '\n');
	}
	free(f);
}

/* ---- stacks ---- */

void fr_profile_put_stack(struct fr_profile *p, const struct fr_profile_stack *s)
{
	u32 width = fr_profile_width(p), i;
	struct fr_out *o = p->out;

	for (i = 0; i < s->cnt && i < STACK_DEPTH; i++) {
		fr_out_str(o, "            ");
		fr_profile_name(o, &p->func[s->func[s->cnt - 1 - i]], width - 14);
		fr_out_char(o, '\n');
	}
	if (s->cnt > STACK_DEPTH)
		fr_out_printf(o, "            ... %u more\n", s->cnt - STACK_DEPTH);
}

static void put_hottest(struct fr_profile *p, u64 busy)
{
	const struct fr_profile_stack *s = NULL;
	struct fr_out *o = p->out;
	char note[16];
	u32 i, cols;

	for (i = 0; i < p->stack_cnt; i++)
		if (p->stack[i].cnt && p->stack[i].hits[0] > (s ? s->hits[0] : 0))
			s = &p->stack[i];
	if (!s)
		return;
	fr_profile_title(o, "Hottest stack, innermost first");
	fr_out_printf(o, "  %5.1f%%  ", fr_profile_percent(s->hits[0], busy));
	cols = profile_put_who(o, s->key->comm, s->key->pid);
	snprintf(note, sizeof(note), ", %s", fr_profile_state(s->key->state));
	put_note(p, SHARE_COLS + cols, note);
	fr_profile_put_stack(p, s);
}

void fr_profile_text(struct fr_profile *p)
{
	const struct fr_profile_sum *s = &p->sum[FR_PROFILE_NOW];
	u64 busy = fr_profile_busy(s);
	struct fr_out *o = p->out;

	fr_out_paint(o, FR_PAINT_BOLD);
	fr_out_str(o, "profile of ");
	fr_escape_text(o, p->ask->name, strlen(p->ask->name));
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_str(o, ": the last ");
	fr_profile_window(p, s);
	profile_put_tasks(p, busy);
	profile_put_funcs(p, busy);
	put_hottest(p, busy);
}
