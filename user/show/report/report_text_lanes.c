/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_text_lanes: what each CPU ran around the moment, a lane each. */
#include <stdio.h>
#include <string.h>

#include "show/report/report_text.h"

#define LABEL_CNT   26u
#define LABEL_COLS  27u /* of one at most: ", A ", a name of 15 and a tid */
#define PLAIN_LANES 4u	/* of nothing but idleness; more are only listed */

static u32 seg_tid(const struct fr_an_cpu *c, u64 ts)
{
	u32 lo = 0, hi = c->seg_cnt;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (c->seg[mid].ts <= ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? c->seg[lo - 1].tid : c->first_known ? c->first_tid : FR_AN_NOT_KNOWN;
}

static char letter_of(u32 *labels, u32 *cnt, u32 tid)
{
	u32 i;

	for (i = 0; i < *cnt && labels[i] != tid; i++)
		;
	if (i == *cnt && *cnt < LABEL_CNT)
		labels[(*cnt)++] = tid;
	return i < *cnt ? 'A' + i : '*';
}

static u32 switch_cnt(const struct fr_an_cpu *c)
{
	u32 cnt = 0, i;

	for (i = 0; i < c->seg_cnt; i++)
		cnt += c->seg[i].tid != FR_AN_NOT_KNOWN;
	return cnt;
}

static void put_lane(struct fr_report_page *p, u32 nr, u32 *labels, u32 *label_cnt, u32 cols)
{
	const struct fr_an_result *res = p->r->res;
	const struct fr_an_cpu *c = &res->cpu[nr];
	u64 span = res->moment_end_ns - res->moment_begin_ns;
	u32 cnt = switch_cnt(c), i;

	fr_out_printf(p->o, "  %4u ", nr);
	for (i = 0; i < cols; i++) {
		u64 ts = res->moment_begin_ns + (u64)((double)span * (i + 0.5) / cols);
		u32 tid = seg_tid(c, ts);
		bool is_focus = tid && tid == res->focus.tid;

		if (is_focus)
			fr_out_paint(p->o, FR_PAINT_RED);
		fr_out_char(p->o, tid == FR_AN_NOT_KNOWN ? '?' : tid ? letter_of(labels, label_cnt, tid) : '.');
		if (is_focus)
			fr_out_paint(p->o, FR_PAINT_NONE);
	}
	if (p->r->recorded[FR_REPORT_OF_sched_switch])
		fr_out_printf(p->o, " %u switch%s", cnt, cnt == 1 ? "" : "es");
	fr_out_char(p->o, '\n');
}

/* Is its lane nothing but dots, or question marks? */
static bool is_all(const struct fr_an_cpu *c, u32 tid)
{
	u32 i;

	for (i = 0; i < c->seg_cnt && c->seg[i].tid == tid; i++)
		;
	return c->seen && i == c->seg_cnt && (c->first_known ? c->first_tid : FR_AN_NOT_KNOWN) == tid;
}

static bool lanes_is_plain(const struct fr_an_cpu *c)
{
	return is_all(c, 0) || is_all(c, FR_AN_NOT_KNOWN);
}

/* These CPUs, as ranges. */
static void lanes_put_all(struct fr_report_page *p, u32 tid, const char *head)
{
	const struct fr_an_result *res = p->r->res;
	u32 from, to, cols = strlen(head);
	char range[32];

	for (from = 0; from < res->cpu_cnt && !is_all(&res->cpu[from], tid); from++)
		;
	if (from == res->cpu_cnt)
		return;
	fr_out_str(p->o, head);
	for (; from < res->cpu_cnt; from = to + 1) {
		for (to = from; to < res->cpu_cnt && is_all(&res->cpu[to], tid); to++)
			;
		if (to == from)
			continue;
		snprintf(range, sizeof(range), " %u-%u", from, to - 1);
		if (to - from == 1)
			*strchr(range, '-') = 0;
		if (cols + strlen(range) > p->width) {
			fr_out_str(p->o, "\n      ");
			cols = 6;
		}
		fr_out_str(p->o, range);
		cols += strlen(range);
	}
	fr_out_char(p->o, '\n');
}

static void put_labels(struct fr_report_page *p, const u32 *labels, u32 cnt)
{
	u32 each = p->width > LABEL_COLS + 7 ? (p->width - 7) / LABEL_COLS : 1, i;

	fr_out_str(p->o, "       . idle");
	for (i = 0; i < cnt; i++) {
		fr_out_printf(p->o, (i + 1) % each == 0 ? "\n       %c " : ", %c ", 'A' + i);
		fr_report_who(p, labels[i], p->r->res->moment_end_ns, 0);
	}
	if (cnt == LABEL_CNT)
		fr_out_str(p->o, ", * others");
	fr_out_str(p->o, ", ? not known\n");
}

void fr_report_put_timeline(struct fr_report_page *p)
{
	const struct fr_an_result *res = p->r->res;
	u32 labels[LABEL_CNT], label_cnt = 0, cols = p->width > 30 ? p->width - 24 : 36, plain_cnt = 0, i, mark;
	u64 span = res->moment_end_ns - res->moment_begin_ns;
	char note[96];

	if (!span)
		return;
	snprintf(note, sizeof(note), "%.3f ms, from %.3f ms before %s (v) on", (double)span / 1e6,
		 (double)(res->focus.at_ns - res->moment_begin_ns) / 1e6, fr_report_moment_name(p));
	fr_report_title(p, "What each CPU ran", note);
	mark = (u32)((double)(res->focus.at_ns - res->moment_begin_ns) / (double)span * cols);
	fr_out_str(p->o, "   CPU ");
	fr_out_pad(p->o, 0, mark < cols ? mark : cols - 1);
	fr_out_str(p->o, "v\n");
	for (i = 0; i < res->cpu_cnt; i++)
		plain_cnt += lanes_is_plain(&res->cpu[i]);
	for (i = 0; i < res->cpu_cnt; i++)
		if (res->cpu[i].seen && (plain_cnt <= PLAIN_LANES || !lanes_is_plain(&res->cpu[i])))
			put_lane(p, i, labels, &label_cnt, cols);
	if (plain_cnt > PLAIN_LANES) {
		lanes_put_all(p, 0, "       idle all the time:");
		lanes_put_all(p, FR_AN_NOT_KNOWN, "       not known all the time:");
	}
	put_labels(p, labels, label_cnt);
}
