/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sess_none: a session that does not record. Often another one does, and was meant. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/config/setting.h"
#include "base/err.h"
#include "live/session/sess.h"

#define SHOWN_MAX 5u

/* As in "a, b and 3 more". Returns how many there are; none if the directory may not be read. */
static u32 list_others(char *buf, size_t sz)
{
	DIR *d = opendir(FR_SESSION_ROOT);
	struct dirent *e;
	size_t len = 0;
	u32 cnt = 0;

	buf[0] = '\0';
	while (d && (e = readdir(d))) {
		if (!fr_setting_name_ok(e->d_name) || fr_sess_is_unfinished(e->d_name))
			continue;
		if (cnt++ < SHOWN_MAX)
			len += snprintf(buf + len, sz - len, "%s'%s'", cnt > 1 ? ", " : "", e->d_name);
	}
	if (cnt > SHOWN_MAX)
		snprintf(buf + len, sz - len, " and %u more", cnt - SHOWN_MAX);
	if (d)
		closedir(d);
	return cnt;
}

void fr_sess_say_none(const char *name, bool can_start)
{
	char others[SHOWN_MAX * (FR_SESS_NAME_MAX + 4) + 32];
	u32 cnt = list_others(others, sizeof(others));

	if (cnt && can_start)
		fr_err("no session '%s' is recording, only %s: name one with -n, or start one with `flightrec record -n %s`",
		       name, others, name);
	else if (cnt)
		fr_err("no session '%s' is recording, only %s: name one with -n", name, others);
	else if (can_start)
		fr_err("no session '%s' is recording: start one with `flightrec record -n %s`", name, name);
	else
		fr_err("no session '%s' is recording: `ls " FR_SESSION_ROOT "` shows those that are", name);
}
