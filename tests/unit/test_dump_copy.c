/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copying rings: which ones first, and what is said of laps that cannot be read. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

#include "event_fields.h"
#include "host_map.h"
#include "live/ring/ring_read.h"

#define LAPS  6u
#define RINGS 5u

static int verdict[LAPS + 1]; /* of each lap, from 1 on */
static bool really;	      /* laps are read as they are */

/* Of laps that several threads read: what they must not do, and what was read so far. */
static struct {
	bool watched;
	u32 busy[RINGS], last_seq[RINGS];
	u32 samples, before_stacks;
	u32 faults;
} seen;

/* A lap of ring cpu takes a while; meanwhile no other of that ring is read. Samples are read before the first stack. */
static void see(const struct fr_ring_map *m, u64 seq)
{
	const struct timespec nap = {.tv_nsec = 300000};
	bool ok = !__atomic_exchange_n(&seen.busy[m->cpu], 1, __ATOMIC_ACQUIRE) && seen.last_seq[m->cpu] + 1 == seq;

	if (m->tier == FR_TIER_STACK)
		ok = ok && __atomic_load_n(&seen.samples, __ATOMIC_ACQUIRE) == seen.before_stacks;
	nanosleep(&nap, NULL);
	if (m->tier != FR_TIER_STACK)
		__atomic_fetch_add(&seen.samples, 1, __ATOMIC_RELEASE);
	seen.last_seq[m->cpu] = seq;
	if (!ok)
		__atomic_fetch_add(&seen.faults, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&seen.busy[m->cpu], 0, __ATOMIC_RELEASE);
}

/* Lap seq began at 1000 * seq. */
static int read_lap(struct fr_ring_reader *r, u64 seq, void *buf, size_t buf_sz, struct fr_lap *out)
{
	struct fr_page_head *head = buf;

	if (!r || buf_sz < FR_PAGE_SZ)
		abort(); /* cmocka's assertions are for the first thread */
	if (really)
		return fr_ring_read_lap(r, seq, buf, buf_sz, out);
	if (seen.watched)
		see(r->map, seq);
	if (verdict[seq])
		return verdict[seq];
	head->base_ns = 1000 * seq;
	*out = (struct fr_lap){.seq = seq, .com_units = 2};
	return 0;
}

/* Of rings that are not there: all of their laps. */
static int read_range(const struct fr_ring_map *m, u64 *first_seq, u64 *last_seq)
{
	if (m->sl)
		return fr_ring_read_range(m, first_seq, last_seq);
	*first_seq = 1;
	*last_seq = LAPS;
	return 0;
}

static u64 read_began(const struct fr_ring_map *m, u64 seq)
{
	return m->sl ? fr_ring_read_began(m, seq) : 1000 * seq;
}

static u64 read_since(const struct fr_ring_map *m, u64 first, u64 last, u64 since_ns, u64 *before_ns)
{
	return m->sl ? fr_ring_read_since(m, first, last, since_ns, before_ns) : first;
}

static u32 read_cnt(const struct fr_ring_map *m, u64 seq)
{
	return m->sl ? fr_ring_read_cnt(m, seq) : 0;
}

#define fr_ring_read_cnt   read_cnt
#define fr_ring_read_lap   read_lap
#define fr_ring_read_range read_range
#define fr_ring_read_began read_began
#define fr_ring_read_since read_since
#include "live/snapshot/dump_copy.c"

/* Of sessions, which are the kernel's, nothing is needed here. */
int fr_sess_peek(void *sess, u32 cpu, u16 tier, u64 *word, u64 *w)
{
	(void)sess, (void)cpu, (void)tier, (void)word, (void)w;
	return -ENOSYS;
}

static u64 clock_ns;

int fr_sess_clocks(struct fr_sess *s, struct fr_call *out)
{
	(void)s;
	out->ns = clock_ns;
	return 0;
}

static u32 holder, holder_after; /* who has the CPU, and once its ring was copied; + 1 */
static struct fr_writer writer;	 /* of rings that are not read */
static bool writes;		 /* something is recorded after it was asked */

int fr_sess_holder(struct fr_sess *s, u32 cpu, struct fr_call *out)
{
	(void)s, (void)cpu;
	out->ns = clock_ns;
	out->holder = holder;
	holder = holder_after;
	writer.w += writes;
	return holder_after ? 0 : -ENOENT;
}

char *fr_sess_fact(const struct fr_sess *s, const char *name)
{
	(void)s, (void)name;
	return NULL;
}

const struct fr_ring_map *fr_sess_rings(const struct fr_sess *s, size_t *cnt)
{
	(void)s;
	*cnt = 0;
	return NULL;
}

int fr_sess_refresh_rings(struct fr_sess *s)
{
	(void)s;
	return 0;
}

const char *fr_sess_name(const struct fr_sess *s)
{
	(void)s;
	return "";
}

static void laps_that_miss_for_different_reasons_end_before_the_next(void **state)
{
	static const struct fr_ring_map map = {
		.wr = &writer, .cpu = 3, .tier = FR_TIER_MAIN, .slot_cnt = LAPS, .subbuf_pages = 1};
	static u8 buf[LAPS * FR_PAGE_SZ];
	struct fr_dump_ring src = {.map = &map, .next_seq = 1, .last_seq = LAPS}, *turn = &src;
	struct fr_dump_lap copied[LAPS];
	struct fr_snap_hole hole[LAPS] = {0};
	struct fr_dump d = {.src = &src,
			    .turn = &turn,
			    .src_cnt = 1,
			    .stacks = 1,
			    .room.sure = {.at = buf, .sz = sizeof(buf)},
			    .copied = copied,
			    .copied_room = LAPS,
			    .hole = hole};
	size_t first = 0, i;

	(void)state;
	verdict[2] = -ESTALE;
	verdict[3] = -EAGAIN;
	verdict[4] = -EBADMSG;
	verdict[6] = -EAGAIN;
	assert_true(fr_dump_copy_wave(&d, &first));
	assert_int_equal(d.copied_cnt, 2);
	assert_int_equal(d.hole_cnt, 4);
	for (i = 0; i < 3; i++) {
		assert_int_equal(hole[i].first_seq, 2 + i);
		assert_int_equal(hole[i].since_ns, 1000);
		assert_int_equal(hole[i].until_ns, 5000);
	}
	assert_int_equal(hole[3].since_ns, 5000);
	assert_int_equal(hole[3].until_ns, 0);
	assert_int_equal(src.acct.horizon_ns, 5000);
}

static void put(struct host_ring *h, u32 rec_cnt, u64 step_ns)
{
	struct fr_rec_softirq_entry rec = {.task = 1, .vec = 1};

	for (; rec_cnt; rec_cnt--, host_clock_ns += step_ns)
		assert_int_equal(host_ring_put_rec(h, softirq_entry, &rec), 0);
}

/* A ring in which time goes by from record to record. */
static struct host_ring *filled(u16 cpu, u32 rec_cnt, u64 step_ns)
{
	struct host_ring *h = host_ring_new(cpu, FR_TIER_MAIN, LAPS, 1);

	h->remember = false;
	host_clock_ns = 1000000000;
	put(h, rec_cnt, step_ns);
	return h;
}

/* Rings that are all asked for at the same moment. */
struct rig {
	struct host_ring *h[RINGS];
	struct fr_ring_map map[RINGS];
	struct fr_dump_ring src[RINGS], *turn[RINGS];
	struct fr_dump d;
};

static void fill(struct rig *rig, u32 cnt, const u32 *rec_cnt, const u64 *step_ns)
{
	u32 i;

	*rig = (struct rig){.d = {.src = rig->src, .turn = rig->turn, .src_cnt = cnt}};
	for (i = 0; i < cnt; i++) {
		rig->h[i] = filled(i, rec_cnt[i], step_ns[i]);
		rig->map[i] = host_ring_map(rig->h[i]);
		rig->src[i].map = &rig->map[i];
		rig->d.begin_ts = host_clock_ns > rig->d.begin_ts ? host_clock_ns : rig->d.begin_ts;
	}
}

/* CPU 0 has the shorter history of the two. */
static void fill_two(struct rig *rig)
{
	static const u32 rec_cnt[2] = {6000, 3000};
	static const u64 step_ns[2] = {1000, 2000};

	fill(rig, 2, rec_cnt, step_ns);
}

static void empty(struct rig *rig)
{
	while (rig->d.src_cnt--)
		host_ring_free(rig->h[rig->d.src_cnt]);
}

/*
 * CPU 2 has overwritten most of its past, CPU 1 less of it, CPU 3 none, but it will soon. CPU 0 writes slowly. CPU 4 has
 * nothing to lose.
 */
static void the_shortest_history_is_copied_first(void **state)
{
	static const u32 rec_cnt[RINGS] = {100, 3000, 6000, 1200, 0};
	static const u64 step_ns[RINGS] = {20000, 2000, 1000, 4000, 1};
	static const u16 turn_cpu[RINGS] = {4, 2, 1, 3, 0};
	struct rig rig;
	u32 i;

	(void)state;
	fill(&rig, RINGS, rec_cnt, step_ns);
	fr_dump_find_ranges(&rig.d);
	for (i = 0; i < RINGS; i++)
		assert_int_equal(rig.turn[i]->map->cpu, turn_cpu[i]);
	assert_true(rig.src[2].oldest_ns > 1000000000 && rig.src[2].oldest_ns < rig.d.begin_ts);
	assert_int_equal(rig.src[0].oldest_ns, 0);
	assert_int_equal(rig.src[3].oldest_ns, 0);
	assert_int_equal(rig.src[4].oldest_ns, 0);
	empty(&rig);
}

/* However short their history: a sample that is written meanwhile has its stack then. */
static void stacks_are_copied_last(void **state)
{
	struct rig rig;

	(void)state;
	fill_two(&rig);
	fr_dump_find_ranges(&rig.d);
	assert_ptr_equal(rig.turn[0], &rig.src[0]);
	rig.map[0].tier = FR_TIER_STACK;
	fr_dump_find_ranges(&rig.d);
	assert_ptr_equal(rig.turn[0], &rig.src[1]);
	rig.map[1].tier = FR_TIER_STACK;
	rig.map[0].tier = FR_TIER_LIFE;
	fr_dump_find_ranges(&rig.d);
	assert_ptr_equal(rig.turn[0], &rig.src[0]);
	empty(&rig);
}

/* The lap that is overwritten while the reader looks: what is left of that ring is in danger, too. */
static void a_ring_that_overwrites_just_now_is_first(void **state)
{
	struct rig rig;
	u64 first, last;

	(void)state;
	fill_two(&rig);
	rig.d.since_ns = UINT64_MAX;
	assert_int_equal(fr_ring_read_range(&rig.map[1], &first, &last), 0);
	rig.h[1]->r.sl->slot[first % LAPS] = fr_slot(first + LAPS, 0, 0, 0);
	fr_dump_find_ranges(&rig.d);
	assert_ptr_equal(rig.turn[0], &rig.src[1]);
	assert_int_equal(rig.src[1].oldest_ns, 0); /* not known */
	assert_int_equal(rig.src[1].next_seq, first);
	empty(&rig);
}

static void what_ended_before_the_window_is_not_copied(void **state)
{
	struct fr_dump_ring src = {0}, *turn;
	struct fr_dump d = {.src = &src, .turn = &turn, .src_cnt = 1};
	struct host_ring *h = filled(0, 3000, 1000);
	struct fr_ring_map map = host_ring_map(h);
	u64 first, last, seq;

	(void)state;
	src.map = &map;
	assert_int_equal(fr_ring_read_range(&map, &first, &last), 0);
	for (seq = first; seq <= last; seq++) {
		d.since_ns = fr_ring_read_began(&map, seq); /* a record of the lap before may have this time, too */
		fr_dump_find_ranges(&d);
		assert_int_equal(src.next_seq, seq > first ? seq - 1 : first);
		d.since_ns++;
		src.last_ns = 0;
		fr_dump_find_ranges(&d);
		assert_int_equal(src.next_seq, seq);
		assert_true(src.last_ns == (seq > first ? fr_ring_read_began(&map, seq - 1) : 0)); /* a hole's beginning */
		assert_int_equal(src.last_seq, last);
		assert_true(src.oldest_ns == fr_ring_read_began(&map, first));
	}
	d.since_ns = UINT64_MAX;
	fr_dump_find_ranges(&d);
	assert_int_equal(src.next_seq, last);
	map.tier = FR_TIER_STACK; /* stacks are named by later samples */
	fr_dump_find_ranges(&d);
	assert_int_equal(src.next_seq, first);
	host_ring_free(h);
}

/* A writer that opens a lap has written its number, but not yet when it begins. */
static void a_head_half_written_hides_no_lap(void **state)
{
	struct fr_dump_ring src = {0}, *turn;
	struct fr_dump d = {.src = &src, .turn = &turn, .src_cnt = 1};
	struct host_ring *h = filled(0, 3000, 1000);
	struct fr_ring_map map = host_ring_map(h);
	struct fr_page_head *head;
	u64 first, last;

	(void)state;
	src.map = &map;
	assert_int_equal(fr_ring_read_range(&map, &first, &last), 0);
	d.since_ns = fr_ring_read_began(&map, last) - 1; /* within the lap before the last */
	head = fr_ring_page(&h->r, FR_DATA_PAGE + fr_slot_idx(h->r.sl->slot[last % LAPS]));
	head->base_ns = fr_ring_read_began(&map, first) - 1;
	assert_true(fr_ring_read_began(&map, last) < d.since_ns);
	fr_dump_find_ranges(&d);
	assert_int_equal(src.next_seq, last - 1);
	host_ring_free(h);
}

/* Of rec_cnt records, while more come behind the look for laps, of all time or the last last_ns: the account, and what is
 * copied. */
static void copy_account(u32 rec_cnt, u32 more, u64 last_ns, struct fr_snap_ring *acct, u64 *copied_cnt)
{
	static u8 buf[LAPS * FR_PAGE_SZ];
	struct fr_dump_lap copied[LAPS];
	struct fr_snap_hole hole[LAPS];
	struct fr_dump_ring src = {0}, *turn;
	struct fr_dump d = {.src = &src,
			    .turn = &turn,
			    .src_cnt = 1,
			    .room.sure = {.at = buf, .sz = sizeof(buf)},
			    .copied = copied,
			    .copied_room = LAPS,
			    .hole = hole};
	struct host_ring *h = filled(0, rec_cnt, 1000);
	struct fr_ring_map map = host_ring_map(h);
	size_t first = 0, i;

	src.map = &map;
	assert_int_equal(fr_ring_read_open(&src.reader, &map, NULL, NULL), 0);
	d.since_ns = last_ns ? host_clock_ns - last_ns : 0;
	fr_dump_find_ranges(&d);
	put(h, more, 1000);
	really = true;
	assert_true(fr_dump_copy_wave(&d, &first));
	really = false;
	put(h, 3000, 1000); /* is not of this snapshot */
	assert_int_equal(d.hole_cnt, 0);
	for (*copied_cnt = 0, i = 0; i < d.copied_cnt; i++)
		*copied_cnt += copied[i].lap.cnt;
	fr_dump_count_written(&src);
	*acct = src.acct;
	host_ring_free(h);
}

/* Also of those that go while nothing of the ring was read yet; what comes later is the next snapshot's. */
static void each_record_is_in_the_account_once(void **state)
{
	struct fr_snap_ring a;
	u64 copied, before;

	(void)state;
	copy_account(100, 0, 0, &a, &copied);
	assert_int_equal(a.overwritten, 0);
	assert_int_equal(a.written, 100);
	assert_int_equal(copied, 100);
	copy_account(6000, 0, 0, &a, &copied);
	assert_true(copied > 1000);
	assert_int_equal(a.written, 6000);
	assert_int_equal(a.overwritten, 6000 - copied);
	before = a.overwritten;
	copy_account(6000, 0, 300000, &a, &copied); /* what is left out was written, too */
	assert_true(copied >= 300 && copied < 1000);
	assert_int_equal(a.written, 6000);
	assert_int_equal(a.overwritten, before);
	copy_account(6000, 600, 0, &a, &copied);
	assert_true(a.written > 6000 && a.written < 6600);
	assert_true(a.overwritten > before + 500);
	assert_int_equal(a.overwritten, a.written - copied);
}

static void waves_go_by_turns(void **state)
{
	static const struct fr_ring_map map = {
		.wr = &writer, .cpu = 3, .tier = FR_TIER_MAIN, .slot_cnt = LAPS, .subbuf_pages = 1};
	static u8 buf[3 * FR_PAGE_SZ];
	struct fr_dump_ring src[2] = {{.map = &map, .next_seq = 1, .last_seq = 2}, {.map = &map, .next_seq = 3, .last_seq = 5}};
	struct fr_dump_ring *turn[2] = {&src[1], &src[0]};
	struct fr_dump_lap copied[LAPS];
	struct fr_dump d = {.src = src,
			    .turn = turn,
			    .src_cnt = 2,
			    .stacks = 2,
			    .room.sure = {.at = buf, .sz = sizeof(buf) - 1},
			    .copied = copied,
			    .copied_room = LAPS};
	size_t first = 0;

	(void)state;
	memset(verdict, 0, sizeof(verdict));
	assert_false(fr_dump_copy_wave(&d, &first));
	assert_int_equal(d.copied_cnt, 2);
	assert_true(copied[0].src == &src[1] && copied[0].lap.seq == 3);
	assert_true(copied[1].src == &src[1] && copied[1].lap.seq == 4);
	assert_false(fr_dump_copy_wave(&d, &first));
	assert_int_equal(d.copied_cnt, 2);
	assert_true(copied[0].src == &src[1] && copied[0].lap.seq == 5);
	assert_true(copied[1].src == &src[0] && copied[1].lap.seq == 1);
	assert_true(fr_dump_copy_wave(&d, &first));
	assert_int_equal(d.copied_cnt, 1);
	assert_true(copied[0].src == &src[0] && copied[0].lap.seq == 2);
}

/* By as many threads as there may be, a ring by one of them, and stacks once all else is copied, with what came meanwhile. */
static void threads_copy_stacks_last(void **state)
{
	static const u32 pages = 2 * COPY_PER_THREAD_SZ / FR_PAGE_SZ;
	static struct fr_dump_lap copied[RINGS * LAPS];
	struct fr_dump_ring src[RINGS], *turn[RINGS];
	static const struct fr_writer nobody;
	struct fr_ring_map map[RINGS];
	struct fr_dump d = {
		.src = src, .turn = turn, .src_cnt = RINGS, .copied = copied, .copied_room = RINGS * LAPS, .stacks = RINGS - 2};
	size_t first = 0;
	u32 i;

	(void)state;
	memset(verdict, 0, sizeof(verdict));
	seen.watched = true;
	seen.before_stacks = d.stacks * LAPS;
	for (i = 0; i < RINGS; i++) {
		map[i] = (struct fr_ring_map){.wr = &nobody, .cpu = i, .slot_cnt = LAPS, .subbuf_pages = pages};
		map[i].tier = i < d.stacks ? FR_TIER_MAIN : FR_TIER_STACK;
		src[i] = (struct fr_dump_ring){
			.map = &map[i], .next_seq = 1, .last_seq = i < d.stacks ? LAPS : 1, .reader.map = &map[i]};
		turn[i] = &src[i];
	}
	d.room.copiers = RINGS;
	d.room.sure.sz = (size_t)RINGS * LAPS * pages * FR_PAGE_SZ;
	d.room.sure.at = mmap(NULL, d.room.sure.sz, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(d.room.sure.at, MAP_FAILED);
	assert_true(fr_dump_copy_wave(&d, &first));
	assert_int_equal(seen.faults, 0);
	assert_int_equal(d.total_sz,
			 2 * (LAPS - 1) * pages * FR_PAGE_SZ); /* what came meanwhile; the rest was counted before */
	assert_int_equal(d.copied_cnt, RINGS * LAPS);
	for (i = 0; i < RINGS * LAPS; i++) {
		assert_ptr_equal(copied[i].src, &src[i / LAPS]);
		assert_int_equal(copied[i].lap.seq, i % LAPS + 1);
		assert_int_equal(((struct fr_page_head *)copied[i].at)->base_ns, 1000 * copied[i].lap.seq);
	}
	seen.watched = false;
	munmap(d.room.sure.at, d.room.sure.sz);
}

/* Not for little, and none that would find no ring. */
static void helpers_have_work(void **state)
{
	static const struct fr_ring_map map = {.subbuf_pages = COPY_PER_THREAD_SZ / FR_PAGE_SZ};
	struct fr_dump_ring src[3] = {{.map = &map}, {.map = &map}, {.map = &map}}, *turn[3] = {&src[0], &src[1], &src[2]};
	struct fr_dump d = {.turn = turn, .room.copiers = 15};
	struct fr_ring_map small = map;

	(void)state;
	assert_int_equal(helpers(&d, 0, 3), 0);
	src[1].wave_cnt = 100;
	assert_int_equal(helpers(&d, 0, 3), 0);
	src[2].wave_cnt = 1;
	assert_int_equal(helpers(&d, 0, 3), 1);
	assert_int_equal(helpers(&d, 0, 2), 0);
	src[0].wave_cnt = 1;
	assert_int_equal(helpers(&d, 0, 3), 2);
	small.subbuf_pages = map.subbuf_pages / 4;
	src[0].map = src[2].map = &small;
	src[1].wave_cnt = 0;
	assert_int_equal(helpers(&d, 0, 3), 0);
	src[1].wave_cnt = 1;
	assert_int_equal(helpers(&d, 0, 3), 1);
	d.room.copiers = 1;
	assert_int_equal(helpers(&d, 0, 3), 1);
}

/* Until now, less the clock's grain, if its last lap is still written; otherwise until the next one began. Once. */
static void a_ring_ends_when_it_was_copied(void **state)
{
	static const struct fr_ring_map map = {
		.wr = &writer, .cpu = 3, .tier = FR_TIER_MAIN, .slot_cnt = LAPS, .subbuf_pages = 1};
	struct fr_dump d = {.s = (struct fr_sess *)&map, .grain_ns = 300, .peeking = PTHREAD_MUTEX_INITIALIZER};
	struct fr_dump_ring src = {.map = &map, .last_seq = LAPS, .last_began_ns = 1000 * LAPS};

	(void)state;
	clock_ns = 9000;
	find_end(&d, &src);
	assert_int_equal(src.acct.end_ns, 8700);
	clock_ns = 9500;
	find_end(&d, &src);
	assert_int_equal(src.acct.end_ns, 8700);
	src.acct.end_ns = 0;
	src.last_seq = LAPS - 1;
	find_end(&d, &src);
	assert_int_equal(src.acct.end_ns, 1000 * LAPS);
	src.acct.end_ns = 0;
	clock_ns = 5500; /* the next one's head is only being written: it has its time from an older lap, or none */
	src.last_began_ns = 1000 * src.last_seq;
	find_end(&d, &src);
	assert_int_equal(src.acct.end_ns, 1000 * (LAPS - 1));
}

/*
 * Who has the CPU is known if it is the same before the last lap is copied and behind it, nothing was recorded in between (it
 * may have left and come back), and this is still the last lap.
 */
static void the_holder_stays_or_is_not_known(void **state)
{
	static const struct fr_ring_map map = {
		.wr = &writer, .cpu = 3, .tier = FR_TIER_MAIN, .slot_cnt = LAPS, .subbuf_pages = 1};
	struct fr_dump d = {.s = (struct fr_sess *)&map, .grain_ns = 300, .peeking = PTHREAD_MUTEX_INITIALIZER};
	struct fr_dump_ring src = {.map = &map, .last_seq = LAPS, .last_began_ns = 1000 * LAPS};

	(void)state;
	clock_ns = 9000;
	holder = holder_after = 8;
	find_end(&d, &src);
	settle_holder(&d, &src);
	assert_int_equal(src.acct.holder, 8);
	src.acct.end_ns = 0;
	holder_after = 9;
	holder = 8;
	find_end(&d, &src);
	settle_holder(&d, &src);
	assert_int_equal(src.acct.holder, 0);
	src.acct.end_ns = 0;
	holder = holder_after = 8;
	writes = true;
	find_end(&d, &src);
	settle_holder(&d, &src);
	assert_int_equal(src.acct.holder, 0);
	writes = false;
	src.acct.end_ns = 0;
	src.last_seq = LAPS - 1;
	holder = holder_after = 8;
	find_end(&d, &src);
	settle_holder(&d, &src);
	assert_int_equal(src.acct.holder, 0);
	holder = holder_after = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shortest_history_is_copied_first),
		cmocka_unit_test(stacks_are_copied_last),
		cmocka_unit_test(the_holder_stays_or_is_not_known),
		cmocka_unit_test(a_ring_that_overwrites_just_now_is_first),
		cmocka_unit_test(what_ended_before_the_window_is_not_copied),
		cmocka_unit_test(a_head_half_written_hides_no_lap),
		cmocka_unit_test(each_record_is_in_the_account_once),
		cmocka_unit_test(waves_go_by_turns),
		cmocka_unit_test(threads_copy_stacks_last),
		cmocka_unit_test(helpers_have_work),
		cmocka_unit_test(a_ring_ends_when_it_was_copied),
		cmocka_unit_test(laps_that_miss_for_different_reasons_end_before_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
