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
/* Set by the loader: offset from a CPU's runqueue to its task's variable, in bytes (user/live/session/current.h). */
const volatile s64 fr_current_off SEC(".rodata") __weak = 0;
/* Set by the loader: does a helper call cost more than the loads (user/live/session/returns.h)? */
const volatile bool fr_calls_slow SEC(".rodata") __weak = false;
#endif

/*
 * Set by the loader: offsets from a CPU's runqueue to its task's variable and to its preempt count, both 0 where they are not
 * known (user/live/session/current.h); can programs cast?
 */
const volatile s64 fr_preempt_task_off SEC(".rodata") __weak = 0;
const volatile s64 fr_preempt_off SEC(".rodata") __weak = 0;
const volatile bool fr_can_cast SEC(".rodata") __weak = false;

#if defined(__TARGET_ARCH_x86)
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

/* Is the task's variable so far from the runqueue? */
FR_INLINE bool fr_current_is_at(u64 rq, s64 off, const struct task_struct *task)
{
	struct task_struct *seen = NULL;

	return rq && off && !bpf_probe_read_kernel(&seen, sizeof(seen), (void *)(rq + off)) && seen == task;
}
#endif

#if defined(__TARGET_ARCH_x86) && !defined(FR_WATCH)

#define FR_CURRENT_CPU_MAX 1024u

/* By CPU: the address of its task's variable, 0: unknown. Written by fr_find_current only, so its lines stay in all caches. */
u64 fr_current_at[FR_CURRENT_CPU_MAX] SEC(".data.current") FR_ALIGNED(FR_CACHE_SZ) __weak = {};
/* The same of its preempt count. */
u64 fr_preempt_at[FR_CURRENT_CPU_MAX] SEC(".data.current") FR_ALIGNED(FR_CACHE_SZ) __weak = {};

/*
 * Since 6.2 (a35b9af4ec2c). The loader checks for it. Called in one source file of an object only: libbpf 1.1 cannot link a
 * second one.
 */
extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym __weak;

/* Any kernel struct that begins with a pointer: what the verifier is told is at an address. */
struct list_head___fr {
	void *next;
} __attribute__((preserve_access_index));

/* Any that begins with 32 bits. */
struct seqcount___fr {
	u32 sequence;
} __attribute__((preserve_access_index));

/* What is at an address, as a pointer that may be loaded through: a load that faults gives 0. */
#define FR_CAST(p) ((typeof(p))bpf_rdonly_cast(p, bpf_core_type_id_kernel(typeof(*(p)))))

FR_INLINE void *fr_current_load(u64 at)
{
	struct list_head___fr *var = (void *)at;

	return FR_CAST(var)->next;
}

/* The CPU's preempt count. Returns 0, or -1: it is not known. */
FR_INLINE int fr_preempt_count(u32 *cnt)
{
	struct seqcount___fr *var;
	u64 at = 0;
	u32 cpu;

	cpu = bpf_get_smp_processor_id();
	asm volatile("" : "+r"(cpu)); /* as below */
	if (cpu < FR_CURRENT_CPU_MAX)
		at = fr_load(&fr_preempt_at[cpu]);
	if (!at)
		return -1;
	if (!fr_can_cast)
		return bpf_probe_read_kernel(cnt, sizeof(*cnt), (void *)at);
	var = (void *)at;
	*cnt = FR_CAST(var)->sequence;
	return 0;
}

/* The address of this CPU's variable that is so far from its runqueue; 0: it is not known. */
FR_INLINE u64 fr_current_var(s64 off)
{
	u32 cpu = bpf_get_smp_processor_id();
	u64 at = 0;

	asm volatile("" : "+r"(cpu)); /* as below */
	if (off && cpu < FR_CURRENT_CPU_MAX)
		at = fr_load(&fr_preempt_at[cpu]);
	return at ? at - fr_preempt_off + off : 0;
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

/* Find this CPU's variables. Only programs of this CPU load what is stored: program order is enough. */
FR_INLINE void fr_current_find(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	u32 cpu = bpf_get_smp_processor_id();
	u64 rq = fr_current_rq(task);

	if (cpu >= FR_CURRENT_CPU_MAX)
		return;
	if (fr_current_is_at(rq, fr_current_off, task))
		fr_store(&fr_current_at[cpu], rq + fr_current_off);
	if (fr_current_is_at(rq, fr_preempt_task_off, task))
		fr_store(&fr_preempt_at[cpu], rq + fr_preempt_off);
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

FR_INLINE u64 fr_current_var(s64 off)
{
	return 0;
}

FR_INLINE void fr_current_find(void)
{
}

#if defined(__TARGET_ARCH_x86)
/* A rule's program, which looks each time: its object has no addresses. */
FR_INLINE int fr_preempt_count(u32 *cnt)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	u64 rq = fr_preempt_off ? fr_current_rq(task) : 0;

	if (!fr_current_is_at(rq, fr_preempt_task_off, task))
		return -1;
	return bpf_probe_read_kernel(cnt, sizeof(*cnt), (void *)(rq + fr_preempt_off)) ? -1 : 0;
}
#else
struct thread_info___count {
	struct {
		u32 count;
	} preempt;
} __attribute__((preserve_access_index));

/* With the task itself. */
FR_INLINE int fr_preempt_count(u32 *cnt)
{
	struct thread_info___count *ti = (void *)&bpf_get_current_task_btf()->thread_info;

	if (!bpf_core_field_exists(ti->preempt.count))
		return -1;
	*cnt = ti->preempt.count;
	return 0;
}
#endif

#endif
#endif
