/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/say.h"

#include "lib/flightrec.h"
#include "pure/err.h"

void fr_cmd_say(void *arg, int level, const char *text)
{
	(void)arg;
	if (level == FLIGHTREC_LOG_ERROR)
		fr_err("%s", text);
	else
		fr_warn("%s", text);
}
