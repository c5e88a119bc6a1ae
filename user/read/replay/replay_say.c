/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* replay_say: what is said of files. */
#include "read/replay/replay_int.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

#define FINDINGS_MOST 10

void fr_snap_say_error(const char *path, int err)
{
	if (err == -ESPIPE)
		fr_err("%s: is a pipe: a snapshot is read at several places, so give a file", path);
	else if (err == -EISDIR)
		fr_err("%s is a directory: give a snapshot in it; `flightrec list -o %s` shows them", path, path);
	else if (err == -EACCES)
		fr_err("cannot open %s: %s: snapshots show a whole machine, so only root may read them: read it as root, or a "
		       "copy",
		       path, strerror(-err));
	else if (err == -EBADMSG)
		fr_err("%s: not a snapshot of flightrec, or nothing in it can be read", path);
	else if (err == -EPROTONOSUPPORT)
		fr_err("%s: it is of a later format: use a newer flightrec", path);
	else if (err == -ENOENT)
		fr_err("cannot open %s: %s: check the name", path, strerror(-err));
	else
		fr_err_errno(err, "cannot open %s", path);
}

bool fr_snap_say_damage(const struct fr_snap *s, const char *path)
{
	size_t cnt = fr_snap_damage(s), i;

	for (i = 0; i < cnt && i < FINDINGS_MOST; i++)
		fr_warn("%s: %s", path, fr_snap_damage_text(s, i));
	if (cnt > FINDINGS_MOST)
		fr_warn("%s: and %zu more findings: `flightrec verify` lists all", path, cnt - FINDINGS_MOST);
	return cnt;
}

/* Another host than that of any file before. */
static const char *new_host(const struct fr_replay *r, u32 file)
{
	const char *host = fr_snap_fact(r->file[file].snap, "host"), *other;
	u32 i;

	for (i = 0; host && i < file; i++) {
		other = fr_snap_fact(r->file[i].snap, "host");
		if (other && !strcmp(host, other))
			return NULL;
	}
	return host;
}

bool fr_replay_say_boots(const struct fr_replay *r, const char *what)
{
	const char *host, *first = NULL;
	char hosts[200] = "";
	u32 i, cnt = 0;

	if (r->boot_cnt < 2)
		return false;
	for (i = 0; i < r->file_cnt; i++) {
		size_t len = strlen(hosts);

		host = new_host(r, i);
		if (!host)
			continue;
		first = first ? first : host;
		cnt++;
		snprintf(hosts + len, sizeof(hosts) - len, "%s%s", len ? ", " : "", host);
	}
	if (cnt > 1)
		fr_err("%s shows one host, and there are %u here (%s): take one out with `flightrec cut --host %s -o ONE FILE`",
		       what, cnt, hosts, first);
	else
		fr_err("%s shows one boot, and there are %u here: give one of the files alone, as it was before the merge",
		       what, r->boot_cnt);
	return true;
}

bool fr_replay_say_sessions(const struct fr_replay *r, const char *what)
{
	if (fr_replay_say_boots(r, what))
		return true;
	if (r->file_cnt < 2)
		return false;
	fr_err("%s shows one session, and there are %u snapshots here: give one alone, as it was before the merge; "
	       "`flightrec merge` makes those of one session one",
	       what, r->file_cnt);
	return true;
}

bool fr_replay_say_damage(const struct fr_replay *r)
{
	bool damaged = r->unreadable;
	u32 i;

	for (i = 0; i < r->file_cnt; i++)
		damaged |= fr_snap_say_damage(r->file[i].snap, r->file[i].path);
	return damaged;
}

bool fr_replay_is_damaged(const struct fr_replay *r)
{
	bool damaged = r->unreadable;
	u32 i;

	for (i = 0; i < r->file_cnt; i++)
		damaged |= fr_snap_damage(r->file[i].snap) > 0;
	return damaged;
}
