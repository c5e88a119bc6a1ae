/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_addrs: which addresses the stacks of a snapshot use, and of which tasks they are, gathered while its laps are put. Of a
 * fixed size: what does not fit is counted, and has no names.
 */
#ifndef FR_DUMP_ADDRS_H
#define FR_DUMP_ADDRS_H

#include "io/snapfile/snapfile.h"

#define FR_ADDRS_CNT (1u << 18) /* slots; a quarter stays free */
#define FR_TIDS_CNT  (1u << 14)

struct fr_addrs {
	u64 addr[FR_ADDRS_CNT]; /* an open hash; sorted in the end */
	u32 tid[FR_TIDS_CNT];	/* an open hash of those with user frames */
	u32 addr_cnt, tid_cnt;
	u32 kernel_at; /* when sorted: the first of the kernel's */
	u64 dropped;
};

/* What is kernel's is in the upper half of all addresses. */
static inline bool fr_addr_is_kernel(u64 addr)
{
	return addr >> 63;
}

/* All 0 before its first use. For fr_snap_watch_rows(): arg is a struct fr_addrs. */
void fr_addrs_rows(void *arg, const struct fr_rows *r, u32 from, u32 to);

/* An address that a process uses; the kernel's are nobody's. */
void fr_addrs_add(struct fr_addrs *a, u64 addr, u32 tid);
void fr_addrs_add_tid(struct fr_addrs *a, u32 tid);

/* No more rows: the first addr_cnt of addr ascend from now on. */
void fr_addrs_sort(struct fr_addrs *a);

/* Is the task one of those with user frames? */
bool fr_addrs_has_tid(const struct fr_addrs *a, u32 tid);

/* The first of the sorted ones that is not below addr. */
u32 fr_addrs_from(const struct fr_addrs *a, u64 addr);

#endif
