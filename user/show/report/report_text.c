/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/report/report_text.h"

#include "read/incident/incsnap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/escape.h"
#include "base/text/units.h"
#include "show/format/format_text.h"
#include "sys/memory.h"

#define WIDTH_DEFAULT 100u
#define WIDTH_LEAST   40u
#define WIDTH_MOST    400u

static void report_find_width(struct fr_report_page *p)
{
	u32 v = fr_out_columns(p->o);

	p->fits = v;
	v = v ?: WIDTH_DEFAULT;
	p->width = v < WIDTH_LEAST ? WIDTH_LEAST : v > WIDTH_MOST ? WIDTH_MOST : v;
}

/* ---- what would be wider than the page ---- */

#define ESCAPE	  0x1b
#define RULED_OUT "  ruled out:"

/* Cuts lines at a width. Colours take no column, and all bytes of one character take one. */
static void put_narrow(struct fr_out *o, const char *text, size_t sz, u32 width)
{
	bool code = false;
	u32 cols = 0;
	size_t i;

	for (i = 0; i < sz; i++) {
		u8 c = text[i];

		code |= c == ESCAPE;
		if (c == '\n')
			cols = 0;
		else if (!code && (c & 0xc0) != 0x80)
			cols++;
		if (code || cols <= width)
			fr_out_char(o, c);
		code &= c != 'm';
	}
}

void fr_report_break(struct fr_out *o, const char *text, size_t sz, u32 width, u32 hang, bool ruled_out)
{
	const char *end = text + sz, *line = text;
	u32 cols = 0;

	while (text < end) {
		const char *word = text;
		bool code = false, whole = !ruled_out && !strncmp(line, RULED_OUT, sizeof(RULED_OUT) - 1);
		u32 blanks, word_cols = 0;

		while (text < end && *text == ' ')
			text++;
		blanks = text - word;
		for (; text < end && *text != '\n' && (*text != ' ' || code); text++) {
			code |= *text == ESCAPE;
			word_cols += !code && ((u8)*text & 0xc0) != 0x80;
			code &= *text != 'm';
		}
		if (!word_cols && text > word && (text == end || *text == '\n'))
			continue; /* blanks at the end of a line */
		if (!whole && cols > hang && cols + blanks + word_cols > width) {
			fr_out_printf(o, "\n%*s", hang, "");
			cols = hang;
			word += blanks;
			blanks = 0;
		}
		fr_out_mem(o, word, text - word);
		cols += blanks + word_cols;
		if (text < end && *text == '\n') {
			fr_out_char(o, *text++);
			line = text;
			cols = 0;
		}
	}
}

/* A part of the page, made in memory: malloc'ed, *sz bytes. NULL: no memory, and the page has failed. */
static char *in_memory(struct fr_report_page *p, void (*put)(struct fr_report_page *p), size_t *sz)
{
	struct fr_out *to = p->o, *mem = malloc(sizeof(*mem));
	char *text = NULL;

	if (mem) {
		fr_out_init_mem(mem);
		mem->color = to->color;
		p->o = mem;
		put(p);
		p->o = to;
		text = fr_out_take_mem(mem, sz);
	}
	if (!text)
		fr_out_fail(to, -ENOMEM);
	free(mem);
	return text;
}

/* A part of the page within its width: lines are broken, and go on in column hang; 0: they are cut. */
static void put_within(struct fr_report_page *p, void (*put)(struct fr_report_page *p), u32 hang)
{
	size_t sz;
	char *text = in_memory(p, put, &sz);

	if (text && hang)
		fr_report_break(p->o, text, sz, p->width, hang, false);
	else if (text)
		put_narrow(p->o, text, sz, p->width);
	free(text);
}

/* The same where the output has a width; else as it is, for who looks for something in its lines. */
static void put_fitting(struct fr_report_page *p, void (*put)(struct fr_report_page *p), u32 hang)
{
	if (p->fits)
		put_within(p, put, hang);
	else
		put(p);
}

/* ---- the page ---- */

static void report_put_fact(struct fr_report_page *p, const char *before, const char *fact)
{
	const char *text = fr_snap_fact(p->r->snap, fact);

	if (!text || !*text)
		return;
	fr_out_str(p->o, before);
	fr_escape_text(p->o, text, strlen(text));
}

static void put_path(struct fr_report_page *p)
{
	fr_out_paint(p->o, FR_PAINT_BOLD);
	fr_escape_text(p->o, p->r->ask->path, strlen(p->r->ask->path));
	fr_out_paint(p->o, FR_PAINT_NONE);
	fr_out_char(p->o, '\n');
}

static void put_host(struct fr_report_page *p)
{
	fr_report_label(p, "host");
	report_put_fact(p, "", "host");
	if (!fr_snap_fact(p->r->snap, "host"))
		fr_out_str(p->o, "not known");
	report_put_fact(p, ", Linux ", "kernel");
	report_put_fact(p, " ", "arch");
	report_put_fact(p, ", profile ", "profile");
	fr_out_char(p->o, '\n');
}

static void report_put_window(struct fr_report_page *p)
{
	const struct fr_an_result *res = p->r->res;
	u64 whole_ns = res->end_ns - res->begin_ns, rated_ns = res->end_ns > res->rated_ns ? res->end_ns - res->rated_ns : 0;

	fr_report_label(p, "figures");
	fr_out_str(p->o, "of ");
	fr_report_count(p->o, res->event_cnt, 0);
	fr_out_printf(p->o, " event%s in ", fr_plural(res->event_cnt));
	fr_report_duration(p->o, whole_ns, 0);
	if (p->r->ask->opts.filter) {
		fr_out_str(p->o, " that match ");
		fr_escape_text(p->o, p->r->ask->opts.filter, strlen(p->r->ask->opts.filter));
	}
	if (!res->event_cnt) {
		fr_out_str(p->o, "; `flightrec info` tells what the file holds, and of which time\n");
		return;
	}
	fr_out_str(p->o, "; shares and rates a second (/s) of the last ");
	fr_report_duration(p->o, rated_ns, 0);
	fr_out_str(p->o, ", complete on all CPUs\n");
}

/* What has no place in the tables, a line each. */
static void report_put_left_out(struct fr_report_page *p)
{
	const struct fr_an_result *res = p->r->res;
	char text[32];
	u32 i;

	if (!fr_an_left_any(res))
		return;
	fr_report_label(p, "left out");
	fr_out_printf(p->o, "for lack of memory: --memory is %s. Sums have all, tables what came first. Without a place:\n",
		      fr_show_size(fr_memory_bound(), text, sizeof(text)));
	for (i = 0; i < FR_AN_LEFT_CNT; i++) {
		if (!res->left_out[i])
			continue;
		fr_report_label(p, "");
		fr_report_count(p->o, res->left_out[i], 0);
		fr_out_printf(p->o, " %s", fr_an_left_words[i]);
		if (i == FR_AN_LEFT_tasks)
			fr_out_printf(p->o, ", which have %s events", fr_show_count(res->left_event_cnt, text, sizeof(text)));
		fr_out_char(p->o, '\n');
	}
}

/* "thinned  cgroup /app: 1,234 system calls left out in 2.3 s: its figures are of at least so many" */
static void report_put_thinned(struct fr_report_page *p)
{
	const struct fr_thinned *t = (const struct fr_thinned *)p->r->thins.of.at;
	char what[FR_THINS_TEXT_SZ];
	const char *path;
	size_t i;

	for (i = 0; i < p->r->thins.of.cnt; i++, t++) {
		path = p->r->view->cgroups ? fr_cgroups_path(p->r->view->cgroups, -1, t->until_ns, t->cgroup) : NULL;
		fr_report_label(p, i ? "" : "thinned");
		fr_out_str(p->o, "cgroup ");
		if (path)
			fr_escape_text(p->o, path, strlen(path));
		else
			fr_out_printf(p->o, "%llu", t->cgroup);
		fr_out_printf(p->o, ": %s left out in ", fr_thins_text(t->left, what, sizeof(what)));
		fr_report_duration(p->o, t->until_ns - t->since_ns, 0);
		fr_out_str(p->o, ": its figures are of at least so many\n");
	}
}

/* Incidents are kept apart from events, so there may be some that the window does not show. */
static void report_put_incidents(struct fr_report_page *p)
{
	u64 of_kind[FR_INCIDENT_KIND_MAX];

	if (!fr_incsnap_count(p->r->snap, of_kind))
		return;
	fr_report_label(p, "incidents");
	fr_incident_put_kinds(p->o, of_kind);
	fr_out_str(p->o, ": `flightrec incidents FILE`\n");
}

static void put_evidence(struct fr_report_page *p)
{
	put_fitting(p, fr_report_put_said, 0);
	put_fitting(p, fr_report_put_states, 0);
	put_fitting(p, fr_report_put_waits, 0);
	put_fitting(p, fr_report_put_klog, 0);
	put_fitting(p, fr_report_put_rare, 0);
	put_fitting(p, fr_report_put_counters, 0);
	put_fitting(p, fr_report_put_focus, 6);
	put_fitting(p, fr_report_put_scene, 0);
	put_fitting(p, fr_report_put_timeline, 0);
	put_fitting(p, fr_report_put_tables, 0);
	put_fitting(p, fr_report_put_samples, 27);
	put_fitting(p, fr_report_put_health, FR_REPORT_LABEL_COLS);
}

static void put_facts(struct fr_report_page *p)
{
	put_host(p);
	fr_report_put_trigger(p);
	if (!p->r->ask->into)
		fr_report_put_beside(p);
	report_put_window(p);
	report_put_left_out(p);
	report_put_thinned(p);
	report_put_incidents(p);
	fr_report_put_klog_line(p);
	fr_report_put_rare_line(p);
	fr_report_put_task(p);
	fr_report_put_waits_line(p);
}

void fr_report_text(struct fr_report *r)
{
	struct fr_report_page p = {.r = r, .o = r->out};
	size_t sz;

	report_find_width(&p);
	put_path(&p);
	put_within(&p, fr_report_put_verdict, FR_REPORT_LABEL_COLS); /* sentences, whoever reads them */
	put_fitting(&p, put_facts, FR_REPORT_LABEL_COLS);
	if (r->ask->into) /* it is shown when all have said what they are */
		*r->ask->into->evidence = in_memory(&p, put_evidence, &sz);
	else
		put_evidence(&p);
}
