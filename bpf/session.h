/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The session: what BPF programs and user space share besides the rings. One struct each, all in maps that are pinned
 * with the session and outlive every process of ours.
 */
#ifndef FR_SESSION_H
#define FR_SESSION_H

#include "layout.h"
#include "thin.h"

#define FR_PID_FILTER_MAX    1024
#define FR_COMM_FILTER_MAX   16
#define FR_CGROUP_FILTER_MAX 16
#define FR_STACK_DEPTH_MAX   127
#define FR_EXEC_TEXT_MAX     256
#define FR_CALL_TEXT_MAX     128 /* of what a call was given, its NUL included */
#define FR_SESS_NAME_MAX     63	 /* characters of a session's name */
#define FR_SYSCALL_MAX	     512 /* numbers whose argument count is known */
/* Beside the count: the call is given texts. Which, in a byte: the first's number + 1, 3 bits, and a second's; a flag. */
#define FR_CALL_HAS_TEXT  0x80u
#define FR_CALL_STAYS	  0x40u /* beside the count: it never ends, or as another tid: it is never thinned (thin.bpf.h) */
#define FR_CALL_TEXT_ADDR 0x40u /* the first is a socket's address, whose size is the next argument */
#define FR_CALL_TEXT2	  3u	/* the shift of the second */
#define FR_CALL_SAYS	  0x80u /* instead: it may write to standard error: arguments 1 and 2 are memory and its size; with */
#define FR_CALL_SAYS_VEC  1u	/* this, they are a list of such and its length */
#define FR_SAID_MAX	  1984u /* of what it writes, the end; of a list, the beginning */
#define FR_SAID_VEC_MAX	  8u	/* parts of a list */
/* In the word beside the head of a sys_path, behind the tid and the call's number: */
#define FR_CALL_ARG	48u   /* the shift of the argument's number */
#define FR_CALL_RAW_ARG 0x80u /* beside it: an address as it was given, of which readers make a text (calltext.h) */
#define FR_CALL_RAW	((u64)FR_CALL_RAW_ARG << FR_CALL_ARG)
#define FR_CALL_RAW_SZ	56u /* the shift of its size, where a text has: */
#define FR_CALL_CUT	(1ull << 56)
#define FR_CALL_WHY	56u /* in that of a sys_unread: the shift of the reason */
#define FR_CALL_ADDR_SZ 56u /* room for an address as text: of IPv6, with its port; what is longer has its own size */
#define FR_ARG_CNT_MAX	6

/* Why what a call was given could not be read when it began. */
#define FR_UNREADS(U)                                                                                                   \
	U(0, unknown, "not known")                                                                                      \
	U(1, absent, "memory of the program's that could not all be read just then: the kernel waits for it, or fails") \
	U(2, nowhere, "no memory of the program's, or none that it may use: the kernel, too, fails")

enum fr_call_unread {
#define U(nr, name, doc) FR_UNREAD_##name = nr,
	FR_UNREADS(U)
#undef U
		FR_UNREAD_CNT
};

/*
 * The processes of ours, whose system calls and faults are left out: each has one of the FR_SELF_WAYS places from its home on,
 * which is its pid's lowest bits. So an event looks at these few alone, however many processes there are.
 */
#define FR_SELF_HOMES 256u
#define FR_SELF_WAYS  4u

/*
 * The file of our program. Once it is removed its inode's number may become that of another file: that has another generation,
 * and where the file system keeps none, another size.
 */
struct fr_self_file {
	u64 ino; /* 0: not known */
	u64 sz;
	u32 dev;
	u32 generation;
};

/* What programs are built for; constant after load. */
struct fr_geometry {
	u32 slot_cnt;
	u32 subbuf_pages;
};

/* A name or PREFIX*: matches if (comm & mask) == text, as two words each. */
struct fr_comm_filter {
	u64 text[2];
	u64 mask[2];
};

/*
 * The id of a cgroup is that of v2. One of the memory controller's v1 hierarchy has this added (cgroup.bpf.h): the kernel's own
 * ids do not get there, and a program that reads numbers as doubles still reads the sum.
 */
#define FR_CGROUP_MEMORY  (1ULL << 52)
#define FR_CGROUP_ROOT_ID 1u /* of either hierarchy's root */

/* A cgroup of v2 and all below it. */
struct fr_cgroup_filter {
	u64 id;
	u32 level;
	u32 pad;
};

/* In a word of fr_session.enable: the governor turned the event off. The other bits keep their value. */
#define FR_ENABLE_HELD (1u << 31)

#define FR_WALL_STEP_MAX 16u /* steps of the wall clock that are kept, the latest ones */

/* The wall clock was set, or the machine slept: what the wall clock said before and after, at ts. Written by the recorder. */
struct fr_wall_step {
	u64 ts; /* recording clock */
	u64 mono_ns;
	u64 boot_ns;
	u64 tai_ns;
	u64 before_ns; /* ns since 1970, by the clock as it was */
	u64 after_ns;
	u64 uncertainty_ns;
};

/* What the overhead governor is doing. Written by the recorder. */
struct fr_governing {
	u32 step;      /* 0: everything is recorded, at its full rate */
	u32 cost;      /* as last measured, in 1/1000 % of all CPUs */
	u32 budget;    /* likewise; 0: there is no governor now */
	u32 sample_hz; /* sampling rate now, 0: as when the recording began */
	u64 step_cnt;  /* steps ever taken */
	u64 last_ns;   /* recording clock, of the last step */
	char what[8];  /* the last step's group, and what was done: thin, off, on */
	char action[8];
	u64 sample_due; /* samples expected until sample_at_ns, then sample_hz on sample_cpus; all 0: as when it began */
	u64 sample_at_ns;
	u32 sample_cpus;
	u32 trigger_cost; /* the triggers' programs' part of cost */
};

/* At most so many processes that read for snapshots are left behind, waiting for what does not answer (sys/errand.h). */
#define FR_LEFT_MAX 2

/* One of them, or one that is at work; written by who takes a snapshot. */
struct fr_left {
	u64 pid;   /* 0: none */
	u64 start; /* of its stat(5): tells it from a later process of that pid */
	u64 key;   /* what it waits for, 0: not known */
};

/* Written by user space (switches) and by BPF (counters), each on cache lines of its own. */
struct fr_session {
	/* switches: read by every program, rarely written */
	u32 enable[FR_EVENT_MAX]; /* the generation whose programs record this event, 0: none */
	u32 recorder_tgid;	  /* 0: none */
	u32 unused[7];
	struct fr_mark mark;
	u8 pad0[FR_CACHE_SZ - 32 - sizeof(struct fr_mark)];
	struct fr_self_file self_file;
	/* rare counters */
	u64 task_evicted; /* dead tasks dropped from the table to make room */
	u64 task_lost;	  /* tasks that did not get into the table: all in it were alive */
	u64 no_ring;	  /* events on a CPU without a ring */
	u64 sample_taken; /* times the sampling timer ran our program */
	u64 snapshot_nr;  /* snapshots begun */
	/* written by the recorder */
	struct fr_governing governing;
	u64 wall_step_cnt; /* steps ever seen; step i is in wall_step[i % FR_WALL_STEP_MAX] */
	struct fr_wall_step wall_step[FR_WALL_STEP_MAX];
	struct fr_left left[FR_LEFT_MAX];
	u64 beside_cnt;			      /* snapshots taken without the reader's lock, which somebody held for too long */
	struct fr_left left_dir[FR_LEFT_MAX]; /* likewise, those that look at the directory of snapshots */
	/* read by every program, rarely written */
	u32 self_tgid[FR_SELF_HOMES + FR_SELF_WAYS - 1] FR_ALIGNED(FR_CACHE_SZ); /* 0: free */
} FR_ALIGNED(FR_CACHE_SZ);

/* The task table: who a tid was. The key is a tid and when it began, so that a reused pid is another task. */
struct fr_task_key {
	u32 tid;
	u32 epoch;    /* the session's, so that a crash dump tells whose table it is in */
	u64 start_ns; /* task_struct.start_time, monotonic */
};

#define FR_TASK_KTHREAD 1u
#define FR_TASK_SEEDED	2u /* existed before recording began */
#define FR_TASK_ENDING	4u /* was ending then: exit_ns is when that was seen, and its last switch comes at any time later */
#define FR_TASK_FLAGS	7u

struct fr_task {
	u32 tgid;
	u32 ppid; /* tgid of the parent when last seen */
	u64 cgroup;
	u64 exit_ns;	/* 0: lives */
	u64 renamed_ns; /* since when comm is its name, 0: for as long as it is known */
	char comm[FR_COMM_SZ];
	char first_comm[FR_COMM_SZ]; /* its first known name */
	u32 flags;
	s32 exit_code;
};

/*
 * Whose result is in a struct that all callers of a program share. A run of a program takes the turn, and returns its ticket.
 * Who copies the result finds that ticket before and after, or another run has come between: no caller need keep others
 * waiting, and one that is stopped before it has copied harms nobody.
 */
struct fr_turn {
	u64 busy;   /* a run fills the struct */
	u64 ticket; /* of the run whose result is in the struct, 0: it is being filled */
	u64 last;   /* ticket */
};

#define FR_TURN_BUSY ~0u /* returned instead of a ticket: another run had the turn */

/* Arguments and results of the programs that user space runs by BPF_PROG_TEST_RUN. */
struct fr_call {
	u64 ns;	       /* fr_now: the recording clock */
	u64 mono_ns;   /* fr_now: bpf_ktime_get_ns() */
	u64 boot_ns;   /* fr_now: bpf_ktime_get_boot_ns() */
	u64 tai_ns;    /* fr_now: bpf_ktime_get_tai_ns(), 0 where the kernel has none */
	u64 peek_word; /* fr_peek: slot word and w, as seen on the ring's own CPU at one instant */
	u64 peek_w;
	u32 tgid; /* fr_self: the caller's process, in the first pid namespace */
	u32 cpu;
	u32 holder; /* fr_holder: tid of the task that has a CPU, + 1; 0: the kernel does not let programs see that */
	u32 pad;
	struct fr_turn turn;
	u64 nr; /* fr_snapshot_begin: the snapshot's number */
};

#define FR_KSYM_SZ 576u /* the kernel's KSYM_SYMBOL_LEN and more */

/*
 * What fr_ksym leaves in .data.ksym: an address as the kernel prints it, "name+0x1f/0x40 [module]"; "0x..." if nothing is
 * there.
 */
struct fr_ksym_text {
	char text[FR_KSYM_SZ];
	struct fr_turn turn;
};

_Static_assert(sizeof(struct fr_task_key) == 16, "in a map");
_Static_assert(sizeof(struct fr_task) == 72, "in a map");
_Static_assert(__builtin_offsetof(struct fr_session, mark) == FR_EVENT_MAX * 4 + 32, "in crash dumps");
_Static_assert(sizeof(struct fr_session) <= FR_PAGE_SZ, "one page");

#endif
