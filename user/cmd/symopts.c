/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/symopts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "lib/flightrec.h"

int fr_symopts_on(const struct fr_option *option, void *to, const char *value)
{
	struct fr_symopts *s = (struct fr_symopts *)((char *)to + option->at);

	(void)value;
	s->on = true;
	s->off = false;
	return 0;
}

int fr_symopts_flag(const struct fr_option *option, void *to, const char *value)
{
	struct fr_symopts *s = to;

	s->on = true;
	s->off = false;
	return fr_option_flag(option, to, value);
}

static int symopts_off(const struct fr_option *option, void *to, const char *value)
{
	struct fr_symopts *s = to;

	(void)option;
	(void)value;
	s->off = true;
	s->on = false;
	return 0;
}

static int symopts_symfs(const struct fr_option *option, void *to, const char *dir)
{
	struct fr_symopts *s = to;
	struct stat st;
	int err = stat(dir, &st) ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;

	(void)option;
	if (err) {
		fr_err("--symfs %s: %s: give the directory that stands for / of the machine", dir, strerror(err));
		return -EINVAL;
	}
	s->opts.symfs = dir;
	s->on = true;
	s->off = false;
	return 0;
}

const struct fr_option fr_symopts_searched[] = {
	FR_OPTION(0, "symfs", "DIR", "find programs and libraries below DIR, as on their machine", symopts_symfs, 0,
		  .words = "@dir"),
	FR_OPTION(0, "debuginfod", NULL, "ask the servers in DEBUGINFOD_URLS for what is missing", fr_symopts_flag,
		  offsetof(struct fr_symopts, opts.debuginfod)),
	{},
};

const struct fr_option fr_symopts[] = {
	FR_OPTION(0, "no-symbols", NULL, "stacks as numbers: nothing is looked up", symopts_off, 0),
	FR_OPTION_GROUP(fr_symopts_searched, 0),
	FR_OPTION(0, "lines", NULL, "source lines and inlined functions too (slow)", fr_symopts_flag,
		  offsetof(struct fr_symopts, opts.lines)),
	FR_OPTION(0, "raw-symbols", NULL, "names as they are in the file, not demangled", fr_symopts_flag,
		  offsetof(struct fr_symopts, opts.raw)),
	{},
};

const struct fr_option fr_symopts_named[] = {
	FR_OPTION(0, "symbols", NULL, "names of functions, which is the default", fr_symopts_on, 0),
	FR_OPTION_GROUP(fr_symopts, 0),
	{},
};

int fr_symopts_set(const struct fr_symopts *s, struct flightrec *fr)
{
	unsigned flags = s->opts.debuginfod ? FLIGHTREC_SYMBOLS_DEBUGINFOD : 0;

	flags |= s->opts.lines ? FLIGHTREC_SYMBOLS_LINES : 0;
	flags |= s->opts.raw ? FLIGHTREC_SYMBOLS_RAW : 0;
	return flightrec_set_symbols(fr, s->opts.symfs, flags);
}
