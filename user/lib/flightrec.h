/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flightrec: read snapshots of the flight recorder, as `flightrec replay` does. See flightrec(3) and docs/library.md.
 *
 *	struct flightrec *fr = flightrec_new();
 *	const struct flightrec_event *ev;
 *	int got;
 *
 *	if (!fr || flightrec_add(fr, "x.flight") || flightrec_set_filter(fr, "event == sys_exit && latency > 1ms") ||
 *	    flightrec_open(fr))
 *		errx(1, "%s", fr ? flightrec_error(fr) : "out of memory");
 *	while ((got = flightrec_next(fr, &ev)) > 0)
 *		puts(flightrec_event_text(ev, NULL));
 *	flightrec_free(fr);
 *
 * Calls return 0 or a negative errno. If a call fails that sets, opens, reads on or makes something, flightrec_error() says
 * what failed, why, and what to do. Of calls that ask an event or a table for a value, and of printing, the number says
 * everything. A NULL handle gives -EINVAL, or nothing; a NULL name is a name that does not exist; a NULL text that opening
 * needs gives -EINVAL. Nothing is printed, and the process is never ended. Times are in ns, of the recording clock unless a
 * name says wall. Texts are UTF-8 as far as the recorded host's were; they come from other people's files, so escape them
 * before they reach a terminal. Numbers and times are read and written in the same way in every locale.
 *
 * A handle, with everything made from it, is for one thread at a time. Handles share nothing: each may have its own thread.
 */
#ifndef FLIGHTREC_H
#define FLIGHTREC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLIGHTREC_VERSION_MAJOR	 0
#define FLIGHTREC_VERSION_MINOR	 1
#define FLIGHTREC_VERSION_MICRO	 0
#define FLIGHTREC_VERSION	 "0.1.0"
#define FLIGHTREC_VERSION_NUMBER (FLIGHTREC_VERSION_MAJOR * 1000000 + FLIGHTREC_VERSION_MINOR * 1000 + FLIGHTREC_VERSION_MICRO)

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct flightrec;	  /* one or several snapshots, opened to be read in one order */
struct flightrec_event;	  /* an event; valid until the next one is read */
struct flightrec_type;	  /* a kind of event, like sched_switch; of the file's schema, lives as long as the handle */
struct flightrec_field;	  /* a field of such a kind, like next_pid; lives as long as the handle */
struct flightrec_kmsg;	  /* a record of the kernel's log; valid until the next one is asked for */
struct flightrec_gap;	  /* where events of a CPU are missing; valid until the next one is asked for */
struct flightrec_filter;  /* a compiled expression */
struct flightrec_stack;	  /* a stack in words */
struct flightrec_ring;	  /* what was recorded and lost on a CPU in a tier */
struct flightrec_printer; /* events as text or JSON */

/* The version of the running library, as FLIGHTREC_VERSION of its header. */
const char *flightrec_version(void);

/* ---- a handle ---- */

/* Returns NULL if there is no memory. */
struct flightrec *flightrec_new(void);

/* Frees everything made from it except filters and printers, which must be freed before. NULL is fine. */
void flightrec_free(struct flightrec *fr);

/* The message of the last call that failed, "" if none has. Valid until the next call with this handle. */
const char *flightrec_error(const struct flightrec *fr);

/*
 * Have fn called with each message as it arises: those of calls that fail, and warnings about what makes no call fail. text:
 * without a newline at its end, control characters of names and paths escaped, newlines too: a newline in it is the message's
 * own. fn may not use the handle.
 */
enum { FLIGHTREC_LOG_ERROR, FLIGHTREC_LOG_WARNING };
typedef void (*flightrec_log_fn)(void *arg, int level, const char *text);
void flightrec_set_log(struct flightrec *fr, flightrec_log_fn fn, void *arg);

/* ---- what to read; all before flightrec_open(), after it they give -EBUSY ---- */

/* Add a snapshot. Those of one boot share a clock, and events that several hold come once; others are merged by wall time. */
int flightrec_add(struct flightrec *fr, const char *path);

/*
 * Only events from this time on, until this time, both inclusive; window: A..B. As --since, --until, --window: "-200ms", "50%",
 * "trigger-5ms", "14:02:11.5", "8123456789012". -EINVAL: not a time.
 */
int flightrec_set_since(struct flightrec *fr, const char *when);
int flightrec_set_until(struct flightrec *fr, const char *when);
int flightrec_set_window(struct flightrec *fr, const char *window);

/* Only events that match, docs/filter.md. flightrec_open() compiles it, when the files' events are known. */
int flightrec_set_filter(struct flightrec *fr, const char *expr);

/* Only these tiers, "main,life" or "all"; by default all except stack. -EINVAL: no such tier. */
int flightrec_set_tiers(struct flightrec *fr, const char *tiers);

/*
 * Which columns events have beside their fields: "program,container,pod", or "all", docs/replay.md. Text and JSON have them
 * then, and flightrec_event_column() tells them. -EINVAL: no such column.
 */
int flightrec_set_columns(struct flightrec *fr, const char *columns);

#define FLIGHTREC_JOBS_MAX 256u
/*
 * Use this many threads for reading, the calling one included; 0: as many as there are CPUs, at most 4. By default no thread is
 * started. The result is the same; each thread takes the memory of a decoded chunk or two, some MiB. They end with the handle.
 */
int flightrec_set_jobs(struct flightrec *fr, unsigned jobs);

#define FLIGHTREC_PAIRS	    0x1u  /* flightrec_event_pair() will be called; text and JSON have these values */
#define FLIGHTREC_CGROUPS   0x2u  /* flightrec_event_cgroup() will be called */
#define FLIGHTREC_NO_NAMES  0x4u  /* names and stacks will not be asked for: quicker, and they are then unknown */
#define FLIGHTREC_UNMATCHED 0x8u  /* also events that the filter rejects: see flightrec_event_matches() */
#define FLIGHTREC_GAPS	    0x10u /* flightrec_next_gap() will be called; since 1.4 */
#define FLIGHTREC_CHECK	    0x20u /* opening finds damage of all events by their checksums, without decoding any; since 1.4 */
int flightrec_set_flags(struct flightrec *fr, unsigned flags);

#define FLIGHTREC_SYMBOLS_DEBUGINFOD 0x1u /* ask the servers in DEBUGINFOD_URLS for what is missing */
#define FLIGHTREC_SYMBOLS_LINES	     0x2u /* source lines and inlined functions: slow */
#define FLIGHTREC_SYMBOLS_RAW	     0x4u /* names as they are in files, not demangled */
/* How functions are looked up. symfs: the directory that stands for / of the recorded host, NULL: none. */
int flightrec_set_symbols(struct flightrec *fr, const char *symfs, unsigned flags);

/*
 * Open the snapshots. -EINVAL: the filter or a time is wrong. -EBADMSG: none of the files is a snapshot. -EPROTONOSUPPORT: one
 * has a later format. -ESPIPE: one is a pipe. -ENOENT and others: as the system reports. If there are several files, or several
 * snapshots in a file, some may not be snapshots: that goes to the log, and is damage. After an error the handle can only be
 * freed.
 */
int flightrec_open(struct flightrec *fr);

/* ---- events, in the order they happened ---- */

/* Returns 1 and the next event; 0: there are no more; or an error. */
int flightrec_next(struct flightrec *fr, const struct flightrec_event **ev);

/*
 * How many more events match. They are skipped, much quicker than one by one. With FLIGHTREC_NO_NAMES, names and stacks are
 * still checked for damage, at the end.
 */
int flightrec_count(struct flightrec *fr, uint64_t *cnt);

const struct flightrec_type *flightrec_event_type(const struct flightrec_event *ev);
unsigned flightrec_event_file(const struct flightrec_event *ev); /* the number of its snapshot */
uint64_t flightrec_event_ts(const struct flightrec_event *ev);
uint64_t flightrec_event_order_ns(const struct flightrec_event *ev); /* the time they are ordered by, over all files */
uint64_t flightrec_event_wall_ns(const struct flightrec_event *ev);  /* since 1970, 0: unknown */
unsigned flightrec_event_cpu(const struct flightrec_event *ev);
unsigned flightrec_event_tid(const struct flightrec_event *ev);
int64_t flightrec_event_pid(const struct flightrec_event *ev);	      /* the process, -1: unknown */
const char *flightrec_event_comm(const struct flightrec_event *ev);   /* at that time; NULL: unknown; valid until asked again */
const char *flightrec_event_cgroup(const struct flightrec_event *ev); /* path, NULL: unknown; with FLIGHTREC_CGROUPS */
const char *flightrec_event_tier(const struct flightrec_event *ev);   /* "main"; NULL: this version has no name for it */
bool flightrec_event_matches(const struct flightrec_event *ev);	      /* false only with FLIGHTREC_UNMATCHED */

/*
 * Column i of those that flightrec_set_columns() chose, in the order of docs/replay.md: its name, NULL: there are not so many;
 * and what it is for this event, *sz bytes, not terminated, valid until asked again; NULL: none, or not known.
 */
const char *flightrec_column_name(const struct flightrec *fr, unsigned i);
const char *flightrec_event_column(const struct flightrec_event *ev, unsigned i, size_t *sz);

/* Where its record was: epoch of the recording, lap, offset in it, which grows. The same in each snapshot. NULL: not needed. */
void flightrec_event_pos(const struct flightrec_event *ev, unsigned *epoch, uint64_t *seq, unsigned *offset);

/*
 * What the event ends, in ns except for the waker. -ENODATA: it ends nothing of the kind, or that is unknown. -EINVAL: the
 * handle was opened without FLIGHTREC_PAIRS.
 */
enum flightrec_pair {
	FLIGHTREC_PAIR_LATENCY,	 /* of the system call, interrupt, block request; of a switch: waking to running */
	FLIGHTREC_PAIR_OFFCPU,	 /* sched_switch: since the next task left its CPU */
	FLIGHTREC_PAIR_QUEUED,	 /* sched_switch: since it was runnable */
	FLIGHTREC_PAIR_BLOCKED,	 /* sched_switch: in state D, until it was woken */
	FLIGHTREC_PAIR_ONCPU,	 /* sched_switch: how long the task that leaves has run */
	FLIGHTREC_PAIR_WAKER,	 /* sched_switch: tid of the task that woke the next one */
	FLIGHTREC_PAIR_BEGIN_TS, /* when it began */
};
int flightrec_event_pair(const struct flightrec_event *ev, enum flightrec_pair which, uint64_t *v);

/*
 * The event as `flightrec replay` prints it, or with --json, without the newline; *sz (or NULL): bytes. NUL-terminated, valid
 * until asked again. NULL: no memory.
 */
const char *flightrec_event_text(const struct flightrec_event *ev, size_t *sz);
const char *flightrec_event_json(const struct flightrec_event *ev, size_t *sz);

/* ---- gaps: where events of a CPU are missing from all files ---- */

/*
 * The next gap that begins before the event which flightrec_next() returned last; after the last event, any. Returns 1 and
 * *gap; 0: there is none now; -EINVAL: the handle was opened without FLIGHTREC_GAPS. Each comes once, and all do if this is
 * called until it returns 0 after each event, and again after the last. They are those of the window, whatever the filter.
 * Damage is found as it is read, so a gap is known only when its place comes.
 */
int flightrec_next_gap(struct flightrec *fr, const struct flightrec_gap **gap);

unsigned flightrec_gap_file(const struct flightrec_gap *gap); /* one of its boot: its times are of that file's clock */
unsigned flightrec_gap_cpu(const struct flightrec_gap *gap);
uint64_t flightrec_gap_since_ns(const struct flightrec_gap *gap); /* 0: from the beginning */
uint64_t flightrec_gap_until_ns(const struct flightrec_gap *gap); /* 0: to the end */
const char *flightrec_gap_why(const struct flightrec_gap *gap);	  /* "overwritten": docs/replay.md lists the words */

/*
 * How many gaps of the window are known so far, without those before a CPU's first event, which every recorder that has run
 * for a while has. Needs no flag; damage is counted only with FLIGHTREC_GAPS.
 */
int flightrec_gap_cnt(struct flightrec *fr, uint64_t *cnt);

/* ---- the kernel's log ---- */

/*
 * The next record that was logged before the event which flightrec_next() returned last; after the last event, any. Returns 1
 * and *kmsg; 0: there is none now; -EINVAL, -ENOMEM. Each comes once, of the window, whatever the filter.
 */
int flightrec_next_kmsg(struct flightrec *fr, const struct flightrec_kmsg **kmsg);

int flightrec_has_kmsg(struct flightrec *fr); /* 1: a file has the log, be it empty; 0: it was not recorded */

unsigned flightrec_kmsg_file(const struct flightrec_kmsg *kmsg); /* its times are of that file's clock */
uint64_t flightrec_kmsg_ts(const struct flightrec_kmsg *kmsg);
uint64_t flightrec_kmsg_uncertainty_ns(const struct flightrec_kmsg *kmsg); /* of that; all ones: the clocks were not compared */
uint64_t flightrec_kmsg_seq(const struct flightrec_kmsg *kmsg);		   /* the kernel's number of it */
const char *flightrec_kmsg_level(const struct flightrec_kmsg *kmsg);	   /* "err" */
const char *flightrec_kmsg_text(const struct flightrec_kmsg *kmsg);	   /* as it was logged: anybody may have chosen it */

/* ---- values of its fields, by number (flightrec_type_find()) ---- */

enum flightrec_kind {
	FLIGHTREC_NONE, /* of a value: unknown, like the name of a task that no event told */
	FLIGHTREC_U64,
	FLIGHTREC_S64,
	FLIGHTREC_TEXT,
	FLIGHTREC_ARRAY, /* of uint64_t */
};

/*
 * -ENOENT: no such field. -EINVAL: it is of another kind. -ENODATA: unknown. -ERANGE: a number that does not fit. Texts are sz
 * bytes, without a NUL at their end. Texts and arrays live until the next event.
 */
enum flightrec_kind flightrec_value_kind(const struct flightrec_event *ev, int field);
int flightrec_value_u64(const struct flightrec_event *ev, int field, uint64_t *v);
int flightrec_value_s64(const struct flightrec_event *ev, int field, int64_t *v);
int flightrec_value_text(const struct flightrec_event *ev, int field, const char **text, size_t *sz);
int flightrec_value_array(const struct flightrec_event *ev, int field, const uint64_t **v, size_t *cnt);

/*
 * In words, as in the line of text: "openat", "-ENOENT", "[0x401000 0x402000]". NUL-terminated, valid until asked again. NULL:
 * no such field, or no memory.
 */
const char *flightrec_value_words(const struct flightrec_event *ev, int field);

/* The same by name. */
int flightrec_get_u64(const struct flightrec_event *ev, const char *name, uint64_t *v);
int flightrec_get_s64(const struct flightrec_event *ev, const char *name, int64_t *v);
int flightrec_get_text(const struct flightrec_event *ev, const char *name, const char **text, size_t *sz);
int flightrec_get_array(const struct flightrec_event *ev, const char *name, const uint64_t **v, size_t *cnt);
const char *flightrec_get_words(const struct flightrec_event *ev, const char *name);

/* ---- stacks in words ---- */

/*
 * The stack in a field (kstack, ustack). Returns 0 and *stack, valid until asked again; errors as above. Functions are looked
 * up as flightrec_set_symbols() says.
 */
int flightrec_value_stack(const struct flightrec_event *ev, int field, const struct flightrec_stack **stack);

/*
 * Frames, innermost first; an inlined function comes before the one it is inlined into. nr is less than flightrec_stack_cnt().
 */
unsigned flightrec_stack_cnt(const struct flightrec_stack *s);
uint64_t flightrec_frame_ip(const struct flightrec_stack *s, unsigned nr);
const char *flightrec_frame_text(const struct flightrec_stack *s, unsigned nr); /* "poll+0x4f (libc.so.6)"; until asked again */
const char *flightrec_frame_function(const struct flightrec_stack *s, unsigned nr);   /* NULL: unknown */
uint64_t flightrec_frame_offset(const struct flightrec_stack *s, unsigned nr);	      /* of the address in the function */
const char *flightrec_frame_module(const struct flightrec_stack *s, unsigned nr);     /* path, "[kernel]"; NULL: unknown */
uint64_t flightrec_frame_module_offset(const struct flightrec_stack *s, unsigned nr); /* of the address in that file */
const char *flightrec_frame_source(const struct flightrec_stack *s, unsigned nr, unsigned *line); /* NULL: unknown */
bool flightrec_frame_is_inlined(const struct flightrec_stack *s, unsigned nr);
const char *flightrec_frame_missing(const struct flightrec_stack *s, unsigned nr); /* why there is no function, or NULL */

/* Warn (flightrec_set_log()) which programs had no symbols so far, with the cure. Returns how many. */
unsigned flightrec_warn_symbols(struct flightrec *fr);

/* ---- kinds of events: the schema of a file, or of this version if fr is NULL ---- */

/* The kind after this one, the first if after is NULL; NULL: there are no more. */
const struct flightrec_type *flightrec_type_next(const struct flightrec *fr, unsigned file, const struct flightrec_type *after);
const struct flightrec_type *flightrec_type_named(const struct flightrec *fr, unsigned file, const char *name); /* NULL: none */

unsigned flightrec_type_nr(const struct flightrec_type *t);
const char *flightrec_type_name(const struct flightrec_type *t);
const char *flightrec_type_doc(const struct flightrec_type *t);
const char *flightrec_type_group(const struct flightrec_type *t); /* "sched"; NULL: this version has no name for it */
const char *flightrec_type_tier(const struct flightrec_type *t);  /* NULL: this version has no name for it */
unsigned flightrec_type_field_cnt(const struct flightrec_type *t);
/* Bytes of its record in a ring, without a text ("str") or an array at its end. */
unsigned flightrec_type_bytes(const struct flightrec_type *t);
int flightrec_type_find(const struct flightrec_type *t, const char *name); /* number of a field, or -ENOENT */
const struct flightrec_field *flightrec_type_field(const struct flightrec_type *t, int field); /* NULL: no such field */

const char *flightrec_field_name(const struct flightrec_field *f);
const char *flightrec_field_doc(const struct flightrec_field *f);
enum flightrec_kind flightrec_field_kind(const struct flightrec_field *f);
const char *flightrec_field_type(const struct flightrec_field *f);  /* "u32", "s64", "str", ... */
const char *flightrec_field_style(const struct flightrec_field *f); /* what its numbers mean: "syscall", "sig", "hex" */
bool flightrec_field_is_derived(const struct flightrec_field *f);   /* computed when read, not stored */
/* The field that a derived one is computed from, "tid": the event's own; NULL: it is not derived. */
const char *flightrec_field_from(const struct flightrec_field *f);
bool flightrec_field_is_stack(const struct flightrec_field *f); /* flightrec_value_stack() accepts it */

/* ---- filters besides the handle's own ---- */

/*
 * For events of an open handle. Returns 0 and *filter; -EINVAL: it is wrong, the error points at the place. It may use
 * latencies only with FLIGHTREC_PAIRS, cgroups only with FLIGHTREC_CGROUPS.
 */
int flightrec_filter_new(struct flightrec *fr, const char *expr, struct flightrec_filter **filter);
void flightrec_filter_free(struct flightrec_filter *f); /* NULL is fine */
/* False for another handle's event. */
bool flightrec_filter_match(const struct flightrec_filter *f, const struct flightrec_event *ev);

/* ---- many events, printed quickly ---- */

enum flightrec_format { FLIGHTREC_FORMAT_TEXT, FLIGHTREC_FORMAT_JSON };

#define FLIGHTREC_PRINT_POS	   0x1u	 /* each with its place, as --pos */
#define FLIGHTREC_PRINT_SYMBOLS	   0x2u	 /* JSON: stacks in words, too, as --symbols; text has them unless: */
#define FLIGHTREC_PRINT_NO_SYMBOLS 0x4u	 /* text: stacks as numbers */
#define FLIGHTREC_PRINT_COLOR	   0x8u	 /* text: colours, if fd is a terminal, TERM not "dumb" and NO_COLOR not set */
#define FLIGHTREC_PRINT_WORDS	   0x10u /* JSON: numbers that have names as those, as --words */
#define FLIGHTREC_PRINT_WALL	   0x20u /* JSON: each with its wall time, as --wall */

/*
 * Print to fd, one line each, buffered. fd -1: to memory, see flightrec_printer_take(). Returns 0 and *printer. Writing to a
 * pipe that nobody reads gives -EPIPE if the process ignores SIGPIPE.
 */
int flightrec_printer_new(struct flightrec *fr, enum flightrec_format format, unsigned flags, int fd,
			  struct flightrec_printer **printer);
void flightrec_printer_free(struct flightrec_printer *p); /* without flushing; NULL is fine */

/*
 * Returns 0, or the first error of writing, as the system reports it. -EINVAL: another handle's event. -ENOMEM: also if a stack
 * in words is incomplete for want of memory.
 */
int flightrec_print(struct flightrec_printer *p, const struct flightrec_event *ev);
int flightrec_print_gap(struct flightrec_printer *p, const struct flightrec_gap *gap);	  /* likewise */
int flightrec_print_kmsg(struct flightrec_printer *p, const struct flightrec_kmsg *kmsg); /* likewise */
int flightrec_printer_flush(struct flightrec_printer *p);

/* What was printed since the last call, NUL-terminated, *sz bytes (or NULL); valid until the next call. NULL: no memory. */
const char *flightrec_printer_take(struct flightrec_printer *p, size_t *sz);

/* ---- snapshots: these calls read no events; with FLIGHTREC_NO_NAMES opening decodes none ---- */

/* How many snapshots there are: a merged file holds several. `file` below is a number less than this. */
unsigned flightrec_file_cnt(const struct flightrec *fr);
const char *flightrec_file_path(const struct flightrec *fr, unsigned file);

/*
 * What the snapshot says about itself, NULL: it does not. host, kernel, arch, boot_id, version, session, profile, clock_mode,
 * settings; trigger_reason, trigger_pid, trigger_comm, trigger_sig, trigger_ts, trigger_text; begin_ns, snapshot_ns;
 * docs/format.md has all.
 */
const char *flightrec_fact(const struct flightrec *fr, unsigned file, const char *name);

/* The same as a number. -ENODATA: there is no such fact; -EINVAL: it is not a number. */
int flightrec_fact_s64(const struct flightrec *fr, unsigned file, const char *name, int64_t *v);

/*
 * First and last event that is shown, regardless of the filter. For several boots: on the clock of the first file. 0: not open.
 */
void flightrec_window(const struct flightrec *fr, uint64_t *begin_ns, uint64_t *end_ns);

/* The wall time, ns since 1970, at a moment of the file's recording clock; 0: unknown. */
uint64_t flightrec_wall_ns(const struct flightrec *fr, unsigned file, uint64_t ts);

/* From when on the history of a tier ("main") is complete on all CPUs; 0: there is no such tier. */
uint64_t flightrec_horizon_ns(struct flightrec *fr, unsigned file, const char *tier);

/* What is wrong with the snapshot, as far as it was read: texts, numbered from 0; NULL: there are no more. */
const char *flightrec_damage(const struct flightrec *fr, unsigned file, unsigned nr);

/* Warn (flightrec_set_log()) of damage, with the first findings in each file. Returns flightrec_is_damaged(). */
bool flightrec_warn_damage(struct flightrec *fr);

/* Is anything wrong: damaged parts, a file among others that is no snapshot, events in an order that no recorder wrote? */
bool flightrec_is_damaged(const struct flightrec *fr);

/* The snapshot's rings, numbered from 0; NULL: there are no more. They live as long as the handle. */
const struct flightrec_ring *flightrec_ring(struct flightrec *fr, unsigned file, unsigned nr);

enum flightrec_ring_value {
	FLIGHTREC_RING_CPU,
	FLIGHTREC_RING_EVENTS,	 /* in the file */
	FLIGHTREC_RING_FIRST_NS, /* the first and the last of them, 0: none */
	FLIGHTREC_RING_LAST_NS,
	FLIGHTREC_RING_HORIZON_NS,  /* complete from here on */
	FLIGHTREC_RING_WRITTEN,	    /* events ever */
	FLIGHTREC_RING_OVERWRITTEN, /* discarded for later ones, as a flight recorder does */
	FLIGHTREC_RING_LOST,	    /* never written, for all reasons */
	FLIGHTREC_RING_HOLES,	    /* gaps in the history */
	/* since 1.3; 0 before */
	FLIGHTREC_RING_TIER,	  /* number of the tier, which may have no name here */
	FLIGHTREC_RING_PRESENT,	  /* events in the file, as the ring itself counted */
	FLIGHTREC_RING_FIRST_SEQ, /* first and last lap in the file */
	FLIGHTREC_RING_LAST_SEQ,
	FLIGHTREC_RING_SLOTS,	     /* how many laps it has room for */
	FLIGHTREC_RING_SUBBUF_BYTES, /* size of each */
	FLIGHTREC_RING_END_NS,	     /* complete up to here, when it was copied; 0: up to the file's last event */
	FLIGHTREC_RING_HOLDER,	     /* tid + 1 of the task that had the CPU then; 0: not known */
};
uint64_t flightrec_ring_get(const struct flightrec_ring *r, enum flightrec_ring_value which); /* 0: also if unknown */
const char *flightrec_ring_tier(const struct flightrec_ring *r);

/* The reasons of losses, numbered from 0, and how many events were lost for one; NULL: there are no more. */
const char *flightrec_loss_name(unsigned reason);
uint64_t flightrec_ring_lost(const struct flightrec_ring *r, unsigned reason);

/*
 * What a snapshot has besides its events, as tables: rows are numbered from 0, columns have names, those of `flightrec info
 * --json` where it has them. New tables and columns are added at the end. flightrec(3) describes each column.
 */
enum flightrec_table {
	FLIGHTREC_TABLE_SUMMARY,   /* one row: how much it holds, what it lacks, the clock's health */
	FLIGHTREC_TABLE_FACTS,	   /* name and value */
	FLIGHTREC_TABLE_TIERS,	   /* those that this version knows */
	FLIGHTREC_TABLE_CPUS,	   /* sums over a CPU's tiers, without stacks */
	FLIGHTREC_TABLE_HOLES,	   /* laps that should be there and are not */
	FLIGHTREC_TABLE_CLOCKS,	   /* all clocks at one moment: the base of wall time */
	FLIGHTREC_TABLE_TASKS,	   /* tasks known when it was taken, the dead too; an event has the names of its own time */
	FLIGHTREC_TABLE_CHUNKS,	   /* pieces in which events are stored */
	FLIGHTREC_TABLE_NAMES,	   /* one row: what is known of addresses. Reads the stacks */
	FLIGHTREC_TABLE_PROFILE,   /* one row: the profile of the last hour, or none */
	FLIGHTREC_TABLE_INCIDENTS, /* kinds of incidents, and the number of each */
	FLIGHTREC_TABLE_COUNTERS,  /* the host's counters: one at one moment; those of a counter follow each other */
};

const char *flightrec_table_name(enum flightrec_table table);		     /* "summary"; NULL: no such table */
const char *flightrec_table_column(enum flightrec_table table, unsigned nr); /* its name; NULL: there are no more */
size_t flightrec_table_rows(struct flightrec *fr, unsigned file, enum flightrec_table table);

/*
 * -ENOENT: no such file, table, row or column. -EINVAL: it is a text. A column may be both: in tiers, the number and the name.
 */
int flightrec_table_u64(struct flightrec *fr, unsigned file, enum flightrec_table table, size_t row, const char *column,
			uint64_t *v);
/* NULL: unknown, a number, or no such. Valid until a table is asked again. */
const char *flightrec_table_text(struct flightrec *fr, unsigned file, enum flightrec_table table, size_t row,
				 const char *column);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
