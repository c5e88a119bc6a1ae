/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stat: one aggregation over the events of one or several snapshots: what is counted and added up, by which keys.
 *
 *	keys		comm, time:100ms		what rows are grouped by: fr_stat_parse_keys()
 *	functions	count() p99(latency)		what each group has: fr_stat_parse_functions()
 *
 *	rows --> key's bytes --> group --> a cell for each function --> fr_stat_cell()
 *
 * Rules
 *  - A value that an event lacks, or that is not known, is in no cell. A cell without values has none: it is not 0.
 *  - count(), sum, min, max, avg, first, last and distinct are exact; percentiles are those of hist.h: never too low, and too
 *    high by at most 1/32 of their size.
 *  - Memory grows with the number of groups. Where there is no room for one more, its rows go to the rest, which is said. A
 *    group that is listed has all its rows.
 */
#ifndef FR_STAT_H
#define FR_STAT_H

#include "base/set/tally.h"
#include "read/replay/replay.h"

#define FR_STAT_KEY_MAX	 8u
#define FR_STAT_FUNC_MAX 32u

enum fr_stat_by {
	FR_STAT_BY_expr, /* an expression of the filter language */
	FR_STAT_BY_time,
	FR_STAT_BY_call,
	FR_STAT_BY_object,
	FR_STAT_BY_program,
	FR_STAT_BY_host,
	FR_STAT_BY_boot,
	FR_STAT_BY_file,
};

struct fr_stat_key {
	enum fr_stat_by by;
	char *label;
	u64 bucket_ns; /* of a time */
	size_t at;     /* where it stands in the text */
};

enum fr_stat_fn {
	FR_STAT_count,
	FR_STAT_sum,
	FR_STAT_min,
	FR_STAT_max,
	FR_STAT_avg,
	FR_STAT_percentile,
	FR_STAT_first,
	FR_STAT_last,
	FR_STAT_distinct,
	FR_STAT_rate,
};

struct fr_stat_func {
	enum fr_stat_fn fn;
	char *label;
	char *expr; /* NULL: none, of count() and rate() */
	u32 ppm;    /* of a percentile */
	size_t at;  /* where the expression stands in the text */
};

/* All zero: nothing is asked. */
struct fr_stat_ask {
	struct fr_stat_key key[FR_STAT_KEY_MAX];
	struct fr_stat_func func[FR_STAT_FUNC_MAX];
	u32 key_cnt, func_cnt;
	char *keys, *funcs; /* as given, for messages */
};

/* Keys that commas separate; functions that blanks or commas separate. 0, or -EINVAL or -ENOMEM, reported. */
int fr_stat_parse_keys(struct fr_stat_ask *ask, const char *text);
int fr_stat_parse_functions(struct fr_stat_ask *ask, const char *text);
void fr_stat_ask_free(struct fr_stat_ask *ask);

/* Is it a function's name, without brackets? */
bool fr_stat_is_function(const char *name);

/* Keys that are no expressions, and functions, for help and completion; NULL: no more. */
const char *fr_stat_key_name(u32 i, const char **what);
const char *fr_stat_function_name(u32 i, const char **what);

/* The number of the column of that name: keys first, then functions. -1: there is none; *near: the nearest, or NULL. */
int fr_stat_column(const struct fr_stat_ask *ask, const char *name, const char **near);

/* ---- the result ---- */

enum fr_stat_kind {
	FR_STAT_NONE, /* no value, or not known */
	FR_STAT_INT,
	FR_STAT_REAL,
	FR_STAT_TEXT,
	FR_STAT_HEX,  /* a number that text shows in hexadecimal */
	FR_STAT_TIME, /* the beginning of a time's bucket, on the first file's clock */
};

struct fr_stat_value {
	enum fr_stat_kind kind;
	__int128 num;
	double real;
	const char *text; /* not terminated */
	size_t len;
};

struct fr_stat_cell; /* opaque */

/* The rows that have the same keys. */
struct fr_stat_group {
	u64 hash;  /* of its keys, for the tally */
	u8 *bytes; /* its keys */
	u32 sz;
	u64 row_cnt;
	struct fr_stat_cell *cell; /* [func_cnt] */
};

struct fr_stat_note {
	const char *kind; /* a word, for programs */
	char text[400];
};

#define FR_STAT_NOTE_MAX 40u

struct fr_stat {
	const struct fr_stat_ask *ask;
	struct fr_replay *replay;
	struct fr_tally groups;	    /* struct fr_stat_group */
	struct fr_stat_group rest;  /* rows for whose groups there was no room */
	struct fr_stat_group total; /* of all */
	bool ns[FR_STAT_FUNC_MAX];  /* the function's values are times in ns */
	u64 seen_cnt, row_cnt;	    /* rows of the window, and those that matched */
	u64 begin_ns, end_ns;	    /* the window, on the first file's clock */
	u64 time_ns;		    /* all boots' time in it, which rates are of */
	u32 file_cnt;
	bool damaged;
	struct fr_stat_note note[FR_STAT_NOTE_MAX];
	u32 note_cnt;
	struct fr_stat_run *run; /* private */
};

/*
 * Read the files. 0 and *out, which fr_stat_free() frees in any case; or, reported: -EINVAL: an expression or a time is wrong;
 * -EBADMSG: no file is a snapshot; -errno. ask must live as long.
 */
int fr_stat_run(const struct fr_stat_ask *ask, const char *const *path, u32 cnt, const struct fr_replay_opts *opts,
		struct fr_stat *out);
void fr_stat_free(struct fr_stat *s);

/* Key i of a group; function i of it. */
void fr_stat_key_of(const struct fr_stat_group *g, u32 i, struct fr_stat_value *out);
void fr_stat_func_of(const struct fr_stat *s, const struct fr_stat_group *g, u32 i, struct fr_stat_value *out);

/*
 * The groups in order: by a column (fr_stat_column()), numbers and texts as they are, values that are not known last. The array
 * is the caller's. NULL: no memory.
 */
struct fr_stat_group **fr_stat_order(const struct fr_stat *s, int column, bool descending);

/* The rows of several groups as one, without keys. 0 or -ENOMEM; fr_stat_clear() frees what is in it. */
int fr_stat_add_up(const struct fr_stat *s, struct fr_stat_group *to, const struct fr_stat_group *from);
void fr_stat_clear(const struct fr_stat *s, struct fr_stat_group *g);

/* Find what is not known of the result, and add it to the notes. For fr_stat_run(). */
void fr_stat_note(struct fr_stat *s, const char *kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
