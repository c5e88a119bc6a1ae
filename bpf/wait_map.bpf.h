/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* wait_map: the table of waits, of the recording programs and of those that look at tasks, which share the session's. */
#ifndef FR_WAIT_MAP_BPF_H
#define FR_WAIT_MAP_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "wait.h"

/* By the tid's lowest bits. Mapped, so that it begins on a page, and no entry lies in two lines. The loader sizes it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct fr_wait);
} fr_waits SEC(".maps");

/* Only those that are looked at. The loader sizes it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct fr_wait_look);
} fr_wait_looks_of SEC(".maps");

#endif
