/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_text_states: who was still waiting when the snapshot was taken: the process in focus, tasks in D, and of the others
 * the longest. Tasks that wait in the same place are one line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/idmap.h"
#include "base/text/escape.h"
#include "base/text/jsonr.h"
#include "base/text/units.h"
#include "show/report/report_text.h"

#define PROCESS_SHOWN 5u
#define BLOCKED_SHOWN 5u
#define LONGEST_SHOWN 3u

enum part { PROCESS, BLOCKED, LONGEST, PART_CNT };

static const u32 most[PART_CNT] = {PROCESS_SHOWN, BLOCKED_SHOWN, LONGEST_SHOWN};

/* Before the others of its part: the task in focus, those in D. */
enum urgency { FOCUS, IN_D, OTHER };

/* Tasks of a process in one place; the first is the one that has been there longest. */
struct group {
	struct fr_still first;
	enum part part;
	enum urgency urgency;
	u32 cnt;
};

/* ---- groups ---- */

/* A kernel thread that waits for work is of no interest, nor are the recorder's own: no part of what happened. */
static bool is_told(const struct fr_report_page *p, struct group *g)
{
	const struct fr_snap_state *t = g->first.state;
	s32 pid = p->r->waits.pid;

	g->urgency = t->tid == p->r->waits.tid ? FOCUS : t->state == FR_PREV_STATE_BLOCKED ? IN_D : OTHER;
	if (g->urgency == FOCUS || (pid >= 0 && g->first.wait.pid == pid))
		g->part = PROCESS;
	else if (t->flags & FR_STATE_OWN)
		return false;
	else if (g->urgency == IN_D)
		g->part = BLOCKED;
	else if (t->state && t->in != FR_WAITED_kernel && g->first.since_ns)
		g->part = LONGEST;
	else
		return false;
	return true;
}

static int compare_u64(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

/* Those of one place beside each other, in them the earliest first. */
static int states_by_place(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	const struct fr_waited *v = &x->first.wait, *w = &y->first.wait;
	int order = compare_u64(x->part, y->part) ?: compare_u64(x->urgency, y->urgency) ?: compare_u64(v->pid, w->pid);

	order = order ?: compare_u64(v->state, w->state) ?: compare_u64(v->in, w->in) ?: compare_u64(v->id, w->id);
	order = order ?: compare_u64(v->kstack_id, w->kstack_id) ?: strcmp(x->first.state->object, y->first.state->object);
	return order ?: compare_u64(x->first.since_ns - 1, y->first.since_ns - 1) ?: compare_u64(v->tid, w->tid);
}

/* The earliest first, those of which it is not known last. */
static int states_by_since(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	int order = compare_u64(x->part, y->part) ?: compare_u64(x->urgency, y->urgency);

	order = order ?: compare_u64(x->first.since_ns - 1, y->first.since_ns - 1);
	return order ?: compare_u64(x->first.wait.tid, y->first.wait.tid);
}

static bool is_same_place(const struct group *a, const struct group *b)
{
	const struct fr_waited *v = &a->first.wait, *w = &b->first.wait;

	return a->part == b->part && a->urgency == b->urgency && v->pid == w->pid && v->state == w->state && v->in == w->in &&
	       v->id == w->id && v->kstack_id == w->kstack_id && !strcmp(a->first.state->object, b->first.state->object);
}

/* How many groups; without memory the page fails. */
static u32 find_groups(struct fr_report_page *p, struct group **out)
{
	const struct fr_states *st = &p->r->states;
	struct group *g = calloc(st->cnt + 1, sizeof(*g));
	u32 cnt = 0, kept = 0, i;

	*out = g;
	if (!g)
		fr_out_fail(p->o, -ENOMEM);
	for (i = 0; g && i < st->cnt; i++) {
		fr_states_read(st, p->r->view, &st->at[i], &g[cnt].first);
		g[cnt].cnt = 1;
		cnt += is_told(p, &g[cnt]);
	}
	if (cnt)
		qsort(g, cnt, sizeof(*g), states_by_place);
	for (i = 0; i < cnt; i++) {
		if (kept && is_same_place(&g[kept - 1], &g[i]))
			g[kept - 1].cnt++;
		else
			g[kept++] = g[i];
	}
	if (kept)
		qsort(g, kept, sizeof(*g), states_by_since);
	return kept;
}

/* ---- lines ---- */

/* What it is in, where it is not a call, user code, or the kernel's own. */
static void states_put_in(struct fr_report_page *p, const struct fr_still *s)
{
	const char *text = s->state->flags & FR_STATE_RUNS ? "running" : "not known";

	if (s->state->in != FR_STATE_IN_NONE) {
		fr_report_wait_call(p, &s->wait);
		return;
	}
	fr_report_cell(p->o, text, strlen(text), 16);
	fr_out_char(p->o, ' ');
}

static void states_put_group(struct fr_report_page *p, const struct group *g)
{
	const struct fr_still *s = &g->first;
	char text[32];

	if (s->since_ns)
		fr_report_duration(p->o, s->wait.off_ns, 10);
	else
		fr_out_printf(p->o, "%10s", "?");
	fr_report_wait_state(p, &s->wait);
	fr_report_wait_who(p, &s->wait, true);
	states_put_in(p, s);
	if (g->cnt > 1)
		fr_out_printf(p->o, "and %s more of its process\n", fr_show_count(g->cnt - 1, text, sizeof(text)));
	else
		fr_out_char(p->o, '\n');
	fr_report_wait_place(p, &s->wait);
}

static u32 states_shown(const struct fr_report_page *p, enum part part, u32 cnt)
{
	return p->r->ask->top && cnt > most[part] ? most[part] : cnt;
}

static void states_put_part(struct fr_report_page *p, const struct group *g, u32 cnt, enum part part)
{
	static const char *const names[] = {"of its process", "in D", "others, the longest"};
	u32 show = states_shown(p, part, cnt), i;

	for (i = 0; i < show; i++)
		states_put_group(p, &g[i]);
	if (show < cnt)
		fr_out_printf(p->o, "            %s: %u of %u places, --top 0 shows all\n", names[part], show, cnt);
}

/* ---- the section ---- */

static void states_put_title(struct fr_report_page *p)
{
	const struct fr_states *st = &p->r->states;
	u64 seen = fr_states_count(p->r->snap, "seen"), left = seen - fr_states_count(p->r->snap, "taken");
	char note[160], all[32], rest[32];
	u32 blocked = 0, runnable = 0, i;

	for (i = 0; i < st->cnt; i++) {
		blocked += st->at[i].state == FR_PREV_STATE_BLOCKED;
		runnable += !st->at[i].state;
	}
	fr_show_count(st->cnt, all, sizeof(all));
	fr_show_count(left, rest, sizeof(rest));
	snprintf(note, sizeof(note), "when it was taken: %s task%s looked at, %u in D, %u runnable%s%s%s", all,
		 fr_plural(st->cnt), blocked, runnable, left && left < seen ? "; " : "", left && left < seen ? rest : "",
		 left && left < seen ? " others not" : "");
	fr_report_title(p, "Still waiting", note);
}

static void put_none(struct fr_report_page *p)
{
	const char *why = fr_snap_fact(p->r->snap, "states_missing");

	fr_report_label(p, "states");
	fr_out_str(p->o, "of tasks are not in this file");
	if (why || fr_snap_fact(p->r->snap, "recovered"))
		fr_out_str(p->o, ": ");
	if (why)
		fr_escape_text(p->o, why, strlen(why));
	else if (fr_snap_fact(p->r->snap, "recovered"))
		fr_out_str(p->o, "a crash dump has none");
	fr_out_char(p->o, '\n');
}

void fr_report_put_states(struct fr_report_page *p)
{
	struct group *g;
	u32 cnt, from = 0, to, part;

	if (!p->r->states.cnt) {
		put_none(p);
		return;
	}
	cnt = find_groups(p, &g);
	states_put_title(p);
	if (cnt) {
		fr_out_paint(p->o, FR_PAINT_DIM);
		fr_out_str(p->o, "       for state task                  in\n");
		fr_out_paint(p->o, FR_PAINT_NONE);
	}
	for (part = 0; part < PART_CNT; part++) {
		for (to = from; to < cnt && g[to].part == part; to++)
			;
		states_put_part(p, &g[from], to - from, part);
		from = to;
	}
	free(g);
}
