/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * handle: what is behind the public library's opaque types. Internal to lib.
 *
 * Types of the schema are the inner ones under another name: struct flightrec_type is struct fr_event, flightrec_field is
 * fr_field, flightrec_ring is fr_sum_ring.
 */
#ifndef FR_LIB_HANDLE_H
#define FR_LIB_HANDLE_H

#include "base/err.h"
#include "base/text/out.h"
#include "lib/flightrec.h"
#include "read/replay/klogs.h"
#include "read/replay/missing.h"
#include "read/replay/replay.h"
#include "read/replay/summary.h"
#include "read/symbols/frames.h"
#include "show/format/format_text.h"

#define FR_LIB_ERROR_SZ 2048

struct flightrec_event {
	struct flightrec *fr;
	struct fr_row row;
	bool matches;
};

struct flightrec_gap {
	struct flightrec *fr;
	struct fr_gap gap;
	u32 file;
};

struct flightrec_kmsg {
	struct flightrec *fr;
	const struct fr_klogs_item *item;
};

struct flightrec_stack {
	const struct fr_frame *frame;
	u32 cnt;
	char text[FR_FRAME_TEXT_SZ];
};

/* A row of a table that has no struct of its own in the snapshot. */
union fr_lib_row {
	struct {
		u64 events, bytes, raw_bytes, start_ns, end_ns, lost, holes, damage, ties, ahead, losers, states, kmsgs, deaths;
	} summary;
	struct {
		const char *name, *value;
	} fact;
	struct {
		const char *name;
		u64 horizon_ns, events;
	} tier;
	struct {
		u64 kernel, jit, mappings, processes, stacks, vdso;
	} names;
	struct {
		u64 begin_ns, end_ns, hz, taken, taken_ever, lost_ever, keys, stackless;
	} profile;
	struct {
		const char *kind;
		u64 count;
	} incidents;
	struct {
		const char *name, *object, *kind, *unit, *meaning;
		u64 ts, value;
	} counters;
};

struct flightrec {
	/* what is to be read; the handle owns the texts */
	char **path;
	u32 path_cnt;
	char *filter;
	char *symfs;
	unsigned flags;
	struct fr_replay_opts opts;
	struct fr_symbols_opts symbols;

	/* messages */
	struct fr_err_sink sink;
	flightrec_log_fn log;
	void *log_arg;
	char error[FR_LIB_ERROR_SZ];

	/* what is being read */
	struct fr_replay *replay; /* NULL: not opened */
	bool failed;		  /* opening failed: nothing more can be done */
	struct fr_replay_run run; /* rows from `at` on are still to come */
	u32 at;
	u64 last_key;
	bool ended;    /* the last event has been returned */
	bool disorder; /* a time went backwards: the file is not what it says */
	struct flightrec_event event;
	struct fr_missing *missing; /* NULL until needed */
	struct flightrec_gap gap;
	struct fr_klogs klogs; /* none until asked for */
	size_t klog_at;
	struct flightrec_kmsg kmsg;
	struct fr_summary **summary; /* by file, NULL until asked for */
	struct fr_frames *frames;    /* NULL until asked for */
	int stacks_err;		     /* -ENOMEM: a stack printed in words is incomplete */

	/* the last answers, which live until the same is asked again */
	char comm[FR_COMM_SZ + 1];
	struct flightrec_stack stack;
	struct flightrec_printer *text, *json;
	struct fr_out words;
	struct fr_text words_text; /* what is kept for words */
	union fr_lib_row row;
	char row_text[FR_COMM_SZ + 1];
};

/*
 * From fr_lib_enter() to fr_lib_leave(), messages of the functions called go to the handle. fr_lib_leave() takes their result.
 */
const struct fr_err_sink *fr_lib_enter(struct flightrec *fr);
void fr_lib_leave(const struct fr_err_sink *was);

/* Report that something failed; returns err. */
int fr_lib_fail(struct flightrec *fr, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int fr_lib_no_memory(struct flightrec *fr);

/* Returns 0, or -EINVAL, reported: there is no handle, or it is not open. */
int fr_lib_check_open(struct flightrec *fr);

/* Is it open, and is there such a file? */
static inline bool fr_lib_has_file(const struct flightrec *fr, unsigned file)
{
	return fr && fr->replay && file < fr_replay_file_cnt(fr->replay);
}

/* What a file holds, from its headers and counters. NULL: no such file, or no memory. */
const struct fr_summary *fr_lib_summary(struct flightrec *fr, unsigned file);

/* Find what is missing, and collect damage from now on. 0, or -ENOMEM, reported. */
int fr_lib_follow_gaps(struct flightrec *fr);

/* The frames of the handle's stacks, ready for rows of its run. NULL: no memory. */
struct fr_frames *fr_lib_frames(struct flightrec *fr);

/* A field of an event by its number. NULL: no such field. */
static inline const struct fr_field *fr_lib_field(const struct flightrec_event *ev, int field)
{
	return field >= 0 && (u32)field < ev->row.ev->field_cnt ? &ev->row.ev->fields[field] : NULL;
}

/* Begin, or begin anew, a text in memory that fr_lib_text() returns. */
void fr_lib_text_begin(struct fr_out *o);

/* What was put, NUL-terminated, *sz bytes (or NULL), valid until o is used again. NULL: no memory. */
const char *fr_lib_text(struct fr_out *o, size_t *sz);

#endif
