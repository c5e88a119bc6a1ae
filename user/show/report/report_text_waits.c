/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_text_waits: the long waits of the task in focus, of its process, and of all: what for, and who ended them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/counts.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "read/replay/summary.h"
#include "read/waits/waitstack.h"
#include "show/report/report_text.h"

#define LONGEST_SHOWN 3u
#define FRAMES_SHOWN  5u /* the kernel's, and as many of the program's */
#define OVER_SHOWN    5u /* the JSON has more */
#define CALL_COLS     16u
#define WHO_COLS      22u

/* ---- one wait ---- */

void fr_report_wait_call(struct fr_report_page *p, const struct fr_waited *w)
{
	char text[FR_WAITED_CALL_SZ];
	const char *call = fr_waited_call(w, p->r->waits.arch, text);

	fr_report_cell(p->o, call, strlen(call), CALL_COLS);
	fr_out_char(p->o, ' ');
}

void fr_report_wait_waker(struct fr_report_page *p, const struct fr_waited *w, bool with_tid)
{
	char text[FR_WAITED_WAKER_SZ];
	const char *waker = fr_waited_waker(w, text);

	if (waker == text && !with_tid)
		*strrchr(text, '/') = 0;
	fr_report_cell(p->o, waker, strlen(waker), 0);
	fr_out_char(p->o, '\n');
}

void fr_report_wait_state(struct fr_report_page *p, const struct fr_waited *w)
{
	const char *state = fr_report_state_word(w->state);

	fr_out_printf(p->o, "  %-3s ", state ?: "?");
}

/* What the program was doing: " by a < b". */
static void text_waits_put_user(struct fr_report_page *p, const struct fr_waited *w, bool first)
{
	struct fr_waituser user[FRAMES_SHOWN];
	u32 cnt = fr_waituser_find(p->r->symbols, p->r->view->stacks, w->pid < 0 ? w->tid : (u32)w->pid, w->ustack_id, user,
				   FRAMES_SHOWN);
	char text[FR_WAITUSER_SZ];
	u32 i;

	for (i = 0; i < cnt; i++) {
		const char *name = fr_waituser_name(&user[i], text);

		fr_out_str(p->o, i ? " < " : first ? "by " : ", by ");
		fr_escape_text(p->o, name, strlen(name));
	}
}

void fr_report_wait_place(struct fr_report_page *p, const struct fr_waited *w)
{
	struct fr_waitstack s = fr_waitstack_find(p->r->symbols, p->r->view->stacks, w->kstack_id);
	char about[FR_WAITED_OBJECT_SZ], frame[20], owner[FR_WAITED_WAKER_SZ];
	u32 i, to = s.to - s.from > FRAMES_SHOWN ? s.from + FRAMES_SHOWN : s.to;

	fr_waited_about(w, p->r->waits.arch, about);
	if (!about[0] && s.from == to && !w->ustack_id)
		return;
	fr_out_str(p->o, "               ");
	if (about[0]) {
		fr_out_str(p->o, "on ");
		fr_escape_text(p->o, about, strlen(about));
	}
	if (about[0] && w->owner_pid) {
		fr_out_str(p->o, " held by ");
		fr_waited_owner(w, owner);
		fr_escape_text(p->o, owner, strlen(owner));
	}
	for (i = s.from; i < to; i++) {
		const char *name = fr_waitstack_name(p->r->symbols, s.ip[i], frame);

		fr_out_str(p->o, i > s.from ? " < " : about[0] ? ", in " : "in ");
		fr_escape_text(p->o, name, strlen(name));
	}
	text_waits_put_user(p, w, !about[0] && s.from == to);
	fr_out_char(p->o, '\n');
}

static void text_waits_put_beside(struct fr_report_page *p, u64 ts)
{
	u64 at_ns = p->r->res->focus.at_ns;
	char text[32];

	fr_show_duration(ts >= at_ns ? ts - at_ns : at_ns - ts, text, sizeof(text));
	fr_out_printf(p->o, "  %c%10s", ts >= at_ns ? '+' : '-', text);
}

void fr_report_wait_who(struct fr_report_page *p, const struct fr_waited *w, bool with_tid)
{
	char text[FR_COMM_SZ + 12];
	int len = snprintf(text, sizeof(text), "%.*s", w->comm.len ? w->comm.len : 1, w->comm.len ? w->comm.text : "?");

	if (with_tid)
		len += snprintf(text + len, sizeof(text) - len, "/%u", w->tid);
	fr_report_cell(p->o, text, len, with_tid ? WHO_COLS : FR_COMM_SZ);
	fr_out_char(p->o, ' ');
}

static void text_waits_put_one(struct fr_report_page *p, const struct fr_waited *w)
{
	text_waits_put_beside(p, w->ts);
	fr_report_duration(p->o, w->off_ns, 10);
	fr_report_duration(p->o, w->queued_ns, 10);
	fr_report_wait_state(p, w);
	fr_report_wait_who(p, w, true);
	fr_report_wait_call(p, w);
	fr_report_wait_waker(p, w, true);
	fr_report_wait_place(p, w);
}

static void text_waits_put_sum(struct fr_report_page *p, const struct fr_waits_sum *s)
{
	fr_out_str(p->o, "  ");
	fr_report_count(p->o, s->time.cnt, 7);
	fr_report_duration(p->o, s->time.off_ns, 10);
	fr_report_duration(p->o, s->longest.off_ns, 10);
	fr_report_duration(p->o, s->time.queued_ns, 10);
	fr_out_str(p->o, "  ");
	fr_report_wait_who(p, &s->longest, false);
	fr_report_wait_call(p, &s->longest);
	fr_report_wait_waker(p, &s->longest, false);
	fr_report_wait_place(p, &s->longest);
}

/* ---- a part ---- */

static void put_dim(struct fr_report_page *p, const char *line)
{
	fr_out_paint(p->o, FR_PAINT_DIM);
	fr_out_str(p->o, line);
	fr_out_paint(p->o, FR_PAINT_NONE);
	fr_out_char(p->o, '\n');
}

static u32 text_waits_shown(const struct fr_report_page *p, u32 cnt)
{
	return p->r->ask->top && cnt > p->r->ask->top ? p->r->ask->top : cnt;
}

/* Sums say more than a list only if the list is not all there is. */
static void text_waits_put_part(struct fr_report_page *p, const struct fr_waits_part *part, const char *whose)
{
	u32 longest = part->longest_cnt < LONGEST_SHOWN ? part->longest_cnt : LONGEST_SHOWN,
	    sums = text_waits_shown(p, part->sums.cnt), i;
	char title[96], note[128], off[32], cnt[32];

	if (!part->time.cnt)
		return;
	snprintf(title, sizeof(title), "%s waited longest", whose);
	snprintf(note, sizeof(note), "%s wait%s of at least WaitMin, %s off the CPU; time beside %s",
		 fr_show_count(part->time.cnt, cnt, sizeof(cnt)), fr_plural(part->time.cnt),
		 fr_show_duration(part->time.off_ns, off, sizeof(off)), fr_report_moment_name(p));
	fr_report_title(p, title, note);
	put_dim(p, "        ended   off-CPU    queued  state task                  in               ended by");
	for (i = 0; i < longest; i++)
		text_waits_put_one(p, &part->longest[i]);
	if (part->time.cnt <= longest)
		return;
	if (sums < part->sums.cnt)
		fr_out_printf(p->o, "  by program, call, waker and object: %u of %u, --top 0 shows all\n", sums,
			      part->sums.cnt);
	put_dim(p, "    times   off-CPU   longest    queued  program          in               ended by");
	for (i = 0; i < sums; i++)
		text_waits_put_sum(p, fr_tally_at(&part->sums, i));
	if (part->left_out) {
		fr_report_count(p->o, part->left_out, 9);
		fr_out_str(p->o, " others have no sum, for lack of memory\n");
	}
}

/* Waits that have no record, since the session began: by task and call. */
static void text_waits_put_over(struct fr_report_page *p, const struct fr_waitsums *over)
{
	if (!over->all.cnt)
		return;
	fr_out_char(p->o, '\n');
	fr_report_count(p->o, over->all.cnt, 0);
	fr_out_printf(p->o, " wait%s beyond the budget, by task and call: ", fr_plural(over->all.cnt));
	fr_waitsums_put(p->o, over, OVER_SHOWN);
	fr_out_char(p->o, '\n');
}

/* ---- the section ---- */

/* A count of fact `waits`, of the whole session. */
static u64 text_waits_count_of(const struct fr_report_page *p, const char *what)
{
	u64 v;

	return fr_counts_get(fr_snap_fact(p->r->snap, "waits"), what, strlen(what), &v) ? v : 0;
}

void fr_report_put_waits_line(struct fr_report_page *p)
{
	const struct fr_an_result *res = p->r->res;
	const struct fr_waits *w = &p->r->waits;
	u64 from_ns = fr_summary_horizon(p->r->sum, FR_TIER_WAIT);
	u64 missing = text_waits_count_of(p, "over") + text_waits_count_of(p, "lost") + text_waits_count_of(p, "held");

	fr_report_label(p, "waits");
	if (!w->recorded) {
		fr_out_str(p->o, "not recorded: record -e wait\n");
		return;
	}
	fr_report_count(p->o, w->part[FR_WAITS_OF_ALL].time.cnt, 0);
	fr_out_str(p->o, " of at least WaitMin");
	if (w->min_ns >= 0) {
		fr_out_str(p->o, ", ");
		fr_report_duration(p->o, w->min_ns, 0);
	}
	fr_out_str(p->o, "; shorter ones are not known");
	if (missing) {
		fr_out_str(p->o, ", nor ");
		fr_report_count(p->o, missing, 0);
		fr_out_str(p->o, " longer ones since the session began");
	}
	if (from_ns > res->begin_ns) {
		fr_out_str(p->o, "; all of the last ");
		fr_report_duration(p->o, res->end_ns > from_ns ? res->end_ns - from_ns : 0, 0);
	}
	fr_out_char(p->o, '\n');
}

void fr_report_put_waits(struct fr_report_page *p)
{
	const struct fr_waits *w = &p->r->waits;
	const struct fr_waits_part *task = &w->part[FR_WAITS_OF_TASK], *process = &w->part[FR_WAITS_OF_PROCESS],
				   *all = &w->part[FR_WAITS_OF_ALL];

	text_waits_put_part(p, task, "It");
	if (process->time.cnt > task->time.cnt)
		text_waits_put_part(p, process, "Its process");
	if (all->time.cnt > process->time.cnt)
		text_waits_put_part(p, all, "Which tasks");
	text_waits_put_over(p, &w->over);
}
