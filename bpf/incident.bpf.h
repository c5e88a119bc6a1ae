/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a BPF program writes into the incident log (incident.h). Included by record.bpf.h.
 *
 *	u64 nr = fr_incident_open(FR_INCIDENT_hung);		claims and clears
 *	struct fr_incident *inc = fr_incident_of(nr);
 *
 *	if (!inc)						the log is full, which is counted
 *		return 0;
 *	inc->value = value_ns;					fills
 *	fr_incident_who(nr, FR_ADDRESS(task));
 *	return fr_incident_close(nr);				finishes, and wakes the recorder
 *
 * Everything that calls or loops is in global functions, which are verified once and have stack frames of their own, since any
 * program may report an incident.
 */
#ifndef FR_INCIDENT_BPF_H
#define FR_INCIDENT_BPF_H

#include "incident.h"

#define FR_INCIDENT_BELL_SZ    4096u
#define FR_INCIDENT_FORCE_WAKE (1ULL << 1) /* BPF_RB_FORCE_WAKEUP */
#define FR_INCIDENT_NAME_MAX   64u	   /* of a name in a path */
_Static_assert(2 * FR_INCIDENT_NAME_MAX <= FR_INCIDENT_SENDER_AT, "a path ends before a sender's name");

/* Set by the loader before load: N, 0: no log. */
const volatile u32 fr_incident_cnt SEC(".rodata") __weak = 0;

/* The head, then the records; sized by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 + FR_INCIDENT_CNT_MIN);
	__type(key, u32);
	__type(value, struct fr_incident);
} fr_incidents SEC(".maps") __weak;

/* Wakes the recorder. If it is full, it has been rung. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, FR_INCIDENT_BELL_SZ);
} fr_incident_bell SEC(".maps") __weak;

FR_INLINE void *fr_incident_at(const struct fr_inc_log *log, u32 nr)
{
	return bpf_map_lookup_elem(&fr_incidents, &nr);
}

/* The record of a number from fr_incident_open(); NULL: that gave none. */
FR_INLINE struct fr_incident *fr_incident_of(u64 nr)
{
	const struct fr_inc_log log = {.cnt = fr_incident_cnt};

	return nr ? fr_incident_slot(&log, nr - 1) : NULL;
}

FR_INLINE u64 fr_incident_open_at(u32 kind, u64 ts)
{
	struct fr_inc_log log = {.cnt = fr_incident_cnt};
	struct fr_incident *inc;
	u64 nr;

	log.head = fr_incident_at(&log, 0);
	if (!log.head || !log.cnt)
		return 0;
	nr = fr_incident_claim(&log, kind) + 1;
	inc = fr_incident_of(nr);
	if (!inc)
		return 0;
	fr_incident_clear(inc);
	inc->ts = ts;
	inc->kind = kind;
	inc->cpu = bpf_get_smp_processor_id();
	inc->count = 1;
	inc->uid = ~0u;
	return nr;
}

/* The mark comes last: what is marked is filled, also where a crash dump has lost all else. */
FR_INLINE u32 fr_incident_ring(struct fr_incident *inc, u64 nr)
{
	inc->flags = (inc->flags & FR_INCIDENT_FLAGS) | fr_incident_mark(fr_epoch);
	fr_incident_finish(inc, nr - 1);
	bpf_ringbuf_output(&fr_incident_bell, &nr, sizeof(nr), FR_INCIDENT_FORCE_WAKE);
	return 0;
}

/* Claim a record of a kind, cleared, with time and CPU filled in. Returns its seq + 1, or 0: no room, and counted. */
__weak __noinline u64 fr_incident_open(u32 kind)
{
	return fr_incident_open_at(kind, fr_now());
}

/* The record is filled. Returns 0. */
__weak __noinline u32 fr_incident_close(u64 nr)
{
	struct fr_incident *inc = fr_incident_of(nr);

	return inc ? fr_incident_ring(inc, nr) : 0;
}

/* Put the end of a program's path, DIRECTORY/NAME, into the text. */
__weak __noinline u32 fr_incident_exe(u64 nr, u64 file)
{
	struct fr_incident *inc = fr_incident_of(nr);
	struct dentry *name, *up;
	u32 at;
	long n;

	if (!inc || !file)
		return 0;
	name = BPF_CORE_READ((struct file *)file, f_path.dentry);
	up = BPF_CORE_READ(name, d_parent);
	n = up != BPF_CORE_READ(up, d_parent)
		    ? bpf_probe_read_kernel_str(inc->text, FR_INCIDENT_NAME_MAX, BPF_CORE_READ(up, d_name.name))
		    : 1;
	at = n > 0 ? n - 1 : 0;
	asm volatile("" : "+r"(at));
	at &= FR_INCIDENT_NAME_MAX - 1;
	inc->text[at] = '/';
	bpf_probe_read_kernel_str(inc->text + at + 1, FR_INCIDENT_NAME_MAX, BPF_CORE_READ(name, d_name.name));
	return 0;
}

/* The task it is about, without its program. address: of a task_struct. */
__weak __noinline u32 fr_incident_task(u64 nr, u64 address)
{
	struct fr_incident *inc = fr_incident_of(nr);
	struct task_struct *task = (void *)address;

	if (!inc)
		return 0;
	inc->tid = BPF_CORE_READ(task, pid);
	inc->pid = BPF_CORE_READ(task, tgid);
	inc->uid = BPF_CORE_READ(task, cred, uid.val);
	inc->cgroup = fr_cgroup_of(address, BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id));
	inc->start_ns = BPF_CORE_READ(task, group_leader, start_time);
	BPF_CORE_READ_STR_INTO(&inc->comm, task, comm);
	return 0;
}

/* The same, with its program. */
__weak __noinline u32 fr_incident_who(u64 nr, u64 address)
{
	struct task_struct *task = (void *)address;

	fr_incident_task(nr, address);
	return fr_incident_exe(nr, (u64)BPF_CORE_READ(task, mm, exe_file));
}

/*
 * A CPU's ring has lost cnt records so far; what: { tier:8 | reason:8 }. Called from deep inside programs that write records,
 * whose frames share 512 bytes: so it calls nothing, and uses the CPU's own clock, which is within the grain of the session's.
 */
__weak __noinline u32 fr_incident_loss(u32 what, u64 cnt)
{
	u64 nr = fr_incident_open_at(FR_INCIDENT_loss, bpf_ktime_get_ns());
	struct fr_incident *inc = fr_incident_of(nr);

	if (!inc)
		return 0;
	inc->code = what;
	inc->count = cnt;
	return fr_incident_ring(inc, nr);
}

#endif
