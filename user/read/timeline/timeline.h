/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * timeline: a snapshot in memory, in the form a screen needs: the place of each event, which task ran when, which waited and
 * was woken by what, how long calls took. Some 50 bytes per event. Where there is no room for more (sys/memory.h), it ends: it
 * is what a window that ends there would be, and later events are counted only.
 *
 *	at		ns after the window's begin, of all hosts on one axis
 *	change		from `at` on the state is this, until the next change
 *	span		[at, until)
 *	row		number of an event among those that the filter takes; FR_TL_NO_ROW: it does not
 *
 * States are derived from all events of the window, whatever the filter takes. What is unknown is marked so: before a CPU's
 * first switch, in holes, where a switch is missing.
 */
#ifndef FR_TIMELINE_H
#define FR_TIMELINE_H

#include "base/rows/oncpu.h"
#include "base/rows/pair.h"
#include "read/replay/replay.h"
#include "read/symbols/frames.h"

#define FR_TL_NO_ROW  (~0u)
#define FR_TL_NO_TASK (~0u)

struct fr_tl_event {
	u64 at;
	u32 chunk, row; /* in its file */
	u32 task;
	u16 cpu; /* index in the list of CPUs */
	u8 ev;
	u8 file;
};

enum fr_tl_state {
	FR_TL_UNKNOWN,
	FR_TL_RUNS,
	FR_TL_WAITS, /* runnable */
	FR_TL_SLEEPS,
	FR_TL_BLOCKED, /* D */
	FR_TL_STOPPED,
	FR_TL_STATE_CNT
};

/* Why a task waits for a CPU: what woke it (OTHER: no task, by the wait's record), or it was preempted. */
enum fr_tl_by { FR_TL_BY_TASK, FR_TL_BY_IRQ, FR_TL_BY_SOFTIRQ, FR_TL_BY_NOBODY, FR_TL_BY_OTHER };

struct fr_tl_change {
	u64 at;
	u32 row;
	u32 what; /* of a task: fr_tl_what(); of a CPU: FR_TL_RUN_* or the task's number + FR_TL_RUN_TASK */
};

#define FR_TL_RUN_UNKNOWN 0u
#define FR_TL_RUN_IDLE	  1u
#define FR_TL_RUN_TASK	  2u

/*
 * nr: RUNS: the CPU's number; WAITS, by: the waker's number in the list of tasks, or of the interrupt, OTHER: enum fr_waker;
 * else prev_state.
 */
static inline u32 fr_tl_what(enum fr_tl_state state, enum fr_tl_by by, u32 nr)
{
	return (u32)state | (u32)by << 3 | nr << 6;
}

static inline enum fr_tl_state fr_tl_state(u32 what)
{
	return what & 7;
}

static inline enum fr_tl_by fr_tl_by(u32 what)
{
	return what >> 3 & 7;
}

static inline u32 fr_tl_nr(u32 what)
{
	return what >> 6;
}

struct fr_tl_changes {
	struct fr_tl_change *v;
	u32 cnt, cap;
};

/* what: of a call (u8 abi << 24 | id, FR_TL_OPEN: it had not ended), of a handler: number, FR_TL_SOFT: softirq */
#define FR_TL_OPEN (1u << 31)
#define FR_TL_SOFT (1u << 31)

struct fr_tl_span {
	u64 at, until;
	u32 row;
	u32 what;
};

struct fr_tl_spans {
	struct fr_tl_span *v;
	u32 cnt, cap;
};

struct fr_tl_rows {
	u32 *v;
	u32 cnt, cap;
};

struct fr_tl_task {
	u32 tid, boot;
	s32 pid;	  /* -1 unknown */
	const char *comm; /* comm_len bytes, NULL unknown */
	u32 comm_len;
	u64 ran_ns;
	u64 seen_ts; /* on its own clock */
	struct fr_tl_changes states;
	struct fr_tl_spans calls;
	struct fr_tl_rows rows;
	/* the call it is in */
	bool in_call, call_execs;
	u64 call_at, call_key;
	u32 call, call_row;
};

struct fr_tl_cpu {
	u16 nr;
	u32 boot;
	u64 begin;	    /* at: its history begins */
	u64 horizon;	    /* at: complete from there on, behind its holes */
	struct fr_oncpu on; /* times are keys: before the window, too */
	struct fr_pair_cpu *pair;
	struct fr_tl_changes runs;
	struct fr_tl_spans irqs;
	struct fr_tl_rows rows;
	/* the handlers it is in: a hard one may be on top of a soft one */
	struct {
		u64 at;
		u32 row, what;
		bool in;
	} hard, soft;
};

struct fr_tl_hole {
	u64 since, until;	  /* at */
	u64 since_key, until_key; /* as fr_replay_run's rows, with shift_ns */
	u32 cpu;		  /* index in the list */
	u8 why;			  /* enum fr_gap_why */
};

struct fr_timeline {
	struct fr_replay *replay;
	bool fed;
	u32 boot_cnt;
	u64 span; /* length of the window in ns, at least 1 */
	u64 origin_key, end_key;
	struct fr_tl_event *event;
	u32 event_cnt, event_cap;
	struct fr_tl_task *task; /* [0]: the idle tasks */
	u32 task_cnt, task_cap;
	struct fr_tl_cpu *cpu; /* in no order */
	u32 cpu_cnt;
	struct fr_tl_hole *hole;
	u32 hole_cnt;
	struct fr_tl_rows samples;
	u64 begin;   /* from there on all CPUs have their history, which may have holes */
	u64 horizon; /* common */
	u64 end; /* the last event of the main tier, or when the last of its rings was copied; after it, what runs is unknown */
	bool has_trigger;
	u64 trigger;	/* at; may lie outside the window, above span */
	u32 focus;	/* index of the task it is about, FR_TL_NO_TASK */
	u32 parts;	/* of FR_MEMORY_PARTS: where it ends */
	u32 room_asked; /* rows */
	bool full;	/* it ended for lack of memory: the window's later events are counted here */
	u64 left_out_cnt;
	bool loaded;
	u64 loaded_at;		       /* so far */
	struct fr_timeline_work *work; /* internal to the module */
};

/*
 * The replay must have been opened with names, and with history if it has a window; it must live as long. fed: the caller reads
 * the replay, and passes on what it reads; events and rows are not kept then, only numbered. Otherwise the replay has no rows
 * once all is loaded. 0 and *out, or -ENOMEM. Empty until loaded.
 */
int fr_timeline_new(struct fr_replay *r, bool fed, struct fr_timeline **out);
void fr_timeline_free(struct fr_timeline *t); /* NULL is fine */

/* Read some row_cnt further rows. 1: there is more; 0: all is loaded; -errno. */
int fr_timeline_load(struct fr_timeline *t, u32 row_cnt);

/*
 * Fed: each run of the replay; what was lost, as fr_replay_tell_lost() tells it; then the end. 0 or -ENOMEM. Of the events that
 * the filter takes, it has the first event_cnt.
 */
int fr_timeline_take(struct fr_timeline *t, const struct fr_replay_run *run);
int fr_timeline_lost(void *timeline, const struct fr_replay_lost *lost);
int fr_timeline_end(struct fr_timeline *t);

/* Fed: the caller will take so much beside it once all is read: it ends earlier by that. */
void fr_timeline_reserve(struct fr_timeline *t, u64 sz);

/* ---- lookup ---- */

/* The last change at or before `at`, NULL: none; and when it ends. */
const struct fr_tl_change *fr_tl_change_at(const struct fr_tl_changes *c, u64 at);
u64 fr_tl_change_end(const struct fr_timeline *t, const struct fr_tl_changes *c, const struct fr_tl_change *v);

/* The number of the first one that ends after `at`; cnt: none. */
u32 fr_tl_span_from(const struct fr_tl_spans *s, u64 at);

/* The index in rows of the first row at or after `at`. rows NULL: of all events. */
u32 fr_tl_row_from(const struct fr_timeline *t, const struct fr_tl_rows *rows, u64 at);

/* The contents of columns: [from, to) in `width` of them. */
struct fr_tl_col {
	u16 part[FR_TL_STATE_CNT]; /* thousandths; of a CPU: UNKNOWN, RUNS busy, SLEEPS idle */
	u32 top;		   /* `what` of the longest piece; for a CPU the longest busy one */
	bool begins;		   /* a different piece from the column before */
};

/* Fill col[width] from the changes of a task; of a CPU. Times are of the recording clock. */
void fr_tl_task_cols(const struct fr_timeline *t, const struct fr_tl_changes *c, u64 from, u64 to, u32 width,
		     struct fr_tl_col *col);
void fr_tl_cpu_cols(const struct fr_timeline *t, const struct fr_tl_changes *c, u64 from, u64 to, u32 width,
		    struct fr_tl_col *col);

/* The thousandths of each column that spans cover, and `what` and row of the longest. */
struct fr_tl_cover {
	u16 part;
	u32 what, row;
};
void fr_tl_cover_cols(const struct fr_tl_spans *s, u64 from, u64 to, u32 width, struct fr_tl_cover *col);

/* Where column x begins. */
static inline u64 fr_tl_col_at(u64 from, u64 to, u32 width, u32 x)
{
	return from + (u64)((unsigned __int128)(to - from) * x / width);
}

/* ---- an event itself (timeline_event.c) ---- */

struct fr_tl_reader; /* opaque: keeps the chunks read last */

struct fr_tl_reader *fr_tl_reader_new(const struct fr_timeline *t); /* NULL: no memory */
void fr_tl_reader_free(struct fr_tl_reader *r);			    /* NULL is fine */

/* The row, valid until the next call; the view of its file. 0, -EBADMSG or -ENOMEM. */
int fr_tl_reader_row(struct fr_tl_reader *r, u32 row, struct fr_row *out, const struct fr_view **view);

#endif
