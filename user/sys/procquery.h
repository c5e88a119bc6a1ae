/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* procquery: the query by address that /proc/PID/maps answers since Linux 6.11, for older headers. */
#ifndef FR_PROCQUERY_H
#define FR_PROCQUERY_H

#include <linux/ioctl.h>

#include "types.h"

/* As struct procmap_query of <linux/fs.h>. */
struct fr_procmap_query {
	u64 size;
	u64 query_flags;
	u64 query_addr;
	u64 vma_start, vma_end;
	u64 vma_flags, vma_page_size, vma_offset;
	u64 inode;
	u32 dev_major, dev_minor;
	u32 vma_name_size;
	u32 build_id_size; /* in: room; out: the build-id's size, 0: none */
	u64 vma_name_addr, build_id_addr;
};

#define FR_PROCMAP_QUERY _IOWR('f', 17, struct fr_procmap_query)

_Static_assert(sizeof(struct fr_procmap_query) == 104, "the kernel's");

#endif
