/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules of --on for the tests of what becomes of them. It needs cmocka before it. */
#ifndef PARSED_H
#define PARSED_H

#include "base/trigger/trigger.h"

static struct fr_trigger parsed(const char *text)
{
	struct fr_trigger_error e = {};
	struct fr_trigger t;

	if (fr_trigger_parse(text, "x86_64", &t, &e))
		fail_msg("%s: at %zu: %s", text, e.at, e.text);
	assert_string_equal(t.text, text);
	return t;
}

#endif
