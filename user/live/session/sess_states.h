/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sess_states: the programs that look at tasks when a snapshot is taken (bpf/states.h): loaded with a session, and read from
 * it.
 *
 * They are iterators: the kernel runs them over all tasks while their output is read, in the reader's time. A session without
 * them, since the kernel has none or refuses them, records as any other, and its facts say why (states_missing).
 */
#ifndef FR_SESS_STATES_H
#define FR_SESS_STATES_H

#include <stdbool.h>
#include <stddef.h>

#include "states.h"

struct btf;
struct fr_sess;

/* What they share with the session's own programs. */
struct fr_states_conf {
	const char *dir; /* bpffs directory to pin in */
	const struct btf *btf;
	int waits_fd;	/* the table of waits, */
	int looks_fd;	/* what was found when tasks left, */
	int clock_fd;	/* the clock's word, */
	int session_fd; /* and whose processes are the recorder's own */
	u64 grain_ns;
};

/* Load and pin them. 0, perhaps without them: missing then says why; -EMFILE or another passing lack, with a message. */
int fr_sess_states_load(const struct fr_states_conf *conf, char *missing, size_t sz);

/* Choose whom FR_STATES_TAKE writes: clear the set, add tasks. 0 or -errno. */
struct fr_states_wanted; /* opaque */
int fr_sess_states_wanted(const struct fr_sess *s, struct fr_states_wanted **out);
void fr_states_wanted_close(struct fr_states_wanted *w); /* NULL is fine */
void fr_states_wanted_clear(struct fr_states_wanted *w);
void fr_states_wanted_add(struct fr_states_wanted *w, u32 tid);

enum fr_states_prog { FR_STATES_LIST, FR_STATES_TAKE, FR_STATES_COUNT };

/*
 * Read what a program writes, as many whole records as come at once: take is given them, and returns how many bytes it took (0:
 * the first is not whole yet), or -errno, which ends it, as -ECANCELED does without being an error. 0; -ENOENT: the session has
 * no such programs; -errno.
 */
typedef long (*fr_states_fn)(void *arg, const u8 *buf, size_t sz);
int fr_sess_states_read(const struct fr_sess *s, enum fr_states_prog prog, fr_states_fn take, void *arg);

#endif
