/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * current: the current task without a helper call. Where the kernel protects returns against SRSO, each call costs 20 ns and
 * more (docs/notes/hotpath.md). On x86-64 the kernel keeps the task in a per-CPU variable. Kernels that inline the CPU's
 * number, but not yet the task, are helped: fr_find_current looks up that variable's address on a CPU, and from then on it is
 * loaded.
 *
 * What is at an address is read through bpf_rdonly_cast(), which is not a call either: the verifier turns it into a move, and
 * loads through its result into loads that may fault.
 *
 * Rules
 *  - An address is used once it was seen, on its own CPU, to hold the task that the helper returns. A CPU whose address nobody
 *    looked up, because it came later or its number is too high, calls the helper.
 *  - fr_current_off is constant after load: if it is 0, the verifier drops all of this except the helper call.
 *  - Loads also cost: where calls are quick, a program that needs only the tid calls the helper (fr_current_tid).
 */
#ifndef FR_CURRENT_BPF_H
#define FR_CURRENT_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "atomic.h"
#include "types.h"

#ifndef FR_WATCH
/* Set by the loader: offset from a CPU's runqueue to its task's variable, in bytes (user/io/session/current.h). */
const volatile s64 fr_current_off SEC(".rodata") __weak = 0;
/* Set by the loader: does a helper call cost more than the loads (user/io/session/returns.h)? */
const volatile bool fr_calls_slow SEC(".rodata") __weak = false;
#endif

#if defined(__TARGET_ARCH_x86) && !defined(FR_WATCH)

#define FR_CURRENT_CPU_MAX 1024u

/* By CPU: the address of its task's variable, 0: unknown. Written by fr_find_current only, so its lines stay in all caches. */
u64 fr_current_at[FR_CURRENT_CPU_MAX] SEC(".data.current") FR_ALIGNED(FR_CACHE_SZ) __weak = {};

/*
 * Since 6.2 (a35b9af4ec2c). The loader checks for it. Called in one source file of an object only: libbpf 1.1 cannot link a
 * second one.
 */
extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym __weak;

/* Any kernel struct that begins with a pointer: what the verifier is told is at an address. */
struct list_head___fr {
	void *next;
} __attribute__((preserve_access_index));

struct rq___fr {
	u32 cpu;
} __attribute__((preserve_access_index));

struct cfs_rq___fr {
	struct rq___fr *rq;
} __attribute__((preserve_access_index));

struct sched_entity___fr {
	struct cfs_rq___fr *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct___fr {
	struct sched_entity___fr se;
} __attribute__((preserve_access_index));

FR_INLINE void *fr_current_load(u64 at)
{
	struct list_head___fr *var = bpf_rdonly_cast((void *)at, bpf_core_type_id_kernel(struct list_head___fr));

	return var->next;
}

FR_INLINE const struct task_struct *fr_current(void)
{
	u32 cpu;
	void *task;
	u64 at = 0;

	if (!fr_current_off)
		return bpf_get_current_task_btf();
	cpu = bpf_get_smp_processor_id();
	asm volatile("" : "+r"(cpu)); /* the register compared is the one used, for the verifier */
	if (cpu < FR_CURRENT_CPU_MAX)
		at = fr_load(&fr_current_at[cpu]);
	task = at ? fr_current_load(at) : (void *)bpf_get_current_task();
	return bpf_rdonly_cast(task, bpf_core_type_id_kernel(struct task_struct));
}

FR_INLINE u32 fr_current_tid(void)
{
	return fr_calls_slow ? (u32)fr_current()->pid : (u32)bpf_get_current_pid_tgid();
}

/*
 * This CPU's runqueue, through the current task's sched_entity, which every task has, fair or not. BTF has no addresses, and
 * not every kernel gives programs those of its variables.
 */
FR_INLINE u64 fr_current_rq(struct task_struct *task)
{
	struct task_struct___fr *t = (void *)task;
	struct rq___fr *rq;

	if (!bpf_core_field_exists(t->se.cfs_rq))
		return 0;
	rq = BPF_CORE_READ(t, se.cfs_rq, rq);
	return rq && BPF_CORE_READ(rq, cpu) == bpf_get_smp_processor_id() ? (u64)rq : 0;
}

/* Find this CPU's variable. Only programs of this CPU load what is stored: program order is enough. */
FR_INLINE void fr_current_find(void)
{
	struct task_struct *task = (void *)bpf_get_current_task(), *seen = NULL;
	u32 cpu = bpf_get_smp_processor_id();
	u64 rq;

	if (!fr_current_off || cpu >= FR_CURRENT_CPU_MAX)
		return;
	rq = fr_current_rq(task);
	if (rq && !bpf_probe_read_kernel(&seen, sizeof(seen), (void *)(rq + fr_current_off)) && seen == task)
		fr_store(&fr_current_at[cpu], rq + fr_current_off);
}

#else

FR_INLINE const struct task_struct *fr_current(void)
{
	return bpf_get_current_task_btf();
}

FR_INLINE u32 fr_current_tid(void)
{
	return bpf_get_current_pid_tgid();
}

FR_INLINE void fr_current_find(void)
{
}

#endif
#endif
