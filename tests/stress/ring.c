/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring: one ring, several writers at once (they stand for nested and preempted ones) and a reader that heals, swaps, copies,
 * and is killed now and then, or rather stopped first: another one reads beside it then.
 *
 *	ring SECONDS [mortal] [nested]	longer, if the machine is so busy that not each thing happened by then
 *
 * mortal: writers die within a record now and then; their laps are healed. nested: the first writer alone is a thread, the
 * others are signals that interrupt it and each other, as most programs of a CPU do. Each record checks itself; each complete
 * lap that is read again must be the same again; in the end the accounts are settled.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "../step/rig.h"

#define WRITERS	 3
#define SLOTS	 4u
#define PAGES	 2u
#define TAG_BITS 40
#define KILL_1IN 5

static u64 ticks;

FR_INLINE u64 fr_clock_cpu_ns(void)
{
	return fr_add(&ticks, 1) + 1;
}

static struct rig rig;
static u64 stop;
static bool mortal, nested;

static struct writer {
	pthread_t id;
	u64 nr, n;
	u64 step; /* odd: within a record */
	u64 written, lost, died;
} FR_ALIGNED(FR_CACHE_SZ) writer[WRITERS];

/* Reserve, write the half of a record, die. */
static bool die_writing(struct writer *w)
{
	struct fr_res res;

	if (fr_ring_reserve(&rig.ring, 9, &res))
		return false;
	fr_store((u64 *)fr_ring_page(&rig.ring, res.page_nr) + res.unit, fr_rec_head(res.time_ns, RIG_EVENT, 9));
	w->died++;
	return true;
}

/* Stay within a record until others had to be refused for it. Returns false if it was lost. */
static bool write_late(u64 tag)
{
	u64 refused = fr_load(&rig.wr.lost[FR_LOST_wrap]), seq = fr_w_seq(fr_writer_w(&rig.wr));
	struct fr_res res;
	u64 *rec;
	u32 i;

	if (fr_ring_reserve(&rig.ring, 2, &res))
		return false;
	for (i = 0; i < 1000 && fr_load(&rig.wr.lost[FR_LOST_wrap]) == refused; i++) {
		if (fr_w_seq(fr_writer_w(&rig.wr)) > seq + SLOTS)
			break; /* never, unless the check is missing */
		sched_yield();
	}
	rec = (u64 *)fr_ring_page(&rig.ring, res.page_nr) + res.unit;
	fr_store(&rec[0], fr_rec_head(res.time_ns, RIG_EVENT, 2));
	fr_store(&rec[1], tag);
	fr_ring_commit(&res);
	return true;
}

static bool write_some(struct writer *w, u64 n)
{
	if (n % 4000 == 3000 && w->nr == 0) {
		if (write_late(w->nr << TAG_BITS | n))
			w->written++;
		else
			w->lost++;
		return true;
	}
	if (mortal && n % 5000 == 777) {
		if (!die_writing(w))
			w->lost++;
		return true;
	}
	if (rig_write(&rig.ring, w->nr << TAG_BITS | n, 2 + n * 7 % 60)) {
		w->written++;
		return true;
	}
	w->lost++;
	return false;
}

static bool write_step(struct writer *w)
{
	bool ok;

	fr_store(&w->step, w->step + 1);
	ok = write_some(w, ++w->n);
	fr_store(&w->step, w->step + 1);
	return ok;
}

static void *write_on(void *arg)
{
	struct writer *w = arg;

	while (!fr_load(&stop)) {
		bool ok = write_step(w);

		/*
		 * Whoever holds the lap may be waiting for this CPU. And at times nothing but a commit may tell others of a
		 * record: not the next reservation either, which orders it too.
		 */
		if (!ok || w->n % 64 == 0)
			sched_yield();
	}
	return NULL;
}

/* Interrupts the first writer, or the second. Now and then for longer than a lap, or than all laps. */
static void write_nested(int sig)
{
	struct writer *w = &writer[sig == SIGUSR1 ? 1 : 2];
	u32 cnt = w->n % 101 ? 1 : w->n % 3 ? 40 : 200;

	while (cnt--)
		write_step(w);
}

/* Signals as fast as they are taken. */
static void *interrupt_on(void *arg)
{
	u64 nr;

	(void)arg;
	for (nr = 0; !fr_load(&stop); nr++) {
		pthread_kill(writer[0].id, nr % 3 ? SIGUSR1 : SIGUSR2);
		if (nr % 64 == 0)
			sched_yield();
	}
	return NULL;
}

static bool begin_nested(pthread_t *interrupter)
{
	struct sigaction sa = {.sa_handler = write_nested, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &sa, NULL); /* which the other may interrupt */
	sigaddset(&sa.sa_mask, SIGUSR1);
	sigaction(SIGUSR2, &sa, NULL);
	return !pthread_create(&writer[0].id, NULL, write_on, &writer[0]) &&
	       !pthread_create(interrupter, NULL, interrupt_on, NULL);
}

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

/* ---- the reader ---- */

static struct reader {
	u64 whole, partial, inflight, stale, damaged, kills, repairs, bad, records, beside;
	u64 sum[64]; /* of complete laps, by seq; with the seq */
	u64 sum_seq[64];
	u64 last_n[WRITERS]; /* of each writer in this pass */
	void *buf;
} rd;

static u64 checksum(const u64 *p, u32 units)
{
	u64 sum = 0;

	while (units--)
		sum = (sum ^ *p++) * 0x100000001b3ull;
	return sum;
}

/* A writer's own records are in its order. */
static void see(void *arg, u64 tag, u64 time_ns)
{
	u64 nr = tag >> TAG_BITS, n = tag & ((1ull << TAG_BITS) - 1);

	(void)arg;
	(void)time_ns;
	if (nr >= WRITERS || n <= rd.last_n[nr])
		rd.bad++;
	else
		rd.last_n[nr] = n;
	rd.records++;
}

static void same_again(const struct fr_lap *lap)
{
	u64 sum = checksum(rd.buf, lap->com_units);
	u32 i = lap->seq % 64;

	if (rd.sum_seq[i] == lap->seq && rd.sum[i] != sum) {
		printf("  lap %llu changed\n", (unsigned long long)lap->seq);
		rd.bad++;
	}
	rd.sum_seq[i] = lap->seq;
	rd.sum[i] = sum;
}

static void take_lap(const struct fr_lap *lap, u64 *last_ns)
{
	if (lap->partial)
		rd.partial++;
	else
		rd.whole++;
	if (rig_check_lap(&rig, rd.buf, lap, last_ns, see, NULL))
		rd.bad++;
	if (!lap->partial)
		same_again(lap);
}

static void miss_lap(int err)
{
	if (err == -EAGAIN)
		rd.inflight++;
	else if (err == -ESTALE)
		rd.stale++;
	else if (err == -EBADMSG)
		rd.damaged++;
	else
		rd.bad++;
}

/* Swap a complete lap out and forget it. Did it succeed? */
static bool be_killed(const struct fr_ring_reader *r, u64 seq)
{
	u64 *slot = &rig.sl.slot[seq % SLOTS], word = fr_load(slot);

	if (fr_slot_com(word) != PAGES * FR_PAGE_UNITS || fr_slot_seq(word) != (seq & FR_SEQ_MASK) ||
	    fr_cas(slot, word, fr_slot(seq, r->spare, fr_slot_cnt(word), fr_slot_com(word)) | (word & FR_SLOT_HOLE)) != word)
		return false;
	rd.kills++;
	return true;
}

/* The one that is to be killed is stopped, and holds this lap: what is read beside it is as it was read before. */
static void read_beside(u64 held)
{
	u64 seq, first, last, last_ns = 0;
	struct fr_ring_reader r;
	struct fr_lap lap;

	if (fr_ring_read_beside(&r, &rig.map, NULL, NULL) || fr_ring_read_range(&rig.map, &first, &last)) {
		rd.bad++;
		return;
	}
	memset(rd.last_n, 0, sizeof(rd.last_n));
	for (seq = first; seq <= last; seq++) {
		if (fr_ring_read_lap(&r, seq, rd.buf, rig_subbuf_sz(&rig), &lap))
			continue;
		take_lap(&lap, &last_ns);
		rd.beside += seq == held;
	}
}

static void read_pass(u64 pass)
{
	u64 seq, first, last, last_ns = 0;
	struct fr_ring_reader r;
	struct fr_lap lap;
	int ret = fr_ring_read_heal(&rig.map, grace, NULL);

	if (ret > 0)
		rd.repairs += ret;
	if (ret < 0 || fr_ring_read_open(&r, &rig.map, NULL, NULL)) {
		rd.bad++;
		return;
	}
	if (fr_ring_read_range(&rig.map, &first, &last))
		return;
	memset(rd.last_n, 0, sizeof(rd.last_n));
	for (seq = first; seq <= last; seq++) {
		int err = fr_ring_read_lap(&r, seq, rd.buf, rig_subbuf_sz(&rig), &lap);

		if (err)
			miss_lap(err);
		else
			take_lap(&lap, &last_ns);
		if (pass % KILL_1IN == 0 && seq == first + pass / KILL_1IN % SLOTS) {
			if (be_killed(&r, seq))
				read_beside(seq);
			return;
		}
	}
}

/* ---- the end ---- */

static bool settle(void)
{
	u64 written = 0, lost = 0, died = 0, present, i;

	for (i = 0; i < WRITERS; i++) {
		written += writer[i].written;
		lost += writer[i].lost;
		died += writer[i].died;
	}
	rd.damaged = rd.inflight = rd.stale = rd.records = 0;
	read_pass(1);
	present = fr_ring_read_present(&rig.map);
	printf("  written %llu, lost %llu, died %llu; present %llu, overwritten %llu\n", (unsigned long long)written,
	       (unsigned long long)lost, (unsigned long long)died, (unsigned long long)present,
	       (unsigned long long)rig.wr.overwritten);
	if (written != present + rig.wr.overwritten || lost != rig_lost(&rig) || rig.wr.lost[FR_LOST_broken])
		return false;
	if (mortal)
		return died && rd.damaged < SLOTS;
	return rd.records == present && !rd.damaged && !rd.inflight && !rd.stale;
}

/* Did each thing happen that is to be gone through? */
static bool is_tried(void)
{
	return rd.whole && rd.partial && rd.kills && rd.beside && rd.repairs && (!mortal || rd.damaged);
}

int main(int argc, char **argv)
{
	pthread_t interrupter;
	u64 pass = 1, i, until = time(NULL) + (argc > 1 ? strtoul(argv[1], NULL, 10) : 3), far = until + RIG_FAR_S;
	bool ok;

	for (i = 2; i < (u64)argc; i++) {
		mortal |= !strcmp(argv[i], "mortal");
		nested |= !strcmp(argv[i], "nested");
	}
	rig_init(&rig, SLOTS, PAGES);
	rd.buf = aligned_alloc(FR_PAGE_SZ, rig_subbuf_sz(&rig));
	for (i = 0; i < WRITERS; i++) {
		writer[i].nr = i;
		if (!rd.buf || (!nested && pthread_create(&writer[i].id, NULL, write_on, &writer[i])))
			return 2;
	}
	if (nested && !begin_nested(&interrupter))
		return 2;
	while ((u64)time(NULL) < (is_tried() ? until : far) && !rd.bad)
		read_pass(pass++);
	fr_store(&stop, 1);
	if (nested)
		pthread_join(interrupter, NULL);
	for (i = 0; i < (nested ? 1 : WRITERS); i++)
		pthread_join(writer[i].id, NULL);
	printf("  %llu passes: whole %llu, partial %llu, in flight %llu, overwritten %llu, damaged %llu; kills %llu, beside "
	       "%llu, repairs %llu\n",
	       (unsigned long long)pass, (unsigned long long)rd.whole, (unsigned long long)rd.partial,
	       (unsigned long long)rd.inflight, (unsigned long long)rd.stale, (unsigned long long)rd.damaged,
	       (unsigned long long)rd.kills, (unsigned long long)rd.beside, (unsigned long long)rd.repairs);
	ok = is_tried() && (mortal || !rd.damaged);
	return !(settle() && ok && !rd.bad);
}
