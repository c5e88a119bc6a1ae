/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "lib/flightrec_mark.h"
#include "up.h"

static const struct fr_option table[] = {
	{},
};

#define MARK_MAX (FR_UP_TEXT_SZ - 1) /* bytes of a text that are recorded */

static const struct fr_options options = {
	.head = "Usage: flightrec mark TEXT\n"
		"Mark this moment: sessions that record -e mark:PATH, where PATH is this program's file,\n"
		"have the text and who ran it. Nothing tells whether there is one.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Example: flightrec mark 'backup begins'\n",
};

int fr_cmd_mark(int argc, char **argv)
{
	int status = fr_options_parse(&options, argc, argv, NULL);

	if (status >= 0)
		return status;
	if (optind + 1 != argc || !*argv[optind]) {
		fr_err("one text is needed, in quotes: flightrec mark 'backup begins'");
		return FR_EXIT_USAGE;
	}
	if (strlen(argv[optind]) > MARK_MAX) {
		fr_err("this text is longer than the %u bytes that are recorded: shorten it", MARK_MAX);
		return FR_EXIT_USAGE;
	}
	flightrec_mark(argv[optind]);
	return FR_EXIT_OK;
}
