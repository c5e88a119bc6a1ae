/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_text_tables: a table for each kind of time, most expensive lines first; and what is missing. */
#include <stdio.h>
#include <string.h>

#include "base/schema/reasons.h"
#include "base/text/counts.h"
#include "base/text/escape.h"
#include "show/format/softirqs_text.h"
#include "show/report/report_kinds.h"
#include "show/report/report_text.h"

static void report_text_put_rows(struct fr_report_page *p, const struct fr_table *kind, const void *const *rec, u32 cnt)
{
	struct fr_layout l;
	u32 i;

	fr_layout_init(&l, kind, p->width);
	fr_layout_head(&l, p->o);
	for (i = 0; i < cnt; i++)
		fr_layout_row(&l, p->o, p->r, rec[i]);
}

/* A title, a head, and a line for each record; nothing where there is none. */
static void report_text_put_table(struct fr_report_page *p, enum fr_rank what, const char *title, const struct fr_table *kind)
{
	const struct fr_report_rank *rank = &p->r->rank[what];
	char note[64] = "";

	if (!rank->cnt)
		return;
	if (rank->all > rank->cnt)
		snprintf(note, sizeof(note), "%u of %u: --top 0 shows all", rank->cnt, rank->all);
	fr_report_title(p, title, note);
	report_text_put_rows(p, kind, rank->rec, rank->cnt);
}

static const struct {
	enum fr_rank what;
	const char *title;
	const struct fr_table *kind;
} tables[] = {
	{FR_RANK_TASKS, "Tasks", &fr_report_kind_task},
	{FR_RANK_PROCESSES, "Processes", &fr_report_kind_process},
	{FR_RANK_PROGRAMS, "Programs", &fr_report_kind_program},
	{FR_RANK_CGROUPS, "Cgroups", &fr_report_kind_cgroup},
	{FR_RANK_CONTAINERS, "Containers", &fr_report_kind_container},
	{FR_RANK_WAITS, "Who waited for whom", &fr_report_kind_wait},
	{FR_RANK_REASONS, "Off the CPU, by state and system call", &fr_report_kind_reason},
	{FR_RANK_CALLS, "System calls", &fr_report_kind_call},
	{FR_RANK_ERRORS, "Failed system calls", &fr_report_kind_error},
	{FR_RANK_BLOCKS, "Block I/O", &fr_report_kind_block},
	{FR_RANK_IRQS, "Interrupts", &fr_report_kind_irq},
	{FR_RANK_SOFTIRQS, "Softirqs", &fr_report_kind_softirq},
};

/* ---- CPUs, histograms, samples ---- */

static void report_text_put_cpus(struct fr_report_page *p)
{
	const struct fr_an_result *res = p->r->res;
	struct fr_layout l;
	u32 i;

	fr_report_title(p, "CPUs", NULL);
	fr_layout_init(&l, &fr_report_kind_cpu, p->width);
	fr_layout_head(&l, p->o);
	for (i = 0; i < res->cpu_cnt; i++)
		if (res->cpu[i].seen)
			fr_layout_row(&l, p->o, p->r, &res->cpu[i]);
}

static void put_hists(struct fr_report_page *p)
{
	const struct fr_an_result *res = p->r->res;

	if (!res->all.wakeup.cnt && !res->offcpu.cnt)
		return;
	fr_report_title(p, "Scheduling", NULL);
	fr_report_hist(p, "woken until it runs", &res->all.wakeup);
	fr_report_hist(p, "off the CPU", &res->offcpu);
	fr_report_hist(p, "on the CPU at a time", &res->oncpu);
}

/* Samples without a name get one line per module. They are not from one function, so no address is shown. */
static void report_text_put_function(struct fr_report_page *p, const struct fr_report_fn *fn)
{
	if (fn->name)
		fr_escape_text(p->o, fn->name, strlen(fn->name));
	else if (fn->module)
		fr_out_printf(p->o, "no name: %s", fn->missing ?: "not known");
	else
		fr_out_printf(p->o, "0x%llx", fn->ip);
	if (fn->module) {
		fr_out_str(p->o, " (");
		fr_escape_text(p->o, fn->module, strlen(fn->module));
		fr_out_char(p->o, ')');
	}
	fr_out_char(p->o, '\n');
}

void fr_report_put_samples(struct fr_report_page *p)
{
	const struct fr_report_fn *fn = p->r->fn;
	u32 i;

	if (p->r->fn_cnt)
		fr_report_title(p, "On the CPU, by function", "samples");
	for (i = 0; i < p->r->fn_cnt; i++) {
		fr_out_str(p->o, "  ");
		fr_report_count(p->o, fn[i].cnt, 8);
		fr_report_share(p->o, fn[i].cnt, p->r->res->all.sample_cnt + p->r->res->task[FR_AN_IDLE]->sum.sample_cnt);
		fr_out_str(p->o, fn[i].user ? "  user    " : "  kernel  ");
		report_text_put_function(p, &fn[i]);
	}
}

/* What the kernel itself counts, where no softirqs were recorded. */
static void report_text_put_softirqs(struct fr_report_page *p)
{
	const struct fr_snap *s = p->r->snap;
	struct fr_softirqs_told t = {
		.cnt_begin = fr_snap_fact(s, "softirqs_begin"),
		.cnt = fr_snap_fact(s, "softirqs"),
		.ms_begin = fr_snap_fact(s, "softirq_ms_begin"),
		.ms = fr_snap_fact(s, "softirq_ms"),
	};

	if (fr_snap_records(s, "softirq_entry") || !t.cnt_begin || !t.cnt)
		return;
	fr_report_title(p, "Softirqs", "not recorded (-e softirq); the kernel's count of the whole recording");
	if (!fr_softirqs_put_counts(p->o, &t, 12, "\n"))
		fr_out_str(p->o, "  none");
	fr_out_char(p->o, '\n');
	if (!t.ms_begin || !t.ms)
		return;
	fr_out_str(p->o, "  time in them, " FR_SOFTIRQS_STEP ": ");
	fr_softirqs_put_time(p->o, &t);
	fr_out_char(p->o, '\n');
}

void fr_report_put_tables(struct fr_report_page *p)
{
	size_t i;

	report_text_put_cpus(p);
	put_hists(p);
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (fr_report_has(p->r->ask, tables[i].what))
			report_text_put_table(p, tables[i].what, tables[i].title, tables[i].kind);
	report_text_put_softirqs(p);
}

/* ---- what is missing ---- */

static void report_text_put_lost(struct fr_report_page *p)
{
	const struct fr_summary *m = p->r->sum;
	u32 i;

	fr_report_label(p, "lost");
	fr_report_count(p->o, m->lost_cnt, 0);
	for (i = 0; i < FR_LOST_CNT; i++) {
		u64 lost = fr_summary_lost(m, i);

		if (lost)
			fr_out_printf(p->o, ", %s %llu", fr_lost_name(i), lost);
	}
	fr_out_str(p->o, "; holes ");
	fr_report_count(p->o, m->hole_cnt, 0);
	fr_out_str(p->o, "; damaged parts ");
	fr_report_count(p->o, fr_snap_damage(p->r->snap), 0);
	fr_out_char(p->o, '\n');
}

/* "thinned    1,200 of tp:skb:kfree_skb" */
static void report_text_put_left(struct fr_report_page *p, const char *fact, const char *why)
{
	const char *at = fr_snap_fact(p->r->snap, fact), *name;
	int len;
	u64 v;

	while (fr_counts_next(&at, &name, &len, &v)) {
		fr_report_label(p, fact);
		fr_report_count(p->o, v, 0);
		fr_out_printf(p->o, " of %.*s: %s, since the recording began\n", len, name, why);
	}
}

static void report_text_put_complete(struct fr_report_page *p)
{
	const struct fr_an_result *res = p->r->res;

	fr_report_label(p, "complete");
	fr_out_str(p->o, "the last ");
	fr_report_duration(p->o, res->end_ns > res->horizon_ns ? res->end_ns - res->horizon_ns : 0, 0);
	fr_out_str(p->o, " on all CPUs");
	if (res->rated_ns > res->begin_ns) {
		fr_out_char(p->o, '\n');
		fr_report_label(p, "");
		fr_out_str(p->o, "the first ");
		fr_report_duration(p->o, (res->end_ns < res->rated_ns ? res->end_ns : res->rated_ns) - res->begin_ns, 0);
		fr_out_str(p->o, " of the window only on some");
	}
	fr_out_char(p->o, '\n');
}

static void report_text_put_clock(struct fr_report_page *p)
{
	const char *mode = fr_snap_fact(p->r->snap, "clock_mode"), *grain = fr_snap_fact(p->r->snap, "clock_grain_ns");
	const struct fr_summary *m = p->r->sum;

	fr_report_label(p, "clock");
	fr_report_cell(p->o, mode ?: "not known", mode ? strlen(mode) : 9, 0);
	if (grain) {
		fr_out_str(p->o, ", grain ");
		fr_escape_text(p->o, grain, strlen(grain));
		fr_out_str(p->o, " ns");
	}
	fr_out_printf(p->o, ", ties %llu, ahead and not believed %llu\n", m->ties, m->ahead);
}

static void put_cut_fact(struct fr_report_page *p, const char *before, const char *fact, const char *behind)
{
	const char *text = fr_snap_fact(p->r->snap, fact);

	if (!text || !*text)
		return;
	fr_out_str(p->o, before);
	fr_escape_text(p->o, text, strlen(text));
	fr_out_str(p->o, behind);
}

/* What was not recorded on purpose. */
static void put_choice(struct fr_report_page *p)
{
	const char *options = fr_snap_choice(p->r->snap);

	if (!options)
		return;
	fr_report_label(p, "chosen");
	fr_out_str(p->o, "only what these options of record select: ");
	fr_escape_text(p->o, options, strlen(options));
	fr_out_char(p->o, '\n');
}

/* What was left out of the file on purpose. */
static void report_text_put_cut(struct fr_report_page *p)
{
	if (!fr_snap_fact(p->r->snap, "cut_from"))
		return;
	fr_report_label(p, "cut");
	put_cut_fact(p, "from ", "cut_from", "");
	put_cut_fact(p, ", since ", "cut_since", " ns");
	put_cut_fact(p, ", until ", "cut_until", " ns");
	put_cut_fact(p, ", only CPUs ", "cut_cpu", "");
	put_cut_fact(p, ", only processes ", "cut_pid", "");
	put_cut_fact(p, ", only cgroups ", "cut_cgroup", "");
	put_cut_fact(p, ", only what matches ", "cut_filter", "");
	put_cut_fact(p, "; ", "cut_away", " events were cut away");
	fr_out_char(p->o, '\n');
}

/* What the table of block I/O counts then. */
static void put_each_issue(struct fr_report_page *p)
{
	const struct fr_an_result *res = p->r->res;
	u64 cnt = 0;
	u32 i;

	for (i = 0; i < res->blocks.cnt; i++) {
		const struct fr_an_block *b = fr_tally_at(&res->blocks, i);

		cnt += b->io ? 0 : b->begin_cnt;
	}
	if (!res->each_issue || !cnt)
		return;
	fr_report_label(p, "block I/O");
	fr_out_str(p->o, "a device's request that is issued again counts again\n");
}

void fr_report_put_health(struct fr_report_page *p)
{
	fr_report_title(p, "What is missing", NULL);
	report_text_put_complete(p);
	report_text_put_lost(p);
	report_text_put_left(p, "thinned", "more than its rate lets pass");
	report_text_put_left(
		p, "unmade",
		"their calls were not seen, numbers of them could not be read, or four others were under way on their CPU");
	put_choice(p);
	report_text_put_cut(p);
	put_each_issue(p);
	report_text_put_clock(p);
	if (p->r->res->horizon_ns > p->r->res->end_ns)
		fr_out_str(p->o, "  No part of the window is complete on all CPUs: there are no rates.\n");
}
