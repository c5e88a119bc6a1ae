/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Crash dumps of rings: the snapshot has exactly the events of the rings, in whatever order their pages lie in memory, and
 * whatever else lies there; or there is none, and the disk is as it was.
 */
#include "recover_rig.h"

#include <signal.h>
#include <sys/resource.h>

#define OTHER 0x77777777u /* another session's epoch */

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
		TEST(a_file_that_is_there_stays),
		TEST(a_directory_that_is_not_there),
		TEST(on_a_full_disk_no_file_is_left),
		TEST(a_build_id_that_is_cut_off_is_read_no_further),
		TEST(what_is_no_dump_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
