/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * final: end a session's recording and take the last snapshot of it, when nothing moves any more. Prints the counters as
 * `flightrec stop --json` does, from before that snapshot's own marks.
 *
 *	final SESSION FILE
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "live/recorder/live.h"
#include "live/snapshot/dump.h"

static int snapshot(struct fr_sess *s, const char *path)
{
	struct fr_dump_ask ask = {.path = path, .reason = "final"};
	struct fr_dump_done done;

	return fr_dump(s, &ask, &done);
}

int main(int argc, char **argv)
{
	static struct fr_out out;
	struct fr_live live;
	struct fr_sess *s;
	int err;

	if (argc != 3 || fr_sess_open(argv[1], &s))
		return 1;
	/* until the snapshot has been taken: a session that is being ended, and not locked, is swept away */
	err = fr_sess_lock(s, FR_DUMP_END_MS, NULL);
	err = err ?: fr_live_read(s, &live);
	err = err ?: fr_sess_detach(s);
	fr_live_refresh(&live);
	fr_out_init(&out, STDOUT_FILENO);
	fr_live_json(&live, &out);
	err = fr_err_finish(&out, err);
	fr_live_free(&live);
	err = err ?: snapshot(s, argv[2]);
	fr_sess_remove(s);
	fr_sess_close(s);
	return err != 0;
}
