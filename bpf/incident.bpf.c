/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident: what goes into the incident log by itself, whatever is recorded and whichever triggers there are. Nothing here runs
 * often except where a process sends a signal to another, and at the delivery of signals, which returns at once if there is a
 * handler.
 *
 *	signal	signal_deliver, with its source and the place where it happened; otherwise sched_process_exit, with the signal
 *		alone. Who sent it: signal_generate
 *	oom	mark_victim
 *	kernel	console lines that begin a report, error_report_end
 *	hung	sched_process_hang: the kernel's own detector; also what a `hung` rule finds (trigger/hung.bpf.c)
 *	mce	mce_record
 *	loss	the writer that loses records (bpf/ring.h)
 * User space adds all others, by fr_incident_put.
 */
#include "arch.bpf.h"
#include "detect.bpf.h"
#include "equal.bpf.h"
#include "record.bpf.h"

#define TOLD_MAX   4096u
#define ASK_MAX	   64u
#define SENT_MAX   1024u
#define REPORT_MAX 256u
#define HANDLED_NS 60000000000ULL /* so long a handler may take, until the process sends the signal to itself */

/* ---- signals ---- */

/* Processes whose end is recorded: pid and start time. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TOLD_MAX);
	__type(key, u32);
	__type(value, u64);
} fr_incident_told SEC(".maps");

/*
 * Who sent a signal, for the process that dies of it: at its delivery, or its end, nobody knows. It may have sent the signal to
 * itself at last, after its handler had tidied up; but not an hour later.
 */
struct sent_key {
	u32 tgid;
	u32 sig;
};

struct sent {
	u64 start_ns; /* of the process that gets it */
	u64 until_ns; /* CLOCK_MONOTONIC; 0: nothing handles the signal, however long the process takes to die */
	u32 pid;
	u32 pad;
	char comm[FR_COMM_SZ];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SENT_MAX);
	__type(key, struct sent_key);
	__type(value, struct sent);
} fr_incident_sent_by SEC(".maps");

SEC("tp_btf/signal_generate")
int BPF_PROG(fr_incident_sent, int sig, struct kernel_siginfo *info, struct task_struct *task, int group, int result)
{
	struct sent_key key = {.tgid = task->tgid, .sig = sig};
	struct sent sent = {.pid = bpf_get_current_pid_tgid() >> 32};

	if (sent.pid == key.tgid || fr_sig_in(sig, FR_SIG_HARMLESS))
		return 0;
	if (!fr_sig_is_sent(result) || !fr_sig_by_process(sig_arg(ctx)))
		return 0;
	if (fr_sig_is_handled(task, sig))
		sent.until_ns = bpf_ktime_get_ns() + HANDLED_NS;
	sent.start_ns = task->group_leader->start_time;
	bpf_get_current_comm(sent.comm, sizeof(sent.comm));
	bpf_map_update_elem(&fr_incident_sent_by, &key, &sent, BPF_ANY);
	return 0;
}

FR_INLINE void tell_sender(struct fr_incident *inc, struct task_struct *task, u32 sig)
{
	const struct sent_key key = {.tgid = task->tgid, .sig = sig};
	const struct sent *sent = bpf_map_lookup_elem(&fr_incident_sent_by, &key);

	if (!sent || sent->start_ns != task->group_leader->start_time)
		return;
	if (sent->until_ns && sent->until_ns < bpf_ktime_get_ns())
		return;
	inc->value = sent->pid;
	__builtin_memcpy(inc->text + FR_INCIDENT_SENDER_AT, sent->comm, FR_COMM_SZ);
}

/* flags: FR_INCIDENT_LATE if it is seen at the exit, where the registers are no longer those of the death. */
FR_INLINE int tell_death(struct task_struct *task, const struct fr_death *d, u32 flags)
{
	u64 ip = flags ? 0 : fr_regs_ip((struct pt_regs *)bpf_task_pt_regs(task)), nr;
	struct fr_flood_of of = {.kind = FR_INCIDENT_signal, .sig = d->sig, .code = d->code, .place = ip & FR_IP_IN_PAGE};
	struct fr_incident *inc;

	fr_flood_whose(task, &of);
	if (fr_equal_counted(&of, task->tgid) || !fr_flood_admits(&of, task->tgid))
		return 0;
	nr = fr_incident_open(FR_INCIDENT_signal);
	inc = fr_incident_of(nr);
	if (!inc)
		return 0;
	inc->sig = d->sig;
	inc->code = d->code;
	inc->addr = d->addr;
	inc->flags = flags;
	inc->ip = ip;
	tell_sender(inc, task, d->sig);
	fr_incident_who(nr, FR_ADDRESS(task));
	fr_equal_begin(&of, nr);
	return fr_incident_close(nr);
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(fr_incident_deliver, int sig, struct kernel_siginfo *info, struct k_sigaction *ka)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 fatal = fr_detect_delivery(task, sig, ka);
	struct fr_death d = {};

	if (!fatal || !fr_dying_is_first(&fr_incident_told, task->tgid, task->group_leader->start_time))
		return 0;
	fr_detect_source(&d, fatal, sig, ctx);
	FR_FORGET(d);
	return tell_death(task, &d, 0);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(fr_incident_exit, struct task_struct *task)
{
	struct fr_death d = {};

	if (!fr_detect_exit(&d, task) || !d.sig)
		return 0;
	if (!fr_dying_is_first(&fr_incident_told, task->tgid, task->group_leader->start_time))
		return 0;
	return tell_death(task, &d, FR_INCIDENT_LATE);
}

/* ---- out of memory ---- */

SEC("tp_btf/signal_generate")
int BPF_PROG(fr_incident_oom_signal, int sig, struct kernel_siginfo *info, struct task_struct *task)
{
	fr_oom_note(sig, info, FR_ADDRESS(task));
	return 0;
}

/* Is it one of many, or beyond its share? If so, it is counted. */
__noinline u32 fr_oom_counted(u64 address)
{
	struct task_struct *task = (void *)address;
	struct fr_flood_of of = {.kind = FR_INCIDENT_oom, .sig = FR_SIGKILL};
	u32 pid = BPF_CORE_READ(task, tgid);

	fr_flood_whose(task, &of);
	return fr_equal_counted(&of, pid) || !fr_flood_admits(&of, pid);
}

/* The victim has its record. */
__noinline u32 fr_oom_begin(u64 address, u64 nr)
{
	struct fr_flood_of of = {.kind = FR_INCIDENT_oom, .sig = FR_SIGKILL};

	fr_flood_whose((struct task_struct *)address, &of);
	return fr_equal_begin(&of, nr);
}

SEC("tp_btf/mark_victim")
int BPF_PROG(fr_incident_oom)
{
	struct fr_incident *inc;
	u32 pid;
	u64 task = fr_detect_victim(ctx, &pid), nr;

	if (task && fr_oom_counted(task))
		return 0;
	nr = fr_incident_open(FR_INCIDENT_oom);
	inc = fr_incident_of(nr);
	if (!inc)
		return 0;
	inc->sig = FR_SIGKILL;
	if (pid)
		inc->pid = inc->tid = pid;
	if (task) {
		fr_incident_who(nr, task);
		inc->cgroup = fr_cgroup_of_victim(task, inc->cgroup);
		fr_oom_begin(task, nr);
	}
	return fr_incident_close(nr);
}

/* ---- the kernel's own reports ---- */

/* When a task's report began, and its last line. A report is many lines, all by one task, or on one CPU outside of any. */
struct reporting {
	u64 begin_ns, last_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, REPORT_MAX);
	__type(key, u32);
	__type(value, struct reporting);
} fr_incident_reporting SEC(".maps");

/* Does this line begin a report rather than continue one? The next lines then continue it. */
__noinline u32 fr_incident_begins(u32 tid)
{
	u32 who = tid ? tid : 1u << 31 | bpf_get_smp_processor_id();
	struct reporting *r = bpf_map_lookup_elem(&fr_incident_reporting, &who), first;
	u64 now = bpf_ktime_get_ns();

	if (r && fr_report_goes_on(r->begin_ns, r->last_ns, now)) {
		r->last_ns = now;
		return 0;
	}
	first.begin_ns = first.last_ns = now;
	bpf_map_update_elem(&fr_incident_reporting, &who, &first, BPF_ANY);
	return 1;
}

FR_INLINE void count_merged(void)
{
	const struct fr_inc_log log = {};
	struct fr_incident_head *head = fr_incident_at(&log, 0);

	if (head)
		fr_count(&head->merged, 1);
}

FR_INLINE int tell_report(const void *text, u32 len, u32 what, u64 addr)
{
	struct fr_incident *inc;
	u64 nr;

	if (!fr_incident_begins(bpf_get_current_pid_tgid())) {
		count_merged();
		return 0;
	}
	nr = fr_incident_open(FR_INCIDENT_kernel);
	inc = fr_incident_of(nr);
	if (!inc)
		return 0;
	fr_incident_task(nr, FR_ADDRESS(bpf_get_current_task()));
	len = len < FR_INCIDENT_TEXT_MAX - 1 ? len : FR_INCIDENT_TEXT_MAX - 1;
	bpf_probe_read_kernel(inc->text, len, text);
	inc->addr = addr;
	return fr_incident_close(nr);
}

SEC("tp_btf/console")
int BPF_PROG(fr_incident_console, const char *text, size_t len)
{
	return fr_detect_console(text, len, tell_report);
}

SEC("tp_btf/error_report_end")
int BPF_PROG(fr_incident_error, u32 detector, unsigned long id)
{
	return fr_detect_error(detector, id, tell_report);
}

/* The kernel's detector, which then prints: that is the same report. */
SEC("tp_btf/sched_process_hang")
int BPF_PROG(fr_incident_hang, struct task_struct *task)
{
	struct fr_incident *inc;
	u64 nr;

	fr_incident_begins(bpf_get_current_pid_tgid());
	if (!fr_flood_admits_task(FR_INCIDENT_hung, FR_ADDRESS(task)))
		return 0;
	nr = fr_incident_open(FR_INCIDENT_hung);
	inc = fr_incident_of(nr);
	if (!inc)
		return 0;
	inc->code = *(volatile u32 *)&task->__state;
	fr_incident_who(nr, FR_ADDRESS(task));
	return fr_incident_close(nr);
}

/* ---- hardware errors ---- */

/* Fields of its argument, which is this struct or (since 6.13) begins with it. */
struct mce___fr {
	u64 status, addr;
	u8 bank;
} __attribute__((preserve_access_index));

SEC("tp_btf/mce_record")
int BPF_PROG(fr_incident_mce)
{
	u64 nr = fr_incident_open(FR_INCIDENT_mce);
	struct fr_incident *inc = fr_incident_of(nr);
	const struct mce___fr *m = (void *)ctx[0];

	if (!inc)
		return 0;
	inc->value = BPF_CORE_READ(m, status);
	inc->addr = BPF_CORE_READ(m, addr);
	inc->code = BPF_CORE_READ(m, bank);
	return fr_incident_close(nr);
}

/* ---- user space's ---- */

/* What user space wants recorded, by a random number. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, ASK_MAX);
	__type(key, u64);
	__type(value, struct fr_incident);
} fr_incident_ask SEC(".maps");

/* What is pending gets records, as far as there is room and a share. */
SEC("raw_tp")
int fr_incident_flush(struct bpf_raw_tracepoint_args *ctx)
{
	bpf_for_each_map_elem(&fr_incident_equal, fr_equal_flush, NULL, 0);
	bpf_for_each_map_elem(&fr_incident_squeezed, fr_squeezed_flush, NULL, 0);
	return 0;
}

/* args: the number. Time and CPU are filled in here. Returns 1 if it is recorded. */
SEC("raw_tp")
int fr_incident_put(struct bpf_raw_tracepoint_args *ctx)
{
	u64 key = ctx->args[0], nr, *from, *to;
	struct fr_incident *ask = bpf_map_lookup_elem(&fr_incident_ask, &key), *inc;
	u32 i, cpu;

	if (!ask)
		return 0;
	nr = fr_incident_open(ask->kind);
	inc = fr_incident_of(nr);
	if (inc) {
		cpu = inc->cpu;
		from = (u64 *)ask;
		to = (u64 *)inc;
		for (i = 2; i < FR_INCIDENT_WORDS; i++)
			fr_store(&to[i], fr_load(&from[i]));
		inc->cpu = cpu;
		fr_incident_close(nr);
	}
	bpf_map_delete_elem(&fr_incident_ask, &key);
	return inc != NULL;
}

char _license[] SEC("license") = "Dual BSD/GPL";
