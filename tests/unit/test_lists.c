/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contents of lists, as a file may hold them: sound ones of this, an older and a later version come back; each lie about a
 * size, an offset or a range is refused, and what just does not lie is taken. Each content is a memory of its exact size, so
 * that the sanitizer sees a byte too many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "read/snapfile/snapfile_format.h"
#include "read/snapfile/snapfile_lists.h"
#include "read/snapfile/snapfile_texts.h"

#define ENTRY_MAX_SZ 4096u

/* A content of entries of entry_sz bytes, each an entry of sz bytes and zeros, or its beginning; then texts. */
static u8 *make(u32 entry_sz, u32 cnt, const void *entry, size_t sz, const void *texts, size_t texts_sz, size_t *content_sz)
{
	struct fr_list_head head = {entry_sz, cnt};
	u8 *content;
	u32 i;

	*content_sz = sizeof(head) + (size_t)entry_sz * cnt + texts_sz;
	content = calloc(1, *content_sz);
	assert_non_null(content);
	memcpy(content, &head, sizeof(head));
	for (i = 0; i < cnt; i++)
		memcpy(content + sizeof(head) + (size_t)i * entry_sz, (const u8 *)entry + i * sz,
		       sz < entry_sz ? sz : entry_sz);
	if (texts_sz)
		memcpy(content + *content_sz - texts_sz, texts, texts_sz);
	return content;
}

/* ---- lists ---- */

static const struct fr_hole_entry holes[] = {
	{.cpu = 1, .tier = 1, .why = FR_HOLE_CNT - 1, .first_seq = 3, .last_seq = 4, .since_ns = 5, .until_ns = 6},
	{.cpu = 2, .tier = 0, .why = FR_HOLE_CNT, .first_seq = 7, .last_seq = 8, .since_ns = 9, .until_ns = 10},
};

/* The check of the holes as entries of this size, with this many bytes more or less than they take. */
static int check_list(u32 entry_sz, int more)
{
	size_t sz, cnt = 99;
	u8 *content = make(entry_sz, 2, holes, sizeof(holes[0]), "", 1, &sz), *exact = malloc(sz - 1 + more);
	int err;

	assert_non_null(exact);
	memcpy(exact, content, more > 0 ? sz : sz - 1 + more);
	err = fr_list_check(exact, sz - 1 + more, &cnt);
	if (!err)
		assert_int_equal(cnt, 2);
	free(exact);
	free(content);
	return err;
}

static void test_lists_are_checked(void **state)
{
	const struct fr_list_head empty = {sizeof(holes[0]), 0};
	size_t cnt = 99;
	u8 *content;

	(void)state;
	assert_int_equal(check_list(sizeof(holes[0]), 0), 0);
	assert_int_equal(check_list(sizeof(holes[0]), 1), -EBADMSG);
	assert_int_equal(check_list(sizeof(holes[0]), -1), -EBADMSG);
	assert_int_equal(check_list(7, 0), -EBADMSG);
	assert_int_equal(check_list(8, 0), 0);
	assert_int_equal(check_list(ENTRY_MAX_SZ, 0), 0);
	assert_int_equal(check_list(ENTRY_MAX_SZ + 1, 0), -EBADMSG);

	assert_int_equal(fr_list_check((const u8 *)&empty, sizeof(empty), &cnt), 0);
	assert_int_equal(cnt, 0);
	content = malloc(sizeof(empty) - 1);
	memcpy(content, &empty, sizeof(empty) - 1);
	assert_int_equal(fr_list_check(content, sizeof(empty) - 1, &cnt), -EBADMSG);
	free(content);
}

/* What it takes to count 2^32 bytes as none: the size is not computed in 32 bits. */
static void test_long_lists_are_refused(void **state)
{
	const struct fr_list_head list = {4096, 1u << 20};
	u8 texts[sizeof(list) + 1] = {};
	size_t cnt, texts_sz;

	(void)state;
	memcpy(texts, &list, sizeof(list));
	assert_int_equal(fr_list_check(texts, sizeof(list), &cnt), -EBADMSG);
	assert_int_equal(fr_text_check(fr_text_kind(FR_CHUNK_SYMBOLS), texts, sizeof(texts), &cnt, &texts_sz), -EBADMSG);
}

/* Entries of an older version are shorter: what they lack is zero. Those of a later one are longer: what is new is skipped. */
static void test_other_versions_are_read(void **state)
{
	static const u32 entry_sz[] = {8, 24, sizeof(holes[0]), sizeof(holes[0]) + 8};
	struct fr_snap_hole h[2];
	size_t sz;
	u32 i, k;

	(void)state;
	for (i = 0; i < sizeof(entry_sz) / sizeof(entry_sz[0]); i++) {
		u8 *content = make(entry_sz[i], 2, holes, sizeof(holes[0]), NULL, 0, &sz);

		memset(h, 0xff, sizeof(h));
		fr_list_items(fr_list_kind(FR_CHUNK_HOLES), content, h);
		for (k = 0; k < 2; k++) {
			bool seqs = entry_sz[i] >= 24, times = entry_sz[i] >= sizeof(holes[0]);

			assert_int_equal(h[k].cpu, holes[k].cpu);
			assert_int_equal(h[k].tier, holes[k].tier);
			assert_int_equal(h[k].first_seq, seqs ? holes[k].first_seq : 0);
			assert_int_equal(h[k].last_seq, seqs ? holes[k].last_seq : 0);
			assert_int_equal(h[k].since_ns, times ? holes[k].since_ns : 0);
			assert_int_equal(h[k].until_ns, times ? holes[k].until_ns : 0);
		}
		assert_int_equal(h[0].why, FR_HOLE_CNT - 1);
		assert_int_equal(h[1].why, FR_HOLE_damaged); /* a reason that this version does not know */
		free(content);
	}
}

static void fill(void *to, size_t sz)
{
	size_t i;

	for (i = 0; i < sz; i++)
		((u8 *)to)[i] = 1 + i % 251;
}

/* Each byte of an entry but those that are reserved is in what the tools read, and so in what they would write. */
static void check_there_and_back(enum fr_chunk_kind kind, const void *entry, size_t sz)
{
	const struct fr_list_kind *k = fr_list_kind(kind);
	u8 item[512], back[512];
	size_t content_sz;
	u8 *content = make(sz, 1, entry, sz, NULL, 0, &content_sz);

	assert_int_equal(k->entry_sz, sz);
	assert_true(k->struct_sz <= sizeof(item) && sz <= sizeof(back));
	memset(item, 0xff, sizeof(item));
	fr_list_items(k, content, item);
	k->to_entry(back, item, NULL);
	assert_memory_equal(back, entry, sz);
	free(content);
}

static void test_entries_come_back_whole(void **state)
{
	struct fr_task_entry task;
	struct fr_ring_entry ring;
	struct fr_hole_entry hole;
	struct fr_clock_entry clock;
	struct fr_incident_entry inc;

	(void)state;
	fill(&task, sizeof(task));
	task.reserved = 0;
	task.comm[FR_COMM_SZ - 1] = task.first_comm[FR_COMM_SZ - 1] = 0;
	check_there_and_back(FR_CHUNK_TASKS, &task, sizeof(task));
	fill(&ring, sizeof(ring));
	ring.reserved0 = 0;
	/* room for reasons of later versions */
	memset(ring.lost + FR_LOST_CNT, 0, sizeof(ring.lost) - FR_LOST_CNT * 8);
	memset(ring.filtered + FR_FILTERED_CNT, 0, sizeof(ring.filtered) - FR_FILTERED_CNT * 8);
	check_there_and_back(FR_CHUNK_RINGS, &ring, sizeof(ring));
	fill(&hole, sizeof(hole));
	hole.reserved = 0;
	hole.why = FR_HOLE_CNT - 1;
	check_there_and_back(FR_CHUNK_HOLES, &hole, sizeof(hole));
	fill(&clock, sizeof(clock));
	check_there_and_back(FR_CHUNK_CLOCKS, &clock, sizeof(clock));
	fill(&inc, sizeof(inc));
	inc.reserved = 0;
	inc.comm[sizeof(inc.comm) - 1] = inc.text[sizeof(inc.text) - 1] = 0;
	check_there_and_back(FR_CHUNK_INCIDENTS, &inc, sizeof(inc));
}

/* Names that fill their room are ended. */
static void test_names_are_ended(void **state)
{
	struct fr_task_entry task = {.tid = 1};
	struct fr_incident_entry inc = {.seq = 1};
	struct fr_snap_task t;
	struct fr_snap_incident i;
	size_t sz;
	u8 *content;

	(void)state;
	memset(task.comm, 'a', sizeof(task.comm));
	memset(task.first_comm, 'b', sizeof(task.first_comm));
	content = make(sizeof(task), 1, &task, sizeof(task), NULL, 0, &sz);
	fr_list_items(fr_list_kind(FR_CHUNK_TASKS), content, &t);
	assert_string_equal(t.task.comm, "aaaaaaaaaaaaaaa");
	assert_string_equal(t.task.first_comm, "bbbbbbbbbbbbbbb");
	free(content);

	memset(inc.comm, 'c', sizeof(inc.comm));
	memset(inc.text, 'd', sizeof(inc.text));
	content = make(sizeof(inc), 1, &inc, sizeof(inc), NULL, 0, &sz);
	fr_list_items(fr_list_kind(FR_CHUNK_INCIDENTS), content, &i);
	assert_int_equal(strnlen(i.rec.comm, sizeof(i.rec.comm)), sizeof(inc.comm) - 1);
	assert_int_equal(strnlen(i.rec.text, sizeof(i.rec.text)), sizeof(inc.text) - 1);
	free(content);
}

/* ---- lists with texts ---- */

static const char texts[] = "\0one\0two"; /* ended by its own zero */

static int check_texts(u32 kind, u32 entry_sz, const void *entry, size_t sz, const void *at, size_t at_sz)
{
	size_t content_sz, cnt = 99, texts_sz = 99;
	u8 *content = make(entry_sz, 1, entry, sz, at, at_sz, &content_sz);
	int err = fr_text_check(fr_text_kind(kind), content, content_sz, &cnt, &texts_sz);

	if (!err) {
		assert_int_equal(cnt, 1);
		assert_int_equal(texts_sz, at_sz);
	}
	free(content);
	return err;
}

static int check_mapping(struct fr_mapping_entry e)
{
	return check_texts(FR_CHUNK_MAPPINGS, sizeof(e), &e, sizeof(e), texts, sizeof(texts));
}

static int check_symbol(struct fr_symbol_entry e)
{
	return check_texts(FR_CHUNK_SYMBOLS, sizeof(e), &e, sizeof(e), texts, sizeof(texts));
}

static void test_mappings_are_checked(void **state)
{
	struct fr_mapping_entry good = {.pid = 1, .path = 5, .begin = 0x1000, .end = 0x2000, .build_id_sz = 20}, e = good;

	(void)state;
	assert_int_equal(check_mapping(good), 0);
	e.path = sizeof(texts) - 1; /* the zero at the end is an empty text */
	assert_int_equal(check_mapping(e), 0);
	e.path = sizeof(texts);
	assert_int_equal(check_mapping(e), -EBADMSG);
	e = good;
	e.build_id_sz = 21;
	assert_int_equal(check_mapping(e), -EBADMSG);
	e = good;
	e.end = e.begin;
	assert_int_equal(check_mapping(e), -EBADMSG);
	e.end = e.begin + 1;
	assert_int_equal(check_mapping(e), 0);
	e = good;
	e.file_off = ~0ULL - 0x1000; /* the end of the mapping is still an offset */
	assert_int_equal(check_mapping(e), 0);
	e.file_off++;
	assert_int_equal(check_mapping(e), -EBADMSG);
}

static void test_symbols_are_checked(void **state)
{
	struct fr_symbol_entry good = {.name = 1, .addr = 0x1000, .sz = 16, .module = 5}, e = good;

	(void)state;
	assert_int_equal(check_symbol(good), 0);
	e.module = 0;
	assert_int_equal(check_symbol(e), 0);
	e.module = sizeof(texts);
	assert_int_equal(check_symbol(e), -EBADMSG);
	e = good;
	e.name = 0; /* a symbol has a name */
	assert_int_equal(check_symbol(e), -EBADMSG);
	e.name = sizeof(texts);
	assert_int_equal(check_symbol(e), -EBADMSG);
	e.name = sizeof(texts) - 1; /* not an empty one, either */
	assert_int_equal(check_symbol(e), -EBADMSG);
	e.name--;
	assert_int_equal(check_symbol(e), 0);
	e = good;
	e.sz = ~0ULL - e.addr;
	assert_int_equal(check_symbol(e), 0);
	e.sz++;
	assert_int_equal(check_symbol(e), -EBADMSG);
}

static int check_state(struct fr_state_entry e)
{
	return check_texts(FR_CHUNK_STATES, sizeof(e), &e, sizeof(e), texts, sizeof(texts));
}

/* Each range of format.md: its last good value, and the first bad one. */
static void test_states_are_checked(void **state)
{
	const struct fr_state_entry good = {
		.tid = 1, .object = 5, .at_ns = 100, .since_ns = 90, .woken_ns = 80, .in = 0, .id = 7};
	struct fr_state_entry e;

	(void)state;
	assert_int_equal(check_state(good), 0);
#define IS(member, value, result)                           \
	do {                                                \
		e = good;                                   \
		e.member = (value);                         \
		assert_int_equal(check_state(e), (result)); \
	} while (0)
	IS(tid, 0, -EBADMSG);
	IS(tid, FR_TID_MASK, 0);
	IS(tid, FR_TID_MASK + 1, -EBADMSG);
	IS(object, sizeof(texts) - 1, 0);
	IS(object, sizeof(texts), -EBADMSG);
	IS(since_ns, 100, 0);
	IS(since_ns, 101, -EBADMSG);
	IS(woken_ns, 100, 0);
	IS(woken_ns, 101, -EBADMSG);
	IS(waker_tid, FR_TID_MASK, 0);
	IS(waker_tid, FR_TID_MASK + 1, -EBADMSG);
	IS(state, 0x80, 0);
	IS(state, 0x81, -EBADMSG);
	IS(state, 0x100, -EBADMSG);
	IS(abi, 1, 0);
	IS(abi, 2, -EBADMSG);
	IS(waker, 5, 0);
	IS(waker, 6, -EBADMSG);
	/* a number of a call if and only if it is in one */
	IS(id, -1, -EBADMSG);
	IS(in, 2, -EBADMSG);
	e = good;
	e.id = -1;
	e.in = 2;
	assert_int_equal(check_state(e), 0);
	e.in = 3;
	assert_int_equal(check_state(e), -EBADMSG);
	e.in = 255;
	assert_int_equal(check_state(e), 0);
	e.id = -2;
	assert_int_equal(check_state(e), -EBADMSG);
#undef IS
}

/* The first text is empty, the last one is ended, and there is at least the first. */
static void test_texts_are_checked(void **state)
{
	const struct fr_symbol_entry e = {.name = 1, .sz = 1};
	const struct fr_mapping_entry nameless = {.end = 1};
	const struct fr_list_head none = {sizeof(e), 0};
	size_t cnt, texts_sz;

	(void)state;
	assert_int_equal(check_texts(FR_CHUNK_SYMBOLS, sizeof(e), &e, sizeof(e), "xone", 5), -EBADMSG);
	assert_int_equal(check_texts(FR_CHUNK_SYMBOLS, sizeof(e), &e, sizeof(e), "\0one", 4), -EBADMSG);
	assert_int_equal(check_texts(FR_CHUNK_SYMBOLS, sizeof(e), &e, sizeof(e), "\0one", 5), 0);
	assert_int_equal(check_texts(FR_CHUNK_MAPPINGS, sizeof(nameless), &nameless, sizeof(nameless), "", 1), 0);
	assert_int_equal(check_texts(FR_CHUNK_MAPPINGS, sizeof(nameless), &nameless, sizeof(nameless), NULL, 0), -EBADMSG);
	assert_int_equal(fr_text_check(fr_text_kind(FR_CHUNK_SYMBOLS), (const u8 *)&none, sizeof(none), &cnt, &texts_sz),
			 -EBADMSG);
	assert_int_equal(fr_text_check(fr_text_kind(FR_CHUNK_SYMBOLS), (const u8 *)&none, sizeof(none) - 1, &cnt, &texts_sz),
			 -EBADMSG);

	/* entries of other versions: down to what a valid one needs */
	assert_int_equal(check_texts(FR_CHUNK_SYMBOLS, 24, &e, sizeof(e), "\0one", 5), 0);
	assert_int_equal(check_texts(FR_CHUNK_SYMBOLS, 23, &e, sizeof(e), "\0one", 5), -EBADMSG);
	assert_int_equal(check_texts(FR_CHUNK_SYMBOLS, ENTRY_MAX_SZ, &e, sizeof(e), "\0one", 5), 0);
	assert_int_equal(check_texts(FR_CHUNK_SYMBOLS, ENTRY_MAX_SZ + 1, &e, sizeof(e), "\0one", 5), -EBADMSG);
}

/* What is written is read; what does not fit is left for the next chunk, and what just fits is not. */
static void test_symbols_fill_a_chunk(void **state)
{
	static const struct fr_snap_symbol y[] = {{5, 0x2000, 8, "bb", "mod"}, {5, 0x1000, 16, "a", NULL}};
	const struct fr_text_kind *k = fr_text_kind(FR_CHUNK_SYMBOLS);
	const size_t one_sz = sizeof(struct fr_list_head) + sizeof(struct fr_symbol_entry) + sizeof("\0bb\0mod");
	const size_t both_sz = one_sz + sizeof(struct fr_symbol_entry) + sizeof("a");
	struct fr_snap_symbol got[2];
	u8 *buf = malloc(both_sz);
	size_t sz, cnt, texts_sz;

	(void)state;
	assert_int_equal(fr_text_write(k, y, 2, buf, both_sz - 1, &sz), 1);
	assert_int_equal(sz, one_sz);
	assert_int_equal(fr_text_check(k, buf, sz, &cnt, &texts_sz), 0);
	assert_int_equal(cnt, 1);
	assert_int_equal(fr_text_write(k, y, 2, buf, both_sz, &sz), 2);
	assert_int_equal(sz, both_sz);
	assert_int_equal(fr_text_check(k, buf, sz, &cnt, &texts_sz), 0);
	assert_int_equal(cnt, 2);
	fr_text_items(k, buf, (const char *)buf + sz - texts_sz, got);
	fr_text_sort(k, got, 2);
	assert_string_equal(got[0].name, "a");
	assert_null(got[0].module);
	assert_int_equal(got[0].addr, 0x1000);
	assert_string_equal(got[1].name, "bb");
	assert_string_equal(got[1].module, "mod");
	assert_int_equal(got[1].pid, 5);
	assert_int_equal(got[1].sz, 8);
	free(buf);
}

/* All of a mapping; it sorts behind that of another process at a higher address. */
static void test_mappings_come_back_whole(void **state)
{
	struct fr_snap_mapping m[2] = {
		{.pid = 7,
		 .begin = 0x1000,
		 .end = 0x3000,
		 .file_off = 0x500,
		 .path = "/bin/seven",
		 .build_id = {1, 2, 3},
		 .build_id_sz = FR_BUILD_ID_MAX,
		 .deleted = 1},
		{.pid = 6, .begin = 0x9000, .end = 0xa000, .path = ""},
	};
	const struct fr_text_kind *k = fr_text_kind(FR_CHUNK_MAPPINGS);
	struct fr_snap_mapping got[2];
	size_t sz, cnt, texts_sz;
	u8 buf[1024];

	(void)state;
	m[0].build_id[FR_BUILD_ID_MAX - 1] = 20;
	memset(buf, 0xff, sizeof(buf)); /* a writer's memory holds what was written before */
	assert_int_equal(fr_text_write(k, m, 2, buf, sizeof(buf), &sz), 2);
	assert_int_equal(fr_text_check(k, buf, sz, &cnt, &texts_sz), 0);
	fr_text_items(k, buf, (const char *)buf + sz - texts_sz, got);
	fr_text_sort(k, got, 2);
	assert_int_equal(got[0].pid, 6);
	assert_string_equal(got[0].path, "");
	assert_int_equal(got[0].build_id_sz, 0);
	assert_int_equal(got[0].deleted, 0);
	assert_int_equal(got[1].pid, 7);
	assert_int_equal(got[1].begin, 0x1000);
	assert_int_equal(got[1].end, 0x3000);
	assert_int_equal(got[1].file_off, 0x500);
	assert_string_equal(got[1].path, "/bin/seven");
	assert_int_equal(got[1].build_id_sz, FR_BUILD_ID_MAX);
	assert_memory_equal(got[1].build_id, m[0].build_id, FR_BUILD_ID_MAX);
	assert_int_equal(got[1].deleted, 1);
}

/* All of a state; they sort by task, then by time. */
static void test_states_come_back_whole(void **state)
{
	const struct fr_snap_state s[3] = {
		{.tid = 9, .at_ns = 50, .id = -1, .in = 255, .object = NULL},
		{.tid = 7,
		 .start_ns = 11,
		 .at_ns = 60,
		 .since_ns = 13,
		 .woken_ns = 14,
		 .kstack_id = 15,
		 .cgroup = 16,
		 .arg = {21, 22, 23, 24, 25, 26},
		 .id = 202,
		 .waker_tid = 17,
		 .prio = -1,
		 .state = 2,
		 .cpu = 18,
		 .abi = 1,
		 .waker = 5,
		 .policy = 6,
		 .flags = 3,
		 .object = "pipe:[7]"},
		{.tid = 7, .at_ns = 40, .id = -1, .in = 2, .object = ""},
	};
	const struct fr_text_kind *k = fr_text_kind(FR_CHUNK_STATES);
	struct fr_snap_state got[3];
	size_t sz, cnt, texts_sz;
	u8 buf[1024];

	(void)state;
	memset(buf, 0xff, sizeof(buf));
	assert_int_equal(fr_text_write(k, s, 3, buf, sizeof(buf), &sz), 3);
	assert_int_equal(fr_text_check(k, buf, sz, &cnt, &texts_sz), 0);
	fr_text_items(k, buf, (const char *)buf + sz - texts_sz, got);
	fr_text_sort(k, got, 3);
	assert_int_equal(got[0].at_ns, 40);
	assert_int_equal(got[2].tid, 9);
	assert_string_equal(got[2].object, "");
	assert_string_equal(got[1].object, "pipe:[7]");
	got[1].object = s[1].object;
	assert_memory_equal(&got[1], &s[1], sizeof(got[1]));
}

static int check_klog(struct fr_klog_entry e)
{
	return check_texts(FR_CHUNK_KLOG, sizeof(e), &e, sizeof(e), texts, sizeof(texts));
}

static void test_records_are_checked(void **state)
{
	const struct fr_klog_entry good = {
		.seq = 1, .ts = ~0ULL, .uncertainty_ns = ~0ULL, .text = 5, .facility = 0xffff, .level = 7};
	struct fr_klog_entry e = good;

	(void)state;
	assert_int_equal(check_klog(good), 0);
	e.level = 8;
	assert_int_equal(check_klog(e), -EBADMSG);
	e = good;
	e.text = sizeof(texts) - 1;
	assert_int_equal(check_klog(e), 0);
	e.text++;
	assert_int_equal(check_klog(e), -EBADMSG);
}

/* They sort by time, then by number. */
static void test_records_come_back_whole(void **state)
{
	const struct fr_snap_klog l[3] = {
		{.seq = 9, .ts = 50, .text = ""},
		{.seq = 8, .ts = 50, .uncertainty_ns = 1, .stamp_ns = 2, .facility = 3, .level = 4, .flags = 1, .text = "a\nb"},
		{.seq = 10, .ts = 40, .uncertainty_ns = FR_KLOG_UNJOINED, .text = "x"},
	};
	const struct fr_text_kind *k = fr_text_kind(FR_CHUNK_KLOG);
	struct fr_snap_klog got[3];
	size_t sz, cnt, texts_sz;
	u8 buf[1024];

	(void)state;
	assert_int_equal(fr_text_write(k, l, 3, buf, sizeof(buf), &sz), 3);
	assert_int_equal(fr_text_check(k, buf, sz, &cnt, &texts_sz), 0);
	fr_text_items(k, buf, (const char *)buf + sz - texts_sz, got);
	fr_text_sort(k, got, 3);
	assert_int_equal(got[0].seq, 10);
	assert_int_equal(got[2].seq, 9);
	assert_string_equal(got[1].text, "a\nb");
	assert_true(got[1].seq == 8 && got[1].ts == 50 && got[1].uncertainty_ns == 1 && got[1].stamp_ns == 2);
	assert_true(got[1].facility == 3 && got[1].level == 4 && got[1].flags == 1);
	assert_true(got[0].uncertainty_ns == FR_KLOG_UNJOINED);
}

static int check_scene(struct fr_scene_entry e)
{
	return check_texts(FR_CHUNK_SCENES, sizeof(e), &e, sizeof(e), texts, sizeof(texts));
}

/* Who died is a task; what it had has a number that is possible. What a later version has is let pass. */
static void test_things_are_checked(void **state)
{
	const struct fr_scene_entry good = {.tid = 7, .text = 5, .what = FR_SCENE_descriptor, .number = 1u << 31};
	struct fr_scene_entry e = good;

	(void)state;
	assert_int_equal(check_scene(good), 0);
	e.number++;
	assert_int_equal(check_scene(e), -EBADMSG);
	e.what = 200;
	assert_int_equal(check_scene(e), 0);
	e.what = 0;
	assert_int_equal(check_scene(e), -EBADMSG);
	e = good;
	e.what = FR_SCENE_limit;
	assert_int_equal(check_scene(e), -EBADMSG);
	e.number = FR_SCENE_LIMIT_MOST;
	assert_int_equal(check_scene(e), 0);
	e.number++;
	assert_int_equal(check_scene(e), -EBADMSG);
	e = good;
	e.what = FR_SCENE_mapping;
	e.number = ~0ULL - 1;
	e.value[0] = ~0ULL;
	assert_int_equal(check_scene(e), 0);
	e.number++;
	assert_int_equal(check_scene(e), -EBADMSG);
	e = good;
	e.what = FR_SCENE_thread;
	e.number = FR_TID_MASK;
	e.value[0] = 1ULL << 32 | 4 << 16 | 2;
	assert_int_equal(check_scene(e), 0);
	e.value[0]++;
	assert_int_equal(check_scene(e), -EBADMSG);
	e.value[0]--;
	e.number++;
	assert_int_equal(check_scene(e), -EBADMSG);
	e.number = 0;
	assert_int_equal(check_scene(e), -EBADMSG);
	e = good;
	e.what = FR_SCENE_frame;
	e.number = (u64)FR_TID_MASK << FR_SCENE_FRAME_BITS | 255;
	assert_int_equal(check_scene(e), 0);
	e.number++;
	assert_int_equal(check_scene(e), -EBADMSG);
	e.number = 255;
	assert_int_equal(check_scene(e), -EBADMSG);
	e = good;
	e.what = FR_SCENE_mappings;
	e.number++;
	assert_int_equal(check_scene(e), -EBADMSG);
	e = good;
	e.tid = 0;
	assert_int_equal(check_scene(e), -EBADMSG);
	e.tid = FR_TID_MASK + 1;
	assert_int_equal(check_scene(e), -EBADMSG);
	e = good;
	e.text = sizeof(texts);
	assert_int_equal(check_scene(e), -EBADMSG);
}

/* They sort by death, then by what they are, then by number. */
static void test_things_come_back_whole(void **state)
{
	const struct fr_snap_scene n[4] = {
		{.tid = 9, .start_ns = 1, .at_ns = 5, .what = FR_SCENE_descriptors, .number = 3, .text = ""},
		{.tid = 9,
		 .start_ns = 1,
		 .at_ns = 5,
		 .what = FR_SCENE_descriptor,
		 .number = 4,
		 .value = {2, 3, 4},
		 .text = "pipe:[7]"},
		{.tid = 9, .start_ns = 1, .at_ns = 5, .what = FR_SCENE_descriptor, .number = 3, .text = ""},
		{.tid = 8, .start_ns = 2, .at_ns = 6, .what = FR_SCENE_limit, .number = 63, .value = {~0ULL}, .text = ""},
	};
	const struct fr_text_kind *k = fr_text_kind(FR_CHUNK_SCENES);
	struct fr_snap_scene got[4];
	size_t sz, cnt, texts_sz;
	u8 buf[1024];

	(void)state;
	assert_int_equal(fr_text_write(k, n, 4, buf, sizeof(buf), &sz), 4);
	assert_int_equal(fr_text_check(k, buf, sz, &cnt, &texts_sz), 0);
	fr_text_items(k, buf, (const char *)buf + sz - texts_sz, got);
	fr_text_sort(k, got, 4);
	assert_int_equal(got[0].tid, 8);
	assert_true(got[0].value[0] == ~0ULL && got[0].start_ns == 2);
	assert_int_equal(got[1].number, 3);
	assert_int_equal(got[3].what, FR_SCENE_descriptors);
	assert_string_equal(got[2].text, "pipe:[7]");
	assert_true(got[2].number == 4 && got[2].value[0] == 2 && got[2].value[1] == 3 && got[2].value[2] == 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_things_are_checked),	cmocka_unit_test(test_things_come_back_whole),
		cmocka_unit_test(test_lists_are_checked),	cmocka_unit_test(test_long_lists_are_refused),
		cmocka_unit_test(test_other_versions_are_read), cmocka_unit_test(test_entries_come_back_whole),
		cmocka_unit_test(test_names_are_ended),		cmocka_unit_test(test_mappings_are_checked),
		cmocka_unit_test(test_symbols_are_checked),	cmocka_unit_test(test_texts_are_checked),
		cmocka_unit_test(test_symbols_fill_a_chunk),	cmocka_unit_test(test_mappings_come_back_whole),
		cmocka_unit_test(test_states_are_checked),	cmocka_unit_test(test_states_come_back_whole),
		cmocka_unit_test(test_records_are_checked),	cmocka_unit_test(test_records_come_back_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
