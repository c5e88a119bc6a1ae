/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Crash dumps of rings: the snapshot has exactly the events of the rings, in whatever order their pages lie in memory. What is
 * missing, in flight or damaged is told, and takes nothing else with it.
 */
/* first: <signal.h> makes sa_handler, a field of ours, a macro */
#include "host_check.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flow/snapshot/recover.h"
#include "host_dump.h"
#include "host_sessions.h"
#include "pure/err.h"

#define EPOCH 0xabcd1234u /* of host_ring.h */
#define OTHER 0x77777777u
#define SLOTS 6u
#define PAGES 3u /* of a sub-buffer */
#define RINGS 3u

/* ---- a directory for each test ---- */

static char dir[32], core[64], out[64];

static int begin(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/fr_recover.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(core, sizeof(core), "%s/vmcore", dir);
	snprintf(out, sizeof(out), "%s/out.flight", dir);
	return 0;
}

static u32 count_files(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	u32 cnt = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		cnt += e->d_name[0] != '.' || (e->d_name[1] && e->d_name[1] != '.');
	closedir(d);
	return cnt;
}

static int end(void **state)
{
	(void)state;
	remove(core);
	remove(out);
	return rmdir(dir); /* nothing else is left */
}

/* ---- what was recorded ---- */

struct rig {
	struct host_ring *ring[RINGS];
	struct host_dump d;
	u64 gone_seq[RINGS], gone_page[RINGS]; /* records there are not expected; page PAGES: the whole lap */
};

static struct host_ring *record(u32 epoch, u16 cpu, u16 tier, u32 cnt)
{
	struct host_ring *h = host_ring_new(cpu, tier, SLOTS, PAGES);

	h->r.epoch = epoch;
	host_ring_fill(h, cnt);
	return h;
}

/* Two CPUs; a ring that has overwritten much, one that has not, and one of another tier. */
static void fill(struct rig *r)
{
	*r = (struct rig){};
	r->ring[0] = record(EPOCH, 0, FR_TIER_MAIN, 5000);
	r->ring[1] = record(EPOCH, 1, FR_TIER_MAIN, 150);
	r->ring[2] = record(EPOCH, 1, FR_TIER_LIFE, 2500);
}

static void put_rings(struct rig *r)
{
	u32 i;

	for (i = 0; i < RINGS; i++)
		host_dump_ring(&r->d, r->ring[i]);
}

/* All that a session has. */
static void make(struct rig *r)
{
	fill(r);
	put_rings(r);
	host_dump_rest(&r->d, EPOCH, "this", true);
}

static void drop(struct rig *r)
{
	u32 i;

	for (i = 0; i < RINGS; i++)
		host_ring_free(r->ring[i]);
	free(r->d.page);
}

static u64 last_seq(const struct host_ring *h)
{
	return fr_w_seq(h->r.wr->w);
}

static u64 first_seq(const struct host_ring *h)
{
	return last_seq(h) > SLOTS ? last_seq(h) - SLOTS + 1 : 1;
}

/* Page of a lap of ring i, in the dump. */
static struct host_page *find_page(const struct rig *r, u32 i, u64 seq, u32 page)
{
	const struct fr_ring *ring = &r->ring[i]->r;
	u32 k;

	for (k = 0; k < r->d.cnt; k++) {
		const struct fr_page_head *h = (void *)&r->d.page[k];

		if (h->magic == FR_PAGE_MAGIC && h->epoch == ring->epoch && h->cpu == ring->cpu && h->tier == ring->tier &&
		    h->seq == seq && h->page == page)
			return &r->d.page[k];
	}
	return NULL;
}

/* Its page with a word at a place that is mark, and its CPU and tier behind that. */
static struct host_page *find_mark(const struct rig *r, u32 i, size_t at, u32 magic)
{
	const struct fr_ring *ring = &r->ring[i]->r;
	u32 k;

	for (k = 0; k < r->d.cnt; k++) {
		const struct fr_slots *sl = (void *)&r->d.page[k];
		const struct fr_writer *wr = (void *)&r->d.page[k];

		if (memcmp(r->d.page[k].bytes + at, &magic, 4))
			continue;
		if (at ? wr->mark.epoch == ring->epoch && wr->cpu == ring->cpu && wr->tier == ring->tier
		       : sl->epoch == ring->epoch && sl->cpu == ring->cpu && sl->tier == ring->tier)
			return &r->d.page[k];
	}
	return NULL;
}

static struct host_page *find_slots(const struct rig *r, u32 i)
{
	return find_mark(r, i, 0, FR_RING_MAGIC);
}

static struct host_page *find_writer(const struct rig *r, u32 i)
{
	return find_mark(r, i, offsetof(struct fr_writer, mark), FR_WRITER_MAGIC);
}

/* ---- recovering ---- */

static char told[8192];

static void note(void *arg, bool is_error, const char *text)
{
	size_t len = strlen(told);

	(void)arg, (void)is_error;
	snprintf(told + len, sizeof(told) - len, "%s\n", text);
}

/* The exit status; messages are in told. */
static int recover_session(const char *name)
{
	const struct fr_recover_ask ask = {.vmcore = core, .session = name, .path = out};
	const struct fr_err_sink sink = {.say = note}, *was = fr_err_divert(&sink);
	int status, err = dup(2), null = open("/dev/null", O_WRONLY); /* where it says that the snapshot is there */

	told[0] = 0;
	dup2(null, 2);
	close(null);
	status = fr_recover(&ask);
	dup2(err, 2);
	close(err);
	fr_err_divert(was);
	return status;
}

static int recover_as_is(struct rig *r)
{
	assert_int_equal(host_dump_save(&r->d, core), 0);
	return recover_session(NULL);
}

/* In any order, among pages of others. */
static int recover(struct rig *r)
{
	host_dump_noise(&r->d, 200);
	host_dump_shuffle(&r->d);
	return recover_as_is(r);
}

static struct fr_snap *open_out(void)
{
	struct fr_snap *s;

	assert_int_equal(fr_snap_open(out, &s), 0);
	assert_int_equal(fr_snap_damage(s), 0);
	return s;
}

static bool is_expected(const struct rig *r, u32 i, const struct host_rec *rec)
{
	if (rec->seq < first_seq(r->ring[i]))
		return false;
	return rec->seq != r->gone_seq[i] || (r->gone_page[i] < PAGES && rec->off / FR_PAGE_SZ != r->gone_page[i]);
}

/* The records of ring i, but those that are gone, and no others. */
static void check_ring(struct fr_snap *s, const struct rig *r, u32 i)
{
	const struct host_ring *h = r->ring[i];
	size_t chunks, nr;
	const struct fr_chunk *c = fr_snap_chunks(s, &chunks);
	struct fr_batch b = {};
	u32 k, at = 0;

	for (nr = 0; nr < chunks; nr++) {
		if (c[nr].cpu != h->r.cpu || c[nr].tier != h->r.tier)
			continue;
		assert_int_equal(c[nr].epoch, h->r.epoch);
		assert_int_equal(fr_snap_read_chunk(s, nr, &b), 0);
		for (k = 0; k < b.row_cnt; k++, at++) {
			struct fr_row row = fr_batch_row(&b, k);

			while (at < h->rec_cnt && !is_expected(r, i, &h->rec[at]))
				at++;
			assert_true(at < h->rec_cnt);
			check_row(&row, &h->rec[at]);
		}
	}
	for (; at < h->rec_cnt; at++)
		assert_false(is_expected(r, i, &h->rec[at]));
	fr_batch_free(&b);
}

/* So many rings, and all of each but what is gone. */
static void check_rings(const struct rig *r, u32 skip)
{
	struct fr_snap *s = open_out();
	size_t cnt;
	u32 i;

	for (i = 0; i < RINGS; i++)
		if (i != skip)
			check_ring(s, r, i);
	fr_snap_rings(s, &cnt);
	assert_int_equal(cnt, skip < RINGS ? RINGS - 1 : RINGS);
	fr_snap_close(s);
}

static void check_fact(const char *name, const char *want)
{
	struct fr_snap *s = open_out();

	assert_non_null(fr_snap_fact(s, name));
	assert_string_equal(fr_snap_fact(s, name), want);
	fr_snap_close(s);
}

/* Its only hole is this lap of this ring; NULL: it has none. */
static void check_hole(const struct host_ring *h, u64 seq, enum fr_hole_why why)
{
	struct fr_snap *s = open_out();
	size_t cnt;
	const struct fr_snap_hole *hole = fr_snap_holes(s, &cnt);

	assert_int_equal(cnt, h ? 1 : 0);
	if (h) {
		assert_true(hole->cpu == h->r.cpu && hole->tier == h->r.tier);
		assert_int_equal(hole->first_seq, seq);
		assert_int_equal(hole->last_seq, seq);
		assert_int_equal(hole->why, why);
	}
	fr_snap_close(s);
}

static void has_told(const char *words)
{
	if (!strstr(told, words))
		print_message("not told: '%s', but: %s\n", words, told);
	assert_non_null(strstr(told, words));
}

/* Status, and no file. */
static void fails(int status, int want, const char *words)
{
	assert_int_equal(status, want);
	has_told(words);
	assert_int_equal(access(out, F_OK), -1);
	assert_int_equal(count_files(), 1); /* the dump's */
}

/* ---- whole dumps ---- */

static void a_whole_dump_gives_all_events(void **state)
{
	struct rig r;
	u32 i;

	(void)state;
	for (i = 0; i < 5; i++) {
		make(&r);
		assert_int_equal(recover(&r), FR_EXIT_OK);
		check_rings(&r, RINGS);
		check_hole(NULL, 0, 0);
		check_fact("trigger_reason", "panic");
		check_fact("recovered", "pages=0;rings=0");
		assert_null(strstr(told, "warning"));
		drop(&r);
		assert_int_equal(remove(out), 0);
	}
}

static void the_rest_of_the_session_is_there(void **state)
{
	const struct fr_snap_clock *clock;
	const struct fr_snap_task *task;
	struct fr_snap *s;
	struct rig r;
	size_t cnt;

	(void)state;
	make(&r);
	host_dump_tasks(&r.d, OTHER, 500);
	host_dump_tasks(&r.d, EPOCH, 101);
	assert_int_equal(recover(&r), FR_EXIT_OK);
	check_fact("session", "this");
	check_fact("host", "box");
	check_fact("task_lost", "3");
	s = open_out();
	task = fr_snap_tasks(s, &cnt);
	assert_true(cnt >= 3 && cnt <= 4 && task[0].tid == 100 && task[cnt - 1].tid == 102);
	clock = fr_snap_clocks(s, &cnt);
	assert_true(cnt == 1 && clock->ts == 5 && clock->uncertainty_ns == 10);
	assert_non_null(fr_schema_find(fr_snap_schema(s), "sched_switch"));
	fr_snap_close(s);
	drop(&r);
}

/* A ring in which nothing was ever written is there, and lacks nothing; likewise pages of which none are written yet. */
static void empty_rings_lack_nothing(void **state)
{
	struct rig r;

	(void)state;
	fill(&r);
	host_ring_free(r.ring[1]);
	host_ring_free(r.ring[2]);
	r.ring[1] = record(EPOCH, 1, FR_TIER_MAIN, 0);
	r.ring[2] = record(EPOCH, 1, FR_TIER_LIFE, 1);
	put_rings(&r);
	host_dump_rest(&r.d, EPOCH, "this", true);
	assert_int_equal(recover(&r), FR_EXIT_OK);
	check_rings(&r, RINGS);
	check_hole(NULL, 0, 0);
	drop(&r);
}

/* A reader that the panic stopped had swapped a lap out: its slot names another sub-buffer, where the lap is not. */
static void a_lap_that_a_reader_held_is_complete(void **state)
{
	struct host_ring *h;
	struct rig r;
	u32 spare = 0, i;
	u64 *slot;

	(void)state;
	fill(&r);
	h = r.ring[0];
	for (i = 0; i < SLOTS; i++)
		spare += fr_slot_idx(h->r.sl->slot[i]);
	spare = SLOTS * (SLOTS + 1) / 2 - spare;
	slot = &h->r.sl->slot[(last_seq(h) - 2) % SLOTS];
	*slot = fr_slot(last_seq(h) - 2, spare, fr_slot_cnt(*slot), fr_slot_com(*slot));
	put_rings(&r);
	host_dump_rest(&r.d, EPOCH, "this", true);
	assert_int_equal(recover(&r), FR_EXIT_OK);
	check_rings(&r, RINGS);
	check_hole(NULL, 0, 0);
	drop(&r);
}

static void pages_that_are_there_twice_do_no_harm(void **state)
{
	struct rig r;
	u32 i, cnt;

	(void)state;
	make(&r);
	for (i = 0, cnt = r.d.cnt; i < cnt; i++)
		host_dump_page(&r.d, &(struct host_page[]){r.d.page[i]}, FR_PAGE_SZ);
	assert_int_equal(recover(&r), FR_EXIT_OK);
	check_rings(&r, RINGS);
	check_hole(NULL, 0, 0);
	drop(&r);
}

/* Memory that is free still has the pages that user space wrote into the new ring's: they are not what it is now. */
static void pages_of_the_new_ring_do_no_harm(void **state)
{
	struct host_ring *fresh[RINGS];
	struct rig r;
	u32 i, last;

	(void)state;
	for (last = 0; last < 2; last++) {
		fill(&r);
		if (last)
			put_rings(&r);
		for (i = 0; i < RINGS; i++) {
			fresh[i] = record(EPOCH, r.ring[i]->r.cpu, r.ring[i]->r.tier, 0);
			host_dump_ring(&r.d, fresh[i]);
			host_ring_free(fresh[i]);
		}
		if (!last)
			put_rings(&r);
		host_dump_rest(&r.d, EPOCH, "this", true);
		assert_int_equal(recover_as_is(&r), FR_EXIT_OK);
		check_rings(&r, RINGS);
		check_hole(NULL, 0, 0);
		drop(&r);
		assert_int_equal(remove(out), 0);
	}
}

/* Such a copy of the writer's page, written over but for its mark, says that the ring is elsewhere. */
static void a_writer_that_is_written_over_does_no_harm(void **state)
{
	union {
		struct fr_writer wr;
		u8 page[FR_PAGE_SZ];
	} copy;
	struct rig r;
	u32 i;

	(void)state;
	make(&r);
	for (i = 0; i < RINGS; i++) {
		memset(copy.page, 0x7f, sizeof(copy.page));
		copy.wr.mark = (struct fr_mark){FR_WRITER_MAGIC, EPOCH};
		copy.wr.cpu = r.ring[i]->r.cpu;
		copy.wr.tier = r.ring[i]->r.tier;
		host_dump_page(&r.d, &copy, sizeof(copy));
	}
	assert_int_equal(recover_as_is(&r), FR_EXIT_OK);
	check_rings(&r, RINGS);
	check_hole(NULL, 0, 0);
	drop(&r);
}

/* ---- what is missing ---- */

/* The first page of a lap has its head; without it nothing of the lap is believed. */
static void a_missing_page_is_a_hole(void **state)
{
	struct host_page *p;
	struct rig r;
	u32 page;

	(void)state;
	for (page = 0; page < PAGES; page++) {
		make(&r);
		r.gone_seq[0] = last_seq(r.ring[0]) - 2;
		r.gone_page[0] = page ? page : PAGES;
		p = find_page(&r, 0, r.gone_seq[0], page);
		assert_non_null(p);
		host_dump_remove(&r.d, p);
		assert_int_equal(recover(&r), FR_EXIT_CORRUPT);
		has_told("1 pages of rings are not in the crash dump");
		check_rings(&r, RINGS);
		check_hole(r.ring[0], r.gone_seq[0], FR_HOLE_damaged);
		check_fact("recovered", "pages=1;rings=0");
		drop(&r);
		assert_int_equal(remove(out), 0);
	}
}

/* Which of the two is right, nobody can tell. */
static void copies_of_a_page_that_differ_are_left_out(void **state)
{
	struct host_page *p;
	struct rig r;

	(void)state;
	make(&r);
	r.gone_seq[2] = last_seq(r.ring[2]) - 1;
	r.gone_page[2] = 1;
	p = find_page(&r, 2, r.gone_seq[2], 1);
	assert_non_null(p);
	host_dump_page(&r.d, &(struct host_page[]){*p}, FR_PAGE_SZ)->bytes[FR_PAGE_SZ - 1] ^= 1;
	assert_int_equal(recover(&r), FR_EXIT_CORRUPT);
	has_told("1 pages are in the crash dump twice and differ");
	check_rings(&r, RINGS);
	check_hole(r.ring[2], r.gone_seq[2], FR_HOLE_damaged);
	drop(&r);
}

static void a_ring_without_its_writer_is_missing(void **state)
{
	struct rig r;

	(void)state;
	make(&r);
	host_dump_remove(&r.d, find_writer(&r, 1));
	assert_int_equal(recover(&r), FR_EXIT_CORRUPT);
	has_told("1 rings are not in the crash dump");
	check_rings(&r, 1);
	check_fact("recovered", "pages=0;rings=1");
	drop(&r);
}

/* What is left of it says so. */
static void a_ring_without_its_slots_is_missing(void **state)
{
	struct rig r;

	(void)state;
	make(&r);
	host_dump_remove(&r.d, find_slots(&r, 2));
	assert_int_equal(recover(&r), FR_EXIT_CORRUPT);
	has_told("1 rings are not in the crash dump");
	check_rings(&r, 2);
	check_fact("recovered", "pages=0;rings=1");
	drop(&r);
}

static void without_any_ring_there_is_no_snapshot(void **state)
{
	struct rig r;
	u32 i;

	(void)state;
	make(&r);
	for (i = 0; i < RINGS; i++)
		host_dump_remove(&r.d, find_writer(&r, i));
	fails(recover(&r), FR_EXIT_FAIL, "none of the rings of session 'this'");
	drop(&r);
}

/* A record that was reserved, but not committed, when the kernel stopped: its lap is a hole, and none of it is told. */
static void a_lap_in_flight_is_a_hole(void **state)
{
	struct fr_res res;
	struct host_ring *h;
	struct rig r;
	u64 seq;
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		fill(&r);
		h = r.ring[0];
		assert_int_equal(fr_ring_reserve(&h->r, 8, &res), 0);
		seq = last_seq(h);
		while (i && last_seq(h) == seq) /* in the lap before the last */
			host_ring_fill(h, 1);
		r.gone_seq[0] = seq;
		r.gone_page[0] = PAGES;
		put_rings(&r);
		host_dump_rest(&r.d, EPOCH, "this", true);
		assert_int_equal(recover(&r), FR_EXIT_OK);
		check_rings(&r, RINGS);
		check_hole(h, seq, FR_HOLE_inflight);
		check_fact("recovered", "pages=0;rings=0");
		drop(&r);
		assert_int_equal(remove(out), 0);
	}
}

/* Also if all that is wanted is there: nobody knows that. */
static void a_dump_without_its_end_is_told(void **state)
{
	struct stat st;
	struct rig r;

	(void)state;
	make(&r);
	host_dump_noise(&r.d, 20);
	assert_int_equal(host_dump_save(&r.d, core), 0);
	assert_int_equal(stat(core, &st), 0);
	assert_int_equal(truncate(core, st.st_size - FR_PAGE_SZ), 0);
	assert_int_equal(recover_session(NULL), FR_EXIT_CORRUPT);
	has_told("1 pages of the crash dump cannot be read");
	check_rings(&r, RINGS);
	check_hole(NULL, 0, 0);
	drop(&r);
}

static void a_dump_that_is_cut_off_is_told(void **state)
{
	struct fr_snap *s;
	struct stat st;
	struct rig r;

	(void)state;
	fill(&r);
	host_dump_rest(&r.d, EPOCH, "this", true);
	put_rings(&r);
	assert_int_equal(host_dump_save(&r.d, core), 0);
	assert_int_equal(stat(core, &st), 0);
	assert_int_equal(truncate(core, st.st_size - 10 * FR_PAGE_SZ), 0);
	assert_int_equal(recover_session(NULL), FR_EXIT_CORRUPT);
	has_told("10 pages of the crash dump cannot be read: is it whole?");
	s = open_out();
	check_ring(s, &r, 0);
	check_ring(s, &r, 1);
	fr_snap_close(s);
	drop(&r);
}

/* ---- what is damaged ---- */

/* Any bits of slot words and of w: no more than that ring's events are wrong or missing. */
static void damaged_words_harm_their_ring_only(void **state)
{
	struct host_page *p;
	struct fr_snap *s;
	struct rig r;
	u32 i, k, at;
	int status;

	(void)state;
	for (i = 0; i < 60; i++) {
		make(&r);
		p = i % 3 ? find_slots(&r, 0) : find_writer(&r, 0);
		for (k = 0; k < 1 + i % 4; k++) {
			at = i % 3 ? offsetof(struct fr_slots, slot) + host_random() % (SLOTS * 8) : host_random() % 40;
			p->bytes[at] ^= 1u << host_random() % 8;
		}
		status = recover_as_is(&r);
		assert_true(status == FR_EXIT_OK || status == FR_EXIT_CORRUPT);
		s = open_out();
		check_ring(s, &r, 1);
		check_ring(s, &r, 2);
		fr_snap_close(s);
		drop(&r);
		assert_int_equal(remove(out), 0);
	}
}

/* Two slots that name the same sub-buffer, and shapes that no ring has: it is missing, and told. */
static void rings_that_cannot_be_are_missing(void **state)
{
	struct fr_slots *sl;
	struct rig r;
	u32 i;

	(void)state;
	for (i = 0; i < 9; i++) {
		make(&r);
		sl = (void *)find_slots(&r, 0);
		sl->slot_cnt = i == 0 ? 0 : i == 1 ? 1 : i == 2 ? FR_SLOT_MAX + 1 : i == 3 ? ~0u : sl->slot_cnt;
		sl->subbuf_pages = i == 4 ? 0 : i == 5 ? FR_SUBBUF_PAGE_MAX + 1 : i == 6 ? ~0u : sl->subbuf_pages;
		sl->layout = i == 7 ? FR_LAYOUT_VERSION + 1 : sl->layout;
		if (i == 8)
			sl->slot[0] = fr_slot(fr_slot_seq(sl->slot[0]), fr_slot_idx(sl->slot[1]), 0, fr_slot_com(sl->slot[0]));
		assert_int_equal(recover(&r), FR_EXIT_CORRUPT);
		has_told("1 rings are not in the crash dump");
		check_rings(&r, 0);
		check_fact("recovered", "pages=0;rings=1");
		drop(&r);
		assert_int_equal(remove(out), 0);
	}
}

/* ---- sessions ---- */

static void no_session(const char *name, const char *words)
{
	fails(recover_session(name), FR_EXIT_NO_SESSION, words);
}

static void a_dump_of_no_session(void **state)
{
	struct rig r = {};

	(void)state;
	host_dump_noise(&r.d, 100);
	fails(recover_as_is(&r), FR_EXIT_NO_SESSION, "has no session of flightrec");
	free(r.d.page);
}

static void without_its_text_a_session_has_no_name(void **state)
{
	struct rig r;
	u32 i, whole;

	(void)state;
	fill(&r);
	put_rings(&r);
	whole = r.d.cnt;
	host_dump_rest(&r.d, EPOCH, "this", true);
	for (i = whole; i < r.d.cnt; i++) {
		struct host_page was = r.d.page[i];

		if (((struct fr_text_page *)&was)->mark.magic != FR_TEXT_MAGIC)
			continue;
		memset(&r.d.page[i], 0, FR_PAGE_SZ);
		fails(recover_as_is(&r), FR_EXIT_NO_SESSION, "a session of which only parts are there");
		r.d.page[i] = was;
	}
	assert_int_equal(recover_as_is(&r), FR_EXIT_OK);
	drop(&r);
}

/* Its facts alone: what is behind their end is not looked at. */
static void a_text_without_a_schema_is_none(void **state)
{
	static const char facts[] = "session=this\n";
	struct fr_text_page page;
	struct rig r;

	(void)state;
	fill(&r);
	put_rings(&r);
	host_dump_session(&r.d, EPOCH, true);
	fr_pages_put(&page, EPOCH, 5, facts, strlen(facts));
	host_dump_page(&r.d, &page, sizeof(page));
	fails(recover_as_is(&r), FR_EXIT_NO_SESSION, "a session of which only parts are there");
	drop(&r);
}

/* Another session's ring; what it is called, and whether it records. */
static void add_other(struct rig *r, const char *name, bool records)
{
	struct host_ring *h = record(OTHER, 0, FR_TIER_MAIN, 1000);

	host_dump_ring(&r->d, h);
	host_dump_rest(&r->d, OTHER, name, records);
	host_ring_free(h);
}

static void of_several_sessions_one_is_chosen(void **state)
{
	struct rig r;

	(void)state;
	make(&r);
	add_other(&r, "that", true);
	fails(recover(&r), FR_EXIT_NO_SESSION, "has several sessions:");
	has_told("this");
	has_told("that");
	no_session("thi", "has no session 'thi', but ");
	assert_int_equal(recover_session("this"), FR_EXIT_OK);
	check_rings(&r, RINGS);
	check_fact("session", "this");
	assert_int_equal(remove(out), 0);
	assert_int_equal(recover_session("that"), FR_EXIT_OK);
	check_fact("session", "that");
	drop(&r);
}

static void one_that_had_ended_counts_if_there_is_no_other(void **state)
{
	struct rig r;

	(void)state;
	make(&r);
	add_other(&r, "that", false);
	assert_int_equal(recover(&r), FR_EXIT_OK);
	check_fact("session", "this");
	check_rings(&r, RINGS);
	assert_null(strstr(told, "had ended"));
	assert_int_equal(remove(out), 0);
	assert_int_equal(recover_session("that"), FR_EXIT_OK);
	has_told("session 'that' had ended");
	check_fact("session", "that");
	assert_int_equal(remove(out), 0);
	drop(&r);
	fill(&r);
	put_rings(&r);
	host_dump_rest(&r.d, EPOCH, "this", false);
	assert_int_equal(recover(&r), FR_EXIT_OK);
	has_told("session 'this' had ended");
	check_rings(&r, RINGS);
	drop(&r);
}

/* A name that was used again: the session that records is meant. */
static void of_two_with_one_name_the_recording_one(void **state)
{
	struct rig r;

	(void)state;
	make(&r);
	add_other(&r, "this", false);
	assert_int_equal(recover(&r), FR_EXIT_OK);
	check_rings(&r, RINGS);
	drop(&r);
}

/* ---- the file ---- */

static void a_file_that_is_there_stays(void **state)
{
	char text[16] = {};
	struct rig r;
	int fd;

	(void)state;
	make(&r);
	fd = open(out, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_int_equal(write(fd, "precious", 8), 8);
	assert_int_equal(recover(&r), FR_EXIT_FAIL);
	has_told("it exists, and is never replaced");
	assert_int_equal(pread(fd, text, sizeof(text), 0), 8);
	assert_string_equal(text, "precious");
	close(fd);
	assert_int_equal(count_files(), 2);
	drop(&r);
}

static void a_directory_that_is_not_there(void **state)
{
	struct rig r;

	(void)state;
	make(&r);
	snprintf(out, sizeof(out), "%s/none/out.flight", dir);
	fails(recover(&r), FR_EXIT_FAIL, "out.flight");
	drop(&r);
}

/* At each size at which it may be full. */
static void on_a_full_disk_no_file_is_left(void **state)
{
	struct rlimit was, small;
	struct stat st;
	struct rig r;
	rlim_t sz;

	(void)state;
	make(&r);
	assert_int_equal(recover(&r), FR_EXIT_OK);
	assert_int_equal(stat(out, &st), 0);
	assert_int_equal(remove(out), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small = was;
	for (sz = 0; sz < (rlim_t)st.st_size; sz += 1 + st.st_size / 13) {
		small.rlim_cur = sz;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		fails(recover_session(NULL), FR_EXIT_FAIL, "cannot write snapshot");
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(recover_session(NULL), FR_EXIT_OK);
	check_rings(&r, RINGS);
	drop(&r);
}

/* Any page can begin like the kernel's text about itself. Sanitizers and valgrind see a look behind the end of it. */
static void a_build_id_that_is_cut_off_is_read_no_further(void **state)
{
	static const char *const id[] = {"", "\n", "a", "abc", "ab\n", "abc\nSYMBOL(x)=1", "no"};
	char info[128];
	struct rig r;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(id) / sizeof(*id); i++) {
		make(&r);
		snprintf(info, sizeof(info), "OSRELEASE=6\nSYMBOL(_stext)=ff\nBUILD-ID=%s", id[i]);
		host_dump_page(&r.d, info, strlen(info));
		assert_int_equal(recover(&r), FR_EXIT_OK);
		check_rings(&r, RINGS);
		assert_int_equal(remove(out), 0);
		drop(&r);
	}
}

static void what_is_no_dump_is_refused(void **state)
{
	FILE *f = fopen(core, "w");

	(void)state;
	fputs("text", f);
	fclose(f);
	fails(recover_session(NULL), FR_EXIT_CORRUPT, "is no crash dump");
	assert_int_equal(remove(core), 0);
	assert_int_equal(recover_session(NULL), FR_EXIT_FAIL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_whole_dump_gives_all_events),
		TEST(the_rest_of_the_session_is_there),
		TEST(empty_rings_lack_nothing),
		TEST(a_lap_that_a_reader_held_is_complete),
		TEST(pages_that_are_there_twice_do_no_harm),
		TEST(pages_of_the_new_ring_do_no_harm),
		TEST(a_writer_that_is_written_over_does_no_harm),
		TEST(a_missing_page_is_a_hole),
		TEST(copies_of_a_page_that_differ_are_left_out),
		TEST(a_ring_without_its_writer_is_missing),
		TEST(a_ring_without_its_slots_is_missing),
		TEST(without_any_ring_there_is_no_snapshot),
		TEST(a_lap_in_flight_is_a_hole),
		TEST(a_dump_that_is_cut_off_is_told),
		TEST(a_dump_without_its_end_is_told),
		TEST(damaged_words_harm_their_ring_only),
		TEST(rings_that_cannot_be_are_missing),
		TEST(a_dump_of_no_session),
		TEST(without_its_text_a_session_has_no_name),
		TEST(a_text_without_a_schema_is_none),
		TEST(of_several_sessions_one_is_chosen),
		TEST(one_that_had_ended_counts_if_there_is_no_other),
		TEST(of_two_with_one_name_the_recording_one),
		TEST(a_file_that_is_there_stays),
		TEST(a_directory_that_is_not_there),
		TEST(on_a_full_disk_no_file_is_left),
		TEST(a_build_id_that_is_cut_off_is_read_no_further),
		TEST(what_is_no_dump_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
