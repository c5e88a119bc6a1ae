/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* watch_int: shared by the parts of watch: the choice of events, the compiler, tables. */
#ifndef FR_WATCH_INT_H
#define FR_WATCH_INT_H

#include "base/filter/filter_node.h"
#include "base/trigger/watch_set.h"

/* An expression being compiled for one event. */
struct fr_watch_build {
	struct fr_watch_set *set;
	const struct fr_event *ev;
	const char *arch;
	struct fr_watch_prog *prog;
	struct fr_filter_error *error;
	bool alone; /* it is about this event: what that lacks is a mistake */
	bool failed;
};

enum fr_watch_truth { FR_WATCH_FALSE, FR_WATCH_TRUE, FR_WATCH_ASK };

/* A value: known at compile time, in a slot, or a text in the area. */
struct fr_watch_operand {
	enum { FR_WATCH_IS_NONE, FR_WATCH_IS_NUM, FR_WATCH_IS_TEXT, FR_WATCH_IS_SLOT, FR_WATCH_IS_AREA } kind;
	fr_wide num;	  /* NUM */
	fr_wide min, max; /* NUM, SLOT: its bounds */
	bool wide;	  /* min and max are unknown */
	const char *text; /* TEXT: len bytes */
	size_t len;
	u16 off, room; /* AREA; room 0: to the record's end */
	u8 how;	       /* AREA: FR_WATCH_AT or another */
};

/* Report what is wrong, once. */
void fr_watch_fail(struct fr_watch_build *b, const struct fr_node *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Compile n so that its truth is in slot dst, or return that it is decided. b->failed: it cannot be compiled. */
enum fr_watch_truth fr_watch_truth(struct fr_watch_build *b, const struct fr_node *n, u32 dst);

/* Compile n so that its value is in slot dst, unless it is known. */
struct fr_watch_operand fr_watch_value(struct fr_watch_build *b, const struct fr_node *n, u32 dst);

/* The two operands of n: in slots dst and dst + 1; if both are known, in none. */
void fr_watch_operands(struct fr_watch_build *b, const struct fr_node *n, u32 dst, struct fr_watch_operand *x,
		       struct fr_watch_operand *y);

/* Is it a number, known or in a slot? Which instruction does this operator of two numbers? */
bool fr_watch_is_number(const struct fr_watch_operand *o);
enum fr_watch_op fr_watch_two_op(enum fr_op op);

/* Have an instruction look at a text in the area. */
void fr_watch_aim(struct fr_watch_insn *in, const struct fr_watch_operand *area);

/* Put a known number into a slot. */
void fr_watch_put(struct fr_watch_build *b, const struct fr_node *n, const struct fr_watch_operand *o, u32 dst);

/* dst = slot dst op y, where y is known, or in slot dst + 1. */
void fr_watch_emit_two(struct fr_watch_build *b, const struct fr_node *n, enum fr_watch_op op, u32 dst,
		       const struct fr_watch_operand *y);

/* An instruction, cleared except for op and dst; NULL: too many, reported. */
struct fr_watch_insn *fr_watch_emit(struct fr_watch_build *b, const struct fr_node *n, enum fr_watch_op op, u32 dst);

/* A jump on slot `on`, and its index; fr_watch_land() aims it at what follows then. */
u32 fr_watch_emit_jump(struct fr_watch_build *b, const struct fr_node *n, enum fr_watch_op op, u32 on);
void fr_watch_land(struct fr_watch_build *b, u32 jump);

/* The number of a table with this text, or this pattern; equal ones are shared. -1: failed, reported. */
int fr_watch_add_text(struct fr_watch_build *b, const struct fr_node *n, const char *text, size_t len);
int fr_watch_add_glob(struct fr_watch_build *b, const struct fr_node *n);

/*
 * Leave in slot dst whether the number in slot a has a name that matches the pattern n->b, as text prints numbers in field f's
 * style. False if no name does: nothing is compiled then.
 */
bool fr_watch_names(struct fr_watch_build *b, const struct fr_node *n, const struct fr_field *f, u32 a, u32 dst);

#endif
