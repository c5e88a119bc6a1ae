/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report: what happened in a snapshot, for a person with a minute (text) and for programs (JSON, docs/report.md). */
#ifndef FR_FLOW_REPORT_H
#define FR_FLOW_REPORT_H

#include "base/rows/cgroups.h"
#include "base/text/out.h"
#include "read/analyze/analyze.h"
#include "read/replay/thins.h"
#include "read/states/states.h"
#include "read/symbols/symbols.h"
#include "read/verdict/changes.h"
#include "read/verdict/verdict.h"
#include "read/waits/waits.h"
#include "sys/aside.h"

#define FR_REPORT_MOMENT_NS 10000000ULL /* before the trigger: what is looked at closely, unless asked otherwise */

struct fr_jsonw;

/* A report that is one of several. */
struct fr_report_into {
	struct fr_out *out;
	char **evidence;       /* malloc'ed: what follows the verdict and what the snapshot is; NULL stays if there is none */
	struct fr_jsonw *json; /* with JSON: key `report` of its open object */
	bool done;	       /* it was made */
};

struct fr_report_ask {
	const char *path;
	struct fr_report_into *into; /* NULL: it is the only one, and goes to standard output */
	struct fr_replay_opts opts;
	struct fr_analyze_opts analyze;
	const struct fr_symbols_opts *symbols; /* NULL: print raw addresses */
	const char *task; /* a name, or a glob: this task instead of the trigger's; NULL: as analyze.focus_tid says */
	u32 sort;	  /* what tasks, processes and cgroups are in the order of, fr_report_sort_name(); 0: time on a CPU */
	bool json;
	bool histograms; /* text has their bars */
	u32 top;	 /* lines of each table, 0: all */
	u32 by;		 /* text has these tables of sums: bit i of fr_report_by_name(i) */
};

#define FR_REPORT_BY_USUAL 0x7u /* task, process, cgroup */

/* Returns the exit status; messages are printed. */
int fr_report(const struct fr_report_ask *ask);

/* One report of several snapshots, each as ask says but for path. A file that cannot be read is told and left out. Likewise. */
int fr_report_several(const struct fr_report_ask *ask, const char *const *path, u32 cnt);

/*
 * The verdict alone, on a snapshot's trigger, as `report` has it without a width (lines, fr_report_break() breaks them), or as
 * the members of the object that `report --json` has: found aside (sys/aside.h), so that it takes its memory with it. symbols
 * may be NULL. 0 and *out, or -errno without a message.
 */
int fr_report_verdict_begin(const char *path, const struct fr_symbols_opts *symbols, bool json, struct fr_aside **out);

/* Waits for its end. 0 and *text, malloc'ed; or -errno, -EPROTO: its process ended too early. Frees a. */
int fr_report_verdict_take(struct fr_aside *a, char **text);

/*
 * Break lines at blanks where the page ends. What follows begins in column hang, and a word that is longer than a line has one
 * of its own. ruled_out: the line that begins "  ruled out:" is broken, too, else it stays one: whoever looks for a cause can
 * leave it out.
 */
void fr_report_break(struct fr_out *o, const char *text, size_t sz, u32 width, u32 hang, bool ruled_out);

/* ---- shared by its parts ---- */

/* Open the snapshot of a session. Returns the exit status; messages are printed. *r is to be closed in any case. */
int fr_report_open(const struct fr_report_ask *ask, struct fr_replay **r);

#define FR_REPORT_CALL_MAX FR_AN_LAST_MAX
#define FR_REPORT_ARG_MAX  6

/* A system call of the focus task. Times are 0 if its begin or end was not seen. */
struct fr_report_call {
	u64 enter_ns, exit_ns;
	s64 ret;
	s32 id;
	u8 abi;
	u8 arg_cnt;
	u64 arg[FR_REPORT_ARG_MAX];
};

struct fr_report_event {
	u64 ts;
	u16 cpu;
	const struct fr_event *ev;
	size_t line_at; /* as replay prints it, in fr_report_last.text, with its newline */
	size_t line_sz;
};

/* The last events of the focus task, read again. */
struct fr_report_last {
	struct fr_report_event event[FR_AN_LAST_MAX];
	u32 event_cnt;
	struct fr_report_call call[FR_REPORT_CALL_MAX];
	u32 call_cnt;
	char *text;
};

/* A function of a frame of the focus task's stack: with source lines, inlined ones come before the one that contains them. */
struct fr_report_frame {
	u64 ip;
	u32 nr;	     /* of the frame, the innermost is 0 */
	bool is_own; /* of the recorder itself, and so not of what happened */
	struct fr_symbol symbol;
};

struct fr_report_stack {
	struct fr_report_frame *frame;
	u32 cnt;
};

/* Samples of a function. */
struct fr_report_fn {
	const char *name, *module; /* NULL unknown */
	const char *missing;	   /* why there is no name */
	u64 ip;			   /* an address in it */
	u64 cnt;
	bool user;
};

/* Tables, each in its order. */
enum fr_rank {
	FR_RANK_TASKS,
	FR_RANK_PROCESSES,
	FR_RANK_CGROUPS,
	FR_RANK_PROGRAMS,
	FR_RANK_CONTAINERS,
	FR_RANK_CALLS,
	FR_RANK_ERRORS,
	FR_RANK_REASONS,
	FR_RANK_WAITS,
	FR_RANK_BLOCKS,
	FR_RANK_IRQS,
	FR_RANK_SOFTIRQS,
	FR_RANK_CNT
};

struct fr_report_rank {
	const void **rec; /* the most important first */
	u32 cnt;	  /* of these shown: at most ask->top, if that is set */
	u32 all;
};

/* Events that figures follow from. Where the file says that one was not recorded, its figures are not known, which is not 0. */
/* clang-format off */
#define FR_REPORT_EVENTS(X) \
	X(sched_switch) X(sched_waking) X(sched_migrate_task) X(sys_enter) X(sys_exit) X(page_fault_user) X(page_fault_kernel) \
	X(block_io_start) X(cpu_sample) X(irq_handler_exit) X(softirq_exit)
/* clang-format on */

enum fr_report_of {
#define X(event) FR_REPORT_OF_##event,
	FR_REPORT_EVENTS(X)
#undef X
		FR_REPORT_OF_CNT
};

/* What the process in focus had as it died: things of a kind are items of the snapshot's that follow each other. */
struct fr_report_scene {
	const struct fr_snap_scene *at; /* all that is known of this death; NULL: nothing is */
	size_t first[FR_SCENE_END];	/* by enum fr_scene_what */
	u32 cnt[FR_SCENE_END];
};

struct fr_report {
	const struct fr_report_ask *ask;
	struct fr_replay *replay;
	const struct fr_snap *snap;
	struct fr_summary *sum;
	struct fr_analyze *analyze;
	const struct fr_an_result *res;
	struct fr_waits waits;
	struct fr_clues *clues;
	struct fr_finding verdict;
	struct fr_changes changes;
	struct fr_states states;
	struct fr_report_scene scene;
	struct fr_wants wants; /* columns that all of it reads */
	struct fr_report_last last;
	struct fr_symbols *symbols; /* NULL: addresses are not resolved */
	char *beside;		    /* the snapshot's directory, for symbols */
	struct fr_report_rank rank[FR_RANK_CNT];
	struct fr_report_stack stack[2]; /* of the focus task, in the kernel and in user space, innermost first */
	struct fr_report_fn *fn;	 /* samples by function, the most first */
	u32 fn_cnt;
	struct fr_tally rare;		    /* rare events of the window that are about the same (report_rare.c) */
	u64 rare_cnt;			    /* events of these */
	struct fr_thins thins;		    /* what the recording left out of the window */
	struct fr_counter_notable *notable; /* counters that moved notably; NULL: not looked for yet */
	u32 notable_cnt;
	const struct fr_view *view;
	bool recorded[FR_REPORT_OF_CNT];
	struct fr_out *out;
};

/* Read the events before the trigger that the page shows, into r->last. 0, -ENOMEM, or -errno of reading. */
int fr_report_last_read(struct fr_report *r);
void fr_report_last_free(struct fr_report_last *l);

/* Put rare events that are about the same together: r->rare. 0 or -ENOMEM. */
int fr_report_rare_read(struct fr_report *r);

/* Print all as a page. */
void fr_report_text(struct fr_report *r);

/* Find r->scene. */
void fr_report_scene_find(struct fr_report *r);

/* Find r->fn. 0 or -ENOMEM. */
int fr_report_functions(struct fr_report *r);

/* Look up both stacks of the focus task, into r->stack. 0 or -ENOMEM. */
int fr_report_stacks(struct fr_report *r);

/* ---- order of importance (report_rank.c) ---- */

/* The i-th figure of tasks, processes and cgroups that may order them, and what it is. False: no more. */
bool fr_report_sort_name(u32 i, const char **name, const char **what);

/* The same of what ask->by is of; and does the text have this table? */
bool fr_report_by_name(u32 i, const char **name, const char **what);
bool fr_report_has(const struct fr_report_ask *ask, enum fr_rank what);

/* Find all of r->rank. 0 or -ENOMEM. */
int fr_report_rank(struct fr_report *r);

/* ---- words used by both forms (report_word.c) ---- */

const char *fr_report_in_word(u8 in);					    /* user, syscall, fault */
const char *fr_report_state_word(u16 state);				    /* "S", "D", ...; NULL unknown */
const char *fr_report_call_name(const struct fr_report *r, u8 abi, s32 id); /* NULL: none */
const char *fr_report_call_text(const struct fr_report *r, u8 abi, s32 id,
				char room[FR_SYSNAME_CALL_SZ]); /* as people read it */
const char *fr_report_errno_name(s64 ret);			/* for -4095 to -1, else NULL */
const char *fr_report_errno_words(s64 nr);			/* "No such file or directory" for 2; NULL unknown */

#endif
