/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fatal: which signals end a process, and which one ended it. Pure: for programs that see it happen, for rules, and for
 * replay --on, which finds it in a snapshot.
 *
 *	signal_deliver		SIG_DFL, and the default is to end: the process dies here and now, of this signal. If another
 *				thread took the signal, or it does not dump core, all threads are woken by 9, and the true
 *				signal is what the kernel decided for the whole process when the signal came
 *	sched_process_exit	of the last thread: the status as wait() will show it
 */
#ifndef FR_FATAL_H
#define FR_FATAL_H

#include "types.h"

#define FR_SIGKILL 9

#define FR_SI_USER   0
#define FR_SI_QUEUE  -1
#define FR_SI_TKILL  -6
#define FR_SI_KERNEL 0x80

/* A signal's bit in a set: there are 64 signals, numbered from 1. */
#define FR_SIG(nr) (1ULL << ((nr)-1))

/* Signals whose default action does nothing, stops or continues: CHLD CONT STOP TSTP TTIN TTOU URG WINCH. */
#define FR_SIG_HARMLESS (FR_SIG(17) | FR_SIG(18) | FR_SIG(19) | FR_SIG(20) | FR_SIG(21) | FR_SIG(22) | FR_SIG(23) | FR_SIG(28))
/* Signals sent by a fault: their siginfo has an address. ILL TRAP BUS FPE SEGV. */
#define FR_SIG_FAULT (FR_SIG(4) | FR_SIG(5) | FR_SIG(7) | FR_SIG(8) | FR_SIG(11))
/* Signals whose default action dumps core: QUIT ILL TRAP ABRT BUS FPE SEGV XCPU XFSZ SYS. */
#define FR_SIG_CORE                                                                                                     \
	(FR_SIG(3) | FR_SIG(4) | FR_SIG(5) | FR_SIG(6) | FR_SIG(7) | FR_SIG(8) | FR_SIG(11) | FR_SIG(24) | FR_SIG(25) | \
	 FR_SIG(31))

FR_INLINE u32 fr_sig_in(u32 sig, u64 set)
{
	return sig - 1 < 64 && (set >> (sig - 1) & 1);
}

/*
 * Does a signal tell the address of a fault, which may be 0? Not if a process sent it, nor if the kernel does not know it
 * (FR_SI_KERNEL): x86 has none for an address that is not canonical.
 */
FR_INLINE u32 fr_sig_has_addr(u32 sig, s32 code)
{
	return fr_sig_in(sig, FR_SIG_FAULT) && code > 0 && code < FR_SI_KERNEL;
}

/* A status as wait() gives it: the signal that ended the process, 0: none; then its exit status. */
FR_INLINE u32 fr_wait_signal(s32 code)
{
	return code & 0x7f;
}

FR_INLINE u32 fr_wait_status(s32 code)
{
	return code >> 8 & 0xff;
}

/*
 * The signal that ends the process when sig is delivered with its default action; 0: none does. immune: the process is the init
 * of a PID namespace. group_code: the status decided for the whole process, 0: none. None is decided when 9 is sent to the
 * siblings of a thread that executes a program.
 */
FR_INLINE u32 fr_fatal_signal(u32 sig, u32 immune, s32 group_code)
{
	if (!sig || fr_sig_in(sig, FR_SIG_HARMLESS))
		return 0;
	if (sig != FR_SIGKILL)
		return immune ? 0 : sig;
	return fr_wait_signal(group_code);
}

/* The status of a process whose last thread has ended: the one decided for all threads, otherwise its first thread's. */
FR_INLINE s32 fr_wait_code(u32 is_decided, s32 group_code, s32 leader_code)
{
	return is_decided ? group_code : leader_code;
}

#endif
