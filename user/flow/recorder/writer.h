/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * writer: the process that takes snapshots for a recorder. It is forked once the session is open, allocates its memory at the
 * start (dumps are needed just when memory is short), cannot load BPF (seccomp, no capabilities but those /proc needs), and is
 * restarted when it dies. Requests and answers are single messages over a socket pair.
 */
#ifndef FR_WRITER_H
#define FR_WRITER_H

#include <sys/types.h>

#include "flow/snapshot/dump.h"

struct fr_writer_proc; /* opaque */

/* dir: where snapshots go; used to check whether it is writable without privileges. 0 or -errno with a message */
int fr_writer_start(struct fr_sess *s, const char *dir, struct fr_writer_proc **out);
void fr_writer_stop(struct fr_writer_proc *w); /* waits for a snapshot in progress, unless it stands still; NULL is fine */

/* Readable when a snapshot is done or the process has died. */
int fr_writer_fd(
	const struct fr_writer_proc *w); /* a new fd after each fr_writer_ask() or fr_writer_answer() that restarted it */
pid_t fr_writer_pid(const struct fr_writer_proc *w); /* -1: none at the moment */

/* Wait until a starting writer is confined and ready, or has died, or some seconds have passed. */
void fr_writer_wait(struct fr_writer_proc *w);

/* Request a snapshot; -EBUSY while one is in progress. ask's texts are copied. */
int fr_writer_ask(struct fr_writer_proc *w, const struct fr_dump_ask *ask);

/*
 * Take the answer: 0 and *done, or the dump's -errno, or -EPIPE: the process died (it is restarted). -ETIME: it stood still for
 * timeout_ns, and was ended (likewise). -EAGAIN: not yet; ask again now and then, since one that stands still says nothing.
 */
int fr_writer_answer(struct fr_writer_proc *w, u64 timeout_ns, struct fr_dump_done *done);

#endif
