/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arguments as a ring has them, made the text that a file has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rows/argv.h"
#include "event_fields.h"

#define AT offsetof(struct fr_rec_exec_argv, argv)

/* Join text of sz bytes, padded as in a ring; the result must be want, and NULs to the record's end. */
static u32 joined(const char *text, u32 sz, struct fr_secrets *s, const char *want)
{
	union {
		struct fr_rec_exec_argv rec;
		char byte[AT + 264];
	} r;
	u32 room = (sz + 7) / 8 * 8, i;

	memset(&r, 'x', sizeof(r));
	memset(r.rec.argv, 0, room);
	memcpy(r.rec.argv, text, sz);
	fr_argv_join(&r.rec, AT + room, s);
	assert_int_equal(strnlen(r.rec.argv, room), strlen(want));
	assert_memory_equal(r.rec.argv, want, strlen(want));
	for (i = strlen(want); i < room; i++)
		assert_int_equal(r.rec.argv[i], 0);
	assert_int_equal(r.rec.argv[room], 'x');
	return room;
}

#define JOINED(text, s, want) joined(text, sizeof(text), s, want)

static void test_a_blank_stands_between_arguments(void **state)
{
	(void)state;
	JOINED("/bin/echo\0two words\0\0end", NULL, "/bin/echo two words  end");
	JOINED("sleep\0"
	       "1",
	       NULL, "sleep 1");
	JOINED("true\0\0", NULL, "true"); /* an empty argument at the end is not seen */
	JOINED("", NULL, "");
	joined("", 0, NULL, "");
	joined("cut of", 6, NULL, "cut of");
}

static void test_secrets_go_by_whole_arguments(void **state)
{
	struct fr_secrets s = {.words = "magic"};

	(void)state;
	JOINED("curl\0--password\0hunter2 and more of it\0-v", &s, "curl --password [redacted] -v");
	JOINED("env\0API_KEY=a b c d e f g\0run it", &s, "env API_KEY=[redacted] run it");
	JOINED("x\0--magic=0123456789", &s, "x --magic=[redacted]");
	assert_int_equal(s.cnt, 3);
	s.words = "no";
	JOINED("x\0--password=0123456789", &s, "x --password=0123456789");
	assert_int_equal(s.cnt, 3);
}

/* A value that is shorter than what stands for it: the text's end goes, nothing behind the record is touched. */
static void test_the_record_keeps_its_size(void **state)
{
	struct fr_secrets s = {};

	(void)state;
	/* what is lost is said: no part of a number is taken for it */
	joined("a\0--token=b\0last", 16, &s, "a --token=[re...");
	joined("app\0--pass=a\0--port\08080", 24, &s, "app --pass=[redacted]...");
	joined("app\0--pass=abcde\0-p\08080", 24, &s, "app --pass=[redacted]...");
	joined("app\0--pass=a\0-p\08080\0\0\0\0\0\0", 26, &s, "app --pass=[redacted] -p 8080");
	joined("app\0--port\080\0--pass=a", 22, &s, "app --port 80 --pass=[re"); /* but the word itself */
	assert_int_equal(s.cnt, 5);
}

static void test_joined_text_stays(void **state)
{
	struct fr_secrets s = {};

	(void)state;
	JOINED("env API_KEY=[redacted] run it", &s, "env API_KEY=[redacted] run it");
	assert_int_equal(s.cnt, 0);
}

static void test_sizes_that_are_none_touch_nothing(void **state)
{
	char byte[AT + 272], was[sizeof(byte)];
	struct fr_rec_exec_argv *rec = (void *)byte;

	(void)state;
	memset(byte, 0, sizeof(byte));
	memcpy(rec->argv, "a\0b", 3);
	memcpy(was, byte, sizeof(byte));
	fr_argv_join(rec, AT - 4, NULL);
	fr_argv_join(rec, AT, NULL);
	fr_argv_join(rec, AT + 264, NULL);
	assert_memory_equal(byte, was, sizeof(byte));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_blank_stands_between_arguments),  cmocka_unit_test(test_secrets_go_by_whole_arguments),
		cmocka_unit_test(test_the_record_keeps_its_size),	  cmocka_unit_test(test_joined_text_stays),
		cmocka_unit_test(test_sizes_that_are_none_touch_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
