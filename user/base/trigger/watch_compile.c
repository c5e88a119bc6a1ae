/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch_compile: a bound expression, for one event, as instructions. Slots are a stack: an operand at depth d leaves its value
 * in slot d and uses those above. What is constant for the event is decided here, so && and || lose what cannot matter.
 */
#include <string.h>

#include "base/rows/view.h"
#include "base/trigger/watch_int.h"
#include "tp.h"

/* ---- comparisons ---- */

static enum fr_watch_truth decided(bool is)
{
	return is ? FR_WATCH_TRUE : FR_WATCH_FALSE;
}

static enum fr_watch_truth negated(struct fr_watch_build *b, const struct fr_node *n, enum fr_watch_truth t, u32 dst)
{
	struct fr_watch_insn *in;

	if (t != FR_WATCH_ASK)
		return decided(t == FR_WATCH_FALSE);
	in = fr_watch_emit(b, n, FR_WATCH_NOT, dst);
	if (in)
		in->a = dst;
	return FR_WATCH_ASK;
}

static enum fr_watch_truth fold_compare(enum fr_op op, fr_wide a, fr_wide b)
{
	switch (op) {
	case FR_OP_EQ:
		return decided(a == b);
	case FR_OP_NE:
		return decided(a != b);
	case FR_OP_LT:
		return decided(a < b);
	case FR_OP_LE:
		return decided(a <= b);
	case FR_OP_GT:
		return decided(a > b);
	default:
		return decided(a >= b);
	}
}

/* Is the text in the area this one? Texts end at their first NUL, so none has a NUL in it. */
static enum fr_watch_truth same_text(struct fr_watch_build *b, const struct fr_node *n, const struct fr_watch_operand *x,
				     const struct fr_watch_operand *y, u32 dst)
{
	struct fr_watch_insn *in;
	int table;

	if (memchr(y->text, 0, y->len) || y->len > (x->room ?: FR_WATCH_TEXT_MAX - 1))
		return FR_WATCH_FALSE;
	table = fr_watch_add_text(b, n, y->text, y->len);
	in = table < 0 ? NULL : fr_watch_emit(b, n, FR_WATCH_TEXT, dst);
	if (in) {
		fr_watch_aim(in, x);
		in->lo = table;
		in->hi = y->len;
	}
	return FR_WATCH_ASK;
}

static enum fr_watch_truth compile_compare_texts(struct fr_watch_build *b, const struct fr_node *n, enum fr_op op,
						 struct fr_watch_operand *x, struct fr_watch_operand *y, u32 dst)
{
	enum fr_watch_truth t;

	if (x->kind == FR_WATCH_IS_AREA && y->kind == FR_WATCH_IS_AREA) {
		fr_watch_fail(b, n, "BPF compares a text of the event with one in quotes only");
		return FR_WATCH_FALSE;
	}
	if (x->kind == FR_WATCH_IS_TEXT && y->kind == FR_WATCH_IS_TEXT)
		t = decided(x->len == y->len && !memcmp(x->text, y->text, x->len));
	else
		t = x->kind == FR_WATCH_IS_AREA ? same_text(b, n, x, y, dst) : same_text(b, n, y, x, dst);
	return op == FR_OP_NE ? negated(b, n, t, dst) : t;
}

/* x in slot dst, y in dst + 1, unless they are known. */
static enum fr_watch_truth compile_compare(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	struct fr_watch_operand x, y;

	fr_watch_operands(b, n, dst, &x, &y);
	if (x.kind == FR_WATCH_IS_NONE || y.kind == FR_WATCH_IS_NONE || fr_watch_is_number(&x) != fr_watch_is_number(&y))
		return FR_WATCH_FALSE;
	if (!fr_watch_is_number(&x))
		return compile_compare_texts(b, n, n->op, &x, &y, dst);
	if (x.kind == FR_WATCH_IS_NUM && y.kind == FR_WATCH_IS_NUM)
		return fold_compare(n->op, x.num, y.num);
	fr_watch_emit_two(b, n, fr_watch_two_op(n->op), dst, &y);
	return FR_WATCH_ASK;
}

/* One item of a list, equal (op) or not: x stays in slot dst, the result goes to dst + 1. */
static enum fr_watch_truth is_item(struct fr_watch_build *b, const struct fr_node *item, enum fr_op op,
				   struct fr_watch_operand *x, u32 dst)
{
	struct fr_watch_operand y = fr_watch_value(b, item, dst + 1);
	struct fr_watch_insn *in;

	if (x->kind == FR_WATCH_IS_NONE || y.kind == FR_WATCH_IS_NONE || fr_watch_is_number(x) != fr_watch_is_number(&y))
		return FR_WATCH_FALSE;
	if (!fr_watch_is_number(x))
		return compile_compare_texts(b, item, op, x, &y, dst + 1);
	if (x->kind == FR_WATCH_IS_NUM && y.kind == FR_WATCH_IS_NUM)
		return fold_compare(op, x->num, y.num);
	fr_watch_put(b, item, x, dst);
	in = fr_watch_emit(b, item, fr_watch_two_op(op), dst + 1);
	if (in) {
		in->a = dst;
		in->b = y.kind == FR_WATCH_IS_NUM ? FR_WATCH_IMM : dst + 1;
		in->lo = y.num;
		in->hi = y.num >> 64;
	}
	return FR_WATCH_ASK;
}

/* Each item that is compiled jumps to the end if it decides: of `in` one that is equal, of `not in` one that is. */
static enum fr_watch_truth compile_is_in(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	bool is_in = n->op == FR_OP_IN;
	enum fr_watch_op jump = is_in ? FR_WATCH_JT : FR_WATCH_JF;
	struct fr_watch_operand x = fr_watch_value(b, n->a, dst);
	u32 first = b->prog->insn_cnt, i;
	const struct fr_node *item;
	struct fr_watch_insn *in;
	bool any = false;

	for (item = n->b; item && !b->failed; item = item->next) {
		u32 before = b->prog->insn_cnt;
		enum fr_watch_truth t = is_item(b, item, is_in ? FR_OP_EQ : FR_OP_NE, &x, dst);

		if (t == decided(is_in))
			return t;
		if (t == FR_WATCH_ASK)
			fr_watch_emit_jump(b, n, jump, dst + 1);
		else
			b->prog->insn_cnt = before;
		any |= t == FR_WATCH_ASK;
	}
	if (!any)
		return decided(!is_in);
	for (i = first; i < b->prog->insn_cnt; i++)
		if (b->prog->insn[i].op == jump && b->prog->insn[i].a == dst + 1 && !b->prog->insn[i].off)
			b->prog->insn[i].off = b->prog->insn_cnt;
	in = fr_watch_emit(b, n, FR_WATCH_TRUTH, dst);
	if (in)
		in->a = dst + 1;
	return FR_WATCH_ASK;
}

/* All bits of y, as replay has it: x & y == y, and y is not 0. */
static enum fr_watch_truth compile_has(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	struct fr_watch_operand x = fr_watch_value(b, n->a, dst), y = fr_watch_value(b, n->b, dst + 1);

	if (x.kind == FR_WATCH_IS_NONE || y.kind == FR_WATCH_IS_NONE)
		return FR_WATCH_FALSE;
	if (!fr_watch_is_number(&x)) {
		fr_watch_fail(b, n, "BPF finds no part of a text by `has`: write ~ \"*PART*\"");
		return FR_WATCH_FALSE;
	}
	if (y.kind != FR_WATCH_IS_NUM) {
		fr_watch_fail(b, n, "BPF knows `has` of numbers in the expression only: write (x & y) == y");
		return FR_WATCH_FALSE;
	}
	if (x.kind == FR_WATCH_IS_NUM || !y.num)
		return decided(y.num && (x.num & y.num) == y.num);
	fr_watch_emit_two(b, n, FR_WATCH_AND, dst, &y);
	fr_watch_emit_two(b, n, FR_WATCH_EQ, dst, &y);
	return FR_WATCH_ASK;
}

/* Does the number in slot dst have a name that matches? */
static enum fr_watch_truth compile_has_name(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	const struct fr_field *f = n->a->op == FR_OP_FIELD ? n->a->field[b->ev->nr] : NULL;
	struct fr_watch_insn *in;

	if (f && b->ev->nr >= FR_TP_FIRST && b->ev->nr <= FR_TP_LAST) {
		fr_watch_fail(b, n,
			      "BPF matches no pattern with a tracepoint's words: compare with words, as %s in (ONE, OTHER)",
			      f->name);
		return FR_WATCH_FALSE;
	}
	if (!f || !fr_watch_names(b, n, f, dst, dst + 1))
		return FR_WATCH_FALSE;
	in = fr_watch_emit(b, n, FR_WATCH_TRUTH, dst);
	if (in)
		in->a = dst + 1;
	return FR_WATCH_ASK;
}

static enum fr_watch_truth compile_is_match(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	struct fr_watch_operand x = fr_watch_value(b, n->a, dst);
	struct fr_watch_insn *in;
	enum fr_watch_truth t;
	int table;

	if (fr_watch_is_number(&x))
		return compile_has_name(b, n, dst);
	if (x.kind == FR_WATCH_IS_TEXT)
		return decided(fr_glob(n->b->text, n->b->len, x.text, x.len) == (n->op == FR_OP_GLOB));
	if (x.kind != FR_WATCH_IS_AREA)
		return FR_WATCH_FALSE;
	table = fr_watch_add_glob(b, n->b);
	in = table < 0 ? NULL : fr_watch_emit(b, n, FR_WATCH_GLOB, dst);
	t = FR_WATCH_ASK;
	if (in) {
		fr_watch_aim(in, &x);
		in->lo = table;
	}
	return n->op == FR_OP_GLOB ? t : negated(b, n, t, dst);
}

/* ---- truths ---- */

/* A value used as a truth: true if known, not 0 and not empty. */
static enum fr_watch_truth compile_is_something(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	struct fr_watch_operand x = fr_watch_value(b, n, dst);
	struct fr_watch_insn *in;

	if (x.kind == FR_WATCH_IS_NUM || x.kind == FR_WATCH_IS_TEXT || x.kind == FR_WATCH_IS_NONE)
		return decided(x.kind == FR_WATCH_IS_NUM ? x.num != 0 : x.kind == FR_WATCH_IS_TEXT && x.len);
	in = fr_watch_emit(b, n, x.kind == FR_WATCH_IS_SLOT ? FR_WATCH_TRUTH : FR_WATCH_SOME, dst);
	if (in) {
		in->a = dst;
		if (x.kind == FR_WATCH_IS_AREA)
			fr_watch_aim(in, &x);
	}
	return FR_WATCH_ASK;
}

/* && and ||: the second operand is evaluated only if the first does not decide. */
static enum fr_watch_truth both(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	enum fr_watch_truth strong = decided(n->op == FR_OP_OR), t;
	u32 jump;

	t = fr_watch_truth(b, n->a, dst);
	if (t != FR_WATCH_ASK || b->failed)
		return t == strong ? t : fr_watch_truth(b, n->b, dst);
	jump = fr_watch_emit_jump(b, n, n->op == FR_OP_AND ? FR_WATCH_JF : FR_WATCH_JT, dst);
	t = fr_watch_truth(b, n->b, dst);
	if (t == strong)
		return t;
	if (t == FR_WATCH_ASK)
		fr_watch_land(b, jump);
	else
		b->prog->insn_cnt = jump;
	return FR_WATCH_ASK;
}

static enum fr_watch_truth compile_ask(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	switch (n->op) {
	case FR_OP_AND:
	case FR_OP_OR:
		return both(b, n, dst);
	case FR_OP_NOT:
		return negated(b, n, fr_watch_truth(b, n->a, dst), dst);
	case FR_OP_EVENTS:
		return decided(n->events[b->ev->nr]);
	case FR_OP_GLOB:
	case FR_OP_NOT_GLOB:
		return compile_is_match(b, n, dst);
	case FR_OP_REGEX:
	case FR_OP_NOT_REGEX:
		fr_watch_fail(b, n, "BPF has no regular expressions: use ~ with * ? [a-z]");
		return FR_WATCH_FALSE;
	case FR_OP_HAS:
		return compile_has(b, n, dst);
	case FR_OP_IN:
	case FR_OP_NOT_IN:
		return compile_is_in(b, n, dst);
	default:
		return fr_op_is_compare(n->op) ? compile_compare(b, n, dst) : compile_is_something(b, n, dst);
	}
}

/* What is decided takes no instruction. */
enum fr_watch_truth fr_watch_truth(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	u32 first = b->prog->insn_cnt;
	enum fr_watch_truth t;

	if (b->failed)
		return FR_WATCH_FALSE;
	t = compile_ask(b, n, dst);
	if (t != FR_WATCH_ASK)
		b->prog->insn_cnt = first;
	return t;
}
