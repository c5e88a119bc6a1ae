/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * states: how tasks are at a snapshot's moment: what the programs of states/states.bpf.c write, and user space reads.
 *
 *	fr_states_list	a struct fr_state_brief for each task: enough to choose
 *	fr_states_take	of each chosen task a struct fr_state_rec, its object, padded to 8 bytes, its frames
 *	fr_states_count	a struct fr_states_cnt at the end
 *
 * The chosen ones are bits of the map "states-wanted", by the tid's lowest bits. Tasks of one bit are all written, and user
 * space drops what it did not choose.
 */
#ifndef FR_STATES_H
#define FR_STATES_H

#include "session.h"
#include "task_state.h"

#ifndef __bpf__
#include <stdbool.h>
#endif

#define FR_STATES_WANTED_BITS  65536u
#define FR_STATES_WANTED_WORDS (FR_STATES_WANTED_BITS / 64)
#define FR_STATES_OBJECT_MAX   256u /* bytes of an object, with its NUL */

struct fr_state_brief {
	u64 start_ns;
	u64 since_ns; /* as it is, 0: not known */
	u32 tid, tgid;
	u16 state; /* FR_PREV_STATE_*, 0: runnable, or it runs */
	u16 rank;  /* for who chooses */
	u32 pad;
};

/* It had a CPU: then neither its call nor its stack is known. */
#define FR_STATE_RUNS 1u
/* It ran while it was looked at: likewise. */
#define FR_STATE_MOVED 2u
/* The session counts its process among the recorder's own (self.bpf.h). */
#define FR_STATE_OWN 4u
/* In files only: since_ns is what switches told that were cut away. */
#define FR_STATE_BY_SWITCHES 8u

#define FR_STATE_ALLOWED_MAX 0xffffu
#define FR_STATE_IN_NONE     0xffu /* in no call, and in nothing else that is known */

struct fr_state_rec {
	u64 start_ns;
	u64 at_ns;    /* when it was looked at */
	u64 since_ns; /* 0: not known */
	u64 woken_ns; /* when it was last woken, 0: not known */
	u64 cgroup;
	u64 switch_cnt; /* how often it has left a CPU: as long as that stands, so does this wait */
	u64 arg[FR_ARG_CNT_MAX];
	u32 tid, tgid, ppid;
	u32 waker_tid; /* 0: no task is known to have woken it */
	s32 id;	       /* of its system call, -1: none */
	s32 prio;
	u16 state;
	u16 cpu;
	u16 object_sz; /* with its NUL, 0: not known */
	u8 frame_cnt;
	u8 flags; /* FR_STATE_ */
	u8 abi;
	u8 in; /* enum fr_waited_in, FR_STATE_IN_NONE */
	u8 waker;
	u8 policy;
	u8 kthread;
	u8 pad;
	u16 allowed_cnt; /* CPUs that it may run on; the most, if more */
	char comm[FR_COMM_SZ];
};

/*
 * What a look says of a task in this state: FR_STATE_RUNS if it has a CPU, and the state is 0 then. The kernel's own may tell
 * already what the task is about to wait for, or still what it was woken from. Who has ended does not run any more, though it
 * has its CPU until it leaves it for good.
 */
FR_INLINE u8 fr_state_look(u16 *state, bool on_cpu)
{
	if (!on_cpu || *state & FR_PREV_STATE_ENDED)
		return 0;
	*state = 0;
	return FR_STATE_RUNS;
}

struct fr_states_cnt {
	u64 task_cnt;
};

_Static_assert(sizeof(struct fr_state_brief) == 32 && sizeof(struct fr_state_rec) % 8 == 0, "records follow each other");

#endif
