/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/takeover.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "live/incident/inclog.h"
#include "live/snapshot/store.h"

#define REASON	   "settings"
#define SAVE_TRIES 2 /* one more where it was larger than the room that was made */

/* As for any other snapshot, old ones leave before. */
static int dump(struct fr_sess *s, struct fr_store *st, const struct fr_dump_ask *ask, struct fr_dump_done *done)
{
	u64 want_sz = fr_store_want_sz(st, 0);
	int tries, err = -ENOSPC;

	for (tries = 0; tries < SAVE_TRIES && (err == -ENOSPC || err == -EDQUOT); tries++) {
		err = fr_store_make_room(st, want_sz, NULL);
		if (err)
			break;
		err = fr_dump(s, ask, done);
		want_sz = fr_store_want_more(st, want_sz);
	}
	return err;
}

static int save(struct fr_sess *s, const struct fr_config *c, struct fr_saved *saved)
{
	const struct fr_store_conf conf = fr_store_conf_of(c);
	struct fr_dump_ask ask = {.dir = c->dir, .reason = REASON};
	struct fr_store *st;
	int err = fr_store_open(&conf, &st);

	if (err) {
		fr_err_errno(err, "cannot look after the snapshots in %s", c->dir);
	} else {
		err = dump(s, st, &ask, &saved->done);
		fr_store_close(st);
	}
	fr_tell_snapshot(s, saved->done.path, saved->done.bytes, err);
	saved->reason = err ? NULL : REASON;
	if (!err)
		fr_dump_say(&saved->done);
	return err;
}

static int remove_it(struct fr_sess *s, const char *dir)
{
	int err = fr_sess_lock(s, FR_DUMP_END_MS, NULL);

	if (err)
		return err == -ENOENT ? 0 : err; /* somebody was quicker */
	err = fr_sess_detach(s);
	fr_inclog_save_last(s, dir);
	err = fr_sess_remove(s) ?: err;
	fr_sess_unlock(s);
	return err;
}

static int end(struct fr_sess *s, const char *dir)
{
	const char *name = fr_sess_name(s);
	int err = remove_it(s, dir);

	if (err)
		fr_err("cannot end session '%s': %s: end it with `flightrec stop -n %s`", name, strerror(-err), name);
	return err;
}

int fr_takeover(struct fr_sess *s, const struct fr_config *c, const char *was, struct fr_saved *saved)
{
	fr_warn("session '%s' was begun with other settings (%s): its last snapshot is taken, then it is started anew",
		fr_sess_name(s), was);
	if (save(s, c, saved))
		return -ECANCELED;
	return end(s, c->dir);
}
