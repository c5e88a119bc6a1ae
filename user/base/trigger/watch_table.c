/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* watch_table: texts and patterns as tables; patterns on numbers that have names as ranges. */
#include <stdlib.h>
#include <string.h>

#include "base/schema/sysnames.h"
#include "base/set/vec.h"
#include "base/trigger/watch_int.h"

/* Numbers that may have names are between these: system calls, and SI_* and -errno below zero. */
#define NAMED_FIRST (-1024)
#define NAMED_LAST  2047

/* ---- tables ---- */

/* Add a table, or find an equal one. */
static int add_table(struct fr_watch_build *b, const struct fr_node *n, const struct fr_watch_table *t)
{
	struct fr_watch_set *s = b->set;
	struct fr_watch_table *more;
	u32 i;

	for (i = 0; i < s->table_cnt; i++)
		if (!memcmp(&s->table[i], t, sizeof(*t)))
			return i;
	if (s->table_cnt == FR_WATCH_TABLE_MAX) {
		fr_watch_fail(b, n, "there are too many texts: %u different ones at most", FR_WATCH_TABLE_MAX);
		return -1;
	}
	more = fr_vec_more(&s->table, s->table_cnt);
	if (!more) {
		fr_watch_fail(b, n, "no memory");
		return -1;
	}
	*more = *t;
	return s->table_cnt++;
}

int fr_watch_add_text(struct fr_watch_build *b, const struct fr_node *n, const char *text, size_t len)
{
	struct fr_watch_table t = {0};

	memcpy(t.text, text, len < sizeof(t.text) ? len : sizeof(t.text));
	return add_table(b, n, &t);
}

/* Element i of the pattern at *p: which characters does it match? Moves *p past it. */
static void add_element(struct fr_watch_table *t, const struct fr_node *n, size_t *p, u32 i)
{
	size_t from = *p;
	u32 c;

	for (c = 1; c < 256; c++) {
		*p = from;
		if (fr_glob_one(n->text, n->len, p, c))
			t->set[c] |= 1ULL << i;
	}
}

int fr_watch_add_glob(struct fr_watch_build *b, const struct fr_node *n)
{
	struct fr_watch_table t = {0};
	size_t p = 0;
	u32 i = 0;

	while (p < n->len) {
		if (n->text[p] == '*') {
			t.star |= 1ULL << i;
			p++;
			continue;
		}
		if (i == FR_WATCH_STATE_MAX) {
			fr_watch_fail(b, n, "this pattern is too long for BPF: %u characters at most besides *",
				      FR_WATCH_STATE_MAX);
			return -1;
		}
		add_element(&t, n, &p, ++i);
	}
	t.end = 1ULL << i;
	return add_table(b, n, &t);
}

/* ---- numbers by names ---- */

/* In which ABIs does number v have a name that the pattern n->b matches, or with !~ does not? Bits 0 native, 1 32-bit. */
static u32 named_in(const struct fr_watch_build *b, const struct fr_node *n, u8 style, s64 v)
{
	struct fr_sys sys = {.arch = b->arch};
	char room[FR_SYSNAME_SZ];
	const char *name;
	u32 abis = 0;

	for (sys.abi = 0; sys.abi < 2; sys.abi++) {
		name = fr_sysname_text(&sys, style, v, room);
		if (name && fr_glob(n->b->text, n->b->len, name, strlen(name)) == (n->op == FR_OP_GLOB))
			abis |= 1u << sys.abi;
	}
	return abis;
}

static void emit_range(struct fr_watch_build *b, const struct fr_node *n, u32 a, u32 dst, u32 abis, s64 from, s64 to)
{
	struct fr_watch_insn *in = fr_watch_emit(b, n, FR_WATCH_RANGE, dst);

	if (in) {
		in->a = a;
		in->b = abis;
		in->lo = from;
		in->hi = to;
	}
	fr_watch_emit_jump(b, n, FR_WATCH_JT, dst);
}

/* Each range jumps to the end if it contains the number, one of first to last in steps. Returns how many there are. */
static u32 emit_ranges(struct fr_watch_build *b, const struct fr_node *n, u8 style, u32 a, u32 dst, s64 first, s64 last,
		       s64 step)
{
	u32 abis, before = 0, cnt = 0;
	s64 v, from = 0;

	for (v = first; v <= last + step; v += step) {
		abis = v > last ? 0 : named_in(b, n, style, v);
		if (abis == before)
			continue;
		if (before)
			emit_range(b, n, a, dst, before, from, v - step);
		cnt += before != 0;
		before = abis;
		from = v;
	}
	return cnt;
}

/* dst = a & bits */
static void emit_bits(struct fr_watch_build *b, const struct fr_node *n, u32 a, u32 dst, u32 bits)
{
	struct fr_watch_insn *in = fr_watch_emit(b, n, FR_WATCH_AND, dst);

	if (in) {
		in->a = a;
		in->b = FR_WATCH_IMM;
		in->lo = bits;
	}
}

/* What wait() gives: the name is that of the low bits if they have a signal, otherwise of the status above them. */
static u32 emit_exit(struct fr_watch_build *b, const struct fr_node *n, u32 a, u32 dst)
{
	u32 part = dst + 1, cnt, to_status;

	fr_watch_emit(b, n, FR_WATCH_CONST, dst); /* 0: in none so far */
	emit_bits(b, n, a, part, 0x7f);
	to_status = fr_watch_emit_jump(b, n, FR_WATCH_JF, part);
	emit_bits(b, n, a, part, 0xff);
	cnt = emit_ranges(b, n, FR_STYLE_EXIT, part, dst, 1, 0x7f, 1);
	cnt += emit_ranges(b, n, FR_STYLE_EXIT, part, dst, 0x81, 0xff, 1);
	fr_watch_emit_jump(b, n, FR_WATCH_JT, part);
	fr_watch_land(b, to_status);
	emit_bits(b, n, a, part, 0xff00);
	return cnt + emit_ranges(b, n, FR_STYLE_EXIT, part, dst, 0, 0xff00, 0x100);
}

/* The last result is the truth; jumps on one that holds go to the end. */
bool fr_watch_names(struct fr_watch_build *b, const struct fr_node *n, const struct fr_field *f, u32 a, u32 dst)
{
	u32 first = b->prog->insn_cnt, cnt, i;

	if (f->style == FR_STYLE_EXIT)
		cnt = emit_exit(b, n, a, dst);
	else
		cnt = emit_ranges(b, n, f->style, a, dst, NAMED_FIRST, NAMED_LAST, 1);
	if (!cnt)
		b->prog->insn_cnt = first;
	for (i = first; i < b->prog->insn_cnt; i++)
		if (b->prog->insn[i].op == FR_WATCH_JT)
			b->prog->insn[i].off = b->prog->insn_cnt;
	return cnt;
}
