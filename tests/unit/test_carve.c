/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What pages are of, by their bytes alone: those of sessions are found, and among any others no more than what looks like one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/pages.h"
#include "read/vmcore/carve.h"

#define EPOCH	   0xabcd1234u
#define ELEMENT_SZ (sizeof(struct fr_task_key) + sizeof(struct fr_task))
#define AT_MOST	   (FR_PAGE_SZ - ELEMENT_SZ) /* where the last element of a page may begin */

/* A page as any of its kinds. */
union page {
	struct fr_page_head head;
	struct fr_slots slots;
	struct fr_writer writer;
	struct fr_session session;
	struct fr_text_page text;
	struct fr_incident_head log;
	struct fr_incident incident[FR_PAGE_SZ / FR_INCIDENT_SZ];
	u8 byte[FR_PAGE_SZ];
	u64 word[FR_PAGE_SZ / 8];
};

static u64 seed = 88172645463325252ULL;

static u64 any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1dULL;
}

static void look(struct fr_carved *c, u64 place, const union page *p)
{
	assert_int_equal(fr_carve_page(c, place, p), 0);
}

static size_t all_of(const struct fr_carved *c)
{
	return c->page_cnt + c->writer_cnt + c->slots_cnt + c->session_cnt + c->text_cnt + c->task_cnt + c->log_cnt +
	       c->incident_cnt;
}

/* ---- pages ---- */

static void each_kind_of_page_is_found(void **state)
{
	static const union page head = {.head = {FR_PAGE_MAGIC, EPOCH, 1ull << 35, 77, 3, 5, FR_TIER_STACK, 8, 0}};
	static const union page slots = {.slots = {.magic = FR_RING_MAGIC, .epoch = EPOCH + 1, .cpu = 4, .tier = 1}};
	static const union page writer = {.writer = {.w = 9, .mark = {FR_WRITER_MAGIC, EPOCH + 2}, .cpu = 65535, .tier = 2}};
	static const union page session = {.session = {.enable = {1}, .mark = {FR_SESSION_MAGIC, EPOCH + 3}}};
	union page text;
	struct fr_carved c = {};

	(void)state;
	fr_pages_put(&text.text, EPOCH + 4, 5, "facts", 5);
	look(&c, 0x1001, &head);
	look(&c, 0x2001, &slots);
	look(&c, 0x3001, &writer);
	look(&c, 0x4001, &session);
	look(&c, 0x5001, &text);
	assert_int_equal(all_of(&c), 5);
	assert_int_equal(c.page_cnt, 1);
	assert_true(c.page[0].epoch == EPOCH && c.page[0].cpu == 3 && c.page[0].tier == FR_TIER_STACK && c.page[0].page == 5);
	assert_true(c.page[0].seq == 1ull << 35 && c.page[0].place == 0x1001);
	assert_true(c.slots_cnt == 1 && c.slots[0].epoch == EPOCH + 1 && c.slots[0].cpu == 4 && c.slots[0].tier == 1);
	assert_int_equal(c.slots[0].place, 0x2001);
	assert_true(c.writer_cnt == 1 && c.writer[0].epoch == EPOCH + 2 && c.writer[0].cpu == 65535 && c.writer[0].tier == 2);
	assert_int_equal(c.writer[0].place, 0x3001);
	assert_true(c.session_cnt == 1 && c.session[0].epoch == EPOCH + 3 && c.session[0].place == 0x4001);
	assert_true(c.text_cnt == 1 && c.text[0].mark.epoch == EPOCH + 4);
	assert_memory_equal(&c.text[0], &text, sizeof(text));
	fr_carved_free(&c);
}

/* Of a tier, or a page of a sub-buffer, that no ring can have; a text of no size. */
static void heads_that_cannot_be_are_passed_over(void **state)
{
	const struct fr_page_head good = {FR_PAGE_MAGIC, EPOCH, 1, 1, 0, FR_SUBBUF_PAGE_MAX - 1, FR_TIER_CNT - 1, 8, 0};
	union page p = {.head = good};
	struct fr_carved c = {};

	(void)state;
	look(&c, 0, &p);
	assert_int_equal(c.page_cnt, 1);
	p.head.page = FR_SUBBUF_PAGE_MAX;
	look(&c, 0, &p);
	p.head = good;
	p.head.tier = FR_TIER_CNT;
	look(&c, 0, &p);
	memset(&p, 0, sizeof(p));
	p.text = (struct fr_text_page){.mark = {FR_TEXT_MAGIC, EPOCH}, .sz = FR_TEXT_MAX_SZ + 1};
	look(&c, 0, &p);
	assert_int_equal(all_of(&c), 1);
	fr_carved_free(&c);
}

/* A word that marks a page does so nowhere else. */
static void marks_elsewhere_are_none(void **state)
{
	static const u32 mark[] = {FR_PAGE_MAGIC, FR_RING_MAGIC, FR_WRITER_MAGIC, FR_SESSION_MAGIC, FR_TEXT_MAGIC};
	static const size_t at[] = {0, 0, offsetof(struct fr_writer, mark), offsetof(struct fr_session, mark), 0};
	union page p = {};
	struct fr_carved c = {};
	size_t i, j;

	(void)state;
	for (i = 0; i < 5; i++) {
		for (j = 0; j < FR_PAGE_SZ; j += 4) {
			memcpy(p.byte + j, &mark[i], 4);
			if (j != at[i])
				look(&c, j, &p);
			memset(p.byte + j, 0, 4);
		}
	}
	assert_int_equal(all_of(&c), 0);
	fr_carved_free(&c);
}

/* ---- tasks ---- */

static void put_task(union page *p, size_t at, u32 epoch, u32 tid, u64 start_ns, const struct fr_task *t)
{
	const struct fr_task_key key = {tid, epoch, start_ns};

	memcpy(p->byte + at, &key, sizeof(key));
	memcpy(p->byte + at + sizeof(key), t, sizeof(*t));
}

static struct fr_task a_task(const char *comm)
{
	struct fr_task t = {.tgid = 100, .ppid = 1, .cgroup = ~0ull, .flags = FR_TASK_SEEDED, .exit_code = -1};

	strcpy(t.comm, comm);
	strcpy(t.first_comm, "first");
	return t;
}

/* At each place of a page where the kernel may have put it, up to the page's end; behind that it is not whole. */
static void a_task_is_found_at_every_place(void **state)
{
	const struct fr_task t = a_task("0123456789abcde");
	union page *p = malloc(sizeof(*p)); /* what is read behind it is seen */
	struct fr_carved c;
	size_t at;

	(void)state;
	assert_int_equal(AT_MOST % 8, 0);
	for (at = 0; at <= AT_MOST; at += 8) {
		memset(p, 0, sizeof(*p));
		memset(&c, 0, sizeof(c));
		put_task(p, at, EPOCH, 4194304, 12345, &t);
		look(&c, 0, p);
		assert_int_equal(all_of(&c), 1);
		assert_int_equal(c.task[0].epoch, EPOCH);
		assert_int_equal(c.task[0].task.tid, 4194304);
		assert_int_equal(c.task[0].task.start_ns, 12345);
		assert_memory_equal(&c.task[0].task.task, &t, sizeof(t));
		fr_carved_free(&c);
	}
	memset(p, 0, sizeof(*p));
	memset(&c, 0, sizeof(c));
	for (at = AT_MOST + 8; at < FR_PAGE_SZ; at += 8) {
		const struct fr_task_key key = {4194304, EPOCH, 12345};

		memset(p, 0, sizeof(*p));
		memcpy(p->byte + at, &key, FR_PAGE_SZ - at < sizeof(key) ? FR_PAGE_SZ - at : sizeof(key));
		look(&c, 0, p);
	}
	assert_int_equal(all_of(&c), 0);
	free(p);
}

/* The table's elements follow each other, each behind the kernel's own head of it. */
static void a_page_full_of_tasks(void **state)
{
	const size_t step = 48 + ELEMENT_SZ;
	struct fr_task t = a_task("one");
	struct fr_carved c = {};
	union page p;
	u32 cnt = 0, i;
	size_t at;

	(void)state;
	memset(&p, 0xff, sizeof(p));
	for (at = 48; at <= AT_MOST; at += step, cnt++)
		put_task(&p, at, EPOCH, cnt + 1, 9, &t);
	look(&c, 0, &p);
	assert_true(cnt > 25);
	assert_int_equal(c.task_cnt, cnt);
	for (i = 0; i < cnt; i++)
		assert_int_equal(c.task[i].task.tid, i + 1);
	fr_carved_free(&c);
}

static void what_no_task_can_be_is_none(void **state)
{
	const struct fr_task good = a_task("one");
	struct fr_task bad[9] = {good, good, good, good, good, good, good, good, good};
	struct fr_carved c = {};
	union page p = {};
	u32 i;

	(void)state;
	bad[0].tgid = 0;
	bad[1].tgid = 4194305;
	bad[2].ppid = 4194305;
	bad[3].flags = FR_TASK_FLAGS + 1;
	bad[4].flags = 1u << 31;
	memset(bad[5].comm, 'x', FR_COMM_SZ);
	memset(bad[6].first_comm, 'x', FR_COMM_SZ);
	bad[7].cgroup = 0;
	bad[8].first_comm[FR_COMM_SZ - 1] = 1; /* behind its end */
	for (i = 0; i < 9; i++) {
		put_task(&p, 64, EPOCH, 5, 5, &bad[i]);
		look(&c, 0, &p);
	}
	put_task(&p, 64, 0, 5, 5, &good);
	look(&c, 0, &p);
	put_task(&p, 64, EPOCH, 0, 5, &good);
	look(&c, 0, &p);
	put_task(&p, 64, EPOCH, 4194305, 5, &good);
	look(&c, 0, &p);
	assert_int_equal(all_of(&c), 0);
	put_task(&p, 64, EPOCH, 5, 5, &good);
	look(&c, 0, &p);
	assert_int_equal(all_of(&c), 1);
	fr_carved_free(&c);
}

/* The tasks of an epoch, of what was found in any order: cnt of them, with the names that are wanted. */
static void check_tasks(const struct fr_carved *c, u32 epoch, u32 cnt, const u32 *tid, const char *const *comm)
{
	struct fr_snap_task *task;
	size_t got, i;

	assert_int_equal(fr_carved_tasks(c, epoch, &task, &got), 0);
	assert_int_equal(got, cnt);
	for (i = 0; i < cnt; i++) {
		assert_int_equal(task[i].tid, tid[i]);
		assert_string_equal(task[i].task.comm, comm[i]);
	}
	free(task);
}

/* A later name is copied with what the kernel had behind its end. */
static void a_renamed_task_is_found(void **state)
{
	struct fr_task t = a_task("one");
	struct fr_carved c = {};
	union page p = {};

	(void)state;
	memcpy(t.comm + 4, "rest of it", 10);
	put_task(&p, 64, EPOCH, 5, 5, &t);
	look(&c, 0, &p);
	assert_int_equal(c.task_cnt, 1);
	fr_carved_free(&c);
}

/* Memory full of small numbers: there would be more such tasks than there is memory. */
static void small_numbers_are_no_tasks(void **state)
{
	struct fr_carved c = {};
	u32 most, i, page;
	union page p;

	(void)state;
	for (page = 0; page < 4000; page++) {
		most = 1 + page % 100;
		for (i = 0; i < FR_PAGE_SZ / 4; i++)
			((u32 *)p.word)[i] = page < 100 ? most : any() % (most + 1);
		look(&c, page, &p);
	}
	assert_true(c.task_cnt < 4000);
	fr_carved_free(&c);
}

/* Memory still has what was before: the kernel replaces elements. Each task is told once, as it was known last. */
static void of_copies_of_a_task_the_latest_counts(void **state)
{
	static const u32 tid[] = {7, 8, 8, 9}, other[] = {7};
	static const char *const comm[] = {"exited", "one", "reused", "again"}, *const other_comm[] = {"else"};
	struct fr_task born = a_task("born"), renamed = a_task("renamed"), again = a_task("again"), exited = a_task("exited");
	struct fr_task one = a_task("one"), reused = a_task("reused"), other_task = a_task("else");
	u32 order;

	(void)state;
	renamed.renamed_ns = 10;
	again.renamed_ns = 20;
	exited.renamed_ns = 10;
	exited.exit_ns = 15;
	for (order = 0; order < 8; order++) {
		const struct {
			u32 epoch, tid;
			u64 start_ns;
			const struct fr_task *t;
		} all[] = {
			{EPOCH, 7, 1, &born}, {EPOCH, 7, 1, &exited},  {EPOCH, 7, 1, &renamed},	       {EPOCH, 7, 1, &born},
			{EPOCH, 8, 1, &one},  {EPOCH, 8, 99, &reused}, {EPOCH, 9, 1, &again},	       {EPOCH, 9, 1, &renamed},
			{EPOCH, 9, 1, &born}, {EPOCH, 8, 1, &one},     {EPOCH + 1, 7, 1, &other_task},
		};
		struct fr_carved c = {};
		union page p;
		u32 i, at;

		for (i = 0; i < 11; i++) {
			at = (i * 4 + order * 3) % 11;
			memset(&p, 0, sizeof(p));
			put_task(&p, 8 * order, all[at].epoch, all[at].tid, all[at].start_ns, all[at].t);
			look(&c, 0, &p);
		}
		check_tasks(&c, EPOCH, 4, tid, comm);
		check_tasks(&c, EPOCH + 1, 1, other, other_comm);
		check_tasks(&c, EPOCH + 2, 0, NULL, NULL);
		fr_carved_free(&c);
	}
}

/* ---- any other memory ---- */

static void fill_any(union page *p)
{
	u64 mask = any() % 4 ? ~0ull : 0x000000ff000000ffull; /* often small numbers */
	u32 i;

	for (i = 0; i < FR_PAGE_SZ / 8; i++)
		p->word[i] = any() & mask;
	if (any() % 8 == 0)
		memset(p, (int)any(), sizeof(*p));
}

/* 20,000 pages, among which are 20 of ours: those are found, and nothing of the rest for this epoch. */
static void garbage_is_no_page_of_ours(void **state)
{
	const struct fr_page_head ours = {FR_PAGE_MAGIC, EPOCH, 1, 1, 2, 0, FR_TIER_MAIN, 8, 0};
	const struct fr_carved_page like = {.epoch = EPOCH, .cpu = 2, .tier = FR_TIER_MAIN, .page = 0, .seq = 20};
	union page *p = malloc(sizeof(*p));
	struct fr_carved c = {};
	const struct fr_carved_page *got;
	size_t i, cnt;

	(void)state;
	for (i = 0; i < 20000; i++) {
		fill_any(p);
		if (i % 1000 == 7) {
			p->head = ours;
			p->head.seq = 1 + i / 1000;
		}
		look(&c, i, p);
	}
	assert_int_equal(c.page_cnt, 20);
	assert_int_equal(c.writer_cnt + c.slots_cnt + c.session_cnt + c.text_cnt, 0);
	fr_carved_sort(&c);
	got = fr_carved_find(&c, &like, &cnt);
	assert_true(got && cnt == 1 && got->place == 19007);
	check_tasks(&c, EPOCH, 0, NULL, NULL);
	free(p);
	fr_carved_free(&c);
}

/* ---- find ---- */

static void add_page(struct fr_carved *c, u64 place, u32 epoch, u16 cpu, u8 tier, u64 seq, u16 page)
{
	const union page p = {.head = {FR_PAGE_MAGIC, epoch, seq, 1, cpu, page, tier, 8, 0}};

	look(c, place, &p);
}

/* Pages whose identity differs in one thing only, each so many times, in any order: find gives all of one, and no other. */
static void copies_of_a_page_are_found_together(void **state)
{
	struct fr_carved c = {};
	struct fr_carved_page like = {EPOCH, 1, 1, 1, 1, 0};
	const struct fr_carved_page *got;
	u32 i, nr;
	size_t cnt, n;

	(void)state;
	assert_null(fr_carved_find(&c, &like, &cnt));
	assert_int_equal(cnt, 0);
	fr_carved_sort(&c);
	for (i = 0; i < 3 * 243; i++) { /* all of 3 ^ 5, three times; those whose last digit is 2 once more */
		nr = i * 100 % 243;
		add_page(&c, 1000 * i + nr, EPOCH + nr / 81, nr / 27 % 3, nr / 9 % 3, ((u64)nr / 3 % 3) << 33, nr % 3);
		if (i < 243 && nr % 3 == 2)
			add_page(&c, 1000 * i + nr, EPOCH + nr / 81, nr / 27 % 3, nr / 9 % 3, ((u64)nr / 3 % 3) << 33, nr % 3);
	}
	fr_carved_sort(&c);
	for (nr = 0; nr < 243; nr++) {
		like = (struct fr_carved_page){EPOCH + nr / 81, nr / 27 % 3, nr / 9 % 3, nr % 3, ((u64)nr / 3 % 3) << 33, 0};
		got = fr_carved_find(&c, &like, &cnt);
		assert_non_null(got);
		assert_int_equal(cnt, nr % 3 == 2 ? 4 : 3);
		for (n = 0; n < cnt; n++)
			assert_int_equal(got[n].place % 1000, nr);
	}
	like.seq++;
	assert_null(fr_carved_find(&c, &like, &cnt));
	assert_int_equal(cnt, 0);
	fr_carved_free(&c);
}

/* Control pages whose ring differs in one thing only, each so many times, in any order. */
static void copies_of_a_control_page_are_found_together(void **state)
{
	union page p = {.slots = {.magic = FR_RING_MAGIC}};
	struct fr_carved_one like = {.epoch = EPOCH - 1};
	const struct fr_carved_one *got;
	struct fr_carved c = {};
	size_t cnt, n;
	u32 i, nr;

	(void)state;
	assert_null(fr_carved_ones(c.slots, c.slots_cnt, &like, &cnt));
	for (i = 0; i < 3 * 27; i++) { /* all of 3 ^ 3, three times; those whose last digit is 2 only twice */
		nr = i * 10 % 27;
		p.slots.epoch = EPOCH + nr / 9;
		p.slots.cpu = nr / 3 % 3;
		p.slots.tier = nr % 3;
		if (i < 54 || nr % 3 < 2)
			look(&c, 100 * (100 - i) + nr, &p);
	}
	fr_carved_sort(&c);
	assert_null(fr_carved_ones(c.slots, c.slots_cnt, &like, &cnt));
	assert_int_equal(cnt, 0);
	for (nr = 0; nr < 27; nr++) {
		like = (struct fr_carved_one){.epoch = EPOCH + nr / 9, .cpu = nr / 3 % 3, .tier = nr % 3};
		got = fr_carved_ones(c.slots, c.slots_cnt, &like, &cnt);
		assert_non_null(got);
		assert_int_equal(cnt, nr % 3 == 2 ? 2 : 3);
		for (n = 0; n < cnt; n++)
			assert_true(got[n].place % 100 == nr && (!n || got[n - 1].place < got[n].place));
	}
	fr_carved_free(&c);
}

/* Any process may fill its memory with what looks like ours: no more of it is taken than sessions have. The rest is counted. */
static void of_each_kind_no_more_is_taken_than_sessions_have(void **state)
{
	static const union page head = {.log = {.magic = FR_INCIDENT_MAGIC, .cnt = FR_INCIDENT_CNT_MAX}};
	const u32 tasks = FR_PAGE_SZ / ELEMENT_SZ, records = FR_PAGE_SZ / FR_INCIDENT_SZ;
	const struct fr_task t = a_task("one");
	union page incidents = {}, text, task = {};
	struct fr_carved c = {};
	u32 i;

	(void)state;
	for (i = 0; i < records; i++)
		incidents.incident[i] = (struct fr_incident){.done = 16 + i, .kind = FR_INCIDENT_oom, .flags = EPOCH};
	for (i = 0; i < tasks; i++)
		put_task(&task, i * ELEMENT_SZ, EPOCH, 1 + i, 9, &t);
	fr_pages_put(&text.text, EPOCH, 5, "facts", 5);
	for (i = 0; i < FR_INCIDENT_CNT_MAX; i++) {
		look(&c, i, &head);
		look(&c, i, &incidents);
		look(&c, i, &text);
		look(&c, i, &task);
	}
	assert_in_range(c.incident_cnt, FR_INCIDENT_CNT_MAX, 4 * FR_INCIDENT_CNT_MAX);
	assert_in_range(c.log_cnt, 1, 1024);
	assert_in_range(c.text_cnt, 1000, 16384);
	assert_in_range(c.task_cnt, 32768, 1u << 19);
	assert_int_equal(all_of(&c) + c.left_out_cnt, (u64)i * (2 + records + tasks));
	fr_carved_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_page_is_found),
		cmocka_unit_test(heads_that_cannot_be_are_passed_over),
		cmocka_unit_test(marks_elsewhere_are_none),
		cmocka_unit_test(a_task_is_found_at_every_place),
		cmocka_unit_test(a_page_full_of_tasks),
		cmocka_unit_test(what_no_task_can_be_is_none),
		cmocka_unit_test(a_renamed_task_is_found),
		cmocka_unit_test(small_numbers_are_no_tasks),
		cmocka_unit_test(of_copies_of_a_task_the_latest_counts),
		cmocka_unit_test(garbage_is_no_page_of_ours),
		cmocka_unit_test(copies_of_a_page_are_found_together),
		cmocka_unit_test(copies_of_a_control_page_are_found_together),
		cmocka_unit_test(of_each_kind_no_more_is_taken_than_sessions_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
