/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file as a whole: rings in, the same events, metadata and places out; writers that fail leave nothing. */
/* first: <signal.h> makes sa_handler, a field of ours, a macro */
#include "host_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "event_fields.h"
#include "host_check.h"
#include "live/snapshot/dump_int.h"

#define BUDGET_SZ	(64u << 20)
#define SMALL_BUDGET_SZ (6u << 20)

static char dir[] = "/tmp/fr-snapfile-XXXXXX";
static char path[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/fr-snapfile-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/a.flight", dir);
	return 0;
}

static int tear_down(void **state)
{
	char cmd[64];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

/* How many directory entries there are. */
static int count_files(void)
{
	char cmd[64];
	FILE *f;
	int cnt = -1;

	snprintf(cmd, sizeof(cmd), "ls -A %s | wc -l", dir);
	f = popen(cmd, "r");
	if (fscanf(f, "%d", &cnt) != 1)
		cnt = -1;
	pclose(f);
	return cnt;
}

static struct fr_snap_writer *create(void)
{
	struct fr_snap_writer *w;

	assert_int_equal(fr_snap_create(path, BUDGET_SZ, 1, &w), 0);
	assert_int_equal(fr_snap_put_schema(w, fr_schema_builtin()), 0);
	return w;
}

static u64 put_ring(struct fr_snap_writer *w, const struct host_ring *h, u64 since_ns)
{
	struct fr_snap_lap lap;
	u64 total = 0;
	u32 i;

	fr_snap_watch_laps(w, host_ring_count, &total);
	for (i = 0; host_ring_lap(h, i, &lap); i++) {
		if (lap.sz)
			assert_int_equal(fr_snap_put_lap(w, &lap, since_ns), 0);
	}
	assert_int_equal(fr_snap_settle(w), 0);
	return total;
}

/* Are the events of the ring's CPU and tier in the file exactly the last cnt that were written to it? */
static void check_ring(struct fr_snap *s, const struct host_ring *h, u64 cnt)
{
	const struct host_rec *rec = h->rec + h->rec_cnt - cnt;
	struct fr_batch b = {};
	size_t chunks, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &chunks);
	u32 k;

	for (i = 0; i < chunks; i++) {
		if (c[i].cpu != h->r.cpu || c[i].tier != h->r.tier)
			continue;
		assert_int_equal(fr_snap_read_chunk(s, i, &b), 0);
		assert_int_equal(b.row_cnt, c[i].row_cnt);
		assert_true(cnt >= b.row_cnt);
		for (k = 0; k < b.row_cnt; k++, rec++) {
			struct fr_row row = fr_batch_row(&b, k);

			check_row(&row, rec);
		}
		cnt -= b.row_cnt;
	}
	assert_int_equal(cnt, 0);
	fr_batch_free(&b);
}

static void test_events_come_back(void **state)
{
	struct host_ring *a = host_ring_new(3, FR_TIER_MAIN, 24, 16), *b = host_ring_new(0, FR_TIER_LIFE, 4, 1);
	struct fr_snap_writer *w;
	struct fr_snap *s;
	u64 in_a, in_b;
	char cmd[256];

	(void)state;
	host_ring_fill(a, 60000);
	host_ring_fill(b, 50);
	w = create();
	in_a = put_ring(w, a, 0);
	in_b = put_ring(w, b, 0);
	assert_true(in_a > 10000 && in_a < a->rec_cnt);
	assert_true(in_b > 10);
	assert_int_equal(fr_snap_finish(w), 0);
	assert_int_equal(count_files(), 1);
	snprintf(cmd, sizeof(cmd), "zstd -tq %s && zstd -dcq %s > %s/x", path, path, dir);
	assert_int_equal(system(cmd), 0);
	assert_int_equal(fr_snap_open(path, &s), 0);
	check_ring(s, a, in_a);
	check_ring(s, b, in_b);
	assert_int_equal(fr_snap_damage(s), 0);
	fr_snap_close(s);
	host_ring_free(a);
	host_ring_free(b);
}

static void test_since_leaves_the_older_out(void **state)
{
	struct host_ring *h = host_ring_new(1, FR_TIER_MAIN, 8, 4);
	struct fr_snap_writer *w;
	struct fr_snap *s;
	u64 cnt = 0, since_ns;
	u32 i;

	(void)state;
	host_ring_fill(h, 1000);
	since_ns = h->rec[900].ts;
	for (i = 0; i < h->rec_cnt; i++)
		cnt += h->rec[i].ts >= since_ns;
	w = create();
	assert_int_equal(put_ring(w, h, since_ns), cnt);
	assert_int_equal(fr_snap_finish(w), 0);
	assert_int_equal(fr_snap_open(path, &s), 0);
	check_ring(s, h, cnt);
	fr_snap_close(s);
	host_ring_free(h);
}

/* Padding of the struct may differ, nothing else. */
static void check_ring_entry(const struct fr_snap_ring *a, const struct fr_snap_ring *b)
{
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->tier, b->tier);
	assert_int_equal(a->slot_cnt, b->slot_cnt);
	assert_int_equal(a->subbuf_sz, b->subbuf_sz);
	assert_memory_equal(&a->written, &b->written, sizeof(*a) - offsetof(struct fr_snap_ring, written));
}

static void test_metadata_comes_back(void **state)
{
	const struct fr_snap_task *back;
	const char *procs;
	struct fr_snap_task task[3] = {{.tid = 7, .start_ns = 9}, {.tid = 8}, {.tid = 9}};
	struct fr_snap_ring ring = {
		.cpu = 2, .tier = 1, .slot_cnt = 5, .subbuf_sz = 4096, .lost = {1, 2, 3}, .filtered = {4, 5, 6, 7}};
	struct fr_snap_hole hole = {.cpu = 2, .tier = 1, .why = FR_HOLE_damaged, .first_seq = 3, .last_seq = 4, .until_ns = 77};
	struct fr_snap_clock clock = {1, 2, 3, 4, 5, 6};
	struct fr_snap_writer *w = create();
	struct fr_snap *s;
	size_t cnt;

	(void)state;
	strcpy(task[0].task.comm, "first");
	task[0].task.exit_code = -5;
	ring.written = ~0ULL;
	ring.losers = 12;
	assert_int_equal(fr_snap_put_fact(w, "host", "%s-%d", "box\nwith\\lines", 4), 0);
	assert_int_equal(fr_snap_put_fact(w, "empty", "%s", ""), 0);
	assert_int_equal(fr_snap_put_tasks(w, task, 3), 0);
	assert_int_equal(fr_snap_put_fact(w, "late", "1"), 0);
	assert_int_equal(fr_snap_put_fact(w, "events", "sched_switch,sys_enter,nosuch"), 0);
	assert_int_equal(fr_snap_put_fact(w, "events_missing", "sys_enter"), 0);
	assert_int_equal(fr_snap_put_rings(w, &ring, 1), 0);
	assert_int_equal(fr_snap_put_holes(w, &hole, 1), 0);
	assert_int_equal(fr_snap_put_holes(w, &hole, 1), 0);
	assert_int_equal(fr_snap_put_clocks(w, &clock, 1), 0);
	assert_int_equal(fr_snap_put_procs(w, "{}\n{\"pid\":1}\n", 13), 0);
	assert_int_equal(fr_snap_put_fact(w, "last", "2"), 0);
	assert_int_equal(fr_snap_finish(w), 0);
	assert_int_equal(fr_snap_open(path, &s), 0);
	assert_int_equal(fr_snap_damage(s), 0);
	assert_string_equal(fr_snap_fact(s, "host"), "box\nwith\\lines-4");
	assert_string_equal(fr_snap_fact(s, "empty"), "");
	assert_string_equal(fr_snap_fact(s, "late"), "1");
	assert_string_equal(fr_snap_fact(s, "last"), "2");
	assert_null(fr_snap_fact(s, "none"));
	assert_true(fr_snap_records(s, "sched_switch"));
	assert_false(fr_snap_records(s, "sys_enter") || fr_snap_records(s, "sys_exit") || fr_snap_records(s, "nosuch"));
	back = fr_snap_tasks(s, &cnt);
	assert_int_equal(cnt, 3);
	assert_memory_equal(&back[0].task, &task[0].task, sizeof(task[0].task));
	assert_int_equal(back[0].tid, 7);
	assert_int_equal(back[0].start_ns, 9);
	assert_int_equal(back[2].tid, 9);
	check_ring_entry(fr_snap_rings(s, &cnt), &ring);
	assert_int_equal(cnt, 1);
	assert_int_equal(fr_snap_holes(s, &cnt)[1].why, hole.why);
	assert_int_equal(fr_snap_holes(s, &cnt)[1].last_seq, hole.last_seq);
	assert_int_equal(fr_snap_holes(s, &cnt)[1].until_ns, hole.until_ns);
	assert_int_equal(cnt, 2);
	assert_memory_equal(fr_snap_clocks(s, &cnt), &clock, sizeof(clock));
	assert_int_equal(cnt, 1);
	procs = fr_snap_procs(s, &cnt);
	assert_int_equal(cnt, 13);
	assert_memory_equal(procs, "{}\n{\"pid\":1}\n", 13);
	assert_non_null(fr_schema_find(fr_snap_schema(s), "sched_switch"));
	fr_snap_close(s);
}

/* ---- writers that do not come to their end ---- */

static void test_nothing_is_there_before_it_is_whole(void **state)
{
	struct fr_snap_writer *w = create();
	struct stat st;

	(void)state;
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(count_files(), 1); /* the temporary one */
	assert_int_equal(fr_snap_finish(w), 0);
	assert_int_equal(count_files(), 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	w = NULL;
	fr_snap_abort(w);
}

static void test_abort_leaves_nothing(void **state)
{
	struct fr_snap_writer *w = create();
	struct host_ring *h = host_ring_new(0, 0, 8, 4);

	(void)state;
	host_ring_fill(h, 500);
	put_ring(w, h, 0);
	fr_snap_abort(w);
	assert_int_equal(count_files(), 0);
	host_ring_free(h);
}

static void write_text(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	fputs(text, f);
	fclose(f);
}

static bool holds_text(const char *name, const char *text)
{
	char buf[64] = {};
	FILE *f = fopen(name, "r");
	size_t n = f ? fread(buf, 1, sizeof(buf) - 1, f) : 0;

	if (f)
		fclose(f);
	return n == strlen(text) && !strcmp(buf, text);
}

static void test_no_file_is_replaced(void **state)
{
	struct fr_snap_writer *w;

	(void)state;
	write_text(path, "mine");
	assert_int_equal(fr_snap_create(path, BUDGET_SZ, 1, &w), -EEXIST);
	assert_int_equal(unlink(path), 0);
	w = create();
	write_text(path, "mine"); /* in the meantime */
	assert_int_equal(fr_snap_finish(w), -EEXIST);
	assert_true(holds_text(path, "mine"));
	assert_int_equal(count_files(), 1);
}

static void test_bad_paths_are_errors(void **state)
{
	struct fr_snap_writer *w;
	char name[128];

	(void)state;
	snprintf(name, sizeof(name), "%s/none/a.flight", dir);
	assert_int_equal(fr_snap_create(name, BUDGET_SZ, 1, &w), -ENOENT);
	snprintf(name, sizeof(name), "%s/", dir);
	assert_int_equal(fr_snap_create(name, BUDGET_SZ, 1, &w), -EISDIR);
	assert_int_equal(fr_snap_create(path, 1000, 1, &w), -ENOBUFS);
	assert_int_equal(count_files(), 0);
}

/* In a process of its own: what the failing limit makes of it, as an exit status. */
static int with_file_limit(const struct host_ring *h, rlim_t limit)
{
	struct rlimit r = {limit, limit};
	struct fr_snap_writer *w;
	int status;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGXFSZ, SIG_IGN);
		if (!freopen("/dev/null", "w", stderr) || setrlimit(RLIMIT_FSIZE, &r) ||
		    fr_snap_create(path, SMALL_BUDGET_SZ, 1, &w) || fr_snap_put_schema(w, fr_schema_builtin()))
			_exit(100);
		host_ring_put_laps(h, w);
		_exit(-fr_snap_finish(w));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Wherever the limit falls, the last flush included, there is an error and no file. */
static void test_failing_writes_leave_nothing(void **state)
{
	struct host_ring *h = host_ring_new(0, 0, 192, 16);
	struct stat st;
	rlim_t limits[6] = {0, 100, 65536};
	size_t i;

	(void)state;
	h->remember = false;
	host_ring_fill(h, 300000);
	assert_int_equal(with_file_limit(h, RLIM_INFINITY), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size > 7 << 19); /* more than one flush */
	assert_int_equal(unlink(path), 0);
	limits[3] = st.st_size / 2;
	limits[4] = st.st_size - 100;
	limits[5] = st.st_size - 1;
	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		assert_int_equal(with_file_limit(h, limits[i]), EFBIG);
		assert_int_equal(count_files(), 0);
	}
	host_ring_free(h);
}

/* A writer in another process, which says when it has begun. It ends when it is told to, without finishing. */
static pid_t begin_elsewhere(int *tell)
{
	struct fr_snap_writer *w;
	int ready[2], go[2];
	char name[128], c = 0;
	pid_t pid;

	if (pipe(ready) || pipe(go))
		return -1;
	pid = fork();
	if (!pid) {
		close(go[1]);
		snprintf(name, sizeof(name), "%s/other.flight", dir);
		if (fr_snap_create(name, BUDGET_SZ, 1, &w) || write(ready[1], "r", 1) != 1)
			_exit(1);
		_exit(read(go[0], &c, 1) == 1);
	}
	close(go[0]);
	close(ready[1]);
	*tell = go[1];
	if (read(ready[0], &c, 1) != 1)
		return -1;
	close(ready[0]);
	return pid;
}

static void test_leftovers_of_the_dead_are_removed(void **state)
{
	struct fr_snap_writer *w;
	char foreign[128];
	int tell = -1;
	pid_t pid;

	(void)state;
	snprintf(foreign, sizeof(foreign), "%s/.notes.tmp-12", dir);
	write_text(foreign, "not a snapshot");
	pid = begin_elsewhere(&tell);
	assert_true(pid > 0);
	assert_int_equal(count_files(), 2);
	fr_snap_abort(create()); /* it lives: its file stays */
	assert_int_equal(count_files(), 2);
	close(tell);
	waitpid(pid, NULL, 0);
	assert_int_equal(count_files(), 2); /* dead, it left it */
	w = create();
	assert_int_equal(count_files(), 2);
	fr_snap_abort(w);
	assert_int_equal(count_files(), 1);
	assert_true(holds_text(foreign, "not a snapshot"));
}

static void test_a_small_budget_suffices(void **state)
{
	struct host_ring *h = host_ring_new(2, 0, 8, 16);
	struct fr_snap_writer *w;
	struct fr_snap *s;
	u64 cnt;

	(void)state;
	host_ring_fill(h, 20000);
	assert_int_equal(fr_snap_create(path, SMALL_BUDGET_SZ, 1, &w), 0);
	assert_int_equal(fr_snap_put_schema(w, fr_schema_builtin()), 0);
	cnt = put_ring(w, h, 0);
	assert_int_equal(fr_snap_finish(w), 0);
	assert_int_equal(fr_snap_open(path, &s), 0);
	check_ring(s, h, cnt);
	fr_snap_close(s);
	host_ring_free(h);
}

/* Whatever size sub-buffers have, what a dump gives its writer is enough. */
static void test_the_largest_lap_fits_a_dump(void **state)
{
	struct host_ring *h = host_ring_new(2, FR_TIER_MAIN, 2, FR_SUBBUF_PAGE_MAX);
	struct fr_rec_softirq_entry rec = {.vec = 3};
	struct fr_snap_writer *w;
	struct fr_snap_lap lap;
	struct fr_snap *s;

	(void)state;
	h->remember = false;
	do {
		host_clock_ns++;
		host_ring_put(h, FR_EV_softirq_entry, &rec, sizeof(rec));
		assert_true(host_ring_lap(h, 0, &lap));
	} while (lap.sz < FR_SUBBUF_PAGE_MAX * FR_PAGE_SZ);
	assert_int_equal(fr_snap_create(path, fr_snap_writer_sz(1), 1, &w), 0);
	assert_int_equal(fr_snap_put_schema(w, fr_schema_builtin()), 0);
	assert_in_range(put_ring(w, h, 0), 60000, 70000);
	assert_int_equal(fr_snap_finish(w), 0);
	assert_int_equal(fr_snap_open(path, &s), 0);
	assert_int_equal(fr_snap_damage(s), 0);
	fr_snap_close(s);
	host_ring_free(h);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_events_come_back),
		TEST(test_since_leaves_the_older_out),
		TEST(test_metadata_comes_back),
		TEST(test_nothing_is_there_before_it_is_whole),
		TEST(test_abort_leaves_nothing),
		TEST(test_no_file_is_replaced),
		TEST(test_bad_paths_are_errors),
		TEST(test_failing_writes_leave_nothing),
		TEST(test_leftovers_of_the_dead_are_removed),
		TEST(test_a_small_budget_suffices),
		TEST(test_the_largest_lap_fits_a_dump),
	};

	return cmocka_run_group_tests_name("snapfile", tests, NULL, NULL);
}
