/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/snapshot/dump_counters.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live/session/counterstore.h"
#include "sys/cgroup.h"
#include "sys/counterread.h"
#include "sys/now.h"

struct fr_dump_counters {
	struct fr_dump_counters_ask ask;
	struct fr_call now; /* both clocks at one moment */
	bool has_clock;
	u64 last_ns; /* the last reading that a recorder kept, 0: none */
	struct fr_counters c;
};

/* ---- the runner ---- */

static void dump_counters_want(const struct fr_dump_counters *d, struct fr_counterread *r)
{
	const struct fr_counter_series *s = d->c.series.at;
	const struct fr_counter_point *p;
	char path[4096];
	size_t i;

	for (i = 0; i < d->c.series.cnt; i++) {
		p = s[i].point.at;
		if (*s[i].object == '/' && s[i].point.cnt && p[s[i].point.cnt - 1].ts == d->last_ns)
			fr_counterread_want(r, s[i].object);
	}
	if (d->ask.trigger_cgroup && !fr_cgroup_path(d->ask.trigger_cgroup, path, sizeof(path)))
		fr_counterread_want(r, path);
}

/* Which cgroups are active is known from the readings before; without any, whoever has done most ever is taken. */
static void dump_counters_run(void *arg, u32 item, struct fr_errand_out *to)
{
	struct fr_dump_counters *d = arg;
	struct fr_counterread *r = fr_counterread_new();
	struct fr_counters now;
	u8 *bytes = NULL;
	size_t sz = 0;

	(void)item;
	fr_counters_init(&now);
	if (r)
		dump_counters_want(d, r);
	if (!r || fr_counterread_look(r, d->now.ns + (fr_now_ns(CLOCK_MONOTONIC) - d->now.mono_ns), !d->last_ns, &now) ||
	    fr_counters_encode(&now, FR_ERRAND_TELL_MAX, &bytes, &sz))
		fr_errand_fail(to);
	else
		fr_errand_tell(to, 0, bytes, sz);
	free(bytes);
	fr_counters_free(&now);
	fr_counterread_free(r);
}

/* ---- the asker ---- */

static void dump_counters_take(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	struct fr_dump_counters *d = arg;
	struct fr_counters now;

	(void)item;
	(void)kind;
	fr_counters_init(&now);
	if (!fr_counters_decode(&now, data, sz))
		fr_counters_join(&d->c, &now);
	fr_counters_free(&now);
}

static void dump_counters_miss(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	struct fr_dump_counters *d = arg;

	(void)item;
	(void)step;
	if (d->ask.unread)
		fr_unread_add(d->ask.unread, 0, "counters", why);
}

/* Of no process: what a cgroup's file waits for, all looks wait for. */
static u64 dump_counters_key(void *arg, u32 item)
{
	(void)arg;
	(void)item;
	return 1ULL << 40;
}

static u32 dump_counters_one(void *arg)
{
	return ((struct fr_dump_counters *)arg)->has_clock;
}

/* What a recorder has kept. */
static void dump_counters_load(struct fr_dump_counters *d)
{
	struct fr_halves *store;
	u8 *bytes = NULL;
	u64 *moment;
	size_t sz, cnt;

	if (fr_halves_open(d->ask.s, &fr_counterstore, &store))
		return;
	if (!fr_halves_load(store, &bytes, &sz) && bytes && fr_counters_decode(&d->c, bytes, sz))
		fr_counters_free(&d->c);
	free(bytes);
	fr_halves_close(store);
	moment = fr_counters_moments(&d->c, &cnt);
	if (moment && cnt && moment[cnt - 1] <= d->now.ns)
		d->last_ns = moment[cnt - 1];
	free(moment);
}

struct fr_dump_counters *fr_dump_counters_new(const struct fr_dump_counters_ask *ask,
					      struct fr_errand_job job[FR_DUMP_COUNTERS_JOB_CNT])
{
	struct fr_dump_counters *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->ask = *ask;
	fr_counters_init(&d->c);
	d->has_clock = !fr_sess_clocks(ask->s, &d->now);
	/* the kernel's clock, as BPF has it, may not be this process's: a time namespace */
	d->now.mono_ns = fr_now_ns(CLOCK_MONOTONIC);
	dump_counters_load(d);
	job[0] = (struct fr_errand_job){.arg = d,
					.cnt = dump_counters_one,
					.key = dump_counters_key,
					.run = dump_counters_run,
					.take = dump_counters_take,
					.miss = dump_counters_miss};
	return d;
}

void fr_dump_counters_free(struct fr_dump_counters *d)
{
	if (!d)
		return;
	fr_counters_free(&d->c);
	free(d);
}

struct fr_counters *fr_dump_counters_get(struct fr_dump_counters *d)
{
	return &d->c;
}
