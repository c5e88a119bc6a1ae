/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few ordered memory accesses that the ring and the clock are built on, for BPF and for the host side by side.
 *
 *	fr_load(p)		one whole load; acquire on the host
 *	fr_store(p, v)		one whole store; release on the host
 *	fr_publish(p, v)	one whole store, seen after everything stored before it; BPF: on x86 only
 *	fr_cas(p, old, new)	compare and exchange, returns what was there; a full barrier
 *	fr_add(p, v)		fetch and add, returns what was there; a full barrier
 *	fr_xchg(p, v)		store, returns what was there; a full barrier
 *	fr_count(p, v)		add to a statistic; atomic, orders nothing
 *
 * clang 14 cannot select __atomic_load_n, __atomic_store_n or fences for BPF; __sync_* works with -mcpu=v3. A BPF
 * fetch-and-add whose result is unused becomes an unordered add (on arm64 a commit could then be seen before the bytes it
 * commits), so fr_add() uses the result itself: no inlined caller can lose the order. Callers of fr_count() do not need it.
 * fr_publish() relies on x86, whose stores are seen in order: BPF has no other store that orders them.
 * fr_cas() hides its result from clang, which otherwise turns the caller's comparison into a flag, and compares that again.
 */
#ifndef FR_ATOMIC_H
#define FR_ATOMIC_H

#include "types.h"

#ifdef __bpf__

FR_INLINE u64 fr_load(const u64 *p)
{
	return *(const volatile u64 *)p;
}

FR_INLINE void fr_store(u64 *p, u64 v)
{
	*(volatile u64 *)p = v;
}

FR_INLINE void fr_publish(u64 *p, u64 v)
{
	asm volatile("" : : : "memory");
	*(volatile u64 *)p = v;
}

FR_INLINE u64 fr_cas(u64 *p, u64 old, u64 new)
{
	u64 was = __sync_val_compare_and_swap(p, old, new);

	asm volatile("" : "+r"(was));
	return was;
}

FR_INLINE u64 fr_add(u64 *p, u64 v)
{
	u64 was = __sync_fetch_and_add(p, v);

	asm volatile("" : "+r"(was));
	return was;
}

FR_INLINE u64 fr_xchg(u64 *p, u64 v)
{
	u64 was = __sync_lock_test_and_set(p, v);

	asm volatile("" : "+r"(was));
	return was;
}

FR_INLINE void fr_count(u64 *p, u64 v)
{
	__sync_fetch_and_add(p, v);
}

#else

FR_INLINE u64 fr_load(const u64 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

FR_INLINE void fr_store(u64 *p, u64 v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

FR_INLINE void fr_publish(u64 *p, u64 v)
{
	fr_store(p, v);
}

FR_INLINE u64 fr_cas(u64 *p, u64 old, u64 new)
{
	__atomic_compare_exchange_n(p, &old, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}

FR_INLINE u64 fr_add(u64 *p, u64 v)
{
	return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
}

FR_INLINE u64 fr_xchg(u64 *p, u64 v)
{
	return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
}

FR_INLINE void fr_count(u64 *p, u64 v)
{
	__atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}

#endif
#endif
