/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * writer: the process that takes snapshots for a recorder. It is forked once the session is open, has its memory from the start
 * (a dump is wanted just when memory is short), cannot load BPF (seccomp, no capabilities but those /proc needs), and is made
 * anew when it dies. Requests and answers are single messages over a socket pair.
 */
#ifndef FR_WRITER_H
#define FR_WRITER_H

#include <sys/types.h>

#include "flow/snapshot/dump.h"

struct fr_writer_proc; /* opaque */

/* dir: where snapshots go, of which it is seen whether they can be written without privileges. 0 or -errno with a message */
int fr_writer_start(struct fr_sess *s, const char *dir, struct fr_writer_proc **out);
void fr_writer_stop(struct fr_writer_proc *w); /* lets a snapshot under way end; NULL is fine */

/* Readable when a snapshot is done or the process died. */
int fr_writer_fd(
	const struct fr_writer_proc *w); /* another after each fr_writer_ask() and fr_writer_answer() that made it anew */
pid_t fr_writer_pid(const struct fr_writer_proc *w); /* -1: none now */

/* Until a writer that was started is confined, has its memory, and can begin; or died; or some seconds. */
void fr_writer_wait(struct fr_writer_proc *w);

/* Ask for a snapshot; -EBUSY while one is under way. ask's texts are copied. */
int fr_writer_ask(struct fr_writer_proc *w, const struct fr_dump_ask *ask);

/* Take the answer: 0 and *done, or the dump's -errno, or -EPIPE: the process died (it is started again). -EAGAIN: not yet. */
int fr_writer_answer(struct fr_writer_proc *w, struct fr_dump_done *done);

#endif
