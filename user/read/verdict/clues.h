/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clues: what the events tell about the time around the trigger, as recognisers (verdict.h) ask for it: who had which CPU, the
 * long waits, births, ends, signals, samples.
 *
 *	 begin_ns                           at_ns            end_ns
 *	----|---------------------------------|-----------------|
 *	    runs, waits, samples	      the trigger	the window's end
 *	births and signals: of the whole window; waits of the trigger's process: of ten seconds
 *
 * The time begins as long before the trigger as what pulled it took, and at least a second. It is chosen before the first row
 * is read, so that one pass suffices.
 *
 * What is not known is not none: where a CPU's history lacks a part, fr_clues_covers() says no; where there was no room,
 * is_full; where an event was not recorded, has_*. A recogniser that needs what is missing stays silent.
 */
#ifndef FR_CLUES_H
#define FR_CLUES_H

#include "base/counter/counters.h"
#include "base/rows/oncpu.h"
#include "base/set/tally.h"
#include "base/set/vec.h"
#include "read/analyze/analyze.h"
#include "read/rare/rares.h"
#include "read/replay/replay.h"
#include "read/replay/summary.h"
#include "read/states/states.h"
#include "read/symbols/symbols.h"
#include "read/waits/waited.h"

/* A task had a CPU. tid 0: it was idle. */
struct fr_clue_run {
	u64 from_ns, to_ns;
	u32 tid;
	u16 cpu;
	s16 prio; /* as the kernel counts: below 100 real time, -1 deadline; as the task left the CPU */
};

struct fr_clue_fork {
	u64 ts;
	u32 parent, child;
	u32 pid; /* the child's process: child, or it is a thread of that */
};

/* The last thread of a process ended. */
struct fr_clue_end {
	u64 ts;
	u32 tid;   /* that thread */
	u8 sig;	   /* that ended it; 0: none did, or it is not known */
	u8 status; /* with which it ended itself; 0: likewise */
};

struct fr_clue_signal {
	u64 ts;
	u32 sender, target;
	s32 code;
	u8 sig, result;
	bool group; /* to the process: the kernel chooses one of its threads; false: to the target alone, or it is not known */
};

/* A fault that a process handled itself: its handler went on. */
struct fr_clue_fault {
	u64 ts, addr, ustack_id;
	u32 tid;
	u8 sig;
};

/* A signal whose handler a task went on in. */
struct fr_clue_handled {
	u64 ts; /* 0: none */
	u32 sig;
};

struct fr_clue_victim {
	u64 ts, rss_kib; /* anonymous, file and shared memory */
	u32 tid, asker;	 /* in whose call the kernel chose it */
};

struct fr_clue_sample {
	u64 ts, ip, kstack_id, ustack_id;
	u32 tid;
	u16 cpu;
	bool user;
};

struct fr_clue_cpu {
	struct fr_oncpu on;
	s16 prio; /* of the task that has it */
	bool seen;
};

/* A task asked a disk for something; or, in whoever's context, that was done: without a task and bytes. */
struct fr_clue_io {
	u64 ts, bytes, sector;
	u32 tid, dev;
	bool is_write;
};

/* The last call in which a task slept for long before the time that is looked at, within ten seconds before the trigger. */
struct fr_clue_slept {
	u64 key; /* tid */
	s32 pid, id;
	u8 abi;
	bool in_call;
};

/* Who waited for what comes by a pipe, the last time in the whole window before the trigger. */
struct fr_clue_reader {
	u64 key; /* of the pipe's text */
	u32 tid;
	s32 pid;
	bool are_several; /* of several processes */
};

#define FR_CLUE_ARGV_SZ 200u
#define FR_CLUE_SAID_SZ 4096u

/* What the trigger's process wrote to standard error up to that, of which the end is kept. */
struct fr_clue_said {
	u64 write_cnt, bytes, last_ns;
	u32 len;
	char text[FR_CLUE_SAID_SZ]; /* untrusted; no NUL behind it */
};

/* A system call that ended. */
struct fr_clue_call {
	u64 ts;
	s64 ret;
	s32 id;
	u8 abi;
};

#define FR_CLUE_CALLS 64u

/* A system call of the trigger's process that failed, as its end tells where a rule asks for that. */
struct fr_clue_failed {
	u64 ts; /* when it failed; 0: none is known */
	s64 error;
	u32 tid;
	s32 id;
	u8 abi;
};

/* Events that it reads, beside waits. */
enum fr_clue_event {
	FR_CLUE_SWITCH = 1,
	FR_CLUE_FORK,
	FR_CLUE_EXEC,
	FR_CLUE_END,
	FR_CLUE_SIGNAL,
	FR_CLUE_SAMPLE,
	FR_CLUE_VICTIM,
	FR_CLUE_FAULT,
	FR_CLUE_IO,
	FR_CLUE_IO_DONE,
	FR_CLUE_ARGV,
	FR_CLUE_DELIVERY,
	FR_CLUE_CALL, /* where the trigger is the end of a process */
	FR_CLUE_FAILED,
	FR_CLUE_SAID,
	FR_CLUE_WAIT,
	FR_CLUE_EVENT_CNT
};

struct fr_clues {
	const struct fr_snap *snap;
	const struct fr_view *view;
	const char *arch;
	/* the trigger: what the file's facts say; 0 and NULL: nothing */
	const char *reason;
	u32 tid; /* the task that it is about */
	s32 pid; /* its process, -1: not known */
	u64 at_ns, value_ns;
	/* the time that is looked at */
	u64 begin_ns, end_ns;
	struct fr_vec run, wait, fork, end, signal, victim, fault, sample, io,
		io_done; /* struct fr_clue_..., struct fr_waited; each in order of time */
	u64 switch_cnt;
	bool is_full;		     /* runs, waits, ... are missing, for lack of memory */
	bool is_done_full;	     /* likewise of io_done alone, which one recogniser asks for */
	bool is_picked;		     /* switches were cut away */
	bool is_thinned;	     /* system calls of some cgroup were left out */
	bool has[FR_CLUE_EVENT_CNT]; /* the file has such events, or could have */
	struct fr_rares rares;	     /* of the whole window */
	char argv[FR_CLUE_ARGV_SZ];  /* of the program that the trigger's process executed last, escaped; empty: not known */
	struct fr_clue_said said;
	struct fr_clue_handled handled;		 /* by the trigger's task, the last one up to that */
	struct fr_clue_call call[FR_CLUE_CALLS]; /* of the trigger's task up to that: a ring; call_cnt counts all */
	u64 call_cnt;
	struct fr_clue_failed lack, failed; /* the last ones: of a lack, a limit, a device or a peer; of any error */
	u64 life_ns, wait_ns;		    /* births, ends, OOM kills; waits: complete from then on */
	/* once all rows are read */
	const struct fr_an_focus *focus; /* of this task, NULL: the report is about another one */
	struct fr_symbols *symbols;	 /* NULL: none are asked for */
	const struct fr_states *states;	 /* how tasks were when the file was made */
	/* of the reading */
	struct fr_sub sub[FR_CLUE_EVENT_CNT];
	u8 kind[FR_EVENT_MAX]; /* enum fr_clue_event by the event's number */
	struct fr_waited_fields fields;
	struct fr_clue_cpu *cpu;
	u32 cpu_cnt;
	struct fr_tally text;	/* objects of waits */
	struct fr_tally slept;	/* struct fr_clue_slept */
	struct fr_tally reader; /* struct fr_clue_reader */
};

/*
 * For the first file of r, of which no row was read; tid: the trigger's task, 0: none. r and sum must live as long. 0 and *out,
 * or -ENOMEM.
 */
int fr_clues_new(struct fr_replay *r, const struct fr_summary *sum, u32 tid, struct fr_clues **out);
void fr_clues_free(struct fr_clues *c); /* NULL is fine */

/* The columns that it reads. */
void fr_clues_want(const struct fr_clues *c, struct fr_wants *w);

/* Take the next rows, whatever a filter says: the verdict is on what happened. 0 or -ENOMEM. */
int fr_clues_run(struct fr_clues *c, const struct fr_replay_run *run);

/* No more rows come. is_focus: the result's focus is the trigger's task. symbols may be NULL; states has taken all rows. */
void fr_clues_end(struct fr_clues *c, const struct fr_an_result *res, bool is_focus, struct fr_symbols *symbols,
		  const struct fr_states *states);

/* ---- questions (clues_ask.c) ---- */

/*
 * By how much a count of the host (base/counter/counter.h) rose around the time that is looked at: from the last reading before
 * it to the first one at or after the trigger. object: "" of the host. False: it is not known.
 */
bool fr_clues_moved(const struct fr_clues *c, const char *name, const char *object, struct fr_counter_move *out);

/* What a gauge was at the first reading at or after the trigger, else at the last one. False: it is not known. */
bool fr_clues_gauge(const struct fr_clues *c, const char *name, const char *object, u64 *value);

/* The path of the cgroup that a task was in; NULL: it is not known. */
const char *fr_clues_cgroup(const struct fr_clues *c, u32 tid, u64 ts);
const struct fr_belongs *fr_clues_belongs(const struct fr_clues *c, u32 tid, u64 ts); /* whose that is; NULL: likewise */

/*
 * The same of a cgroup itself: a count of events has those of the cgroups below, too, which are taken off. False: it did not
 * rise, or those of a cgroup below may be all of it.
 */
bool fr_clues_moved_own(const struct fr_clues *c, const char *name, const char *cgroup, struct fr_counter_move *out);

/*
 * Where only one reading has it, as of a new cgroup: what a cgroup's own count is since it began; in v1, where it has no
 * others'. False: it is 0, or not known, or fr_clues_moved() knows more.
 */
bool fr_clues_count_own(const struct fr_clues *c, const char *name, const char *cgroup, u64 *value);

/* The cgroup whose own count rose most, of those that have this gauge; *out: so much. NULL: it rose of none. */
const char *fr_clues_moved_most(const struct fr_clues *c, const char *name, const char *gauge, struct fr_counter_move *out);

/* Bytes that one program's tasks wrote to a disk. */
struct fr_clue_writer {
	u64 key; /* program and disk */
	u64 bytes, ts;
	u32 tid, dev; /* one of them, at ts */
	bool are_several;
};

/* Who wrote most to one disk in a time; *all: how much all did there. False: nobody did, or it is not known. */
bool fr_clues_writer(const struct fr_clues *c, u64 from_ns, u64 to_ns, struct fr_clue_writer *out, u64 *all);

#define FR_CLUES_ALL_CPUS 0xffffu
#define FR_CLUE_WHO_SZ	  80u

static inline const struct fr_waited *fr_clues_wait(const struct fr_clues *c, size_t i)
{
	return i < c->wait.cnt ? (const struct fr_waited *)c->wait.at + i : NULL;
}

static inline u64 fr_waited_began_ns(const struct fr_waited *w)
{
	return w->ts > w->off_ns ? w->ts - w->off_ns : 0;
}

/* NULL: none is known. */
const struct fr_clue_slept *fr_clues_slept_before(const struct fr_clues *c, u32 tid, s32 pid);

/* The only process that was seen to wait for what comes by the pipe that w is for; NULL: none was, or several were. */
const struct fr_clue_reader *fr_clues_reader(const struct fr_clues *c, const struct fr_waited *w);

/* When it was woken; of one that was runnable all the time, when it began. */
static inline u64 fr_waited_woken_ns(const struct fr_waited *w)
{
	return w->ts > w->queued_ns ? w->ts - w->queued_ns : 0;
}

/* How long two stretches of time have in common. */
static inline u64 fr_overlap_ns(u64 from_a, u64 to_a, u64 from_b, u64 to_b)
{
	u64 from = from_a > from_b ? from_a : from_b, to = to_a < to_b ? to_a : to_b;

	return to > from ? to - from : 0;
}

/* Who a task was, escaped: "comm/tid", or the comm alone; "?" where it is not known. text is returned. */
const char *fr_clues_who(const struct fr_clues *c, u32 tid, u64 ts, char text[FR_CLUE_WHO_SZ]);
const char *fr_clues_comm(const struct fr_clues *c, u32 tid, u64 ts, char text[FR_CLUE_WHO_SZ]);
s32 fr_clues_pid(const struct fr_clues *c, u32 tid, u64 ts);	     /* -1: not known */
bool fr_clues_is_kworker(const struct fr_clues *c, u32 tid, u64 ts); /* by its name, which anybody may choose */

/* Do runs say at each moment of [from_ns, to_ns) who had this CPU, or all? */
bool fr_clues_covers(const struct fr_clues *c, u32 cpu, u64 from_ns, u64 to_ns);

/*
 * The same, but for a small part: a kernel may hide the switches of a task from all tracers, and who had the CPU is unknown
 * then until the next switch. What is said of it must be true whoever had that part: times are at least.
 */
#define FR_CLUES_UNKNOWN_PART 20u
bool fr_clues_covers_most(const struct fr_clues *c, u32 cpu, u64 from_ns, u64 to_ns);

/*
 * The CPU beside this one that was idle longest in a time, of those that fr_clues_covers_most(); *ns: so long, 0: none was, or
 * it is not known. 0 or -ENOMEM.
 */
int fr_clues_idlest(const struct fr_clues *c, u32 beside, u64 from_ns, u64 to_ns, u32 *cpu, u64 *ns);

/* How long one of these tasks had a CPU in this time. */
struct fr_clue_use {
	u64 key; /* tid */
	u64 ns;
	s16 prio;
};

/* Times of all tasks on a CPU, or on all; the most first; tid 0: idle. *out begins empty, is freed by the caller. 0 or -ENOMEM.
 */
int fr_clues_use(const struct fr_clues *c, u32 cpu, u64 from_ns, u64 to_ns, struct fr_tally *out);
u64 fr_clues_ran(const struct fr_clues *c, u32 tid, u64 from_ns, u64 to_ns); /* of one task, on all CPUs */

/* The same by program: tasks of one name. */
struct fr_clue_program {
	u64 key; /* fr_clues_program() */
	u64 ns, ts;
	u32 tid, task_cnt; /* one of them, at ts */
};

u64 fr_clues_program(const struct fr_clues *c, u32 tid, u64 ts);
int fr_clues_programs(const struct fr_clues *c, u32 cpu, u64 from_ns, u64 to_ns, struct fr_tally *out);

/* The wait of this task that has most in common with a time: at least `least_ns`. NULL: none. */
const struct fr_waited *fr_clues_wait_in(const struct fr_clues *c, u32 tid, u64 from_ns, u64 to_ns, u64 least_ns);

/* What a task still waits for since before the trigger, up to that: false: it does not, or that is not known. */
bool fr_clues_still(const struct fr_clues *c, u32 tid, struct fr_still *out);

/* How long it was runnable without a CPU in a time, as its long waits tell; *longest: the one that took most of it, or NULL. */
u64 fr_clues_queued(const struct fr_clues *c, u32 tid, u64 from_ns, u64 to_ns, const struct fr_waited **longest);

/* The task that forked this one, the last time before ts; 0: not known. *ns, if not NULL: when. */
u32 fr_clues_parent(const struct fr_clues *c, u32 tid, u64 ts, u64 *ns);

/* The i-th frame of a stack, from the innermost: true and *out, whose name may be NULL. tid: whose user stack it is. */
bool fr_clues_kernel_frame(const struct fr_clues *c, u64 stack_id, u32 i, struct fr_symbol *out);
bool fr_clues_user_frame(const struct fr_clues *c, u32 tid, u64 ts, u64 stack_id, u32 i, struct fr_symbol *out);

/* Its address. */
bool fr_clues_frame_ip(const struct fr_clues *c, u64 stack_id, u32 i, u64 *ip);

/* The place of the first frame of a kernel stack with this name; -1: none, or not known. */
s32 fr_clues_kernel_at(const struct fr_clues *c, u64 stack_id, const char *name);

#endif
