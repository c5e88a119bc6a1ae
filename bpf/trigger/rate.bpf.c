/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rate: more forks, ends of tasks, signals or errors of a call within a time than a rule allows. window.h decides; here is what
 * is counted, and whose it is. Filters are decided before a rule counts, all of them here: user space sees only the one that
 * was too many.
 */
#include "trigger/latency.bpf.h"

#include "event_fields.h"
#include "window.h"

/* Of all CPUs together. New with each load of rules: a reload counts from then on. */
struct fr_window fr_rate_windows[FR_TRIGGER_MAX] = {};

/* One that is counted. */
struct rate_seen {
	struct fr_lat_who who;
	u64 exe[2];  /* the beginning of its program's name, without directories */
	u64 address; /* the task's */
	u32 what;
	u32 id;
	u32 error;
	u32 pad;
};

static const char rate_names[4][8] FR_ALIGNED(8) = {
#define R(nr, name, doc, whose) [nr] = #name,
	FR_RATES(R)
#undef R
};
_Static_assert(FR_RATE_CNT == 4, "room for each");

/* Write the event, alert. */
__noinline int fr_rate_tell(u32 nr, u64 max, const struct rate_seen *seen)
{
	struct fr_alert *a = fr_alert(nr);
	struct fr_rec_rate *rec;
	struct fr_writing w;

	if (!a || !seen)
		return 0;
	rec = FR_BEGIN(&w, rate, LIFE);
	fr_mark(rec);
	if (!rec)
		return fr_moment_end(nr);
	rec->target_pid = a->tid;
	rec->value = a->what;
	rec->within = a->value_ns;
	rec->limit = max;
	rec->id = seen->id;
	rec->errno = seen->error;
	__builtin_memcpy(rec->what, rate_names[seen->what % 4], sizeof(rec->what));
	fr_commit(&w);
	a->ts = w.res.time_ns;
	return fr_moment_end(nr);
}

/* Count it for a rule, if it is one of those that the rule counts. A function for each rule: decisions made here are no
 * branches of the caller. */
__noinline int fr_rate_rule(u32 rule, const struct rate_seen *seen)
{
	const volatile struct fr_trigger_rule *r = &fr_rules[rule % FR_TRIGGER_MAX];
	u64 now = fr_now(), cnt;
	struct fr_alert *a;
	u32 due, nr;

	if (!seen || !fr_rule_is_for_rate(r, seen->what, seen->id, seen->error) || !fr_rule_exe_fits(r, seen->exe) ||
	    !fr_lat_passes(rule, &seen->who))
		return 0;
	cnt = fr_window_take(&fr_rate_windows[rule % FR_TRIGGER_MAX], now, r->rate_part_ns, r->rate_max);
	due = cnt ? fr_rule_due(rule, 1, seen->who.owner) : 0;
	nr = due ? fr_moment_begin(FR_TRIGGER_rate, due) : FR_MOMENT_NONE;
	a = fr_alert(nr);
	if (!a)
		return 0;
	fr_moment_of(nr, seen->address);
	a->what = cnt;
	a->value_ns = fr_window_ns(now, r->rate_part_ns);
	return fr_rate_tell(nr, r->rate_max, seen);
}

FR_INLINE int rate_count(struct rate_seen *seen, struct task_struct *task)
{
	const u8 *name;
	u32 i;

	if (fr_trigger_idle() || !fr_lat_who(FR_ADDRESS(task), &seen->who))
		return 0;
	seen->address = FR_ADDRESS(task);
	name = BPF_CORE_READ(task, mm, exe_file, f_path.dentry, d_name.name);
	if (name)
		bpf_probe_read_kernel_str(seen->exe, sizeof(seen->exe), name);
	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (fr_rules[i].kind == FR_TRIGGER_rate)
			fr_rate_rule(i, seen);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(fr_rates_fork, struct task_struct *parent, struct task_struct *child)
{
	struct rate_seen seen = {.what = FR_RATE_fork};

	return rate_count(&seen, parent);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(fr_rates_exit, struct task_struct *task)
{
	struct rate_seen seen = {.what = FR_RATE_exit};

	return rate_count(&seen, task);
}

SEC("tp_btf/signal_generate")
int BPF_PROG(fr_rates_signal, int sig, struct kernel_siginfo *info, struct task_struct *task)
{
	struct rate_seen seen = {.what = FR_RATE_signal, .id = sig};

	return rate_count(&seen, task);
}

/* Which calls' errors are counted. Set by user/live/trig/trig.c. */
#define RATE_CALL_WORDS (FR_SYSCALL_MAX / 64)
const volatile u64 fr_rate_call_set[RATE_CALL_WORDS] = {};

FR_INLINE bool rate_is_chosen(u32 nr)
{
	u32 word = nr / 64;

	/* the verifier needs to see the bound that clang takes for known */
	asm volatile("" : "+r"(word));
	return nr < FR_SYSCALL_MAX && fr_rate_call_set[word % RATE_CALL_WORDS] >> nr % 64 & 1;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(fr_rates_error, struct pt_regs *regs, long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct rate_seen seen = {.what = FR_RATE_error};

	if (ret >= 0)
		return 0;
	seen.error = fr_rule_error_of(ret);
	seen.id = fr_syscall_nr(regs);
	if (!seen.error || !rate_is_chosen(seen.id) || fr_syscall_abi(task) != FR_ABI_NATIVE)
		return 0;
	return rate_count(&seen, task);
}

char _license[] SEC("license") = "Dual BSD/GPL";
