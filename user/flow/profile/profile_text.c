/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* profile_text: a page: how much was taken, which tasks, which functions, the hottest stack. */
#include "flow/profile/profile_page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "io/snapfile/snapfile.h"
#include "pure/profile/sample_event.h"
#include "pure/text/escape.h"
#include "pure/text/units.h"

#define WIDTH_DEFAULT 100u
#define WIDTH_LEAST   60u
#define BAR_MOST      24u
#define STACK_DEPTH   12u
#define TASK_TOP      8u

u32 fr_profile_width(const struct fr_profile *p)
{
	struct winsize ws;

	if (!isatty(p->out->fd) || ioctl(p->out->fd, TIOCGWINSZ, &ws) || !ws.ws_col)
		return WIDTH_DEFAULT;
	return ws.ws_col < WIDTH_LEAST ? WIDTH_LEAST : ws.ws_col;
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
	size_t len = strlen(f->name), cols = fr_escape_text(o, f->name, len < room ? len : room);

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

	fr_out_printf(o, "%s, %u CPUs, %u Hz by %s: %llu samples taken of %s%llu expected (%.1f%%), %llu lost",
		      fr_show_duration(s->end_ns - s->begin_ns, span, sizeof(span)), p->prof->cpu_cnt, p->prof->hz,
		      fr_sample_event_name(event), (unsigned long long)s->taken, event == FR_SAMPLE_CYCLES ? "at most " : "",
		      (unsigned long long)s->expected, fr_profile_percent(s->taken, s->expected), (unsigned long long)s->lost);
	fr_out_printf(o, "; idle %.1f%%\n", fr_profile_percent(s->idle, s->cnt));
	if (s->other)
		fr_out_printf(o, "%llu samples had no room for their stacks: [other]\n", (unsigned long long)s->other);
}

static void put_bar(struct fr_out *o, double percent, u32 width, enum fr_paint paint)
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

static int by_task(const void *a, const void *b)
{
	const struct task *x = a, *y = b;
	int order = strcmp(x->comm, y->comm);

	return order ? order : (int)(x->pid > y->pid) - (int)(x->pid < y->pid);
}

static int by_hits(const void *a, const void *b)
{
	const struct task *x = a, *y = b;
	u64 m = x->user + x->kernel, n = y->user + y->kernel;

	return m != n ? (m < n ? 1 : -1) : by_task(a, b);
}

/* All tasks of the window, the busiest first: malloc'ed; *cnt of them. */
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
		qsort(t, n, sizeof(*t), by_task);
	for (i = 0, *cnt = 0; i < n; i++) {
		if (*cnt && !by_task(&t[*cnt - 1], &t[i])) {
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

static void put_tasks(struct fr_profile *p, u64 busy)
{
	struct fr_out *o = p->out;
	struct task *t;
	u32 cnt = 0, i;
	double percent;

	t = tasks_of(p, &cnt);
	fr_profile_title(o, "Tasks");
	for (i = 0; t && i < cnt && i < TASK_TOP; i++) {
		percent = fr_profile_percent(t[i].user + t[i].kernel, busy);
		fr_out_printf(o, "  %5.1f%%  ", percent);
		put_bar(o, percent, BAR_MOST, heat(percent));
		fr_out_str(o, "  ");
		fr_escape_text(o, t[i].comm, strlen(t[i].comm));
		if (t[i].pid)
			fr_out_printf(o, "/%u", t[i].pid);
		fr_out_paint(o, FR_PAINT_DIM);
		fr_out_printf(o, "  %.0f%% in the kernel", fr_profile_percent(t[i].kernel, t[i].user + t[i].kernel));
		fr_out_paint(o, FR_PAINT_NONE);
		fr_out_char(o, '\n');
	}
	if (cnt > TASK_TOP)
		fr_out_printf(o, "  and %u more\n", cnt - TASK_TOP);
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

struct fr_profile_func **fr_profile_sorted(const struct fr_profile *p, int (*compare)(const void *, const void *))
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

static void put_funcs(struct fr_profile *p, u64 busy)
{
	struct fr_profile_func **f = fr_profile_sorted(p, by_self);
	u32 width = fr_profile_width(p), i;
	struct fr_out *o = p->out;
	double percent;

	fr_profile_title(o, "Functions");
	fr_out_paint(o, FR_PAINT_DIM);
	fr_out_printf(o, "    self   total  %-*s  of samples that were not idle\n", BAR_MOST, "");
	fr_out_paint(o, FR_PAINT_NONE);
	for (i = 0; f && i < p->func_cnt && i < p->ask->top && (f[i]->self[0] || i < 3); i++) {
		percent = fr_profile_percent(f[i]->self[0], busy);
		fr_out_printf(o, "  %5.1f%%  %5.1f%%  ", percent, fr_profile_percent(f[i]->total[0], busy));
		put_bar(o, percent, BAR_MOST, heat(percent));
		fr_out_str(o, "  ");
		fr_profile_name(o, f[i], width - BAR_MOST - 20);
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
	const struct fr_profile_stack *s = p->stack;
	struct fr_out *o = p->out;
	u32 i;

	for (i = 0; i < p->stack_cnt; i++)
		if (p->stack[i].hits[0] > s->hits[0])
			s = &p->stack[i];
	if (!p->stack_cnt || !s->hits[0])
		return;
	fr_profile_title(o, "Hottest stack");
	fr_out_printf(o, "  %5.1f%%  ", fr_profile_percent(s->hits[0], busy));
	fr_escape_text(o, s->key->comm, strlen(s->key->comm));
	if (s->key->pid)
		fr_out_printf(o, "/%u", s->key->pid);
	fr_out_printf(o, ", %s, innermost first\n", fr_profile_state(s->key->state));
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
	put_tasks(p, busy);
	put_funcs(p, busy);
	put_hottest(p, busy);
}
