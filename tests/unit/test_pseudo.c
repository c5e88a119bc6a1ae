/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names in texts: what is replaced, by the form of the text, and what stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/pseudo.h"

#define ROOM 1024

static const struct fr_alias_key key = {{1, 2}};

/* Each @NAME@ in text becomes the name's alias. */
static void expect(char *to, const char *text)
{
	const char *end;

	for (; *text; text++) {
		if (*text != '@') {
			*to++ = *text;
			continue;
		}
		end = strchr(text + 1, '@');
		fr_alias_name(&key, text + 1, end - text - 1, to);
		to += FR_ALIAS_LEN;
		text = end;
	}
	*to = 0;
}

static void check(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text, const char *want)
{
	char wanted[ROOM];
	size_t sz;
	const char *got = fr_pseudo_put(p, form, text, strlen(text), &sz);

	assert_non_null(got);
	expect(wanted, want);
	assert_string_equal(got, wanted);
	assert_int_equal(sz, strlen(wanted));
}

static void learn(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text)
{
	assert_int_equal(fr_pseudo_learn(p, form, text, strlen(text)), 0);
}

static void keep(struct fr_pseudo *p, const char *text)
{
	assert_int_equal(fr_pseudo_keep(p, text, strlen(text)), 0);
}

static void names_are_replaced_whole(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	keep(p, "kworker/0:1");
	check(p, FR_PSEUDO_NAME, "Web Content", "@Web Content@");
	check(p, FR_PSEUDO_NAME, "kworker/0:1", "kworker/0:1");
	check(p, FR_PSEUDO_NAME, "4711", "4711");
	check(p, FR_PSEUDO_NAME, "", "");
	fr_pseudo_free(p);
}

static void paths_by_component(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	check(p, FR_PSEUDO_PATH, "/usr/bin/billing", "/usr/bin/@billing@");
	check(p, FR_PSEUDO_PATH, "/srv/a b/x y.dat", "/srv/@a b@/@x y.dat@");
	check(p, FR_PSEUDO_PATH, "run/billing", "run/@billing@");
	check(p, FR_PSEUDO_PATH, "/dev/sda1", "/dev/sda1");
	check(p, FR_PSEUDO_PATH, "/dev/shm/acme", "/dev/shm/@acme@");
	check(p, FR_PSEUDO_PATH, "/proc/12/stat", "/proc/12/stat");
	check(p, FR_PSEUDO_PATH, "/sys/block/sda", "/sys/block/sda");
	check(p, FR_PSEUDO_PATH, "/sys/fs/cgroup/acme", "/sys/@fs@/cgroup/@acme@");
	check(p, FR_PSEUDO_PATH, "/system.slice/billing.service", "/system.slice/@billing@.service");
	check(p, FR_PSEUDO_PATH, "/x/system.slice/..", "/@x@/system.slice/..");
	fr_pseudo_free(p);
}

/* Readers know containers and pods by these forms (container.h). */
static void ids_stay_ids(void **state)
{
	static const char id[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
	struct fr_pseudo *p = fr_pseudo_new(&key);
	char text[ROOM], want[ROOM], other[65];

	(void)state;
	strcpy(other, id);
	fr_alias_hex(&key, other, 64);
	assert_string_not_equal(other, id);
	snprintf(text, sizeof(text), "/system.slice/docker-%s.scope", id);
	snprintf(want, sizeof(want), "/system.slice/docker-%s.scope", other);
	check(p, FR_PSEUDO_PATH, text, want);
	snprintf(text, sizeof(text), "container %s died", id);
	snprintf(want, sizeof(want), "container %s died", other);
	check(p, FR_PSEUDO_TEXT, text, want);
	strcpy(other, "12345678_9abc_def0_1234_56789abcdef0");
	fr_alias_hex(&key, other, strlen(other));
	snprintf(want, sizeof(want), "/kubepods.slice/kubepods-pod%s.slice", other);
	check(p, FR_PSEUDO_PATH, "/kubepods.slice/kubepods-pod12345678_9abc_def0_1234_56789abcdef0.slice", want);
	fr_pseudo_free(p);
}

static void words_of_command_lines(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	keep(p, "crash");
	check(p, FR_PSEUDO_WORDS, "billing --port 8080 --user=alice -v", "@billing@ --port 8080 --user=@alice@ -v");
	check(p, FR_PSEUDO_WORDS, "run /srv/acme/x,y 10ms 1.5G 0x1f", "@run@ /srv/@acme@/@x@,@y@ 10ms 1.5G 0x1f");
	check(p, FR_PSEUDO_WORDS, "bob+db.acme.example:5432,x", "@bob+db.acme.example@:5432,@x@");
	check(p, FR_PSEUDO_WORDS, "--password hunter2 z", "--password [redacted] @z@");
	check(p, FR_PSEUDO_WORDS, "crash billing", "crash @billing@");
	check(p, FR_PSEUDO_WORDS, "\xc3\xa4\xc3\xb6 x", "@\xc3\xa4\xc3\xb6@ @x@");
	assert_int_equal(fr_pseudo_secret_cnt(p), 1);
	fr_pseudo_free(p);
}

static void lines_by_what_is_known(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	learn(p, FR_PSEUDO_NAME, "Web Content");
	learn(p, FR_PSEUDO_NAME, "billing");
	learn(p, FR_PSEUDO_WORDS, "x --user alice --token sesame");
	learn(p, FR_PSEUDO_PATH, "/srv/acme/data");
	check(p, FR_PSEUDO_TEXT, "Killed process 12 (billing) by Web Content.",
	      "Killed process 12 (@billing@) by @Web Content@.");
	check(p, FR_PSEUDO_TEXT, "billings Web Contents, alice; acme:data.", "billings Web Contents, @alice@; @acme@:@data@.");
	check(p, FR_PSEUDO_TEXT, "file /opt/unknown/x is gone", "file /opt/@unknown@/@x@ is gone");
	check(p, FR_PSEUDO_TEXT, "token=sesame x", "token=[redacted] x");
	check(p, FR_PSEUDO_TEXT, "and/or 4/0/0 12:34:56 [1.25] a:b", "and/or 4/0/0 12:34:56 [1.25] a:b");
	fr_pseudo_free(p);
}

/* Where no name has several words. */
static void single_words_are_known(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	learn(p, FR_PSEUDO_NAME, "billing");
	check(p, FR_PSEUDO_TEXT, "Killed process 12 (billing), not billings.", "Killed process 12 (@billing@), not billings.");
	fr_pseudo_free(p);
}

static void addresses_in_texts(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);
	u8 a[4] = {10, 1, 2, 3}, six[16] = {0xfd, [15] = 0x17};
	char want[ROOM];

	(void)state;
	fr_alias_address(&key, a, 4);
	snprintf(want, sizeof(want), "tcp:%u.%u.%u.%u:80-127.0.0.1:4711", a[0], a[1], a[2], a[3]);
	check(p, FR_PSEUDO_OBJECT, "tcp:10.1.2.3:80-127.0.0.1:4711", want);
	snprintf(want, sizeof(want), "from %u.%u.%u.%u.", a[0], a[1], a[2], a[3]);
	check(p, FR_PSEUDO_TEXT, "from 10.1.2.3.", want);
	fr_alias_address(&key, six, 16);
	snprintf(want, sizeof(want), "x [100::%x:%x:%x:%x]:80", six[8] << 8 | six[9], six[10] << 8 | six[11],
		 six[12] << 8 | six[13], six[14] << 8 | six[15]);
	check(p, FR_PSEUDO_TEXT, "x [fd00::17]:80", want);
	check(p, FR_PSEUDO_TEXT, "[::1]:80 1.2.3", "[::1]:80 1.2.3");
	fr_pseudo_free(p);
}

static void objects_by_scheme(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	learn(p, FR_PSEUDO_WORDS, "work ext4 eventpoll wb_workfn");
	check(p, FR_PSEUDO_OBJECT, "ext4:/var/a b/x", "ext4:/var/@a b@/@x@");
	check(p, FR_PSEUDO_OBJECT, "ext4:...ng/path", "ext4:@...ng@/@path@");
	check(p, FR_PSEUDO_OBJECT, "[eventpoll]", "[eventpoll]");
	check(p, FR_PSEUDO_OBJECT, "[memfd:acme x]", "[memfd:@acme x@]");
	check(p, FR_PSEUDO_OBJECT, "work:wb_workfn", "work:wb_workfn");
	check(p, FR_PSEUDO_OBJECT, "unix:/run/acme", "unix:/run/@acme@");
	check(p, FR_PSEUDO_OBJECT, "unix:", "unix:");
	check(p, FR_PSEUDO_OBJECT, "pipe:[12]", "pipe:[12]");
	fr_pseudo_free(p);
}

static void places_have_their_size(void **state)
{
	char place[16] = "sh", small[4] = "abc", want[ROOM];
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	memcpy(place + 8, "left", 4);
	assert_int_equal(fr_pseudo_put_in(p, FR_PSEUDO_NAME, place, sizeof(place), true), 0);
	expect(want, "@sh@");
	assert_string_equal(place, want);
	assert_memory_equal(place + FR_ALIAS_LEN, "\0\0\0\0\0\0\0", 7);
	assert_int_equal(fr_pseudo_put_in(p, FR_PSEUDO_NAME, small, sizeof(small), true), 0);
	expect(want, "@abc@");
	assert_memory_equal(small, want, 3);
	assert_int_equal(small[3], 0);
	fr_pseudo_free(p);
}

static void names_are_counted_once(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	learn(p, FR_PSEUDO_WORDS, "a b c");
	assert_int_equal(fr_pseudo_name_cnt(p), 0);
	check(p, FR_PSEUDO_WORDS, "aa bb aa", "@aa@ @bb@ @aa@");
	check(p, FR_PSEUDO_NAME, "aa", "@aa@");
	assert_int_equal(fr_pseudo_name_cnt(p), 2);
	fr_pseudo_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_replaced_whole),
		cmocka_unit_test(paths_by_component),
		cmocka_unit_test(ids_stay_ids),
		cmocka_unit_test(words_of_command_lines),
		cmocka_unit_test(lines_by_what_is_known),
		cmocka_unit_test(addresses_in_texts),
		cmocka_unit_test(single_words_are_known),
		cmocka_unit_test(objects_by_scheme),
		cmocka_unit_test(places_have_their_size),
		cmocka_unit_test(names_are_counted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
