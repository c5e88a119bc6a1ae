/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* task: birth, names and death of tasks, to the life tier and to the task table; the OOM killer's victims. */
#include "event_fields.h"
#include "oom.bpf.h"
#include "self.bpf.h"
#include "tasks.bpf.h"

SEC("tp_btf/sched_process_fork")
int BPF_PROG(sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct fr_rec_sched_process_fork *rec;
	char comm[FR_COMM_SZ] = {};
	s32 pid = child->pid, tgid = child->tgid;
	u64 start = child->start_time, cgroup = fr_cgroup_of_task(child);
	struct fr_writing w;

	fr_task_add(child, 0);
	if (pid == tgid && fr_is_self(parent->tgid))
		fr_self_add(tgid);
	FR_CHECK_ENABLED(sched_process_fork);
	bpf_probe_read_kernel_str(comm, sizeof(comm), child->comm);
	rec = FR_BEGIN_TID(&w, sched_process_fork, LIFE, parent->pid, 0);
	if (!rec)
		return 0;
	rec->child_pid = pid;
	rec->child_tgid = tgid;
	rec->child_start = start;
	rec->child_cgroup = cgroup;
	__builtin_memcpy(rec->child_comm, comm, sizeof(comm));
	return fr_commit(&w);
}

union exec_text {
	u64 unit[FR_EXEC_TEXT_MAX / FR_UNIT_SZ];
	char byte[FR_EXEC_TEXT_MAX];
};

/* Too large for the stack. Per CPU: exec does not nest. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, union exec_text);
} fr_exec_text SEC(".maps");

/* Write sz bytes of text behind a record's fixed part. */
FR_INLINE void put_exec_text(const struct fr_writing *w, u32 fixed_sz, const union exec_text *text, u32 sz)
{
	u32 i;

	for (i = 0; i < FR_EXEC_TEXT_MAX / FR_UNIT_SZ && i * FR_UNIT_SZ < sz; i++)
		fr_put(w, fixed_sz / FR_UNIT_SZ + i, text->unit[i]);
}

/* A thread that calls exec takes over its process's tid and start time: it becomes the leader. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	struct fr_rec_sched_process_exec *rec;
	union exec_text *text;
	struct fr_writing w;
	u32 zero = 0;
	long len = 0;

	fr_task_get(task);
	if (fr_self_is_ours(task, bprm->file))
		fr_self_add(task->tgid);
	else
		fr_self_gone(task->tgid);
	FR_CHECK_ENABLED(sched_process_exec);
	text = bpf_map_lookup_elem(&fr_exec_text, &zero);
	if (text)
		len = bpf_probe_read_kernel_str(text, sizeof(*text), bprm->filename);
	if (len < 1 || len > FR_EXEC_TEXT_MAX)
		len = 0;
	rec = fr_begin(&w, &fr_life, FR_TIER_LIFE, FR_EV_sched_process_exec, sizeof(*rec) + len, sizeof(*rec), task->pid, 0);
	if (!rec)
		return 0;
	rec->old_pid = old_pid;
	if (text)
		put_exec_text(&w, sizeof(*rec), text, len);
	return fr_commit(&w);
}

/*
 * What follows a ring keeps the NUL behind each argument, since what is secret goes by arguments (base/rows/argv.h). Rules see
 * what readers see: a blank between them.
 */
FR_INLINE void join_argv(union exec_text *text)
{
#ifdef FR_WATCH
	char behind = 0;
	s32 i;

	for (i = FR_EXEC_TEXT_MAX - 1; i >= 0; i--) {
		behind |= text->byte[i];
		if (!text->byte[i] && behind)
			text->byte[i] = ' ';
	}
#endif
}

/* The arguments as the new program got them, in its memory: exec has just put them there, so that no page is missing. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(exec_argv, struct task_struct *task)
{
	u64 begin = BPF_CORE_READ(task, mm, arg_start), end = BPF_CORE_READ(task, mm, arg_end);
	u64 all_sz = end > begin ? end - begin : 0;
	u32 zero = 0, sz = all_sz < FR_EXEC_TEXT_MAX ? all_sz : FR_EXEC_TEXT_MAX;
	struct fr_rec_exec_argv *rec;
	union exec_text *text;
	struct fr_writing w;

	FR_CHECK_ENABLED(exec_argv);
	text = bpf_map_lookup_elem(&fr_exec_text, &zero);
	if (!text)
		return 0;
	__builtin_memset(text, 0, sizeof(*text));
	if (sz > FR_EXEC_TEXT_MAX || bpf_probe_read_user(text, sz, (const void *)begin))
		sz = 0;
	join_argv(text);
	rec = fr_begin(&w, &fr_life, FR_TIER_LIFE, FR_EV_exec_argv, sizeof(*rec) + sz, sizeof(*rec), task->pid, 0);
	if (!rec)
		return 0;
	rec->argv_sz = all_sz;
	put_exec_text(&w, sizeof(*rec), text, sz);
	return fr_commit(&w);
}

/* Its argument group_dead came with 6.18; the process has the same information. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(sched_process_exit, struct task_struct *task)
{
	struct fr_rec_sched_process_exit *rec;
	s32 exit_code = task->exit_code;
	s16 prio = task->prio;
	u8 group_dead = task->signal->live.counter == 0;
	struct fr_writing w;

	fr_task_died(task, exit_code);
	if (group_dead)
		fr_self_gone(task->tgid);
	FR_CHECK_ENABLED(sched_process_exit);
	rec = FR_BEGIN_TID(&w, sched_process_exit, LIFE, task->pid, 0);
	if (!rec)
		return 0;
	rec->exit_code = exit_code;
	rec->prio = prio;
	rec->group_dead = group_dead;
	return fr_commit(&w);
}

FR_INLINE void renamed(struct task_struct *task, const char *comm)
{
	struct fr_task *t = fr_task_get(task);

	if (!t)
		return;
	__builtin_memcpy(t->comm, comm, FR_COMM_SZ);
	t->renamed_ns = fr_now();
}

SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *newcomm)
{
	char old_comm[FR_COMM_SZ] = {}, new_comm[FR_COMM_SZ] = {};
	struct fr_rec_task_rename *rec;
	s32 pid = task->pid;
	s16 score = task->signal->oom_score_adj;
	struct fr_writing w;

	bpf_probe_read_kernel_str(old_comm, sizeof(old_comm), task->comm);
	bpf_probe_read_kernel_str(new_comm, sizeof(new_comm), newcomm);
	renamed(task, new_comm);
	/* an exec renames when the new program's file is set, and faults before its own tracepoint */
	if (fr_self_is_ours(task, BPF_CORE_READ(task, mm, exe_file)))
		fr_self_add(task->tgid);
	/* not filtered by task: every reader needs all renames, even from names that -f does not choose */
	if (!fr_enabled(FR_EV_task_rename))
		return fr_filtered(FR_FILTERED_off);
	rec = FR_BEGIN(&w, task_rename, LIFE);
	if (!rec)
		return 0;
	rec->target_pid = pid;
	__builtin_memcpy(rec->oldcomm, old_comm, sizeof(old_comm));
	__builtin_memcpy(rec->newcomm, new_comm, sizeof(new_comm));
	rec->oom_score_adj = score;
	return fr_commit(&w);
}

/* struct mm_struct before 6.2 (f1a7941243c1) */
struct mm_rss_stat___atomic {
	atomic_long_t count[4];
} __attribute__((preserve_access_index));

struct mm_struct___atomic {
	struct mm_rss_stat___atomic rss_stat;
} __attribute__((preserve_access_index));

FR_INLINE u64 kib(s64 pages)
{
	return pages < 0 ? 0 : pages << (fr_page_shift - 10);
}

/* A macro: CO-RE knows the size of the kernel's percpu_counter only if the index is a constant in the source itself. */
#define RSS_KIB(mm, old, which)                                                                            \
	kib(bpf_core_field_exists(old->rss_stat.count) ? BPF_CORE_READ(old, rss_stat.count[which].counter) \
						       : BPF_CORE_READ(mm, rss_stat[which].count))

SEC("tp_btf/mark_victim")
int BPF_PROG(mark_victim)
{
	struct fr_rec_mark_victim *rec, v = {};
	struct mm_struct___atomic *old_mm;
	struct task_struct *task;
	struct mm_struct *mm;
	struct fr_writing w;

	FR_CHECK_ENABLED(mark_victim);
	if (fr_victim_is_task) {
		task = (void *)ctx[0];
		mm = BPF_CORE_READ(task, mm);
		old_mm = (void *)mm;
		v.target_pid = BPF_CORE_READ(task, pid);
		v.total_vm = BPF_CORE_READ(mm, total_vm) << (fr_page_shift - 10);
		v.anon_rss = RSS_KIB(mm, old_mm, MM_ANONPAGES);
		v.file_rss = RSS_KIB(mm, old_mm, MM_FILEPAGES);
		v.shmem_rss = RSS_KIB(mm, old_mm, MM_SHMEMPAGES);
		v.pgtables = BPF_CORE_READ(mm, pgtables_bytes.counter) >> 10;
		v.uid = BPF_CORE_READ(task, cred, uid.val);
		v.oom_score_adj = BPF_CORE_READ(task, signal, oom_score_adj);
	} else {
		v.target_pid = ctx[0];
	}
	FR_FORGET(v);
	rec = FR_BEGIN(&w, mark_victim, LIFE);
	if (!rec)
		return 0;
	v.head = rec->head;
	v.task = rec->task;
	*rec = v;
	return fr_commit(&w);
}

#ifndef FR_WATCH
/* Tasks that existed before recording began. The loader runs this once, after it has attached the programs above. */
SEC("iter/task")
int fr_seed_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		fr_task_seed(task);
	return 0;
}
#endif

char _license[] SEC("license") = "Dual BSD/GPL";
