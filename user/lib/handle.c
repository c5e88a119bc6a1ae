/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* handle: its life, and its messages. */
#include "lib/handle.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *flightrec_version(void)
{
	return FLIGHTREC_VERSION;
}

/* ---- messages ---- */

static void handle_take(void *arg, bool is_error, const char *text)
{
	struct flightrec *fr = arg;
	const struct fr_err_sink *was;

	if (is_error)
		snprintf(fr->error, sizeof(fr->error), "%s", text);
	if (!fr->log)
		return;
	was = fr_err_divert(NULL); /* messages of fn itself are not the handle's */
	fr->log(fr->log_arg, is_error ? FLIGHTREC_LOG_ERROR : FLIGHTREC_LOG_WARNING, text);
	fr_err_divert(was);
}

const struct fr_err_sink *fr_lib_enter(struct flightrec *fr)
{
	return fr_err_divert(&fr->sink);
}

void fr_lib_leave(const struct fr_err_sink *was)
{
	fr_err_divert(was);
}

int fr_lib_fail(struct flightrec *fr, int err, const char *fmt, ...)
{
	const struct fr_err_sink *was = fr_lib_enter(fr);
	va_list ap;

	va_start(ap, fmt);
	fr_verr(fmt, ap);
	va_end(ap);
	fr_lib_leave(was);
	return err;
}

int fr_lib_no_memory(struct flightrec *fr)
{
	return fr_lib_fail(fr, -ENOMEM, "out of memory: %s", fr_err_cure(-ENOMEM, NULL));
}

int fr_lib_check_open(struct flightrec *fr)
{
	if (!fr)
		return -EINVAL;
	return fr->replay ? 0 : fr_lib_fail(fr, -EINVAL, "the handle is not open");
}

const char *flightrec_error(const struct flightrec *fr)
{
	return fr ? fr->error : "there is no handle: out of memory?";
}

void flightrec_set_log(struct flightrec *fr, flightrec_log_fn fn, void *arg)
{
	if (!fr)
		return;
	fr->log = fn;
	fr->log_arg = arg;
}

/* ---- life ---- */

struct flightrec *flightrec_new(void)
{
	struct flightrec *fr = calloc(1, sizeof(*fr));

	if (!fr)
		return NULL;
	fr->opts.tiers = FR_REPLAY_TIERS;
	fr->sink = (struct fr_err_sink){.say = handle_take, .arg = fr};
	fr->event.fr = fr;
	fr_out_init_mem(&fr->words);
	return fr;
}

static void free_summaries(struct flightrec *fr)
{
	u32 i;

	for (i = 0; fr->summary && i < fr_replay_file_cnt(fr->replay); i++)
		fr_summary_free(fr->summary[i]);
	free(fr->summary);
}

void flightrec_free(struct flightrec *fr)
{
	u32 i;

	if (!fr)
		return;
	flightrec_printer_free(fr->text);
	flightrec_printer_free(fr->json);
	free(fr_out_take_mem(&fr->words, NULL));
	fr_missing_free(fr->missing);
	fr_klogs_clear(&fr->klogs);
	free_summaries(fr);
	fr_frames_free(fr->frames);
	fr_replay_close(fr->replay);
	for (i = 0; i < fr->path_cnt; i++)
		free(fr->path[i]);
	free(fr->path);
	free(fr->filter);
	free(fr->symfs);
	free(fr);
}
