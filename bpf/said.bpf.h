/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * said: what the current task's own memory says of the call that it is about to wait in: who holds the lock of a futex
 * (owner.h), and which descriptor poll() or select() is about, if it is one.
 *
 * Read as the task leaves: it is the current one, its saved registers are those of the call, and its memory cannot be read when
 * it gets the CPU again. A page that is not there is not waited for. The memory is the process's: a descriptor is only looked
 * up, and a thread is told only if there is one that shares the memory.
 */
#ifndef FR_SAID_BPF_H
#define FR_SAID_BPF_H

#include "call.bpf.h"
#include "owner.h"

/* ---- a thread by the tid that its own pid namespace has for it ---- */

struct xa_node___said {
	unsigned char shift;
	void *slots[64];
} __attribute__((preserve_access_index));

struct xarray___said {
	void *xa_head;
} __attribute__((preserve_access_index));

struct idr___said {
	struct xarray___said idr_rt;
} __attribute__((preserve_access_index));

struct pid_namespace___said {
	struct idr___said idr;
} __attribute__((preserve_access_index));

struct upid___said {
	int nr;
	struct pid_namespace___said *ns;
} __attribute__((preserve_access_index));

struct hlist_head___said {
	void *first;
} __attribute__((preserve_access_index));

struct pid___said {
	unsigned int level;
	struct hlist_head___said tasks[1];
	struct upid___said numbers[1];
} __attribute__((preserve_access_index));

struct hlist_node___said {
	void *next;
} __attribute__((preserve_access_index));

struct task_struct___said {
	struct pid___said *thread_pid;
	struct hlist_node___said pid_links[1];
} __attribute__((preserve_access_index));

#define PIDS_LEVELS 4	/* of 6 bits each: a namespace has 2^22 numbers */
#define XA_NODE	    2ul /* the lowest two bits of a pointer to a node */
#define XA_BITS	    3ul
#define XA_SLOTS    63u

/* Its struct pid in that namespace; NULL: there is none. The kernel's own tree is walked, under the RCU lock of a switch. */
FR_INLINE struct pid___said *said_pid(struct pid_namespace___said *ns, u32 nr)
{
	u64 at = (u64)BPF_CORE_READ(ns, idr.idr_rt.xa_head);
	struct xa_node___said *node;
	u32 i, slot;

	for (i = 0; i < PIDS_LEVELS && (at & XA_BITS) == XA_NODE; i++) {
		node = (void *)(at - XA_NODE);
		slot = nr >> (BPF_CORE_READ(node, shift) & 31) & XA_SLOTS;
		at = 0;
		bpf_probe_read_kernel(&at, sizeof(at),
				      (char *)node + bpf_core_field_offset(node->slots) + slot * sizeof(void *));
	}
	return at & XA_BITS ? NULL : (void *)at;
}

/*
 * The tid of the living thread that the task at this address knows as nr and shares its memory with; 0: there is none, or the
 * kernel's structures are others.
 */
__noinline u32 fr_said_thread(u64 address, u32 nr)
{
	struct task_struct___said *me = (void *)address;
	struct task_struct *task = (void *)address, *other;
	struct pid_namespace___said *ns = NULL;
	struct pid___said *pid;
	u32 level;
	char *link;

	if (!bpf_core_field_exists(((struct pid_namespace___said *)0)->idr) || !bpf_core_field_exists(me->pid_links) || !nr)
		return 0;
	pid = BPF_CORE_READ(me, thread_pid);
	level = BPF_CORE_READ(pid, level) & 31; /* MAX_PID_NS_LEVEL is 32 */
	bpf_probe_read_kernel(&ns, sizeof(ns),
			      (char *)pid + bpf_core_field_offset(pid->numbers) +
				      level * bpf_core_type_size(struct upid___said) +
				      bpf_core_field_offset(pid->numbers[0].ns) - bpf_core_field_offset(pid->numbers));
	pid = said_pid(ns, nr);
	link = pid ? BPF_CORE_READ(pid, tasks[0].first) : NULL;
	if (!link)
		return 0;
	other = (void *)(link - bpf_core_field_offset(me->pid_links));
	if (other == task || BPF_CORE_READ(other, mm) != BPF_CORE_READ(task, mm) || BPF_CORE_READ(other, exit_state))
		return 0;
	return BPF_CORE_READ(other, pid);
}

/* ---- what a call is about ---- */

/* A task that leaves in no call of these has nothing to say. */
FR_INLINE u32 said_owner(struct task_struct *task, struct pt_regs *regs)
{
	u32 op = fr_syscall_arg(regs, FR_ABI_NATIVE, 1), val = fr_syscall_arg(regs, FR_ABI_NATIVE, 2),
	    sz = fr_owner_sz(op, val);
	void *at = (void *)fr_syscall_arg(regs, FR_ABI_NATIVE, 0);
	struct fr_lock lock = {};

	if (sz == sizeof(lock) ? bpf_probe_read_user(&lock, sizeof(lock), at)
			       : !sz || bpf_probe_read_user(&lock.word, sizeof(lock.word), at))
		return 0;
	return fr_said_thread(FR_ADDRESS(task), fr_owner_claimed(op, val, &lock));
}

/* The only descriptor of poll(), + 1. */
FR_INLINE u32 said_polled(struct pt_regs *regs)
{
	s32 fd = -1;

	if (fr_syscall_arg(regs, FR_ABI_NATIVE, 1) != 1 ||
	    bpf_probe_read_user(&fd, sizeof(fd), (void *)fr_syscall_arg(regs, FR_ABI_NATIVE, 0)))
		return 0;
	return fd < 0 ? 0 : fd + 1u;
}

/* Of a set of descriptors, those below 64. false: it cannot be read. */
FR_INLINE bool add_set(u64 at, u64 *all)
{
	u64 set = 0;

	if (at && bpf_probe_read_user(&set, sizeof(set), (void *)at))
		return false;
	*all |= set;
	return true;
}

/* The only descriptor of select(), + 1, if all are below 64. */
FR_INLINE u32 said_selected(struct pt_regs *regs)
{
	u64 cnt = fr_syscall_arg(regs, FR_ABI_NATIVE, 0), all = 0;
	u32 nr = 1;

	if (!cnt || cnt > 64 || !add_set(fr_syscall_arg(regs, FR_ABI_NATIVE, 1), &all) ||
	    !add_set(fr_syscall_arg(regs, FR_ABI_NATIVE, 2), &all) || !add_set(fr_syscall_arg(regs, FR_ABI_NATIVE, 3), &all))
		return 0;
	if (cnt < 64)
		all &= (1ull << cnt) - 1;
	if (!all || all & (all - 1))
		return 0;
	if (all >> 32) {
		nr += 32;
		all >>= 32;
	}
	nr += (all & 0xffff0000) ? 16 : 0;
	nr += (all & 0xff00ff00) ? 8 : 0;
	nr += (all & 0xf0f0f0f0) ? 4 : 0;
	nr += (all & 0xcccccccc) ? 2 : 0;
	return nr + ((all & 0xaaaaaaaa) ? 1 : 0);
}

/*
 * What the task at this address, which is the current one, is about to wait for: of a futex, the tid of who holds the lock; of
 * poll() and select(), the descriptor, + 1, if it is one. 0: it says nothing, or is in another call.
 */
__noinline u32 fr_said(u64 address)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs;
	s32 nr;

	if (FR_ADDRESS(task) != address || fr_syscall_abi(task) != FR_ABI_NATIVE)
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	nr = fr_syscall_nr(regs);
	if (fr_syscall_is_futex(nr))
		return said_owner(task, regs);
	if (fr_syscall_polls(nr))
		return said_polled(regs);
	return fr_syscall_selects(nr) ? said_selected(regs) : 0;
}

#endif
