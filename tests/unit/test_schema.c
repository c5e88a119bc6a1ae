/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The schema's offsets are the compiler's; its text is read back; bad texts are refused, later versions' degraded. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool no_memory;

static void *take(size_t cnt, size_t sz)
{
	return no_memory ? NULL : calloc(cnt, sz);
}

#define calloc take
#include "base/schema/schema.c"
#include "bits.h"
#undef calloc

#undef errno /* a field of signals is called so */

/* For each event a function that compares each of its fields with the struct of bpf/event.h. */
#define EVENT(number, event, tier_, group_, what)                                         \
	static void check_##event(void)                                                   \
	{                                                                                 \
		typedef struct fr_rec_##event rec;                                        \
		typedef struct fr_places_##event bits __attribute__((unused));            \
		const struct fr_event *ev = fr_schema_event(fr_schema_builtin(), number); \
		const size_t whole = FR_RING_SZ(event);                                   \
		size_t fixed = whole;                                                     \
                                                                                          \
		assert_non_null(ev);                                                      \
		assert_string_equal(ev->name, #event);                                    \
		assert_string_equal(ev->doc, what);                                       \
		assert_int_equal(ev->nr, number);                                         \
		assert_int_equal(ev->tier, FR_TIER_##tier_);                              \
		assert_int_equal(ev->group, FR_GROUP_##group_);                           \
		assert_ptr_equal(fr_schema_find(fr_schema_builtin(), #event), ev);
#define FLAGS(field, style_, what)                                      \
	assert_int_equal(fr_event_field(ev, #field)->off, 11);          \
	assert_int_equal(fr_event_field(ev, #field)->type, FR_TYPE_u8); \
	assert_int_equal(fr_event_field(ev, #field)->col, 0);           \
	assert_int_equal(fr_event_field(ev, #field)->kind, FR_KIND_FLAGS);
#define FIELD(type_, field, style_, what)                                        \
	assert_non_null(fr_event_field(ev, #field));                             \
	assert_int_equal(fr_event_field(ev, #field)->off, offsetof(rec, field)); \
	assert_int_equal(fr_event_field(ev, #field)->type, FR_TYPE_##type_);     \
	assert_int_equal(fr_event_field(ev, #field)->style, FR_STYLE_##style_);  \
	assert_int_equal(fr_event_field(ev, #field)->kind, FR_KIND_FIELD);       \
	if (FR_TYPE_##type_ == FR_TYPE_str || FR_TYPE_##type_ == FR_TYPE_u64s)   \
		fixed = offsetof(rec, field);
#define BITS(type_, field, cnt, code_, style_, what)                         \
	FIELD(type_, field, style_, what)                                    \
	assert_int_equal(fr_event_field(ev, #field)->bit_cnt, cnt);          \
	assert_int_equal(fr_event_field(ev, #field)->code, FR_CODE_##code_); \
	assert_int_equal(fr_event_field(ev, #field)->bit, offsetof(bits, field));
#define DERIVED(field, rule_, from_, what)                                   \
	assert_int_equal(fr_event_field(ev, #field)->kind, FR_KIND_DERIVED); \
	assert_int_equal(fr_event_field(ev, #field)->rule, FR_RULE_##rule_); \
	assert_string_equal(fr_event_field(ev, #field)->from, #from_);       \
	assert_int_equal(fr_event_field(ev, #field)->col, -1);
#define END(event)                                                  \
	assert_int_equal(ev->fixed_sz, fixed);                      \
	assert_int_equal(ev->tail, fixed != whole || has_tail(ev)); \
	}

static bool has_tail(const struct fr_event *ev)
{
	u32 i;

	for (i = 0; i < ev->field_cnt; i++)
		if (ev->fields[i].kind == FR_KIND_FIELD &&
		    (ev->fields[i].type == FR_TYPE_str || ev->fields[i].type == FR_TYPE_u64s))
			return true;
	return false;
}

/* clang-format off */
#include "events.def"
/* clang-format on */

static void test_offsets_are_the_compilers(void **state)
{
	(void)state;
#define EVENT(number, event, tier, group, what) check_##event();
#include "events.def"
}

static void check_same_field(const struct fr_field *a, const struct fr_field *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->doc, b->doc);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->style, b->style);
	assert_int_equal(a->rule, b->rule);
	assert_int_equal(a->from_idx, b->from_idx);
	assert_int_equal(a->col, b->col);
	assert_int_equal(a->off, b->off);
	assert_int_equal(a->bit, b->bit);
	assert_int_equal(a->bit_cnt, b->bit_cnt);
	assert_int_equal(a->code, b->code);
}

static void check_same_event(const struct fr_event *a, const struct fr_event *b)
{
	u32 i;

	assert_string_equal(a->name, b->name);
	assert_string_equal(a->doc, b->doc);
	assert_int_equal(a->tier, b->tier);
	assert_int_equal(a->group, b->group);
	assert_int_equal(a->fixed_sz, b->fixed_sz);
	assert_int_equal(a->tail, b->tail);
	assert_int_equal(a->field_cnt, b->field_cnt);
	assert_int_equal(a->col_cnt, b->col_cnt);
	for (i = 0; i < a->field_cnt; i++)
		check_same_field(&a->fields[i], &b->fields[i]);
}

/* A recorder that asks for it while memory is short goes on. */
static void test_builtin_takes_no_memory(void **state)
{
	(void)state;
	no_memory = true;
	assert_non_null(fr_schema_find(fr_schema_builtin(), "sched_switch"));
	no_memory = false;
}

static void test_text_comes_back(void **state)
{
	const struct fr_schema *a = fr_schema_builtin();
	struct fr_schema *b;
	size_t sz, sz2;
	char *text = fr_schema_write(a, &sz), *text2;
	u32 nr;

	(void)state;
	assert_int_equal(fr_schema_parse(text, sz, &b), 0);
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		assert_true(!fr_schema_event(a, nr) == !fr_schema_event(b, nr));
		if (fr_schema_event(a, nr))
			check_same_event(fr_schema_event(a, nr), fr_schema_event(b, nr));
	}
	text2 = fr_schema_write(b, &sz2);
	assert_int_equal(sz, sz2);
	assert_memory_equal(text, text2, sz);
	fr_schema_free(b);
	free(text);
	free(text2);
}

static int parse(const char *text, struct fr_schema **out)
{
	return fr_schema_parse(text, strlen(text), out);
}

#define HEAD "flightrec-schema 1\n"

static void test_later_versions_degrade(void **state)
{
	struct fr_schema *s;
	const struct fr_event *ev;

	(void)state;
	assert_int_equal(parse(HEAD "event 7 good cloud weather some doc\n"
				    "flags bits PURPLE d\n"
				    "field u8 a PURPLE d\n"
				    "derived b GUESS a d\n"
				    "field u64 c HEX \n"
				    "event 8 odd main sched d\n"
				    "field u128 x DEC d\n"
				    "field u64 y DEC d\n"
				    "derived z COMM x d\n"
				    "event 10 new_code main sched d\n"
				    "field u16:4:ROMAN x DEC d\n"
				    "field s16:8:LESS1 y DEC d\n"
				    "event 9 last main sched\n",
			       &s),
			 0);
	ev = fr_schema_find(s, "good");
	assert_int_equal(ev->tier, FR_TIER_CNT);
	assert_null(fr_tier_name(ev->tier));
	assert_int_equal(ev->group, FR_GROUP_CNT);
	assert_null(fr_group_name(ev->group));
	assert_int_equal(ev->field_cnt, 3);
	assert_int_equal(ev->fields[1].style, FR_STYLE_DEC);
	assert_int_equal(fr_event_field(ev, "c")->off, 16);
	assert_int_equal(ev->fixed_sz, 24);
	assert_null(fr_schema_find(s, "odd"));
	assert_null(fr_schema_event(s, 8));
	assert_null(fr_schema_event(s, 10));
	assert_int_equal(fr_schema_find(s, "last")->nr, 9);
	assert_int_equal(fr_schema_find(s, "last")->fixed_sz, 16);
	assert_string_equal(fr_schema_find(s, "last")->doc, "");
	fr_schema_free(s);
}

static void test_bad_texts_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"flightrec-schema 1",
		"flightrec-schema 2\n",
		HEAD "\n",
		HEAD "field u8 a DEC d\n",
		HEAD "flags a DEC d\n",
		HEAD "derived a TID tid d\n",
		HEAD "event 0 a main sched d\n",
		HEAD "event 255 a main sched d\n",
		HEAD "event 300 a main sched d\n",
		HEAD "event -1 a main sched d\n",
		HEAD "event 01 a main sched d\n",
		HEAD "event 99999999999999999999 a main sched d\n",
		HEAD "event 1 a main sched d\nevent 1 b main sched d\n",
		HEAD "event 1 a main sched d\nevent 2 a main sched d\n",
		HEAD "event 1 A main sched d\n",
		HEAD "event 1  main sched d\n",
		HEAD "event 1 1a main sched d\n",
		HEAD "event 1 a\x1b[0m main sched d\n",
		HEAD "event 1 a main sched d\x01\n",
		HEAD "event 1 a main sched d\nfield u8 x DEC d\nfield u8 x DEC d\n",
		HEAD "event 1 a main sched d\nfield u8 x DEC d\nflags y DEC d\n",
		HEAD "event 1 a main sched d\nflags x DEC d\nflags y DEC d\n",
		HEAD "event 1 a main sched d\nfield str x TEXT d\nfield u8 y DEC d\n",
		HEAD "event 1 a main sched d\nderived x COMM none d\n",
		HEAD "event 1 a main sched d\nderived x TID y d\nfield s32 y TID d\n",
		HEAD "event 1 a main sched d\nfield comm y TEXT d\nderived x COMM y d\n",
		HEAD "event 1 a main sched d\nderived x COMM x d\n",
		HEAD "event 1 a main sched d\nderived x COMM y d\nderived y COMM x d\n",
		HEAD "event 1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa main sched d\n",
		HEAD "event 1 a main sched d\nfield u8: x DEC d\n",
		HEAD "event 1 a main sched d\nfield u8:4 x DEC d\n",
		HEAD "event 1 a main sched d\nfield u8:0:PLAIN x DEC d\n",
		HEAD "event 1 a main sched d\nfield u8:04:PLAIN x DEC d\n",
		HEAD "event 1 a main sched d\nfield u8:9:PLAIN x DEC d\n",
		HEAD "event 1 a main sched d\nfield s16:16:PLAIN x DEC d\n",
		HEAD "event 1 a main sched d\nfield u16:5:LESS1 x DEC d\n",
		HEAD "event 1 a main sched d\nfield u16:5:ONEBIT x DEC d\n",
		HEAD "event 1 a main sched d\nfield u64:6:ONEBIT x DEC d\n",
		HEAD "event 1 a main sched d\nfield comm:8:PLAIN x DEC d\n",
		HEAD "event 1 a main sched d\nfield str:8:PLAIN x DEC d\n",
		HEAD "event 1 a main sched d\nfield u64:43:PLAIN x DEC d\n",
		HEAD "event 1 a main sched d\nfield u64:200:PLAIN x DEC d\n",
		HEAD "event 1 a main sched d\nfield u64:40:PLAIN x DEC d\nfield u8:3:PLAIN y DEC d\n",
		HEAD "event 1 a main sched d\nfield u8:3:PLAIN x DEC d\nfield u8 y DEC d\n",
		HEAD "event 1 a main sched d\nfield u8 x DEC d\nfield u8:3:PLAIN y DEC d\n",
		HEAD "event 1 a main sched d\nflags x DEC d\nfield u8:3:PLAIN y DEC d\n",
		HEAD "what\n",
	};
	struct fr_schema *s = (void *)1;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (parse(bad[i], &s) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
		assert_ptr_equal(s, (void *)1);
	}
	assert_int_equal(fr_schema_parse(HEAD "\0x\n", sizeof(HEAD "\0x\n") - 1, &s), -EINVAL);
}

static void test_bits_have_their_places(void **state)
{
	const struct fr_event *ev;
	struct fr_schema *s;

	(void)state;
	assert_int_equal(parse(HEAD "event 1 a main sched d\n"
				    "derived t TID tid d\n"
				    "field u32:31:PLAIN x DEC d\n"
				    "field s16:7:LESS1 y DEC d\n"
				    "field u16:4:ONEBIT z DEC d\n",
			       &s),
			 0);
	ev = fr_schema_find(s, "a");
	assert_int_equal(ev->fixed_sz, 16);
	assert_int_equal(fr_event_field(ev, "x")->bit, 22);
	assert_int_equal(fr_event_field(ev, "y")->bit, 22 + 31);
	assert_int_equal(fr_event_field(ev, "z")->bit, 22 + 31 + 7);
	fr_schema_free(s);
}

static void test_counts_are_bounded(void **state)
{
	char text[8192] = HEAD "event 1 a main sched d\n", *p = text + strlen(text);
	struct fr_schema *s;
	int i;

	(void)state;
	for (i = 0; i < FR_FIELD_MAX; i++)
		p += sprintf(p, "field u8 x%d DEC d\n", i);
	assert_int_equal(parse(text, &s), 0);
	assert_int_equal(fr_schema_find(s, "a")->fixed_sz, (12 + FR_FIELD_MAX + 7) / 8 * 8);
	fr_schema_free(s);
	sprintf(p, "field u8 one_more DEC d\n");
	assert_int_equal(parse(text, &s), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builtin_takes_no_memory), cmocka_unit_test(test_offsets_are_the_compilers),
		cmocka_unit_test(test_text_comes_back),		cmocka_unit_test(test_later_versions_degrade),
		cmocka_unit_test(test_bad_texts_are_refused),	cmocka_unit_test(test_bits_have_their_places),
		cmocka_unit_test(test_counts_are_bounded),
	};

	return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
