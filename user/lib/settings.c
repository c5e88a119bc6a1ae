/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* settings: what to read, and opening it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/config/tiers.h"
#include "base/rows/whose.h"
#include "base/set/vec.h"
#include "lib/handle.h"

#define FLAGS \
	(FLIGHTREC_PAIRS | FLIGHTREC_CGROUPS | FLIGHTREC_NO_NAMES | FLIGHTREC_UNMATCHED | FLIGHTREC_GAPS | FLIGHTREC_CHECK)
#define SYMBOLS_FLAGS (FLIGHTREC_SYMBOLS_DEBUGINFOD | FLIGHTREC_SYMBOLS_LINES | FLIGHTREC_SYMBOLS_RAW)

/* Settings come before opening. */
static int check_closed(struct flightrec *fr)
{
	if (!fr)
		return -EINVAL;
	if (fr->failed)
		return fr_lib_fail(fr, -EBUSY, "the handle could not be opened: free it, and begin with a new one");
	return fr->replay ? fr_lib_fail(fr, -EBUSY, "the handle was opened: settings come before that") : 0;
}

/* The same, for a setting that needs a text. */
static int settings_check_text(struct flightrec *fr, const char *text)
{
	int err = check_closed(fr);

	return err || text ? err : fr_lib_fail(fr, -EINVAL, "a text is needed, and NULL was given");
}

/* Replace *to by a copy of text. */
static int set_text(struct flightrec *fr, char **to, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return fr_lib_no_memory(fr);
	free(*to);
	*to = copy;
	return 0;
}

int flightrec_add(struct flightrec *fr, const char *path)
{
	int err = settings_check_text(fr, path);
	char **grown;

	if (err)
		return err;
	grown = fr_vec_more(&fr->path, fr->path_cnt);
	if (!grown)
		return fr_lib_no_memory(fr);
	*grown = NULL;
	err = set_text(fr, grown, path);
	fr->path_cnt += !err;
	return err;
}

/* to: NULL if the handle is */
static int set_when(struct flightrec *fr, struct fr_when *to, const char *when)
{
	int err = settings_check_text(fr, when);

	if (err || !fr_when_parse(when, to))
		return err;
	return fr_lib_fail(fr, -EINVAL, FR_WHEN_WRONG, when);
}

int flightrec_set_since(struct flightrec *fr, const char *when)
{
	return set_when(fr, fr ? &fr->opts.since : NULL, when);
}

int flightrec_set_until(struct flightrec *fr, const char *when)
{
	return set_when(fr, fr ? &fr->opts.until : NULL, when);
}

int flightrec_set_window(struct flightrec *fr, const char *window)
{
	int err = settings_check_text(fr, window);

	if (err || !fr_when_parse_window(window, &fr->opts.since, &fr->opts.until))
		return err;
	return fr_lib_fail(fr, -EINVAL, FR_WHEN_WRONG_WINDOW, window);
}

int flightrec_set_filter(struct flightrec *fr, const char *expr)
{
	int err = check_closed(fr);

	if (err)
		return err;
	err = set_text(fr, &fr->filter, expr);
	fr->opts.filter = fr->filter;
	return err;
}

int flightrec_set_tiers(struct flightrec *fr, const char *tiers)
{
	const struct fr_err_sink *was;
	int err = settings_check_text(fr, tiers);
	u32 bits;

	if (err)
		return err;
	was = fr_lib_enter(fr);
	err = fr_tiers_parse("", tiers, &bits);
	fr_lib_leave(was);
	if (!err)
		fr->opts.tiers = bits;
	return err;
}

int flightrec_set_columns(struct flightrec *fr, const char *columns)
{
	const struct fr_err_sink *was;
	int err = settings_check_text(fr, columns);

	if (err)
		return err;
	was = fr_lib_enter(fr);
	err = fr_whose_parse("", columns, &fr->opts.whose);
	fr_lib_leave(was);
	return err;
}

int flightrec_set_jobs(struct flightrec *fr, unsigned jobs)
{
	int err = check_closed(fr);

	if (err)
		return err;
	if (jobs > FLIGHTREC_JOBS_MAX)
		return fr_lib_fail(fr, -EINVAL, "%u threads are too many: %u at most", jobs, FLIGHTREC_JOBS_MAX);
	fr->opts.jobs = jobs ? jobs : FR_REPLAY_JOBS_AUTO;
	return 0;
}

/* ---- flags ---- */

int flightrec_set_flags(struct flightrec *fr, unsigned flags)
{
	int err = check_closed(fr);

	if (err)
		return err;
	if (flags & ~FLAGS)
		return fr_lib_fail(fr, -EINVAL, "flags 0x%x are not known to this version of the library", flags & ~FLAGS);
	fr->flags = flags;
	fr->opts.pairs = flags & FLIGHTREC_PAIRS;
	return 0;
}

int flightrec_set_symbols(struct flightrec *fr, const char *symfs, unsigned flags)
{
	struct stat st;
	int err = check_closed(fr), wrong = 0;

	if (err)
		return err;
	if (flags & ~SYMBOLS_FLAGS)
		return fr_lib_fail(fr, -EINVAL, "flags 0x%x are not known to this version of the library",
				   flags & ~SYMBOLS_FLAGS);
	if (symfs)
		wrong = stat(symfs, &st) ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
	if (wrong)
		return fr_lib_fail(fr, -wrong, "%s: %s: give the directory that stands for / of the machine", symfs,
				   strerror(wrong));
	err = set_text(fr, &fr->symfs, symfs);
	fr->symbols = (struct fr_symbols_opts){
		.symfs = fr->symfs,
		.debuginfod = flags & FLIGHTREC_SYMBOLS_DEBUGINFOD,
		.lines = flags & FLIGHTREC_SYMBOLS_LINES,
		.raw = flags & FLIGHTREC_SYMBOLS_RAW,
	};
	return err;
}

static int check_stored(struct flightrec *fr)
{
	int err = fr_replay_check_stored(fr->replay);

	return err ? fr_lib_fail(fr, err, "cannot read all events") : 0;
}

int flightrec_open(struct flightrec *fr)
{
	const struct fr_err_sink *was;
	int err = check_closed(fr);

	if (err)
		return err;
	if (!fr->path_cnt)
		return fr_lib_fail(fr, -EINVAL, "no snapshot was named");
	fr->opts.names = !(fr->flags & FLIGHTREC_NO_NAMES);
	fr->opts.cgroups = fr->flags & FLIGHTREC_CGROUPS || fr_whose_needs_cgroups(fr->opts.whose);
	was = fr_lib_enter(fr);
	err = fr_replay_open((const char *const *)fr->path, fr->path_cnt, &fr->opts, &fr->replay);
	fr_lib_leave(was);
	fr->failed = err;
	if (err)
		return err;
	fr->error[0] = 0; /* about a file that was left out: the call did not fail */
	fr->summary = calloc(fr_replay_file_cnt(fr->replay), sizeof(*fr->summary));
	if (!fr->summary)
		return fr_lib_no_memory(fr);
	if (fr->flags & FLIGHTREC_CHECK)
		err = check_stored(fr);
	if (err)
		return err;
	return fr->flags & FLIGHTREC_GAPS ? fr_lib_follow_gaps(fr) : 0;
}
