/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_several: one report of several snapshots, of one incident or of several hosts. First comes what each is about, in the
 * order of their moments, then what each says of it, then the evidence of each, which is kept in memory until then.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/escape.h"
#include "base/text/jsonw.h"
#include "base/text/units.h"
#include "show/format/format_text.h"
#include "show/report/report_text.h"

#define HOST_COLS 16u
#define WHAT_COLS 28u

struct several_file {
	const char *path;
	u64 real_ns; /* its moment, by its host's wall clock; 0: not known */
	u32 nr;	     /* as they were given */
	char host[65], boot[40], what[96];
	char *evidence;
};

struct several {
	const struct fr_report_ask *ask;
	struct several_file *file;
	u32 cnt;
	int status;
	struct fr_out *out;
};

/* A failure says more than damage. */
static void several_note_status(struct several *all, int status)
{
	static const int worst[] = {FR_EXIT_FAIL, FR_EXIT_USAGE, FR_EXIT_CORRUPT, FR_EXIT_OK};
	size_t i;

	for (i = 0; worst[i] != all->status && worst[i] != status; i++)
		;
	all->status = worst[i];
}

/* ---- what each is about ---- */

static u64 several_moment_of(const struct fr_replay *r)
{
	const struct fr_snap *s = fr_replay_snap(r, 0);
	s64 ts;

	if ((fr_snap_fact_num(s, "trigger_ts", &ts) && ts) || (fr_snap_fact_num(s, "snapshot_ns", &ts) && ts))
		return fr_wall_real(fr_replay_view(r, 0)->wall, ts);
	return 0;
}

/* What cannot be read is told, and left out. */
static void several_look(struct several *all, const char *path, u32 nr)
{
	struct several_file *f = &all->file[all->cnt];
	struct fr_report_ask ask = *all->ask;
	const struct fr_snap *s;
	const char *who;
	struct fr_replay *r = NULL;
	int status;

	ask.path = path;
	status = fr_report_open(&ask, &r);
	several_note_status(all, status);
	if (status == FR_EXIT_OK) {
		s = fr_replay_snap(r, 0);
		who = fr_snap_fact(s, "trigger_comm");
		*f = (struct several_file){.path = path, .nr = nr, .real_ns = several_moment_of(r)};
		snprintf(f->host, sizeof(f->host), "%s", fr_snap_fact(s, "host") ?: "");
		snprintf(f->boot, sizeof(f->boot), "%s", fr_snap_fact(s, "boot_id") ?: "");
		snprintf(f->what, sizeof(f->what), "%s%s%s", fr_snap_fact(s, "trigger_reason") ?: "no trigger",
			 who && *who ? " of " : "", who ?: "");
		all->cnt++;
	}
	fr_replay_close(r);
}

/* Those without a time come last. */
static int several_by_time(const void *a, const void *b)
{
	const struct several_file *x = a, *y = b;
	u64 x_ns = x->real_ns - 1, y_ns = y->real_ns - 1;

	return x_ns < y_ns ? -1 : x_ns > y_ns ? 1 : x->nr < y->nr ? -1 : 1;
}

/* Boots of one host's name are of one host. */
static u32 several_hosts(const struct several *all)
{
	u32 cnt = 0, i, k;

	for (i = 0; i < all->cnt; i++) {
		for (k = 0; k < i && strcmp(all->file[k].host, all->file[i].host); k++)
			;
		cnt += k == i;
	}
	return cnt;
}

static void several_put_time(struct several *all, const struct several_file *f)
{
	u64 first_ns = all->file[0].real_ns;

	if (f == all->file && first_ns)
		fr_text_wall(all->out, first_ns);
	else if (f->real_ns)
		fr_report_duration(all->out, f->real_ns - first_ns, 23), fr_out_str(all->out, " later");
	else
		fr_out_printf(all->out, "%29s", "not known");
}

static void several_put_list(struct several *all)
{
	u32 hosts = several_hosts(all), i;
	const struct several_file *f;

	fr_out_paint(all->out, FR_PAINT_BOLD);
	fr_out_printf(all->out, "%u snapshot%s of %u host%s", all->cnt, fr_plural(all->cnt), hosts, fr_plural(hosts));
	fr_out_paint(all->out, FR_PAINT_NONE);
	fr_out_printf(all->out, ", in the order of their moments by %s\n",
		      hosts > 1 ? "each host's own wall clock" : "the host's wall clock");
	for (i = 0; i < all->cnt; i++) {
		f = &all->file[i];
		fr_out_str(all->out, "  ");
		several_put_time(all, f);
		fr_out_str(all->out, "  ");
		fr_report_cell(all->out, f->host, strlen(f->host), HOST_COLS);
		fr_out_char(all->out, ' ');
		fr_report_cell(all->out, f->what, strlen(f->what), WHAT_COLS);
		fr_out_char(all->out, ' ');
		fr_escape_text(all->out, f->path, strlen(f->path));
		fr_out_char(all->out, '\n');
	}
}

/* ---- what each says ---- */

static void several_report(struct several *all, struct several_file *f)
{
	struct fr_report_into into = {.out = all->out, .evidence = &f->evidence};
	struct fr_report_ask ask = *all->ask;

	ask.path = f->path;
	ask.into = &into;
	fr_out_char(all->out, '\n');
	several_note_status(all, fr_report(&ask));
}

static void several_put_page(struct several *all)
{
	u32 i;

	several_put_list(all);
	for (i = 0; i < all->cnt && !fr_out_error(all->out); i++)
		several_report(all, &all->file[i]);
	for (i = 0; i < all->cnt; i++) {
		if (!all->file[i].evidence)
			continue;
		fr_out_char(all->out, '\n');
		fr_out_paint(all->out, FR_PAINT_BOLD);
		fr_out_str(all->out, "Evidence of ");
		fr_escape_text(all->out, all->file[i].path, strlen(all->file[i].path));
		fr_out_paint(all->out, FR_PAINT_NONE);
		fr_out_char(all->out, '\n');
		fr_out_str(all->out, all->file[i].evidence);
		free(all->file[i].evidence);
	}
}

/* A report that cannot be made is null. */
static void several_put_json(struct several *all)
{
	struct fr_jsonw w = {.o = all->out};
	u32 i;

	fr_jsonw_open(&w, NULL, '{');
	fr_jsonw_open(&w, "reports", '[');
	for (i = 0; i < all->cnt && !fr_out_error(all->out); i++) {
		const struct several_file *f = &all->file[i];
		struct fr_report_into into = {.out = all->out, .json = &w};
		struct fr_report_ask ask = *all->ask;

		ask.path = f->path;
		ask.into = &into;
		fr_jsonw_open(&w, NULL, '{');
		fr_jsonw_text(&w, "file", f->path);
		fr_jsonw_text(&w, "host", *f->host ? f->host : NULL);
		fr_jsonw_text(&w, "boot_id", *f->boot ? f->boot : NULL);
		several_note_status(all, fr_report(&ask));
		if (!into.done)
			fr_jsonw_text(&w, "report", NULL);
		fr_jsonw_close(&w, '}');
	}
	fr_jsonw_close(&w, ']');
	fr_jsonw_close(&w, '}');
	fr_out_char(all->out, '\n');
}

int fr_report_several(const struct fr_report_ask *ask, const char *const *path, u32 cnt)
{
	struct several all = {
		.ask = ask, .file = calloc(cnt, sizeof(*all.file)), .out = malloc(sizeof(*all.out)), .status = FR_EXIT_OK};
	u32 i;

	if (!all.file || !all.out) {
		fr_err_memory();
		all.status = FR_EXIT_FAIL;
	}
	for (i = 0; i < cnt && all.status != FR_EXIT_USAGE && all.file && all.out; i++)
		several_look(&all, path[i], i);
	if (all.cnt && all.status != FR_EXIT_USAGE) {
		qsort(all.file, all.cnt, sizeof(*all.file), several_by_time);
		fr_out_init(all.out, STDOUT_FILENO);
		if (ask->json)
			several_put_json(&all);
		else
			several_put_page(&all);
		all.status = fr_err_finish(all.out, all.status);
	}
	free(all.out);
	free(all.file);
	return all.status;
}
