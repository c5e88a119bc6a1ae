/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * follow: one ring, several writers at once, followers that only load, and beside them a reader that swaps, copies, and is
 * killed now and then.
 *
 *	follow SECONDS
 *
 * Each record checks itself, and comes once and in its writer's order. In the end what followers were given and what they
 * were told they missed is what was written.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "../step/rig.h"
#include "live/ring/ring_follow.h"

#define WRITERS	   3
#define FOLLOWERS  3
#define SLOTS	   6u
#define PAGES	   2u
#define TAG_BITS   40
#define KILL_1IN   5
#define PIECES_MIN 10

static u64 ticks;

FR_INLINE u64 fr_clock_cpu_ns(void)
{
	return fr_add(&ticks, 1) + 1;
}

static struct rig rig;
static u64 stop, bad;

/* ---- writers ---- */

static struct writer {
	pthread_t id;
	u64 nr;
	u64 step; /* odd: within a record */
	u64 written, lost;
} FR_ALIGNED(FR_CACHE_SZ) writer[WRITERS];

/* Fits and starts: at times followers keep up, at times they cannot. */
static void *write_on(void *arg)
{
	struct writer *w = arg;
	u64 n = 0;

	while (!fr_load(&stop)) {
		bool ok;

		n++;
		fr_store(&w->step, w->step + 1);
		ok = rig_write(&rig.ring, w->nr << TAG_BITS | n, 2 + n * 7 % 60);
		fr_store(&w->step, w->step + 1);
		if (ok)
			w->written++;
		else
			w->lost++;
		if (!ok || n % 64 == 0)
			sched_yield();
		if (n % 20000 > 19000)
			usleep(20);
	}
	return NULL;
}

static u64 sum_written(void)
{
	u64 sum = 0, i;

	for (i = 0; i < WRITERS; i++)
		sum += writer[i].written;
	return sum;
}

/* ---- the reader that swaps ---- */

static u64 passes, kills;
static u64 tried; /* followers that are, and once somebody was killed */

static int grace(void *arg)
{
	u32 i;

	(void)arg;
	for (i = 0; i < WRITERS; i++) {
		u64 step = fr_load(&writer[i].step);

		while (step % 2 && fr_load(&writer[i].step) == step)
			sched_yield();
	}
	return 0;
}

/* Swap a complete lap out and forget it. */
static void be_killed(const struct fr_ring_reader *r, u64 seq)
{
	u64 *slot = &rig.sl.slot[seq % SLOTS], word = fr_load(slot);

	if (fr_slot_com(word) == PAGES * FR_PAGE_UNITS && fr_slot_seq(word) == (seq & FR_SEQ_MASK))
		if (fr_cas(slot, word, fr_slot(seq, r->spare, fr_slot_cnt(word), fr_slot_com(word))) == word && !kills++)
			fr_add(&tried, 1);
}

static void read_pass(void *buf)
{
	u64 seq, first, last, pass = passes++;
	struct fr_ring_reader r;
	struct fr_lap lap;

	if (fr_ring_read_heal(&rig.map, grace, NULL) < 0 || fr_ring_read_open(&r, &rig.map, NULL, NULL)) {
		fr_add(&bad, 1);
		return;
	}
	if (fr_ring_read_range(&rig.map, &first, &last))
		return;
	for (seq = first; seq <= last; seq++) {
		fr_ring_read_lap(&r, seq, buf, rig_subbuf_sz(&rig), &lap);
		if (pass % KILL_1IN == 0 && seq == first + pass / KILL_1IN % SLOTS) {
			be_killed(&r, seq);
			return;
		}
	}
}

static void *read_on(void *arg)
{
	while (!fr_load(&stop)) {
		read_pass(arg);
		usleep(200);
	}
	read_pass(arg);
	if ((passes - 1) % KILL_1IN == 0)
		read_pass(arg);
	return NULL;
}

/* ---- followers ---- */

static struct follower {
	pthread_t id;
	struct fr_ring_follow f;
	u64 nr;
	u8 buf[PAGES * FR_PAGE_SZ] FR_ALIGNED(FR_PAGE_SZ);
	u64 pieces, again, taken;
	u64 last_ns, last_n[WRITERS];
	u32 pass_over; /* of the lap: records of pieces before */
	bool is_tried; /* it has seen what it is here for; the last one, that it cannot keep up */
} follower[FOLLOWERS];

static void see(void *arg, u64 tag, u64 time_ns)
{
	u64 nr = tag >> TAG_BITS, n = tag & ((1ull << TAG_BITS) - 1);
	struct follower *fo = arg;

	if (fo->pass_over) {
		fo->pass_over--;
		return;
	}
	if (nr >= WRITERS || n <= fo->last_n[nr] || time_ns < fo->last_ns) {
		printf("  follower %llu: record %llx out of order\n", (unsigned long long)fo->nr, (unsigned long long)tag);
		fr_add(&bad, 1);
	}
	if (nr < WRITERS)
		fo->last_n[nr] = n;
	fo->last_ns = time_ns;
	fo->taken++;
}

/* How many records there were before a lap: all must be told the same. */
static u64 told[4096];

static void compare(const struct fr_ring_follow *f)
{
	u64 *to = &told[f->seq % 4096], is = f->seq << TAG_BITS | f->before, was = fr_load(to);

	if (was >> TAG_BITS == f->seq && was != is) {
		printf("  lap %llu: before it %lld records more than another follower counts\n", (unsigned long long)f->seq,
		       (long long)(is - was));
		fr_add(&bad, 1);
	}
	if (was >> TAG_BITS < f->seq)
		fr_cas(to, was, is);
}

static void take(struct follower *fo, const struct fr_ring_piece *p)
{
	struct fr_lap lap = {.seq = p->seq, .com_units = p->to, .cnt = fo->f.cnt};
	u64 last_ns = 0;

	fo->pieces++;
	if (!fo->is_tried && fo->taken && fo->pieces > PIECES_MIN && (fo->nr < FOLLOWERS - 1 || fo->f.skipped)) {
		fo->is_tried = true;
		fr_add(&tried, 1);
	}
	compare(&fo->f);
	fo->pass_over = fo->f.cnt - p->cnt;
	if (rig_check_lap(&rig, fo->buf, &lap, &last_ns, see, fo))
		fr_add(&bad, 1);
}

/* All there is. False: the ring is said to be damaged. */
static bool drain(struct follower *fo, bool slow)
{
	struct fr_ring_piece piece;
	int got;

	do {
		got = fr_ring_follow_next(&fo->f, &piece);
		if (got > 0)
			take(fo, &piece);
		fo->again += got == -EAGAIN;
		if (slow && fo->pieces % 16 == 0)
			usleep(300);
	} while (got > 0 && !fr_load(&bad));
	return got == 0 || got == -EAGAIN;
}

/* The first from the oldest lap, the others from now; the last one cannot keep up. */
static bool begin(struct follower *fo)
{
	u32 tries;

	for (tries = 0; tries < 100000; tries++) {
		if (!fr_ring_follow_begin(&fo->f, &rig.map, fo->buf, fo->nr ? FR_RING_FOLLOW_NOW : 0))
			return true;
		sched_yield();
	}
	return false;
}

static void *follow_on(void *arg)
{
	struct follower *fo = arg;
	bool ok = begin(fo);

	while (ok && !fr_load(&stop) && !fr_load(&bad)) {
		ok = drain(fo, fo->nr == FOLLOWERS - 1);
		usleep(fo->nr * 50);
	}
	if (!ok) {
		printf("  follower %llu: the ring is damaged, it says\n", (unsigned long long)fo->nr);
		fr_add(&bad, 1);
	}
	return NULL;
}

static bool settle(struct follower *fo)
{
	u64 written = sum_written();

	if (!drain(fo, false))
		return false;
	printf("  follower %llu: written %llu, before %llu + given %llu + skipped %llu (%llu laps), pieces %llu, again %llu\n",
	       (unsigned long long)fo->nr, (unsigned long long)written, (unsigned long long)fo->f.begun,
	       (unsigned long long)fo->taken, (unsigned long long)fo->f.skipped, (unsigned long long)fo->f.skipped_laps,
	       (unsigned long long)fo->pieces, (unsigned long long)fo->again);
	return fo->f.begun + fo->taken + fo->f.skipped == written && fo->taken && fo->pieces > PIECES_MIN;
}

int main(int argc, char **argv)
{
	u64 i, until = time(NULL) + (argc > 1 ? strtoul(argv[1], NULL, 10) : 3), far = until + RIG_FAR_S;
	bool ok = true;
	static u8 buf[PAGES * FR_PAGE_SZ] FR_ALIGNED(FR_PAGE_SZ);
	pthread_t reader;

	rig_init(&rig, SLOTS, PAGES);
	for (i = 0; i < WRITERS; i++) {
		writer[i].nr = i;
		if (pthread_create(&writer[i].id, NULL, write_on, &writer[i]))
			return 2;
	}
	for (i = 0; i < FOLLOWERS; i++) {
		follower[i].nr = i;
		if (pthread_create(&follower[i].id, NULL, follow_on, &follower[i]))
			return 2;
	}
	if (pthread_create(&reader, NULL, read_on, buf))
		return 2;
	while ((u64)time(NULL) < (fr_load(&tried) == FOLLOWERS + 1 ? until : far) && !fr_load(&bad))
		usleep(20000);
	fr_store(&stop, 1);
	for (i = 0; i < WRITERS; i++)
		pthread_join(writer[i].id, NULL);
	pthread_join(reader, NULL);
	for (i = 0; i < FOLLOWERS; i++)
		pthread_join(follower[i].id, NULL);
	for (i = 0; i < FOLLOWERS; i++)
		ok &= settle(&follower[i]);
	printf("  %llu passes of the reader, %llu kills\n", (unsigned long long)passes, (unsigned long long)kills);
	return !(ok && !bad && kills && follower[FOLLOWERS - 1].f.skipped);
}
