/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Call frame instructions: written down by hand, refused, and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cfi.h"

#define CODE 0x1000u /* of the function, 0x100 bytes */
#define SP   0x7000u

/* An entry under construction. */
struct entry {
	u8 at[256];
	size_t sz;
};

static void put(struct entry *e, const void *bytes, size_t sz)
{
	memcpy(e->at + e->sz, bytes, sz);
	e->sz += sz;
}

static void put32(struct entry *e, u32 v)
{
	put(e, &v, sizeof(v));
}

static void begin_entry(struct entry *e, u32 id)
{
	e->sz = 0;
	put32(e, 0);
	put32(e, id);
}

static void end_entry(struct entry *e)
{
	u32 sz = e->sz - 4;

	memcpy(e->at, &sz, sizeof(sz));
}

/* As compilers make it: the CFA is rsp + 8, and rip is 8 below. */
static void make_cie(struct entry *e, const char *letters)
{
	const u8 head[] = {1, 0x78, FR_CFI_RIP};
	const u8 rules[] = {DW_CFA_def_cfa, FR_CFI_RSP, 8, DW_CFA_offset | FR_CFI_RIP, 1};

	begin_entry(e, 0);
	put(e, "\1", 1);
	put(e, letters, strlen(letters) + 1);
	put(e, head, sizeof(head));
	put(e, "\1", 1);
	put(e, (const u8[]){DW_EH_PE_udata4}, 1);
	put(e, rules, sizeof(rules));
	end_entry(e);
}

static void make_fde(struct entry *e, const u8 *insn, size_t sz)
{
	begin_entry(e, 64);
	put32(e, CODE);
	put32(e, 0x100);
	put(e, "\0", 1);
	put(e, insn, sz);
	end_entry(e);
}

static const u64 words[] = {100, 101, 102, 103, 104, 105, 106, 107};

static bool read_word(void *arg, u64 addr, u64 *word)
{
	(void)arg;
	if (addr < SP || addr % 8 || addr - SP >= sizeof(words))
		return false;
	*word = words[(addr - SP) / 8];
	return true;
}

static bool parse(const struct entry *cie, const struct entry *fde, struct fr_cfi *out)
{
	const struct fr_cfi_bytes c = {cie->at, cie->sz, 0}, f = {fde->at, fde->sz, 64};

	return fr_cfi_parse(&c, &f, out);
}

static struct fr_cfi_frame some_frame(void)
{
	struct fr_cfi_frame f = {.known = (1u << FR_CFI_REG_CNT) - 1};
	u32 i;

	for (i = 0; i < FR_CFI_REG_CNT; i++)
		f.reg[i] = i;
	f.reg[FR_CFI_RSP] = SP;
	return f;
}

/* Go up from CODE + at in a function with these instructions. */
static bool up(const char *letters, const u8 *insn, size_t sz, u64 at, struct fr_cfi_frame *out)
{
	struct entry cie, fde;
	struct fr_cfi cfi;

	make_cie(&cie, letters);
	make_fde(&fde, insn, sz);
	*out = some_frame();
	return parse(&cie, &fde, &cfi) && fr_cfi_up(&cfi, CODE + at, out, read_word, NULL);
}

#define UP(insn, at, out) up("zR", insn, sizeof(insn), at, out)

/* push rbp; push rbx; sub $16: a caller in each part of the function. */
static void test_prologue(void **state)
{
	static const u8 insn[] = {
		DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_offset,
		16,
		DW_CFA_offset | FR_CFI_RBP,
		2,
		DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_offset,
		24,
		DW_CFA_offset | 3,
		3,
		DW_CFA_advance_loc1,
		4,
		DW_CFA_def_cfa_offset,
		40,
	};
	static const struct {
		u64 at, sp, ip, bp, bx;
	} want[] = {
		{0, SP + 8, 100, FR_CFI_RBP, 3}, {1, SP + 16, 101, 100, 3},   {2, SP + 24, 102, 101, 100},
		{5, SP + 24, 102, 101, 100},	 {6, SP + 40, 104, 103, 102}, {0xff, SP + 40, 104, 103, 102},
	};
	struct fr_cfi_frame f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_true(UP(insn, want[i].at, &f));
		assert_int_equal(f.reg[FR_CFI_RSP], want[i].sp);
		assert_int_equal(f.reg[FR_CFI_RIP], want[i].ip);
		assert_int_equal(f.reg[FR_CFI_RBP], want[i].bp);
		assert_int_equal(f.reg[3], want[i].bx);
		assert_false(f.known & 1); /* rax is nobody's */
	}
	assert_false(UP(insn, 0x100, &f));
	assert_false(up("zR", insn, sizeof(insn), -1, &f));
}

static void test_rules(void **state)
{
	static const u8 kept[] = {DW_CFA_remember_state, DW_CFA_def_cfa_offset, 32, DW_CFA_advance_loc | 2,
				  DW_CFA_restore_state};
	static const u8 same[] = {DW_CFA_same_value, 0, DW_CFA_register, 3, 12, DW_CFA_val_offset, 14, 2};
	static const u8 end[] = {DW_CFA_undefined, FR_CFI_RIP};
	static const u8 back[] = {DW_CFA_offset | FR_CFI_RIP, 9, DW_CFA_restore | FR_CFI_RIP};
	/* as the PLT's: rsp + 8 + ((rip & 15) >= 11) * 8 */
	static const u8 plt[] = {DW_CFA_def_cfa_expression,
				 11,
				 DW_OP_breg7,
				 8,
				 DW_OP_breg16,
				 0,
				 DW_OP_lit15,
				 DW_OP_and,
				 DW_OP_lit11,
				 DW_OP_ge,
				 DW_OP_lit3,
				 DW_OP_shl,
				 DW_OP_plus};
	static const u8 again[] = {DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8, DW_CFA_def_cfa, FR_CFI_RSP, 24};
	/* as the C library's for a signal's frame */
	static const u8 frame[] = {DW_CFA_def_cfa_expression,
				   3,
				   DW_OP_breg7,
				   8,
				   DW_OP_deref,
				   DW_CFA_expression,
				   FR_CFI_RIP,
				   2,
				   DW_OP_breg7,
				   24,
				   DW_CFA_val_expression,
				   FR_CFI_RBP,
				   3,
				   DW_OP_lit2,
				   DW_OP_plus_uconst,
				   5};
	struct fr_cfi_frame f;

	(void)state;
	assert_true(UP(kept, 0, &f));
	assert_int_equal(f.reg[FR_CFI_RSP], SP + 32);
	assert_true(UP(kept, 2, &f));
	assert_int_equal(f.reg[FR_CFI_RSP], SP + 8);
	assert_true(UP(same, 0, &f));
	assert_true(f.known & 1);
	assert_int_equal(f.reg[3], 12);
	assert_int_equal(f.reg[14], SP + 8 - 16);
	assert_false(UP(end, 0, &f));
	assert_true(UP(back, 0, &f));
	assert_int_equal(f.reg[FR_CFI_RIP], 100);
	assert_true(UP(plt, 0, &f));
	assert_int_equal(f.reg[FR_CFI_RSP], SP + 8); /* rip is 16, which ends in 0 */
	assert_true(UP(again, 0, &f));
	assert_int_equal(f.reg[FR_CFI_RSP], SP + 24);
	assert_true(up("zRS", frame, sizeof(frame), 0, &f));
	assert_int_equal(f.reg[FR_CFI_RSP], 101);
	assert_int_equal(f.reg[FR_CFI_RIP], 103);
	assert_int_equal(f.reg[FR_CFI_RBP], 7);
}

static void test_refused(void **state)
{
	static const u8 unknown[] = {0x3f}, no_state[] = {DW_CFA_restore_state};
	static const u8 beyond[] = {DW_CFA_def_cfa_offset, 200}, no_reg[] = {DW_CFA_def_cfa_register, 17};
	static const u8 branch[] = {DW_CFA_def_cfa_expression, 4, DW_OP_lit1, DW_OP_skip, 0xfc, 0xff};
	static const u8 nothing[] = {DW_CFA_def_cfa_expression, 1, DW_OP_plus};
	static const u8 cut[] = {DW_CFA_def_cfa_expression, 100, DW_OP_lit1};
	u8 deep[64], many[40] = {DW_CFA_def_cfa_expression, 38};
	struct fr_cfi_frame f;

	(void)state;
	memset(deep, DW_CFA_remember_state, sizeof(deep));
	memset(many + 2, DW_OP_lit1, sizeof(many) - 2);
	assert_false(UP(unknown, 0, &f));
	assert_false(UP(no_state, 0, &f));
	assert_false(UP(beyond, 0, &f));
	assert_false(UP(no_reg, 0, &f));
	assert_false(UP(branch, 0, &f));
	assert_false(UP(nothing, 0, &f));
	assert_false(UP(cut, 0, &f));
	assert_false(UP(deep, 0, &f));
	assert_false(UP(many, 0, &f));
	assert_false(up("zX", many, 0, 0, &f));
	assert_false(up("eh", many, 0, 0, &f));
	assert_true(up("zR", many, 0, 0, &f));
}

/* Any byte of them may be any other, and they may end anywhere: each is in memory of its own size, for those who look. */
static void test_damaged(void **state)
{
	static const u8 insn[] = {DW_CFA_advance_loc | 1,
				  DW_CFA_def_cfa_offset,
				  16,
				  DW_CFA_expression,
				  6,
				  2,
				  DW_OP_breg7,
				  0x78,
				  DW_CFA_def_cfa_expression,
				  4,
				  DW_OP_breg7,
				  0x98,
				  0x01,
				  DW_OP_deref};
	struct entry cie, fde, rigged;
	struct fr_cfi_frame f;
	struct fr_cfi cfi;
	size_t i, cut;
	u32 v;

	(void)state;
	make_cie(&cie, "zR");
	make_fde(&fde, insn, sizeof(insn));
	for (cut = 0; cut < fde.sz; cut++) {
		u8 *at = malloc(cut + 1);
		const struct fr_cfi_bytes c = {cie.at, cie.sz, 0}, d = {at, cut, 64};

		memcpy(at, fde.at, cut);
		assert_false(fr_cfi_parse(&c, &d, &cfi));
		free(at);
	}
	for (i = 0; i < fde.sz + cie.sz; i++)
		for (v = 0; v < 256; v++) {
			bool is_cie = i >= fde.sz;

			rigged = is_cie ? cie : fde;
			rigged.at[is_cie ? i - fde.sz : i] = v;
			f = some_frame();
			if (is_cie ? parse(&rigged, &fde, &cfi) : parse(&cie, &rigged, &cfi))
				fr_cfi_up(&cfi, CODE + 2, &f, read_word, NULL);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prologue),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
