/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records of the incident log as lines and back, in words, and as sets of which each is there once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/incident.h"

static u64 rnd(u64 *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33 ^ *seed << 31;
}

/* Texts of any bytes but NUL, of any length up to all there is room for. */
static void make_text(u64 *seed, char *to, size_t sz)
{
	size_t len = rnd(seed) % (sz + 1), i;

	for (i = 0; i < len; i++)
		to[i] = rnd(seed) % 4 ? ' ' + rnd(seed) % 95 : 1 + rnd(seed) % 255;
}

static struct fr_incident_item make_item(u64 *seed)
{
	static const s32 ints[] = {0, 1, -1, 11, INT_MAX, INT_MIN};
	struct fr_incident_item item = {.epoch = rnd(seed), .seq = rnd(seed) >> 1, .wall_ns = rnd(seed)};
	struct fr_incident *r = &item.rec;

	snprintf(item.boot, sizeof(item.boot), "%08x-0000-0000-0000-000000000000", (u32)rnd(seed));
	snprintf(item.session, sizeof(item.session), "s%u", (u32)rnd(seed));
	*r = (struct fr_incident){.ts = rnd(seed), .addr = rnd(seed), .ip = rnd(seed), .value = rnd(seed), .count = rnd(seed)};
	r->done = item.seq + 1;
	r->cgroup = rnd(seed);
	r->start_ns = rnd(seed);
	r->kind = 1 + rnd(seed) % (FR_INCIDENT_KIND_END - 1);
	r->cpu = rnd(seed);
	r->pid = rnd(seed);
	r->tid = rnd(seed);
	r->uid = rnd(seed) % 2 ? ~0u : (u32)rnd(seed);
	r->sig = ints[rnd(seed) % 6];
	r->code = ints[rnd(seed) % 6];
	r->flags = rnd(seed);
	make_text(seed, r->comm, sizeof(r->comm) - 1);
	r->value *= r->kind != FR_INCIDENT_signal || rnd(seed) % 2; /* not each signal has a sender */
	if (fr_incident_sender(r))
		make_text(seed, r->text + FR_INCIDENT_SENDER_AT, FR_COMM_SZ - 1);
	make_text(seed, r->text, (fr_incident_sender(r) ? FR_INCIDENT_SENDER_AT : sizeof(r->text)) - 1);
	return item;
}

static char *line_of(const struct fr_incident_item *item, size_t *sz)
{
	struct fr_out *o = malloc(sizeof(*o));
	char *text;

	fr_out_init_mem(o);
	fr_incident_json(o, item);
	text = fr_out_take_mem(o, sz);
	free(o);
	assert_non_null(text);
	return text;
}

/* Of a copy that ends where the text ends. */
static int parse(const char *text, size_t sz, struct fr_incident_item *item)
{
	char *copy = malloc(sz ?: 1);
	int err;

	memcpy(copy, text, sz);
	err = fr_incident_parse(copy, sz, item);
	free(copy);
	return err;
}

static void test_way_and_back(void **state)
{
	struct fr_incident_item item, back;
	u64 seed = 1;
	size_t sz;
	char *text;
	int i;

	(void)state;
	for (i = 0; i < 2000; i++) {
		item = make_item(&seed);
		text = line_of(&item, &sz);
		assert_true(sz <= FR_INCIDENT_LINE_MAX);
		assert_int_equal(parse(text, sz, &back), 0);
		assert_string_equal(back.boot, item.boot);
		assert_string_equal(back.session, item.session);
		assert_true(back.epoch == item.epoch && back.seq == item.seq && back.wall_ns == item.wall_ns);
		item.rec.flags &= FR_INCIDENT_FLAGS; /* the rest is no flag */
		assert_memory_equal(&back.rec, &item.rec, sizeof(item.rec));
		free(text);
	}
}

/* What a kill left of a line is none; nor is anything else. */
static void test_refuses(void **state)
{
	static const char *const bad[] = {"{}",
					  "[]",
					  "null",
					  "{\"seq\":1}",
					  "{\"kind\":\"oom\"}",
					  "{\"seq\":1,\"kind\":\"oom\"",
					  "x",
					  "{\"seq\":1,\"kind\":\"oom\",\"a\":{}}",
					  "{\"seq\":1,\"seq\":2,\"kind\":\"oom\"}"};
	struct fr_incident_item item;
	char *text, *big;
	u64 seed = 2;
	size_t sz, i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i], strlen(bad[i]), &item), -EINVAL);
	item = make_item(&seed);
	text = line_of(&item, &sz);
	for (i = 0; i < sz; i++)
		assert_int_equal(parse(text, i, &item), -EINVAL);
	big = malloc(FR_INCIDENT_LINE_MAX + 1);
	memset(big, ' ', FR_INCIDENT_LINE_MAX + 1);
	memcpy(big, text, sz);
	assert_int_equal(parse(big, FR_INCIDENT_LINE_MAX, &item), 0);
	assert_int_equal(parse(big, FR_INCIDENT_LINE_MAX + 1, &item), -EINVAL);
	free(big);
	free(text);
}

/* A later version's: its kinds and members are not known here. Values that cannot be are not taken for others. */
static void test_later(void **state)
{
	static const char later[] =
		"{\"seq\":7,\"kind\":\"comet\",\"tail\":\"long\",\"sig\":\"x\",\"comm\":3,\"code\":-2147483648}";
	struct fr_incident_item item;

	(void)state;
	assert_int_equal(parse(later, sizeof(later) - 1, &item), 0);
	assert_int_equal(item.seq, 7);
	assert_int_equal(item.rec.kind, 0);
	assert_string_equal(fr_incident_kind(item.rec.kind), "unknown");
	assert_int_equal(item.rec.sig, 0);
	assert_int_equal(item.rec.code, INT_MIN);
	assert_string_equal(item.rec.comm, "");
	assert_int_equal(item.rec.count, 1);
	assert_true(item.rec.uid == ~0u);
}

static void expect_words(const struct fr_incident *r, const char *want)
{
	struct fr_out *o = malloc(sizeof(*o));
	size_t sz;
	char *got;

	fr_out_init_mem(o);
	fr_incident_words(o, r);
	got = fr_out_take_mem(o, &sz);
	free(o);
	assert_int_equal(sz, strlen(want));
	assert_memory_equal(got ?: "", want, sz);
	free(got);
}

static void test_words(void **state)
{
	static const struct {
		struct fr_incident rec;
		const char *want;
	} known[] = {
		{{.kind = FR_INCIDENT_signal, .sig = 11, .addr = 16, .ip = 32, .text = "bin/x"},
		 "SIGSEGV at 0x10, ip 0x20, bin/x"},
		{{.kind = FR_INCIDENT_signal, .sig = 11, .code = 1, .ip = 32}, "SIGSEGV at 0x0, ip 0x20"},
		{{.kind = FR_INCIDENT_signal, .sig = 11, .code = 1}, "SIGSEGV at 0x0, ip 0x0"},
		{{.kind = FR_INCIDENT_signal, .sig = 11, .code = 128, .ip = 32}, "SIGSEGV SI_KERNEL, ip 0x20"},
		{{.kind = FR_INCIDENT_signal, .sig = 6, .code = -6, .ip = 32}, "SIGABRT SI_TKILL, ip 0x20"},
		{{.kind = FR_INCIDENT_signal, .sig = 99}, "signal 99"},
		{{.kind = FR_INCIDENT_oom, .text = "a"}, "chosen to be killed, a"},
		{{.kind = FR_INCIDENT_mce, .code = 3, .value = 255, .addr = 1}, "bank 3, status 0xff, address 0x1"},
		{{.kind = FR_INCIDENT_hung, .code = 2, .value = 5000000000}, "in D for 5.00 s"},
		{{.kind = FR_INCIDENT_hung}, "waits for a CPU"},
		{{.kind = FR_INCIDENT_signal,
		  .sig = 6,
		  .value = 2500000000,
		  .count = 40,
		  .flags = FR_INCIDENT_SUM,
		  .text = "bin/x"},
		 "SIGABRT, bin/x, 40 more in 2.50 s"},
		{{.kind = FR_INCIDENT_signal, .sig = 6, .count = 1, .flags = FR_INCIDENT_SUM}, "SIGABRT, 1 more"},
		{{.kind = FR_INCIDENT_oom, .value = 1000000, .count = 2, .flags = FR_INCIDENT_SUM, .text = "a"},
		 "chosen to be killed, a, 2 more in 1 ms"},
		{{.kind = FR_INCIDENT_squeezed,
		  .uid = 1000,
		  .value = 3000000000,
		  .count = 930,
		  .code = FR_INCIDENT_signal,
		  .flags = FR_INCIDENT_SUM},
		 "930 signal of user 1000 beyond the share, in 3.00 s"},
		{{.kind = FR_INCIDENT_squeezed, .uid = FR_SQUEEZED_ANY, .count = 2, .code = FR_INCIDENT_hung},
		 "2 hung of several users beyond the share"},
		{{.kind = FR_INCIDENT_trigger, .code = 0, .text = "crash", .count = 3}, "taken: crash, 3 times"},
		{{.kind = FR_INCIDENT_trigger, .code = -1}, "?"},
		{{.kind = FR_INCIDENT_loss, .count = 4, .cpu = 1, .code = 0xffff}, "4 lost so far on CPU 1, tier ?: ?"},
		{{.kind = FR_INCIDENT_snapshot, .code = -28}, "not written: ENOSPC"},
		{{.kind = FR_INCIDENT_kernel, .text = "a\033b"}, "a\\x1bb"},
		{{.kind = 0}, ""},
	};
	struct fr_incident sent = {.kind = FR_INCIDENT_signal, .sig = 9, .value = 7};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		expect_words(&known[i].rec, known[i].want);
	/* only a signal's value is a sender, whose name may fill its place, and the path its own */
	strcpy(sent.text + FR_INCIDENT_SENDER_AT, "s\033s");
	expect_words(&sent, "SIGKILL, sent by s\\x1bs (7)");
	memset(sent.text, 'p', sizeof(sent.text));
	memset(sent.text + FR_INCIDENT_SENDER_AT, 's', FR_COMM_SZ);
	fr_incident_tidy(&sent);
	assert_int_equal(strlen(sent.text), FR_INCIDENT_SENDER_AT - 1);
	sent.text[3] = 0;
	expect_words(&sent, "SIGKILL, ppp, sent by sssssssssssssss (7)");
	sent.kind = FR_INCIDENT_oom;
	assert_null(fr_incident_sender(&sent));
	for (i = 1; i < FR_INCIDENT_KIND_END; i++)
		assert_int_equal(fr_incident_kind_find(fr_incident_kind(i)), i);
	assert_int_equal(fr_incident_kind_find("unknown"), 0);
}

/* Of many: their number, and since when; a sum's value is no sender, and a single one's flag of a sum no sum, where there are
 * none. */
static void test_sums(void **state)
{
	struct fr_incident r = {.kind = FR_INCIDENT_signal, .ts = 1000, .value = 400, .count = 7};

	(void)state;
	assert_int_equal(fr_incident_weight(&r), 1);
	assert_non_null(fr_incident_sender(&r));
	r.flags = FR_INCIDENT_SUM;
	assert_int_equal(fr_incident_weight(&r), 7);
	assert_int_equal(fr_incident_first_ts(&r), 600);
	assert_null(fr_incident_sender(&r));
	r.value = 5000; /* longer than the clock runs: whoever wrote that */
	assert_int_equal(fr_incident_first_ts(&r), 0);
	r.kind = FR_INCIDENT_loss;
	assert_int_equal(fr_incident_weight(&r), 1);
	assert_int_equal(fr_incident_first_ts(&r), 1000);
}

/* A path may hold a newline, and is shown whole. Of a report only its first line is meant. */
static void test_tidy(void **state)
{
	struct fr_incident path = {.kind = FR_INCIDENT_oom, .flags = 0xabcdef01, .text = "a\nb/c\td\n"}, line = path;

	(void)state;
	fr_incident_tidy(&path);
	assert_int_equal(path.flags, 0xabcdef01 & FR_INCIDENT_FLAGS);
	expect_words(&path, "chosen to be killed, a\\x0ab/c\\x09d\\x0a");
	line.kind = FR_INCIDENT_kernel;
	fr_incident_tidy(&line);
	expect_words(&line, "a");
	memset(path.comm, 'x', sizeof(path.comm));
	memset(path.text, 'x', sizeof(path.text));
	fr_incident_tidy(&path);
	assert_int_equal(strlen(path.comm), sizeof(path.comm) - 1);
	assert_int_equal(strlen(path.text), sizeof(path.text) - 1);
}

/* The same record from the log and from the journal is one; another epoch's or boot's of that number is not. By time. */
static void test_unique(void **state)
{
	struct fr_incident_item item[] = {
		{.boot = "b", .epoch = 1, .seq = 2, .wall_ns = 30}, {.boot = "b", .epoch = 1, .seq = 1, .wall_ns = 40},
		{.boot = "b", .epoch = 1, .seq = 2, .wall_ns = 31}, {.boot = "b", .epoch = 2, .seq = 2, .wall_ns = 10},
		{.boot = "a", .epoch = 1, .seq = 2, .wall_ns = 20}, {.boot = "a", .epoch = 1, .seq = 2, .wall_ns = 20},
	};
	u64 want[] = {10, 20, 0, 40}, i;

	(void)state;
	assert_int_equal(fr_incident_unique(item, 6), 4);
	for (i = 0; i < 4; i++)
		assert_true(item[i].wall_ns == want[i] || (i == 2 && item[i].wall_ns / 2 == 15));
	assert_int_equal(fr_incident_unique(NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_way_and_back), cmocka_unit_test(test_refuses), cmocka_unit_test(test_later),
		cmocka_unit_test(test_words),	     cmocka_unit_test(test_sums),    cmocka_unit_test(test_tidy),
		cmocka_unit_test(test_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
