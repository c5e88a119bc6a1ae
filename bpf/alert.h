/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * alert: what BPF and user space share about triggers. Pure.
 *
 *	something happens	a program of bpf/trigger/ decides that a rule's condition holds: it writes the moment to the
 *				life tier (crash, latency, hung, kernel_report; an exit, an OOM kill and an event are there
 *				anyway), counts it in the rule's slot, and puts an fr_alert into the queue
 *	the recorder wakes	it matches the rule's filters, asks the gate (cooldown, quota, ...), writes the decision to
 *				the life tier as event `trigger`, counts it in the slot, and takes the snapshot or not
 *
 * The queue and the slots are pinned with the session: what happens while no recorder lives waits for the next one.
 * A moment that floods (a latency rule that holds a million times a second) is written and alerted once per the rule's gap, and
 * counted each time. Users have gaps of their own, so that one's flood does not hide another's moment.
 */
#ifndef FR_ALERT_H
#define FR_ALERT_H

#include "event.h"

#define FR_TRIGGER_MAX	    32u
#define FR_TRIGGER_TEXT_MAX 256u
#define FR_ALERT_FRAME_MAX  64u /* of each stack */
#define FR_ALERT_PATH_MAX   256u
#define FR_ALERT_QUEUE_SZ   (512u << 10) /* a power of two; some 300 alerts wait in it */
#define FR_LAT_GAP_NS	    10000000ULL	 /* between two alerts of one latency or event rule; hung: of pauses that have ended */
#define FR_GAP_BITS	    3
#define FR_GAP_CNT	    (1u + (1u << FR_GAP_BITS)) /* gaps of a rule: root's, and those of other users (fr_gap_of()) */
#define FR_KERNEL_GAP_NS    1000000000ULL /* of a kernel rule: a report has many lines, and the console may be slow */

/*
 * What pulls a trigger, an entry each: number; name in `--on` and in the trigger event's reason (at most 8 bytes); what follows
 * the name in `--on`: ARG_arg() of user/base/trigger/trigger_kind.c reads it, none: nobody writes this name; what it may have
 * (enum fr_trigger_has); the least time between two alerts of a rule, 0: each is reported; meaning. Both `exit` and `status`
 * are written `exit` in --on: with a status it is a process that ends, without one the recorder.
 *
 * Programs of bpf/trigger/ that are named fr_NAME_* are loaded for the rules of this kind; one whose name ends in _look is
 * an iterator over tasks. Ends of processes are all reported, whatever caused them: each may be the one.
 */
/* clang-format off */
#define FR_TRIGGERS(T) \
	T(1, crash,   crash,   FR_HAS_TASK | FR_HAS_SAME,	       0, "a process dies of a signal") \
	T(2, status,  none,    FR_HAS_TASK | FR_HAS_SAME,	       0, "a process ends with a status") \
	T(3, oom,     no,      FR_HAS_TASK | FR_HAS_SAME,	       0, "the out-of-memory killer chose a victim") \
	T(4, hung,    time,    FR_HAS_TASK | FR_HAS_KEY | FR_HAS_LOOK, FR_LAT_GAP_NS, "a task has not run for too long") \
	T(5, latency, latency, FR_HAS_TASK | FR_HAS_KEY,	       FR_LAT_GAP_NS, "something took too long") \
	T(6, event,   event,   FR_HAS_OWNER | FR_HAS_POST | FR_HAS_KEY, FR_LAT_GAP_NS, "an event matched an expression") \
	T(7, kernel,  no,      FR_HAS_POST | FR_HAS_SAME,	       FR_KERNEL_GAP_NS, "the kernel reports an error of its own") \
	T(8, psi,     psi,     FR_HAS_POST,			       0, "tasks stall for want of a resource") \
	T(9, signal,  no,      FR_HAS_PULL,			       0, "SIGUSR1 to the recorder") \
	T(10, exit,   exit,    FR_HAS_LAST,			       0, "the recorder ends") \
	T(11, every,  every,   FR_HAS_LAST | FR_HAS_MAX | FR_HAS_WAIT, 0, "the time has come") \
	T(12, command, no,     FR_HAS_PULL,			       0, "the dump command") \
	T(13, end,    none,    0,				       0, "the recorded command ended") \
	T(14, holdoff, time,   FR_HAS_COMM | FR_HAS_COOL | FR_HAS_SAME, 0, "`flightrec watch` found that a CPU was not to be had") \
	T(15, asleep, time,    FR_HAS_TASK | FR_HAS_KEY | FR_HAS_LOOK, FR_LAT_GAP_NS, "a task waits for too long") \
	T(16, busy,   time,    FR_HAS_TASK | FR_HAS_KEY | FR_HAS_LOOK, FR_LAT_GAP_NS, "a task has not slept for too long") \
	T(17, rate,   rate,    FR_HAS_TASK | FR_HAS_KEY,	       0, "more of something in a time than a rule allows")

/* What latency:WHAT measures: what follows the name in `--on`, as examples have it (a time, or a name and a time), from and to. */
#define FR_LATENCIES(L) \
	L(0, wakeup,  ">10ms", "sched_waking to the task running") \
	L(1, offcpu,  ">10ms", "a task leaving its CPU to running again") \
	L(2, syscall, ">10ms", "sys_enter to sys_exit, of one call or of all") \
	L(3, block,   ">10ms", "block_rq_issue to block_rq_complete") \
	L(4, softirq, ">10ms", "softirq_entry to softirq_exit") \
	L(5, irq,     ">10ms", "irq_handler_entry to irq_handler_exit") \
	L(6, span,    ":",     "flightrec_begin() to flightrec_end() of one name and id")

/* What rate:WHAT counts: as a sentence has it, and whose each is. */
#define FR_RATES(R) \
	R(0, fork,   "tasks were made", "the task that makes it") \
	R(1, exit,   "tasks ended",     "the task that ends") \
	R(2, signal, "signals were sent", "the task that it is sent to") \
	R(3, error,  "calls failed",    "the task that calls")

/* What became of a moment: written to the trigger event and counted in the rule's slot. */
#define FR_VERDICTS(V) \
	V(0, taken,    "a snapshot was asked for") \
	V(1, filtered, "not what the rule is for") \
	V(2, dedupe,   "the same (reason, exe, user, signal and ip, or status and name; and the stack) had its snapshot less than the cooldown ago") \
	V(3, cooldown, "the rule's last snapshot is younger than its cooldown") \
	V(4, max,      "the rule has had its max=N/T") \
	V(5, storm,    "all rules together have had their StormCount= in StormTime=, and this one is among them") \
	V(6, busy,     "another snapshot was waiting or being taken: it has this moment too") \
	V(7, space,    "no room for a snapshot: quota or free space") \
	V(8, failed,   "the snapshot could not be written")
/* clang-format on */

/* What a rule of a kind may have: filters, options, and what else its kind decides. */
enum fr_trigger_has {
	FR_HAS_COMM = 1 << 0,	/* comm= */
	FR_HAS_FILTER = 1 << 1, /* exe=, cgroup=, uid= */
	FR_HAS_OWNER = 1 << 2,	/* its moments are a task's, which has a share of the snapshots */
	FR_HAS_WAIT = 1 << 3,	/* post= */
	FR_HAS_LAST = 1 << 4,	/* last= */
	FR_HAS_MAX = 1 << 5,	/* max= */
	FR_HAS_PAUSE = 1 << 6,	/* cooldown= */
	FR_HAS_COOLS = 1 << 7,	/* has a cooldown if none is given */
	FR_HAS_KEY = 1 << 8,	/* dedupe= */
	FR_HAS_DEDUPE = 1 << 9, /* dedupe=yes unless it is said */
	FR_HAS_LOOK = 1 << 10,	/* the recorder looks at all tasks (an iterator), each quarter of its T */

	FR_HAS_SAME = FR_HAS_KEY | FR_HAS_DEDUPE,
	FR_HAS_PULL = FR_HAS_WAIT | FR_HAS_LAST | FR_HAS_MAX | FR_HAS_PAUSE,
	FR_HAS_COOL = FR_HAS_LAST | FR_HAS_MAX | FR_HAS_PAUSE | FR_HAS_COOLS,
	FR_HAS_POST = FR_HAS_COOL | FR_HAS_WAIT,
	FR_HAS_TASK = FR_HAS_COMM | FR_HAS_FILTER | FR_HAS_OWNER | FR_HAS_POST,
};

enum fr_trigger_kind {
#define T(nr, name, arg, has, gap_ns, doc) FR_TRIGGER_##name = nr,
	FR_TRIGGERS(T)
#undef T
		FR_TRIGGER_KIND_CNT
};

enum fr_latency {
#define L(nr, name, follows, doc) FR_LATENCY_##name = nr,
	FR_LATENCIES(L)
#undef L
		FR_LATENCY_CNT
};

enum fr_rate_what {
#define R(nr, name, doc, whose) FR_RATE_##name = nr,
	FR_RATES(R)
#undef R
		FR_RATE_CNT
};

enum fr_trigger_verdict {
#define V(nr, name, doc) FR_TRIGGER_VERDICT_##name = nr,
	FR_VERDICTS(V)
#undef V
		FR_TRIGGER_VERDICT_CNT
};

/* A rule as BPF needs it. User space fills it before load and never changes it: a reload loads programs of a new generation. */
struct fr_trigger_rule {
	u32 kind;     /* enum fr_trigger_kind, 0: no rule */
	u32 latency;  /* enum fr_latency */
	u64 limit_ns; /* of those that are written NAME>T, and of latency */
	u64 gap_ns;   /* least time between two alerts, 0: no limit */
	u64 sig_set;  /* crash, rate of signals: FR_SIG() of those that count */
	s32 status;   /* of status: 0 to 255; rate of errors: the errno, 0: any */
	s32 id;	      /* latency syscall, asleep, rate of errors: the call's number, -1: all */
	u32 all;      /* crash: deaths without core, too; status: calls that fail are remembered */
	u32 uid;      /* ~0: any */
	/*
	 * A name or PREFIX*, as in struct fr_comm_filter: (comm & mask) == text; mask 0: any. BPF checks this and uid before it
	 * counts, so that other tasks' moments neither fire nor use up the gap. What it cannot decide (a glob with *, ? or [
	 * elsewhere, exe, cgroup) is left to user space: such moments are counted, use up the gap, and get the verdict
	 * `filtered`.
	 */
	u64 comm_text[2];
	u64 comm_mask[2];
	u64 exe_text[2]; /* likewise, of asleep, busy and rate: how the program's name begins, without directories */
	u64 exe_mask[2];
	u64 rate_max;	  /* rate: so many are allowed ... */
	u64 rate_part_ns; /* ... within eight of these */
	u32 rate;	  /* of what: enum fr_rate_what */
	u32 pad;
	u64 span; /* latency span: its name, hashed (rule.h) */
};

/* A rule's counters. They outlive recorders and are found again by the rule's text. In .data.triggers. */
struct fr_trigger_slot {
	char text[FR_TRIGGER_TEXT_MAX];	     /* written by user space: the rule as given, NUL-terminated; empty: free */
	u64 matched;			     /* BPF: the condition held */
	u64 alerted;			     /* BPF: of these, alerts put into the queue */
	u64 full;			     /* BPF: of these, alerts lost because the queue was full */
	u64 verdict[FR_TRIGGER_VERDICT_CNT]; /* user space */
	u64 last_ns;			     /* user space: recording clock of the last snapshot taken */
	u64 next_ns[FR_GAP_CNT];	     /* BPF: no alert before this, by user */
	u64 first_grant; /* user space: snapshots granted before this number are of rules that had the slot earlier */
} FR_ALIGNED(FR_CACHE_SZ);

/* What BPF tells user space: everything that may be gone when that wakes. Not trusted: checked on reading. */
struct fr_alert {
	u64 ts;	      /* recording clock, of the moment's record */
	u64 mono_ns;  /* bpf_ktime_get_ns() */
	u32 rule_set; /* bit i: the rule of slot i holds; a rule keeps its slot when rules are loaded again */
	u32 kind;
	u32 tid, pid; /* the task it is about, in the first pid namespace; 0: none */
	u32 ns_pid;   /* the same process in its own pid namespace; 0: unknown */
	u32 uid;
	u32 owner; /* who answers for it (owner.bpf.h): uid, or who made its user namespace; ~0: nobody */
	s32 sig;
	s32 code;
	s32 exit_code;	  /* status, and deaths without core: as wait() gives it */
	u64 addr, ip, sp; /* latency of block: addr is the sector */
	u64 value_ns;	  /* latency, hung, asleep, busy: how long it took; rate: within this time */
	u64 what;   /* latency: syscall number, device, softirq or irq number, a span's id; hung: prev_state; event: its number;
		     * asleep: { call:32 | prev_state:32 }; busy: ns on a CPU of it; rate: how many;
		     * kernel: of the report (report.h) */
	u64 cgroup; /* its id */
	u64 start_ns; /* the task's, monotonic */
	u64 exe_ino, exe_dev;
	char comm[FR_COMM_SZ];
	char text[FR_ALERT_PATH_MAX]; /* kernel: the line */
	char exe[FR_ALERT_PATH_MAX];  /* its program's path, "" unknown; if too long, cut on the left: "..." and its end */
	u32 kframe_cnt, uframe_cnt;
	u64 kframe[FR_ALERT_FRAME_MAX];
	u64 uframe[FR_ALERT_FRAME_MAX];
};

#define FR_PENDING_MAX	    8u
#define FR_PENDING_PATH_MAX 1024u

/*
 * A snapshot that was granted and does not exist yet. Written by user space, kept with the session: if the recorder is killed,
 * the next one takes it, under the same path, and never twice.
 */
struct fr_pending {
	u64 order;	       /* grows; 0: free. Written last when an entry is taken */
	u32 slot;	       /* its rule's, ~0: none */
	u32 grant;	       /* the place of its grant, see fr_ledger_find(); 0: unknown */
	u64 due_ns;	       /* recording clock: not before this (post=) */
	u64 last_ns;	       /* only this much history, 0: all */
	struct fr_alert alert; /* the moment; only kind, ts, pid and comm where there was no alert */
	char path[FR_PENDING_PATH_MAX];
} FR_ALIGNED(8);

#define FR_GRANTED_MAX 64u

/* A snapshot that was granted: what the gate has to know again after the recorder was killed. */
struct fr_granted {
	u64 ts;	 /* recording clock; 0: none, or it was not taken after all */
	u64 key; /* fr_trigger_key() */
	u32 slot;
	u32 uid;     /* of the task; ~0: unknown, or none */
	u64 program; /* likewise, hashed; 0: none */
};

struct fr_triggers {
	u32 generation; /* of the programs of bpf/trigger/ that act; 0: none. Changed by user space */
	u32 ended;	/* user space: bit i: the rule of slot i is no longer in force, only its counters remain */
	u64 marks;	/* records written by programs of bpf/trigger/: moments, frames of their stacks */
	u64 mark_lost;	/* records that they could not write */
	u64 unwatched;	/* events that event rules missed: too many at once on a CPU, or a program's that could not be made */
	/* tasks, requests or spans that latency, hung, asleep and busy rules could not follow: the table, or somebody's share
	 * of it, was full; and calls that failed, for which exit rules got no memory */
	u64 untracked;
	u64 span_left; /* spans that nobody had ended when their thread or process ended */
	/* user space: the last alert handled, in case a recorder is killed before it takes it out of the queue */
	u64 handled_ts;
	u64 handled_who; /* { kind:32 | tid:32 } */
	struct fr_trigger_slot slot[FR_TRIGGER_MAX];
	struct fr_pending pending[FR_PENDING_MAX];
	u64 granted_cnt; /* ever; number i is in granted[i % FR_GRANTED_MAX] */
	struct fr_granted granted[FR_GRANTED_MAX];
};

_Static_assert(sizeof(struct fr_trigger_rule) == 144, "in a map");
_Static_assert(sizeof(struct fr_alert) % 8 == 0, "in a queue");

#endif
