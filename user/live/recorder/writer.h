/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * writer: the process that takes snapshots for a recorder, and does all else that waits for their disk: it looks whether a
 * snapshot is there already, and removes old ones. It is forked once the session is open, allocates its memory at the start
 * (dumps are needed just when memory is short), cannot load BPF (seccomp, no capabilities but those /proc needs), and is
 * restarted when it dies. Requests and answers are single messages over a socket pair.
 */
#ifndef FR_WRITER_H
#define FR_WRITER_H

#include <sys/types.h>

#include "live/snapshot/dump.h"
#include "live/snapshot/store.h"

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

/* What is to be done, and the limits of the directory for which it is done. */
struct fr_writer_ask {
	const struct fr_dump_ask *dump; /* a snapshot, after room was made for it; NULL: none, old ones are removed */
	const struct fr_store_conf *store;
	u64 signature;	/* of its failure, 0: none */
	u64 last_sz;	/* of the last snapshot, 0: not known; or so much room as it had was too little */
	bool may_exist; /* look first: a writer before this one may have completed it */
	bool only_look; /* -ENOENT: it has not */
	bool age_only;	/* without a snapshot: as fr_store_tidy() */
};

/* Request it; -EBUSY while something is in progress. Texts are copied. */
int fr_writer_ask(struct fr_writer_proc *w, const struct fr_writer_ask *ask);

struct fr_writer_done {
	struct fr_dump_done dump;
	u32 removed; /* old snapshots, also where that is all that was done */
	u32 gone_cnt;
	u64 gone[FR_STORE_GONE_MAX]; /* failures of which there is no snapshot any more, but for this one */
};

/*
 * Take the answer: 0 and *done, or a -errno, of which -EEXIST is without a message: there is a file of that name, and it is not
 * this session's; or -EPIPE: the process died (it is restarted). -ETIME: it stood still for timeout_ns, and was ended
 * (likewise). -EAGAIN: not yet; ask again now and then, since one that stands still says nothing.
 */
int fr_writer_answer(struct fr_writer_proc *w, u64 timeout_ns, struct fr_writer_done *done);

/* How long a writer at work has used no CPU, as seen by fr_writer_answer(), or one that cannot be ended waits for its end. */
u64 fr_writer_still_ns(struct fr_writer_proc *w);
bool fr_writer_cannot_end(struct fr_writer_proc *w); /* one was killed, and is there still */

#endif
