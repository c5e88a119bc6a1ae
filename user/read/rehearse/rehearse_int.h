/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rehearse_int: shared by the parts of a rehearsal.
 *
 *	rehearse.c		input of rows, time, lifetime
 *	rehearse_tell.c		from a rule that holds to its verdict: gap, filters, gate, pending snapshots
 *	rehearse_death.c	crash, exit:STATUS, oom
 *	rehearse_lat.c		latency, hung
 *	rehearse_markspan.c		latency:span
 *	rehearse_rate.c		rate
 *	rehearse_look.c		asleep, busy
 *	rehearse_known.c	when all CPUs' events are known
 *	rehearse_who.c		names, programs, cgroups
 *	rehearse_row.c		fields of rows by number, rows of the life tier
 *	rehearse_can.c		what the files can answer
 */
#ifndef FR_REHEARSE_INT_H
#define FR_REHEARSE_INT_H

#include "base/filter/filter.h"
#include "base/rows/subscribe.h"
#include "base/set/idmap.h"
#include "base/trigger/gate.h"
#include "latency.h"
#include "read/rehearse/rehearse.h"
#include "rule.h"
#include "tp.h"
#include "window.h"

/* ---- rehearse_row.c: the events used, and their fields ---- */

enum fr_re_what {
	FR_RE_NONE,
	FR_RE_SWITCH,
	FR_RE_WAKING,
	FR_RE_WAKEUP_NEW,
	FR_RE_FORK,
	FR_RE_EXEC,
	FR_RE_EXIT,
	FR_RE_VICTIM,
	FR_RE_SIGNAL,
	FR_RE_DELIVER,
	FR_RE_CRASH,
	FR_RE_FAILURE,
	FR_RE_SYS_ENTER,
	FR_RE_SYS_EXIT,
	FR_RE_RQ_ISSUE,
	FR_RE_RQ_COMPLETE,
	FR_RE_IRQ_ENTRY,
	FR_RE_IRQ_EXIT,
	FR_RE_SOFTIRQ_ENTRY,
	FR_RE_SOFTIRQ_EXIT,
	FR_RE_REPORT,
	FR_RE_GOVERNOR,
	FR_RE_WHAT_CNT,
	/* marks, which each file names in its own way: no fields by number */
	FR_RE_SPAN_BEGIN = FR_RE_WHAT_CNT,
	FR_RE_SPAN_END,
};

/* Fields of a mark that begins or ends something. Its name is a text of a tracepoint's: fr_view_field(). */
struct fr_re_mark {
	const struct fr_field *name, *id;
	const struct fr_field *faulted; /* NULL: it has none */
};

struct fr_re_schema {
	const struct fr_schema *schema;
	u8 what[FR_EVENT_MAX]; /* by event number: enum fr_re_what */
	struct fr_sub sub[FR_RE_WHAT_CNT];
	struct fr_re_mark mark[FR_TP_MAX]; /* from event FR_TP_FIRST on */
};

/* Find the events and fields that rules need, as far as the schema has them, which must live as long. */
void fr_re_schema_init(struct fr_re_schema *s, const struct fr_schema *schema);
/* The events that it has without the fields that are needed. */
bool fr_re_lacks_fields(const struct fr_re_schema *s, enum fr_re_what what);
const char *fr_re_event_name(enum fr_re_what what);

/* Field i of a row of this kind, in the order of rehearse_row.c: a number; the last one may be a text. */
u64 fr_re_num(const struct fr_re_schema *s, const struct fr_row *r, enum fr_re_what what, u32 i);
void fr_re_text(const struct fr_re_schema *s, const struct fr_row *r, enum fr_re_what what, u32 i, char *buf, size_t sz);

/* The mark that a row is, as its fields are. */
const struct fr_re_mark *fr_re_mark(const struct fr_re_schema *s, const struct fr_row *r);

/* Call fn for each row of a file's life tier until it returns an error. Damaged chunks are left out. 0 or -errno. */
int fr_re_each_life(struct fr_snap *snap, int (*fn)(void *arg, const struct fr_row *r), void *arg);

#define FR_RE_PATH_MAX 4096u

/* ---- a boot ---- */

/* A moment being reported, and where its texts are. */
struct fr_re_moment {
	struct fr_moment m;
	char comm[FR_COMM_SZ + 1];
	char text_buf[FR_ALERT_PATH_MAX];
	const char *text; /* text_buf, or another one; NULL none */
};

struct fr_re_pending {
	u64 due_ns, key;
	u32 rule;
};

struct fr_re_who;
struct fr_re_deaths;
struct fr_re_lat;
struct fr_re_look;

/* One boot's recorder. */
struct fr_re {
	struct fr_rehearse *h;
	u32 boot;
	const struct fr_view *view; /* of any of its files */
	u64 shift_ns;
	struct fr_gate *gate;
	u64 next_ns[FR_TRIGGER_MAX][FR_GAP_CNT]; /* ends of rules' gaps, by user */
	struct fr_rehearse_total total[FR_TRIGGER_MAX];
	struct fr_re_pending pending[FR_PENDING_MAX];
	u32 pending_cnt;
	u64 every_ns[FR_TRIGGER_MAX]; /* next time of a periodic rule, ~0 none */
	u64 look_ns, look_each_ns;    /* next look at all tasks, and the period; 0: none */
	u64 begin_ns, end_ns;	      /* first event, last event so far; 0: none yet */
	struct fr_re_who *who;
	struct fr_re_deaths *deaths;
	struct fr_re_lat *lat;
	struct fr_re_look *look;
	struct fr_window window[FR_TRIGGER_MAX]; /* of rate rules */
	u64 report_cnt;				 /* kernel reports in its files */
	struct fr_re_moment moment;		 /* the current one */
};

struct fr_rehearse {
	struct fr_replay *replay;
	const struct fr_trigger *rule;
	struct fr_trigger_rule bpf[FR_TRIGGER_MAX];
	u32 rule_cnt;
	u32 kinds; /* bit set: there is a rule of this kind */
	struct fr_rehearse_notes notes[FR_TRIGGER_MAX];
	struct fr_re_schema *schema;		      /* by file */
	struct fr_filter **filter;		      /* by file, FR_TRIGGER_MAX each: event rules */
	bool unwatched[FR_TRIGGER_MAX][FR_EVENT_MAX]; /* the live event rule does not watch this event */
	struct fr_re *boot;
	u32 boot_cnt;
	fr_rehearsed_fn fn;
	void *arg;
};

/* ---- rehearse.c ---- */

/* The filter of an event rule for a file. Returns as fr_filter_new(). */
int fr_re_filter(const struct fr_trigger *t, const struct fr_view *v, struct fr_filter **out, struct fr_filter_error *why);

/* ---- rehearse_tell.c ---- */

/* The rules of this kind that hold in the kernel for this user and name (fr_rule_user_fits(), fr_rule_name_fits()). */
u32 fr_re_passing(const struct fr_re *re, u32 rules, const char *comm, u32 uid);

/* The same by program (fr_rule_exe_fits()), of the moment in re->moment, which is of a task. */
u32 fr_re_exe_passing(struct fr_re *re, u32 rules);

/*
 * Process the moment in re->moment, for which these rules hold: gap, verdict, count, report. 0 or what the caller's fn
 * returned.
 */
int fr_re_tell(struct fr_re *re, u32 rules);

/* The same without a gap: each moment is reported. */
int fr_re_tell_each(struct fr_re *re, u32 rules);

/* Begin a moment of this kind, with names, program and cgroup of the task it is about if tid is not 0. */
struct fr_moment *fr_re_moment(struct fr_re *re, u32 kind, u64 ts, u32 tid, u16 cpu);

/* The moment belongs to the process, whichever thread it was seen in: use the first thread's name. */
void fr_re_name_process(struct fr_re *re, u16 cpu);

/* ---- rehearse_who.c ---- */

int fr_re_who_new(struct fr_re *re, struct fr_re_who **out);
void fr_re_who_free(struct fr_re_who *w);
const char *fr_re_exe(const struct fr_re_who *w, u32 pid, u64 ts);    /* "" unknown */
const char *fr_re_cgroup(const struct fr_re_who *w, u32 tid, u64 ts); /* "" unknown */
bool fr_re_is_kthread(const struct fr_re_who *w, u32 tid);
bool fr_re_is_self(const struct fr_re_who *w, u32 pid, u64 ts); /* flightrec's own process */

/* ---- rehearse_death.c ---- */

/* All ends of this boot's tasks, gathered beforehand. 0 and *out, -ENOMEM, or -errno of reading. */
int fr_re_deaths_new(struct fr_re *re, struct fr_re_deaths **out);
void fr_re_deaths_free(struct fr_re_deaths *d);
/* Look at a row: was a process dying? Moments are handed on. 0, or what that returned. */
int fr_re_deaths_row(struct fr_re *re, const struct fr_re_schema *s, enum fr_re_what what, const struct fr_row *r);

/* ---- rehearse_lat.c ---- */

int fr_re_lat_new(struct fr_re *re, struct fr_re_lat **out);
void fr_re_lat_free(struct fr_re_lat *l);
int fr_re_lat_row(struct fr_re *re, const struct fr_re_schema *s, enum fr_re_what what, const struct fr_row *r);
int fr_re_lat_look(struct fr_re *re, u64 now_ns); /* for hung tasks */
u64 fr_re_lat_known_ns(const struct fr_re_lat *l);

/*
 * It took so long: tell the rules. id: as rules choose by it, of a span its name, hashed; what: as the moment shows it.
 * named_ns: use the task's name and process of that time. tid 0: none.
 */
struct fr_re_took {
	u32 latency;
	u64 now_ns, value_ns, id, what;
	u64 named_ns;
	u32 tid;
	u16 cpu;
	const char *text; /* NULL: none */
};

int fr_re_took(struct fr_re *re, const struct fr_re_took *t);

/* ---- rehearse_markspan.c ---- */

struct fr_re_span;

int fr_re_span_new(struct fr_re_span **out); /* 0 or -ENOMEM */
void fr_re_span_free(struct fr_re_span *s);  /* NULL is fine */
void fr_re_span_forget(struct fr_re_span *s);
/* Look at a mark, or at the end of a task. 0, -ENOMEM, or what telling a moment returned. */
int fr_re_span_row(struct fr_re *re, struct fr_re_span *sp, const struct fr_re_schema *s, enum fr_re_what what,
		   const struct fr_row *r);

/* ---- rehearse_rate.c ---- */

/* Count a row for the rules of rates. 0, or what telling a moment returned. */
int fr_re_rate_row(struct fr_re *re, const struct fr_re_schema *s, enum fr_re_what what, const struct fr_row *r);

/* ---- rehearse_look.c ---- */

int fr_re_look_new(struct fr_re *re, struct fr_re_look **out); /* 0 or -ENOMEM */
void fr_re_look_free(struct fr_re_look *l);		       /* NULL is fine */
int fr_re_look_row(struct fr_re *re, const struct fr_re_schema *s, enum fr_re_what what, const struct fr_row *r);
int fr_re_look_all(struct fr_re *re, u64 now_ns); /* at each task, for asleep and busy */

/* ---- rehearse_known.c ---- */

struct fr_re_known;

int fr_re_known_new(const struct fr_re *re, struct fr_re_known **out); /* 0 or -ENOMEM */
void fr_re_known_free(struct fr_re_known *k);			       /* NULL is fine */
/* Are all events of this time known? Times do not decrease. *anew is set if what was in progress must be forgotten. */
bool fr_re_is_known(struct fr_re_known *k, u64 ts, bool *anew);
u64 fr_re_known_begin(const struct fr_re_known *k); /* 0: from the first event on */

/* ---- rehearse_can.c ---- */

/* Fill in h->notes. 0 or -ENOMEM. */
int fr_re_can(struct fr_rehearse *h);

#endif
