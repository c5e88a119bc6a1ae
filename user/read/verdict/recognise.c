/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise: the table of rules of thumb. The first one that is sure has the word, so those that are surest come first. */
#include "read/verdict/verdict_int.h"

static const struct {
	const char *name, *meaning;
	fr_recognise_fn fn;
} table[] = {
	{"orphan_lock", "a lock that nobody of the process can release", fr_recognise_orphan_lock},
	{"killed", "another process sent the signal that ended it", fr_recognise_killer},
	{"out_of_memory", "memory ran out, and the kernel chose it", fr_recognise_oom},
	{"stack_overflow", "its stack overflowed by a function that calls itself", fr_recognise_stack_overflow},
	{"null_pointer", "it followed a pointer that is not set", fr_recognise_null_pointer},
	{"heap", "the C library found its heap damaged", fr_recognise_heap},
	{"handled_fault", "a fault that the program handles itself, as runtimes do, and that became its end",
	 fr_recognise_handled_fault},
	{"lock_holder_waited", "a thread waited while it held the lock that others needed", fr_recognise_lock_holder},
	{"lock_holder_preempted", "a thread that held the lock that others needed had no CPU", fr_recognise_lock_preempted},
	{"idle_transaction", "a session of a database is idle in a transaction, and others wait for a lock",
	 fr_recognise_database_lock},
	{"frozen_file_system", "the file system is frozen", fr_recognise_frozen},
	{"stopped", "it, or whom it waited for, was stopped by a signal", fr_recognise_stopped},
	{"kernel_place", "it waited in a place of the kernel that tells for what", fr_recognise_place},
	{"delayed_ack", "small writes, held back until a delayed acknowledgment", fr_recognise_delayed_ack},
	{"unanswered_syn", "a connect within the host whose first SYN was dropped, as by a full listen queue",
	 fr_recognise_unanswered_syn},
	{"retransmit", "data within the host that arrived by a timer only, as after a loss", fr_recognise_retransmit},
	{"signal_storm", "signals by the thousand", fr_recognise_signal_storm},
	{"large_fork", "a process with much memory forked: its page tables are copied", fr_recognise_large_fork},
	{"throttled", "the CPU quota of its cgroup was used up", fr_recognise_throttled},
	{"real_time_hog", "a task of real-time priority had the CPU", fr_recognise_fifo_hog},
	{"kernel_worker", "a kernel worker had the CPU: its work", fr_recognise_kworker},
	{"kept_cpu", "a task kept the CPU without a break", fr_recognise_kept_cpu},
	{"packet_flood", "a program had the CPUs with packets that it sends within the host", fr_recognise_flood},
	{"fork_storm", "a program started processes by the hundred, and these had the CPUs", fr_recognise_fork_storm},
	{"accept_spin", "accept() in vain and without end, as at the limit of open files", fr_recognise_accept_spin},
	{"resolver", "a time-out of poll() that is the C library's resolver's", fr_recognise_resolver},
	{"busy_server", "whom it waited for had a CPU all the time", fr_recognise_busy_server},
	{"event_loop_ended", "its event loop ended, and so did the process", fr_recognise_event_loop},
};

void fr_case_recognise(struct fr_case *k)
{
	u32 i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]) && !k->v->cause_id; i++)
		if (table[i].fn(k))
			k->v->cause_id = table[i].name;
}

const char *fr_verdict_cause_name(u32 i, const char **meaning)
{
	if (i >= sizeof(table) / sizeof(table[0]))
		return NULL;
	if (meaning)
		*meaning = table[i].meaning;
	return table[i].name;
}
