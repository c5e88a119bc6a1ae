/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export: writes the events of snapshots in the formats of other tools. Streaming: memory does not grow with the file.
 *
 * Each format is an fr_exporter in a file of its own (export_NAME.c) and an entry of FR_EXPORTERS. json and csv only say here
 * what they are: they need one event at a time, so the command implements them with the public library.
 */
#ifndef FR_EXPORT_H
#define FR_EXPORT_H

#include "base/rows/whose.h"
#include "base/text/out.h"
#include "read/replay/replay.h"
#include "read/replay/wakers.h"
#include "read/symbols/symbols.h"

struct fr_export_ask {
	const char *format;
	const char *path; /* NULL: standard output */
	struct fr_replay_opts opts;
	const char *const *file;
	u32 file_cnt;
	bool off_cpu;	 /* folded: time off the CPU instead of samples */
	u32 whose;	 /* folded: frames before the task's name (base/rows/whose.h), bits */
	bool no_symbols; /* raw addresses */
	struct fr_symbols_opts symbols;
	const char *verdict; /* html: what `report` says of the file, members of JSON; NULL: nothing */
	int verdict_err;     /* -errno: it could not be found, so there can be no page */
};

struct fr_frames;
struct fr_export_gaps;
struct fr_exporter;

/* An export in progress, for use by a format. */
struct fr_export {
	const struct fr_exporter *to;
	const struct fr_export_ask *ask;
	struct fr_replay *replay;
	const struct fr_snap *snap;  /* the first file: host, clocks */
	struct fr_export_gaps *gaps; /* what is missing from all files: show/export/export_gaps.h */
	struct fr_out *out;	     /* formats of one file */
	const char *path;	     /* the file to be written, NULL: standard output */
	u32 file;		     /* of the current row: number of its snapshot */
	bool off_cpu;
	struct fr_wakers **wakers; /* of each boot */
	struct fr_sub *waking;	   /* of each file: event sched_waking, its target and its waker */
	struct fr_frames *frames;  /* symbols, NULL: none wanted; fr_frames_of() is for the current row */
	int dir_fd;		   /* formats that write a folder: the directory, under a temporary name */
	void *state;		   /* private to the format, which allocates it with calloc(); freed here */
	u64 event_cnt;		   /* events written */
	u64 left_out;		   /* events that the format cannot represent */
};

struct fr_exporter {
	const char *name;
	const char *doc;
	bool binary;	  /* not for a terminal */
	bool one_boot;	  /* cannot hold several hosts or boots */
	bool one_session; /* nor several snapshots of one boot; implies one_boot */
	bool folder;	  /* writes several files into a new directory */
	bool stacks;	  /* has symbolized stacks, json on request */
	bool whose;	  /* needs whose the processes are: fr_export_each_whose() */
	bool columns;	  /* takes ask->whose */
	bool by_library;  /* not implemented here: only the name is */
	/* as in struct fr_replay_opts */
	const char *pairs_without;
	bool pairs;
	bool history; /* run() gets rows before the window, too */
	/* each returns 0 or -errno; NULL: nothing to do */
	int (*begin)(struct fr_export *x);
	int (*row)(struct fr_export *x, const struct fr_view *v, const struct fr_row *r);
	/* before the rows of a run; what could not be read, as fr_replay_tell_lost() tells it */
	int (*run)(struct fr_export *x, const struct fr_replay_run *run);
	int (*lost)(struct fr_export *x, const struct fr_replay_lost *lost);
	/* for every row of the window, matching or not; after row() */
	int (*see)(struct fr_export *x, const struct fr_view *v, const struct fr_row *r);
	int (*end)(struct fr_export *x);
	void (*release)(struct fr_export *x); /* free what state points to */
};

/* All formats, in the order of help and manual: an entry for each fr_exporter fr_export_NAME. */
#define FR_EXPORTERS(E) E(perfetto) E(ctf) E(tracecmd) E(folded) E(perf) E(json) E(csv) E(html)

#define E(name) extern const struct fr_exporter fr_export_##name;
FR_EXPORTERS(E)
#undef E

/* The formats, NULL after the last. */
const struct fr_exporter *fr_exporter_nr(u32 i);

/* Find a format by name. NULL: there is none, which is reported. */
const struct fr_exporter *fr_exporter_find(const char *name);

/*
 * Have fn write into a file that gets its name when it is complete, or does not exist. path NULL: to standard output. 0 or
 * -errno, of fn (which says why) or of the file (said).
 */
typedef int (*fr_export_fn)(void *arg, int fd);
int fr_export_to_path(const char *path, fr_export_fn fn, void *arg);

/* Report how much was written, so that a truncated file can be told from a complete one. */
void fr_export_say(const char *path, const char *format, u64 event_cnt);

/* Report a failed write, unless it was to a pipe that nobody reads. Returns the exit status. */
int fr_export_status(int err, bool damaged);

/*
 * The kernel's common_flags of an event, where they are known: a waking that a handler did, on top of the event's task, says so
 * (TRACE_FLAG_*), by the record of the wait that it ended or by its own word. For events of the current file.
 */
#define FR_EXPORT_HARDIRQ 0x08u
#define FR_EXPORT_SOFTIRQ 0x10u
u8 fr_export_flags(const struct fr_export *x, const struct fr_row *r);

/* CPU numbers are below this in all files. */
u32 fr_export_cpu_cnt(const struct fr_export *x);

/* The tasks of all files, each once, by tid and start: malloc'ed. NULL: no memory. */
struct fr_snap_task *fr_export_tasks(const struct fr_export *x, size_t *cnt);

/* May events from begin_ns on be the task's? It has some behind its exit, until its last switch: what it had is freed. */
bool fr_export_is_there(const struct fr_snap_task *t, u64 begin_ns);

/* Whose a process is, beside its name. */
#define FR_EXPORT_WHOSE_MAX 4095u
struct fr_export_whose {
	const struct fr_snap_task *task; /* its first thread */
	struct fr_who who;		 /* when the window begins or, if it was born later, at birth */
	/* NULL: it has none, or that is not known; FR_WHOSE_program: always. At most FR_EXPORT_WHOSE_MAX bytes, of any kind */
	const char *text[FR_WHOSE_CNT];
};

/* Call fn for each process of the window of which any of it is known, in the order of fr_export_tasks(). 0 or -errno. */
typedef int (*fr_export_whose_fn)(void *arg, const struct fr_export_whose *w);
int fr_export_each_whose(const struct fr_export *x, fr_export_whose_fn fn, void *arg);

/* Who it was at begin_ns or, if it was born later, at birth. */
struct fr_who fr_export_who(const struct fr_export *x, const struct fr_snap_task *t, u64 begin_ns);

/*
 * Who has a CPU at at_ns, as read/replay/holder.h tells it. 1 and *tid; 0: not known; -ENOMEM. For one boot; reads a chunk, so
 * not between two rows.
 */
int fr_export_holder(const struct fr_export *x, u16 cpu, u64 at_ns, u32 *tid);

/* Returns the exit status; messages are printed. A file gets its name once it is complete; otherwise it does not appear. */
int fr_export(const struct fr_export_ask *ask);

#endif
