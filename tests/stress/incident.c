/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident: a small incident log, more writers than it has slots, some of them interrupted by others between claim and finish;
 * one reader that saves and recycles, and is killed now and then between the two; two that only look.
 *
 *	incident MILLISECONDS
 *
 * Each record checks itself. What was saved must be each record once, in order; offered = saved + dropped, by kind and in all.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "incident.h"

#define FAR_MS	 60000 /* how much longer, if the machine is so busy that not each thing happened by then */
#define WRITERS	 9
#define VIEWERS	 2
#define CNT	 8u
#define TAG_BITS 40

#ifndef PAUSE /* in the middle of a record */
#define PAUSE()	    sched_yield()
#define PAUSE_EVERY 64
#endif

static struct {
	struct fr_incident_head head;
	struct fr_incident slot[CNT];
} mem;
static const struct fr_inc_log the_log = {&mem, &mem.head, CNT};
static u64 stop;

FR_INLINE void *fr_incident_at(const struct fr_inc_log *log, u32 nr)
{
	(void)log;
	return nr <= CNT ? (struct fr_incident *)&mem + nr : NULL;
}

static struct writer {
	pthread_t id;
	u64 nr, n;
	u64 claimed, dropped;
} FR_ALIGNED(FR_CACHE_SZ) writer[WRITERS];

static struct viewer {
	pthread_t id;
	u64 seen, gone, open, bad;
} FR_ALIGNED(FR_CACHE_SZ) viewer[VIEWERS];

static u64 mixed(u64 tag, u32 i)
{
	u64 x = (tag + i) * 0x9e3779b97f4a7c15ull;

	return x ^ x >> 29;
}

/* The kind tells of the writer; ts is the tag; all words behind it follow from that. */
static u64 word(u64 tag, u32 i)
{
	if (i == 8) /* kind, cpu */
		return 1 + (tag >> TAG_BITS);
	return i == 1 ? tag : mixed(tag, i);
}

static void write_one(struct writer *w, u32 depth)
{
	u64 tag = w->nr << TAG_BITS | ++w->n, seq = fr_incident_claim(&the_log, 1 + w->nr);
	struct fr_incident *slot;
	u32 i;

	if (seq == ~0ULL) {
		w->dropped++;
		return;
	}
	slot = fr_incident_slot(&the_log, seq);
	fr_incident_clear(slot);
	for (i = 1; i < FR_INCIDENT_WORDS; i++) {
		fr_store(&((u64 *)slot)[i], word(tag, i));
		if (i == 16 && depth && w->n % 8 == 0)
			write_one(w, depth - 1);
		if (i == 20 && w->n % PAUSE_EVERY == 0)
			PAUSE();
	}
	fr_incident_finish(slot, seq);
	w->claimed++;
}

static void *write_on(void *arg)
{
	struct writer *w = arg;

	while (!fr_load(&stop)) {
		write_one(w, 2);
		if (w->n % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static bool is_whole(const struct fr_incident *r, u64 seq)
{
	const u64 *at = (const u64 *)r;
	u32 i;

	if (r->done != seq + 1)
		return false;
	for (i = 1; i < FR_INCIDENT_WORDS; i++)
		if (at[i] != word(r->ts, i)) {
			printf("  seq %llu torn at word %u\n", (unsigned long long)seq, i);
			return false;
		}
	return true;
}

/* Looks at all that lies in the log. */
static void *look_on(void *arg)
{
	struct viewer *v = arg;
	struct fr_incident r;
	u64 next, seq;

	while (!fr_load(&stop) && !v->bad) {
		next = fr_load(&mem.head.next);
		for (seq = next > CNT ? next - CNT : 0; seq < next; seq++) {
			switch (fr_incident_read(&the_log, seq, &r)) {
			case FR_INCIDENT_GOT:
				v->seen++;
				v->bad += !is_whole(&r, seq);
				break;
			case FR_INCIDENT_OPEN:
				v->open++;
				break;
			case FR_INCIDENT_GONE:
				v->gone++;
			}
		}
		sched_yield();
	}
	return NULL;
}

/* ---- the reader that saves ---- */

static struct {
	u64 journal;	   /* records written: seq 0 to this one */
	u64 last[WRITERS]; /* of each writer: nested ones are claimed after, and numbered after, the one they interrupt */
	u64 of[WRITERS];   /* records of it */
	u64 kills, bad;
} saver;

static void save(const struct fr_incident *r, u64 seq)
{
	u64 nr = r->ts >> TAG_BITS, n = r->ts & ((1ULL << TAG_BITS) - 1);

	if (!is_whole(r, seq) || seq != saver.journal || nr >= WRITERS || n <= saver.last[nr]) {
		saver.bad++;
		return;
	}
	saver.journal++;
	saver.last[nr] = n;
	saver.of[nr]++;
}

/* Killed: what it has written is on disk, and saved is where it was. The next one begins behind what is on disk. */
static bool save_pass(u64 pass)
{
	u64 seq = fr_load(&mem.head.saved), next = fr_load(&mem.head.next);
	struct fr_incident r;

	if (seq < saver.journal)
		seq = saver.journal;
	for (; seq < next; seq++) {
		if (fr_incident_read(&the_log, seq, &r) != FR_INCIDENT_GOT)
			break;
		save(&r, seq);
	}
	if (pass % 5 == 0) {
		saver.kills++;
		return false;
	}
	fr_incident_recycle(&the_log, seq);
	return seq == next;
}

static bool settle(void)
{
	u64 claimed = 0, dropped = 0, counted = 0, i;
	bool ok = true;

	for (i = 0; i < 1000 && !save_pass(1) && !saver.bad; i++)
		;
	for (i = 0; i < WRITERS; i++) {
		claimed += writer[i].claimed;
		dropped += writer[i].dropped;
		counted += mem.head.drop[1 + i];
		ok &= writer[i].dropped == mem.head.drop[1 + i] && writer[i].claimed == saver.of[i] &&
		      writer[i].n == writer[i].claimed + writer[i].dropped;
	}
	printf("  offered %llu = saved %llu + dropped %llu; kills %llu\n", (unsigned long long)(claimed + dropped),
	       (unsigned long long)saver.journal, (unsigned long long)counted, (unsigned long long)saver.kills);
	if (!ok || claimed != saver.journal || dropped != counted || mem.head.next != claimed || mem.head.saved != claimed) {
		printf("  counts: claimed %llu, next %llu\n", (unsigned long long)claimed, (unsigned long long)mem.head.next);
		return false;
	}
	return claimed && dropped && saver.kills;
}

/* Was each thing gone through: a record, one that was dropped, a saver that was killed? */
static bool is_tried(void)
{
	u64 dropped = 0, i;

	for (i = 0; i < WRITERS; i++)
		dropped += fr_load(&mem.head.drop[1 + i]);
	return fr_load(&mem.head.next) && dropped && saver.kills;
}

static u64 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	u64 until = now_ms() + (argc > 1 ? strtoul(argv[1], NULL, 10) : 1000), far = until + FAR_MS, pass = 0, i, bad = 0;

	for (i = 0; i < WRITERS; i++) {
		writer[i].nr = i;
		if (pthread_create(&writer[i].id, NULL, write_on, &writer[i]))
			return 2;
	}
	for (i = 0; i < VIEWERS; i++)
		if (pthread_create(&viewer[i].id, NULL, look_on, &viewer[i]))
			return 2;
	while (now_ms() < (is_tried() ? until : far) && !saver.bad) {
		save_pass(++pass);
		sched_yield();
	}
	fr_store(&stop, 1);
	for (i = 0; i < WRITERS; i++)
		pthread_join(writer[i].id, NULL);
	for (i = 0; i < VIEWERS; i++) {
		pthread_join(viewer[i].id, NULL);
		bad += viewer[i].bad;
		printf("  looked: seen %llu, unfinished %llu, gone %llu\n", (unsigned long long)viewer[i].seen,
		       (unsigned long long)viewer[i].open, (unsigned long long)viewer[i].gone);
	}
	return !(settle() && !saver.bad && !bad);
}
