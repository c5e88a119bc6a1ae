/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* current: may programs find the current task without a helper's call (bpf/current.bpf.h), and the way to it. */
#ifndef FR_CURRENT_H
#define FR_CURRENT_H

#include "types.h"

struct btf;

/*
 * What fr_current_off is to be: from a CPU's runqueue to the variable that its current task is in. 0: programs ask the helper,
 * as that is no call either, or the rest would be calls, too, or the kernel does not tell.
 */
s64 fr_current_offset(const struct btf *btf);

/* The same, by the kernel's types alone. */
s64 fr_current_offset_of(const struct btf *btf);

/* Run fr_find_current on this CPU. One that cannot be asked is left to the helper. */
void fr_current_find_on(int prog_fd, u32 cpu);

#endif
