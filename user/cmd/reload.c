/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdlib.h>

#include "base/config/default.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/remote.h"

#define TIMEOUT_MS 60000 /* loading the triggers' programs takes time on a busy machine */

static const struct fr_options options = {
	.head = "Usage: flightrec reload [options]\n"
		"Make a recorder read its configuration file again. A bad file is refused, and the\n"
		"old settings stay in force; the session goes on recording in either case.\n"
		"\n",
	.option = fr_option_session,
	.foot = "\n"
		"Example: flightrec record --config FILE --check-config && flightrec reload\n",
	.none = "name the session with -n",
};

int fr_cmd_reload(int argc, char **argv)
{
	const char *name = FR_DEF_NAME;
	char *line;
	int status = fr_options_parse(&options, argc, argv, &name);

	if (status >= 0)
		return status;
	status = fr_cmd_ask_once(name, "{\"cmd\":\"reload\"}", TIMEOUT_MS, &line);
	if (!status)
		free(line);
	return status;
}
