/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * snapfile: the .flight file, written and read. docs/format.md is the specification.
 *
 * Writing: takes raw copies of sub-buffers; the result is a complete file under its final name, or nothing. Reading: nothing in
 * the file is trusted before it is checked; damaged parts are left out and reported.
 */
#ifndef FR_SNAPFILE_H
#define FR_SNAPFILE_H

#include <stdio.h>

#include "base/counter/counters.h"
#include "base/profile/prof.h"
#include "base/rows/batch.h"
#include "incident_layout.h"
#include "session.h"
#include "states.h"

/* ---- shared by both sides: the parts of a snapshot beside its events ---- */

/* A task of the task table, as in bpf/session.h, with its key. */
struct fr_snap_task {
	u32 tid;
	struct fr_task task;
	u64 start_ns;
};

/*
 * The counters of one ring when it was read, and what the reader missed. slot_cnt 0: they were lost with a part of the file.
 * Then there is only what its chunks tell: present, laps, and the first event as horizon; and there is a hole at its end.
 */
struct fr_snap_ring {
	u16 cpu;
	u8 tier;
	u32 slot_cnt;
	u32 subbuf_sz; /* bytes */
	u32 holder;    /* tid of the task that had the CPU when its main ring was copied, + 1; 0: not known */
	u64 written;   /* records ever */
	u64 overwritten;
	u64 present; /* records in the file from this ring */
	u64 lost[FR_LOST_CNT];
	u64 horizon_ns;		       /* history is complete from here on; 0: from the session's start */
	u64 end_ns;		       /* and up to here, when the ring was copied; 0: up to the file's last event */
	u64 first_seq, last_seq;       /* laps in the file, the last one possibly partial */
	u64 ties, ahead, losers;       /* clock health, of the CPU; in its main tier's entry */
	u64 filtered[FR_FILTERED_CNT]; /* likewise */
};

/* Laps that should have been there and are not. */
enum fr_hole_why { FR_HOLE_overwritten, FR_HOLE_inflight, FR_HOLE_damaged, FR_HOLE_cut, FR_HOLE_CNT };
struct fr_snap_hole {
	u16 cpu;
	u8 tier;
	u8 why; /* enum fr_hole_why */
	u64 first_seq, last_seq;
	u64 since_ns, until_ns; /* between the events around the hole, 0 unknown */
};

/* All clocks at one moment: BPF's are read in one run, wall time between two such runs. */
struct fr_snap_clock {
	u64 ts; /* recording clock */
	u64 mono_ns, boot_ns, tai_ns;
	u64 real_ns; /* CLOCK_REALTIME */
	u64 uncertainty_ns;
};

/* A record of the incident log; rec.done is its number + 1. */
struct fr_snap_incident {
	u32 epoch; /* the session's */
	struct fr_incident rec;
};

/*
 * How a task was when the snapshot was taken. It is the task of that tid and start time in the list of tasks, which has its
 * names.
 */
struct fr_snap_state {
	u32 tid;
	u64 start_ns;
	u64 at_ns;     /* when it was looked at, recording clock */
	u64 since_ns;  /* since when it has been as it is, 0: not known */
	u64 woken_ns;  /* when it was last woken, 0: not known */
	u64 kstack_id; /* of the event stack that has the kernel functions it waits in, 0: none */
	u64 cgroup;    /* id of the one it was in */
	u64 arg[FR_ARG_CNT_MAX];
	s32 id;	       /* of its system call, -1: none */
	u32 waker_tid; /* 0: no task is known to have woken it */
	u32 owner_tid; /* who held the lock that it waits for, by the lock's own memory; 0: not known */
	s32 prio;      /* the kernel's: 0 to 99 real time, 120 is nice 0; below 0 deadline */
	u16 state;     /* FR_PREV_STATE_*, 0: runnable, or it runs */
	u16 cpu;
	u8 abi;
	u8 in;		    /* enum fr_waited_in, FR_STATE_IN_NONE */
	u8 waker;	    /* enum fr_waker */
	u8 policy;	    /* the kernel's SCHED_* */
	u8 flags;	    /* FR_STATE_RUNS, FR_STATE_MOVED, FR_STATE_OWN, FR_STATE_BY_SWITCHES */
	u16 allowed_cnt;    /* CPUs that it might run on, by its affinity and its cpuset; 0: not known */
	const char *object; /* what its call is about, empty: not known */
};

/* A record of the kernel's log. */
struct fr_snap_klog {
	u64 seq;	    /* the kernel's number of it, since the machine began */
	u64 ts;		    /* recording clock */
	u64 uncertainty_ns; /* by which ts may be off; FR_KLOG_UNJOINED: the clocks were not compared, ts is the stamp */
	u64 stamp_ns;	    /* the log's own clock */
	u16 facility;	    /* 0: the kernel's own */
	u8 level;	    /* 0 to 7 */
	u8 flags;	    /* FR_KMSG_* (base/text/kmsg.h) */
	const char *text;
};
#define FR_KLOG_UNJOINED (~0ULL)

/* What a process had as it died: one thing of it. The values' meaning follows from what it is. */
enum fr_scene_what {
	FR_SCENE_limit = 1,   /* number: RLIMIT_*; soft, hard (all ones: none), used (all ones: not known) */
	FR_SCENE_descriptor,  /* number; flags (O_*), place in the file; text: its object, empty: not known */
	FR_SCENE_descriptors, /* number: how many were open; of those below so many, 0: of all */
	FR_SCENE_mapping,  /* number: its start; end, offset in the file, flags (FR_MAP_*); text: its name, empty: none, or not
			      known */
	FR_SCENE_build_id, /* number: start of a mapping; text: its file's, in hexadecimal */
	FR_SCENE_mappings, /* number: how many there were; instruction, stack pointer, address of the fault, all ones: of none
			    */
	FR_SCENE_thread,   /* number: its tid; how it was (fr_scene_how()), instruction, stack pointer; text: its name */
	FR_SCENE_threads,  /* number: how many there were */
	FR_SCENE_frame,	   /* number: { thread's tid | of the frame, from 0, the innermost }; instruction, FR_SCENE_FRAME_ */
	FR_SCENE_END,
};

#define FR_SCENE_FRAME_BITS  8
#define FR_SCENE_FRAME_MOST  32u /* of a thread; others are not shown */
#define FR_SCENE_FRAME_EXACT 1u	 /* the code was there; otherwise it returns there */
#define FR_SCENE_FRAME_LAST  2u	 /* the thread began there */

/* How a thread was: { call + 1:32 | abi:8 | FR_SCENE_THREAD_*:8 | FR_PREV_STATE_*:16 }. */
static inline u64 fr_scene_how(s32 call, u8 abi, u8 flags, u16 state)
{
	return (u64)((u32)call + 1) << 32 | (u32)abi << 24 | (u32)flags << 16 | state;
}

static inline s64 fr_scene_how_call(u64 how)
{
	return (s64)(how >> 32) - 1;
}

#define FR_SCENE_LIMIT_MOST 63u /* the kernel's highest number, and more to come */

struct fr_snap_scene {
	u32 tid; /* who died: the task of that tid and start time */
	u64 start_ns;
	u64 at_ns; /* recording clock */
	u8 what;   /* enum fr_scene_what; others are of later versions */
	u64 number;
	u64 value[3];
	const char *text;
};

#define FR_BUILD_ID_MAX 20

/*
 * A function that contains addresses of the file, as known when the snapshot was taken: of the kernel or one of its modules
 * (pid 0), or code that process pid generated at run time (its perf map).
 */
struct fr_snap_symbol {
	u32 pid;
	u64 addr, sz;	    /* its start and size in bytes; sz 0: unknown */
	const char *name;   /* as found, not demangled */
	const char *module; /* kernel module, or "[vdso]" of a process; NULL: the kernel itself, or made by the process */
};

/* An executable file mapping that frames of stacks lie in, of a process that was alive when the snapshot was taken. */
struct fr_snap_mapping {
	u32 pid;
	u64 begin, end;	  /* addresses: [begin, end) */
	u64 file_off;	  /* of begin, in bytes */
	const char *path; /* as the process saw it, perhaps under another root; "[vdso]" */
	u8 build_id[FR_BUILD_ID_MAX];
	u8 build_id_sz; /* 0: none, or it could not be read */
	bool deleted;	/* the path led to no file any more, or, where there is no build-id, to another one */
};

/* Where a frame of a user stack lay, as the kernel knew when the stack was taken. Also valid for processes that have ended. */
struct fr_snap_frame {
	u64 stack_id;
	u32 nr; /* 0: innermost */
	u8 build_id[FR_BUILD_ID_MAX];
	u8 build_id_sz;
	u64 file_off; /* of the frame's address, in the file with that build-id. Not to be trusted: see fr_snap_frame() */
};

/* Facts are name=value lines: host, kernel, boot_id, version, arch, session, profile, clock_mode, clock_grain_ns, cpus,
 * trigger_reason, trigger_pid, trigger_comm, trigger_sig, trigger_ts, begin_ns, end_ns, ...
 * For symbols: kernel_build_id and kernel_stext (hexadecimal), kernel_symbols ("ok", or why there are none). */

/* ---- writing ---- */

struct fr_snap_writer; /* opaque */

/*
 * Begin a snapshot that will be called path. It is written to a temporary file beside path, locked (flock) meanwhile. Temporary
 * files that dead writers left in that directory are removed. All memory, at most budget_sz bytes, is allocated when something
 * is put for the first time, and most of it, for encoding, with the first event. So many jobs, at least 1, encode events: the
 * caller's thread, and others until the snapshot is finished or given up; the file is the same if the budget is
 * fr_snap_writer_sz(jobs). 0 and *out, or -errno (and a message).
 */
int fr_snap_create(const char *path, size_t budget_sz, u32 jobs, struct fr_snap_writer **out);

/* The same into a file of the caller's without a name (fr_newfile_on()), which is all written once it is finished. */
int fr_snap_create_on(int fd, const char *what, size_t budget_sz, u32 jobs, struct fr_snap_writer **out);

/* The budget that suffices for all laps, or with more than one job for laps of up to FR_SNAP_JOBS_LAP_SZ. */
#define FR_SNAP_JOBS_LAP_SZ (512u << 10)
size_t fr_snap_writer_sz(u32 jobs);

/* Call this first. s must live until the snapshot is finished: it is needed to read the laps. */
int fr_snap_put_schema(struct fr_snap_writer *w, const struct fr_schema *s);
int fr_snap_put_fact(struct fr_snap_writer *w, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int fr_snap_put_tasks(struct fr_snap_writer *w, const struct fr_snap_task *t, size_t cnt);
int fr_snap_put_rings(struct fr_snap_writer *w, const struct fr_snap_ring *r, size_t cnt);
int fr_snap_put_holes(struct fr_snap_writer *w, const struct fr_snap_hole *h, size_t cnt);
int fr_snap_put_clocks(struct fr_snap_writer *w, const struct fr_snap_clock *c, size_t cnt);
int fr_snap_put_incidents(struct fr_snap_writer *w, const struct fr_snap_incident *inc, size_t cnt);
/* NDJSON about living processes, one per line: {"pid":..,"cmdline":..,"exe":..,"cgroup":..}. */
int fr_snap_put_procs(struct fr_snap_writer *w, const char *text, size_t sz);
/* Formats of tracepoints, one after the other (base/tp/tps.h). */
int fr_snap_put_formats(struct fr_snap_writer *w, const char *text, size_t sz);
int fr_snap_put_profile(struct fr_snap_writer *w, const struct fr_prof *p);
int fr_snap_put_blocked(struct fr_snap_writer *w, const struct fr_prof *p); /* base/profile/blocked.h */
int fr_snap_put_counters(struct fr_snap_writer *w, const struct fr_counters *c);
/* In any order. Texts longer than 4095 bytes are truncated. */
int fr_snap_put_symbols(struct fr_snap_writer *w, const struct fr_snap_symbol *y, size_t cnt);
int fr_snap_put_mappings(struct fr_snap_writer *w, const struct fr_snap_mapping *m, size_t cnt);
int fr_snap_put_states(struct fr_snap_writer *w, const struct fr_snap_state *t, size_t cnt);
int fr_snap_put_klog(struct fr_snap_writer *w, const struct fr_snap_klog *l, size_t cnt);
int fr_snap_put_scenes(struct fr_snap_writer *w, const struct fr_snap_scene *n, size_t cnt);

/* One lap, copied out of a ring: com units of a sub-buffer, sz bytes at buf. Oldest first for each ring. */
struct fr_snap_lap {
	const void *buf;
	size_t sz;
	u32 epoch;
	u16 cpu;
	u8 tier;
	u64 seq;
	struct fr_secrets *secrets; /* as in struct fr_rows_lap */
	void *tag;		    /* the caller's, for struct fr_snap_lap_rows */
};

/*
 * Add the events of a lap from since_ns on (0: all). Its bytes must stay until fr_snap_settle() has succeeded or the snapshot
 * is finished or given up; they are checked like a file's. Rings may come in any order; fastest is to put all laps of one ring,
 * oldest first, before those of the next. 0 or -errno.
 */
int fr_snap_put_lap(struct fr_snap_writer *w, const struct fr_snap_lap *lap, u64 since_ns);

/* All laps put so far are encoded: their bytes are no longer needed, and all have been told of. 0 or -errno. */
int fr_snap_settle(struct fr_snap_writer *w);

/* What became of a lap: rows [from, to) of rows, which belongs to the writer; bad pages are left out. */
struct fr_rows;
struct fr_snap_lap_rows {
	void *tag; /* the lap's */
	const struct fr_rows *rows;
	u32 from, to;
	u32 damaged_pages;
};

/* Call fn for each lap, in the order put, in the caller's thread, before fr_snap_settle() returns. */
typedef void (*fr_snap_lap_fn)(void *arg, const struct fr_snap_lap_rows *got);
void fr_snap_watch_laps(struct fr_snap_writer *w, fr_snap_lap_fn fn, void *arg);

/* Finish: index, fdatasync, rename without replacing, fsync of the directory. Frees w. 0; or -errno, and no file is left. */
int fr_snap_finish(struct fr_snap_writer *w);

/* Give up: removes the temporary file, frees w; NULL is fine. */
void fr_snap_abort(struct fr_snap_writer *w);

/* ---- reading ---- */

struct fr_snap; /* opaque */

/* An event chunk, as described by its header. */
struct fr_chunk {
	u64 file_off;
	u64 stored_sz; /* compressed */
	u64 raw_sz;    /* bytes of its records, unfolded */
	u64 ring_sz;   /* bytes they took in the ring */
	u64 first_ts, last_ts;
	u64 first_seq, last_seq;
	u32 epoch;
	u32 row_cnt;
	u32 first_off; /* of the first row's record */
	u16 cpu;
	u8 tier;
	bool damaged; /* found damaged when it was decoded */
	bool skips;   /* a lap between its first and its last one is missing, or not whole */
	bool context; /* see read/snapfile/snapfile_rows.h; never set in fr_snap_chunks() */
};

/*
 * Open a snapshot. 0 and *out; -EBADMSG: not a snapshot, or nothing in it could be read; -EPROTONOSUPPORT: a sound file of
 * another major version of the format; -ESPIPE: a pipe; -errno of the system. Damage that leaves something to read is not an
 * error here: see fr_snap_damage(). Messages are the caller's.
 */
int fr_snap_open(const char *path, struct fr_snap **out);
void fr_snap_close(struct fr_snap *s);

const struct fr_schema *fr_snap_schema(const struct fr_snap *s);
const char *fr_snap_fact(const struct fr_snap *s, const char *name); /* NULL if there is none */
const char *fr_snap_choice(const struct fr_snap *s); /* record's options, if they chose tasks or events, as -f does; or NULL */

/* Was this event recorded, according to the file? If the file does not say: does its schema know the event? */
bool fr_snap_records(const struct fr_snap *s, const char *event);

const struct fr_snap_task *fr_snap_tasks(const struct fr_snap *s, size_t *cnt);
const struct fr_snap_ring *fr_snap_rings(const struct fr_snap *s, size_t *cnt);
const struct fr_snap_hole *fr_snap_holes(const struct fr_snap *s, size_t *cnt);
const struct fr_snap_clock *fr_snap_clocks(const struct fr_snap *s, size_t *cnt);
const struct fr_snap_incident *fr_snap_incidents(const struct fr_snap *s, size_t *cnt);
const char *fr_snap_procs(const struct fr_snap *s, size_t *sz);
const char *fr_snap_formats(const struct fr_snap *s, size_t *sz);		      /* NULL: none */
const struct fr_snap_symbol *fr_snap_symbols(const struct fr_snap *s, size_t *cnt);   /* sorted by (pid, addr) */
const struct fr_snap_mapping *fr_snap_mappings(const struct fr_snap *s, size_t *cnt); /* sorted by (pid, begin) */
const struct fr_snap_state *fr_snap_states(const struct fr_snap *s, size_t *cnt);     /* sorted by (tid, at_ns) */
const struct fr_snap_klog *fr_snap_klog(const struct fr_snap *s, size_t *cnt);	      /* sorted by (ts, seq) */
const struct fr_snap_scene *fr_snap_scenes(const struct fr_snap *s, size_t *cnt);     /* by death, what, number */
const struct fr_chunk *fr_snap_chunks(const struct fr_snap *s, size_t *cnt);	      /* by file order */
const u64 *fr_snap_lost_chunks(const struct fr_snap *s,
			       size_t *cnt); /* places, as file_off, of event chunks without a header */
/* A ring's: their numbers in fr_snap_chunks(), by their places in the ring. */
const size_t *fr_snap_chunks_of(const struct fr_snap *s, u32 epoch, u16 cpu, u8 tier, size_t *cnt);
const struct fr_prof *fr_snap_profile(const struct fr_snap *s);	     /* NULL: there is none */
const struct fr_prof *fr_snap_blocked(const struct fr_snap *s);	     /* likewise */
const struct fr_counters *fr_snap_counters(const struct fr_snap *s); /* NULL: they were not recorded */

/* Is the file's end lost, with the accounts of rings? Then there may have been CPUs of which it has nothing. */
bool fr_snap_lost_end(const struct fr_snap *s);
u64 fr_snap_size(const struct fr_snap *s); /* bytes of the file */

/*
 * Decode chunk i into b (zero it before first use; its memory is reused; fr_batch_free() at the end). 0, or -EBADMSG: damaged,
 * none of it is shown, and it is counted. -ENOMEM.
 */
int fr_snap_read_chunk(struct fr_snap *s, size_t i, struct fr_batch *b);
void fr_batch_free(struct fr_batch *b);

/* The same without decoding, for what is not needed: is it stored undamaged, by its hash? */
int fr_snap_check_chunk(struct fr_snap *s, size_t i);

/*
 * Reading in two steps. The first does not change s, so several threads can take it at once, each with its own decoder. The
 * second reports and counts what the first found, in the thread that owns s. Both return as fr_snap_read_chunk().
 */
struct fr_snap_decoder; /* opaque */
struct fr_snap_decoded {
	int err;
	u32 unknown; /* events unknown to its schema */
};
int fr_snap_decoder_new(struct fr_snap_decoder **out); /* 0 or -ENOMEM */
void fr_snap_decoder_free(struct fr_snap_decoder *d);  /* NULL is fine */
struct fr_snap_decoded fr_snap_decode_chunk(const struct fr_snap *s, struct fr_snap_decoder *d, size_t i, struct fr_batch *b);
int fr_snap_note_decoded(struct fr_snap *s, size_t i, struct fr_snap_decoded got);

/*
 * Where frame nr of user stack stack_id lay: true and *out, or false if the file does not say. The kernel has been seen to
 * report garbage frames as valid: check that the offset lies in an executable part of the file with that build-id. The first
 * call reads all stacks, so do not call this from several threads at once.
 */
bool fr_snap_frame(const struct fr_snap *s, u64 stack_id, u32 nr, struct fr_snap_frame *out);

/* The number of stacks with frames that fr_snap_frame() finds. */
size_t fr_snap_frame_stack_cnt(const struct fr_snap *s);

/*
 * What is wrong with the file: the number of findings so far and the text of each ("chunk at byte 1234: checksum"); 0 if it is
 * sound.
 */
size_t fr_snap_damage(const struct fr_snap *s);
const char *fr_snap_damage_text(const struct fr_snap *s, size_t i);

#endif
