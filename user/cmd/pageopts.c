/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/pageopts.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "sys/pager.h"

static bool no_pager;

static int pageopts_color(const struct fr_option *option, void *to, const char *value)
{
	static const char *const words[] = {[FR_COLOR_AUTO] = "auto", [FR_COLOR_ALWAYS] = "always", [FR_COLOR_NEVER] = "never"};
	u32 i;

	(void)to;
	for (i = 0; value && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(value, words[i])) {
			fr_out_set_color(i);
			return 0;
		}
	if (!value) {
		fr_out_set_color(FR_COLOR_ALWAYS);
		return 0;
	}
	fr_err("--%s: '%s' is none: give auto, always or never", option->name, value);
	return -EINVAL;
}

static int pageopts_no_pager(const struct fr_option *option, void *to, const char *value)
{
	(void)option;
	(void)to;
	(void)value;
	no_pager = true;
	return 0;
}

/* clang-format off */
#define COLOR \
	FR_OPTION(0, "color", "[=HOW]", "always, never or auto: on a terminal, without NO_COLOR", pageopts_color, 0, \
		  .words = "auto always never")
/* clang-format on */

const struct fr_option fr_coloropts[] = {COLOR, {}};

const struct fr_option fr_pageopts[] = {
	COLOR,
	FR_OPTION(0, "no-pager", NULL, "print at once, also on a terminal", pageopts_no_pager, 0,
		  .more = "Otherwise output to a terminal goes through `$FLIGHTREC_PAGER`, `$PAGER` or `less` (with "
			  "`LESS=FRX`, if that is not set). None is used if that is empty or `cat`."),
	{},
};

void fr_pageopts_begin(void)
{
	if (!no_pager)
		fr_pager_begin();
}
