/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/symopts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/flightrec.h"
#include "pure/err.h"

static int set_symfs(struct fr_symopts *to, const char *dir)
{
	struct stat st;
	int err = stat(dir, &st) ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;

	if (err) {
		fr_err("--symfs %s: %s: give the directory that stands for / of the machine", dir, strerror(err));
		return -EINVAL;
	}
	to->opts.symfs = dir;
	return 0;
}

int fr_symopts_parse(int opt, struct fr_symopts *to)
{
	switch (opt) {
	case FR_SYMOPT_NO_SYMBOLS:
		to->off = true;
		to->on = false;
		return 0;
	case FR_SYMOPT_SYMBOLS:
		break;
	case FR_SYMOPT_SYMFS:
		if (set_symfs(to, optarg))
			return -EINVAL;
		break;
	case FR_SYMOPT_DEBUGINFOD:
		to->opts.debuginfod = true;
		break;
	case FR_SYMOPT_LINES:
		to->opts.lines = true;
		break;
	case FR_SYMOPT_RAW:
		to->opts.raw = true;
		break;
	default:
		return 1;
	}
	to->on = true;
	to->off = false;
	return 0;
}

int fr_symopts_set(const struct fr_symopts *s, struct flightrec *fr)
{
	unsigned flags = s->opts.debuginfod ? FLIGHTREC_SYMBOLS_DEBUGINFOD : 0;

	flags |= s->opts.lines ? FLIGHTREC_SYMBOLS_LINES : 0;
	flags |= s->opts.raw ? FLIGHTREC_SYMBOLS_RAW : 0;
	return flightrec_set_symbols(fr, s->opts.symfs, flags);
}
