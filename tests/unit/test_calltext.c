/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What calls were given, as a ring has it, made the text that a file has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rows/calltext.h"
#include "event_fields.h"
#include "session.h"

#define AT  offsetof(struct fr_rec_sys_path, path)
#define RAW FR_CALL_RAW_ARG

static union {
	struct fr_rec_sys_path rec;
	char byte[AT + FR_CALL_TEXT_MAX + 16];
} r;

/* Make a text of sz bytes in room for `room`; the result must be want, with NULs to the record's end and nothing behind it. */
static void made(const void *from, u32 sz, u32 room, u8 raw, struct fr_secrets *s, const char *want)
{
	u32 i;

	memset(&r, 'x', sizeof(r));
	memset(r.rec.path, 0, room);
	memcpy(r.rec.path, from, sz);
	r.rec.arg = 1 | raw;
	r.rec.cut = raw ? sz : 0;
	fr_calltext_make(&r.rec, AT + room, s);
	assert_int_equal(r.rec.arg, 1);
	assert_true(!raw || !r.rec.cut);
	assert_int_equal(strnlen(r.rec.path, room), strlen(want));
	assert_memory_equal(r.rec.path, want, strlen(want));
	for (i = strlen(want); i < room; i++)
		assert_int_equal(r.rec.path[i], 0);
	assert_int_equal(r.rec.path[room], 'x');
}

#define ADDRESS(bytes, want) made(bytes, sizeof(bytes) - 1, FR_CALL_ADDR_SZ, RAW, NULL, want)
#define PATH(text, s, want)  made(text, sizeof(text), (sizeof(text) + 7) / 8 * 8, 0, s, want)

static void test_addresses(void **state)
{
	char un[112] = "\1";

	(void)state;
	ADDRESS("\2\0\0\x50\x0a\0\0\7", "10.0.0.7:80");
	ADDRESS("\2\0\xff\xff\xff\xff\xff\xff", "255.255.255.255:65535");
	ADDRESS("\x0a\0\0\x50\0\0\0\0\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\7", "[2001:db8::7]:80");
	ADDRESS("\x0a\0\xff\xff\0\0\0\0\x11\x11\x22\x22\x33\x33\x44\x44\x55\x55\x66\x66\x77\x77\x88\x88",
		"[1111:2222:3333:4444:5555:6666:7777:8888]:65535");
	ADDRESS("\1\0/run/db.sock", "/run/db.sock");
	ADDRESS("\1\0\0abs\0tract", "@abs@tract");
	ADDRESS("\1\0\0abs\0\0", "@abs@@"); /* another socket than @abs */
	ADDRESS("\1\0\0", "@");
	ADDRESS("\1\0/run/db.sock\0behind", "/run/db.sock");
	ADDRESS("\1\0", "");
	ADDRESS("\x10\0\0\0\1\2\3\4", "family 16");
	ADDRESS("\xff\xff", "family 65535");
	memset(un + 2, 'p', 108);
	made(un, 110, 112, RAW, NULL, un + 2);
}

/* What the program did not give is not shown as 0. */
static void test_short_addresses(void **state)
{
	(void)state;
	ADDRESS("\2", "1 byte");
	ADDRESS("\2\0", "family 2, 2 bytes");
	ADDRESS("\2\0\x15\x38", "family 2, 4 bytes");
	ADDRESS("\2\0\x15\x38\x0a\0\0", "family 2, 7 bytes");
	ADDRESS("\x0a\0\0\x50\0\0\0\0", "family 10, 8 bytes");
	ADDRESS("\x0a\0\0\x50\0\0\0\0\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0", "family 10, 23 bytes");
	/* no recorder writes less than was given */
	memset(&r, 0, sizeof(r));
	memcpy(r.rec.path, "\2\0\0\x50", 4);
	r.rec.arg = RAW;
	r.rec.cut = 255;
	fr_calltext_make(&r.rec, AT + 8, NULL);
	assert_memory_equal(r.rec.path, "0.0.0.0", 8);
	assert_int_equal(r.rec.cut, 0);
}

static void test_is_addr(void **state)
{
	static const char *const addr[] = {"10.0.0.7:80", "[2001:db8::7]:80",	"[::]:0", "family 16", "family 65535",
					   "1 byte",	  "family 10, 23 bytes"};
	static const char *const name[] = {
		"",	    "/run/db.sock",  "@abs",	      "10.0.0.7",     "10.0.0.7:",	":80",
		"[]:80",    "[2001::7]",     "2001::7:80",    "[x]:80",	      "10.0.0.7:80/x",	"10.0.0.7:8x",
		"family x", "family 16 bob", "family 2, bob", "/10.0.0.7:80", "[2001:db8::7:80"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(addr) / sizeof(addr[0]); i++)
		assert_true(fr_calltext_is_addr(addr[i]));
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		assert_false(fr_calltext_is_addr(name[i]));
}

static void test_paths_stay(void **state)
{
	struct fr_secrets s = {};

	(void)state;
	PATH("/etc/passwd", &s, "/etc/passwd");
	PATH("", &s, "");
	PATH("a b: c\x1b[31m", &s, "a b: c\x1b[31m");
	made("without an end here", 16, 16, 0, &s, "without an end h");
	assert_int_equal(s.cnt, 0);
}

static void test_secrets_go(void **state)
{
	struct fr_secrets s = {.words = "magic"};

	(void)state;
	PATH("/run/x?token=0123456789abcdef", &s, "/run/x?token=[redacted]");
	PATH("ftp://me:hunter2hunter2@host/x", &s, "ftp://me:[redacted]@host/x");
	PATH("/srv/magic=0123456789", &s, "/srv/magic=[redacted]");
	PATH("/srv/-password\thunter2hunter2", &s, "/srv/-password\t[redacted]");
	assert_int_equal(r.rec.cut, 0);
	/* names of sockets, too; addresses, which have a colon, stay */
	made("\1\0\0db?password=hunter2hunter2", 29, FR_CALL_ADDR_SZ, RAW, &s, "@db?password=[redacted]");
	made("\1\0/run/x?token=0123456789abcdef", 31, FR_CALL_ADDR_SZ, RAW, &s, "/run/x?token=[redacted]");
	assert_int_equal(s.cnt, 6);
	made("\x0a\0\0\x50\0\0\0\0\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\7", 24, FR_CALL_ADDR_SZ, RAW, &s, "[2001:db8::7]:80");
	assert_int_equal(s.cnt, 6);
	/* what takes more than its value did leaves less room */
	made("/x?token=a&to=b", 16, 16, 0, &s, "/x?token=[redact");
	assert_int_equal(r.rec.cut, 1);
}

/* Of a record that no recorder writes, nothing but its own bytes is touched, and nothing is kept that was not looked at. */
static void test_sizes_that_cannot_be(void **state)
{
	struct fr_secrets s = {};
	u32 sz, i;

	(void)state;
	for (sz = 0; sz <= AT; sz++) {
		memset(&r, 'x', sizeof(r));
		fr_calltext_make(&r.rec, sz, NULL);
		assert_int_equal(r.rec.path[0], 'x');
	}
	for (i = 0; i < 2; i++) {
		memset(&r, 'x', sizeof(r));
		r.rec.arg = i ? 1 | RAW : 1;
		r.rec.cut = i ? FR_CALL_TEXT_MAX : 0;
		memcpy(r.rec.path, i ? "\1\0/" : "/?secret=", i ? 3 : 9);
		fr_calltext_make(&r.rec, AT + FR_CALL_TEXT_MAX + 8, &s);
		assert_int_equal(r.rec.arg, 1);
		assert_int_equal(r.byte[AT + FR_CALL_TEXT_MAX], 0);
		assert_int_equal(r.byte[AT + FR_CALL_TEXT_MAX + 7], 0);
		assert_int_equal(r.byte[AT + FR_CALL_TEXT_MAX + 8], 'x');
	}
	assert_int_equal(s.cnt, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),  cmocka_unit_test(test_short_addresses),
		cmocka_unit_test(test_is_addr),	   cmocka_unit_test(test_paths_stay),
		cmocka_unit_test(test_secrets_go), cmocka_unit_test(test_sizes_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
