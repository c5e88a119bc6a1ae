/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch: does an event rule apply to this record? The bytecode of an expression, and its evaluator. Pure: one text for BPF
 * programs and for the host test that compares it with the filter it was compiled from (by user/base/trigger/watch_set.c).
 *
 *	record		the event as it would be in a ring, and what is known of the current task, in one area of bytes, so that
 *			an operand is an offset and a type
 *	value		128 bits, as in the filter, known or not: any u64 and any s64 compare and add exactly as in replay
 *	slot		where a value is; an instruction names a slot to write and two to read, the second may be its immediate
 *	program		instructions in order; jumps go forward only, so a program ends after at most insn_cnt steps
 *	table		what a text is compared with: the text itself, or a pattern
 *
 * A pattern of up to 63 elements runs without backtracking (Baeza-Yates, Gonnet: "shift and", with stars). Bit i of the state
 * says that the first i elements may have been matched; set[c] has bit i if element i takes character c; star has bit i if a *
 * follows element i.
 *
 * Everything that evaluates works in map memory: on the stack, the verifier would follow each value along each path.
 */
#ifndef FR_WATCH_H
#define FR_WATCH_H

#include "event.h"
#include "tp.h"

#define FR_WATCH_INSN_MAX  256u	 /* of a program */
#define FR_WATCH_SLOT_MAX  16u	 /* powers of two, for masks */
#define FR_WATCH_REC_SZ	   2048u /* of a record that is watched */
#define FR_WATCH_AREA_SZ   4096u
#define FR_WATCH_TEXT_MAX  256u /* bytes of a text that are compared */
#define FR_WATCH_STATE_MAX 63u	/* elements of a pattern */
#define FR_WATCH_TABLE_MAX 32u
#define FR_WATCH_PROG_MAX  64u	/* of all rules */
#define FR_WATCH_IMM	   255u /* as operand b: the immediate */

/* Operand b of texts: what is at off. */
#define FR_WATCH_AT  0u /* the text */
#define FR_WATCH_LOC 1u /* a word of a tracepoint's record that tells where it is (tp.h), */
#define FR_WATCH_REL 2u /* from the end of the word on */

enum fr_watch_op {
	FR_WATCH_LOAD,	/* dst = number of this type at off; unknown if it is behind the record */
	FR_WATCH_CONST, /* dst = imm */
	FR_WATCH_ABI,	/* dst = lo in a native call, hi in a 32-bit one (both signed); bits 0 and 1 of a: known there */
	FR_WATCH_OR,	/* dst = a op b; unknown if either is */
	FR_WATCH_AND,
	FR_WATCH_ADD,
	FR_WATCH_SUB,
	FR_WATCH_MUL,
	FR_WATCH_DIV, /* magnitudes below 2^64; by 0: unknown */
	FR_WATCH_MOD,
	FR_WATCH_EQ, /* dst = truth; false if either is unknown */
	FR_WATCH_NE,
	FR_WATCH_LT,
	FR_WATCH_LE,
	FR_WATCH_GT,
	FR_WATCH_GE,
	FR_WATCH_RANGE, /* dst = lo <= a <= hi (signed), and the ABI is one of b's: bit 0 native, bit 1 32-bit */
	FR_WATCH_TEXT,	/* dst = text at off is table lo, of length hi; b: FR_WATCH_AT or another */
	FR_WATCH_GLOB,	/* dst = text at off matches table lo; b likewise */
	FR_WATCH_SOME,	/* dst = text at off is not empty; b likewise */
	FR_WATCH_NOT,	/* dst = a is unknown or 0 */
	FR_WATCH_TRUTH, /* dst = a is known and not 0 */
	FR_WATCH_JF,	/* jump to instruction off if a is unknown or 0 */
	FR_WATCH_JT,	/* otherwise */
};

enum fr_watch_type {
	FR_WATCH_u8,
	FR_WATCH_u16,
	FR_WATCH_u32,
	FR_WATCH_u64,
	FR_WATCH_s8,
	FR_WATCH_s16,
	FR_WATCH_s32,
	FR_WATCH_s64,
};

struct fr_watch_insn {
	u8 op;
	u8 dst, a, b;
	u16 off;  /* in the area; jumps: the instruction */
	u16 type; /* LOAD: enum fr_watch_type; texts: at most this many bytes, 0: to the record's end */
	u64 lo, hi;
};

#define FR_WATCH_NEEDS_COMM 1u
#define FR_WATCH_NEEDS_TIME 2u

/* The expression of a rule, for one event. Without instructions, it always holds. Result: slot 0. */
struct fr_watch_prog {
	u32 rule;
	u32 event;
	u32 insn_cnt;
	u32 needs;		    /* FR_WATCH_NEEDS_* */
	struct fr_watch_insn guard; /* EQ: a LOAD whose number must be lo (native) or hi (32-bit), in ABIs a; otherwise false */
	struct fr_watch_insn insn[FR_WATCH_INSN_MAX];
};

struct fr_watch_table {
	u64 star;
	u64 end; /* the bit of the state in which all elements are matched */
	union {
		u64 set[256];
		char text[FR_WATCH_TEXT_MAX]; /* padded with zeros */
	};
};

/* The programs of an event: cnt of them, from first on. */
struct fr_watch_of {
	u16 first, cnt;
};

struct fr_watch_value {
	u64 lo, hi; /* two's complement */
	u64 known;
};

/*
 * The input and the state of an evaluation. The area is larger than its contents, so that a masked offset and its 8 bytes fit.
 */
struct fr_watch_work {
	u64 busy; /* 0: free */
	union {
		struct {
			u8 rec[FR_WATCH_REC_SZ];
			u64 ts;
			s32 pid;
			u32 tid;
			u32 cpu;
			u32 rec_sz;
			char comm[FR_COMM_SZ];
		};
		u8 area[FR_WATCH_AREA_SZ + 16];
	};
	struct fr_watch_value slot[FR_WATCH_SLOT_MAX];
};

#define FR_WATCH_AREA(field) ((u16)(offsetof(struct fr_watch_work, field) - offsetof(struct fr_watch_work, area)))

#ifndef offsetof
#define offsetof(type, field) __builtin_offsetof(type, field)
#endif

typedef u16 __attribute__((may_alias)) fr_watch_u16;
typedef u32 __attribute__((may_alias)) fr_watch_u32;
typedef u64 __attribute__((may_alias)) fr_watch_u64;

/* ---- numbers ---- */

FR_INLINE void fr_watch_set(struct fr_watch_value *v, u64 lo, u64 hi)
{
	v->lo = lo;
	v->hi = hi;
	v->known = 1;
}

FR_INLINE void fr_watch_set_signed(struct fr_watch_value *v, s64 num)
{
	fr_watch_set(v, num, num >> 63);
}

FR_INLINE u64 fr_watch_less(const struct fr_watch_value *a, const struct fr_watch_value *b)
{
	return a->hi == b->hi ? a->lo < b->lo : (s64)a->hi < (s64)b->hi;
}

FR_INLINE u64 fr_watch_same(const struct fr_watch_value *a, const struct fr_watch_value *b)
{
	return a->lo == b->lo && a->hi == b->hi;
}

/* The high half of a product of two words. */
FR_INLINE u64 fr_watch_mul_high(u64 a, u64 b)
{
	u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
	u64 mid = a1 * b0 + (a0 * b0 >> 32), mid2 = a0 * b1 + (u32)mid;

	return a1 * b1 + (mid >> 32) + (mid2 >> 32);
}

FR_INLINE u64 fr_watch_magnitude(const struct fr_watch_value *v)
{
	return (s64)v->hi < 0 ? 0 - v->lo : v->lo;
}

/* Quotient or remainder. The compiler has made sure that the magnitudes fit a word. */
FR_INLINE void fr_watch_divide(struct fr_watch_value *d, const struct fr_watch_value *a, const struct fr_watch_value *b,
			       u32 mod)
{
	u64 x = fr_watch_magnitude(a), y = fr_watch_magnitude(b), q, negative;

	if (!y) {
		d->known = 0;
		return;
	}
	negative = mod ? a->hi >> 63 : (a->hi ^ b->hi) >> 63;
	q = mod ? x % y : x / y;
	fr_watch_set(d, negative ? 0 - q : q, negative && q ? ~0ULL : 0);
}

FR_INLINE void fr_watch_calculate(u32 op, struct fr_watch_value *d, const struct fr_watch_value *a,
				  const struct fr_watch_value *b)
{
	if (!a->known || !b->known) {
		d->known = 0;
		return;
	}
	switch (op) {
	case FR_WATCH_OR:
		fr_watch_set(d, a->lo | b->lo, a->hi | b->hi);
		break;
	case FR_WATCH_AND:
		fr_watch_set(d, a->lo & b->lo, a->hi & b->hi);
		break;
	case FR_WATCH_ADD:
		fr_watch_set(d, a->lo + b->lo, a->hi + b->hi + (a->lo + b->lo < a->lo));
		break;
	case FR_WATCH_SUB:
		fr_watch_set(d, a->lo - b->lo, a->hi - b->hi - (a->lo < b->lo));
		break;
	case FR_WATCH_MUL:
		fr_watch_set(d, a->lo * b->lo, fr_watch_mul_high(a->lo, b->lo) + a->hi * b->lo + a->lo * b->hi);
		break;
	default:
		fr_watch_divide(d, a, b, op == FR_WATCH_MOD);
	}
}

FR_INLINE void fr_watch_compare(u32 op, struct fr_watch_value *d, const struct fr_watch_value *a,
				const struct fr_watch_value *b)
{
	u64 less = fr_watch_less(a, b), same = fr_watch_same(a, b), truth;

	switch (op) {
	case FR_WATCH_EQ:
		truth = same;
		break;
	case FR_WATCH_NE:
		truth = !same;
		break;
	case FR_WATCH_LT:
		truth = less;
		break;
	case FR_WATCH_LE:
		truth = less | same;
		break;
	case FR_WATCH_GT:
		truth = !(less | same);
		break;
	default:
		truth = !less;
	}
	fr_watch_set(d, truth & a->known & b->known, 0);
}

/* ---- what is in the area ---- */

FR_INLINE u32 fr_watch_abi(const struct fr_watch_work *w)
{
	return w->rec[FR_REC_HEAD_SZ - 1] & 1;
}

FR_INLINE void fr_watch_load(const struct fr_watch_work *w, const struct fr_watch_insn *in, struct fr_watch_value *d)
{
	const u8 *p = &w->area[in->off & (FR_WATCH_AREA_SZ - 1)];

	switch (in->type) {
	case FR_WATCH_u8:
		fr_watch_set(d, *p, 0);
		break;
	case FR_WATCH_u16:
		fr_watch_set(d, *(const fr_watch_u16 *)p, 0);
		break;
	case FR_WATCH_u32:
		fr_watch_set(d, *(const fr_watch_u32 *)p, 0);
		break;
	case FR_WATCH_u64:
		fr_watch_set(d, *(const fr_watch_u64 *)p, 0);
		d->known = in->off >= FR_WATCH_REC_SZ || in->off + 8u <= w->rec_sz;
		break;
	case FR_WATCH_s8:
		fr_watch_set_signed(d, (s8)*p);
		break;
	case FR_WATCH_s16:
		fr_watch_set_signed(d, (s16) * (const fr_watch_u16 *)p);
		break;
	case FR_WATCH_s32:
		fr_watch_set_signed(d, (s32) * (const fr_watch_u32 *)p);
		break;
	default:
		fr_watch_set_signed(d, *(const fr_watch_u64 *)p);
	}
}

/* Where the text of an instruction is in the area, and the most bytes that it can have. */
FR_INLINE u32 fr_watch_room(const struct fr_watch_work *w, const struct fr_watch_insn *in, u32 *off)
{
	u32 room = in->type, left, word;

	*off = in->off;
	if (in->b != FR_WATCH_AT) {
		word = *(const fr_watch_u32 *)&w->area[in->off & (FR_WATCH_AREA_SZ - 1)];
		*off = (word & 0xffff) + (in->b == FR_WATCH_REL ? in->off + (u32)sizeof(word) : FR_TP_AHEAD_SZ);
		room = word >> 16;
	}
	if (!room || in->b != FR_WATCH_AT) {
		left = w->rec_sz > *off ? w->rec_sz - *off : 0;
		room = in->b == FR_WATCH_AT || room > left ? left : room;
	}
	return room < FR_WATCH_TEXT_MAX ? room : FR_WATCH_TEXT_MAX;
}

FR_INLINE u64 fr_watch_text(const struct fr_watch_work *w, const struct fr_watch_insn *in, const struct fr_watch_table *t)
{
	u32 off, room = fr_watch_room(w, in, &off), i, len = 0, c;
	u64 differ = 0;

	for (i = 0; i < FR_WATCH_TEXT_MAX; i++) {
		if (i >= room)
			break;
		c = w->area[(off + i) & (FR_WATCH_AREA_SZ - 1)];
		if (!c)
			break;
		differ |= c ^ (u8)t->text[i];
		len++;
	}
	return !differ && len == in->hi;
}

FR_INLINE u64 fr_watch_glob(const struct fr_watch_work *w, const struct fr_watch_insn *in, const struct fr_watch_table *t)
{
	u32 off, room = fr_watch_room(w, in, &off), i, c;
	u64 state = 1, star = t->star;

	for (i = 0; i < FR_WATCH_TEXT_MAX; i++) {
		if (i >= room)
			break;
		c = w->area[(off + i) & (FR_WATCH_AREA_SZ - 1)];
		if (!c)
			break;
		state = (state << 1 & t->set[c & 0xff]) | (state & star);
	}
	return (state & t->end) != 0;
}

FR_INLINE u64 fr_watch_is_text(const struct fr_watch_work *w, const struct fr_watch_insn *in)
{
	u32 off;

	return fr_watch_room(w, in, &off) && w->area[off & (FR_WATCH_AREA_SZ - 1)];
}

/* ---- a program ---- */

/* Is the number lo <= a <= hi, in a call of an ABI that is meant? */
FR_INLINE u64 fr_watch_in_range(const struct fr_watch_work *w, const struct fr_watch_insn *in, const struct fr_watch_value *a)
{
	struct fr_watch_value lo, hi;

	fr_watch_set_signed(&lo, in->lo);
	fr_watch_set_signed(&hi, in->hi);
	return a->known && !fr_watch_less(a, &lo) && !fr_watch_less(&hi, a) && in->b >> fr_watch_abi(w) & 1;
}

FR_INLINE void fr_watch_two(struct fr_watch_work *w, const struct fr_watch_insn *in, struct fr_watch_value *d)
{
	struct fr_watch_value a = w->slot[in->a % FR_WATCH_SLOT_MAX], b;

	if (in->b == FR_WATCH_IMM)
		fr_watch_set(&b, in->lo, in->hi);
	else
		b = w->slot[in->b % FR_WATCH_SLOT_MAX];
	if (in->op < FR_WATCH_EQ)
		fr_watch_calculate(in->op, d, &a, &b);
	else
		fr_watch_compare(in->op, d, &a, &b);
}

/* Does this instruction need table in->lo? */
FR_INLINE int fr_watch_takes_table(const struct fr_watch_insn *in)
{
	return in->op == FR_WATCH_TEXT || in->op == FR_WATCH_GLOB;
}

/* Can the expression hold at all? Most events fail its first comparison: checking that takes no step. */
FR_INLINE u32 fr_watch_may_hold(const struct fr_watch_work *w, const struct fr_watch_insn *guard)
{
	struct fr_watch_value v;
	s64 want;

	if (guard->op != FR_WATCH_EQ)
		return 1;
	fr_watch_load(w, guard, &v);
	want = fr_watch_abi(w) ? guard->hi : guard->lo;
	return (guard->a >> fr_watch_abi(w) & 1) && v.known && v.lo == (u64)want && v.hi == (u64)(want >> 63);
}

/* Before the first instruction: an expression that always holds has none. */
FR_INLINE void fr_watch_begin(struct fr_watch_work *w)
{
	fr_watch_set(&w->slot[0], 1, 0);
}

FR_INLINE u32 fr_watch_result(const struct fr_watch_work *w)
{
	return w->slot[0].known && (w->slot[0].lo | w->slot[0].hi);
}

/* Execute instruction pc; t: its table, NULL if it takes none. Returns the next instruction's number. */
FR_INLINE u32 fr_watch_step(struct fr_watch_work *w, const struct fr_watch_insn *in, const struct fr_watch_table *t, u32 pc)
{
	struct fr_watch_value *d = &w->slot[in->dst % FR_WATCH_SLOT_MAX];
	const struct fr_watch_value *a = &w->slot[in->a % FR_WATCH_SLOT_MAX];
	u64 truth = a->known && (a->lo | a->hi);

	switch (in->op) {
	case FR_WATCH_LOAD:
		fr_watch_load(w, in, d);
		break;
	case FR_WATCH_CONST:
		fr_watch_set(d, in->lo, in->hi);
		break;
	case FR_WATCH_ABI:
		fr_watch_set_signed(d, fr_watch_abi(w) ? in->hi : in->lo);
		d->known = in->a >> fr_watch_abi(w) & 1;
		break;
	case FR_WATCH_RANGE:
		fr_watch_set(d, fr_watch_in_range(w, in, a), 0);
		break;
	case FR_WATCH_TEXT:
		fr_watch_set(d, t ? fr_watch_text(w, in, t) : 0, 0);
		break;
	case FR_WATCH_GLOB:
		fr_watch_set(d, t ? fr_watch_glob(w, in, t) : 0, 0);
		break;
	case FR_WATCH_SOME:
		fr_watch_set(d, fr_watch_is_text(w, in), 0);
		break;
	case FR_WATCH_NOT:
		fr_watch_set(d, !truth, 0);
		break;
	case FR_WATCH_TRUTH:
		fr_watch_set(d, truth, 0);
		break;
	case FR_WATCH_JF:
		return truth ? pc + 1 : in->off;
	case FR_WATCH_JT:
		return truth ? in->off : pc + 1;
	default:
		fr_watch_two(w, in, d);
	}
	return pc + 1;
}

#endif
