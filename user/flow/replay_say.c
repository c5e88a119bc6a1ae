/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* replay_say: what is said of files. */
#include "flow/replay_int.h"

#include <errno.h>
#include <string.h>

#include "pure/err.h"

#define FINDINGS_MOST 10

void fr_snap_say_error(const char *path, int err)
{
	if (err == -EBADMSG)
		fr_err("%s: not a snapshot of flightrec, or nothing in it can be read", path);
	else
		fr_err("cannot open %s: %s", path, strerror(-err));
}

bool fr_snap_say_damage(const struct fr_snap *s, const char *path, size_t most)
{
	size_t cnt = fr_snap_damage(s), i;

	for (i = 0; i < cnt && i < most; i++)
		fr_warn("%s: %s", path, fr_snap_damage_text(s, i));
	if (cnt > most)
		fr_warn("%s: and %zu more findings: `flightrec verify` lists all", path, cnt - most);
	return cnt;
}

bool fr_replay_say_damage(const struct fr_replay *r)
{
	bool damaged = r->unreadable;
	u32 i;

	for (i = 0; i < r->file_cnt; i++)
		damaged |= fr_snap_say_damage(r->file[i].snap, r->file[i].path, FINDINGS_MOST);
	return damaged;
}
