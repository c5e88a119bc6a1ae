/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/watch/holdsess.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/config/select.h"
#include "base/err.h"
#include "base/schema/schema.h"
#include "event_fields.h"
#include "live/recorder/record.h"
#include "live/snapshot/dump.h"
#include "sys/cpus.h"
#include "sys/now.h"

#define STACK_SHARE 4u /* of the memory: at high rates new stacks come fast, and they are looked up half a second later */
#define CLOCK_TRIES 16
#define CLOCK_NEAR  10000000 /* ns: clocks this close are the same; a time namespace's are not */

/* The events of our own session: only those that say what runs; group task supplies the tasks' names. */
static const char *const own_events[] = {"-signal", "-block", "-wait", "softirq"};

/* ---- which session ---- */

static bool holdsess_is_there(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), FR_SESSION_ROOT "/%s/meta", name);
	return !access(path, F_OK);
}

/* Do its event numbers match this version's? Tracepoints come behind them. 0 and *same, or -ENOMEM. */
static int compare_schema(const struct fr_sess *s, bool *same)
{
	size_t sz, own_sz;
	const char *text = fr_sess_schema(s, &sz);
	char *own = fr_schema_write(fr_schema_builtin(), &own_sz);

	if (!own)
		return -ENOMEM;
	*same = sz >= own_sz && !memcmp(text, own, own_sz);
	free(own);
	return 0;
}

/* Is this event being recorded now? The governor may hold it. */
static bool has_event(const struct fr_sess *s, u32 nr)
{
	u32 word = __atomic_load_n(&fr_sess_shared(s)->enable[nr], __ATOMIC_RELAXED);

	return word && !(word & FR_ENABLE_HELD);
}

/* 0 and *missing: what it lacks of what the watch needs, of all tasks; NULL: nothing. Or -ENOMEM. */
static int holdsess_find_missing(const struct fr_sess *s, const char **missing)
{
	static const u32 need[] = {FR_EV_sched_switch,	FR_EV_irq_handler_entry, FR_EV_irq_handler_exit,
				   FR_EV_softirq_entry, FR_EV_softirq_exit,	 FR_EV_cpu_sample};
	char *settings = fr_sess_fact(s, "settings");
	bool same = false;
	size_t i = sizeof(need) / sizeof(need[0]);
	int err = settings ? compare_schema(s, &same) : -ENOMEM; /* each session has settings */

	*missing = settings && strstr(settings, "-f ") ? "all tasks" : NULL;
	while (same && i--)
		if (!has_event(s, need[i]))
			*missing = fr_schema_event(fr_schema_builtin(), need[i])->name;
	if (!same)
		*missing = "events as this version has them";
	free(settings);
	return err;
}

/* ---- a session of our own ---- */

static int own_selection(struct fr_load_conf *l)
{
	const char *nearest;
	size_t i;
	int err = fr_select_profile("default", l->enable, NULL);

	for (i = 0; i < sizeof(own_events) / sizeof(own_events[0]); i++)
		err = err ?: fr_select_event(own_events[i], l->enable, &nearest);
	return err;
}

static int make_own(const struct fr_holdsess_ask *ask, const char *name, struct fr_sess **out)
{
	struct fr_live_settings live = {.config.dir = (char *)(ask->dir ?: FR_DEF_DIR)};
	struct fr_record_ask r = {
		.name = name,
		.profile = "watch",
		.settings = "watch",
		.plan = {.cpu_sz = ask->cpu_sz, .tier_sz[FR_TIER_STACK] = ask->cpu_sz / STACK_SHARE},
		.load = {.sample_hz = ask->hz, .task_cnt = FR_LOAD_TASK_CNT},
		.live = &live,
	};
	int err = own_selection(&r.load) ?: fr_record_make(&r, out);

	if (err == -EINVAL)
		return FR_EXIT_USAGE;
	if (!err)
		fr_sess_be_self(*out, true, NULL); /* lets `stop` know which process to signal */
	return err ? FR_EXIT_FAIL : FR_EXIT_OK;
}

/* Loading takes seconds on a busy machine, during which nothing can be seen. */
static void tell_loading(void)
{
	if (isatty(STDERR_FILENO))
		fputs("loading programs for the watch's own session\n", stderr);
}

static int open_own(const struct fr_holdsess_ask *ask, const char *name, struct fr_holdsess *h)
{
	char buf[FR_SESS_NAME_MAX + 1];
	int status;

	snprintf(buf, sizeof(buf), "watch-%d", (int)getpid());
	tell_loading();
	status = make_own(ask, name ?: buf, &h->look);
	if (status)
		return status;
	h->is_own = true;
	h->hz = ask->hz;
	return FR_EXIT_OK;
}

/* The named session, or the default one if it records; h->take NULL: neither. */
static int open_recording(const struct fr_holdsess_ask *ask, struct fr_holdsess *h)
{
	const char *name = ask->name ?: FR_DEF_NAME, *missing;

	fr_sess_sweep();
	if (!holdsess_is_there(name))
		return FR_EXIT_OK;
	if (fr_sess_open(name, &h->take))
		return FR_EXIT_FAIL;
	if (holdsess_find_missing(h->take, &missing)) {
		fr_err("out of memory");
		return FR_EXIT_FAIL;
	}
	if (missing)
		fr_warn("session '%s' does not record %s: the watch records a session of its own beside it", name, missing);
	else
		h->look = h->take;
	return FR_EXIT_OK;
}

/* ---- samples ---- */

static u32 holdsess_online_cnt(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? n : 1;
}

/* All CPUs at one rate: the expected number of samples depends on it. */
static int holdsess_set_rate(struct fr_sess *s, u32 hz)
{
	struct fr_cpus *cpus;
	struct fr_call now;
	int err = 0;
	u32 i;

	if (fr_cpus_online(&cpus))
		return -EIO;
	for (i = 0; i < fr_cpus_cnt(cpus) && !err; i++) {
		err = fr_sess_sample_cpu(s, NULL, fr_cpus_nr(cpus, i), hz);
		if (err == -ENODEV) /* it went offline */
			err = 0;
	}
	fr_cpus_free(cpus);
	if (!err && !fr_sess_clocks(s, &now))
		fr_sess_sampling(s, hz, holdsess_online_cnt(), now.ns);
	return err;
}

/* Others may want a higher rate, or have wanted a lower one. */
static void raise_rate(struct fr_holdsess *h)
{
	const u32 was = fr_sess_sample_hz(h->look);
	int err = h->rate_err;

	if (!err && h->want_hz > was) {
		err = holdsess_set_rate(h->look, h->want_hz);
		if (err)
			holdsess_set_rate(h->look, was); /* not only some CPUs */
	}
	if (err)
		fr_warn("cannot raise the rate of samples: %s: it stays at %u a second", strerror(-err),
			fr_sess_sample_hz(h->look));
	fr_rateask_done(&h->rate);
	h->hz = fr_sess_sample_hz(h->look);
}

/* ---- the end, in the keeper ---- */

static void end_own(struct fr_sess *s)
{
	if (fr_sess_lock(s, FR_DUMP_END_MS, NULL))
		return;
	fr_sess_detach(s);
	fr_sess_remove(s);
	fr_sess_unlock(s);
}

/* Unless the rate was changed since by the governor, or by a recorder that adopted the session. */
static void lower_rate(struct fr_holdsess *h)
{
	u32 was, want, now;

	if (h->rate.mark_fd < 0 || fr_rateask_end(&h->rate, &was, &want))
		return;
	now = fr_sess_sample_hz(h->look); /* may be as we want it: some CPUs may have been raised before that was noted */
	if (want != was && (now == was || now == want))
		holdsess_set_rate(h->look, want);
	fr_rateask_done(&h->rate);
}

static void holdsess_put_right(void *arg)
{
	struct fr_holdsess *h = arg;

	if (h->is_own)
		end_own(h->look);
	else
		lower_rate(h);
}

/* ---- clocks ---- */

/*
 * The difference between the clocks, from a read in BPF between two of ours: the closest of several. Zero if they are the same.
 */
static int measure_clock(struct fr_holdsess *h)
{
	u64 best = ~0ULL, before, after;
	struct fr_call now;
	int i, err;

	for (i = 0; i < CLOCK_TRIES; i++) {
		before = fr_now_ns(CLOCK_MONOTONIC);
		err = fr_sess_clocks(h->look, &now);
		after = fr_now_ns(CLOCK_MONOTONIC);
		if (err)
			return err;
		if (after - before >= best)
			continue;
		best = after - before;
		h->clock_off_ns = (s64)(now.mono_ns - (before + best / 2));
	}
	if (h->clock_off_ns < CLOCK_NEAR && h->clock_off_ns > -CLOCK_NEAR)
		h->clock_off_ns = 0;
	return 0;
}

u64 fr_holdsess_now(const struct fr_holdsess *h)
{
	return fr_now_ns(CLOCK_MONOTONIC) + h->clock_off_ns;
}

/* ---- open and close ---- */

static int holdsess_prepare(const struct fr_holdsess_ask *ask, struct fr_holdsess *h)
{
	int err = measure_clock(h);

	if (err) {
		fr_err("cannot read the clock of session '%s': %s: run as root", fr_sess_name(h->look), strerror(-err));
		return FR_EXIT_FAIL;
	}
	if (!h->is_own && ask->hz)
		h->rate_err = fr_rateask_begin(&h->rate, h->look, ask->hz, &h->want_hz);
	err = fr_keeper_start(&h->keeper, holdsess_put_right, h);
	if (err) {
		fr_err_errno(err, "cannot start a process");
		fr_rateask_done(&h->rate);
		return FR_EXIT_FAIL;
	}
	if (!h->is_own)
		raise_rate(h);
	return FR_EXIT_OK;
}

int fr_holdsess_open(const struct fr_holdsess_ask *ask, struct fr_holdsess *h)
{
	int status;

	*h = (struct fr_holdsess){.rate = {.turn_fd = -1, .mark_fd = -1}};
	status = open_recording(ask, h);
	if (!status && !h->look)
		status = open_own(ask, h->take ? NULL : ask->name, h);
	if (!status && !h->take)
		h->take = h->look;
	status = status ?: holdsess_prepare(ask, h);
	if (status)
		fr_holdsess_close(h);
	return status;
}

void fr_holdsess_close(struct fr_holdsess *h)
{
	if (h->keeper.pid)
		fr_keeper_end(&h->keeper);
	else if (h->is_own && h->look)
		end_own(h->look);
	if (h->take != h->look)
		fr_sess_close(h->take);
	fr_sess_close(h->look);
	h->take = h->look = NULL;
}

const struct fr_ring_map *fr_holdsess_ring(const struct fr_holdsess *h, u32 cpu)
{
	size_t i, cnt;
	const struct fr_ring_map *m = fr_sess_rings(h->look, &cnt);

	for (i = 0; i < cnt; i++)
		if (m[i].cpu == cpu && m[i].tier == FR_TIER_MAIN)
			return &m[i];
	return NULL;
}

void fr_holdsess_came(struct fr_holdsess *h, u32 cpu)
{
	if (h->is_own && h->hz)
		fr_sess_sample_cpu(h->look, NULL, cpu, h->hz);
}

bool fr_holdsess_lives(const struct fr_holdsess *h)
{
	return holdsess_is_there(fr_sess_name(h->look));
}
