/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/open.h"

#include <errno.h>
#include <stdio.h>

#include "base/config/setting.h"
#include "base/err.h"

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
