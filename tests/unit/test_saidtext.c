/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a program wrote to standard error, as a ring has it, made the text that a file has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rows/saidtext.h"
#include "event_fields.h"
#include "session.h"

#define AT offsetof(struct fr_rec_stderr_write, text)

static union {
	struct fr_rec_stderr_write rec;
	char byte[AT + FR_SAID_MAX + 64];
} r;

/* A write of bytes, of which a record with room has the last ones, from; the result must be want, then NULs, and nothing behind
 * it. */
static void saidtext_made(const char *from, u32 sz, u32 room, u32 bytes, struct fr_secrets *s, const char *want)
{
	u32 i, twice;

	memset(&r, '#', sizeof(r));
	memset(r.rec.text, 0, room);
	memcpy(r.rec.text, from, sz);
	r.rec.bytes = bytes;
	for (twice = 0; twice < 2; twice++) {
		fr_saidtext_make(&r.rec, AT + room, s);
		assert_int_equal(r.rec.bytes, bytes);
		assert_int_equal(strnlen(r.rec.text, room), strlen(want));
		assert_memory_equal(r.rec.text, want, strlen(want));
		for (i = strlen(want); i < room; i++)
			assert_int_equal(r.rec.text[i], 0);
		assert_int_equal(r.rec.text[room], '#');
	}
}

#define WHOLE(text, want) saidtext_made(text, sizeof(text) - 1, (sizeof(text) + 6) / 8 * 8, sizeof(text) - 1, NULL, want)
#define END(text, want) \
	saidtext_made(text, sizeof(text) - 1, sizeof(text) - 1, sizeof(text) + 100, NULL, want) /* a record that is full */

static void test_whole(void **state)
{
	(void)state;
	WHOLE("assertion failed\n", "assertion failed\n");
	WHOLE("8 bytes.", "8 bytes.");
	WHOLE("before\0behind", "before behind");
	WHOLE("behind\0\0", "behind");
	saidtext_made("password=hunter2 x", 18, 24, 18, NULL, "password=[redacted] x");
	WHOLE("password=x", "password=[redact"); /* what gets longer loses its end */
}

static void test_end(void **state)
{
	(void)state;
	END("unter2 is what is left.\n", " is what is left.\n");
	END(" and a blank   .", " and a blank   .");
	END("no-blank", "");
	END("a\nline.\n", "\nline.\n");
}

static void test_counts(void **state)
{
	struct fr_secrets s = {.words = "ticket"};

	(void)state;
	saidtext_made("ticket=abc token=def and so on, and on", 38, 64, 38, &s,
		      "ticket=[redacted] token=[redacted] and so on, and on");
	assert_int_equal(s.cnt, 2);
}

static void test_bounds(void **state)
{
	(void)state;
	memset(&r, 'a', sizeof(r));
	r.rec.bytes = 8;
	fr_saidtext_make(&r.rec, AT, NULL); /* it could not be read */
	assert_int_equal(r.rec.text[0], 'a');
	r.rec.bytes = ~0u;
	fr_saidtext_make(&r.rec, AT + FR_SAID_MAX + 16, NULL); /* no recorder writes that */
	assert_int_equal(strnlen(r.rec.text, FR_SAID_MAX + 16), 0);
	assert_int_equal(r.byte[AT + FR_SAID_MAX + 16], 'a');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
