/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "live/recorder/doctor.h"

static const struct fr_option table[] = {
	FR_OPTION(0, "json", NULL, "the same for programs", fr_option_flag, 0),
	FR_OPTION_GROUP(fr_coloropts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec doctor [options]\n"
		"Tell what this kernel offers a recorder, what is missing, and what to do.\n"
		"Exit status 0 if a session can be recorded here, 1 if not.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Example: flightrec doctor\n",
	.none = "see --help",
	.table = &fr_doctor_kind,
};

int fr_cmd_doctor(int argc, char **argv)
{
	struct fr_out *o;
	bool json = false, able;
	int status = fr_options_parse(&options, argc, argv, &json);

	if (status >= 0)
		return status;
	o = malloc(sizeof(*o));
	if (!o)
		return fr_err_memory();
	fr_out_init(o, STDOUT_FILENO);
	able = fr_doctor(o, json);
	status = fr_err_finish(o, able ? FR_EXIT_OK : FR_EXIT_FAIL);
	free(o);
	return status;
}
