/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * filter: C-like expressions over events, compiled once for a schema. Pure.
 *
 *	event == "sys_enter" && id == openat && comm ~ "nginx*"
 *	event == sched_switch && prev_state == D || sig in (SIGSEGV, SIGBUS)
 *	ret == -ENOENT && !(tid in (1, 2)) && args[1] & 0x40
 *
 *	names		event, ts, cpu, pid, tid, comm, tier, and each field of each event; an element of an array: args[0]
 *	numbers		10, 0xa, 012; durations 5us, 1.5ms, 2s in ns; if a field has names for its numbers, those: openat,
 *			SIGSEGV, ENOENT, D, NET_RX
 *	texts		"..." with \" \\ \n \t \xNN; the name of an event or tier needs no quotes
 *	operators	|| && ! == != < <= > >= in (a, b) ~ !~ | & + - * / % by growing precedence: & and | bind tighter than
 *			comparisons, as one expects and C does not; ~ and !~ match the globs * ? [a-z]
 *
 * A comparison with something that the event does not have, or that is unknown, is false, even with !=.
 */
#ifndef FR_FILTER_H
#define FR_FILTER_H

#include "base/rows/view.h"
#include "base/schema/callwords.h"

struct fr_filter; /* opaque */

struct fr_filter_error {
	size_t at; /* byte in the expression */
	char text[200];
};

/*
 * Two lines for a message: the expression, or the part around the place, and a caret below the place; each begins with indent.
 * Returns buf; 256 bytes are enough.
 */
const char *fr_filter_point(const char *expr, size_t at, const char *indent, char *buf, size_t sz);

/* Print to standard error that expr is wrong, and where. */
void fr_filter_say(const char *expr, const struct fr_filter_error *error);

/* Print that the option's expression, a filter or a trigger, is wrong, and where. */
void fr_filter_say_at(const char *option, const char *why, const char *expr, size_t at);

/* What the event's number alone decides. */
enum fr_verdict { FR_VERDICT_NO, FR_VERDICT_YES, FR_VERDICT_LOOK };

/*
 * Compile expr for events of schema s on a machine of that arch (NULL: unknown); both must live as long as the filter. Returns
 * 0 and *out (free with fr_filter_free()), -EINVAL and *error, or -ENOMEM.
 */
int fr_filter_new(const char *expr, const struct fr_schema *s, const char *arch, struct fr_filter **out,
		  struct fr_filter_error *error);
void fr_filter_free(struct fr_filter *f); /* NULL is fine */

/* A file that is read: its events, and its machine (NULL: unknown). */
struct fr_filter_file {
	const struct fr_schema *schema;
	const char *arch;
	/* The number that has this name in a field of an event, beside those that the schema knows: 0, -EINVAL. NULL: none. */
	int (*value)(const void *of, u32 event, const char *field, const char *name, s64 *v);
	/* Tell each of these names. NULL: none. */
	void (*values)(const void *of, u32 event, const char *field, void (*tell)(void *arg, const char *name), void *arg);
	/* Has an event such a field, but it was not recorded? NULL: none is known to. */
	bool (*lacks)(const void *of, u32 event, const char *field);
	const void *of;
};

/* The same, for one of cnt files that are read together: a name that only others know is one that its events lack. */
int fr_filter_new_beside(const char *expr, const struct fr_filter_file *file, u32 cnt, u32 which, struct fr_filter **out,
			 struct fr_filter_error *error);

/* The words that expressions are made of beside names of events, fields and numbers: of all events, and of operators; NULL: i
 * is too large. */
const char *fr_filter_word(u32 i);

/* Is it an expression at all, whatever its names mean? 0, -EINVAL and *error, -ENOMEM. */
int fr_filter_check(const char *expr, struct fr_filter_error *error);

enum fr_verdict fr_filter_verdict(const struct fr_filter *f, u8 event);

/* Which of an event's rows a filter accepts. */
enum fr_takes { FR_TAKES_SOME, FR_TAKES_TASKS, FR_TAKES_ALL };

/*
 * Which rows of each of these events does it accept? All; or all rows of tasks that are the same for all these events, in which
 * it looks at nothing but pid, tid and cgroup; otherwise some, maybe none.
 */
enum fr_takes fr_filter_takes(const struct fr_filter *f, const u8 *event, u32 cnt);

/* Does it ask for what rows end (latency, offcpu, ...)? Then the view needs view->pair. */
bool fr_filter_uses_pairs(const struct fr_filter *f);

/* Does it ask for cgroups? Then the view needs view->cgroups. */
bool fr_filter_uses_cgroups(const struct fr_filter *f);

/* Does the row match? v: that of its file, with all that the filter uses. */
bool fr_filter_match(const struct fr_filter *f, const struct fr_view *v, const struct fr_row *r);

/*
 * What an expression is in a row, for callers that calculate with it or group by it. Text points into the row, the file's names
 * or room, and is not terminated.
 */
struct fr_filter_value {
	enum fr_val_kind kind; /* NUM or TEXT; NONE: the event has none, or it is not known */
	__int128 num;
	const char
		*text; /* TEXT; NUM: what text output calls it ("openat", "-ENOENT"), or a disk's name, NULL: it has no name */
	size_t len;
	bool is_hex; /* text output shows it so */
	char room[FR_CALLWORDS_SZ + 1];
};

void fr_filter_value(const struct fr_filter *f, const struct fr_view *v, const struct fr_row *r, struct fr_filter_value *out);

/* Is the expression a comparison or another truth? Can it be of this kind? May this event have a value? Is it a time in ns? */
bool fr_filter_is_truth(const struct fr_filter *f);
bool fr_filter_may_be(const struct fr_filter *f, enum fr_val_kind kind);
bool fr_filter_may_have(const struct fr_filter *f, u8 event);
bool fr_filter_is_ns(const struct fr_filter *f);

/* Is it made of what all events have (ts, cpu, tid, comm, ...), or of nothing? */
bool fr_filter_is_everywhere(const struct fr_filter *f);

/* Does it ask for what a switch tells of the task that begins to run (offcpu, queued, blocked, latency, waker)? */
bool fr_filter_is_of_next(const struct fr_filter *f);

/* Does the text match the pattern: * any, ? one character, [a-z] [!a-z] one of a set. */
bool fr_glob(const char *pattern, size_t pattern_sz, const char *text, size_t text_sz);

/* Has each set of the pattern its closing bracket? In matching, a [ without one is an ordinary character. */
bool fr_glob_is_closed(const char *pattern, size_t sz);

#endif
