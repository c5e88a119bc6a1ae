/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names: who was tid at time t. A tid is lent: to one task, under one name or several, then to the next task.
 *
 * What is known is added first, from the task table and from events of birth and renaming, in any order, and as often as
 * several files of one boot contain it. Looking up is quick if times mostly grow, as they do in replay. Pure.
 */
#ifndef FR_NAMES_H
#define FR_NAMES_H

#include "base/rows/batch.h"
#include "session.h"

struct fr_names; /* opaque; the tasks of one boot of one machine */

/* Who a tid was. comm is len bytes, not NUL-terminated; it lives as long as the fr_names. Unknown: comm is NULL. */
struct fr_who {
	const char *comm;
	u32 len;
	s32 pid;    /* the process (tgid), -1: unknown */
	u64 cgroup; /* id of the one it was born in, 0: unknown */
};

/* NULL: no memory. */
struct fr_names *fr_names_new(void);
void fr_names_free(struct fr_names *n); /* NULL is fine */

/* Add a task of the task table. Returns 0 or -ENOMEM. */
int fr_names_add_task(struct fr_names *n, u32 tid, u64 start_ns, const struct fr_task *task);

/* Add births and names from the events of a batch; other events are skipped. Returns 0 or -ENOMEM. */
int fr_names_add_batch(struct fr_names *n, const struct fr_batch *b);

/* Does r tell a birth or a name, and of which task? */
bool fr_names_tells(const struct fr_row *r, u32 *tid);

/* Everything is added: sort it. Returns 0 or -ENOMEM. */
int fr_names_ready(struct fr_names *n);

/* Who was tid at time ts (recording clock)? cpu names the idle task, tid 0. Only after fr_names_ready(). */
struct fr_who fr_names_who(struct fr_names *n, u32 tid, u64 ts, u16 cpu);

/* When did the task begin that was tid at time ts? 0: it is not known. Only after fr_names_ready(). */
u64 fr_names_start(const struct fr_names *n, u32 tid, u64 ts);

#endif
