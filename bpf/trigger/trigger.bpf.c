/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* trigger: what the triggers' programs have in common. */
#include "trigger/trigger.bpf.h"

#include "path.bpf.h"
#include "stack.bpf.h"

#define PID_LEVEL_MASK	   63u	       /* for the verifier: namespaces nest 32 deep at most (MAX_PID_NS_LEVEL) */
#define FR_RB_FORCE_WAKEUP (1ULL << 1) /* BPF_RB_FORCE_WAKEUP: alerts are few, and none may wait for the next */

FR_INLINE struct stack_buf *fr_frames(u32 buf_nr)
{
	struct fr_moment_room *m = fr_moment(buf_nr);

	return m ? (struct stack_buf *)m->pc : NULL;
}

/* ---- rules ---- */

__noinline u32 fr_rule_due(u32 rule, u32 holds, u32 owner)
{
	struct fr_trigger_slot *slot = fr_slot_at(rule);
	u64 gap_ns = fr_rules[rule % FR_TRIGGER_MAX].gap_ns;

	if (!holds)
		return 0;
	fr_count(&slot->matched, 1);
	if (gap_ns && !fr_gap_over(&slot->next_ns[fr_gap_of(owner)], bpf_ktime_get_ns(), gap_ns))
		return 0;
	return 1u << rule % FR_TRIGGER_MAX;
}

FR_INLINE void count_due(u32 due, bool told)
{
	struct fr_trigger_slot *slot;
	u32 i;

	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		slot = fr_slot_at(i);
		fr_count(told ? &slot->alerted : &slot->full, due >> i & 1);
	}
}

/* ---- a moment ---- */

const struct fr_alert fr_no_alert SEC(".rodata") = {};

__noinline u32 fr_moment_begin(u32 kind, u32 due)
{
	struct fr_moment_room *m;
	u32 nr;

	for (nr = 0; nr < FR_MOMENT_CNT; nr++) {
		m = fr_moment(nr);
		if (!m || fr_cas(&m->busy, 0, 1))
			continue;
		bpf_probe_read_kernel(&m->alert, sizeof(m->alert), &fr_no_alert);
		m->due = due;
		m->alert.kind = kind;
		m->alert.mono_ns = bpf_ktime_get_ns();
		return nr;
	}
	count_due(due, false);
	return FR_MOMENT_NONE;
}

/* Rules get other numbers at a reload; their slots stay. */
FR_INLINE u32 slots_of(u32 due)
{
	u32 set = 0, i;

	for (i = 0; i < FR_TRIGGER_MAX; i++)
		set |= (due >> i & 1) << (fr_slot_of[i] % FR_TRIGGER_MAX);
	return set;
}

__noinline u64 fr_moment_limit(u32 nr)
{
	const struct fr_moment_room *m = fr_moment(nr);
	u32 i;

	for (i = 0; m && i < FR_TRIGGER_MAX; i++)
		if (m->due >> i & 1)
			return fr_rules[i].limit_ns;
	return 0;
}

__noinline int fr_moment_end(u32 nr)
{
	struct fr_moment_room *m = fr_moment(nr);
	long err;

	if (!m)
		return 0;
	m->alert.rule_set = slots_of(m->due);
	if (!m->alert.ts)
		m->alert.ts = fr_now();
	err = bpf_ringbuf_output(&fr_alerts, &m->alert, sizeof(m->alert), FR_RB_FORCE_WAKEUP);
	count_due(m->due, !err);
	fr_store(&m->busy, 0);
	return 0;
}

/*
 * The id of a user stack is not that of a sample with the same frames: what is found later of a process's last stack must not
 * be said of others.
 */
#define LAST_STACK 2u

__noinline u64 fr_moment_keep(u32 nr, u32 depth, u32 whose)
{
	struct fr_moment_room *m = fr_moment(nr);
	u32 cnt = depth < FR_ALERT_FRAME_MAX ? depth : FR_ALERT_FRAME_MAX;

	if (!m || depth > FR_STACK_DEPTH_MAX)
		return 0;
	if (whose == FR_MOMENT_USER) {
		bpf_probe_read_kernel(m->alert.uframe, sizeof(m->alert.uframe), m->pc);
		m->alert.uframe_cnt = cnt;
	} else {
		bpf_probe_read_kernel(m->alert.kframe, sizeof(m->alert.kframe), m->pc);
		m->alert.kframe_cnt = cnt;
	}
	return fr_stack_keep(nr, depth, m->alert.tid,
			     whose == FR_MOMENT_USER ? fr_stack_mix(fr_stack_process(), LAST_STACK) : 0);
}

/* ---- the task it is about ---- */

_Static_assert(FR_PATH_MAX == FR_ALERT_PATH_MAX, "an alert holds a whole path");

#define MNT_NS_NONE ((u64)-4095) /* from here on it is an error number (MNT_NS_INTERNAL) */

/* It is behind the text's buffer. */
FR_INLINE struct path_walk *path_walk(struct fr_moment_room *m)
{
	return (struct path_walk *)&m->pc[2 * FR_PATH_MAX / sizeof(m->pc[0])];
}

/* A function of its own: inlined 40 times, it is 130,000 instructions to the verifier, in each program that reports. */
__noinline u32 fr_path_step(u32 nr)
{
	struct fr_moment_room *m = fr_moment(nr);

	return m ? fr_path_up(path_walk(m), (char *)m->pc) : 0;
}

/*
 * A file of a layer is opened in a mount that is in no namespace, as are those of memory. No constant of the kernel's types
 * tells which it is, so what lies beside it must be a path.
 */
__noinline u64 fr_moment_opened(u64 file)
{
	const struct path *path = (void *)(file + bpf_core_field_offset(struct file, f_path)), *user = path;
	const struct mount *mount = fr_path_mount(BPF_CORE_READ(path, mnt));
	const struct super_block *sb;

	if (!bpf_core_type_exists(struct backing_file) || !bpf_core_field_exists(((struct backing_file *)0)->user_path) ||
	    (u64)BPF_CORE_READ(mount, mnt_ns) < MNT_NS_NONE)
		return (u64)path;
	user = (void *)(file + bpf_core_field_offset(struct backing_file, user_path));
	sb = BPF_CORE_READ(user, dentry, d_sb);
	return (u64)(sb && sb == BPF_CORE_READ(user, mnt, mnt_sb) ? user : path);
}

__noinline u32 fr_moment_path(u32 nr, u64 file)
{
	struct fr_moment_room *m = fr_moment(nr);
	struct path_walk *p;
	u32 i, more = 1;
	char *text;
	u64 at;

	if (!m)
		return 0;
	text = (char *)m->pc;
	p = path_walk(m);
	at = fr_moment_opened(file);
	fr_path_begin(p, text, (struct path *)at);
	for (i = 0; i < FR_PATH_STEPS && more; i++)
		more = fr_path_step(nr);
	if (p->cut || more)
		fr_path_say_cut(p, text);
	return p->pos & FR_PATH_LAST;
}

/* Put the path of a file into the alert's exe. */
__noinline int fr_moment_exe(u32 nr, u64 file)
{
	struct fr_moment_room *m = fr_moment(nr);
	struct file *exe = (void *)file;
	u32 at;

	if (!m || !exe)
		return 0;
	m->alert.exe_ino = BPF_CORE_READ(exe, f_inode, i_ino);
	m->alert.exe_dev = BPF_CORE_READ(exe, f_inode, i_sb, s_dev);
	at = fr_moment_path(nr, file);
	bpf_probe_read_kernel_str(m->alert.exe, sizeof(m->alert.exe), (char *)m->pc + (at & FR_PATH_LAST));
	return 0;
}

/* The number of a task's process in its own pid namespace, the innermost one. 0: it has none any more. */
FR_INLINE u32 ns_pid_of(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	u32 level = pid ? BPF_CORE_READ(pid, level) & PID_LEVEL_MASK : 0, nr = 0;
	void *at = (void *)pid + bpf_core_field_offset(struct pid, numbers) + level * bpf_core_type_size(struct upid);

	if (pid)
		bpf_probe_read_kernel(&nr, sizeof(nr), at + bpf_core_field_offset(struct upid, nr));
	return nr;
}

__noinline int fr_moment_of(u32 nr, u64 address)
{
	struct task_struct *task = (void *)address;
	struct fr_alert *a = fr_alert(nr);

	if (!a)
		return 0;
	a->tid = BPF_CORE_READ(task, pid);
	a->pid = BPF_CORE_READ(task, tgid);
	a->ns_pid = ns_pid_of(task);
	a->uid = BPF_CORE_READ(task, cred, uid.val);
	a->owner = fr_owner_of(task);
	a->cgroup = fr_cgroup_of(address, BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id));
	a->start_ns = BPF_CORE_READ(task, start_time);
	BPF_CORE_READ_STR_INTO(&a->comm, task, comm);
	return fr_moment_exe(nr, (u64)BPF_CORE_READ(task, mm, exe_file));
}

char _license[] SEC("license") = "Dual BSD/GPL";
