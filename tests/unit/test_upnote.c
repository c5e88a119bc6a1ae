/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notes of static marks: sound ones, and damaged at each byte; where arguments are, on either machine; of several sites. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/tp/upformat.h"
#include "base/tp/upnote.h"
#include "base/tp/upspec.h"

/* Two marks with a note of another kind between them; the second's padding is left out. */
static size_t make_notes(u8 *to)
{
	static const struct {
		u32 name_sz, desc_sz, type;
		char name[8];
	} heads[] = {{8, 24 + 19, 3, "stapsdt"}, {4, 3, 3, "GNU"}, {8, 24 + 7, 3, "stapsdt"}};
	static const u64 places[2][3] = {{0x1000, 0x2000, 0}, {0x1004, 0x2000, 0x3000}};
	static const char texts[2][20] = {"frt\0one\0-4@%edi 8@", "frt\0t\0"};
	size_t at = 0, i;

	for (i = 0; i < 3; i++) {
		memcpy(to + at, &heads[i], 12);
		at += 12;
		memcpy(to + at, heads[i].name, heads[i].name_sz);
		at += heads[i].name_sz;
		if (i == 1) {
			memset(to + at, 'x', 4);
			at += 4;
			continue;
		}
		memcpy(to + at, places[i / 2], 24);
		memcpy(to + at + 24, texts[i / 2], heads[i].desc_sz - 24);
		at += heads[i].desc_sz;
		for (; i == 0 && at % 4; at++)
			to[at] = 0;
	}
	return at;
}

/* Of a copy of exactly that size, so that a sanitizer sees each byte beyond. Returns how many; -EBADMSG. */
static int count(const u8 *notes, size_t sz, struct fr_upnote *last, char texts[64])
{
	u8 *copy = malloc(sz ?: 1);
	size_t pos = 0;
	int got, cnt = 0;

	assert_non_null(copy);
	memcpy(copy, notes, sz);
	while ((got = fr_upnote_next(copy, sz, &pos, last)) > 0) {
		assert_true(pos <= sz);
		assert_true(strlen(last->provider) + strlen(last->name) + strlen(last->args) < sz);
		if (texts)
			snprintf(texts, 64, "%s:%s:%s", last->provider, last->name, last->args);
		cnt++;
	}
	free(copy);
	return got < 0 ? got : cnt;
}

static void test_notes(void **state)
{
	struct fr_upnote note;
	char texts[64];
	u8 notes[256];
	size_t sz;

	(void)state;
	memset(notes, 0, sizeof(notes));
	sz = make_notes(notes);
	assert_int_equal(count(notes, sz, &note, texts), 2);
	assert_int_equal(note.addr, 0x1004);
	assert_int_equal(note.base, 0x2000);
	assert_int_equal(note.counter, 0x3000);
	assert_string_equal(texts, "frt:t:");
	assert_int_equal(count(notes, 0, &note, NULL), 0);
}

/* Cut at each byte, each byte with other values, sizes that run over: an error or fewer notes, and never a byte beyond. */
static void test_damage(void **state)
{
	static const u32 sizes[] = {0, 1, 7, 23, 24, 0x7fffffff, 0x80000000, 0xfffffffc, 0xfffffffd, 0xffffffff};
	struct fr_upnote note;
	u8 notes[256], bad[256];
	size_t sz, i, k;
	int whole = 0, got;

	(void)state;
	memset(notes, 0, sizeof(notes));
	sz = make_notes(notes);
	for (i = 1; i < sz; i++) {
		got = count(notes, i, &note, NULL);
		assert_true(got == -EBADMSG || got < 2);
		whole += got >= 0;
	}
	assert_true(whole > 0);
	for (i = 0; i < sz; i++)
		for (k = 0; k < 256; k++) {
			memcpy(bad, notes, sz);
			bad[i] = k;
			count(bad, sz, &note, NULL);
		}
	for (i = 0; i < 8; i += 4)
		for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			memcpy(bad, notes, sz);
			memcpy(bad + i, &sizes[k], 4);
			got = count(bad, sz, &note, NULL);
			if (sizes[k] > sz)
				assert_int_equal(got, -EBADMSG);
		}
}

static void test_specs(void **state)
{
	static const struct {
		u32 arch;
		const char *text;
		u32 from, sz, is_signed, reg;
		s64 off;
	} good[] = {
		{FR_UP_ARCH_x86_64, "-4@%edi", FR_UP_REG, 4, 1, 112, 0},
		{FR_UP_ARCH_x86_64, "8@%r15", FR_UP_REG, 8, 0, 0, 0},
		{FR_UP_ARCH_x86_64, "1@%spl", FR_UP_REG, 1, 0, 152, 0},
		{FR_UP_ARCH_x86_64, "-2@%r8w", FR_UP_REG, 2, 1, 72, 0},
		{FR_UP_ARCH_x86_64, "4@%rax", FR_UP_REG, 4, 0, 80, 0},
		{FR_UP_ARCH_x86_64, "8@-16(%rbp)", FR_UP_MEM, 8, 0, 32, -16},
		{FR_UP_ARCH_x86_64, "-1@(%rsp)", FR_UP_MEM, 1, 1, 152, 0},
		{FR_UP_ARCH_x86_64, "4@0x20(%rbx)", FR_UP_MEM, 4, 0, 40, 32},
		{FR_UP_ARCH_x86_64, "4@$5", FR_UP_CONST, 4, 0, 0, 5},
		{FR_UP_ARCH_x86_64, "-8@$-9223372036854775808", FR_UP_CONST, 8, 1, 0, INT64_MIN},
		{FR_UP_ARCH_x86_64, "8@$18446744073709551615", FR_UP_CONST, 8, 0, 0, -1},
		{FR_UP_ARCH_arm64, "-4@w0", FR_UP_REG, 4, 1, 0, 0},
		{FR_UP_ARCH_arm64, "8@x30", FR_UP_REG, 8, 0, 240, 0},
		{FR_UP_ARCH_arm64, "8@[sp, 16]", FR_UP_MEM, 8, 0, 248, 16},
		{FR_UP_ARCH_arm64, "4@[x19,-8]", FR_UP_MEM, 4, 0, 152, -8},
		{FR_UP_ARCH_arm64, "2@[x1]", FR_UP_MEM, 2, 0, 8, 0},
		{FR_UP_ARCH_arm64, "-4@-5", FR_UP_CONST, 4, 1, 0, -5},
	};
	static const struct {
		u32 arch;
		const char *text;
	} bad[] = {
		{FR_UP_ARCH_x86_64, "%edi"},
		{FR_UP_ARCH_x86_64, "3@%edi"},
		{FR_UP_ARCH_x86_64, "4@%exi"},
		{FR_UP_ARCH_x86_64, "1@%ah"},
		{FR_UP_ARCH_x86_64, "8@%edi"},
		{FR_UP_ARCH_x86_64, "4@(%eax)"},
		{FR_UP_ARCH_x86_64, "4@8(%rax,%rbx,4)"},
		{FR_UP_ARCH_x86_64, "4@counter(%rip)"},
		{FR_UP_ARCH_x86_64, "4@8(%rip)"},
		{FR_UP_ARCH_x86_64, "8f@%xmm0"},
		{FR_UP_ARCH_x86_64, "4@$5x"},
		{FR_UP_ARCH_x86_64, "4@$"},
		{FR_UP_ARCH_x86_64, "4@$99999999999999999999"},
		{FR_UP_ARCH_x86_64, "4@8(%rax"},
		{FR_UP_ARCH_x86_64, "4@%edi)"},
		{FR_UP_ARCH_x86_64, "16@%xmm0"},
		{FR_UP_ARCH_x86_64, "-@%edi"},
		{FR_UP_ARCH_x86_64, "4@$symbol"},
		{FR_UP_ARCH_x86_64, "4@w0"},
		{FR_UP_ARCH_arm64, "4@%edi"},
		{FR_UP_ARCH_arm64, "8@w0"},
		{FR_UP_ARCH_arm64, "8@x31"},
		{FR_UP_ARCH_arm64, "8@x01"},
		{FR_UP_ARCH_arm64, "8@[w0]"},
		{FR_UP_ARCH_arm64, "8@[x0, x1]"},
		{FR_UP_ARCH_arm64, "8@[x0, 8]!"},
		{FR_UP_ARCH_arm64, "8@[x0"},
		{FR_UP_ARCH_arm64, "8@d0"},
	};
	struct fr_up_spec spec[FR_UP_SPEC_MAX];
	char many[4096] = "";
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(fr_up_specs(good[i].arch, good[i].text, spec), 1);
		assert_true(spec->known);
		assert_int_equal(spec->arg.from, good[i].from);
		assert_int_equal(spec->arg.sz, good[i].sz);
		assert_int_equal(spec->arg.is_signed, good[i].is_signed);
		if (spec->arg.from != FR_UP_CONST)
			assert_int_equal(spec->arg.reg, good[i].reg);
		assert_true(spec->arg.off == good[i].off);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_true(fr_up_specs(bad[i].arch, bad[i].text, spec) >= 1);
		assert_false(spec->known);
	}
	assert_int_equal(fr_up_specs(FR_UP_ARCH_arm64, " 8@[sp, 16]  4@w1 ", spec), 2);
	assert_true(spec[0].known && spec[1].known);
	assert_int_equal(fr_up_specs(FR_UP_ARCH_x86_64, "", spec), 0);
	for (i = 0; i < 100; i++)
		strcat(many, "4@%edi ");
	assert_int_equal(fr_up_specs(FR_UP_ARCH_x86_64, many, spec), 100);
	memset(many, '(', sizeof(many) - 1); /* one word of this length, without an end */
	assert_int_equal(fr_up_specs(FR_UP_ARCH_x86_64, many, spec), 1);
	assert_false(spec->known);
	assert_int_equal(fr_up_specs(FR_UP_ARCH_x86_64, "4@\n\x1b[", spec), 1);
	assert_string_equal(spec->text, "4@??[");
}

static struct fr_up_args of_sites(const char *a, const char *b)
{
	struct fr_up_args args = {};

	fr_up_args_add(&args, FR_UP_ARCH_x86_64, a);
	fr_up_args_add(&args, FR_UP_ARCH_x86_64, b);
	return args;
}

/* What several sites have in common: a type that holds the values of each, or no field. */
static void test_sites(void **state)
{
	static const struct {
		const char *a, *b, *type, *why;
	} cases[] = {
		{"4@%edi", "4@$7", "u32", NULL},
		{"-4@%edi", "-4@(%rsp)", "s32", NULL},
		{"1@%dil", "8@%rdi", "u64", NULL},
		{"-1@%dil", "-2@%di", "s16", NULL},
		{"-1@%dil", "1@%dil", "s16", NULL},
		{"-8@%rdi", "4@%edi", "s64", NULL},
		{"-4@%edi", "8@%rdi", NULL, "name one, {arg1:u64}"},
		{"4@%edi", "4@8(%rip)", NULL, "not understood: 4@8(%rip)"},
		{"4@%edi", "", NULL, "1 of its 2 places"},
		{"", "", NULL, "it has 0 arguments"},
	};
	struct fr_up_field field[FR_UP_ARG_MAX];
	char why[FR_UP_WHY_SZ], about[FR_UP_ARGS_WHY_SZ];
	struct fr_up_args args;
	u32 i, cnt, type;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		args = of_sites(cases[i].a, cases[i].b);
		type = fr_up_mark_type(&args, 1, about);
		if (cases[i].type) {
			assert_int_not_equal(type, FR_UP_TYPE_CNT);
			assert_string_equal(fr_up_type_name(type), cases[i].type);
		} else {
			assert_int_equal(type, FR_UP_TYPE_CNT);
			assert_non_null(strstr(about, cases[i].why));
			assert_int_equal(fr_up_mark_fields(&args, "arg1", 4, field, &cnt, NULL, NULL, why), -EINVAL);
			assert_non_null(strstr(why, cases[i].why));
		}
	}
	args = of_sites("-4@%edi 8@%rsi", "8@%rdi 8@$5");
	assert_int_equal(fr_up_mark_fields(&args, "arg1:u64, arg2:str", 18, field, &cnt, NULL, NULL, why), 0);
	assert_int_equal(cnt, 3);
	assert_int_equal(field[2].nr, 2);
	assert_int_equal(fr_up_mark_fields(&args, "arg1:str", 8, field, &cnt, NULL, NULL, why), -EINVAL);
	assert_non_null(strstr(why, "no text's address"));
	assert_int_equal(fr_up_mark_fields(&args, "arg13", 5, field, &cnt, NULL, NULL, why), -EINVAL);
	assert_int_equal(fr_up_mark_fields(&args, "arg2 arg2", 9, field, &cnt, NULL, NULL, why), -EINVAL);
	assert_int_equal(fr_up_mark_fields(&args, "argx", 4, field, &cnt, NULL, NULL, why), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_specs),
		cmocka_unit_test(test_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
