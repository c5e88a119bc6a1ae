/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flightrec: read snapshots of the flight recorder, as `flightrec replay` does. flightrec(3) and docs/library.md tell more.
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
 * Calls return 0, or a negative errno. Those that set, open, read on or make something then have flightrec_error() say what
 * failed, why, and what to do; of those that ask an event or a table for a value, and of printing, the number says all. NULL in
 * place of a handle is -EINVAL, or nothing; in place of a name one that does not exist; of a text that opening needs -EINVAL.
 * Nothing is printed, and the process is never ended. Times are ns: of the recording clock, unless a name says wall. Texts are
 * UTF-8 as far as the recorded host's were; they come from files of others, so escape them before a terminal sees them. How
 * numbers and times are written and read does not depend on the process's locale.
 *
 * A handle, with all that was made from it, is for one thread at a time. Handles share nothing: each may have its thread.
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
struct flightrec_event;	  /* an event that happened; valid until the next is read */
struct flightrec_type;	  /* a kind of event: sched_switch; of the file's schema, lives as long as the handle */
struct flightrec_field;	  /* a field of such a kind: next_pid; likewise */
struct flightrec_filter;  /* a compiled expression */
struct flightrec_stack;	  /* a stack in words */
struct flightrec_ring;	  /* what was recorded and lost on a CPU in a tier */
struct flightrec_printer; /* events as text or JSON */

/* The version of the library that runs, as FLIGHTREC_VERSION of its header. */
const char *flightrec_version(void);

/* ---- a handle ---- */

/* NULL: no memory. */
struct flightrec *flightrec_new(void);

/* With all that was made from it, but filters and printers, which must be freed before. NULL is fine. */
void flightrec_free(struct flightrec *fr);

/* What the last call that failed has to say, "" if none has. Until the next call with this handle. */
const char *flightrec_error(const struct flightrec *fr);

/*
 * Have fn called with each message as it arises: with those of calls that fail, and with warnings about what does not make
 * a call fail. text: no newline at its end, control characters escaped. fn may not use the handle.
 */
enum { FLIGHTREC_LOG_ERROR, FLIGHTREC_LOG_WARNING };
typedef void (*flightrec_log_fn)(void *arg, int level, const char *text);
void flightrec_set_log(struct flightrec *fr, flightrec_log_fn fn, void *arg);

/* ---- what to read; all before flightrec_open(), -EBUSY after it ---- */

/* One snapshot more. Those of one boot share a clock, and what several hold comes once; others are put in by wall time. */
int flightrec_add(struct flightrec *fr, const char *path);

/* Only events from then on, until then, both inclusive; window: A..B. As --since, --until, --window: "-200ms", "50%",
 * "trigger-5ms", "14:02:11.5", "8123456789012". -EINVAL: no time. */
int flightrec_set_since(struct flightrec *fr, const char *when);
int flightrec_set_until(struct flightrec *fr, const char *when);
int flightrec_set_window(struct flightrec *fr, const char *window);

/* Only events that match, docs/filter.md. It is compiled when the files' events are known: by flightrec_open(). */
int flightrec_set_filter(struct flightrec *fr, const char *expr);

/* Only these tiers, "main,life" or "all"; without it all but stack. -EINVAL: there is none such. */
int flightrec_set_tiers(struct flightrec *fr, const char *tiers);

#define FLIGHTREC_JOBS_MAX 256u
/*
 * Let so many threads read, the calling one too: 0 as many as there are CPUs, 4 at most. Without it no thread is started. What
 * comes out is the same; each thread takes the memory of a decoded chunk or two, some MiB. They end with the handle.
 */
int flightrec_set_jobs(struct flightrec *fr, unsigned jobs);

#define FLIGHTREC_PAIRS	    0x1u /* flightrec_event_pair() will be asked; text and JSON have these values */
#define FLIGHTREC_CGROUPS   0x2u /* flightrec_event_cgroup() will be asked */
#define FLIGHTREC_NO_NAMES  0x4u /* neither names nor stacks will be: quicker, and they are unknown then */
#define FLIGHTREC_UNMATCHED 0x8u /* also events that the filter does not choose: see flightrec_event_matches() */
int flightrec_set_flags(struct flightrec *fr, unsigned flags);

#define FLIGHTREC_SYMBOLS_DEBUGINFOD 0x1u /* ask the servers in DEBUGINFOD_URLS for what is missing */
#define FLIGHTREC_SYMBOLS_LINES	     0x2u /* source lines and inlined functions: slow */
#define FLIGHTREC_SYMBOLS_RAW	     0x4u /* names as they are in files: not demangled */
/* How functions are looked up; symfs: the directory that stands for / of the recorded host, NULL: none. */
int flightrec_set_symbols(struct flightrec *fr, const char *symfs, unsigned flags);

/*
 * Open them. -EINVAL: the filter or a time is wrong. -EBADMSG: none of the files is a snapshot. -EPROTONOSUPPORT: one is of a
 * later format. -ESPIPE: one is a pipe. -ENOENT and others: what the system says. Of several files, or several snapshots in a
 * file, some may be none: that goes to the log, and is damage. After an error the handle can only be freed.
 */
int flightrec_open(struct flightrec *fr);

/* ---- events, in the order they happened ---- */

/* 1 and the next; 0: there are no more; or an error. */
int flightrec_next(struct flightrec *fr, const struct flightrec_event **ev);

/* How many more there are that match: they are passed over, much quicker than one by one. */
int flightrec_count(struct flightrec *fr, uint64_t *cnt);

const struct flightrec_type *flightrec_event_type(const struct flightrec_event *ev);
unsigned flightrec_event_file(const struct flightrec_event *ev); /* the number of its snapshot */
uint64_t flightrec_event_ts(const struct flightrec_event *ev);
uint64_t flightrec_event_order_ns(const struct flightrec_event *ev); /* by which they are in order, over files too */
uint64_t flightrec_event_wall_ns(const struct flightrec_event *ev);  /* since 1970, 0 unknown */
unsigned flightrec_event_cpu(const struct flightrec_event *ev);
unsigned flightrec_event_tid(const struct flightrec_event *ev);
int64_t flightrec_event_pid(const struct flightrec_event *ev);	      /* of the process, -1 unknown */
const char *flightrec_event_comm(const struct flightrec_event *ev);   /* then; NULL unknown; until asked again */
const char *flightrec_event_cgroup(const struct flightrec_event *ev); /* path, NULL unknown; with FLIGHTREC_CGROUPS */
const char *flightrec_event_tier(const struct flightrec_event *ev);   /* "main", NULL: this version has no name for it */
bool flightrec_event_matches(const struct flightrec_event *ev);	      /* false only with FLIGHTREC_UNMATCHED */

/* Where its record lay: epoch of the recording, lap, place in it, which rises. The same in each snapshot. NULL: not asked. */
void flightrec_event_pos(const struct flightrec_event *ev, unsigned *epoch, uint64_t *seq, unsigned *offset);

/*
 * What the event ends, in ns but for the waker. -ENODATA: it ends nothing of the kind, or that is not known. -EINVAL: the
 * handle was opened without FLIGHTREC_PAIRS.
 */
enum flightrec_pair {
	FLIGHTREC_PAIR_LATENCY,	 /* of the system call, interrupt, block request; of a switch: waking to running */
	FLIGHTREC_PAIR_OFFCPU,	 /* sched_switch: since the next task left its CPU */
	FLIGHTREC_PAIR_QUEUED,	 /* sched_switch: since it was runnable */
	FLIGHTREC_PAIR_BLOCKED,	 /* sched_switch: in state D, until it was woken */
	FLIGHTREC_PAIR_ONCPU,	 /* sched_switch: for so long the task that leaves has run */
	FLIGHTREC_PAIR_WAKER,	 /* sched_switch: tid of who woke the next task */
	FLIGHTREC_PAIR_BEGIN_TS, /* when it began */
};
int flightrec_event_pair(const struct flightrec_event *ev, enum flightrec_pair which, uint64_t *v);

/* The event as `flightrec replay` prints it, and as --json, without the newline; *sz, or NULL: bytes. NUL-terminated, until
 * asked again. NULL: no memory. */
const char *flightrec_event_text(const struct flightrec_event *ev, size_t *sz);
const char *flightrec_event_json(const struct flightrec_event *ev, size_t *sz);

/* ---- values of its fields, by number (flightrec_type_find()) ---- */

enum flightrec_kind {
	FLIGHTREC_NONE, /* of a value: it is not known, like the name of a task that nobody told of */
	FLIGHTREC_U64,
	FLIGHTREC_S64,
	FLIGHTREC_TEXT,
	FLIGHTREC_ARRAY, /* of uint64_t */
};

/*
 * -ENOENT: there is no such field. -EINVAL: it is of another kind. -ENODATA: not known. -ERANGE: a number that does not fit.
 * Texts are sz bytes, without a NUL at their end, and live until the next event, as arrays do.
 */
enum flightrec_kind flightrec_value_kind(const struct flightrec_event *ev, int field);
int flightrec_value_u64(const struct flightrec_event *ev, int field, uint64_t *v);
int flightrec_value_s64(const struct flightrec_event *ev, int field, int64_t *v);
int flightrec_value_text(const struct flightrec_event *ev, int field, const char **text, size_t *sz);
int flightrec_value_array(const struct flightrec_event *ev, int field, const uint64_t **v, size_t *cnt);

/* In words, as in the line of text: "openat", "-ENOENT", "[0x401000 0x402000]". NUL-terminated, until asked again. NULL: there
 * is no such field, or no memory. */
const char *flightrec_value_words(const struct flightrec_event *ev, int field);

/* The same by name. */
int flightrec_get_u64(const struct flightrec_event *ev, const char *name, uint64_t *v);
int flightrec_get_s64(const struct flightrec_event *ev, const char *name, int64_t *v);
int flightrec_get_text(const struct flightrec_event *ev, const char *name, const char **text, size_t *sz);
int flightrec_get_array(const struct flightrec_event *ev, const char *name, const uint64_t **v, size_t *cnt);
const char *flightrec_get_words(const struct flightrec_event *ev, const char *name);

/* ---- stacks in words ---- */

/*
 * The stack that a field is (kstack, ustack): 0 and *stack, until asked again; errors as above. Functions are looked up by
 * flightrec_set_symbols().
 */
int flightrec_value_stack(const struct flightrec_event *ev, int field, const struct flightrec_stack **stack);

/* Frames, innermost first; a function inlined into another before it. nr below flightrec_stack_cnt(). */
unsigned flightrec_stack_cnt(const struct flightrec_stack *s);
uint64_t flightrec_frame_ip(const struct flightrec_stack *s, unsigned nr);
const char *flightrec_frame_text(const struct flightrec_stack *s, unsigned nr); /* "poll+0x4f (libc.so.6)"; until asked again */
const char *flightrec_frame_function(const struct flightrec_stack *s, unsigned nr);   /* NULL unknown */
uint64_t flightrec_frame_offset(const struct flightrec_stack *s, unsigned nr);	      /* of the address in the function */
const char *flightrec_frame_module(const struct flightrec_stack *s, unsigned nr);     /* path, "[kernel]"; NULL unknown */
uint64_t flightrec_frame_module_offset(const struct flightrec_stack *s, unsigned nr); /* of the address in that file */
const char *flightrec_frame_source(const struct flightrec_stack *s, unsigned nr, unsigned *line); /* NULL unknown */
bool flightrec_frame_is_inlined(const struct flightrec_stack *s, unsigned nr);
const char *flightrec_frame_missing(const struct flightrec_stack *s, unsigned nr); /* why there is no function; or NULL */

/* Tell by warnings (flightrec_set_log()) which programs had no symbols so far, and the cure. Returns how many. */
unsigned flightrec_warn_symbols(struct flightrec *fr);

/* ---- kinds of events: the schema of a file, or with fr NULL of this version ---- */

/* The kind after this one, the first after NULL; NULL: there are no more. */
const struct flightrec_type *flightrec_type_next(const struct flightrec *fr, unsigned file, const struct flightrec_type *after);
const struct flightrec_type *flightrec_type_named(const struct flightrec *fr, unsigned file, const char *name); /* NULL: none */

unsigned flightrec_type_nr(const struct flightrec_type *t);
const char *flightrec_type_name(const struct flightrec_type *t);
const char *flightrec_type_doc(const struct flightrec_type *t);
const char *flightrec_type_group(const struct flightrec_type *t); /* "sched", NULL: this version has no name for it */
const char *flightrec_type_tier(const struct flightrec_type *t);  /* likewise */
unsigned flightrec_type_field_cnt(const struct flightrec_type *t);
/* Bytes of its record in a ring; what a text ("str") or an array at its end takes comes on top. */
unsigned flightrec_type_bytes(const struct flightrec_type *t);
int flightrec_type_find(const struct flightrec_type *t, const char *name); /* number of a field, or -ENOENT */
const struct flightrec_field *flightrec_type_field(const struct flightrec_type *t, int field); /* NULL: there is none */

const char *flightrec_field_name(const struct flightrec_field *f);
const char *flightrec_field_doc(const struct flightrec_field *f);
enum flightrec_kind flightrec_field_kind(const struct flightrec_field *f);
const char *flightrec_field_type(const struct flightrec_field *f);  /* "u32", "s64", "str", ... */
const char *flightrec_field_style(const struct flightrec_field *f); /* what its numbers mean: "syscall", "sig", "hex" */
bool flightrec_field_is_derived(const struct flightrec_field *f);   /* made on reading, not stored */
/* Of one that is made on reading: the field it is made from, "tid" the event's own; else NULL. */
const char *flightrec_field_from(const struct flightrec_field *f);
bool flightrec_field_is_stack(const struct flightrec_field *f); /* flightrec_value_stack() takes it */

/* ---- filters beside the one of the handle ---- */

/*
 * For events of an open handle. 0 and *filter; -EINVAL: it is wrong, the error points at the place. It may ask for latencies
 * only with FLIGHTREC_PAIRS, for cgroups only with FLIGHTREC_CGROUPS.
 */
int flightrec_filter_new(struct flightrec *fr, const char *expr, struct flightrec_filter **filter);
void flightrec_filter_free(struct flightrec_filter *f); /* NULL is fine */
/* False of another handle's event. */
bool flightrec_filter_match(const struct flightrec_filter *f, const struct flightrec_event *ev);

/* ---- many events, printed quickly ---- */

enum flightrec_format { FLIGHTREC_FORMAT_TEXT, FLIGHTREC_FORMAT_JSON };

#define FLIGHTREC_PRINT_POS	   0x1u /* each with its place, as --pos */
#define FLIGHTREC_PRINT_SYMBOLS	   0x2u /* JSON: stacks in words too, as --symbols; text has them unless: */
#define FLIGHTREC_PRINT_NO_SYMBOLS 0x4u /* text: stacks as numbers */
#define FLIGHTREC_PRINT_COLOR	   0x8u /* text: colours, if fd is a terminal, TERM not "dumb" and NO_COLOR not set */

/*
 * Print to fd, a line each, buffered. fd -1: into memory, see flightrec_printer_take(). 0 and *printer. A pipe that nobody
 * reads is -EPIPE where the process ignores SIGPIPE.
 */
int flightrec_printer_new(struct flightrec *fr, enum flightrec_format format, unsigned flags, int fd,
			  struct flightrec_printer **printer);
void flightrec_printer_free(struct flightrec_printer *p); /* without flushing; NULL is fine */

/* 0, or the first error there was in writing, as the system has it. -EINVAL: it is another handle's event. -ENOMEM: also if
 * a stack in words lacks what there was no memory for. */
int flightrec_print(struct flightrec_printer *p, const struct flightrec_event *ev);
int flightrec_printer_flush(struct flightrec_printer *p);

/* What was printed since the last time, NUL-terminated, *sz bytes (or NULL); until the next call. NULL: no memory. */
const char *flightrec_printer_take(struct flightrec_printer *p, size_t *sz);

/* ---- snapshots: these need no event to be read; with FLIGHTREC_NO_NAMES opening decodes none ---- */

/* How many there are: a file that was merged holds several. Numbers below that are `file` in what follows. */
unsigned flightrec_file_cnt(const struct flightrec *fr);
const char *flightrec_file_path(const struct flightrec *fr, unsigned file);

/*
 * What it tells of itself, NULL: it does not. host, kernel, arch, boot_id, version, session, profile, clock_mode, settings;
 * trigger_reason, trigger_pid, trigger_comm, trigger_sig, trigger_ts, trigger_text; begin_ns, snapshot_ns; docs/format.md has
 * all.
 */
const char *flightrec_fact(const struct flightrec *fr, unsigned file, const char *name);

/* The same as a number. -ENODATA: there is none such; -EINVAL: it is no number. */
int flightrec_fact_s64(const struct flightrec *fr, unsigned file, const char *name, int64_t *v);

/* First and last event that is shown, but for the filter. Of several boots: on the clock of the first file. 0: not open. */
void flightrec_window(const struct flightrec *fr, uint64_t *begin_ns, uint64_t *end_ns);

/* The time on the wall, ns since 1970, at a moment of the file's recording clock; 0 unknown. */
uint64_t flightrec_wall_ns(const struct flightrec *fr, unsigned file, uint64_t ts);

/* From when on the history of a tier ("main") is complete on all CPUs; 0: there is none. */
uint64_t flightrec_horizon_ns(struct flightrec *fr, unsigned file, const char *tier);

/* What is wrong with it, as far as it was read: texts, numbered from 0; NULL: there are no more. */
const char *flightrec_damage(const struct flightrec *fr, unsigned file, unsigned nr);

/* Tell by warnings (flightrec_set_log()) what is damaged, of each file the first findings. Returns flightrec_is_damaged(). */
bool flightrec_warn_damage(struct flightrec *fr);

/* Is anything wrong: parts damaged, a file that is no snapshot among others, events in an order no recorder wrote? */
bool flightrec_is_damaged(const struct flightrec *fr);

/* Its rings, numbered from 0; NULL: there are no more. They live as long as the handle. */
const struct flightrec_ring *flightrec_ring(struct flightrec *fr, unsigned file, unsigned nr);

enum flightrec_ring_value {
	FLIGHTREC_RING_CPU,
	FLIGHTREC_RING_EVENTS,	 /* in the file */
	FLIGHTREC_RING_FIRST_NS, /* first and last of them, 0: none */
	FLIGHTREC_RING_LAST_NS,
	FLIGHTREC_RING_HORIZON_NS,  /* from here on it is complete */
	FLIGHTREC_RING_WRITTEN,	    /* events ever */
	FLIGHTREC_RING_OVERWRITTEN, /* by later ones, as a flight recorder does */
	FLIGHTREC_RING_LOST,	    /* never written, for all reasons */
	FLIGHTREC_RING_HOLES,	    /* stretches that are missing within */
	/* 1.3; before, 0 */
	FLIGHTREC_RING_TIER,	  /* number of the tier, which may have no name here */
	FLIGHTREC_RING_PRESENT,	  /* events in the file, as the ring itself counted */
	FLIGHTREC_RING_FIRST_SEQ, /* first and last lap in the file */
	FLIGHTREC_RING_LAST_SEQ,
	FLIGHTREC_RING_SLOTS,	     /* laps that it has room for */
	FLIGHTREC_RING_SUBBUF_BYTES, /* bytes of each */
};
uint64_t flightrec_ring_get(const struct flightrec_ring *r, enum flightrec_ring_value which); /* 0: unknown, too */
const char *flightrec_ring_tier(const struct flightrec_ring *r);

/* The reasons of losses, numbered from 0, and how many there were for one; NULL: there are no more. */
const char *flightrec_loss_name(unsigned reason);
uint64_t flightrec_ring_lost(const struct flightrec_ring *r, unsigned reason);

/*
 * What else a snapshot has beside its events, as tables: rows are numbered from 0, columns go by name, and are those of
 * `flightrec info --json` where it has them. Tables and columns are added, at the end. flightrec(3) says what each column is.
 */
enum flightrec_table {
	FLIGHTREC_TABLE_SUMMARY, /* one row: how much it holds, what it lacks, the clock's health */
	FLIGHTREC_TABLE_FACTS,	 /* name and value */
	FLIGHTREC_TABLE_TIERS,	 /* those that this version knows */
	FLIGHTREC_TABLE_CPUS,	 /* sums over a CPU's tiers, without stacks */
	FLIGHTREC_TABLE_HOLES,	 /* laps that should have been there and are not */
	FLIGHTREC_TABLE_CLOCKS,	 /* all clocks at one moment: what wall time is made of */
	FLIGHTREC_TABLE_TASKS,	/* that were known when it was taken, the dead too; names of the time of an event are its own */
	FLIGHTREC_TABLE_CHUNKS, /* pieces in which events are stored */
	FLIGHTREC_TABLE_NAMES,	/* one row: what is known of addresses. Reads the stacks */
	FLIGHTREC_TABLE_PROFILE,   /* one row: the profile of the last hour, or none */
	FLIGHTREC_TABLE_INCIDENTS, /* kinds of incidents, and how many there are of each */
};

const char *flightrec_table_name(enum flightrec_table table);		     /* "summary", NULL: there is none */
const char *flightrec_table_column(enum flightrec_table table, unsigned nr); /* its name, NULL: there are no more */
size_t flightrec_table_rows(struct flightrec *fr, unsigned file, enum flightrec_table table);

/*
 * -ENOENT: there is no such file, table, row or column. -EINVAL: it is a text. A column may be both: of tiers, the number and
 * the name.
 */
int flightrec_table_u64(struct flightrec *fr, unsigned file, enum flightrec_table table, size_t row, const char *column,
			uint64_t *v);
/* NULL: not known, a number, or no such. Until a table is asked again. */
const char *flightrec_table_text(struct flightrec *fr, unsigned file, enum flightrec_table table, size_t row,
				 const char *column);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
