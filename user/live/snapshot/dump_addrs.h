/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_addrs: collects the addresses in a snapshot's stacks, and the tasks they belong to, while its laps are written. Its size
 * is fixed: addresses that do not fit are counted, and stay without names.
 */
#ifndef FR_DUMP_ADDRS_H
#define FR_DUMP_ADDRS_H

#include "read/snapfile/snapfile.h"

#define FR_ADDRS_CNT (1u << 18) /* slots; a quarter stays free */
#define FR_TIDS_CNT  (1u << 14)

struct fr_addrs {
	u64 addr[FR_ADDRS_CNT]; /* an open hash; sorted at the end */
	u32 tid[FR_TIDS_CNT];	/* an open hash of tasks with user frames */
	u32 addr_cnt, tid_cnt;
	u32 kernel_at; /* once sorted: index of the first kernel address */
	u64 dropped;
};

/* Kernel addresses are in the upper half of the address space. */
static inline bool fr_addr_is_kernel(u64 addr)
{
	return addr >> 63;
}

/* Add the addresses of rows [from, to). *a must be all 0 before its first use. */
void fr_addrs_rows(struct fr_addrs *a, const struct fr_rows *r, u32 from, u32 to);

/* Add an address of a process; kernel addresses belong to none. */
void fr_addrs_add(struct fr_addrs *a, u64 addr, u32 tid);
void fr_addrs_add_tid(struct fr_addrs *a, u32 tid);

/* No more rows: from now on the first addr_cnt of addr are sorted. */
void fr_addrs_sort(struct fr_addrs *a);

/* Does the task have user frames? */
bool fr_addrs_has_tid(const struct fr_addrs *a, u32 tid);

/* The first sorted address at or above addr. */
u32 fr_addrs_from(const struct fr_addrs *a, u64 addr);

#endif
