/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/counting.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/units.h"
#include "live/session/counterstore.h"
#include "sys/child.h"
#include "sys/confine.h"
#include "sys/counterread.h"
#include "sys/now.h"

#define SOCKET 3 /* the helper's */
#define END_MS 1000

/* A timer's next time is counted from when it was read: a little less than the interval is an interval. */
#define INTERVAL_NS (FR_COUNTERS_LAST_NS - FR_SEC_NS / 4)

struct fr_counting {
	struct fr_sess *s;
	struct fr_halves *store;
	int fd; /* -1: no helper */
	pid_t pid;
	u64 asked_ns;
};

/* Read now: what both clocks were when this was sent. */
struct request {
	u64 ts, mono_ns;
};

/* ---- the helper ---- */

static void counting_give_up(struct fr_sess *s, int fd)
{
	const struct fr_confine_conf conf = {};
	sigset_t all;
	int i;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* the recorder handles interrupts from the terminal, and ends us */
	prctl(PR_SET_NAME, "flightrec-count");
	fr_sess_close(s); /* the rings' memory must go when the session goes */
	if (dup2(fd, SOCKET) != SOCKET)
		_exit(1);
	close_range(SOCKET + 1, ~0u, 0);
	for (i = 0; i < SOCKET; i++)
		close(i);
	for (i = 0; i < SOCKET; i++)
		if (open("/dev/null", O_RDWR) < 0)
			_exit(1);
	if (fr_confine_writer(&conf, NULL))
		_exit(1);
}

/* What a helper before this one has left, if it is whole. */
static void counting_take_over(const struct fr_halves *store, struct fr_counters *c)
{
	u8 *bytes;
	size_t sz;

	if (fr_halves_load(store, &bytes, &sz) || !bytes)
		return;
	if (fr_counters_decode(c, bytes, sz))
		fr_counters_free(c);
	free(bytes);
}

static void counting_look(struct fr_counterread *r, struct fr_halves *store, struct fr_counters *c, u64 ts)
{
	u8 *bytes;
	size_t sz;

	if (fr_counterread_look(r, ts, true, c))
		return;
	fr_counters_drop_before(c, ts > FR_COUNTERS_KEPT_NS ? ts - FR_COUNTERS_KEPT_NS : 0);
	if (fr_counters_encode(c, FR_COUNTERS_STORE_SZ, &bytes, &sz) || !sz)
		return;
	fr_halves_put(store, bytes, sz);
	free(bytes);
}

static void counting_serve(struct fr_halves *store)
{
	struct fr_counterread *r = fr_counterread_new();
	struct request ask, last;
	struct fr_counters c;

	fr_counters_init(&c);
	counting_take_over(store, &c);
	while (r && recv(SOCKET, &last, sizeof(last), 0) == sizeof(last)) {
		ask = last;
		/* of those that came while a file did not answer, only the last counts */
		while (recv(SOCKET, &last, sizeof(last), MSG_DONTWAIT) == sizeof(last))
			ask = last;
		counting_look(r, store, &c, ask.ts + (fr_now_ns(CLOCK_MONOTONIC) - ask.mono_ns));
	}
}

/* ---- the recorder's side ---- */

static int counting_begin(struct fr_counting *c)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return -errno;
	fcntl(pair[1], F_SETFL, 0);
	c->pid = fork();
	if (!c->pid) {
		counting_give_up(c->s, pair[1]);
		counting_serve(c->store);
		_exit(0);
	}
	close(pair[1]);
	if (c->pid < 0) {
		close(pair[0]);
		return -errno;
	}
	c->fd = pair[0];
	return 0;
}

static void counting_end(struct fr_counting *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	if (c->pid > 0)
		fr_child_end(c->pid, END_MS);
	c->pid = -1;
}

struct fr_counting *fr_counting_new(struct fr_sess *s)
{
	struct fr_counting *c = calloc(1, sizeof(*c));
	int err = c ? 0 : -ENOMEM;

	if (c) {
		*c = (struct fr_counting){.s = s, .fd = -1, .pid = -1};
		err = fr_halves_open(s, &fr_counterstore, &c->store);
	}
	err = err ?: counting_begin(c);
	if (!err)
		return c;
	if (err != -ENOENT)
		fr_warn("the host's counters are not kept: %s: snapshots have those of their moment", strerror(-err));
	fr_counting_free(c);
	return NULL;
}

void fr_counting_free(struct fr_counting *c)
{
	if (!c)
		return;
	counting_end(c);
	fr_halves_close(c->store);
	free(c);
}

/* A helper that has ended is begun anew; one that waits for a file is not waited for. */
static void counting_ask(struct fr_counting *c, const struct request *ask)
{
	if (c->fd >= 0 && send(c->fd, ask, sizeof(*ask), MSG_NOSIGNAL) < 0 && errno != EAGAIN)
		counting_end(c);
	if (c->fd < 0 && !counting_begin(c))
		send(c->fd, ask, sizeof(*ask), MSG_NOSIGNAL);
}

void fr_counting_read(struct fr_counting *c)
{
	u64 now_ns = fr_now_ns(CLOCK_MONOTONIC);
	struct fr_call now;

	if (!c || (c->asked_ns && now_ns - c->asked_ns < INTERVAL_NS) || fr_sess_clocks(c->s, &now))
		return;
	c->asked_ns = now_ns;
	counting_ask(c, &(struct request){now.ns, now_ns});
}
