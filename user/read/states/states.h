/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * states: how tasks were when a snapshot was taken (chunk `states`), with what the events before tell of them. A wait that had
 * not ended then is in no record: this is where it is.
 *
 *	t = fr_states_of(snap, tid)		one task; NULL: the file does not say
 *	fr_states_read(&st, view, t, &one)	in the words of a wait (read/waits/waited.h): call, object, waker, stack
 */
#ifndef FR_READ_STATES_H
#define FR_READ_STATES_H

#include "base/rows/subscribe.h"
#include "base/set/idmap.h"
#include "read/replay/replay.h"
#include "read/waits/waited.h"

/* The state of a task; if the file has several moments, the last one. NULL: there is none. Its fields: snapfile.h. */
const struct fr_snap_state *fr_states_of(const struct fr_snap *s, u32 tid);

/* Is it that of its task? By fr_snap_states(), in which the moments of a task stand together. */
static inline bool fr_states_is_last(const struct fr_snap_state *t, size_t cnt, size_t i)
{
	return i + 1 == cnt || t[i + 1].tid != t[i].tid;
}

/* From where it is known since when. */
enum fr_state_since { FR_SINCE_UNKNOWN, FR_SINCE_TABLE, FR_SINCE_SWITCHES };

/* A state as a wait that goes on: off_ns until it was looked at, 0: it is not known. */
struct fr_still {
	const struct fr_snap_state *state;
	struct fr_waited wait;
	u64 since_ns; /* 0: not known */
	enum fr_state_since from;
};

struct fr_states {
	const struct fr_snap *snap;
	u32 file;			/* its number */
	const struct fr_snap_state *at; /* by tid, then by time */
	size_t cnt;
	struct fr_sub sub[3];  /* switch, waking, and that of a new task */
	struct fr_idmap asked; /* by tid, what events tell: those of which the table of waits knew nothing */
};

/* Of a file of r, of its number. Free it in any case. 0 or -ENOMEM. */
int fr_states_init(struct fr_states *st, const struct fr_replay *r, u32 file);
void fr_states_free(struct fr_states *st);

/* The columns that fr_states_run() reads. */
void fr_states_want(const struct fr_states *st, struct fr_wants *w);

/* Take what the next rows tell of since when. */
void fr_states_run(struct fr_states *st, const struct fr_replay_run *run);

/* Instead, where nobody replays all of the file: take what all of its rows tell, but of damaged chunks. 0 or -ENOMEM. */
int fr_states_run_all(struct fr_states *st);

/* Once all rows were taken: one of st->at. */
void fr_states_read(const struct fr_states *st, const struct fr_view *v, const struct fr_snap_state *t, struct fr_still *out);

/* Likewise, only since when; 0: not known. */
u64 fr_states_since(const struct fr_states *st, const struct fr_snap_state *t);

/* Does the file say that it has the states of all tasks, those of little interest (`brief`) apart? */
bool fr_states_are_all(const struct fr_snap *s);

/* A count of fact `states` by its name (docs/format.md); 0 also if there is none. */
u64 fr_states_count(const struct fr_snap *s, const char *name);

#endif
