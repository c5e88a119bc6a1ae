/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Secrets in texts of tracepoints, probes and marks: they go from the record itself, and nothing else of it does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rows/rows.h"
#include "base/rows/tptext.h"
#include "tp.h"

static const char text[] = FR_SCHEMA_TITLE "\n"
					   "event 100 mark:app__mark main tp a mark of somebody's program\n"
					   "field u32 tp_sz LOC bytes of the record\n"
					   "field u64 ip HEX void *\n"
					   "field u32 text_loc LOC where text is\n"
					   "derived text LOC:char text_loc char[]\n"
					   "field u32 name_loc RELLOC where name is\n"
					   "derived name LOC:char name_loc char[]\n"
					   "field data tp_data HEX texts and arrays\n";

#define SZ 96u

static union {
	u8 byte[SZ + 8];
	u64 word;
} rec;

static const struct fr_event *event_of(struct fr_schema **s)
{
	assert_int_equal(fr_schema_parse(text, strlen(text), s), 0);
	assert_non_null(fr_schema_event(*s, FR_TP_FIRST));
	return fr_schema_event(*s, FR_TP_FIRST);
}

static u32 off_of(const struct fr_event *ev, const char *name)
{
	return fr_event_field(ev, name)->off;
}

/* The record's text and name at these places of it. */
static void put(const struct fr_event *ev, const char *what, u32 at, const char *name, u32 name_at)
{
	u32 loc = (at - FR_TP_AHEAD_SZ) | (u32)(strlen(what) + 1) << 16;
	u32 rel = (name_at - off_of(ev, "name_loc") - 4) | (u32)(strlen(name) + 1) << 16;

	memset(&rec, 'x', sizeof(rec));
	memcpy(rec.byte + off_of(ev, "text_loc"), &loc, sizeof(loc));
	memcpy(rec.byte + off_of(ev, "name_loc"), &rel, sizeof(rel));
	strcpy((char *)rec.byte + at, what);
	strcpy((char *)rec.byte + name_at, name);
}

static void secrets_go(void **state)
{
	struct fr_secrets s = {.words = "magic"};
	struct fr_schema *schema;
	const struct fr_event *ev = event_of(&schema);
	u32 at = fr_event_tail(ev)->off, i;
	u8 was[SZ + 8];

	(void)state;
	put(ev, "a password=hunter2hunter2", at, "magic: 0123456789", at + 26);
	memcpy(was, rec.byte, sizeof(was));
	fr_tptext_make(ev, rec.byte, SZ, &s);
	assert_string_equal((char *)rec.byte + at, "a password=[redacted]");
	assert_string_equal((char *)rec.byte + at + 26, "magic: [redacted]");
	assert_int_equal(s.cnt, 2);
	for (i = 0; i < sizeof(was); i++) /* all else is as it was, and no byte of the rest of a text is left */
		if (i < at || i >= at + 26 + 18)
			assert_int_equal(rec.byte[i], was[i]);
		else if (i >= at + 22 && i < at + 26)
			assert_int_equal(rec.byte[i], 0);
	fr_tptext_make(ev, rec.byte, SZ, &s);
	assert_int_equal(s.cnt, 2);
	/* what gets longer loses its end; without words and a count, too */
	put(ev, "pass=a b", at, "x", at + 40);
	fr_tptext_make(ev, rec.byte, SZ, NULL);
	assert_string_equal((char *)rec.byte + at, "pass=...");
	assert_string_equal((char *)rec.byte + at + 40, "x");
	fr_schema_free(schema);
}

/* A word that tells a place where no text can be changes nothing, nor does one whose text goes on behind the record. */
static void places_are_checked(void **state)
{
	static const char secret[] = "password=hunter2";
	struct fr_secrets s = {};
	struct fr_schema *schema;
	const struct fr_event *ev = event_of(&schema);
	u32 tail = fr_event_tail(ev)->off, word = off_of(ev, "text_loc"), loc, at;
	u8 was[SZ + 8];

	(void)state;
	for (at = 0; at < 0x200; at++) {
		put(ev, "", tail, "", tail);
		memset(rec.byte + tail, '=', SZ + 8 - tail);
		memcpy(rec.byte + SZ - sizeof(secret) + 1, secret, sizeof(secret) - 1);
		loc = at | 0xffffu << 16;
		memcpy(rec.byte + word, &loc, sizeof(loc));
		memcpy(was, rec.byte, sizeof(was));
		fr_tptext_make(ev, rec.byte, SZ, &s);
		assert_memory_equal(rec.byte, was, tail);
		assert_memory_equal(rec.byte + SZ, was + SZ, 8);
		if (at + FR_TP_AHEAD_SZ < tail || at + FR_TP_AHEAD_SZ >= SZ)
			assert_memory_equal(rec.byte, was, sizeof(was));
	}
	assert_true(s.cnt);
	fr_tptext_make(ev, rec.byte, word + 2, &s); /* the word itself is not there */
	fr_schema_free(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_go),
		cmocka_unit_test(places_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
