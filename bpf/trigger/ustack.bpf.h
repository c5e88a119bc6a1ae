/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ustack: what is kept of a task that dies (ustack.h), in slots that are taken by compare-and-exchange. */
#ifndef FR_USTACK_BPF_H
#define FR_USTACK_BPF_H

#include "trigger/trigger.bpf.h"
#include "ustack.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FR_USTACK_CNT);
	__type(key, u32);
	__type(value, struct fr_ustack);
} fr_ustacks SEC(".maps") __weak;

FR_INLINE struct fr_ustack *fr_ustack_at(u32 slot)
{
	return bpf_map_lookup_elem(&fr_ustacks, &slot);
}

#endif
