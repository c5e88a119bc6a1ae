/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* watch_value: the values in an expression being compiled: fields, constants, arithmetic. */
#include <string.h>

#include "base/rows/view.h"
#include "base/schema/tpname.h"
#include "base/text/nearest.h"
#include "base/trigger/watch_int.h"

#define WORD_MAX  ((fr_wide)UINT64_MAX)
#define RANGE_MAX ((fr_wide)1 << 100) /* larger bounds are not tracked */

static const struct fr_watch_operand none = {.kind = FR_WATCH_IS_NONE};

static struct fr_watch_operand watch_number(fr_wide num)
{
	return (struct fr_watch_operand){
		.kind = FR_WATCH_IS_NUM, .num = num, .min = num, .max = num, .wide = num > RANGE_MAX || num < -RANGE_MAX};
}

static struct fr_watch_operand watch_slot(fr_wide min, fr_wide max)
{
	return (struct fr_watch_operand){.kind = FR_WATCH_IS_SLOT, .min = min, .max = max};
}

bool fr_watch_is_number(const struct fr_watch_operand *o)
{
	return o->kind == FR_WATCH_IS_NUM || o->kind == FR_WATCH_IS_SLOT;
}

struct fr_watch_insn *fr_watch_emit(struct fr_watch_build *b, const struct fr_node *n, enum fr_watch_op op, u32 dst)
{
	struct fr_watch_insn *in;

	if (b->prog->insn_cnt == FR_WATCH_INSN_MAX) {
		fr_watch_fail(b, n, "this is too long for BPF: %u steps at most", FR_WATCH_INSN_MAX);
		return NULL;
	}
	if (dst >= FR_WATCH_SLOT_MAX) {
		fr_watch_fail(b, n, "this is nested too deep for BPF: %u levels at most", FR_WATCH_SLOT_MAX);
		return NULL;
	}
	in = &b->prog->insn[b->prog->insn_cnt++];
	memset(in, 0, sizeof(*in));
	in->op = op;
	in->dst = dst;
	return in;
}

u32 fr_watch_emit_jump(struct fr_watch_build *b, const struct fr_node *n, enum fr_watch_op op, u32 on)
{
	struct fr_watch_insn *in = fr_watch_emit(b, n, op, 0);

	if (in)
		in->a = on;
	return b->prog->insn_cnt - 1;
}

void fr_watch_land(struct fr_watch_build *b, u32 jump)
{
	if (!b->failed)
		b->prog->insn[jump].off = b->prog->insn_cnt;
}

/* ---- values in the area ---- */

static const struct {
	u8 type;
	fr_wide min, max;
} loads[FR_TYPE_CNT] = {
	[FR_TYPE_u8] = {FR_WATCH_u8, 0, UINT8_MAX},	      [FR_TYPE_u16] = {FR_WATCH_u16, 0, UINT16_MAX},
	[FR_TYPE_u32] = {FR_WATCH_u32, 0, UINT32_MAX},	      [FR_TYPE_u64] = {FR_WATCH_u64, 0, WORD_MAX},
	[FR_TYPE_s8] = {FR_WATCH_s8, INT8_MIN, INT8_MAX},     [FR_TYPE_s16] = {FR_WATCH_s16, INT16_MIN, INT16_MAX},
	[FR_TYPE_s32] = {FR_WATCH_s32, INT32_MIN, INT32_MAX}, [FR_TYPE_s64] = {FR_WATCH_s64, INT64_MIN, INT64_MAX},
	[FR_TYPE_u64s] = {FR_WATCH_u64, 0, WORD_MAX},
};

static struct fr_watch_operand watch_load(struct fr_watch_build *b, const struct fr_node *n, u32 off, enum fr_type type,
					  u32 dst)
{
	struct fr_watch_insn *in = fr_watch_emit(b, n, FR_WATCH_LOAD, dst);

	if (in) {
		in->off = off;
		in->type = loads[type].type;
	}
	return watch_slot(loads[type].min, loads[type].max);
}

static struct fr_watch_operand area(u32 off, u32 room)
{
	return (struct fr_watch_operand){.kind = FR_WATCH_IS_AREA, .off = off, .room = room};
}

void fr_watch_aim(struct fr_watch_insn *in, const struct fr_watch_operand *area)
{
	in->off = area->off;
	in->type = area->room;
	in->b = area->how;
}

static struct fr_watch_operand comm(struct fr_watch_build *b)
{
	b->prog->needs |= FR_WATCH_NEEDS_COMM;
	return area(FR_WATCH_AREA(comm), FR_COMM_SZ);
}

static struct fr_watch_operand watch_builtin(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	switch (n->builtin) {
	case FR_BI_event:
		return (struct fr_watch_operand){.kind = FR_WATCH_IS_TEXT, .text = b->ev->name, .len = strlen(b->ev->name)};
	case FR_BI_ts:
		b->prog->needs |= FR_WATCH_NEEDS_TIME;
		return watch_load(b, n, FR_WATCH_AREA(ts), FR_TYPE_u64, dst);
	case FR_BI_cpu:
		return watch_load(b, n, FR_WATCH_AREA(cpu), FR_TYPE_u32, dst);
	case FR_BI_pid:
		return watch_load(b, n, FR_WATCH_AREA(pid), FR_TYPE_s32, dst);
	case FR_BI_tid:
		return watch_load(b, n, FR_WATCH_AREA(tid), FR_TYPE_u32, dst);
	case FR_BI_comm:
		return comm(b);
	case FR_BI_cgroup:
		fr_watch_fail(b, n, "a cgroup's path is known on replay only: choose what is recorded by --cgroup");
		return none;
	case FR_BI_program:
		fr_watch_fail(b, n,
			      "the name of a process's first thread is known on replay only: take comm, the task's own name");
		return none;
	default:
		if (fr_builtin_is_belongs(n->builtin)) {
			fr_watch_fail(b, n, "%s is known on replay only: choose what is recorded by --cgroup", n->text);
			return none;
		}
		if (fr_builtin_is_pair(n->builtin)) {
			fr_watch_fail(b, n, "%s is found out on replay: for a trigger take latency:WHAT>T or hung>T", n->text);
			return none;
		}
		fr_watch_fail(b, n, "the tier is known only where an event is recorded: leave it out");
		return none;
	}
}

/* Is the derived field about the task that the event happened in? */
static bool is_of_current(const struct fr_watch_build *b, const struct fr_field *f)
{
	const struct fr_field *from = f->from_idx < 0 ? NULL : &b->ev->fields[f->from_idx];

	return !from || (from->kind == FR_KIND_DERIVED && from->rule == FR_RULE_TID && from->from_idx < 0);
}

static struct fr_watch_operand watch_derived(struct fr_watch_build *b, const struct fr_node *n, const struct fr_field *f,
					     u32 dst)
{
	if (is_of_current(b, f) && f->rule == FR_RULE_TID)
		return watch_load(b, n, FR_WATCH_AREA(tid), FR_TYPE_u32, dst);
	if (is_of_current(b, f) && f->rule == FR_RULE_COMM)
		return comm(b);
	if (f->rule == FR_RULE_COMM)
		fr_watch_fail(
			b, n,
			"%s is another task's name, which is looked up on replay: use %s, or comm of the task it happens in",
			f->name, f->from);
	else
		fr_watch_fail(b, n, "%s is known on replay only", f->name);
	return none;
}

/* The event that is meant has no such field: which one was meant? */
static void watch_lacks(struct fr_watch_build *b, const struct fr_node *n)
{
	struct fr_nearest near = {.to = n->text};
	const char *name;
	u32 i;

	for (i = 0; i < b->ev->field_cnt; i++)
		if (!fr_field_is_inner(&b->ev->fields[i]))
			fr_nearest_consider(&near, b->ev->fields[i].name);
	name = fr_nearest_close(&near);
	if (fr_up_kind_of(b->ev->name) < FR_UP_KIND_CNT)
		fr_watch_fail(b, n, "%s has no field %s%s%s: it has those that its -e asks for", b->ev->name, n->text,
			      name ? ": did you mean " : "", name ?: "");
	else
		fr_watch_fail(b, n, "%s has no field %s%s%s: `flightrec events %s` lists them", b->ev->name, n->text,
			      name ? ": did you mean " : "", name ?: "", b->ev->name);
}

/* What records of tracepoints alone have: texts and arrays. */
static struct fr_watch_operand watch_of_tracepoint(struct fr_watch_build *b, const struct fr_node *n, const struct fr_field *f)
{
	bool is_text = f->elem == FR_TYPE_str && f->type != FR_TYPE_data, is_loc = f->rule == FR_RULE_LOC;
	const struct fr_field *word = is_text && is_loc ? &b->ev->fields[f->from_idx] : f;
	struct fr_watch_operand text = area(word->off, is_loc ? 0 : f->elem_cnt);

	if (is_text && (is_loc || f->type == FR_TYPE_array)) {
		text.how = !is_loc ? FR_WATCH_AT : word->style == FR_STYLE_RELLOC ? FR_WATCH_REL : FR_WATCH_LOC;
		return text;
	}
	fr_watch_fail(b, n, "%s is an array, which BPF does not compare: record all, and use replay -f", f->name);
	return none;
}

static struct fr_watch_operand watch_field(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	const struct fr_field *f = n->field[b->ev->nr];

	if (!f) {
		if (b->alone)
			watch_lacks(b, n);
		return none;
	}
	if (f->rule == FR_RULE_LOC || f->type == FR_TYPE_array || f->type == FR_TYPE_data)
		return watch_of_tracepoint(b, n, f);
	if (f->kind == FR_KIND_DERIVED)
		return watch_derived(b, n, f, dst);
	if (f->off + n->index * 8ULL + 8 > FR_WATCH_REC_SZ)
		return none; /* no record is that long */
	if (n->has_index != (f->type == FR_TYPE_u64s))
		return none;
	if (fr_field_kind(f) == FR_VAL_TEXT)
		return area(f->off, f->type == FR_TYPE_comm ? FR_COMM_SZ : f->type == FR_TYPE_text8 ? 8 : 0);
	return watch_load(b, n, f->off + n->index * 8, f->type, dst);
}

static bool has_abi(const struct fr_event *ev)
{
	u32 i;

	for (i = 0; i < ev->field_cnt; i++)
		if (ev->fields[i].kind == FR_KIND_FLAGS && ev->fields[i].style == FR_STYLE_ABI)
			return true;
	return false;
}

static struct fr_watch_operand watch_symbol(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	const struct fr_filter_name *s = &n->symbol[b->ev->nr];
	struct fr_watch_insn *in;

	if (s->is_text)
		return (struct fr_watch_operand){.kind = FR_WATCH_IS_TEXT, .text = n->text, .len = n->len};
	if (!has_abi(b->ev) || (s->known[0] == s->known[1] && s->v[0] == s->v[1]))
		return s->known[0] ? watch_number(s->v[0]) : none;
	in = fr_watch_emit(b, n, FR_WATCH_ABI, dst);
	if (in) {
		in->a = s->known[0] | s->known[1] << 1;
		in->lo = s->v[0];
		in->hi = s->v[1];
	}
	return watch_slot(INT64_MIN, INT64_MAX);
}

/* ---- arithmetic ---- */

static const struct {
	enum fr_op op;
	enum fr_watch_op to;
} two_ops[] = {
	{FR_OP_BITOR, FR_WATCH_OR}, {FR_OP_BITAND, FR_WATCH_AND}, {FR_OP_ADD, FR_WATCH_ADD}, {FR_OP_SUB, FR_WATCH_SUB},
	{FR_OP_NEG, FR_WATCH_SUB},  {FR_OP_MUL, FR_WATCH_MUL},	  {FR_OP_DIV, FR_WATCH_DIV}, {FR_OP_MOD, FR_WATCH_MOD},
	{FR_OP_EQ, FR_WATCH_EQ},    {FR_OP_NE, FR_WATCH_NE},	  {FR_OP_LT, FR_WATCH_LT},   {FR_OP_LE, FR_WATCH_LE},
	{FR_OP_GT, FR_WATCH_GT},    {FR_OP_GE, FR_WATCH_GE},
};

enum fr_watch_op fr_watch_two_op(enum fr_op op)
{
	size_t i = 0;

	while (two_ops[i].op != op)
		i++;
	return two_ops[i].to;
}

/* Make sure that a number is in slot dst: a known one is put there. */
void fr_watch_put(struct fr_watch_build *b, const struct fr_node *n, const struct fr_watch_operand *o, u32 dst)
{
	struct fr_watch_insn *in;

	if (o->kind != FR_WATCH_IS_NUM)
		return;
	in = fr_watch_emit(b, n, FR_WATCH_CONST, dst);
	if (in) {
		in->lo = o->num;
		in->hi = o->num >> 64;
	}
}

/* dst = slot dst op y, where y is an immediate, or in slot dst + 1. */
void fr_watch_emit_two(struct fr_watch_build *b, const struct fr_node *n, enum fr_watch_op op, u32 dst,
		       const struct fr_watch_operand *y)
{
	struct fr_watch_insn *in = fr_watch_emit(b, n, op, dst);

	if (!in)
		return;
	in->a = dst;
	in->b = dst + 1;
	if (y->kind == FR_WATCH_IS_NUM) {
		in->b = FR_WATCH_IMM;
		in->lo = y->num;
		in->hi = y->num >> 64;
	}
}

static bool fits_word(const struct fr_watch_operand *o)
{
	return !o->wide && o->min >= -WORD_MAX && o->max <= WORD_MAX;
}

static fr_wide largest(const struct fr_watch_operand *o)
{
	return -o->min > o->max ? -o->min : o->max;
}

/*
 * The bounds of x op y. Only division needs them, so bits and products are known roughly, and products only of what fits a
 * word.
 */
static struct fr_watch_operand range_of(enum fr_op op, const struct fr_watch_operand *x, const struct fr_watch_operand *y)
{
	struct fr_watch_operand r = {.kind = FR_WATCH_IS_SLOT, .wide = x->wide || y->wide};

	switch (op) {
	case FR_OP_ADD:
		if (r.wide)
			break;
		r.min = x->min + y->min;
		r.max = x->max + y->max;
		return r;
	case FR_OP_SUB:
		if (r.wide)
			break;
		r.min = x->min - y->max;
		r.max = x->max - y->min;
		return r;
	case FR_OP_BITAND:
		if ((x->wide || x->min < 0) && (y->wide || y->min < 0))
			break;
		r.wide = false;
		r.max = x->wide || x->min < 0 ? y->max : y->wide || y->min < 0 || x->max < y->max ? x->max : y->max;
		return r;
	case FR_OP_BITOR:
		if (r.wide || x->min < 0 || y->min < 0)
			break;
		r.max = x->max <= WORD_MAX && y->max <= WORD_MAX ? WORD_MAX : 0;
		r.wide = !r.max;
		return r;
	case FR_OP_MUL:
		if (r.wide || __builtin_mul_overflow(largest(x), largest(y), &r.max))
			break;
		r.min = -r.max;
		return r;
	default: /* of a division, whose operands fit */
		r.max = largest(x);
		r.min = -r.max;
		return r;
	}
	r.wide = true;
	return r;
}

/* The two operands of n, in dst and dst + 1 unless they are known; -x is 0 - x. A known one is put before an unknown one. */
void fr_watch_operands(struct fr_watch_build *b, const struct fr_node *n, u32 dst, struct fr_watch_operand *x,
		       struct fr_watch_operand *y)
{
	u32 first;

	*x = n->op == FR_OP_NEG ? watch_number(0) : fr_watch_value(b, n->a, dst);
	first = b->prog->insn_cnt;
	fr_watch_put(b, n, x, dst);
	*y = fr_watch_value(b, n->op == FR_OP_NEG ? n->a : n->b, dst + 1);
	if (x->kind == FR_WATCH_IS_NUM && y->kind != FR_WATCH_IS_SLOT)
		b->prog->insn_cnt = first;
}

static bool is_known_op(enum fr_op op)
{
	size_t i;

	for (i = 0; i < sizeof(two_ops) / sizeof(two_ops[0]); i++)
		if (two_ops[i].op == op)
			return true;
	return false;
}

/* ~ ^ << >>: only of known numbers, as in 1 << 6. */
static struct fr_watch_operand known_only(struct fr_watch_build *b, const struct fr_node *n)
{
	struct fr_watch_operand x = fr_watch_value(b, n->a, 0), y = n->b ? fr_watch_value(b, n->b, 0) : watch_number(-1);
	enum fr_op op = n->op == FR_OP_INV ? FR_OP_BITXOR : n->op;
	fr_wide v;

	if (x.kind == FR_WATCH_IS_NUM && y.kind == FR_WATCH_IS_NUM)
		return fr_op_calculate(op, x.num, y.num, &v) ? watch_number(v) : none;
	if (x.kind != FR_WATCH_IS_NONE && y.kind != FR_WATCH_IS_NONE)
		fr_watch_fail(b, n, "BPF calculates ~ ^ << >> of numbers in the expression only, not of the event's");
	return none;
}

static struct fr_watch_operand arithmetic(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	enum fr_op op = n->op == FR_OP_NEG ? FR_OP_SUB : n->op;
	struct fr_watch_operand x, y, r;
	fr_wide v;

	if (!is_known_op(op))
		return known_only(b, n);
	fr_watch_operands(b, n, dst, &x, &y);
	if (!fr_watch_is_number(&x) || !fr_watch_is_number(&y))
		return none;
	if (x.kind == FR_WATCH_IS_NUM && y.kind == FR_WATCH_IS_NUM)
		return fr_op_calculate(op, x.num, y.num, &v) ? watch_number(v) : none;
	if ((op == FR_OP_DIV || op == FR_OP_MOD) && (!fits_word(&x) || !fits_word(&y))) {
		fr_watch_fail(b, n, "BPF divides numbers of 64 bits only");
		return none;
	}
	fr_watch_emit_two(b, n, fr_watch_two_op(op), dst, &y);
	r = range_of(op, &x, &y);
	r.wide |= r.max > RANGE_MAX || r.min < -RANGE_MAX;
	return r;
}

static struct fr_watch_operand watch_find(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	enum fr_watch_truth t;

	switch (n->op) {
	case FR_OP_NUM:
		return watch_number(n->num);
	case FR_OP_TEXT:
		return (struct fr_watch_operand){.kind = FR_WATCH_IS_TEXT, .text = n->text, .len = n->len};
	case FR_OP_BUILTIN:
		return watch_builtin(b, n, dst);
	case FR_OP_FIELD:
		return watch_field(b, n, dst);
	case FR_OP_SYMBOL:
		return watch_symbol(b, n, dst);
	default:
		break;
	}
	if (n->op <= FR_OP_MOD)
		return arithmetic(b, n, dst);
	t = fr_watch_truth(b, n, dst);
	return t == FR_WATCH_ASK ? watch_slot(0, 1) : watch_number(t == FR_WATCH_TRUE);
}

/* What is known takes no instruction. */
struct fr_watch_operand fr_watch_value(struct fr_watch_build *b, const struct fr_node *n, u32 dst)
{
	u32 first = b->prog->insn_cnt;
	struct fr_watch_operand o = watch_find(b, n, dst);

	if (o.kind != FR_WATCH_IS_SLOT)
		b->prog->insn_cnt = first;
	return o;
}
