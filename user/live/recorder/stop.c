/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/units.h"
#include "live/ctl/ctl.h"
#include "live/incident/inclog.h"
#include "live/snapshot/dump.h"

#define ASK_TIMEOUT_MS	 5000
#define START_TIMEOUT_MS 60000 /* to load its programs, on a busy machine */
#define SELF_TIMEOUT_MS	 2000
#define NAP_MS		 10
#define SAY_MS		 500
#define STOP_TRIES	 10    /* each finds another session, or another owner, than the one before */
#define OWNER_TIMEOUT_MS 60000 /* its last snapshot may have to wait for another one */

static void stop_nap(void)
{
	const struct timespec ts = {.tv_nsec = NAP_MS * FR_MSEC_NS};

	nanosleep(&ts, NULL);
}

/*
 * A session whose programs are being loaded cannot be ended yet; one that somebody else ends soon has gone. If its creator dies
 * meanwhile, it is removed.
 */
static int wait_finished(const char *name)
{
	u32 waited;

	fr_sess_sweep();
	for (waited = 0; fr_sess_is_unfinished(name); waited += NAP_MS) {
		if (waited == SAY_MS)
			fr_warn("session '%s' is just being started: waiting until it records, to end it then", name);
		if (waited >= START_TIMEOUT_MS) {
			fr_err("session '%s' is still being started: try again", name);
			return -EBUSY;
		}
		stop_nap();
		fr_sess_sweep();
	}
	return 0;
}

/* The owner notes its pid in the session soon after the start. 0: not yet. */
static u32 find_owner(struct fr_sess *s)
{
	const struct fr_session *sh = fr_sess_shared(s);
	u32 waited, pid = 0;

	for (waited = 0; sh && waited < SELF_TIMEOUT_MS && fr_sess_is_owned(s); waited += NAP_MS) {
		pid = __atomic_load_n(&sh->recorder_tgid, __ATOMIC_RELAXED);
		if (pid)
			break;
		stop_nap();
	}
	return pid;
}

static bool wait_unowned(struct fr_sess *s)
{
	int i;

	for (i = 0; i < OWNER_TIMEOUT_MS / NAP_MS; i++) {
		if (!fr_sess_is_owned(s))
			return true;
		stop_nap();
	}
	return false;
}

/* From another PID namespace: use its control socket, if it listens. */
static int ask_to_end(struct fr_sess *s)
{
	struct fr_ctl_conn *c;
	char *line = NULL;
	int err = fr_ctl_connect(fr_sess_name(s), &c);

	if (err)
		return err;
	err = fr_ctl_ask(c, "{\"cmd\":\"stop\",\"session\":true}");
	err = err ?: fr_ctl_line(c, ASK_TIMEOUT_MS, &line);
	if (!err && strncmp(line, "{\"ok\":true", 10))
		err = -EPERM;
	free(line);
	fr_ctl_disconnect(c);
	return err;
}

/* That the session ends, too, the recorder is to know: it says what becomes of it. */
static bool stop_tell_to_end(struct fr_sess *s, u32 pid)
{
	const union sigval value = {.sival_int = FR_STOP_SESSION};

	return (pid && fr_sess_same_pids(s) && !sigqueue(pid, SIGTERM, value)) || !ask_to_end(s);
}

/* One that has just adopted the session, or only looked whether it can, has not noted its pid yet. */
static bool reach_owner(struct fr_sess *s, u32 *pid)
{
	bool told = false;
	u32 waited;

	for (waited = 0; !told && waited < SELF_TIMEOUT_MS; waited += NAP_MS) {
		*pid = find_owner(s);
		if (!fr_sess_is_owned(s))
			return true;
		told = stop_tell_to_end(s, *pid);
		if (!told)
			stop_nap();
	}
	return told;
}

static int end_owner(struct fr_sess *s)
{
	u32 pid;

	if (!reach_owner(s, &pid)) {
		fr_err("session '%s' has a live recorder that cannot be reached from here: end that process", fr_sess_name(s));
		return -EBUSY;
	}
	if (wait_unowned(s))
		return 0;
	fr_err("the recorder of session '%s' (pid %u) does not end: kill it, then stop again", fr_sess_name(s), pid);
	return -ETIMEDOUT;
}

/* The socket of a killed recorder: nobody listens there. */
static void remove_stale_socket(const char *name)
{
	struct fr_ctl_conn *c;
	char path[128];
	int err = fr_ctl_connect(name, &c);

	if (!err)
		fr_ctl_disconnect(c);
	snprintf(path, sizeof(path), FR_CTL_DIR "/%s.sock", name);
	if (err == -ECONNREFUSED)
		unlink(path);
}

/* What is to be told of the session once nothing of it runs any more. */
struct final {
	void (*tell)(void *arg, const struct fr_live *l); /* NULL: nobody asks, or it could not be read */
	void *arg;
	struct fr_live live; /* as long as its links and its name existed */
};

static void stop_tell(struct final *f)
{
	if (!f->tell)
		return;
	fr_live_refresh(&f->live);
	f->live.owned = false;
	f->tell(f->arg, &f->live);
}

static int end_locked(struct fr_sess *s, struct final *final)
{
	int err = fr_sess_detach(s);

	fr_inclog_save_last(s, NULL);
	stop_tell(final);
	remove_stale_socket(fr_sess_name(s)); /* as long as no other recorder can take the name */
	return err ?: fr_sess_remove(s);
}

/* -EAGAIN: a recorder has adopted it meanwhile. */
static int stop_end_session(struct fr_sess *s, u32 wait_ms, struct final *final)
{
	int err = fr_sess_lock(s, wait_ms, NULL);

	if (err == -ENOENT) { /* its recorder, or another stop, has ended it; if there is a new one, it is not meant */
		stop_tell(final);
		return 0;
	}
	if (err)
		return err;
	if (fr_sess_own(s) == -EWOULDBLOCK)
		err = -EAGAIN;
	err = err ?: end_locked(s, final);
	fr_sess_unlock(s);
	if (err && err != -EAGAIN)
		fr_err("cannot end session '%s': %s: try again", fr_sess_name(s), strerror(-err));
	return err;
}

static int end_it(struct fr_sess *s, u32 wait_ms, void (*last)(void *arg, const struct fr_live *l), void *arg)
{
	struct final final = {.arg = arg};
	int err = 0;

	if (fr_sess_is_ending(s)) /* what was opened of it is not whole */
		return -EAGAIN;
	if (last && fr_sess_shared(s)) {
		err = fr_live_read(s, &final.live);
		if (err)
			fr_warn_errno(err, "the final counters of session '%s' are not printed", fr_sess_name(s));
		else
			final.tell = last;
		err = 0;
	}
	if (fr_sess_is_owned(s))
		err = end_owner(s);
	err = err ?: stop_end_session(s, wait_ms, &final);
	fr_live_free(&final.live);
	return err;
}

/* As fr_stop(). -EAGAIN: what is there is not what was found: look again. */
static int try_stop(const char *name, u32 wait_ms, void (*last)(void *arg, const struct fr_live *l), void *arg)
{
	struct fr_sess *s;
	int err;

	if (wait_finished(name))
		return FR_EXIT_FAIL;
	err = fr_sess_open_any(name, &s);
	if (err == -ENOENT) {
		fr_sess_say_none(name, false);
		return FR_EXIT_NO_SESSION;
	}
	if (err)
		return FR_EXIT_FAIL;
	err = end_it(s, wait_ms, last, arg);
	fr_sess_close(s);
	return err == -EAGAIN ? err : err ? FR_EXIT_FAIL : FR_EXIT_OK;
}

int fr_stop(const char *name, u32 wait_ms, void (*last)(void *arg, const struct fr_live *l), void *arg)
{
	int tries, status = -EAGAIN;

	for (tries = 0; tries < STOP_TRIES && status == -EAGAIN; tries++)
		status = try_stop(name, wait_ms, last, arg);
	if (status != -EAGAIN)
		return status;
	fr_err("session '%s' is begun and ended by other processes all the time: try again", name);
	return FR_EXIT_FAIL;
}
