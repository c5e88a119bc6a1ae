/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trigger: a rule of `--on`, parsed, and whether it applies to a moment. Pure: the recorder and `replay --on` use the same
 * text.
 *
 *	TRIGGER	:= KIND [":" ARGUMENT] [":" KEY=VALUE | "," KEY=VALUE]...
 *
 *	crash			any process that dies of a signal whose default action dumps core
 *	crash:all		of any signal
 *	exit:STATUS		a process ends with this status (a Go panic is 2); exit alone: the recorder ends
 *	oom  kernel  signal  command
 *	hung>T			a task in D, or runnable without running, for longer than T (also hung:T)
 *	asleep>T		a task off the CPU for longer than T, in any state, and still so
 *	busy>T			a task that has not slept for longer than T
 *	latency:WHAT>T		WHAT: wakeup offcpu block softirq irq syscall syscall:NAME
 *	latency:span:NAME>T	a program's flightrec_begin(NAME, id) to flightrec_end(NAME, id); NAME may stand in quotes
 *	rate:WHAT>N/T		more than N in the time T; WHAT: fork exit signal signal:NAME error:CALL error:CALL:ERRNO
 *	event:EXPR		an expression as in -f; options follow it after a comma
 *	event:tp:SYSTEM:NAME [if CONDITION]
 *				a tracepoint that is recorded, with a condition on its fields
 *	psi:RESOURCE:SHARE%	cpu, memory or io: some tasks stalled for this share of a second; RESOURCE.full: all of them
 *	every:T
 *	holdoff>T		nobody could have a CPU for longer than T (also holdoff:T): found by `flightrec watch`
 *
 *	filters			comm=GLOB exe=GLOB cgroup=GLOB uid=N|NAME sig=SEGV|11 syscall=NAME (FR_TRIGGERS: what has which)
 *	options			post=T last=T cooldown=T max=N/T dedupe=yes|no
 *
 * Commas within parentheses, brackets or quotes do not separate.
 */
#ifndef FR_TRIGGER_H
#define FR_TRIGGER_H

#include <stdbool.h>

#include "alert.h"
#include "base/schema/schema.h"

#define FR_TRIGGER_GLOB_MAX    128u
#define FR_TRIGGER_USER_MAX    64u
#define FR_TRIGGER_CNT_MAX     1000u	      /* of max=N/T */
#define FR_TRIGGER_COOLDOWN_NS 60000000000ULL /* between two equal ones, unless cooldown= says otherwise */

struct fr_trigger {
	char text[FR_TRIGGER_TEXT_MAX]; /* as given */
	enum fr_trigger_kind kind;
	/* what it applies to */
	bool all;     /* crash:all */
	s32 status;   /* exit:STATUS */
	u64 limit_ns; /* hung, latency, holdoff */
	enum fr_latency latency;
	char span[FR_TRIGGER_TEXT_MAX]; /* latency:span:NAME */
	char call[32];			/* latency:syscall:NAME, rate:error:NAME, asleep's syscall=; "": all */
	s32 call_nr;			/* its number on this machine, -1: all */
	enum fr_rate_what rate;		/* rate: of what ... */
	u32 rate_errno;			/* ... with this error, 0: any; of signals see sig_set */
	u64 rate_max;			/* more than so many ... */
	u64 rate_ns;			/* ... within this time */
	u64 every_ns;
	char expr[FR_TRIGGER_TEXT_MAX]; /* event */
	char tp[FR_NAME_MAX + 1]; /* event: the tracepoint that it is about, tp:SYSTEM:NAME; "": an expression about events */
	char psi[8];		  /* cpu, memory, io */
	bool psi_full;
	u64 psi_stall_us; /* of psi_window_us */
	u64 psi_window_us;
	/* filters; "": any */
	char comm[FR_TRIGGER_GLOB_MAX];
	char exe[FR_TRIGGER_GLOB_MAX];
	char cgroup[FR_TRIGGER_GLOB_MAX];
	u32 uid;			/* ~0: any; of uid=NAME nobody's, until fr_trigger_find_user() */
	char user[FR_TRIGGER_USER_MAX]; /* of uid=NAME, "": it is a number, or not given */
	size_t user_at;			/* where in the text */
	u64 sig_set;			/* FR_SIG() of each; 0: any */
	/* options */
	u64 post_ns;	 /* go on recording this long before taking it */
	u64 last_ns;	 /* only this much history, 0: all */
	u64 cooldown_ns; /* between two snapshots of the same key (dedupe), or of the rule */
	u32 max_cnt;	 /* at most this many ... 0: no limit */
	u64 max_ns;	 /* ... in this time */
	bool calls;	 /* status: remember calls that fail, for the end */
	bool dedupe;	 /* the cooldown is per (reason, exe, user, signal, ip; of a status the name), not per rule */
};

struct fr_trigger_error {
	size_t at; /* byte in the text */
	char text[280];
};

/*
 * Parse one rule for a machine of that arch ("x86_64", "aarch64"; for names of system calls). Returns 0 and *out; or -EINVAL
 * and *error, which names what would be right (the nearest name for a misspelt one).
 */
int fr_trigger_parse(const char *text, const char *arch, struct fr_trigger *out, struct fr_trigger_error *error);

/*
 * Who the user of uid=NAME is: find() asks the host, on whose files or servers it may have to wait. 0 and *uid; -ENOENT: there
 * is none; -errno. Returns 0; -EINVAL, or what find() returned, and *error. A rule whose user was not found is nobody's.
 */
int fr_trigger_find_user(struct fr_trigger *t, int (*find)(void *arg, const char *name, u32 *uid), void *arg,
			 struct fr_trigger_error *error);

/* Names of filters and options, of what psi is about, and further ones of latencies. NULL: no more. */
const char *fr_trigger_key_name(u32 i);
const char *fr_trigger_psi_name(u32 i);
const char *fr_trigger_latency_other(u32 i);

/* A moment that a rule may apply to. Made from an fr_alert when live, from events when offline. Texts may be "" if unknown. */
struct fr_moment {
	enum fr_trigger_kind kind;
	u64 ts;
	u32 tid, pid, uid; /* uid ~0: unknown */
	u32 owner;	   /* who answers for it (struct fr_alert); ~0: unknown */
	s32 sig;
	s32 status; /* exit status, 0 to 255 */
	u64 ip;
	u64 stack; /* fr_trigger_stack(), of an end that its ip does not tell from others; 0: not known, or of no use */
	u64 value_ns;
	u64 what; /* as in struct fr_alert */
	enum fr_latency latency;
	enum fr_rate_what rate;
	bool core; /* crash: of a signal that dumps core */
	const char *comm;
	const char *exe;
	const char *cgroup; /* its path */
	u64 exe_id;	    /* inode and device mixed, for dedupe; 0: by exe */
};

/*
 * Does the rule apply to the moment? A filter on something unknown does not match. Not for event rules, which have their
 * expression.
 */
bool fr_trigger_match(const struct fr_trigger *t, const struct fr_moment *m);

/* How often a recorder looks at all tasks for a hung rule with this limit. */
u64 fr_trigger_look_ns(u64 limit_ns);

/*
 * A user stack, hashed without the part of addresses that changes from run to run. Of so many frames: what is further out is
 * the same in most ends of a program. 0: there are none.
 */
#define FR_TRIGGER_FRAME_CNT 16u
u64 fr_trigger_stack(const u64 *frame, u32 cnt);

/* The key of dedupe: a hash of (reason, exe, user, signal, ip, stack; of a status, it and the name), never 0. */
u64 fr_trigger_key(const struct fr_moment *m);

/* The program of a moment that is a task's, hashed: by its file, its path or its name. Never 0. */
u64 fr_trigger_program(const struct fr_moment *m);

/*
 * The nr-th example of what --on takes, from 0, made of the table of triggers: each with what may follow its name. One that
 * ends with `:` or `=` is a beginning. Returns buf; NULL: there are no more.
 */
const char *fr_trigger_example(u32 nr, char *buf, size_t sz);

/* Its own name ("crash", "status"), "?": none. */
const char *fr_trigger_kind_name(u32 kind);
/* May rules of this kind have one of these (enum fr_trigger_has)? */
bool fr_trigger_has(u32 kind, u32 has);
/* The least time between two alerts of a rule of this kind, 0: each is reported. */
u64 fr_trigger_gap_ns(u32 kind);
/*
 * Its name in a snapshot, in the snapshot's name and in the trigger event: as --on has it, so exit:STATUS is "exit"; that one
 * has a pid.
 */
const char *fr_trigger_reason(u32 kind);
const char *fr_trigger_verdict_name(u32 verdict);
const char *fr_trigger_verdict_doc(u32 verdict); /* what it means, as part of a sentence */
const char *fr_latency_name(u32 latency);
const char *fr_rate_name(u32 rate);
u32 fr_rate_find(const char *name); /* of that name; FR_RATE_CNT: none */
const char *fr_rate_doc(u32 rate);  /* "tasks were made": follows a number in a sentence */

/* The name of a span, hashed as BPF does (rule.h). */
u64 fr_trigger_span(const char *name);

/* What of several things a rule of such a kind is about: latency:WHAT, rate:WHAT. */
u32 fr_trigger_part(const struct fr_trigger *t);

#endif
