/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* current: can programs find the current task without a helper call (bpf/current.bpf.h), and where? */
#ifndef FR_CURRENT_H
#define FR_CURRENT_H

#include "types.h"

struct btf;

/*
 * The value for fr_current_off: the distance from a CPU's runqueue to the variable that holds its current task. 0: programs use
 * the helper, because it is no call either, because the alternative would take calls too, or because the kernel does not say.
 */
s64 fr_current_offset(const struct btf *btf);

/* Run fr_find_current on this CPU. A CPU that cannot be asked keeps using the helper. */
void fr_current_find_on(int prog_fd, u32 cpu);

/*
 * Offsets from a CPU's runqueue to the variables that hold its current task and its preempt count, for fr_preempt_task_off and
 * fr_preempt_off; both 0: they are not known.
 */
void fr_preempt_offsets(const struct btf *btf, s64 *task_off, s64 *preempt_off);

/* Likewise of any per-CPU variable; 0: it is not known. */
s64 fr_percpu_from_rq(const struct btf *btf, const char *name);

#endif
