/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/open.h"

#include <errno.h>
#include <stdio.h>

#include "cmd/nextopt.h"
#include "pure/config/setting.h"
#include "pure/err.h"

bool fr_cmd_name_ok(const char *name)
{
	bool ok = fr_setting_name_ok(name);

	if (!ok)
		fr_err("'%s' is not a session's name: up to %u letters, digits, '-' and '_'", name, FR_SESS_NAME_MAX);
	return ok;
}

int fr_cmd_open_session(const char *name, struct fr_sess **out)
{
	int err;

	if (!fr_cmd_name_ok(name))
		return FR_EXIT_USAGE;
	fr_sess_sweep();
	err = fr_sess_open(name, out);
	if (err)
		return err == -ENOENT ? FR_EXIT_NO_SESSION : FR_EXIT_FAIL;
	return FR_EXIT_OK;
}

static const struct option opt_json = {"json", no_argument, NULL, 'j'};
static const struct option opt_help = {"help", no_argument, NULL, 'h'};
static const struct option opt_name = {"name", required_argument, NULL, 'n'};

int fr_cmd_options(int argc, char **argv, const char *help, const char **name, bool *json)
{
	struct option options[4] = {opt_help};
	int opt, cnt = 1;

	if (name)
		options[cnt++] = opt_name;
	if (json)
		options[cnt++] = opt_json;
	while ((opt = fr_next_option(argc, argv, name ? "n:h" : "h", options)) != -1)
		switch (opt) {
		case 'n':
			*name = optarg;
			break;
		case 'j':
			*json = true;
			break;
		case 'h':
			fputs(help, stdout);
			return FR_EXIT_OK;
		default:
			return FR_EXIT_USAGE;
		}
	if (optind == argc)
		return -1;
	fr_err("'%s' is not an option: %s", argv[optind], name ? "name the session with -n" : "see --help");
	return FR_EXIT_USAGE;
}
