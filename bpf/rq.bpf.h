/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rq: facts about a block request, on any kernel. */
#ifndef FR_RQ_BPF_H
#define FR_RQ_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "types.h"

/* Before 5.16 (f3fa33acca9f) struct request named its disk; later ones have it through their queue. */
struct request___rq_disk {
	struct gendisk *rq_disk;
} __attribute__((preserve_access_index));

/* Its device, { major | minor:20 }; 0 if it has none. */
FR_INLINE u32 fr_rq_dev(struct request *rq)
{
	struct request___rq_disk *old = (void *)rq;
	struct gendisk *disk;

	if (bpf_core_field_exists(old->rq_disk))
		disk = BPF_CORE_READ(old, rq_disk);
	else
		disk = BPF_CORE_READ(rq, q, disk);
	return disk ? BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor) : 0;
}

#endif
