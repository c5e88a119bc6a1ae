/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/exportopts.h"

#include <string.h>

#include "cmd/nextopt.h"

int fr_exportopts_parse(int opt, struct fr_exportopts *to)
{
	int got = fr_winopts_parse(&to->window, opt, &to->ask.opts.since, &to->ask.opts.until);

	if (!got && to->fr)
		got = fr_winopts_set(opt, to->fr);
	if (got > 0)
		got = fr_jobs_parse(opt, FR_REPLAY_JOBS_FEW, &to->ask.opts.jobs);
	if (got > 0)
		got = fr_symopts_parse(opt, &to->symbols);
	if (got <= 0)
		return got;
	switch (opt) {
	case 'o':
		to->to_stdout = !strcmp(optarg, "-");
		to->ask.path = to->to_stdout ? NULL : optarg;
		return 0;
	case 'f':
		return fr_take_filter(&to->ask.opts.filter, optarg);
	default:
		return 1;
	}
}

void fr_exportopts_done(struct fr_exportopts *to, const char *const *file, u32 file_cnt)
{
	to->ask.file = file;
	to->ask.file_cnt = file_cnt;
	to->ask.symbols = to->symbols.opts;
	to->ask.no_symbols = to->symbols.off;
}
