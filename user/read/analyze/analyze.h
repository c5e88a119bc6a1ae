/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * analyze: the contents of a snapshot as tables: tasks, CPUs, system calls, waits, block requests, interrupts, page faults,
 * samples. Its input is the rows of one snapshot in merge order. Memory grows with the number of different tasks, calls,
 * stacks, ..., not with the number of events. Where there is no room for more of them (sys/memory.h), tables stop growing: what
 * is in them stays right, all sums count everything, and what has no place in a table is counted in left_out.
 *
 *	window	first to last event considered
 *	rated	the part of it behind the common horizon: only there is every CPU's history complete; rates are computed over it
 *	moment	the last moments around the trigger, in detail
 *
 * base/rows/pair.h decides which events belong together. A filter chooses which events are counted; their partners are looked
 * up among all events of the window.
 */
#ifndef FR_ANALYZE_H
#define FR_ANALYZE_H

#include "base/rows/span.h"
#include "base/set/hist.h"
#include "base/set/tally.h"
#include "read/replay/replay.h"
#include "read/replay/summary.h"
#include "regs.h"

#define FR_AN_IDLE 0u /* number of the idle tasks in the list of tasks */

/* Sums kept for tasks, processes and cgroups alike. */
struct fr_an_sums {
	u64 event_cnt;
	u64 oncpu_ns, rated_oncpu_ns;
	u64 run_cnt;	       /* times it got a CPU */
	u64 preempt_cnt;       /* times it left its CPU though it could have continued */
	u64 offcpu_ns;	       /* off its CPU, until it ran again */
	u64 queued_ns;	       /* of this, runnable and waiting for a CPU */
	u64 blocked_ns;	       /* of this, in D */
	struct fr_hist wakeup; /* from being woken to running */
	bool wakeup_left_out;  /* there was no room for it: wakeup is empty */
	u64 wake_cnt;	       /* times it woke another task */
	u64 migrate_cnt;
	u64 call_cnt, call_ns, error_cnt; /* system calls begun; time in those that ended; those that failed */
	u64 fault_user, fault_kernel;
	u64 io_cnt, io_bytes; /* block I/O begun, as its process sees it */
	u64 sample_cnt;
};

/* The owner of a tid, until a fork gives the tid to another task. */
struct fr_an_task {
	u32 nr; /* in the list */
	u32 tid;
	s32 pid;	  /* -1 unknown */
	const char *comm; /* the last one, comm_len bytes; NULL unknown */
	u32 comm_len;
	u64 cgroup;  /* 0 unknown */
	u64 seen_ns; /* time of the last event by it or naming it */
	struct fr_an_sums sum;
	struct fr_an_state *state; /* internal to the module */
};

#define FR_AN_NO_PROCESS (~0ULL)

/*
 * A process (key: pid, FR_AN_NO_PROCESS unknown), a cgroup (key: its id, 0 unknown), or processes of one program or container
 * (key: a number in the order of their names, 0 unknown).
 */
struct fr_an_group {
	u64 key;
	u32 task_cnt;
	u32 process_cnt;  /* of a program or container: those that are known */
	u32 task;	  /* number of one of its tasks */
	const char *comm; /* of a process or program: name of its first thread, comm_len bytes; NULL: not known */
	u32 comm_len;
	struct fr_an_sums sum;
};

struct fr_an_call {
	u64 key; /* abi << 32 | id */
	s32 id;
	u8 abi;
	u64 enter_cnt, rated_cnt; /* begun */
	u64 exit_cnt;		  /* ended */
	u64 error_cnt;
	struct fr_hist latency; /* of those whose begin is known */
};

struct fr_an_error {
	u64 key;
	s32 id;
	u8 abi;
	u16 errno_nr;
	u64 cnt;
};

/* Time off the CPU, by the state and the situation in which the task left it. */
struct fr_an_reason {
	u64 key;
	u16 state; /* as prev_state of sched_switch */
	u8 in;	   /* enum fr_span_in */
	u8 abi;
	s32 id; /* of the call */
	struct fr_hist offcpu;
};

/* How long tasks waited until this one, or an interrupt, woke them. */
struct fr_an_wait {
	u64 key;
	u8 by;	   /* enum fr_span_by */
	u32 by_nr; /* number of the task in the list, of the interrupt or softirq */
	u32 task;  /* the woken task: its number in the list */
	u64 cnt, offcpu_ns, wakeup_ns;
};

struct fr_an_block {
	u64 key;
	bool io; /* block_io_*: as the process sees it; otherwise block_rq_*: the device's part */
	u32 dev;
	char rw; /* R W D F or N, as in rwbs */
	u64 begin_cnt, rated_cnt, end_cnt, error_cnt, bytes;
	struct fr_hist latency;
};

struct fr_an_irq {
	u64 key; /* number of the interrupt or softirq */
	char name[FR_COMM_SZ + 1];
	u64 begin_cnt, rated_cnt, end_cnt;
	struct fr_hist latency;
};

struct fr_an_sample {
	u64 key;
	u64 ip, stack_id; /* user stack, of samples in user space */
	s32 pid;	  /* of samples in user space, else 0 */
	bool user;
	u64 cnt;
};

#define FR_AN_NOT_KNOWN (~0u) /* for a tid: events are missing */

/* This task had the CPU from ts on. */
struct fr_an_seg {
	u64 ts;
	u32 tid; /* 0 idle, FR_AN_NOT_KNOWN */
};

struct fr_an_cpu {
	bool seen; /* it has events, or a ring */
	u64 horizon_ns;
	u64 event_cnt, switch_cnt;
	u64 busy_ns, idle_ns, rated_busy_ns, rated_idle_ns;
	u64 rated_known_ns; /* it is known who had it, whether that is counted or not */
	u64 irq_ns, softirq_ns;
	u64 call_cnt, fault_cnt;
	struct fr_hist wakeup; /* of tasks that ran here */
	/* the moment: which task ran when; first_known: the first one had been running before */
	struct fr_an_seg *seg;
	u32 seg_cnt, seg_cap;
	bool first_known;
	u32 first_tid;
	struct fr_an_cpu_state *state; /* internal to the module */
};

enum fr_an_did { FR_AN_RUNS, FR_AN_LEAVES, FR_AN_WOKEN };

/* A step in the life of the focus task. */
struct fr_an_step {
	u64 ts;
	u8 did;	    /* enum fr_an_did */
	u8 in, abi; /* LEAVES: as in fr_an_reason */
	u16 cpu;
	u16 state; /* LEAVES */
	s32 id;	   /* LEAVES */
	u8 by;	   /* WOKEN: enum fr_span_by */
	u32 by_nr; /* tid, number of the interrupt or softirq */
};

/* What the task of a chain did at the moment, and so what its first link is. */
enum fr_an_chain {
	FR_AN_CHAIN_RUNS,   /* it ran, or was preempted: what it was woken for */
	FR_AN_CHAIN_SLEEPS, /* it had gone to sleep since: its last wakeup before */
	FR_AN_CHAIN_WAITS,  /* it had been woken, and not run since: ran_ns is 0 */
	FR_AN_CHAIN_ENDED,
};

/* A link of the chain of wakeups: tid was woken by ... */
struct fr_an_wake {
	u32 tid;
	u8 by;
	u32 by_nr; /* tid, number of the interrupt or softirq */
	u64 woken_ns, ran_ns;
};

#define FR_AN_STEP_MAX	64
#define FR_AN_CHAIN_MAX 16
#define FR_AN_LAST_MAX	64

/* The event that a stack of the focus task was taken for. */
enum fr_an_stack {
	FR_AN_STACK_SAMPLE,
	FR_AN_STACK_CRASH,
	FR_AN_STACK_EXIT,
	FR_AN_STACK_HUNG,
	FR_AN_STACK_LATENCY,
};

/* The task that the trigger is about, or that was asked for. */
struct fr_an_focus {
	u32 tid;				/* 0: none */
	u32 pid;				/* the trigger's process, if it is the trigger's task; 0: not known */
	u64 trigger_ns;				/* 0: not known */
	u64 at_ns;				/* the moment: the trigger's, or the window's end if that is outside */
	struct fr_an_step step[FR_AN_STEP_MAX]; /* the last ones, as a ring buffer; step_cnt counts all */
	u64 step_cnt;
	u64 last_ts[FR_AN_LAST_MAX]; /* of events by or about it, as a ring buffer; last_cnt counts all */
	u64 last_cnt;
	struct fr_an_wake chain[FR_AN_CHAIN_MAX]; /* up to at_ns, the task itself first */
	u32 chain_cnt;
	enum fr_an_chain chain_of;
	u64 kstack_id, ustack_id, stack_ns; /* of the last moment with stacks, or else the last sample, 0 none */
	enum fr_an_stack stack_of;
	u64 reg[FR_REGS_MAX]; /* of a stack that is a crash's: its registers (bpf/regs.h) */
	u32 reg_cnt;
};

/* What there may be no room for; the words are those of JSON, and of messages. */
#define FR_AN_LEFT_OUT(X)                                      \
	X(tasks, "tasks") /* first, as the others follow */    \
	X(wakeups, "tasks' times from being woken to running") \
	X(calls, "begins and ends of calls")                   \
	X(errors, "errors of calls")                           \
	X(offcpu, "times off a CPU, by reason")                \
	X(waits, "waits, by waker")                            \
	X(blocks, "begins and ends of block requests")         \
	X(irqs, "begins and ends of interrupts")               \
	X(softirqs, "begins and ends of softirqs")             \
	X(samples, "samples")                                  \
	X(lanes, "switches of the last moments")               \
	X(processes, "tasks in their processes")               \
	X(cgroups, "tasks in their cgroups")                   \
	X(programs, "processes in their programs")             \
	X(containers, "processes in their containers")         \
	X(forgotten, "times that all tasks' calls and waits in progress were forgotten")

#define FR_AN_LEFT_ENUM(name, words) FR_AN_LEFT_##name,
enum fr_an_left { FR_AN_LEFT_OUT(FR_AN_LEFT_ENUM) FR_AN_LEFT_CNT };

/* All tables. Complete after fr_analyze_end(); owned by the analysis. */
struct fr_an_result {
	u64 begin_ns, end_ns; /* window */
	u64 rated_ns;	      /* rates cover [rated_ns, end_ns] */
	u64 horizon_ns;	      /* common */
	u64 moment_begin_ns, moment_end_ns;
	u64 event_cnt, rated_cnt;
	u64 cnt_of[FR_EVENT_MAX], rated_of[FR_EVENT_MAX];
	u32 cpu_cnt; /* cpu[i].seen */
	struct fr_an_cpu *cpu;
	u32 task_cnt;
	struct fr_an_task *const *task;
	struct fr_an_sums all; /* of all tasks but the idle tasks */
	struct fr_hist offcpu, queued, blocked, oncpu;
	struct fr_tally calls, errors, reasons, waits, blocks, irqs, softirqs, samples, processes, cgroups, programs,
		containers;
	bool each_issue; /* completions were cut away: a request that is issued again counts again */
	struct fr_an_focus focus;
	u64 left_out[FR_AN_LEFT_CNT]; /* in no table, for lack of memory */
	u64 left_event_cnt;	      /* events of tasks that were left out */
};

struct fr_analyze; /* opaque */

struct fr_analyze_opts {
	u32 focus_tid; /* 0: the trigger's task */
	u64 moment_ns; /* length of the last moments */
	bool grouped;  /* processes are added up by program and container, too */
};

/*
 * The replay must be of one boot, opened with names, and not begun; it is no longer read once *out is freed. 0 and *out, or
 * -ENOMEM.
 */
int fr_analyze_new(struct fr_replay *r, const struct fr_summary *sum, const struct fr_analyze_opts *opts,
		   struct fr_analyze **out);
void fr_analyze_free(struct fr_analyze *a); /* NULL is fine */

/* The task in focus, 0: none; and its moment. */
u32 fr_analyze_focus(const struct fr_analyze *a, u64 *at_ns);

/* The columns of events that it reads. */
const struct fr_wants *fr_analyze_wants(const struct fr_analyze *a);

/* Process the next rows. 0 or -ENOMEM. */
int fr_analyze_run(struct fr_analyze *a, const struct fr_replay_run *run);

/* Was something left out for lack of memory? Its words, and its name in JSON. */
bool fr_an_left_any(const struct fr_an_result *res);
extern const char *const fr_an_left_words[FR_AN_LEFT_CNT], *const fr_an_left_names[FR_AN_LEFT_CNT];

/* The name of an interrupt's handler, if it had one in the window; NULL: not known. Escape it. */
const char *fr_an_irq_name(const struct fr_an_result *res, u32 nr);

/* End of input: resolve names and groups, sort by time or count. 0 and *out, or -ENOMEM. */
int fr_analyze_end(struct fr_analyze *a, const struct fr_an_result **out);

#endif
