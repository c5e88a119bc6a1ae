/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise: the table of rules of thumb. The first one that is sure has the word, so those that are surest come first. */
#include <stdio.h>

#include "read/verdict/verdict_int.h"

/*
 * What it looks at: more of the trigger than its wait; or the wait alone, so that one of whom the task waited for will do, too;
 * and, beside that, who had the CPU that the task waited for, whatever that had slept for before. OF_CPU: it tells who had
 * that, which is not why the task did not run if it was not allowed to.
 */
enum { OF_TRIGGER = 0, OF_WAITS = 1, OF_QUEUE = 2, OF_CPU = 4 };

static const struct {
	const char *name, *meaning;
	fr_recognise_fn fn;
	u32 of; /* OF_... */
} table[] = {
	{"orphan_lock", "a lock that nobody of the process can release", fr_recognise_orphan_lock, OF_TRIGGER},
	{"dead_holder", "a lock that processes share, of which one has died", fr_recognise_dead_holder, OF_TRIGGER},
	{"deadlock", "the threads of a process wait for each other", fr_recognise_deadlock, OF_TRIGGER},
	{"killed", "another process sent the signal that ended it, or did what the kernel sent that for", fr_recognise_killer,
	 OF_TRIGGER},
	{"out_of_memory", "memory ran out, and the kernel chose it", fr_recognise_oom, OF_TRIGGER},
	{"stack_overflow", "its stack overflowed by functions that call themselves or each other", fr_recognise_stack_overflow,
	 OF_TRIGGER},
	{"null_pointer", "it followed a pointer that is not set", fr_recognise_null_pointer, OF_TRIGGER},
	{"heap", "the C library found its heap damaged", fr_recognise_heap, OF_TRIGGER},
	{"handled_fault", "a fault that the program handles itself, as runtimes do, and that became its end",
	 fr_recognise_handled_fault, OF_TRIGGER},
	{"abort", "it aborted itself: the C or C++ library's function says why", fr_recognise_abort, OF_TRIGGER},
	{"wild_call", "it went on where there is no code: a wrong function pointer", fr_recognise_wild_call, OF_TRIGGER},
	{"signal_code", "the signal's code says what it did", fr_recognise_signal_code, OF_TRIGGER},
	{"broken_pipe", "it wrote where nobody reads any more", fr_recognise_broken_pipe, OF_TRIGGER},
	{"own_alarm", "a timer that it had set ended it", fr_recognise_own_alarm, OF_TRIGGER},
	{"exit_status", "its exit status says why, by convention", fr_recognise_exit_status, OF_TRIGGER},
	{"refused", "a connection of it was refused or reset just before it ended", fr_recognise_refused, OF_TRIGGER},
	{"failed_call", "a call of it failed right before it ended with an error", fr_recognise_failed_call, OF_TRIGGER},
	{"forks_refused", "forks were refused around its end, by a limit of tasks of its cgroup or one around it",
	 fr_recognise_forks_refused, OF_TRIGGER},
	{"last_error", "the last call of it that failed for a lack, a limit or a peer, right before it ended with an error",
	 fr_recognise_last_error, OF_TRIGGER},
	{"failed_child", "a process that it had started failed right before it ended with an error", fr_recognise_failed_child,
	 OF_TRIGGER},
	{"lock_holder_waited", "a thread waited while it held the lock that others needed", fr_recognise_lock_holder, OF_WAITS},
	{"lock_holder_preempted", "a thread that held the lock that others needed had no CPU", fr_recognise_lock_preempted,
	 OF_WAITS},
	{"lock_convoy", "many threads waited for one lock, and each had it for a moment", fr_recognise_lock_convoy, OF_WAITS},
	{"java_monitor", "a monitor of Java, which another thread has", fr_recognise_java_monitor, OF_WAITS},
	{"idle_transaction", "a session of a database is idle in a transaction, and others wait for a lock",
	 fr_recognise_database_lock, OF_TRIGGER},
	{"frozen_file_system", "the file system is frozen", fr_recognise_frozen, OF_WAITS},
	{"stopped", "it, or whom it waited for, was stopped by a signal", fr_recognise_stopped, OF_WAITS},
	{"reclaim", "it had to free memory itself, of a cgroup or of the host", fr_recognise_reclaim, OF_WAITS},
	{"held_back", "it waited for a disk that did not have its request, as where a cgroup's I/O is limited",
	 fr_recognise_held_back, OF_WAITS},
	{"kernel_place", "it waited in a place of the kernel that tells for what", fr_recognise_place, OF_WAITS},
	{"delayed_ack", "small writes, held back until a delayed acknowledgment", fr_recognise_delayed_ack, OF_WAITS},
	{"unanswered_syn", "a connect whose first SYN was not answered, as by a full listen queue", fr_recognise_unanswered_syn,
	 OF_WAITS},
	{"retransmit", "TCP sent data again, or data within the host arrived by a timer only, as after a loss",
	 fr_recognise_retransmit, OF_WAITS},
	{"signal_storm", "signals by the thousand", fr_recognise_signal_storm, OF_QUEUE},
	{"large_fork", "a process with much memory forked: its page tables are copied", fr_recognise_large_fork, OF_TRIGGER},
	{"throttled", "the CPU quota of its cgroup was used up", fr_recognise_throttled, OF_WAITS | OF_QUEUE},
	{"real_time_hog", "a task of real-time priority had the CPU", fr_recognise_fifo_hog, OF_WAITS | OF_QUEUE | OF_CPU},
	{"kernel_worker", "a kernel worker had the CPU: its work", fr_recognise_kworker, OF_WAITS | OF_QUEUE | OF_CPU},
	{"kept_cpu", "a task kept the CPU without a break", fr_recognise_kept_cpu, OF_WAITS | OF_QUEUE | OF_CPU},
	{"packet_flood", "a program had the CPUs with packets that it sends within the host", fr_recognise_flood,
	 OF_QUEUE | OF_CPU},
	{"fork_storm", "a program started processes by the hundred, and these had the CPUs", fr_recognise_fork_storm,
	 OF_WAITS | OF_QUEUE | OF_CPU},
	{"shared_cpu", "others had the CPU for which it waited", fr_recognise_shared_cpu, OF_WAITS | OF_QUEUE | OF_CPU},
	{"accept_spin", "accept() in vain and without end, as at the limit of open files", fr_recognise_accept_spin,
	 OF_TRIGGER},
	{"call_ran", "a call that did not wait: what the kernel did in it", fr_recognise_call_ran, OF_TRIGGER},
	{"spin", "it does not sleep: what it does instead", fr_recognise_spin, OF_TRIGGER},
	{"resolver", "a time-out of poll() that is the C library's resolver's", fr_recognise_resolver, OF_WAITS},
	{"busy_server", "whom it waited for had a CPU all the time", fr_recognise_busy_server, OF_TRIGGER},
	{"many_waits", "whom it waited for had many waits, one after the other", fr_recognise_many_waits, OF_TRIGGER},
	{"own_sleep", "it, or whom it waited for, slept as long as it had asked for", fr_recognise_own_sleep, OF_WAITS},
	{"own_timer", "whom it waited for answered only after a timer of its own", fr_recognise_own_timer, OF_WAITS},
	{"in_vain", "what it waited for did not come, and a signal ended the wait", fr_recognise_in_vain, OF_TRIGGER},
	{"own_threads", "it waits for a thread of its own process: what these do", fr_recognise_own_threads, OF_TRIGGER},
	{"shared_futex", "what processes wait for of each other: what the other one does", fr_recognise_shared_futex,
	 OF_TRIGGER},
	{"full_listener", "a listen queue of the host was full, while it waited in vain", fr_recognise_full_listener,
	 OF_TRIGGER},
	{"blocked_loop", "an event loop of the host stood still, while it waited in vain", fr_recognise_blocked_loop,
	 OF_TRIGGER},
	{"silent_peer", "what it waited for did not come from the other end of its connection", fr_recognise_silent_peer,
	 OF_WAITS},
	{"event_loop_ended", "its event loop ended, and so did the process", fr_recognise_event_loop, OF_TRIGGER},
	{"silent_exit", "it ended by itself, with success, and none of its threads had work", fr_recognise_silent_exit,
	 OF_TRIGGER},
	{"pressure", "a rule on pressure: who had the CPUs, or waited for memory or a disk", fr_recognise_pressure, OF_TRIGGER},
};

static void recognise_add(struct fr_case *k, const char *words)
{
	size_t len = strlen(k->v->cause.text);

	snprintf(k->v->cause.text + len, sizeof(k->v->cause.text) - len, "%s", words);
}

static void recognise_ask(struct fr_case *k, bool of_waits)
{
	bool of_queue = fr_case_asks_for_queue(k);
	u32 i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]) && !k->v->cause_id; i++) {
		if ((of_waits && !(table[i].of & OF_WAITS)) || (of_queue && !(table[i].of & OF_QUEUE)) || !table[i].fn(k))
			continue;
		k->v->cause_id = table[i].name;
		if (table[i].of & OF_CPU)
			recognise_add(k, fr_word_throttle_doubt(k));
	}
}

/* What kept whom the task waited for is the cause of its wait, too: the same rules, from waker to waker. */
static void recognise_behind(struct fr_case *k)
{
	const struct fr_waited *first = k->wait, *of = first;
	const char *from = k->wait_from;
	u32 i;

	/* who sent the signal that ended it is not whom it waited for */
	if (first && first->waker == FR_WAKER_task && !fr_case_is_for_signal(k, first) && fr_case_ended_by_signal(k, first))
		return;
	for (i = 1; i < FR_VERDICT_LINK_MAX && of && !k->v->cause_id && of->waker == FR_WAKER_task && of->waker_pid; i++) {
		k->behind = of;
		of = of->queued_ns < of->off_ns / 2 ? fr_case_wait_of_waker(k, of) : NULL;
		if (!of || of->tid == first->tid)
			break;
		k->wait = of;
		k->wait_from = "wait";
		recognise_ask(k, true);
	}
	if (first && k->v->cause_id) {
		recognise_add(k, fr_word(k, "; %s waited for that, until %s woke it", fr_word_comm(k, first->tid, first->ts),
					 fr_word_who(k, first->waker_pid, fr_waited_woken_ns(first))));
	}
	k->wait = first;
	k->wait_from = from;
	k->behind = NULL;
}

/* The same of a wait that goes on: what those wait for who have to end it. */
static void recognise_ahead(struct fr_case *k)
{
	const struct fr_waited first = k->by_steps;
	const char *from = k->wait_from;
	struct fr_seen seen = {0};
	struct fr_still s;

	while (seen.cnt + 1 < FR_VERDICT_LINK_MAX && !k->v->cause_id && fr_case_goes_on_for(k, k->wait, &s) &&
	       fr_seen_add(&seen, s.wait.tid)) {
		k->by_steps = s.wait;
		k->wait_from = "states";
		recognise_ask(k, true);
	}
	if (k->v->cause_id) {
		recognise_add(k, fr_word(k, "; %s waits for that", fr_word_comm(k, first.tid, first.ts)));
	}
	k->by_steps = first;
	k->wait_from = from;
}

/* Where it is not recorded for whom that is: what the only process waits for that it has started, or that one's, and so on. */
static void recognise_child(struct fr_case *k)
{
	const struct fr_waited first = k->by_steps;
	struct fr_waited w = first;
	const char *from = k->wait_from;
	struct fr_seen seen = {0};
	struct fr_still s;

	while (!k->v->cause_id && fr_case_only_child(k, &w, &s) && fr_seen_add(&seen, s.wait.tid)) {
		k->by_steps = w = s.wait;
		k->wait_from = "states";
		recognise_ask(k, true);
	}
	k->by_steps = first;
	k->wait_from = from;
	if (k->v->cause_id)
		recognise_add(k,
			      fr_word(k, "; %s, which had started %s, may wait for that", fr_word_who(k, first.tid, first.ts),
				      seen.cnt > 1 ? fr_word(k, "what started %s", fr_word_who(k, w.tid, w.ts))
						   : fr_word_who(k, w.tid, w.ts)));
}

void fr_case_recognise(struct fr_case *k)
{
	recognise_ask(k, false);
	if (k->v->cause_id || fr_case_asks_for_queue(k))
		return;
	if (k->wait && k->wait == &k->by_steps && k->is_going) {
		recognise_ahead(k);
		if (!k->v->cause_id)
			recognise_child(k);
	} else {
		recognise_behind(k);
	}
}

const char *fr_verdict_cause_name(u32 i, const char **meaning)
{
	if (i >= sizeof(table) / sizeof(table[0]))
		return NULL;
	if (meaning)
		*meaning = table[i].meaning;
	return table[i].name;
}
