/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/exportopts.h"

#include <string.h>

int fr_exportopts_output(const struct fr_option *option, void *to, const char *value)
{
	struct fr_exportopts *x = to;

	(void)option;
	x->to_stdout = !strcmp(value, "-");
	x->ask.path = x->to_stdout ? NULL : value;
	return 0;
}

const struct fr_option fr_exportopts_choice[] = {
	FR_OPTION_GROUP(fr_option_matching, offsetof(struct fr_exportopts, ask.opts.filter)),
	FR_OPTION_GROUP(fr_winopts, offsetof(struct fr_exportopts, window)),
	{},
};

void fr_exportopts_done(struct fr_exportopts *to, const char *const *file, u32 file_cnt)
{
	to->ask.file = file;
	to->ask.file_cnt = file_cnt;
	to->ask.opts.since = to->window.since;
	to->ask.opts.until = to->window.until;
	to->ask.symbols = to->symbols.opts;
	to->ask.no_symbols = to->symbols.off;
}
