/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * replay: the events of one or several snapshots in one order, with everything known around them.
 *
 * Snapshots of one boot share a clock, names and stacks, and events they have in common come once. Other boots are ordered by
 * wall time.
 */
#ifndef FR_REPLAY_H
#define FR_REPLAY_H

#include "base/filter/filter.h"
#include "base/rows/merge.h"
#include "base/rows/subscribe.h"
#include "base/rows/view.h"
#include "base/text/when.h"
#include "read/snapfile/snapfile.h"

/* Tiers shown by default: stacks are shown with their samples. */
#define FR_REPLAY_TIERS (~(1u << FR_TIER_STACK))

/*
 * Threads: as many as CPUs that this process may run on, but no more than there is work for: 4 if events are only counted,
 * because three can decode what one merges; 2 if processing an event costs more than decoding it. Small files take no time: the
 * caller alone.
 */
#define FR_REPLAY_JOBS_AUTO (~0u)
#define FR_REPLAY_JOBS_FEW  (~0u - 1)
#define FR_REPLAY_JOBS_MAX  4u

struct fr_replay_opts {
	struct fr_when since, until; /* FR_WHEN_NEVER: no limit; both inclusive */
	u32 tiers;		     /* bits of the tiers to show */
	const char *filter;	     /* expression, or NULL */
	bool pairs;		     /* print paired values (view->pair); a filter that needs them need not set this */
	bool spans;		     /* rows also tell what a reader of spans needs (view->span): pairs and waking tasks */
	bool history;		     /* rows before `since` come, too: what began before the window is known */
	const char *pairs_without;   /* pairs, if the first file does not record this event; NULL: no such one */
	bool cgroups;		     /* will cgroups be needed (view->cgroups)? Likewise */
	u32 whose;		     /* print these (base/rows/whose.h): bits */
	u32 jobs;   /* threads, including the caller's: 0 and 1 mean only the caller; FR_REPLAY_JOBS_AUTO, _FEW */
	bool names; /* will names or stacks be needed? Without a filter and output they need not be read */
};

struct fr_replay; /* opaque */

/* The next rows: [from, to) of b. Times of all runs, shift_ns added, do not decrease. */
struct fr_replay_run {
	const struct fr_batch *b;
	u32 from, to;
	u64 shift_ns;
	const struct fr_view *view;
	const struct fr_filter *filter; /* NULL: all rows */
	u32 file;			/* number of its snapshot, counting those that could be opened */
};

/*
 * Open snapshots. 0 and *out; or, with a message: -EINVAL: the filter or a time is wrong; -EBADMSG: no file is a snapshot;
 * -errno. If only some files are not snapshots, that is reported and counts as damage.
 */
int fr_replay_open(const char *const *path, u32 cnt, const struct fr_replay_opts *opts, struct fr_replay **out);
void fr_replay_close(struct fr_replay *r); /* NULL is fine */

/* No more rows are wanted: free what reading them takes. What a row pointed to is gone; fr_replay_next() says that it is the
 * end. */
void fr_replay_end_rows(struct fr_replay *r);

/*
 * From here on only these columns of events will be read; may be called once. Everything that is checked still is. Chunks read
 * before have all columns, and so do all chunks if a filter or pairs need them.
 */
void fr_replay_want(struct fr_replay *r, const struct fr_wants *w);

/* Something of a CPU and tier could not be read: events are missing there, the first at since_ns, the last at until_ns. */
struct fr_replay_lost {
	u32 boot;
	u16 cpu;
	u8 tier;
	u64 since_ns, until_ns; /* on the clock of the ring */
};

/* 0 or -errno. */
typedef int (*fr_replay_lost_fn)(void *arg, const struct fr_replay_lost *lost);

/* From here on call fn for each part that is skipped: after the runs before it and before those behind it. */
void fr_replay_tell_lost(struct fr_replay *r, fr_replay_lost_fn fn, void *arg);

/* The next run: 1 and *run, valid until the next call; 0 at the end; -errno. */
int fr_replay_next(struct fr_replay *r, struct fr_replay_run *run);

/*
 * If names and stacks were not needed: look for damage in what holds them, as reading them would have, by the hashes of what is
 * stored. 0 or -errno.
 */
int fr_replay_check_unread(struct fr_replay *r);

/* If no event will be read: look for damage in all of them, by the hashes of what is stored. 0 or -errno. */
int fr_replay_check_stored(struct fr_replay *r);

/* Did the filter select row i of a run? Then it is in *row. */
bool fr_replay_match(const struct fr_replay_run *run, u32 i, struct fr_row *row);

/* A row to be shown; run: its origin. Returns 0 to continue; anything else ends the walk and is its result. */
typedef int (*fr_replay_row_fn)(void *arg, const struct fr_replay_run *run, const struct fr_row *row);

/* Call fn for each event of the window that matches, in order. 0, what fn returned, or -errno. */
int fr_replay_each(struct fr_replay *r, fr_replay_row_fn fn, void *arg);

/* The number of snapshots that could be opened. */
u32 fr_replay_file_cnt(const struct fr_replay *r);

/* The number of boots they come from. */
u32 fr_replay_boot_cnt(const struct fr_replay *r);

/* The number of a file's boot, below fr_replay_boot_cnt(). */
u32 fr_replay_boot(const struct fr_replay *r, u32 file);

/* The view of a file's events. */
const struct fr_view *fr_replay_view(const struct fr_replay *r, u32 file);

/*
 * Compile an expression for a file; a name that has a meaning in another one of them is no mistake. The replay must live as
 * long. Returns as fr_filter_new().
 */
int fr_replay_filter_new(const struct fr_replay *r, u32 file, const char *expr, struct fr_filter **out,
			 struct fr_filter_error *error);

/* A file itself; it belongs to the replay. */
const struct fr_snap *fr_replay_snap(const struct fr_replay *r, u32 file);

/* The same, for reading its chunks beside the replay. */
struct fr_snap *fr_replay_file(struct fr_replay *r, u32 file);

/* Its path, as given to fr_replay_open(). */
const char *fr_replay_path(const struct fr_replay *r, u32 file);

/* First and last event of the window, on the first file's clock; if no event can be in it, its length is 0. */
void fr_replay_window(const struct fr_replay *r, u64 *begin_ns, u64 *end_ns);

/* The same on another file's clock: each boot has its own. */
void fr_replay_file_window(const struct fr_replay *r, u32 file, u64 *begin_ns, u64 *end_ns);

/* The time that was asked for as the window's begin, on the file's clock; 0: none. With history, rows before it come, too. */
u64 fr_replay_since(const struct fr_replay *r, u32 file);

/*
 * The moment on a boot's clock that a time means (docs/filter.md, windows): relative ones count from the first event of all
 * files, or back from the trigger or the moment at which all tiers end, whatever tiers this replay shows; stacks are no events.
 * 0, or as fr_when_resolve().
 */
int fr_replay_resolve(const struct fr_replay *r, u32 boot, const struct fr_when *w, s64 *ts);

/* What is added to a file's clock so that times of all boots are in one order. */
u64 fr_replay_shift(const struct fr_replay *r, u32 file);

/* The schema of a file's events. */
const struct fr_schema *fr_replay_schema(const struct fr_replay *r, u32 file);

/*
 * Bind an event of a file as fr_subscribe(), and if it was recorded without what is wanted, say so on standard error, once for
 * each event of a file.
 */
int fr_replay_subscribe(struct fr_replay *r, u32 file, const struct fr_sub_want *want, struct fr_sub *out);

/* Wall times of the first and last event, 0 unknown. */
void fr_replay_span(const struct fr_replay *r, u64 *begin_ns, u64 *end_ns);

/* Report on standard error the damage found so far. Returns whether there was any. */
bool fr_replay_say_damage(const struct fr_replay *r);

/*
 * If the files are of several boots or hosts, say that `what` ("a report") needs one, and how to get it. Returns whether they
 * are.
 */
bool fr_replay_say_boots(const struct fr_replay *r, const char *what);

/* The same for several snapshots of one boot: each may have other events, rings and holes. */
bool fr_replay_say_sessions(const struct fr_replay *r, const char *what);

/* What is damaged of one snapshot: some findings in words, then the number of others. Whether there are any. */
bool fr_snap_say_damage(const struct fr_snap *s, const char *path);

/* Has any damage been found so far, reported or not? */
bool fr_replay_is_damaged(const struct fr_replay *r);

/* Report why a snapshot could not be opened. */
void fr_snap_say_error(const char *path, int err);

#endif
