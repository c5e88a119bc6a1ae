/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_text_tables: a table for each kind of time, most expensive lines first; and what is missing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/report/report_text.h"
#include "pure/text/dev.h"
#include "pure/text/escape.h"

#define NAME_COLS  15u
#define CPUS_WIDTH 98u /* a narrower page has less of them */

static u64 rated_ns(const struct fr_report_page *p)
{
	const struct fr_an_result *res = p->r->res;

	return res->end_ns > res->rated_ns ? res->end_ns - res->rated_ns : 0;
}

/* Per second, over the part behind the common horizon. */
static void put_rate(struct fr_report_page *p, u64 cnt)
{
	u64 ns = rated_ns(p);
	double rate = ns ? (double)cnt * 1e9 / (double)ns : 0;

	if (!ns)
		fr_out_str(p->o, "         -");
	else if (rate < 100)
		fr_out_printf(p->o, "%10.1f", rate);
	else
		fr_report_count(p->o, (u64)(rate + 0.5), 10);
}

static void put_head(struct fr_report_page *p, const char *head)
{
	fr_out_paint(p->o, FR_PAINT_DIM);
	fr_out_str(p->o, head);
	fr_out_char(p->o, '\n');
	fr_out_paint(p->o, FR_PAINT_NONE);
}

/* A table: title, head, and a line for each record; nothing where there is none. */
struct table {
	enum fr_rank what;
	const char *title;
	const char *head;
	void (*put_more)(struct fr_report_page *p); /* of the head */
	void (*put)(struct fr_report_page *p, const void *rec);
};

static u32 size_of(const struct fr_report_page *p, enum fr_rank what)
{
	struct fr_report_ask all = *p->r->ask;
	struct fr_report r = *p->r;
	u32 cnt;

	all.top = 0;
	r.ask = &all;
	free(fr_report_rank(&r, what, &cnt));
	return cnt;
}

static void put_table(struct fr_report_page *p, const struct table *t)
{
	u32 cnt, i, all = size_of(p, t->what);
	const void **rec = fr_report_rank(p->r, t->what, &cnt);
	char note[64] = "";

	if (rec && cnt) {
		if (all > cnt)
			snprintf(note, sizeof(note), "%u of %u: --top 0 shows all", cnt, all);
		fr_report_title(p, t->title, note);
		fr_out_paint(p->o, FR_PAINT_DIM);
		fr_out_str(p->o, t->head);
		if (t->put_more)
			t->put_more(p);
		fr_out_paint(p->o, FR_PAINT_NONE);
		fr_out_char(p->o, '\n');
	}
	for (i = 0; rec && i < cnt; i++)
		t->put(p, rec[i]);
	free(rec);
}

/* ---- tasks, processes, cgroups ---- */

#define SUMS_BEHIND (2 + NAME_COLS + 8)

/* By importance: a narrow page has the first ones. */
enum sums_col { SHARE, ONCPU, QUEUED, WAKE_P99, BLOCKED, CALLS, ERRORS, FAULTS, WAKE_P50, SUMS_COL_CNT };
static const struct {
	const char *head;
	u32 width;
} sums_cols[SUMS_COL_CNT] = {
	[SHARE] = {"cpu", 7},	       [ONCPU] = {"on-CPU", 10},    [QUEUED] = {"queued", 10},
	[WAKE_P99] = {"wake p99", 10}, [BLOCKED] = {"blocked", 10}, [CALLS] = {"syscalls", 12},
	[ERRORS] = {"errors", 11},     [FAULTS] = {"faults", 10},   [WAKE_P50] = {"wake p50", 10},
};

static u32 sums_col_cnt(const struct fr_report_page *p)
{
	u32 used = SUMS_BEHIND, i;

	for (i = 0; i < SUMS_COL_CNT; i++) {
		used += sums_cols[i].width;
		if (used > p->width)
			break;
	}
	return i;
}

static void put_sums_head(struct fr_report_page *p)
{
	u32 cnt = sums_col_cnt(p), i;

	for (i = 0; i < cnt; i++)
		fr_out_printf(p->o, "%*s", (int)sums_cols[i].width, sums_cols[i].head);
}

/* "?": not kept. */
static void put_wakeup(struct fr_report_page *p, const struct fr_an_sums *s, u32 ppm, int width)
{
	if (s->wakeup_left_out)
		fr_out_printf(p->o, "%*s", width, "?");
	else
		fr_report_duration(p->o, fr_hist_quantile(&s->wakeup, ppm), width);
}

static void put_sum(struct fr_report_page *p, const struct fr_an_sums *s, enum sums_col col)
{
	int width = sums_cols[col].width;

	switch (col) {
	case SHARE:
		fr_report_share(p->o, s->rated_oncpu_ns, rated_ns(p));
		return;
	case ONCPU:
		fr_report_duration(p->o, s->oncpu_ns, width);
		return;
	case QUEUED:
		fr_report_duration(p->o, s->queued_ns, width);
		return;
	case WAKE_P99:
		put_wakeup(p, s, 990000, width);
		return;
	case BLOCKED:
		fr_report_duration(p->o, s->blocked_ns, width);
		return;
	case CALLS:
		fr_report_count(p->o, s->call_cnt, width);
		return;
	case ERRORS:
		fr_report_count(p->o, s->error_cnt, width);
		return;
	case FAULTS:
		fr_report_count(p->o, s->fault_user + s->fault_kernel, width);
		return;
	default:
		put_wakeup(p, s, 500000, width);
	}
}

static void put_sums(struct fr_report_page *p, const struct fr_an_sums *s)
{
	u32 cnt = sums_col_cnt(p), i;

	for (i = 0; i < cnt; i++)
		put_sum(p, s, i);
	fr_out_char(p->o, '\n');
}

static void put_task(struct fr_report_page *p, const void *rec)
{
	const struct fr_an_task *t = rec;

	fr_out_str(p->o, "  ");
	fr_report_cell(p->o, t->comm, t->comm_len, NAME_COLS);
	fr_out_printf(p->o, "%8u", t->tid);
	put_sums(p, &t->sum);
}

static void put_process(struct fr_report_page *p, const void *rec)
{
	const struct fr_an_group *g = rec;
	const struct fr_an_task *t = p->r->res->task[g->task];

	fr_out_str(p->o, "  ");
	if (g->key == ~0ULL) {
		fr_report_cell(p->o, "(not known)", 11, NAME_COLS + 8);
	} else {
		fr_report_cell(p->o, t->comm, t->comm_len, NAME_COLS);
		fr_out_printf(p->o, "%8d", t->pid);
	}
	put_sums(p, &g->sum);
}

static void put_cgroup(struct fr_report_page *p, const void *rec)
{
	const struct fr_an_group *g = rec;
	const char *path = fr_report_cgroup_path(p->r, g->key);
	size_t len = path ? strlen(path) : 0, cut = len > NAME_COLS + 7 ? len - NAME_COLS - 7 : 0;

	for (; cut < len && ((u8)path[cut] & 0xc0) == 0x80; cut++)
		; /* a character is shown whole or not at all */
	fr_out_str(p->o, "  ");
	if (path) /* its end tells more */
		fr_report_cell(p->o, path + cut, len - cut, NAME_COLS + 8);
	else if (!g->key) /* of tasks that the table of tasks lacks */
		fr_out_printf(p->o, "%-*s", (int)NAME_COLS + 8, "not known");
	else
		fr_out_printf(p->o, "%-*llu", (int)NAME_COLS + 8, (unsigned long long)g->key);
	put_sums(p, &g->sum);
}

/* ---- waiting ---- */

static void put_call_cell(struct fr_report_page *p, u8 abi, s32 id, u32 width)
{
	const char *name = fr_report_call_name(p->r, abi, id);
	char text[32];

	snprintf(text, sizeof(text), "%s%s", name ?: "syscall ", abi ? "/32" : "");
	if (!name)
		snprintf(text, sizeof(text), "syscall %d%s", id, abi ? "/32" : "");
	fr_report_cell(p->o, text, strlen(text), width);
}

static void put_reason(struct fr_report_page *p, const void *rec)
{
	const struct fr_an_reason *o = rec;
	const char *state = fr_report_state_word(o->state);
	char text[16];

	snprintf(text, sizeof(text), "%u", o->state);
	fr_out_printf(p->o, "  %-10s ", state ?: text);
	if (o->in == FR_AN_IN_CALL)
		put_call_cell(p, o->abi, o->id, 18);
	else
		fr_out_printf(p->o, "%-18s", o->in == FR_AN_IN_FAULT ? "(page fault)" : "-");
	fr_report_duration(p->o, fr_hist_sum(&o->offcpu), 10);
	fr_report_quantiles(p, &o->offcpu);
	fr_out_char(p->o, '\n');
}

static void put_waker(struct fr_report_page *p, const struct fr_an_wait *w)
{
	const struct fr_sys none = {0};
	const struct fr_an_task *t = w->by == FR_AN_BY_TASK ? p->r->res->task[w->by_nr] : NULL;
	const char *name = w->by == FR_AN_BY_SOFTIRQ ? fr_sysname(&none, FR_STYLE_SOFTIRQ, w->by_nr) : NULL;
	char text[32];

	if (t && t->tid) {
		fr_report_cell(p->o, t->comm, t->comm_len, NAME_COLS);
		fr_out_printf(p->o, "%8u", t->tid);
		return;
	}
	if (t)
		snprintf(text, sizeof(text), "(idle: an interrupt)");
	else if (name)
		snprintf(text, sizeof(text), "softirq %s", name);
	else
		snprintf(text, sizeof(text), "%s %u", w->by == FR_AN_BY_IRQ ? "interrupt" : "softirq", w->by_nr);
	fr_report_cell(p->o, text, strlen(text), NAME_COLS + 8);
}

static void put_wait(struct fr_report_page *p, const void *rec)
{
	const struct fr_an_wait *w = rec;
	const struct fr_an_task *t = p->r->res->task[w->task];

	fr_out_str(p->o, "  ");
	fr_report_cell(p->o, t->comm, t->comm_len, NAME_COLS);
	fr_out_printf(p->o, "%8u <- ", t->tid);
	put_waker(p, w);
	fr_report_count(p->o, w->cnt, 8);
	fr_report_duration(p->o, w->offcpu_ns, 10);
	fr_report_duration(p->o, w->wakeup_ns, 10);
	fr_out_char(p->o, '\n');
}

/* ---- system calls ---- */

static void put_call(struct fr_report_page *p, const void *rec)
{
	const struct fr_an_call *c = rec;

	fr_out_str(p->o, "  ");
	put_call_cell(p, c->abi, c->id, 18);
	put_rate(p, c->rated_cnt);
	fr_report_count(p->o, c->error_cnt, 8);
	fr_report_duration(p->o, fr_hist_sum(&c->latency), 10);
	fr_report_quantiles(p, &c->latency);
	fr_out_char(p->o, '\n');
}

static void put_error(struct fr_report_page *p, const void *rec)
{
	const struct fr_an_error *e = rec;
	const char *name = fr_errno_name(e->errno_nr), *words = fr_report_errno_words(e->errno_nr);

	fr_out_str(p->o, "  ");
	put_call_cell(p, e->abi, e->id, 18);
	fr_report_count(p->o, e->cnt, 10);
	if (name)
		fr_out_printf(p->o, "  %-14s %s\n", name, words ?: "");
	else
		fr_out_printf(p->o, "  %u\n", e->errno_nr);
}

/* ---- block, interrupts ---- */

static void put_block(struct fr_report_page *p, const void *rec)
{
	const struct fr_an_block *b = rec;
	char dev[24];

	snprintf(dev, sizeof(dev), "%u,%u", fr_dev_major(b->dev), fr_dev_minor(b->dev));
	fr_out_printf(p->o, "  %-8s %c %-9s", dev, b->rw, b->io ? "process" : "device");
	put_rate(p, b->rated_cnt);
	fr_report_size(p->o, b->bytes, 10);
	fr_report_count(p->o, b->error_cnt, 8);
	fr_report_quantiles(p, &b->latency);
	fr_out_char(p->o, '\n');
}

static void put_handler(struct fr_report_page *p, const struct fr_an_irq *i)
{
	put_rate(p, i->rated_cnt);
	fr_report_duration(p->o, fr_hist_sum(&i->latency), 10);
	fr_report_quantiles(p, &i->latency);
	fr_out_char(p->o, '\n');
}

static void put_irq(struct fr_report_page *p, const void *rec)
{
	const struct fr_an_irq *i = rec;

	fr_out_printf(p->o, "  %-5llu ", (unsigned long long)i->key);
	fr_report_cell(p->o, i->name, strlen(i->name), NAME_COLS);
	put_handler(p, i);
}

static void put_softirq(struct fr_report_page *p, const void *rec)
{
	const struct fr_sys none = {0};
	const struct fr_an_irq *i = rec;
	const char *name = fr_sysname(&none, FR_STYLE_SOFTIRQ, i->key);

	fr_out_printf(p->o, "  %-5llu %-15s", (unsigned long long)i->key, name ?: "?");
	put_handler(p, i);
}

static const struct table tables[] = {
	{FR_RANK_TASKS, "Tasks", "  task                tid", put_sums_head, put_task},
	{FR_RANK_PROCESSES, "Processes", "  process             pid", put_sums_head, put_process},
	{FR_RANK_CGROUPS, "Cgroups", "  cgroup                 ", put_sums_head, put_cgroup},
	{FR_RANK_WAITS, "Who waited for whom",
	 "  who                 tid <- woken by            tid   times   off-CPU  to a CPU", NULL, put_wait},
	{FR_RANK_REASONS, "Off the CPU, by state and system call", "  state      in                      time",
	 fr_report_quantile_head, put_reason},
	{FR_RANK_CALLS, "System calls", "  call                      /s  errors      time", fr_report_quantile_head, put_call},
	{FR_RANK_ERRORS, "Failed system calls", "  call                   times  error", NULL, put_error},
	{FR_RANK_BLOCKS, "Block I/O", "  device   for                /s     bytes  errors", fr_report_quantile_head, put_block},
	{FR_RANK_IRQS, "Interrupts", "  irq   handler                /s      time", fr_report_quantile_head, put_irq},
	{FR_RANK_SOFTIRQS, "Softirqs", "  vec   name                   /s      time", fr_report_quantile_head, put_softirq},
};

/* ---- CPUs, histograms, samples ---- */

static void put_cpu(struct fr_report_page *p, u32 nr)
{
	const struct fr_an_cpu *c = &p->r->res->cpu[nr];
	u64 end_ns = p->r->res->end_ns;

	fr_out_printf(p->o, "  %4u", nr);
	fr_report_share(p->o, c->rated_busy_ns, c->rated_busy_ns + c->rated_idle_ns);
	fr_report_duration(p->o, c->busy_ns, 10);
	fr_report_duration(p->o, c->irq_ns, 10);
	fr_report_duration(p->o, c->softirq_ns, 10);
	fr_report_count(p->o, c->switch_cnt, 10);
	fr_report_duration(p->o, fr_hist_quantile(&c->wakeup, 990000), 10);
	fr_report_duration(p->o, end_ns > c->horizon_ns ? end_ns - c->horizon_ns : 0, 10);
	if (p->width >= CPUS_WIDTH) {
		fr_report_count(p->o, c->call_cnt, 12);
		fr_report_count(p->o, c->fault_cnt, 10);
	}
	fr_out_char(p->o, '\n');
}

#define CPUS_HEAD "   CPU   busy    on-CPU    in irq   softirq  switches  wake p99  complete"

static void put_cpus(struct fr_report_page *p)
{
	u32 i;

	fr_report_title(p, "CPUs", NULL);
	put_head(p, p->width >= CPUS_WIDTH ? CPUS_HEAD "    syscalls    faults" : CPUS_HEAD);
	for (i = 0; i < p->r->res->cpu_cnt; i++)
		if (p->r->res->cpu[i].seen)
			put_cpu(p, i);
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
static void put_function(struct fr_report_page *p, const struct fr_report_fn *fn)
{
	if (fn->name)
		fr_escape_text(p->o, fn->name, strlen(fn->name));
	else if (fn->module)
		fr_out_printf(p->o, "no name: %s", fn->missing ?: "not known");
	else
		fr_out_printf(p->o, "0x%llx", (unsigned long long)fn->ip);
	if (fn->module) {
		fr_out_str(p->o, " (");
		fr_escape_text(p->o, fn->module, strlen(fn->module));
		fr_out_char(p->o, ')');
	}
	fr_out_char(p->o, '\n');
}

void fr_report_put_samples(struct fr_report_page *p)
{
	u32 cnt, i;
	struct fr_report_fn *fn = fr_report_functions(p->r, &cnt);

	if (fn && cnt)
		fr_report_title(p, "On the CPU, by function", "samples");
	for (i = 0; fn && i < cnt; i++) {
		fr_out_str(p->o, "  ");
		fr_report_count(p->o, fn[i].cnt, 8);
		fr_report_share(p->o, fn[i].cnt, p->r->res->all.sample_cnt + p->r->res->task[FR_AN_IDLE]->sum.sample_cnt);
		fr_out_str(p->o, fn[i].user ? "  user    " : "  kernel  ");
		put_function(p, &fn[i]);
	}
	free(fn);
}

void fr_report_put_tables(struct fr_report_page *p)
{
	size_t i;

	put_cpus(p);
	put_hists(p);
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		put_table(p, &tables[i]);
}

/* ---- what is missing ---- */

#define L(nr, name, doc) #name,
static const char *const lost_words[FR_LOST_CNT] = {FR_LOSTS(L)};
#undef L

static void put_lost(struct fr_report_page *p)
{
	const struct fr_summary *m = p->r->sum;
	u32 i, j;

	fr_report_label(p, "lost");
	fr_report_count(p->o, m->lost_cnt, 0);
	for (i = 0; i < FR_LOST_CNT; i++) {
		u64 lost = 0;

		for (j = 0; j < m->cpu_cnt; j++)
			lost += m->cpu[j].lost[i];
		if (lost)
			fr_out_printf(p->o, ", %s %llu", lost_words[i], (unsigned long long)lost);
	}
	fr_out_str(p->o, "; holes ");
	fr_report_count(p->o, m->hole_cnt, 0);
	fr_out_str(p->o, "; damaged parts ");
	fr_report_count(p->o, fr_snap_damage(p->r->snap), 0);
	fr_out_char(p->o, '\n');
}

static void put_complete(struct fr_report_page *p)
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

static void put_clock(struct fr_report_page *p)
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
	fr_out_printf(p->o, ", ties %llu, ahead and not believed %llu\n", (unsigned long long)m->ties,
		      (unsigned long long)m->ahead);
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
static void put_cut(struct fr_report_page *p)
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
	put_complete(p);
	put_lost(p);
	put_choice(p);
	put_cut(p);
	put_each_issue(p);
	put_clock(p);
	if (p->r->res->horizon_ns > p->r->res->end_ns)
		fr_out_str(p->o, "  No part of the window is complete on all CPUs: there are no rates.\n");
}
