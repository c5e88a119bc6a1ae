/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fatal: which signals end a process, and by which one it ends. Pure: for programs that see it happen, for rules, and for
 * replay --on, which reads of it in a snapshot.
 *
 *	signal_deliver		SIG_DFL, and the default is to end: it dies here and now, of this signal. Where another thread
 *				took the signal, or it does not dump core, all threads are woken by 9, and the truth is what
 *				the kernel had decided for the whole process when the signal came
 *	sched_process_exit	of the last thread: as wait() will show it
 */
#ifndef FR_FATAL_H
#define FR_FATAL_H

#include "types.h"

#define FR_SIGKILL 9

/* Signals whose default action does nothing or stops: CHLD CONT STOP TSTP TTIN TTOU URG WINCH. */
#define FR_SIG_HARMLESS (1ULL << 17 | 1ULL << 18 | 1ULL << 19 | 1ULL << 20 | 1ULL << 21 | 1ULL << 22 | 1ULL << 23 | 1ULL << 28)
/* Signals a fault sends: their siginfo has an address. ILL TRAP BUS FPE SEGV. */
#define FR_SIG_FAULT (1ULL << 4 | 1ULL << 5 | 1ULL << 7 | 1ULL << 8 | 1ULL << 11)
/* Signals whose default action dumps core: QUIT ILL TRAP ABRT BUS FPE SEGV XCPU XFSZ SYS. */
#define FR_SIG_CORE                                                                                                     \
	(1ULL << 3 | 1ULL << 4 | 1ULL << 5 | 1ULL << 6 | 1ULL << 7 | 1ULL << 8 | 1ULL << 11 | 1ULL << 24 | 1ULL << 25 | \
	 1ULL << 31)

FR_INLINE u32 fr_sig_in(u32 sig, u64 set)
{
	return sig < 64 && (1ULL << sig & set);
}

/* A status as wait() gives it: the signal that ended it, 0 none; else its exit status. */
FR_INLINE u32 fr_wait_signal(s32 code)
{
	return code & 0x7f;
}

FR_INLINE u32 fr_wait_status(s32 code)
{
	return code >> 8 & 0xff;
}

/*
 * The signal that its delivery, with the default action, ends the process by; 0: it does not. immune: the process is the init
 * of a PID namespace. group_code: the status that is decided for the whole process, 0: none is. 9 to the siblings of a thread
 * that executes a program finds none.
 */
FR_INLINE u32 fr_fatal_signal(u32 sig, u32 immune, s32 group_code)
{
	if (!sig || fr_sig_in(sig, FR_SIG_HARMLESS))
		return 0;
	if (sig != FR_SIGKILL)
		return immune ? 0 : sig;
	return fr_wait_signal(group_code);
}

/* The status of a process whose last thread has ended: one that was decided for all threads, or else its first thread's. */
FR_INLINE s32 fr_wait_code(u32 is_decided, s32 group_code, s32 leader_code)
{
	return is_decided ? group_code : leader_code;
}

#endif
