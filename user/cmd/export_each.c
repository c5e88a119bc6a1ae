/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/export_each.h"

#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/say.h"

/* An export in progress. */
struct each {
	const struct fr_exportopts *x;
	u64 event_cnt;
};

static int put_json_gaps(const struct fr_exportopts *x, struct flightrec_printer *p)
{
	const struct flightrec_gap *gap;
	int err = 0;

	while (x->gaps && !err && flightrec_next_gap(x->fr, &gap) > 0)
		err = flightrec_print_gap(p, gap);
	return err;
}

static int put_json(const struct fr_exportopts *x, int fd, u64 *event_cnt, bool *said)
{
	unsigned flags = (x->symbols.on ? FLIGHTREC_PRINT_SYMBOLS : 0) | (x->words ? FLIGHTREC_PRINT_WORDS : 0) |
			 (x->wall ? FLIGHTREC_PRINT_WALL : 0);
	const struct flightrec_event *ev;
	struct flightrec_printer *p;
	int got = flightrec_printer_new(x->fr, FLIGHTREC_FORMAT_JSON, flags, fd, &p), err = 0;

	*said = got;
	if (got)
		return got;
	while (!err && (got = flightrec_next(x->fr, &ev)) > 0) {
		err = put_json_gaps(x, p);
		err = err ? err : flightrec_print(p, ev);
		++*event_cnt;
	}
	*said = got < 0;
	err = err ? err : put_json_gaps(x, p);
	err = got < 0 ? got : err ? err : flightrec_printer_flush(p);
	flightrec_printer_free(p);
	return err;
}

/* 0 or -errno, reported. */
static int export_warn(const struct fr_exportopts *x)
{
	flightrec_warn_symbols(x->fr);
	return x->gaps ? 0 : fr_cmd_warn_gaps(x->fr);
}

static int export_put(void *arg, int fd)
{
	struct each *e = arg;
	const struct fr_exportopts *x = e->x;
	const struct fr_csv_ask csv = {x->gaps, x->wall, x->words, x->pairs};
	bool said = false;
	int err;

	err = strcmp(x->ask.format, "csv") ? put_json(x, fd, &e->event_cnt, &said)
					   : fr_export_each_csv(x->fr, &csv, fd, &e->event_cnt, &said);
	if (!err)
		return export_warn(x);
	if (err != -EPIPE && !said)
		fr_err_errno(err, "export stopped");
	return err;
}

/* 0 or -errno, reported. */
static int export_open_all(const struct fr_exportopts *x)
{
	unsigned jobs = x->ask.opts.jobs == FR_REPLAY_JOBS_FEW ? 0 : x->ask.opts.jobs;
	int err = fr_symopts_set(&x->symbols, x->fr);
	u32 i;

	err = err ? err : flightrec_set_flags(x->fr, (x->gaps ? FLIGHTREC_GAPS : 0) | (x->pairs ? FLIGHTREC_PAIRS : 0));
	if (!err && x->columns)
		err = flightrec_set_columns(x->fr, x->columns);
	err = err ? err : flightrec_set_jobs(x->fr, jobs);
	err = err ? err : flightrec_set_filter(x->fr, x->ask.opts.filter);
	for (i = 0; i < x->ask.file_cnt && !err; i++)
		err = flightrec_add(x->fr, x->ask.file[i]);
	return err ? err : flightrec_open(x->fr);
}

int fr_export_each(const struct fr_exportopts *x)
{
	struct each e = {.x = x};
	int err = export_open_all(x);

	if (err)
		return err == -EINVAL ? FR_EXIT_USAGE : err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	err = fr_export_to_path(x->ask.path, export_put, &e);
	if (!err && x->ask.path)
		fr_export_say(x->ask.path, x->ask.format, e.event_cnt);
	return fr_export_status(err, flightrec_warn_damage(x->fr));
}
