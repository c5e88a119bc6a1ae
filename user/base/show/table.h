/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table: what people and programs are shown of a kind of record (a task, a call, a CPU, ...), described once. Text tables, JSON
 * and the reference in docs/ are made from it.
 *
 *	static const struct fr_column call_columns[] = {
 *		FR_COLUMN(struct call, begin_cnt, "begins", COUNT, "begun", FR_TEXT(2, "begun", 10)),
 *		FR_COLUMN(struct call, latency, "latency", HIST, "from begin to end"),
 *		FR_COLUMN_OF(SUM, struct call, latency, NULL, NS, NULL, FR_TEXT(3, "time", 10)),
 *		{},
 *	};
 *	static const struct fr_table call = {"call", "a system call", call_columns};
 *
 * A column with a name is a key of JSON, in the order of the table; one with a place is in text, in the order of places. So a
 * column that only one of them has is possible. Its value is a member of the record, or what get() makes of it. A column may
 * also be a record of another kind (FR_PART), or a list of them (FR_LIST), or one number for each of several names (FR_MAP).
 * Pure.
 */
#ifndef FR_SHOW_TABLE_H
#define FR_SHOW_TABLE_H

#include "base/set/hist.h"
#include "base/text/jsonw.h"
#include "types.h"

/* What a value is: text writes it accordingly, and the reference says so. */
#define FR_UNITS(U)           \
	U(NUMBER, "number")   \
	U(COUNT, "count")     \
	U(NS, "ns")           \
	U(MS, "ms")           \
	U(SECONDS, "seconds") \
	U(CLOCK, "clock")     \
	U(WALL, "wall")       \
	U(SIZE, "bytes")      \
	U(TEXT, "text")       \
	U(BOOL, "bool")       \
	U(SHARE, "percent")   \
	U(RATE, "per second") \
	U(HIST, "histogram")  \
	U(PART, "")           \
	U(LIST, "list of")    \
	U(MAP, "count")

enum fr_unit {
	FR_UNIT_END, /* of a table of columns */
#define U(name, words) FR_UNIT_##name,
	FR_UNITS(U)
#undef U
};

/* What a family of OpenMetrics is. */
enum fr_metric { FR_METRIC_GAUGE, FR_METRIC_COUNTER, FR_METRIC_INFO };

/* What of the record a value is: a member as it is, or a figure of a histogram. */
enum fr_from {
	FR_FROM_UNSIGNED,
	FR_FROM_SIGNED,
	FR_FROM_BOOL,
	FR_FROM_REAL,
	FR_FROM_TEXT,  /* a const char *, NULL: not known */
	FR_FROM_CHARS, /* an array of char that ends with a NUL or is full */
	FR_FROM_HIST,
	FR_FROM_SUM,
	FR_FROM_CNT,
	FR_FROM_MEAN,
	FR_FROM_P50,
	FR_FROM_P99,
	FR_FROM_MAX,
};

enum fr_value_kind {
	FR_VALUE_ABSENT, /* JSON has no such key here; in text another column takes its place */
	FR_VALUE_NULL,	 /* not known */
	FR_VALUE_UNSIGNED,
	FR_VALUE_SIGNED,
	FR_VALUE_REAL,
	FR_VALUE_BOOL,
	FR_VALUE_TEXT,
	FR_VALUE_HIST,
};

struct fr_value {
	enum fr_value_kind kind;
	union {
		u64 nr;
		s64 snr;
		double real;
		bool yes;
		struct {
			const char *text;
			size_t text_sz;
		};
		const struct fr_hist *hist;
	};
};

/* Memory for what get() and find() make: a text, or a record. */
union fr_room {
	char text[256];
	u64 align;
};

/* A record that is shown. */
struct fr_at {
	const struct fr_column *column;
	const void *of; /* what all that is shown belongs to, such as a report */
	const void *rec;
	union fr_room *room;
};

struct fr_column {
	const char *name; /* the key; NULL: JSON does not have it; of a part: its columns are the record's own */
	enum fr_unit unit;
	const char *meaning;
	enum fr_from from;
	u16 off, sz;					/* of the member */
	struct fr_value (*get)(const struct fr_at *at); /* instead of the member */
	const char *arg;				/* for get() */
	u8 digits;					/* behind the point in JSON, of a number that is not whole */
	bool null;    /* JSON has null for 0, or for a part that is not there, or a list of none */
	bool escaped; /* the text has been through fr_escape_text() */

	/*
	 * PART, LIST: of this kind, in the record at off, or what find() returns for 0 (LIST: and 1, 2, ...); NULL: no more. A
	 * list of no kind has numbers, u64 each, or texts (from = TEXT).
	 */
	const struct fr_table *kind;
	const void *(*find)(const struct fr_at *at, u32 i);
	bool brief; /* its histograms without their buckets */

	/* MAP: the i-th name; NULL: no more. Its number is the i-th u64 (from = REAL: double) of the member, or of what find()
	 * returns. */
	const char *(*key)(u32 i);

	/* MAP without key(): the next name and number of the text that find() returns, from *pos on, which is moved; false:
	 * none. */
	bool (*next)(const struct fr_at *at, const char **pos, const char **name, int *len, u64 *nr);

	struct {
		u8 place;	  /* among the columns in text, from 1; 0: text does not have it */
		const char *head; /* its heading; NULL: it takes the place of others, where these are absent */
		s8 width;	  /* as of printf(): less than 0, left-aligned; 0: as wide as it is */
		u16 least;	  /* only on a page at least so wide */
		const char *lead; /* before it and its heading */
		const char *none; /* what is not known, or took nothing; NULL: "-" */
		struct fr_value (*say)(const struct fr_at *at);	       /* another value than JSON's */
		void (*put)(struct fr_out *o, const struct fr_at *at); /* or it writes itself, with its width or its line */
		enum fr_paint (*paint)(const struct fr_at *at);
		bool plain; /* a count without commas */
		bool whole; /* a text of ours, which is never cut off at the width */
		/* of fr_lines_text(), not of a layout: */
		bool in_line;
		const char *line; /* it begins a line that is called so; NULL: it goes on with the line before */
		const char *tail; /* behind it; "*": an s, unless it is 1 */
		bool wrap;	  /* a list separated by commas, broken where the page ends */
	} text;

	struct {
		const char *family; /* without "flightrec_"; NULL: it is none */
		enum fr_metric type;
		const char *unit;  /* the last word of its name, a base unit: bytes, seconds, ratio; NULL: none */
		const char *help;  /* without a full stop */
		const char *label; /* a name: its value is a label of the families of its record; of a MAP, its keys are */
		struct fr_value (*get)(
			const struct fr_at *at); /* another value than JSON's, in base units; absent: no sample */
	} metric;
};

struct fr_table {
	const char *name;    /* heading of the reference */
	const char *meaning; /* a sentence or two there */
	const struct fr_column *column;
};

/* clang-format off */
#define FR_FROM(type, member) _Generic(&((type *)0)->member, char **: FR_FROM_TEXT, default: _Generic(((type *)0)->member, \
	bool: FR_FROM_BOOL, double: FR_FROM_REAL, s8: FR_FROM_SIGNED, s16: FR_FROM_SIGNED, s32: FR_FROM_SIGNED, s64: FR_FROM_SIGNED, \
	const char *: FR_FROM_TEXT, char *: FR_FROM_CHARS, struct fr_hist: FR_FROM_HIST, default: FR_FROM_UNSIGNED))
#define FR_MEMBER(type, member) .off = offsetof(type, member), .sz = sizeof(((type *)0)->member)

#define FR_COLUMN(type, member, name_, unit_, meaning_, ...) \
	{.name = (name_), .unit = FR_UNIT_##unit_, .meaning = (meaning_), FR_MEMBER(type, member), .from = FR_FROM(type, member), \
	 __VA_ARGS__}
/* A figure of a histogram: SUM, CNT, MEAN, P50, P99 or MAX. */
#define FR_COLUMN_OF(figure, type, member, name_, unit_, meaning_, ...) \
	{.name = (name_), .unit = FR_UNIT_##unit_, .meaning = (meaning_), FR_MEMBER(type, member), .from = FR_FROM_##figure, __VA_ARGS__}
#define FR_COLUMN_MADE(get_, name_, unit_, meaning_, ...) \
	{.name = (name_), .unit = FR_UNIT_##unit_, .meaning = (meaning_), .get = (get_), __VA_ARGS__}
#define FR_PART(type, member, name_, kind_, meaning_, ...) \
	{.name = (name_), .unit = FR_UNIT_PART, .meaning = (meaning_), FR_MEMBER(type, member), .kind = (kind_), __VA_ARGS__}
#define FR_PART_MADE(find_, name_, kind_, meaning_, ...) \
	{.name = (name_), .unit = FR_UNIT_PART, .meaning = (meaning_), .find = (find_), .kind = (kind_), __VA_ARGS__}
#define FR_LIST(find_, name_, kind_, meaning_, ...) \
	{.name = (name_), .unit = FR_UNIT_LIST, .meaning = (meaning_), .find = (find_), .kind = (kind_), __VA_ARGS__}
#define FR_ONE_OF(kind_, meaning_) FR_PART_MADE(fr_one_part, NULL, kind_, meaning_)
#define FR_MAP(type, member, name_, key_, meaning_, ...) \
	{.name = (name_), .unit = FR_UNIT_MAP, .meaning = (meaning_), FR_MEMBER(type, member), .key = (key_), __VA_ARGS__}
#define FR_MAP_MADE(find_, name_, key_, meaning_, ...) \
	{.name = (name_), .unit = FR_UNIT_MAP, .meaning = (meaning_), .find = (find_), .key = (key_), __VA_ARGS__}
#define FR_GAUGE(family_, unit_, help_, ...) \
	.metric = {.family = (family_), .type = FR_METRIC_GAUGE, .unit = (unit_), .help = (help_), __VA_ARGS__}
#define FR_COUNTER(family_, help_, ...) .metric = {.family = (family_), .type = FR_METRIC_COUNTER, .help = (help_), __VA_ARGS__}
#define FR_LABEL(name_, ...) .metric = {.label = (name_), __VA_ARGS__}
#define FR_LINE(place_, line_, lead_, tail_, ...) \
	.text = {.in_line = true, .place = (place_), .line = (line_), .lead = (lead_), .tail = (tail_), __VA_ARGS__}
#define FR_TEXT(place_, head_, width_, ...) .text = {.place = (place_), .head = (head_), .width = (width_), __VA_ARGS__}
/* clang-format on */

static inline struct fr_value fr_value_null(void)
{
	return (struct fr_value){.kind = FR_VALUE_NULL};
}

static inline struct fr_value fr_value_absent(void)
{
	return (struct fr_value){.kind = FR_VALUE_ABSENT};
}

static inline struct fr_value fr_value_nr(u64 nr)
{
	return (struct fr_value){.kind = FR_VALUE_UNSIGNED, .nr = nr};
}

static inline struct fr_value fr_value_snr(s64 nr)
{
	return (struct fr_value){.kind = FR_VALUE_SIGNED, .snr = nr};
}

static inline struct fr_value fr_value_real(double real)
{
	return (struct fr_value){.kind = FR_VALUE_REAL, .real = real};
}

static inline struct fr_value fr_value_bool(bool yes)
{
	return (struct fr_value){.kind = FR_VALUE_BOOL, .yes = yes};
}

static inline struct fr_value fr_value_mem(const char *text, size_t sz) /* NULL: not known */
{
	return (struct fr_value){.kind = text ? FR_VALUE_TEXT : FR_VALUE_NULL, .text = text, .text_sz = sz};
}

static inline struct fr_value fr_value_text(const char *text)
{
	return fr_value_mem(text, text ? strlen(text) : 0);
}

/* The column's value of at->rec; a text of it may be in at->room. */
struct fr_value fr_column_value(const struct fr_at *at);

/* The column's member of another record than at->rec, for get(). */
struct fr_value fr_column_member(const struct fr_at *at, const void *rec);

/* The i-th record of a part or list; NULL: none. */
const void *fr_column_part(const struct fr_at *at, u32 i);

/* A record of one of several kinds: its table has FR_ONE_OF() each, and a column made by fr_one_name(), if that is told. */
struct fr_one {
	const struct fr_table *kind;
	const void *rec;
};
const void *fr_one_part(const struct fr_at *at, u32 i);
struct fr_value fr_one_name(const struct fr_at *at);

/* ---- JSON ---- */

/* Write all columns that have names as members of the object that is open. */
void fr_json_record(struct fr_jsonw *w, const struct fr_table *kind, const void *of, const void *rec);

/* The same as an object of its own; and as a line of its own. */
void fr_json_object(struct fr_jsonw *w, const char *key, const struct fr_table *kind, const void *of, const void *rec);
void fr_json_line(struct fr_out *o, const struct fr_table *kind, const void *of, const void *rec);

/* ---- text ---- */

#define FR_LAYOUT_MAX 40u

/* The columns of a table on a page. */
struct fr_layout {
	const char *indent; /* before each line */
	u32 cnt;
	struct {
		const struct fr_column *column;
		u16 off;   /* of its record in the table's */
		s16 width; /* column's, or the widest cell's */
	} col[FR_LAYOUT_MAX];
};

/* Those of a page so wide, by their places. Of parts only those that are in the record itself. */
void fr_layout_init(struct fr_layout *l, const struct fr_table *kind, u32 page_width);

/* Columns become as wide as their cells in this record, if they are not yet, and as their headings. */
void fr_layout_widen(struct fr_layout *l, const void *of, const void *rec);
u32 fr_layout_width(const struct fr_layout *l); /* of a line, without a last column of no width */

/* A line each, indented. */
void fr_layout_head(const struct fr_layout *l, struct fr_out *o);
void fr_layout_row(const struct fr_layout *l, struct fr_out *o, const void *of, const void *rec);

/*
 * Columns as lines, each with what it is called before it: those of the kind and its parts, by their places. columns: of the
 * page, 0: it has no limit.
 */
void fr_lines_text(struct fr_out *o, const struct fr_table *kind, const void *of, const void *rec, u32 columns);
void fr_lines_label(struct fr_out *o, const char *line);

/* ---- OpenMetrics 1.0 ---- */

/* All families, with the label session: each once, with all its samples. */
void fr_metrics_record(struct fr_out *o, const struct fr_table *kind, const void *of, const void *rec, const char *session);

/* ---- the reference ---- */

/* A heading and a table in Markdown of this kind, and of each that it is made of. */
void fr_table_reference(struct fr_out *o, const struct fr_table *kind);

/* One table of all keys, with their paths: `cpus[].tiers[].name`. */
void fr_table_paths(struct fr_out *o, const struct fr_table *kind);

#endif
