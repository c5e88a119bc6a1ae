/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verdict_int: what recognisers and the other parts of a verdict share.
 *
 * A recogniser looks at a case and, only if it is sure, writes a sentence and returns true. To add one: a function in a
 * recognise_*.c, its entry in the table of recognise.c, a file of tests/verdict/ with one case on which it speaks and five on
 * which it must not, and its line in docs/report.md (made from the table).
 */
#ifndef FR_VERDICT_INT_H
#define FR_VERDICT_INT_H

#include "read/verdict/verdict.h"

#define FR_WORD_CNT 24u
#define FR_WORD_SZ  FR_WAITED_OBJECT_SZ

/* What a case consists of, beside the clues. */
struct fr_case {
	const struct fr_clues *c;
	struct fr_finding *v;
	/*
	 * The wait that the trigger is about: of its task, in what took so long, or what a signal ended; by its record, or else
	 * by the switches of the task. NULL: there is none, or it is not known.
	 */
	const struct fr_waited *wait;
	struct fr_waited by_steps;	/* it, if there is no record */
	struct fr_waited by_rounds;	/* it, if the call had many waits at one place of the kernel: all of these */
	u32 round_cnt;			/* so many, at least; 0: it is not of that kind */
	bool knows_call, is_going;	/* by_steps: in what call it waits; its wait has not ended */
	const char *wait_from;		/* the events that tell of it */
	const struct fr_waited *behind; /* wait is that of whom this one waited for; NULL: it is the trigger's own */
	bool lacks_switch;		/* how long it waited is not known: it ran meanwhile, and no switch to it is there */
	/* words of sentences: the last FR_WORD_CNT are there */
	char word[FR_WORD_CNT][FR_WORD_SZ];
	u32 word_at;
	bool failed; /* for lack of memory */
};

typedef bool (*fr_recognise_fn)(struct fr_case *k);

/* All of these of the same kind: declared here, listed in recognise.c. */
bool fr_recognise_fifo_hog(struct fr_case *k);
bool fr_recognise_fork_storm(struct fr_case *k);
bool fr_recognise_kworker(struct fr_case *k);
bool fr_recognise_killer(struct fr_case *k);
bool fr_recognise_handled_fault(struct fr_case *k);
bool fr_recognise_abort(struct fr_case *k);
bool fr_recognise_wild_call(struct fr_case *k);
bool fr_recognise_signal_code(struct fr_case *k);
bool fr_recognise_broken_pipe(struct fr_case *k);
bool fr_recognise_own_alarm(struct fr_case *k);
bool fr_recognise_heap(struct fr_case *k);
bool fr_recognise_lock_holder(struct fr_case *k);
bool fr_recognise_lock_preempted(struct fr_case *k);
bool fr_recognise_held_back(struct fr_case *k);
bool fr_recognise_lock_convoy(struct fr_case *k);
bool fr_recognise_java_monitor(struct fr_case *k);
bool fr_recognise_orphan_lock(struct fr_case *k);
bool fr_recognise_throttled(struct fr_case *k);
bool fr_recognise_delayed_ack(struct fr_case *k);
bool fr_recognise_unanswered_syn(struct fr_case *k);
bool fr_recognise_full_listener(struct fr_case *k);
bool fr_recognise_retransmit(struct fr_case *k);
bool fr_recognise_large_fork(struct fr_case *k);
bool fr_recognise_accept_spin(struct fr_case *k);
bool fr_recognise_busy_server(struct fr_case *k);
bool fr_recognise_blocked_loop(struct fr_case *k);
bool fr_recognise_many_waits(struct fr_case *k);
bool fr_recognise_call_ran(struct fr_case *k);
bool fr_recognise_in_vain(struct fr_case *k);
bool fr_recognise_spin(struct fr_case *k);
bool fr_recognise_shared_cpu(struct fr_case *k);
bool fr_recognise_own_sleep(struct fr_case *k);
bool fr_recognise_own_timer(struct fr_case *k);
bool fr_recognise_deadlock(struct fr_case *k);
bool fr_recognise_own_threads(struct fr_case *k);
bool fr_recognise_exit_status(struct fr_case *k);
bool fr_recognise_failed_call(struct fr_case *k);
bool fr_recognise_shared_futex(struct fr_case *k);
bool fr_recognise_last_error(struct fr_case *k);
bool fr_recognise_pressure(struct fr_case *k);
bool fr_recognise_signal_storm(struct fr_case *k);
bool fr_recognise_stopped(struct fr_case *k);
bool fr_recognise_resolver(struct fr_case *k);
bool fr_recognise_event_loop(struct fr_case *k);
bool fr_recognise_silent_exit(struct fr_case *k);
bool fr_recognise_flood(struct fr_case *k);
bool fr_recognise_kept_cpu(struct fr_case *k);
bool fr_recognise_place(struct fr_case *k);
bool fr_recognise_oom(struct fr_case *k);
bool fr_recognise_stack_overflow(struct fr_case *k);
bool fr_recognise_null_pointer(struct fr_case *k);
bool fr_recognise_frozen(struct fr_case *k);
bool fr_recognise_database_lock(struct fr_case *k);
bool fr_recognise_reclaim(struct fr_case *k);
bool fr_recognise_silent_peer(struct fr_case *k);
bool fr_recognise_refused(struct fr_case *k);
bool fr_recognise_dead_holder(struct fr_case *k);
bool fr_recognise_forks_refused(struct fr_case *k);
bool fr_recognise_failed_child(struct fr_case *k);

/*
 * The task of another process that ended a wait of w's task for the same as w, which goes on; *ended_ns: the last such end. 0:
 * nobody did, not one process alone ended those of w's process, or it is not known whether they were for the same. Short waits
 * have no record, so that others may have ended later ones (recognise_fs.c).
 */
/* "; who ended a wait of it for that, 3 s before, x/1, has been in read for 2 s": that one; or nothing */
const char *fr_word_only_ender(struct fr_case *k, const struct fr_waited *w);
u32 fr_case_only_ender(const struct fr_case *k, const struct fr_waited *w, u64 *ended_ns);
const char *fr_word_still(struct fr_case *k, const struct fr_still *s); /* "in read on pipe:[1] for 2 s" */
/* "bind with EADDRINUSE"; NULL: it is not known, or the error has no name (recognise_call.c) */
const char *fr_word_failed(struct fr_case *k, const struct fr_clue_failed *f);

const char *fr_word_end(struct fr_case *k,
			const struct fr_clue_end *end); /* " by SIGKILL", " with status 2"; "": neither is known */

/* Does it say what is wrong, as no everyday answer does? */
bool fr_case_is_telling(const struct fr_case *k, const struct fr_clue_failed *f);

/* The first recogniser that is sure writes k->v->cause. */
void fr_case_recognise(struct fr_case *k);
void fr_case_what(struct fr_case *k);	  /* verdict_what.c */
void fr_case_chain(struct fr_case *k);	  /* verdict_chain.c */
void fr_case_rule_out(struct fr_case *k); /* verdict_chain.c */

/* ---- sentences (verdict.c) ---- */

/* from: names of events. */
void fr_case_cause(struct fr_case *k, const char *from, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void fr_case_link(struct fr_case *k, const char *from, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void fr_case_not(struct fr_case *k, const char *from, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Words for them: each escapes what is not the program's own. */
const char *fr_word(struct fr_case *k, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));		      /* as it is, of such words */
const char *fr_word_who(struct fr_case *k, u32 tid, u64 ts);  /* comm/tid */
const char *fr_word_comm(struct fr_case *k, u32 tid, u64 ts); /* comm */
const char *fr_word_ns(struct fr_case *k, u64 ns);
const char *fr_word_cnt(struct fr_case *k, u64 cnt);
const char *fr_word_when(struct fr_case *k, u64 ts); /* wall time of day, or how long before the trigger */
const char *fr_word_text(struct fr_case *k, const char *text, size_t len);
/* " or more": behind a number of a tracepoint's events since from_ns, where some may be missing (base/tp/rare.def has rates) */
const char *fr_word_or_more(const struct fr_case *k, const char *tracepoint, u64 from_ns);
const char *fr_word_call(struct fr_case *k, const struct fr_waited *w);	  /* "in futex", "in user code", "in the kernel" */
const char *fr_word_object(struct fr_case *k, const struct fr_waited *w); /* " on futex 0x..", or nothing */
const char *fr_word_rounds(struct fr_case *k, const struct fr_waited *w); /* ", 11 times or more", of by_rounds; or nothing */
const char *fr_word_owner(struct fr_case *k, const struct fr_waited *w);  /* " held by x/1", or nothing */
const char *fr_word_place(struct fr_case *k, const struct fr_waited *w);  /* "a < b < c": kernel functions; "": not known */
const char *fr_word_frames(struct fr_case *k, u32 tid, u64 ts, u64 ustack_id); /* "a < b < c": user functions; "": not known */
/* " (otherwise it waits in epoll_wait, as an event loop: that stood still meanwhile)", of a wait that is no part of that; or
 * nothing */
const char *fr_word_loop(struct fr_case *k, const struct fr_waited *w);
const char *fr_word_ender(struct fr_case *k, const struct fr_waited *w); /* "woken by x/1", "ended by a timer" */

/* "; x/1 is stopped (T), by SIGSTOP of y/2": what may be why w goes on; "": nothing. *from: of which events, behind others */
const char *fr_word_stopped(struct fr_case *k, const struct fr_waited *w, const char **from);
/* "; SIGSTOP of x/1 came right before that": of a stop by a tracer; "": nothing. *from: likewise */
const char *fr_word_tracer(struct fr_case *k, const struct fr_waited *w, const char **from);
/* "cgroup /x, whose limit is 60 MiB, ...": in which memory ran out, so that v was chosen; "": in none, or it is not known */
const char *fr_word_oom_cgroup(struct fr_case *k, const struct fr_clue_victim *v);
/*
 * What the kernel logged of its choice of v: "; of the 3 processes that the kernel listed, x/1 had most: 2 MiB", or nothing;
 * and of whose memory: "cgroup /x, whose limit is 60 MiB", "the host", or "" (recognise_oom.c).
 */
const char *fr_word_oom_logged(struct fr_case *k, const struct fr_clue_victim *v, const char **whose);
/* "cgroup /x ran into its limit of 60 MiB 3 times in ...": that of a task, or one around it; "": none did, or it is not known
 */
const char *fr_word_cgroup_limit(struct fr_case *k, u32 tid, u64 ts);
/* "forks were refused in cgroup /x, 3 or more in ..., by its limit of tasks or that of one around it": likewise */
const char *fr_word_cgroup_pids(struct fr_case *k, u32 tid, u64 ts);
/* "; of 40 MiB that sda was asked to write in the 1 s before, x/1 asked for 39 MiB": not who waits; or nothing */
const char *fr_word_writer(struct fr_case *k, u64 to_ns);

/* "; for 127 ms of that a thread of its process was stopped in task work, throttled ...": of a tenth or more; or nothing */
const char *fr_word_throttled(struct fr_case *k, s32 pid, u64 from_ns, u64 to_ns);
/* "; or it was throttled ...": of a task that was queued, beside who had its CPU; or nothing */
const char *fr_word_throttle_doubt(const struct fr_case *k);
/* ", 1,580 of them by x": of the processes that were started in a time, half or more by one program; or nothing */
const char *fr_word_forker(struct fr_case *k, u64 from_ns, u64 to_ns);

/*
 * "grep (439 tasks) 819 ms, awk (450 tasks) 649 ms, others less": who had the CPUs most, as far as that is known; *all_ns: of
 * so long, *idle_ns: they were idle; "": nobody, or it is not known at all.
 */
const char *fr_word_users(struct fr_case *k, u64 from_ns, u64 to_ns, u64 *all_ns, u64 *idle_ns);

/* ---- what several ask ---- */

/* Is it about a span that may have begun in another thread? What the one that ended it did meanwhile says nothing then. */
bool fr_case_is_shared_span(const struct fr_case *k);

/* Is the rule about the time from its waking on alone? How long it slept before that, and what for, is no question then. */
bool fr_case_asks_for_queue(const struct fr_case *k);

/* Was the time that is asked for spent mostly in waiting for a CPU? Then [*from_ns, *to_ns). */
bool fr_case_is_queued(const struct fr_case *k, u64 *from_ns, u64 *to_ns);

/* Who had a CPU most in this time, but for idle; no: it is not known. */
bool fr_case_top_user(struct fr_case *k, u32 cpu, u64 from_ns, u64 to_ns, struct fr_clue_use *out);

/* The wait that kept a waker busy for most of the wait that it ended; NULL: none. */
const struct fr_waited *fr_case_wait_of_waker(const struct fr_case *k, const struct fr_waited *w);

/* Who ended the wait, or one that it was for, and did not sleep meanwhile, but had a CPU or wanted one; 0: nobody. */
u32 fr_case_busy_waker(struct fr_case *k);

/* Waits of w's waker in one call, while w waited. */
struct fr_turns {
	u32 tid, cnt;
	u64 ns, all_ns; /* these, within w's time; that */
	u64 longest_ns; /* likewise, of the one that took most of it */
	const struct fr_waited *longest;
};

/* The call in which a waker waited several times, half of the time or more. False: there is none, or it is not known. */
bool fr_case_turns(struct fr_case *k, const struct fr_waited *w, struct fr_turns *out);

/* The signal that ended a wait, of which its sender is the waker; NULL: none is known. */
const struct fr_clue_signal *fr_case_ended_by_signal(const struct fr_case *k, const struct fr_waited *w);
/* Is a signal what it waited for? */
bool fr_case_is_for_signal(const struct fr_case *k, const struct fr_waited *w);

/* Samples of a task, or of a program, in a time. */
struct fr_whose {
	u32 tid;     /* 0: of the program */
	u64 program; /* fr_clues_program() */
	u64 from_ns, to_ns;
};

/* What a sample counts for: a name; NULL: nothing. */
typedef const char *(*fr_sample_fn)(const struct fr_clues *c, const struct fr_clue_sample *s);

const char *fr_sample_work(const struct fr_clues *c, const struct fr_clue_sample *s);	  /* the work of a kernel worker */
const char *fr_sample_function(const struct fr_clues *c, const struct fr_clue_sample *s); /* the program's, innermost */
const char *fr_sample_softirq(const struct fr_clues *c, const struct fr_clue_sample *s);  /* NET_RX, ... */
const char *fr_sample_call(const struct fr_clues *c, const struct fr_clue_sample *s);	  /* the system call that it is in */

/* What most of the samples count for, *cnt of *all; NULL: none counts. */
const char *fr_case_hot(struct fr_case *k, const struct fr_whose *who, fr_sample_fn name_of, u32 *cnt, u32 *all);

/* A rule on pressure for memory: the program that freed most of it, or the cgroup at its limit. */
bool fr_case_tell_reclaim(struct fr_case *k);

/* Does it wait for a file system to be thawed? */
bool fr_case_is_frozen(struct fr_case *k, const struct fr_waited *w);

/* Is it for a TCP connection within the host? */
bool fr_case_is_local_tcp(const struct fr_waited *w);

/* A wait of another process at the other end of w's TCP connection, or of its listener; NULL: it is not known. */
const struct fr_waited *fr_case_served_by(const struct fr_case *k, const struct fr_waited *w);

bool fr_case_is_at_peer(const struct fr_waited *of, const struct fr_waited *w);
/* In a call in which it waits for its next work? That is no reason why somebody waits for it. */
bool fr_case_is_for_work(const struct fr_case *k, const struct fr_waited *w);
u32 fr_case_peer(const struct fr_case *k, const struct fr_waited *w); /* who waited last at the other end of it; 0: not known */
/* A futex of its process's own, without a time-out: only one of its threads can end that. */
bool fr_case_is_own_futex(const struct fr_case *k, const struct fr_waited *w);
u32 fr_case_asked(const struct fr_case *k, const struct fr_waited *w); /* who got there what w's task sent; 0: likewise */
u32 fr_case_still_at_peer(const struct fr_case *k, const struct fr_waited *w); /* who stands still there; 0: likewise */
/* How long the tasks of a process had a CPU, and how long all had (*all_ns); 0: nobody did, or it is not known. */
u64 fr_case_process_ran_ns(struct fr_case *k, s32 pid, u64 from_ns, u64 to_ns, u64 *all_ns);
/* May it have waited for another process of the host, of which it is not known: in poll() for what is not recorded, ...? */
bool fr_case_is_for_untold(const struct fr_case *k, const struct fr_waited *w);
/* Has one event loop of the host stood still in another call, while it waits for what is not recorded? */
bool fr_case_has_stuck_loop(struct fr_case *k, const struct fr_waited *w);
/* Was it stopped by a signal or a tracer, or frozen, whatever it waited for? */
bool fr_case_stands_still(const struct fr_case *k, const struct fr_waited *w);
/* For too short a time to be why w goes on? Who is under a tracer stands still at each of its calls, for moments. */
bool fr_case_stood_briefly(const struct fr_waited *still, const struct fr_waited *w);

/*
 * For whom a wait goes on that nobody has ended, and how that one waits itself: who has the lock, the child that it waits for,
 * who is at the other end of its connection. False: it is not known, or that one does not wait.
 */
bool fr_case_goes_on_for(const struct fr_case *k, const struct fr_waited *w, struct fr_still *out);

/*
 * How the only living child of a process waits, which may be whom it waits for: it reads a pipe that it has opened, or polls
 * for what is not recorded. False: there are several, or none, or that one does not wait.
 */
bool fr_case_only_child(const struct fr_case *k, const struct fr_waited *w, struct fr_still *out);

/* Those that a walk by it has come to: they may wait for each other. */
struct fr_seen {
	u32 tid[FR_VERDICT_LINK_MAX], cnt;
};

bool fr_seen_add(struct fr_seen *s, u32 tid); /* false: it is one of them, or there is no room */

/* A fact of the file that is a number; `otherwise` where it has none. */
s64 fr_case_fact(const struct fr_case *k, const char *name, s64 otherwise);

#define FR_RT_PRIO_CNT 100 /* below it, the kernel's priorities are of real time */

#endif
