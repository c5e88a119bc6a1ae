/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trigger_text: internals of parsing a rule. Not for others: see trigger.h.
 *
 *	trigger_parse.c		parts, the kind, the whole
 *	trigger_kind.c		what follows the kind
 *	trigger_rate.c		what follows rate
 *	trigger_key.c		filters and options
 *	trigger_text.c		pieces of text and simple values
 */
#ifndef FR_TRIGGER_TEXT_H
#define FR_TRIGGER_TEXT_H

#include <string.h>

#include "base/trigger/trigger.h"

#define FR_TP_WORD_MAX 64u
#define FR_TP_KINDS_SZ 160u			       /* for the names of all kinds */
#define FR_TP_PLACE(p) ((p)->text + strlen((p)->text)) /* the end: something is missing there */

/* A piece of the text. */
struct fr_tp_span {
	const char *at; /* NULL: nothing was given */
	size_t sz;
};

/* For messages: quotes are short. */
#define FR_TP_SHOWN(s) (int)((s).sz < FR_TP_WORD_MAX ? (s).sz : FR_TP_WORD_MAX), (s).at

struct fr_tp {
	const char *text;
	const char *arch;
	struct fr_trigger t;
	struct fr_tp_span sig; /* where signals were given, for messages */
	u32 seen;	       /* bit i: key i was given */
	struct fr_trigger_error *error;
};

/* ---- text ---- */

__attribute__((format(printf, 3, 4))) int fr_tp_fail(struct fr_tp *p, const char *at, const char *fmt, ...); /* -EINVAL */

struct fr_tp_span span_trim(struct fr_tp_span s);
struct fr_tp_span span_from(struct fr_tp_span s, const char *at);
struct fr_tp_span span_until(struct fr_tp_span s, const char *end);
bool span_is(struct fr_tp_span s, const char *word);
bool span_copy(struct fr_tp_span s, char *buf, size_t sz); /* NUL-terminated; false: it does not fit */
const char *span_find(struct fr_tp_span s, char c);
const char *span_find_last(struct fr_tp_span s, char c);

/* Returns 0, or -EINVAL and the error, which begins with what. */
int fr_tp_some_time(struct fr_tp *p, struct fr_tp_span s, const char *what, u64 *ns); /* not zero */
int fr_tp_any_time(struct fr_tp *p, struct fr_tp_span s, const char *what, u64 *ns);  /* 0 needs no unit */
bool fr_tp_number(struct fr_tp_span s, u64 *out);
const char *fr_tp_kind_shown(u32 kind);		     /* "crash", "exit:STATUS" */
const char *fr_tp_kinds_shown(char *buf, size_t sz); /* "crash, oom": the names of all that --on takes. Returns buf */

/* A system call by name or number, into p's call. what: how other errors begin. */
int fr_tp_call(struct fr_tp *p, struct fr_tp_span name, const char *missing, const char *what);

/* ---- keys ---- */

bool fr_tp_key_is(struct fr_tp_span name, bool bare); /* is it a key, and may it have no value (bare)? */
int fr_tp_option(struct fr_tp *p, struct fr_tp_span part);
u32 fr_tp_signal(const struct fr_tp *p, struct fr_tp_span name); /* of SEGV, SIGSEGV, segv; 0: no signal is called so */

/* ---- kinds ---- */

struct fr_tp_kind {
	enum fr_trigger_kind kind;
	int (*arg)(struct fr_tp *p, struct fr_tp_span arg); /* arg.at NULL: none was given; NULL: --on does not take it */
};

/* What follows rate:, and whether it may have such a filter: exe, comm or cgroup, whose pattern is this. trigger_rate.c. */
int fr_tp_rate(struct fr_tp *p, struct fr_tp_span arg);
int fr_tp_rate_check(struct fr_tp *p, struct fr_tp_span value, const char *key, const char *pattern);

bool fr_tp_takes_above(const struct fr_tp_kind *kind); /* may > precede the argument, as : does? */

/* The kind of that name. 0 and *kind, which is static; or -EINVAL, with p's message, which names the nearest one. */
int fr_tp_find_kind(struct fr_tp *p, struct fr_tp_span name, const struct fr_tp_kind **kind);

#endif
