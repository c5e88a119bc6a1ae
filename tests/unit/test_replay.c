/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Snapshots of rings in the test's own memory, replayed: each event once, in order, under the right name. */
#include "event_fields.h"
#include "host_ring.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "read/replay/check.h"
#include "read/replay/gaps.h"
#include "read/replay/replay.h"
#include "read/replay/summary.h"

#define BUDGET_SZ (64u << 20)
#define RING_CNT  4
#define FILE_CNT  3
#define SEC	  1000000000ULL

static char dir[32];

/* A host with two CPUs and two tiers, and what snapshots of it should hold: by ring, which of its records. */
struct host {
	struct host_ring *ring[RING_CNT];
	bool *kept[RING_CNT];
	const char *boot_id;
	u64 real_ns;	/* wall time of the clock's zero */
	u64 trigger_ns; /* 0: none */
};

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/fr-replay-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	char cmd[64];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

static const char *path_of(u32 i)
{
	static char path[FILE_CNT][64];

	snprintf(path[i], sizeof(path[i]), "%s/%u.flight", dir, i);
	return path[i];
}

static struct host *host_new(u32 epoch, const char *boot_id, u64 real_ns)
{
	struct host *h = calloc(1, sizeof(*h));
	u32 i;

	h->boot_id = boot_id;
	h->real_ns = real_ns;
	for (i = 0; i < RING_CNT; i++) {
		h->ring[i] = host_ring_new(i / 2, i % 2, 6, 2);
		h->ring[i]->r.epoch = epoch;
		h->kept[i] = calloc(100000, sizeof(bool));
	}
	return h;
}

static void host_free(struct host *h)
{
	u32 i;

	for (i = 0; i < RING_CNT; i++) {
		host_ring_free(h->ring[i]);
		free(h->kept[i]);
	}
	free(h);
}

/* A record in each ring at one time, the last ring first. */
static void host_tie(struct host *h)
{
	u32 i;

	host_clock_ns++;
	for (i = RING_CNT; i--;) {
		struct fr_rec_softirq_entry rec = {.task = i};

		assert_int_equal(host_ring_put(h->ring[i], FR_EV_softirq_entry, &rec, sizeof(rec)), 0);
	}
}

/* A few records here, a few there: rings interleave, and now and then all share a time. */
static void host_run(struct host *h, u32 cnt)
{
	while (cnt--) {
		host_ring_fill(h->ring[host_random() % RING_CNT], 1 + host_random() % 3);
		if (cnt % 16 == 0)
			host_tie(h);
	}
}

static void keep_lap(struct host *h, u32 ring, u64 seq)
{
	u32 i;

	for (i = 0; i < h->ring[ring]->rec_cnt; i++)
		h->kept[ring][i] |= h->ring[ring]->rec[i].seq == seq;
}

/* Laps whose number leaves rest `hole` when divided by 3 are not in the snapshot: 3 for all. */
static void put_ring(struct host *h, u32 ring, struct fr_snap_writer *w, u32 hole)
{
	struct fr_snap_lap lap;
	u32 i;

	for (i = 0; host_ring_lap(h->ring[ring], i, &lap); i++) {
		if (!lap.sz || lap.seq % 3 == hole)
			continue;
		assert_int_equal(fr_snap_put_lap(w, &lap, 0), 0);
		keep_lap(h, ring, lap.seq);
	}
	assert_int_equal(fr_snap_settle(w), 0);
}

static void snapshot(struct host *h, u32 file, u32 hole)
{
	struct fr_snap_clock c = {.ts = 1, .real_ns = h->real_ns + 1};
	struct fr_snap_writer *w;
	u32 i;

	assert_int_equal(fr_snap_create(path_of(file), BUDGET_SZ, 1, &w), 0);
	assert_int_equal(fr_snap_put_schema(w, fr_schema_builtin()), 0);
	assert_int_equal(fr_snap_put_fact(w, "boot_id", "%s", h->boot_id), 0);
	if (h->trigger_ns)
		assert_int_equal(fr_snap_put_fact(w, "trigger_ts", "%llu", (unsigned long long)h->trigger_ns), 0);
	assert_int_equal(fr_snap_put_clocks(w, &c, 1), 0);
	for (i = 0; i < RING_CNT; i++)
		put_ring(h, i, w, hole);
	assert_int_equal(fr_snap_finish(w), 0);
}

static struct fr_replay *open_replay(u32 cnt, const struct fr_replay_opts *opts)
{
	const char *path[FILE_CNT] = {path_of(0), path_of(1), path_of(2)};
	struct fr_replay *r = NULL;

	assert_int_equal(fr_replay_open(path, cnt, opts, &r), 0);
	return r;
}

/* The record a row came from must have been kept, and is taken off the list. */
static void take(struct host *h, const struct fr_row *row)
{
	u32 ring = row->cpu * 2 + row->tier, i, off;
	u64 seq;

	fr_row_pos(row, &seq, &off);
	for (i = 0; i < h->ring[ring]->rec_cnt; i++) {
		const struct host_rec *rec = &h->ring[ring]->rec[i];

		if (rec->seq == seq && host_place(rec) == off) {
			assert_true(h->kept[ring][i]);
			assert_int_equal(rec->ts, row->ts);
			h->kept[ring][i] = false;
			return;
		}
	}
	fail_msg("no record at lap %llu, offset %u", (unsigned long long)seq, off);
}

static void assert_all_taken(const struct host *h)
{
	u32 ring, i;

	for (ring = 0; ring < RING_CNT; ring++)
		for (i = 0; i < h->ring[ring]->rec_cnt; i++)
			assert_false(h->kept[ring][i]);
}

/* Replays all files; rows come in order of (time, cpu, tier). Returns how many. */
static u64 replay_all(u32 cnt, struct host *const *hosts, u32 host_cnt)
{
	struct fr_replay_opts opts = {.tiers = ~0u};
	struct fr_replay *r = open_replay(cnt, &opts);
	u64 last = 0, rows = 0;
	struct fr_replay_run run;
	u32 last_ring = 0, i;
	struct host *from;
	int got;

	while ((got = fr_replay_next(r, &run)) > 0) {
		for (i = run.from; i < run.to; i++, rows++) {
			struct fr_row row = fr_batch_row(run.b, i);
			u64 key = row.ts + run.shift_ns;
			u32 ring = row.cpu * 2 + row.tier;

			assert_true(key > last || (key == last && ring >= last_ring));
			last = key;
			last_ring = ring;
			from = hosts[host_cnt > 1 && run.b->epoch == hosts[1]->ring[0]->r.epoch];
			assert_int_equal(key, row.ts + (host_cnt > 1 ? from->real_ns : 0));
			take(from, &row);
		}
	}
	assert_int_equal(got, 0);
	assert_false(fr_replay_say_damage(r));
	fr_replay_close(r);
	return rows;
}

static void test_one_file(void **state)
{
	struct host *h = host_new(1, "a", 0);

	(void)state;
	host_run(h, 2000);
	snapshot(h, 0, 3);
	assert_true(replay_all(1, &h, 1) > 100);
	assert_all_taken(h);
	host_free(h);
}

/* Three snapshots that overlap, each with other laps missing: each event once, and all that any of them holds. */
static void test_overlap(void **state)
{
	struct host *h = host_new(1, "a", 0);
	u64 one;

	(void)state;
	host_run(h, 2500); /* enough to go round */
	snapshot(h, 0, 0);
	one = replay_all(1, &h, 1);
	snapshot(h, 1, 3); /* the same moment: only the holes of the first are new */
	host_run(h, 500);
	snapshot(h, 2, 1);
	unlink(path_of(0));
	host_run(h, 1);
	snapshot(h, 0, 0);
	assert_true(replay_all(3, &h, 1) > one);
	assert_all_taken(h);
	host_free(h);
}

/* Two boots whose own clocks have nothing to do with each other: by wall time. */
static void test_two_boots(void **state)
{
	struct host *h[2] = {host_new(1, "a", 1000 * SEC), host_new(2, "b", 0)};
	u64 begin = host_clock_ns;

	(void)state;
	host_run(h[0], 300);
	/* the second one's clock stands 500 s later at the same wall time */
	host_clock_ns = begin + 500 * SEC;
	h[1]->real_ns = 500 * SEC;
	host_run(h[1], 300);
	snapshot(h[0], 0, 3);
	snapshot(h[1], 1, 3);
	assert_true(replay_all(2, h, 2) > 100);
	assert_all_taken(h[0]);
	assert_all_taken(h[1]);
	host_free(h[0]);
	host_free(h[1]);
}

static u64 count_window(const char *since, const char *until)
{
	struct fr_replay_opts opts = {.tiers = ~0u};
	struct fr_replay_run run;
	struct fr_replay *r;
	u64 rows = 0;

	if (since)
		assert_int_equal(fr_when_parse(since, &opts.since), 0);
	if (until)
		assert_int_equal(fr_when_parse(until, &opts.until), 0);
	r = open_replay(1, &opts);
	while (fr_replay_next(r, &run) > 0)
		rows += run.to - run.from;
	fr_replay_close(r);
	return rows;
}

static u64 count_kept(const struct host *h, u64 since_ns, u64 until_ns)
{
	u32 ring, i;
	u64 cnt = 0;

	for (ring = 0; ring < RING_CNT; ring++)
		for (i = 0; i < h->ring[ring]->rec_cnt; i++)
			cnt += h->kept[ring][i] && h->ring[ring]->rec[i].ts >= since_ns && h->ring[ring]->rec[i].ts <= until_ns;
	return cnt;
}

static void find_span(const struct host *h, u64 *begin_ns, u64 *end_ns)
{
	u32 ring, i;

	*begin_ns = ~0ULL;
	*end_ns = 0;
	for (ring = 0; ring < RING_CNT; ring++) {
		for (i = 0; i < h->ring[ring]->rec_cnt; i++) {
			u64 ts = h->ring[ring]->rec[i].ts;

			if (h->kept[ring][i] && ts < *begin_ns)
				*begin_ns = ts;
			if (h->kept[ring][i] && ts > *end_ns)
				*end_ns = ts;
		}
	}
}

static void test_window(void **state)
{
	struct host *h = host_new(1, "a", 0);
	u64 begin, end, mid;
	char text[32];

	(void)state;
	host_clock_ns = 20 * SEC; /* so that times have the ten digits an absolute one needs */
	host_run(h, 3000);
	snapshot(h, 0, 3);
	find_span(h, &begin, &end);
	mid = begin + (end - begin) / 2;
	assert_int_equal(count_window(NULL, NULL), count_kept(h, 0, ~0ULL));
	assert_int_equal(count_window("-1ms", NULL), count_kept(h, end - 1000000, ~0ULL));
	assert_int_equal(count_window(NULL, "5ms"), count_kept(h, 0, begin + 5000000));
	assert_int_equal(count_window("+1ms", "-1ms"), count_kept(h, begin + 1000000, end - 1000000));
	assert_int_equal(count_window("50%", NULL), count_kept(h, mid, ~0ULL));
	assert_int_equal(count_window("-999s", NULL), count_kept(h, 0, ~0ULL));
	assert_int_equal(count_window("999s", NULL), 0);
	assert_int_equal(count_window("-1ms", "1ms"), 0);
	/* both ends belong to it */
	snprintf(text, sizeof(text), "%llu", (unsigned long long)begin);
	assert_int_equal(count_window(NULL, text), count_kept(h, begin, begin));
	snprintf(text, sizeof(text), "%llu", (unsigned long long)end);
	assert_int_equal(count_window(text, NULL), count_kept(h, end, end));
	assert_true(count_kept(h, end, end) > 0);
	host_free(h);
}

/* From the trigger on: that of the first file that has one, also for a boot that has none. */
static void test_trigger_window(void **state)
{
	struct fr_replay_opts opts = {.tiers = ~0u, .since.kind = FR_WHEN_TRIGGER};
	const char *path[1] = {path_of(0)};
	struct host *h = host_new(1, "a", 0);
	struct fr_replay *r = NULL;
	u64 begin, end, mid;

	(void)state;
	host_run(h, 3000);
	snapshot(h, 0, 3);
	assert_int_equal(fr_replay_open(path, 1, &opts, &r), -EINVAL);
	unlink(path_of(0));
	find_span(h, &begin, &end);
	mid = begin + (end - begin) / 2;
	h->trigger_ns = mid;
	snapshot(h, 0, 3);
	assert_int_equal(count_window("trigger", NULL), count_kept(h, mid, ~0ULL));
	/* events are 5 ms apart at most: host_ring_fill() */
	assert_int_equal(count_window("trigger-20ms", "trigger+500us"), count_kept(h, mid - 20000000, mid + 500000));
	assert_true(count_kept(h, mid - 20000000, mid + 500000) > 0);
	host_free(h);
}

/* A tid that was one task's and then another's: each event under the name of its time. */
static void test_names(void **state)
{
	struct fr_snap_task task[2] = {{.tid = 77, .start_ns = 2 * SEC, .task = {.tgid = 76, .comm = "before"}},
				       {.tid = 77, .start_ns = 3 * SEC, .task = {.tgid = 77, .comm = "after"}}};
	struct fr_replay_opts opts = {.tiers = ~0u, .names = true};
	struct host_ring *ring = host_ring_new(0, FR_TIER_MAIN, 4, 2);
	struct fr_rec_softirq_entry rec = {.task = 77};
	struct fr_snap_writer *w;
	struct fr_replay_run run;
	struct fr_snap_lap lap;
	struct fr_replay *r;

	(void)state;
	for (host_clock_ns = 2 * SEC + 1; host_clock_ns < 5 * SEC; host_clock_ns += SEC)
		assert_int_equal(host_ring_put(ring, FR_EV_softirq_entry, &rec, sizeof(rec)), 0);
	assert_int_equal(fr_snap_create(path_of(0), BUDGET_SZ, 1, &w), 0);
	assert_int_equal(fr_snap_put_schema(w, fr_schema_builtin()), 0);
	assert_int_equal(fr_snap_put_tasks(w, task, 2), 0);
	assert_true(host_ring_lap(ring, 0, &lap));
	assert_int_equal(fr_snap_put_lap(w, &lap, 0), 0);
	assert_int_equal(fr_snap_finish(w), 0);
	r = open_replay(1, &opts);
	assert_int_equal(fr_replay_next(r, &run), 1);
	assert_int_equal(run.to - run.from, 3);
	for (; run.from < run.to; run.from++) {
		struct fr_row row = fr_batch_row(run.b, run.from);
		struct fr_who who = fr_view_who(run.view, &row);
		const struct fr_snap_task *want = &task[row.ts >= 3 * SEC];

		assert_int_equal(who.pid, want->task.tgid);
		assert_int_equal(who.len, strlen(want->task.comm));
		assert_memory_equal(who.comm, want->task.comm, who.len);
	}
	fr_replay_close(r);
	host_ring_free(ring);
}

/* A call that is entered at 2 s and left at 4 s, on CPU 0, of which CPU 1 knows the time in about, without a hole. */
static void write_call_beside(const struct fr_snap_ring *other, const struct fr_snap_hole *hole)
{
	struct fr_snap_ring about[2] = {{.cpu = 0}, *other};
	struct host_ring *ring = host_ring_new(0, FR_TIER_MAIN, 4, 2);
	struct fr_rec_sys_enter enter = {.task = 77, .id = 7};
	struct fr_rec_sys_exit leave = {.task = 77, .id = 7};
	struct fr_snap_writer *w;
	struct fr_snap_lap lap;

	host_clock_ns = 2 * SEC;
	assert_int_equal(host_ring_put(ring, FR_EV_sys_enter, &enter, sizeof(enter)), 0);
	host_clock_ns = 4 * SEC;
	assert_int_equal(host_ring_put(ring, FR_EV_sys_exit, &leave, sizeof(leave)), 0);
	unlink(path_of(0));
	assert_int_equal(fr_snap_create(path_of(0), BUDGET_SZ, 1, &w), 0);
	assert_int_equal(fr_snap_put_schema(w, fr_schema_builtin()), 0);
	assert_int_equal(fr_snap_put_rings(w, about, 2), 0);
	assert_int_equal(fr_snap_put_holes(w, hole, hole ? 1 : 0), 0);
	assert_true(host_ring_lap(ring, 0, &lap));
	assert_int_equal(fr_snap_put_lap(w, &lap, 0), 0);
	assert_int_equal(fr_snap_finish(w), 0);
	host_ring_free(ring);
}

static void write_call(u64 horizon_ns, const struct fr_snap_hole *hole)
{
	write_call_beside(&(struct fr_snap_ring){.cpu = 1, .horizon_ns = horizon_ns}, hole);
}

static u64 count_matches(const char *filter, u32 tiers, u64 since_ns)
{
	struct fr_replay_opts opts = {.tiers = tiers, .filter = filter, .since = {.kind = FR_WHEN_CLOCK, .ns = since_ns}};
	struct fr_replay *r = open_replay(1, &opts);
	struct fr_replay_run run;
	u64 cnt = 0;
	u32 i;

	while (fr_replay_next(r, &run) > 0) {
		for (i = run.from; i < run.to; i++) {
			struct fr_row row = fr_batch_row(run.b, i);

			assert_true(row.ts >= since_ns && tiers >> row.tier & 1);
			cnt += fr_filter_match(run.filter, run.view, &row);
		}
	}
	fr_replay_close(r);
	return cnt;
}

/* What a row ends is known from rows that are not shown; where rows are missing, it is not known. */
static void test_pairs(void **state)
{
	struct fr_snap_hole hole = {.cpu = 1, .first_seq = 1, .last_seq = 1, .since_ns = 3 * SEC, .until_ns = 3 * SEC + 1};

	(void)state;
	write_call(0, NULL);
	assert_int_equal(count_matches("latency >= 2s && latency < 2.001s", 1, 0), 1);
	assert_int_equal(count_matches("latency >= 2s", 1, 3 * SEC), 1);
	assert_int_equal(count_matches("latency >= 2s && tid == 77 || tid == 77", 1, 3 * SEC), 1);
	assert_int_equal(count_matches("latency >= 2s || event == sys_enter", 1, 0), 2);
	assert_int_equal(count_matches("latency >= 2s", 1, 5 * SEC), 0);
	assert_int_equal(count_matches("latency >= 2s", 1 << FR_TIER_LIFE, 0), 0);
	write_call(2 * SEC - 1, NULL);
	assert_int_equal(count_matches("latency >= 2s", 1, 0), 1);
	write_call(3 * SEC, NULL);
	assert_int_equal(count_matches("latency", 1, 0), 0);
	write_call(0, &hole);
	assert_int_equal(count_matches("latency", 1, 0), 0);
	hole.cpu = 0; /* its own, after which it is not seen to run */
	write_call(0, &hole);
	assert_int_equal(count_matches("latency", 1, 0), 0);
	hole.since_ns = SEC;
	hole.until_ns = 2 * SEC - 1;
	write_call(0, &hole);
	assert_int_equal(count_matches("latency", 1, 0), 1);
	/* CPU 1's ring was copied before the call ended */
	write_call_beside(&(struct fr_snap_ring){.cpu = 1, .end_ns = 3 * SEC}, NULL);
	assert_int_equal(count_matches("latency", 1, 0), 0);
	write_call_beside(&(struct fr_snap_ring){.cpu = 1, .end_ns = 4 * SEC}, NULL);
	assert_int_equal(count_matches("latency", 1, 0), 1);
}

/* A snapshot covers a CPU until its ring was copied: what the next one does not have from there on is a gap. */
static void test_gap_behind_an_early_ring(void **state)
{
	static const u64 end_ns[] = {3 * SEC, 7 * SEC / 2, 0};
	struct fr_gaps g;
	struct fr_replay *r;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		g = (struct fr_gaps){0};
		write_call_beside(&(struct fr_snap_ring){.cpu = 1, .end_ns = end_ns[i]}, NULL);
		r = open_replay(1, &(struct fr_replay_opts){.tiers = 1});
		assert_int_equal(fr_gaps_add(&g, fr_replay_snap(r, 0)), 0);
		fr_replay_close(r);
		write_call(7 * SEC / 2, NULL); /* the next one has CPU 1 from there on */
		r = open_replay(1, &(struct fr_replay_opts){.tiers = 1});
		assert_int_equal(fr_gaps_add(&g, fr_replay_snap(r, 0)), 0);
		fr_replay_close(r);
		assert_int_equal(fr_gaps_ready(&g), 0);
		assert_int_equal(g.gap.cnt, i == 0);
		if (!i) {
			assert_int_equal(g.gap.g[0].cpu, 1);
			assert_int_equal(g.gap.g[0].why, FR_GAP_between);
			assert_true(g.gap.g[0].since_ns == 3 * SEC && g.gap.g[0].until_ns == 7 * SEC / 2);
		}
		fr_gaps_clear(&g);
	}
}

static void flip(const char *path, long at)
{
	FILE *f = fopen(path, "r+");
	int c;

	fseek(f, at, SEEK_SET);
	c = getc(f);
	fseek(f, at, SEEK_SET);
	putc(c ^ 0x10, f);
	fclose(f);
}

/* A damaged chunk is missing, and said; every other event comes, and none that was not written. */
static void test_damage(void **state)
{
	struct host *h = host_new(1, "a", 0);
	struct fr_replay_opts opts = {.tiers = ~0u};
	struct fr_check check = {0};
	const struct fr_chunk *c;
	struct fr_replay_run run;
	struct fr_replay *r;
	struct fr_snap *s;
	u64 rows = 0, lost;
	size_t cnt;
	u32 i;

	(void)state;
	host_run(h, 1000);
	snapshot(h, 0, 3);
	assert_int_equal(fr_snap_open(path_of(0), &s), 0);
	c = fr_snap_chunks(s, &cnt);
	assert_true(cnt > 1);
	lost = c[1].row_cnt;
	flip(path_of(0), c[1].file_off + c[1].stored_sz / 2 + 64);
	fr_snap_close(s);

	r = open_replay(1, &opts);
	while (fr_replay_next(r, &run) > 0) {
		for (i = run.from; i < run.to; i++, rows++) {
			struct fr_row row = fr_batch_row(run.b, i);

			take(h, &row);
		}
	}
	assert_true(fr_replay_say_damage(r));
	fr_replay_close(r);
	assert_int_equal(count_kept(h, 0, ~0ULL), lost);
	assert_int_equal(fr_snap_open(path_of(0), &s), 0);
	assert_int_equal(fr_check_snap(s, &check), 0);
	assert_true(check.finding_cnt > 0);
	fr_check_free(&check);
	fr_snap_close(s);
	host_free(h);
}

static void test_summary(void **state)
{
	struct host *h = host_new(1, "a", 0);
	struct fr_summary *m;
	struct fr_snap *s;
	u64 begin, end;

	(void)state;
	host_run(h, 1000);
	snapshot(h, 0, 3);
	find_span(h, &begin, &end);
	assert_int_equal(fr_snap_open(path_of(0), &s), 0);
	assert_int_equal(fr_summary_new(s, &m), 0);
	assert_int_equal(m->event_cnt, count_kept(h, 0, ~0ULL));
	assert_int_equal(m->start_ns, begin);
	assert_int_equal(m->end_ns, end);
	assert_int_equal(m->cpu_cnt, 2);
	assert_int_equal(m->cpu[0].event_cnt + m->cpu[1].event_cnt, m->event_cnt);
	assert_int_equal(fr_summary_tier_events(m, 0) + fr_summary_tier_events(m, 1), m->event_cnt);
	fr_summary_free(m);
	fr_snap_close(s);
	host_free(h);
}

static void test_errors(void **state)
{
	const char *path[2] = {path_of(0), path_of(1)};
	struct fr_replay_opts opts = {.tiers = ~0u, .filter = "tid == "};
	struct host *h = host_new(1, "a", 0);
	struct fr_replay *r = NULL;
	FILE *f;

	(void)state;
	assert_int_equal(fr_replay_open(path, 1, &opts, &r), -ENOENT);
	host_run(h, 10);
	snapshot(h, 0, 3);
	assert_int_equal(fr_replay_open(path, 1, &opts, &r), -EINVAL);
	f = fopen(path[1], "w");
	fputs("no snapshot", f);
	fclose(f);
	opts.filter = NULL;
	assert_int_equal(fr_replay_open(path + 1, 1, &opts, &r), -EBADMSG);
	assert_null(r);
	/* the sound one is shown all the same */
	assert_int_equal(fr_replay_open(path, 2, &opts, &r), 0);
	assert_int_equal(fr_replay_file_cnt(r), 1);
	assert_true(fr_replay_say_damage(r));
	fr_replay_close(r);
	host_free(h);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_one_file),
		TEST(test_overlap),
		TEST(test_two_boots),
		TEST(test_window),
		TEST(test_trigger_window),
		TEST(test_pairs),
		TEST(test_gap_behind_an_early_ring),
		TEST(test_names),
		TEST(test_damage),
		TEST(test_summary),
		TEST(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
