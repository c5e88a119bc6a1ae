/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text/units.h"

#define FLIP_TRIES  200 /* to flip a CPU that is counting: some milliseconds in total */
#define LOCK_NAP_NS 2000000
#define ROUNDS	    2 /* a CPU that switched by itself has both tables in use */

struct fr_sampler {
	struct fr_sess *s;
	struct fr_hits *hits;
	struct fr_prof *prof; /* the stored profile as of seq; NULL: not read yet */
	u64 seq;
	u64 merged[FR_HITS_CPU_MAX];
	u8 *bytes;  /* FR_PROF_SZ_MAX */
	bool again; /* a CPU had both tables in use */
};

int fr_sampler_open(struct fr_sess *s, struct fr_sampler **out)
{
	struct fr_sampler *sp = calloc(1, sizeof(*sp));
	int err;

	if (!sp)
		return -ENOMEM;
	sp->s = s;
	sp->bytes = malloc(FR_PROF_SZ_MAX);
	err = sp->bytes ? fr_hits_open(s, &sp->hits) : -ENOMEM;
	if (err)
		fr_sampler_close(sp);
	else
		*out = sp;
	return err;
}

void fr_sampler_close(struct fr_sampler *sp)
{
	if (!sp)
		return;
	fr_hits_close(sp->hits);
	free(sp->prof);
	free(sp->bytes);
	free(sp);
}

struct fr_hits *fr_sampler_hits(const struct fr_sampler *sp)
{
	return sp->hits;
}

u64 fr_sampler_rate_max(u32 shift)
{
	return (u64)(fr_hits_rest(fr_hits_cnt(shift)) + fr_hits_cnt(shift)) * FR_SEC_NS / FR_SAMPLER_LATENCY_NS;
}

static void sampler_nap(long ns)
{
	const struct timespec t = {.tv_nsec = ns};

	nanosleep(&t, NULL);
}

/* ---- the stored profile ---- */

static u64 sampler_begin_ns(const struct fr_sampler *sp)
{
	char *text = fr_sess_fact(sp->s, "begin_ns");
	u64 v = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return v;
}

/*
 * Load what another reader stored, unless it was this one. Replace a damaged profile by an empty one: the tables know what was
 * merged.
 */
static int sampler_load(struct fr_sampler *sp, struct fr_sampler_read *what)
{
	u64 seq = fr_hits_stored(sp->hits);
	u8 *bytes;
	size_t sz;
	int err;

	if (sp->prof && seq == sp->seq)
		return 0;
	free(sp->prof);
	sp->prof = NULL;
	err = fr_hits_load(sp->hits, &bytes, &sz, sp->merged);
	if (!err && bytes)
		err = fr_prof_read(bytes, sz, &sp->prof);
	free(bytes);
	what->damaged += err == -EBADMSG;
	if (err == -EBADMSG || (!err && !sp->prof)) {
		sp->prof = fr_prof_new(sampler_begin_ns(sp));
		err = sp->prof ? 0 : -ENOMEM;
	}
	sp->seq = seq;
	return err;
}

static int sampler_store(struct fr_sampler *sp)
{
	size_t sz = fr_prof_write(sp->prof, sp->bytes, FR_PROF_SZ_MAX);

	if (!sz)
		return -E2BIG;
	fr_hits_store(sp->hits, sp->bytes, sz, sp->merged);
	sp->seq = fr_hits_stored(sp->hits);
	return 0;
}

/* ---- the tables ---- */

/* Release what a previous reader merged but did not live to release. */
static void sampler_put_right(struct fr_sampler *sp, u32 cpu)
{
	struct fr_hits_cpu *c = fr_hits_cpu(sp->hits, cpu);

	if (c->drained < sp->merged[cpu] && sp->merged[cpu] - c->drained <= 2)
		while (c->drained < sp->merged[cpu])
			fr_hits_release(c, fr_hits_shift(sp->hits), c->drained);
	sp->merged[cpu] = c->drained;
}

/* A CPU is in our program for microseconds; do not wait for one that the hypervisor has descheduled meanwhile. */
static int flip(struct fr_hits_cpu *c, u64 gen)
{
	int tries;

	for (tries = 0; tries < FLIP_TRIES; tries++) {
		if (!fr_hits_flip(c, gen) || fr_hits_gen(c) != gen)
			return 0;
		if (tries > FLIP_TRIES / 2)
			sampler_nap(20000);
	}
	return -EBUSY;
}

/* Merge the CPU's oldest table, if it has any content. */
static void merge(struct fr_sampler *sp, u32 cpu, struct fr_sampler_read *what)
{
	struct fr_hits_cpu *c = fr_hits_cpu(sp->hits, cpu);
	u32 shift = fr_hits_shift(sp->hits);
	u64 gen = fr_hits_gen(c);

	if (c->drained > gen || gen - c->drained > 1) {
		what->damaged++;
		return;
	}
	sp->again |= c->drained != gen;
	if (c->drained == gen) {
		if (!fr_load(&fr_hits_table(c, shift, gen)->taken))
			return;
		if (flip(c, gen)) {
			what->late++;
			return;
		}
	}
	what->damaged += !fr_prof_add_table(sp->prof, fr_hits_table(c, shift, c->drained), shift);
	what->tables++;
	sp->merged[cpu] = c->drained + 1;
}

static u64 nested(struct fr_sampler *sp)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < fr_hits_cpu_cnt(sp->hits); i++)
		sum += fr_load(&fr_hits_cpu(sp->hits, i)->nested);
	return sum;
}

static void merge_all(struct fr_sampler *sp, struct fr_sampler_read *what)
{
	u32 i;

	sp->again = false;
	for (i = 0; i < fr_hits_cpu_cnt(sp->hits); i++)
		merge(sp, i, what);
	fr_prof_add_nested(sp->prof, nested(sp));
}

static void release_all(struct fr_sampler *sp)
{
	struct fr_hits_cpu *c;
	u32 i;

	for (i = 0; i < fr_hits_cpu_cnt(sp->hits); i++) {
		c = fr_hits_cpu(sp->hits, i);
		if (c->drained < sp->merged[i])
			fr_hits_release(c, fr_hits_shift(sp->hits), c->drained);
	}
}

static u32 cpu_cnt(const struct fr_sampler *sp)
{
	size_t cnt, i;
	const struct fr_ring_map *ring = fr_sess_rings(sp->s, &cnt);
	u32 n = 0;

	for (i = 0; i < cnt; i++)
		n += ring[i].tier == FR_TIER_MAIN;
	return n;
}

static int read_locked(struct fr_sampler *sp, struct fr_sampler_read *what)
{
	struct fr_call now;
	int err = sampler_load(sp, what), round;
	u32 i;

	err = err ?: fr_sess_clocks(sp->s, &now);
	if (err)
		return err;
	for (i = 0; i < fr_hits_cpu_cnt(sp->hits); i++)
		sampler_put_right(sp, i);
	sp->prof->hz = fr_sess_sample_hz(sp->s);
	sp->prof->cpu_cnt = cpu_cnt(sp);
	fr_prof_open(sp->prof, now.ns, fr_sess_samples_due(sp->s, now.ns));
	sp->again = true;
	for (round = 0; round < ROUNDS && sp->again && !err; round++) {
		merge_all(sp, what);
		err = sampler_store(sp);
		if (!err)
			release_all(sp);
	}
	if (err) { /* the merged tables were not stored: read the profile again */
		free(sp->prof);
		sp->prof = NULL;
	}
	return err;
}

static int sampler_lock(struct fr_sampler *sp, u32 timeout_ms)
{
	u64 tries = (u64)timeout_ms * FR_MSEC_NS / LOCK_NAP_NS;
	int err;

	while ((err = fr_hits_lock(sp->hits)) == -EWOULDBLOCK && tries--)
		sampler_nap(LOCK_NAP_NS);
	return err;
}

int fr_sampler_read(struct fr_sampler *sp, u32 timeout_ms, const struct fr_prof **prof, struct fr_sampler_read *what)
{
	struct fr_sampler_read mine = {};
	int err = sampler_lock(sp, timeout_ms);

	if (err)
		return err;
	err = read_locked(sp, &mine);
	fr_hits_unlock(sp->hits);
	if (err)
		return err;
	if (what)
		*what = mine;
	if (prof)
		*prof = sp->prof;
	return 0;
}
