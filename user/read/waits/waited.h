/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waited: one long wait, as its record (event wait) says, and the words for it.
 *
 *	call	futex			the system call it was in, by name; "user code", "kernel"
 *	about	ext4:/var/log/x		the object that was recorded or, where the call's registers tell, "futex 0x7f..",
 *					"child 4711", "3 descriptors", "a timer"
 *	owner	load/104		who held the lock that it waited for
 *	waker	redis-server/71		a task; or the context that the waking came from, of which no task is to blame
 */
#ifndef FR_WAITED_H
#define FR_WAITED_H

#include "base/rows/view.h"
#include "base/waitsum.h"
#include "wait.h"

#define FR_WAITED_ARGS	    6u
#define FR_WAITED_CALL_SZ   FR_SYSNAME_CALL_SZ
#define FR_WAITED_WAKER_SZ  40u
#define FR_WAITED_OBJECT_SZ 256u

struct fr_waited_name {
	char text[FR_COMM_SZ];
	u8 len; /* 0: not known */
};

/* n: who's name as it is known, at most as long as a task's can be. */
void fr_waited_name_of(struct fr_waited_name *n, const struct fr_who *who);

struct fr_waited {
	u64 ts; /* it ended: the task got the CPU */
	u64 off_ns, blocked_ns, queued_ns;
	u64 kstack_id, ustack_id; /* 0: none; of the user's: not recorded */
	u64 arg[FR_WAITED_ARGS];
	u32 tid;
	s32 pid;       /* -1: not known */
	u32 waker_pid; /* 0: no task is known to be the waker */
	u32 owner_pid; /* it held the lock when the wait began, as the lock's memory said; of a state, at its look. 0: not known
			*/
	s32 id;
	u16 state; /* FR_PREV_STATE_* */
	u16 cpu;
	u8 abi, in, waker; /* in: enum fr_waited_in; waker: enum fr_waker */
	struct fr_waited_name comm, waker_comm, owner_comm;
	const char *object; /* object_len bytes, escape them; lives as long as what it was read from */
	u32 object_len;	    /* 0: none */
};

/* The fields of event wait in a schema. */
struct fr_waited_fields {
	const struct fr_schema *schema;
	const struct fr_event *ev; /* NULL: it has none that can be read */
	const struct fr_field *off, *blocked, *queued, *kstack, *ustack, *arg[FR_WAITED_ARGS], *waker_pid, *id, *abi, *state,
		*in, *waker, *object, *owner_pid; /* owner_pid, ustack, object: NULL if it has none */
};

void fr_waited_bind(struct fr_waited_fields *f, const struct fr_schema *s);

/* The columns that fr_waited_read() needs. */
void fr_waited_want(const struct fr_waited_fields *f, struct fr_wants *w);

/* Read a row of f->ev. */
void fr_waited_read(const struct fr_waited_fields *f, const struct fr_view *v, const struct fr_row *r, struct fr_waited *out);

/* Was the task runnable all the time? Then nothing woke it. */
static inline bool fr_waited_was_runnable(const struct fr_waited *w)
{
	return !(w->state & FR_PREV_STATE_WAITS);
}

#define FR_FUTEX_NEAR 64u /* bytes: the words of one lock or condition */

/* What the first argument of its call tells of where it waits. NEAR: an address, of one lock or condition up to FR_FUTEX_NEAR.
 * NOTHING: an address in the caller's frame, a count, or nothing at all. EXACT: all else: a descriptor, as a rule. */
enum fr_waited_at { FR_WAITED_AT_EXACT, FR_WAITED_AT_NEAR, FR_WAITED_AT_NOTHING };
enum fr_waited_at fr_waited_at(const struct fr_waited *w, const char *arch);

/* The words above; text is returned. about may be empty. Names of tasks and objects are as programs chose them: escape them. */
const char *fr_waited_call(const struct fr_waited *w, const char *arch, char text[FR_WAITED_CALL_SZ]);
const char *fr_waited_about(const struct fr_waited *w, const char *arch, char text[FR_WAITED_OBJECT_SZ]);
const char *fr_waited_owner(const struct fr_waited *w, char text[FR_WAITED_WAKER_SZ]); /* empty: not known */
const char *fr_waited_waker(const struct fr_waited *w, char text[FR_WAITED_WAKER_SZ]);

/* What a waking's context is called where no task is to blame; never NULL. */
const char *fr_waker_words(u32 waker);

#endif
