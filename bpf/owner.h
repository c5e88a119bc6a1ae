/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owner: who holds the lock that a call of futex() waits for, as the lock's own memory says. Pure, for BPF and for hosts.
 *
 *	FUTEX_LOCK_PI			the word has the holder's tid: the kernel's rule
 *	FUTEX_WAIT, FUTEX_WAITERS set	likewise: robust mutexes of glibc, and musl's, but for its plain ones, which have EBUSY
 *	FUTEX_WAIT, 2			glibc's pthread_mutex_t, if what is around the word looks like one: __owner
 *	FUTEX_WAIT, 3			glibc's pthread_rwlock_t that a writer has, likewise: __cur_writer
 *	anything else			a condition, a semaphore, a rwlock of readers, another library's lock: nobody knows
 *
 * The memory is the process's to write, and what follows another library's word is anything. So what is found here is a claim:
 * it counts only if a thread of that tid shares the memory of the one that waits, at that moment. Tids are those of the
 * process's own pid namespace.
 */
#ifndef FR_OWNER_H
#define FR_OWNER_H

#include "event.h"

#define FR_FUTEX_CMD	     0x7fu /* without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME */
#define FR_FUTEX_WAIT	     0u
#define FR_FUTEX_LOCK_PI     6u
#define FR_FUTEX_WAIT_BITSET 9u
#define FR_FUTEX_LOCK_PI2    13u
#define FR_FUTEX_WAITERS     0x80000000u
#define FR_FUTEX_OWNER_DIED  0x40000000u
#define FR_FUTEX_TID	     0x3fffffffu
#define FR_MUTEX_CONTENDED   2u
#define FR_MUTEX_RECURSIVE   1u
#define FR_MUTEX_KINDS	     0x383u /* four types; shared, with elision, without */
#define FR_MUTEX_USERS_MAX   0xffffu
#define FR_MUSL_TAKEN	     16u /* EBUSY */
#define FR_RWLOCK_AWAITED    3u	 /* PTHREAD_RWLOCK_FUTEX_USED, and 1: a writer has it, or is next */

/* How a lock's memory begins: the word, and what glibc has behind it on 64-bit machines. */
struct fr_lock {
	u32 word, count, owner, users, kind;
};

_Static_assert(sizeof(struct fr_lock) == 20, "as in memory");

/* How many bytes at the word must be read for fr_owner_claimed(); 0: they would not tell. op, val: the call's arguments. */
FR_INLINE u32 fr_owner_sz(u32 op, u32 val)
{
	op &= FR_FUTEX_CMD;
	if (op == FR_FUTEX_LOCK_PI || op == FR_FUTEX_LOCK_PI2)
		return sizeof(u32);
	if (op != FR_FUTEX_WAIT && op != FR_FUTEX_WAIT_BITSET)
		return 0;
	if (val & FR_FUTEX_WAITERS)
		return sizeof(u32);
	return val == FR_MUTEX_CONTENDED || val == FR_RWLOCK_AWAITED ? sizeof(struct fr_lock) : 0;
}

FR_INLINE u32 fr_owner_of_word(u32 op, u32 word)
{
	u32 tid = word & FR_FUTEX_TID;

	if (!(word & FR_FUTEX_WAITERS) || word & FR_FUTEX_OWNER_DIED)
		return 0;
	op &= FR_FUTEX_CMD;
	if (tid == FR_MUSL_TAKEN && op != FR_FUTEX_LOCK_PI && op != FR_FUTEX_LOCK_PI2)
		return 0;
	return tid;
}

FR_INLINE u32 fr_owner_of_mutex(const struct fr_lock *l)
{
	u32 recursive = (l->kind & 3) == FR_MUTEX_RECURSIVE;

	if (l->word != FR_MUTEX_CONTENDED || l->kind & ~FR_MUTEX_KINDS || !l->users || l->users > FR_MUTEX_USERS_MAX ||
	    (l->count != 0) != recursive)
		return 0;
	return l->owner;
}

/*
 * A reader waits for __wrphase_futex, a writer for __writers_futex, the next word; then there are two that are always 0, the
 * tid of the writer that has the lock, and whether processes share it.
 */
FR_INLINE u32 fr_owner_of_rwlock(const struct fr_lock *l)
{
	u32 of_reader = (l->count | 2) == FR_RWLOCK_AWAITED && !l->owner && !l->users;
	u32 of_writer = !l->count && !l->owner && l->kind <= 1;

	if (l->word != FR_RWLOCK_AWAITED)
		return 0;
	return of_reader ? l->kind : of_writer ? l->users : 0;
}

/* The tid that this memory, of which fr_owner_sz() bytes were read, says has the lock; 0: it names nobody. */
FR_INLINE u32 fr_owner_claimed(u32 op, u32 val, const struct fr_lock *l)
{
	u32 tid = fr_owner_sz(op, val) == sizeof(u32) ? fr_owner_of_word(op, l->word)
		  : val == FR_RWLOCK_AWAITED	      ? fr_owner_of_rwlock(l)
						      : fr_owner_of_mutex(l);

	return tid <= FR_TID_MASK ? tid : 0;
}

#endif
