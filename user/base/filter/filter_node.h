/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tree of a filter, shared by its three parts: filter_parse.c makes it, filter_bind.c finds what its names mean and
 * checks that the operands fit, filter.c evaluates it.
 */
#ifndef FR_FILTER_NODE_H
#define FR_FILTER_NODE_H

#include "base/filter/filter.h"
#include "base/filter/regex.h"

#define FR_NODE_MAX  1024 /* nodes of an expression */
#define FR_DEPTH_MAX 100  /* of brackets and operators: the evaluation recurses */

typedef __int128 fr_wide; /* any u64 and any s64, and what a few operations make of them */

enum fr_op {
	/* values */
	FR_OP_NUM,
	FR_OP_TEXT,
	FR_OP_NAME,    /* parsed, not yet bound */
	FR_OP_BUILTIN, /* enum fr_builtin */
	FR_OP_FIELD,   /* [index] with has_index */
	FR_OP_SYMBOL,  /* the number a name stands for, by event and ABI */
	FR_OP_NEG,
	FR_OP_INV,
	FR_OP_BITOR,
	FR_OP_BITXOR,
	FR_OP_BITAND,
	FR_OP_SHL,
	FR_OP_SHR,
	FR_OP_ADD,
	FR_OP_SUB,
	FR_OP_MUL,
	FR_OP_DIV,
	FR_OP_MOD,
	/* truths */
	FR_OP_EQ,
	FR_OP_NE,
	FR_OP_LT,
	FR_OP_LE,
	FR_OP_GT,
	FR_OP_GE,
	FR_OP_GLOB,
	FR_OP_NOT_GLOB,
	FR_OP_REGEX,
	FR_OP_NOT_REGEX,
	FR_OP_HAS,    /* all bits of a number, or a part of a text */
	FR_OP_NOT_IN, /* a != b && a != the next b ... */
	FR_OP_IN,     /* a, then a list of b linked by next */
	FR_OP_EVENTS,
	FR_OP_NOT,
	FR_OP_AND,
	FR_OP_OR,
};

/* What every event has, then what it ends (struct fr_pair): the first and the last of these; whose it is, likewise (whose.h).
 */
#define FR_BUILTINS(B) \
	B(event) B(ts) B(cpu) B(pid) B(tid) B(comm) B(cgroup) B(tier) FR_PAIR_TIMES(B) B(waker) B(program) FR_BELONGS(B)

enum fr_builtin {
#define B(name, ...) FR_BI_##name,
	FR_BUILTINS(B)
#undef B
		FR_BI_CNT
};

static inline bool fr_builtin_is_pair(u8 b)
{
	return b >= FR_BI_latency && b <= FR_BI_waker;
}

static inline bool fr_builtin_is_belongs(u8 b)
{
	return b >= FR_BI_container;
}

/* What the cgroup of an event's task tells. */
static inline bool fr_builtin_is_cgroup(u8 b)
{
	return b == FR_BI_cgroup || fr_builtin_is_belongs(b);
}

extern const char *const fr_builtin_names[FR_BI_CNT];

/* What a symbol stands for in one event type, native and 32-bit. */
struct fr_filter_name {
	s64 v[2];
	bool known[2];
	bool is_text; /* here the field is a text: it is compared with the word itself */
};

struct fr_node {
	enum fr_op op;
	size_t at; /* byte in the expression, for messages */
	struct fr_node *a, *b, *next;
	fr_wide num;		       /* NUM */
	char *text;		       /* TEXT, NAME; owned */
	size_t len;		       /* of text */
	bool has_index;		       /* FIELD, NAME */
	u32 index;		       /* FIELD, NAME */
	u8 builtin;		       /* BUILTIN */
	u8 kinds;		       /* FIELD: 1 << enum fr_val_kind of each event that has it; 0: no event has it */
	const struct fr_field **field; /* FIELD, BUILTIN of a pair: by event, NULL where it has none; owned */
	struct fr_filter_name *symbol; /* SYMBOL: by event; owned */
	bool *events;		       /* EVENTS: by event; BUILTIN of a pair: those that may have it; owned */
	struct fr_regex *regex;	       /* TEXT, right of REGEX; owned */
	bool is_regex;		       /* TEXT: it was between slashes */
	bool ignores_case;	       /* the same, followed by an i */
};

struct fr_filter {
	const struct fr_schema *schema;
	const char *arch;
	const struct fr_filter_file *beside; /* while compiling: whose names are no mistake */
	u32 beside_cnt;
	const struct fr_filter_file *file; /* while compiling: its own */
	struct fr_node *root;
	struct fr_node *node[FR_NODE_MAX]; /* all nodes */
	u32 node_cnt;
	u8 verdict[FR_EVENT_MAX];
	struct fr_filter_error *error; /* while compiling */
	bool no_memory;		       /* that was the error */
};

/* Report what is wrong, once: the first error stays. Returns -EINVAL. */
int fr_filter_fail(struct fr_filter *f, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* NULL: too many, or no memory; reported. */
struct fr_node *fr_node_new(struct fr_filter *f, enum fr_op op, size_t at);

#define FR_PATTERN_WORDS "a pattern is a text in quotes, or between slashes: \"nginx*\", /ngin+x/"

/* Parse expr into f->root. Returns 0, -EINVAL or -ENOMEM. */
int fr_filter_parse(struct fr_filter *f, const char *expr);

/* Report that nothing of this kind has that name, and which one is nearest. Returns -EINVAL. */
int fr_filter_unknown(struct fr_filter *f, size_t at, const char *what, const char *name, const char *nearest);

/* Does one of these events (NULL: of all) have a field of this name that was not recorded? Then that is reported. */
bool fr_filter_is_lacking(struct fr_filter *f, const struct fr_node *n, const bool *events);

/* The same for a name that is neither a field nor anything else: what it is, or which one was meant. Returns -EINVAL. */
int fr_filter_unknown_name(struct fr_filter *f, const struct fr_node *n);

/* Is it SYS_ and a system call's name? The same for one that nobody knows. Returns -EINVAL. */
bool fr_filter_is_call(const char *name);
int fr_filter_unknown_call(struct fr_filter *f, const struct fr_node *n);

/* Does the name, not yet bound, stand for texts alone? */
bool fr_filter_is_text(const struct fr_filter *f, const char *name);

/* The nearest name of an event; of a tier; of a value of a field, or a constant. NULL: none is near. */
const char *fr_filter_nearest_event(const struct fr_schema *s, const char *to);
const char *fr_filter_nearest_tier(const char *to);
const char *fr_filter_nearest_value(const struct fr_filter *f, const struct fr_node *field, const char *to);

/* The names that a field's values can have, if these are few. */
#define FR_FILTER_VALUES_SZ 100u
bool fr_filter_list_values(const struct fr_filter *f, const struct fr_node *field, char list[FR_FILTER_VALUES_SZ]);

/* In a comparison whose operands are bound: negative numbers beside arguments of system calls. Returns 0, -EINVAL or -ENOMEM.
 */
int fr_filter_bind_args(struct fr_filter *f, struct fr_node *n);

/* Bind names, check operands, find verdicts. Returns 0, -EINVAL or -ENOMEM. */
int fr_filter_bind(struct fr_filter *f);

/* The kinds that a bound value can have, 1 << enum fr_val_kind each. Has it no value in this event, whatever the row holds? */
u8 fr_node_kinds(const struct fr_node *n);
bool fr_node_is_missing(const struct fr_node *n, u32 nr);

/* What the event's number alone decides about a bound expression. */
enum fr_verdict fr_node_verdict(const struct fr_node *n, u32 nr);

/* Does the pattern element at *p, which is not a *, match the character c? Moves *p past the element in any case. */
bool fr_glob_one(const char *pattern, size_t sz, size_t *p, char c);

/* a op b as filters calculate: wrapping. False: division by 0. */
bool fr_op_calculate(enum fr_op op, fr_wide a, fr_wide b, fr_wide *out);

static inline bool fr_op_is_compare(enum fr_op op)
{
	return op >= FR_OP_EQ && op <= FR_OP_IN;
}

static inline bool fr_op_is_list(enum fr_op op)
{
	return op == FR_OP_IN || op == FR_OP_NOT_IN;
}

#endif
