/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * task_state: why a task does not run. There are two forms, and some bits do not mean the same in both:
 *
 *	FR_STATE_*	task_struct.__state: any number of bits
 *	FR_PREV_STATE_*	what the kernel's sched_switch reports and the event's prev_state records: one bit, or 0
 *
 * fr_prev_state() makes the second from the first and exit_state. The bits of FR_STATE_REPORT are the same in both. Above them,
 * 0x80 is I in prev_state, but a dead task in __state; 0x100 is preempted, but killable.
 */
#ifndef FR_TASK_STATE_H
#define FR_TASK_STATE_H

#include "types.h"

/* task_struct.__state, stable since 4.14; FROZEN since 6.1 (f5d39b020809). */
#define FR_STATE_REPORT	   0x007fu /* those that the tracepoint shows, with exit_state's */
#define FR_STATE_BLOCKED   0x0002u
#define FR_STATE_WAKING	   0x0200u
#define FR_STATE_NOLOAD	   0x0400u /* with BLOCKED: idle, a kernel thread that waits for work */
#define FR_STATE_IS_IDLE   (FR_STATE_BLOCKED | FR_STATE_NOLOAD)
#define FR_STATE_RTLOCK	   0x1000u
#define FR_STATE_FREEZER   0x2000u /* may be frozen while it sleeps, and then looks like sleeping */
#define FR_STATE_IS_FROZEN 0x8000u

/* prev_state. 0: its time slice was over, or it yielded; it is still runnable. */
#define FR_PREV_STATE_SLEEPING	0x001u /* S */
#define FR_PREV_STATE_BLOCKED	0x002u /* D */
#define FR_PREV_STATE_STOPPED	0x004u /* T */
#define FR_PREV_STATE_TRACED	0x008u /* t */
#define FR_PREV_STATE_DEAD	0x010u /* X */
#define FR_PREV_STATE_ZOMBIE	0x020u /* Z */
#define FR_PREV_STATE_PARKED	0x040u /* P */
#define FR_PREV_STATE_IDLE	0x080u /* I: a kernel thread that waits for work */
#define FR_PREV_STATE_PREEMPTED 0x100u /* R+: still runnable */

#define FR_PREV_STATE_WAITS 0x0ffu /* any of these but the last: it is not runnable */
#define FR_PREV_STATE_ENDED (FR_PREV_STATE_DEAD | FR_PREV_STATE_ZOMBIE)

/* Report the highest set bit of the state, as the kernel's __trace_sched_switch_state() does. */
FR_INLINE u16 fr_prev_state(u32 raw, u32 exit_state)
{
	u32 state = (raw | exit_state) & FR_STATE_REPORT;

	if ((raw & FR_STATE_IS_IDLE) == FR_STATE_IS_IDLE)
		return FR_PREV_STATE_IDLE;
	if (raw & (FR_STATE_RTLOCK | FR_STATE_IS_FROZEN))
		return FR_PREV_STATE_BLOCKED;
	state |= state >> 1;
	state |= state >> 2;
	state |= state >> 4;
	return state ^ state >> 1;
}

#endif
