/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/cfi.h"

#include <dwarf.h>
#include <string.h>

#define STATES_MAX 8u  /* remembered at once */
#define WORDS_MAX  16u /* of an expression's stack */

/* ---- numbers ---- */

/* What is left of some bytes. Whoever reads beyond their end gets 0, and bad. */
struct in {
	const u8 *p, *end;
	bool bad;
};

static const u8 *cfi_take(struct in *in, u64 sz)
{
	const u8 *p = in->p;

	if (sz > (u64)(in->end - in->p)) {
		in->bad = true;
		in->p = in->end;
		return NULL;
	}
	in->p += sz;
	return p;
}

static u64 fixed(struct in *in, u32 sz)
{
	const u8 *p = cfi_take(in, sz);
	u64 v = 0;

	if (p)
		memcpy(&v, p, sz);
	return v;
}

static s64 fixed_signed(struct in *in, u32 sz)
{
	u32 unused = 64 - 8 * sz;

	return (s64)(fixed(in, sz) << unused) >> unused;
}

static u64 leb(struct in *in, bool is_signed)
{
	u64 v = 0;
	u32 shift = 0;
	u8 byte;

	do {
		byte = fixed(in, 1);
		v |= shift < 64 ? (u64)(byte & 0x7f) << shift : 0;
		shift += 7;
	} while (byte & 0x80 && !in->bad);
	if (is_signed && byte & 0x40 && shift < 64)
		v |= ~0ULL << shift;
	return v;
}

static u64 uleb(struct in *in)
{
	return leb(in, false);
}

static s64 sleb(struct in *in)
{
	return leb(in, true);
}

static u64 encoded(struct in *in, u8 form)
{
	switch (form) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return fixed(in, 8);
	case DW_EH_PE_uleb128:
		return uleb(in);
	case DW_EH_PE_sleb128:
		return sleb(in);
	case DW_EH_PE_udata2:
		return fixed(in, 2);
	case DW_EH_PE_sdata2:
		return fixed_signed(in, 2);
	case DW_EH_PE_udata4:
		return fixed(in, 4);
	case DW_EH_PE_sdata4:
		return fixed_signed(in, 4);
	}
	in->bad = true;
	return 0;
}

bool fr_cfi_number(const struct fr_cfi_bytes *b, size_t *at, u8 encoding, u64 base, u64 *out)
{
	struct in in = {b->at + *at, b->at + b->sz, *at > b->sz};
	u64 here = b->addr + *at;

	if (in.bad)
		return false;
	*out = encoded(&in, encoding & 0x0f);
	switch (encoding & 0xf0) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		*out += here;
		break;
	case DW_EH_PE_datarel:
		*out += base;
		break;
	default:
		in.bad = true;
	}
	*at = in.p - b->at;
	return !in.bad;
}

/* ---- CIE and FDE ---- */

/* The bytes of an entry behind its length; of the 64-bit form there are none in such sections. */
static bool open_entry(const struct fr_cfi_bytes *b, struct in *in)
{
	u64 sz;

	*in = (struct in){b->at, b->at + b->sz, false};
	sz = fixed(in, 4);
	if (in->bad || sz < 4 || sz >= 0xfffffff0 || sz > (u64)(in->end - in->p))
		return false;
	in->end = in->p + sz;
	return true;
}

bool fr_cfi_cie_addr(const struct fr_cfi_bytes *fde, u64 *out)
{
	struct in in;
	u64 back;

	if (!open_entry(fde, &in))
		return false;
	back = fixed(&in, 4); /* from here; 0: it is a CIE itself */
	*out = fde->addr + 4 - back;
	return back != 0;
}

struct augmentation {
	u8 encoding; /* of addresses in FDEs */
	bool has_size;
	bool is_signal;
};

/* The letters of a CIE's augmentation, and what it has for them. False: one is not known. */
static bool read_augmentation(const char *letter, struct in *in, struct augmentation *a)
{
	u64 sz;
	struct in data;

	*a = (struct augmentation){.encoding = DW_EH_PE_absptr};
	if (!*letter)
		return true;
	if (*letter++ != 'z')
		return false;
	a->has_size = true;
	sz = uleb(in);
	data = *in;
	if (!cfi_take(in, sz))
		return false;
	data.end = in->p;
	for (; *letter; letter++) {
		if (*letter == 'R')
			a->encoding = fixed(&data, 1);
		else if (*letter == 'L')
			fixed(&data, 1);
		else if (*letter == 'P')
			encoded(&data, fixed(&data, 1) & 0x0f);
		else if (*letter == 'S')
			a->is_signal = true;
		else
			return false;
	}
	return !data.bad;
}

static bool parse_cie(const struct fr_cfi_bytes *cie, struct fr_cfi *out, struct augmentation *a)
{
	const char *letters;
	const u8 *nul;
	struct in in;
	u32 version;
	u64 ret;

	if (!open_entry(cie, &in) || fixed(&in, 4))
		return false;
	version = fixed(&in, 1);
	letters = (const char *)in.p;
	nul = memchr(in.p, 0, in.end - in.p);
	if ((version != 1 && version != 3) || !nul)
		return false;
	in.p = nul + 1;
	out->code_unit = uleb(&in);
	out->data_unit = sleb(&in);
	ret = version == 1 ? fixed(&in, 1) : uleb(&in);
	if (ret != FR_CFI_RIP || !read_augmentation(letters, &in, a) || in.bad)
		return false;
	out->is_signal = a->is_signal;
	out->first = in.p;
	out->first_end = in.end;
	return true;
}

bool fr_cfi_parse(const struct fr_cfi_bytes *cie, const struct fr_cfi_bytes *fde, struct fr_cfi *out)
{
	struct augmentation a;
	struct in in;
	size_t at;

	if (!parse_cie(cie, out, &a) || !open_entry(fde, &in))
		return false;
	at = 8;
	if (!fr_cfi_number(fde, &at, a.encoding, 0, &out->begin) || !fr_cfi_number(fde, &at, a.encoding & 0x0f, 0, &out->sz) ||
	    fde->at + at > in.end)
		return false;
	in.p = fde->at + at;
	if (a.has_size)
		cfi_take(&in, uleb(&in));
	out->insn = in.p;
	out->insn_end = in.end;
	return !in.bad;
}

/* ---- instructions ---- */

/* How to find a register of the caller. */
struct rule {
	enum {
		UNSAID,
		UNDEFINED,
		SAME,
		AT_OFFSET, /* in memory, at CFA + num */
		OFFSET,	   /* CFA + num */
		REGISTER,  /* another one, num */
		AT_EXPR,   /* in memory, at the value of an expression */
		EXPR
	} how;
	s64 num;
	const u8 *expr;
	u64 expr_sz;
};

/* The rules for a place in the code. The CFA is the caller's stack pointer. */
struct state {
	struct rule reg[FR_CFI_REG_CNT];
	u64 cfa_reg;
	s64 cfa_off;
	const u8 *cfa_expr; /* NULL: cfa_reg + cfa_off */
	u64 cfa_expr_sz;
};

struct machine {
	const struct fr_cfi *c;
	struct in in;
	struct state now, first, kept[STATES_MAX];
	u32 kept_cnt;
	u64 loc; /* what the rules are for */
};

static void set_rule(struct machine *m, u64 reg, struct rule rule)
{
	if (reg < FR_CFI_REG_CNT)
		m->now.reg[reg] = rule;
}

static void at_offset(struct machine *m, u64 reg, u64 units)
{
	set_rule(m, reg, (struct rule){.how = AT_OFFSET, .num = (s64)(units * (u64)m->c->data_unit)});
}

static void by_expr(struct machine *m, u64 reg, int how)
{
	u64 sz = uleb(&m->in);

	set_rule(m, reg, (struct rule){.how = how, .expr = cfi_take(&m->in, sz), .expr_sz = sz});
}

static void cfi_restore(struct machine *m, u64 reg)
{
	if (reg < FR_CFI_REG_CNT)
		m->now.reg[reg] = m->first.reg[reg];
}

static void set_cfa(struct machine *m, u64 reg, s64 off)
{
	m->now.cfa_reg = reg;
	m->now.cfa_off = off;
	m->now.cfa_expr = NULL;
}

static void cfa_by_expr(struct machine *m)
{
	m->now.cfa_expr_sz = uleb(&m->in);
	m->now.cfa_expr = cfi_take(&m->in, m->now.cfa_expr_sz);
}

/* The rules so far hold up to there. */
static void cfi_advance(struct machine *m, u64 units)
{
	m->loc += units * m->c->code_unit;
}

static void remember(struct machine *m)
{
	if (m->kept_cnt < STATES_MAX)
		m->kept[m->kept_cnt++] = m->now;
	else
		m->in.bad = true;
}

static void cfi_recall(struct machine *m)
{
	if (m->kept_cnt)
		m->now = m->kept[--m->kept_cnt];
	else
		m->in.bad = true;
}

/* Those that define a rule. False: it is none of these. */
static bool define(struct machine *m, u8 op)
{
	u64 reg;

	switch (op) {
	case DW_CFA_offset_extended:
		reg = uleb(&m->in);
		at_offset(m, reg, uleb(&m->in));
		return true;
	case DW_CFA_offset_extended_sf:
		reg = uleb(&m->in);
		at_offset(m, reg, sleb(&m->in));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		reg = uleb(&m->in);
		at_offset(m, reg, -uleb(&m->in));
		return true;
	case DW_CFA_val_offset:
		reg = uleb(&m->in);
		set_rule(m, reg, (struct rule){.how = OFFSET, .num = (s64)(uleb(&m->in) * (u64)m->c->data_unit)});
		return true;
	case DW_CFA_val_offset_sf:
		reg = uleb(&m->in);
		set_rule(m, reg, (struct rule){.how = OFFSET, .num = (s64)((u64)sleb(&m->in) * (u64)m->c->data_unit)});
		return true;
	case DW_CFA_register:
		reg = uleb(&m->in);
		set_rule(m, reg, (struct rule){.how = REGISTER, .num = (s64)uleb(&m->in)});
		return true;
	case DW_CFA_undefined:
		set_rule(m, uleb(&m->in), (struct rule){.how = UNDEFINED});
		return true;
	case DW_CFA_same_value:
		set_rule(m, uleb(&m->in), (struct rule){.how = SAME});
		return true;
	case DW_CFA_restore_extended:
		cfi_restore(m, uleb(&m->in));
		return true;
	case DW_CFA_expression:
		by_expr(m, uleb(&m->in), AT_EXPR);
		return true;
	case DW_CFA_val_expression:
		by_expr(m, uleb(&m->in), EXPR);
		return true;
	}
	return false;
}

/* Those of the CFA. False: it is none of these. */
static bool define_cfa(struct machine *m, u8 op)
{
	u64 reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = uleb(&m->in);
		set_cfa(m, reg, (s64)uleb(&m->in));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = uleb(&m->in);
		set_cfa(m, reg, (s64)((u64)sleb(&m->in) * (u64)m->c->data_unit));
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa(m, uleb(&m->in), m->now.cfa_off);
		return true;
	case DW_CFA_def_cfa_offset:
		set_cfa(m, m->now.cfa_reg, (s64)uleb(&m->in));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa(m, m->now.cfa_reg, (s64)((u64)sleb(&m->in) * (u64)m->c->data_unit));
		return true;
	case DW_CFA_def_cfa_expression:
		cfa_by_expr(m);
		return true;
	}
	return false;
}

static void execute(struct machine *m, u8 op)
{
	u8 low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		cfi_advance(m, low);
		return;
	case DW_CFA_offset:
		at_offset(m, low, uleb(&m->in));
		return;
	case DW_CFA_restore:
		cfi_restore(m, low);
		return;
	}
	switch (op) {
	case DW_CFA_nop:
		return;
	case DW_CFA_advance_loc1:
		cfi_advance(m, fixed(&m->in, 1));
		return;
	case DW_CFA_advance_loc2:
		cfi_advance(m, fixed(&m->in, 2));
		return;
	case DW_CFA_advance_loc4:
		cfi_advance(m, fixed(&m->in, 4));
		return;
	case DW_CFA_remember_state:
		remember(m);
		return;
	case DW_CFA_restore_state:
		cfi_recall(m);
		return;
	case DW_CFA_GNU_args_size:
		uleb(&m->in);
		return;
	}
	if (!define(m, op) && !define_cfa(m, op))
		m->in.bad = true;
}

/* Execute these instructions as far as they are for addr. */
static bool cfi_run(struct machine *m, const u8 *from, const u8 *to, u64 addr)
{
	m->in = (struct in){from, to, false};
	while (m->in.p < to && !m->in.bad && m->loc <= addr)
		execute(m, fixed(&m->in, 1));
	return !m->in.bad;
}

/*
 * The rules for addr. An instruction that moves on beyond it is the last one, and has changed no rule.
 */
static bool find_rules(struct machine *m, const struct fr_cfi *c, u64 addr)
{
	memset(m, 0, sizeof(*m));
	m->c = c;
	m->loc = c->begin;
	if (addr < c->begin || addr - c->begin >= c->sz || !cfi_run(m, c->first, c->first_end, addr))
		return false;
	m->first = m->now;
	return cfi_run(m, c->insn, c->insn_end, addr);
}

/* ---- expressions ---- */

struct calc {
	const struct fr_cfi_frame *frame;
	fr_cfi_read_fn read;
	void *arg;
	struct in in;
	u64 word[WORDS_MAX];
	u32 cnt;
};

static void push(struct calc *c, u64 v)
{
	if (c->cnt < WORDS_MAX)
		c->word[c->cnt++] = v;
	else
		c->in.bad = true;
}

static u64 pop(struct calc *c)
{
	if (c->cnt)
		return c->word[--c->cnt];
	c->in.bad = true;
	return 0;
}

static void push_reg(struct calc *c, u64 reg)
{
	u64 off = sleb(&c->in);

	if (reg < FR_CFI_REG_CNT && c->frame->known >> reg & 1)
		push(c, c->frame->reg[reg] + off);
	else
		c->in.bad = true;
}

static void push_word_at(struct calc *c, u64 addr)
{
	u64 v = 0;

	if (!c->in.bad && !c->read(c->arg, addr, &v))
		c->in.bad = true;
	push(c, v);
}

/* Operations on the two last words. False: it is none of these. */
static bool combine(struct calc *c, u8 op)
{
	u64 b, a;

	if (op != DW_OP_plus && op != DW_OP_minus && op != DW_OP_mul && op != DW_OP_and && op != DW_OP_or && op != DW_OP_xor &&
	    op != DW_OP_shl && op != DW_OP_shr && (op < DW_OP_eq || op > DW_OP_ne))
		return false;
	b = pop(c);
	a = pop(c);
	push(c, op == DW_OP_plus    ? a + b
		: op == DW_OP_minus ? a - b
		: op == DW_OP_mul   ? a * b
		: op == DW_OP_and   ? a & b
		: op == DW_OP_or    ? a | b
		: op == DW_OP_xor   ? a ^ b
		: op == DW_OP_shl   ? (b < 64 ? a << b : 0)
		: op == DW_OP_shr   ? (b < 64 ? a >> b : 0)
		: op == DW_OP_eq    ? a == b
		: op == DW_OP_ne    ? a != b
		: op == DW_OP_ge    ? (s64)a >= (s64)b
		: op == DW_OP_gt    ? (s64)a > (s64)b
		: op == DW_OP_le    ? (s64)a <= (s64)b
				    : (s64)a < (s64)b);
	return true;
}

/* Constants. False: it is none. */
static bool push_const(struct calc *c, u8 op)
{
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push(c, op - DW_OP_lit0);
		return true;
	}
	if (op >= DW_OP_const1u && op <= DW_OP_const8s) {
		u32 sz = 1u << (op - DW_OP_const1u) / 2;

		push(c, (op - DW_OP_const1u) % 2 ? (u64)fixed_signed(&c->in, sz) : fixed(&c->in, sz));
		return true;
	}
	if (op != DW_OP_constu && op != DW_OP_consts)
		return false;
	push(c, leb(&c->in, op == DW_OP_consts));
	return true;
}

static void cfi_calculate(struct calc *c, u8 op)
{
	u64 v;

	if (push_const(c, op) || combine(c, op))
		return;
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_reg(c, op - DW_OP_breg0);
		return;
	}
	switch (op) {
	case DW_OP_bregx:
		v = uleb(&c->in);
		push_reg(c, v);
		return;
	case DW_OP_deref:
		push_word_at(c, pop(c));
		return;
	case DW_OP_plus_uconst:
		push(c, pop(c) + uleb(&c->in));
		return;
	case DW_OP_dup:
		v = pop(c);
		push(c, v);
		push(c, v);
		return;
	case DW_OP_drop:
		pop(c);
		return;
	case DW_OP_nop:
		return;
	}
	c->in.bad = true;
}

/* begins: whether *out is on the stack at first, the CFA. */
static bool evaluate(struct calc *c, const u8 *expr, u64 sz, bool begins, u64 *out)
{
	c->cnt = 0;
	c->in = (struct in){expr, expr + sz, !expr};
	if (begins)
		push(c, *out);
	while (c->in.p < c->in.end && !c->in.bad)
		cfi_calculate(c, fixed(&c->in, 1));
	*out = pop(c);
	return !c->in.bad;
}

/* ---- the caller ---- */

static bool find_cfa(struct calc *c, const struct state *s, u64 *cfa)
{
	if (s->cfa_expr)
		return evaluate(c, s->cfa_expr, s->cfa_expr_sz, false, cfa);
	if (s->cfa_reg >= FR_CFI_REG_CNT || !(c->frame->known >> s->cfa_reg & 1))
		return false;
	*cfa = c->frame->reg[s->cfa_reg] + (u64)s->cfa_off;
	return true;
}

/* Registers that a function gives back as they were; nothing is said of those that it leaves alone. */
static bool cfi_is_kept(u32 reg)
{
	return reg == 3 || reg == FR_CFI_RBP || (reg >= 12 && reg <= 15);
}

/* The caller's value of a register. False: not known. */
static bool find_reg(struct calc *c, u32 reg, const struct rule *r, u64 cfa, u64 *out)
{
	u64 addr = cfa;

	switch (r->how) {
	case UNSAID:
		if (reg == FR_CFI_RSP) {
			*out = cfa;
			return true;
		}
		*out = c->frame->reg[reg];
		return cfi_is_kept(reg) && c->frame->known >> reg & 1;
	case SAME:
		*out = c->frame->reg[reg];
		return c->frame->known >> reg & 1;
	case REGISTER:
		if ((u64)r->num >= FR_CFI_REG_CNT)
			return false;
		*out = c->frame->reg[r->num];
		return c->frame->known >> r->num & 1;
	case OFFSET:
		*out = cfa + (u64)r->num;
		return true;
	case AT_OFFSET:
		return c->read(c->arg, cfa + (u64)r->num, out);
	case EXPR:
		*out = cfa;
		return evaluate(c, r->expr, r->expr_sz, true, out);
	case AT_EXPR:
		return evaluate(c, r->expr, r->expr_sz, true, &addr) && c->read(c->arg, addr, out);
	case UNDEFINED:
		break;
	}
	return false;
}

bool fr_cfi_up(const struct fr_cfi *c, u64 addr, struct fr_cfi_frame *frame, fr_cfi_read_fn read, void *arg)
{
	const u32 needed = 1u << FR_CFI_RIP | 1u << FR_CFI_RSP;
	struct fr_cfi_frame up = {};
	struct machine m;
	struct calc calc = {.frame = frame, .read = read, .arg = arg};
	u64 cfa, v;
	u32 i;

	frame->is_last = false;
	if (!find_rules(&m, c, addr) || !find_cfa(&calc, &m.now, &cfa))
		return false;
	up.is_last = m.now.reg[FR_CFI_RIP].how == UNDEFINED;
	for (i = 0; i < FR_CFI_REG_CNT; i++)
		if (find_reg(&calc, i, &m.now.reg[i], cfa, &v)) {
			up.reg[i] = v;
			up.known |= 1u << i;
		}
	*frame = up;
	return (up.known & needed) == needed;
}
