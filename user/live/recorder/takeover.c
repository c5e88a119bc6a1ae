/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/takeover.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "live/incident/inclog.h"
#include "live/recorder/writer.h"

#define REASON	"settings"
#define LOOK_MS 1000

/* The writer does all that waits for the disk; one that stands still is ended, as that of any other snapshot. */
static int takeover_wait_for(struct fr_writer_proc *w, const struct fr_config *c, struct fr_writer_done *done)
{
	struct pollfd p = {.events = POLLIN};
	int err;

	do {
		p.fd = fr_writer_fd(w);
		poll(&p, 1, LOOK_MS);
		err = fr_writer_answer(w, c->write_timeout_ns, done);
	} while (err == -EAGAIN);
	if (err == -EPIPE || err == -ETIME)
		fr_err("the process that writes snapshots %s", err == -EPIPE
								       ? "was ended from outside"
								       : "stood still, stopped or waiting for its disk: it was "
									 "ended: give it more time with WriteTimeout=");
	return err;
}

static int takeover_save(struct fr_sess *s, const struct fr_config *c, struct fr_saved *saved)
{
	const struct fr_store_conf store = fr_store_conf_of(c);
	const struct fr_dump_ask dump = {.dir = c->dir, .reason = REASON};
	const struct fr_writer_ask ask = {.dump = &dump, .store = &store};
	struct fr_writer_done *done = calloc(1, sizeof(*done));
	struct fr_writer_proc *w = NULL;
	int err = done ? fr_writer_start(s, c->dir, &w) : -ENOMEM;

	err = err ?: fr_writer_ask(w, &ask);
	err = err ?: takeover_wait_for(w, c, done);
	fr_writer_stop(w);
	if (!err)
		saved->done = done->dump;
	free(done);
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

static int takeover_end(struct fr_sess *s, const char *dir)
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
	if (takeover_save(s, c, saved))
		return -ECANCELED;
	return takeover_end(s, c->dir);
}
