/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 *	every Interval	statistics on, counts read
 *	200 ms later	counts read again, statistics off; costs by group, one step (base/trigger/govern.h), done and marked
 *
 * A program whose event is off still runs and returns at once, so that its rate, and thus its potential cost, stays known.
 */
#include "live/recorder/governor.h"

#include "live/incident/inclog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/schema/schema.h"
#include "base/trigger/govern.h"
#include "event_fields.h"
#include "live/recorder/daemon.h"
#include "live/session/admin.h"
#include "live/session/rateask.h"
#include "sys/cpus.h"
#include "sys/now.h"

#define WINDOW_NS	  200000000ULL
#define INTERVAL_MIN	  (2 * WINDOW_NS)
#define CLOCK_READS	  100
#define CLOCK_READ_MAX_NS 40		     /* a slow clock must not hide the programs' cost */
#define TRIGGERS	  FR_GROUP_CNT	     /* as a group: counted but never touched */
#define INCIDENTS	  (FR_GROUP_CNT + 1) /* likewise */
#define GROUP_CNT	  (FR_GROUP_CNT + 2)

struct progs {
	struct fr_sess_prog *list;
	size_t cnt;
};

struct fr_governor {
	struct fr_daemon *d;
	struct fr_sess *s;
	struct fr_govern policy;
	struct progs event, trigger, incident; /* at the start of the window */
	int tick_fd, window_fd, on_fd;
	u64 begun_ns;
	u32 budget;
	u64 interval_ns;
	u32 hz;		 /* of samples, at the full rate */
	u32 hz_now;	 /* the timers' current rate */
	u32 thin_levels; /* of samples; fewer if their rate cannot be changed */
	bool told_stuck, told_rate;
};

_Static_assert(GROUP_CNT <= FR_GOVERN_GROUP_MAX, "all groups");
_Static_assert(FR_GROUP_CNT <= 32, "a bit each");

/*
 * Shared words: enable, for fr_enabled() of bpf/record.bpf.h, and what is shown in the status. Each says everything by itself,
 * so their order does not matter.
 */
static u32 governor_load(const u32 *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static void governor_store(u32 *p, u32 v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

/* ---- what can be done to a group ---- */

static u32 levels_of(const struct fr_governor *g, u32 group)
{
	switch (group) {
	case FR_GROUP_TASK:
	case FR_GROUP_SIGNAL:
	case FR_GROUP_MARK:
	case TRIGGERS:
	case INCIDENTS:
		return 0;
	case FR_GROUP_SCHED:
		return 2;
	case FR_GROUP_SAMPLE:
		return g->thin_levels + 1;
	default:
		return 1;
	}
}

/* The bit beside the generation: programs compare the whole word, so this turns the event off for all of them. */
static void hold(struct fr_session *sh, u32 event, bool on)
{
	u32 word = governor_load(&sh->enable[event]);

	if (on && word)
		governor_store(&sh->enable[event], word | FR_ENABLE_HELD);
	if (!on && word & FR_ENABLE_HELD)
		governor_store(&sh->enable[event], word & ~FR_ENABLE_HELD);
}

static bool is_held(const struct fr_governor *g, u32 group, u32 level, u32 event)
{
	if (group == FR_GROUP_SCHED && level == 1)
		return event != FR_EV_sched_switch;
	return level && level == levels_of(g, group);
}

static void hold_group(struct fr_governor *g, u32 group, u32 level)
{
	struct fr_session *sh = fr_sess_shared(g->s);
	const struct fr_event *ev;
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		ev = fr_schema_event(fr_schema_builtin(), nr);
		if (ev && ev->group == group)
			hold(sh, nr, is_held(g, group, level, nr));
	}
}

/* Open timers again, also for CPUs that came while samples were off. */
static int governor_set_rate(struct fr_governor *g, u32 hz)
{
	struct fr_cpus *cpus;
	int err = 0;
	u32 i;

	if (fr_cpus_online(&cpus))
		return -EIO;
	for (i = 0; i < fr_cpus_cnt(cpus) && !err; i++) {
		err = fr_sess_sample_cpu(g->s, fr_daemon_admin(g->d), fr_cpus_nr(cpus, i), hz);
		if (err == -ENODEV) /* it went offline */
			err = 0;
	}
	fr_cpus_free(cpus);
	return err;
}

static u32 governor_online_cnt(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? n : 1;
}

/* Note how many samples to expect from now on. */
static void expect_samples(struct fr_governor *g, u32 hz)
{
	struct fr_call now;

	if (!fr_sess_clocks(g->s, &now))
		fr_sess_sampling(g->s, hz, governor_online_cnt(), now.ns);
}

/* Return to the full rate. If only the timers' current rate can be had, that is no failure. */
static int sample_at(struct fr_governor *g, u32 hz)
{
	int err = governor_set_rate(g, hz);

	if (err == -ENOENT) /* this session takes no samples */
		return 0;
	if (err && hz != g->hz_now)
		return err;
	g->hz_now = hz;
	expect_samples(g, hz);
	return 0;
}

static u32 full_hz(struct fr_sess *s)
{
	char *text = fr_sess_fact(s, "sample_hz");
	u32 hz = text ? strtoul(text, NULL, 10) : 0;

	free(text);
	return hz;
}

static int governor_apply(struct fr_governor *g, u32 group, u32 level)
{
	const bool is_sample = group == FR_GROUP_SAMPLE && g->hz, is_off = level && level == levels_of(g, group);
	int err = is_sample && !is_off ? sample_at(g, fr_govern_hz(g->hz, level)) : 0;

	if (err)
		return err;
	hold_group(g, group, level);
	if (is_sample && is_off)
		expect_samples(g, 0);
	return 0;
}

static void warn_of_rate(struct fr_governor *g, int err)
{
	if (!g->told_rate)
		fr_warn("the governor cannot change the rate of samples: %s: it can only turn them off and on. Start "
			"the recorder with CAP_SYS_ADMIN, or allow it with `sysctl kernel.perf_event_paranoid=2`",
			strerror(-err));
	g->told_rate = true;
}

/* If a step fails, thinning samples is not available, and the step becomes turning them off. False: nothing was done. */
static bool do_step(struct fr_governor *g, const struct fr_govern_step *step)
{
	int err = governor_apply(g, step->group, step->level);

	if (!err)
		return true;
	warn_of_rate(g, err);
	if (step->what == FR_GOVERN_up) {
		fr_govern_refuse(&g->policy, step->group);
		return false;
	}
	g->thin_levels = step->level - 1;
	return !governor_apply(g, step->group, step->level);
}

/* ---- telling ---- */

static u32 steps_down(const struct fr_governor *g)
{
	u32 i, sum = 0;

	for (i = 0; i < g->policy.cnt; i++)
		sum += g->policy.group[i].level;
	return sum;
}

static void governor_note(struct fr_governor *g, const struct fr_sess_governor *mark, u64 ts)
{
	struct fr_governing *now = &fr_sess_shared(g->s)->governing;

	memset(now->what, 0, sizeof(now->what));
	memcpy(now->what, mark->what, strnlen(mark->what, sizeof(now->what)));
	memset(now->action, 0, sizeof(now->action));
	memcpy(now->action, mark->action, strnlen(mark->action, sizeof(now->action)));
	governor_store(&now->step, mark->step);
	now->last_ns = ts;
	now->step_cnt++;
}

static const char *action_of(const struct fr_governor *g, const struct fr_govern_step *step)
{
	if (step->what == FR_GOVERN_up)
		return step->level ? "more" : "on";
	return step->level == levels_of(g, step->group) ? "off" : "thin";
}

static void put_mark(struct fr_governor *g, const struct fr_sess_governor *mark)
{
	u64 ts = 0;

	fr_sess_mark_governor(g->s, mark, &ts);
	fr_tell_governor(g->s, mark);
	governor_note(g, mark, ts);
}

static void governor_tell(struct fr_governor *g, const struct fr_govern_step *step)
{
	const struct fr_sess_governor mark = {
		.step = steps_down(g),
		.cost = step->cost,
		.budget = g->budget,
		.what = fr_group_name(step->group),
		.action = action_of(g, step),
	};

	fprintf(stderr, "governor: %s %s: recording costs %.2f %% of each CPU, of %.2f %% allowed\n", mark.what, mark.action,
		mark.cost / 1000.0, mark.budget / 1000.0);
	put_mark(g, &mark);
}

/* ---- everything again ---- */

static bool holds_any(const struct fr_governor *g, u32 group)
{
	const struct fr_session *sh = fr_sess_shared(g->s);
	const struct fr_event *ev;
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		ev = fr_schema_event(fr_schema_builtin(), nr);
		if (ev && ev->group == group && governor_load(&sh->enable[nr]) & FR_ENABLE_HELD)
			return true;
	}
	return false;
}

/* At its full rate, or a watch's if that is more. */
static void release_samples(struct fr_governor *g, u32 hz)
{
	int err = g->hz && hz != fr_sess_sample_hz(g->s) ? sample_at(g, hz) : 0;

	if (!err)
		return;
	warn_of_rate(g, err);
	expect_samples(g, g->hz_now);
}

/* The history says since when a group is whole again, whoever held it. */
static void tell_released(struct fr_governor *g, u32 groups)
{
	const struct fr_governing *now = &fr_sess_shared(g->s)->governing;
	struct fr_sess_governor mark = {.cost = now->cost, .budget = now->budget, .action = "on"};

	for (; groups; groups &= groups - 1) {
		mark.step = __builtin_popcount(groups) - 1;
		mark.what = fr_group_name(__builtin_ctz(groups));
		fprintf(stderr, "governor: %s on: the budget of %.2f %% no longer leaves it out\n", mark.what,
			mark.budget / 1000.0);
		put_mark(g, &mark);
	}
}

/* Record everything again that this or a killed recorder held. */
static void governor_release(struct fr_governor *g)
{
	struct fr_session *sh = fr_sess_shared(g->s);
	u32 nr, asked = fr_rateask_most(g->s), hz = asked > g->hz ? asked : g->hz, groups = 0;

	for (nr = 0; nr < FR_GROUP_CNT; nr++)
		groups |= (u32)holds_any(g, nr) << nr;
	if (fr_sess_sample_hz(g->s) < g->hz)
		groups |= 1u << FR_GROUP_SAMPLE;
	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		hold(sh, nr, false);
	release_samples(g, hz);
	tell_released(g, groups);
	governor_store(&sh->governing.step, 0);
	governor_store(&sh->governing.budget, 0);
	governor_store(&sh->governing.trigger_cost, 0);
}

/* ---- measuring ---- */

/*
 * With statistics on, the kernel reads a clock twice per run, and one of the reads counts as the program's time, although it is
 * not there without statistics.
 */
static u64 clock_read_ns(void)
{
	u64 best = ~0ULL, a, b;
	int i;

	for (i = 0; i < CLOCK_READS; i++) {
		a = fr_now_ns(CLOCK_MONOTONIC);
		b = fr_now_ns(CLOCK_MONOTONIC);
		best = b - a < best ? b - a : best;
	}
	return best < CLOCK_READ_MAX_NS ? best : CLOCK_READ_MAX_NS;
}

/* Run time and runs of each group since the window began. */
struct sums {
	u64 run_ns[GROUP_CNT];
	u64 run_cnt[GROUP_CNT];
};

static void governor_add(struct sums *s, u32 group, const struct fr_sess_prog *was)
{
	struct fr_sess_prog now = *was;

	fr_sess_progs_update(&now, 1);
	s->run_ns[group] += now.run_ns - was->run_ns;
	s->run_cnt[group] += now.run_cnt - was->run_cnt;
}

static struct sums governor_sum_up(const struct fr_governor *g)
{
	const struct fr_event *ev;
	struct sums s = {};
	size_t i;

	for (i = 0; i < g->event.cnt; i++) {
		ev = fr_schema_find(fr_schema_builtin(), g->event.list[i].name);
		if (ev && ev->group < FR_GROUP_CNT)
			governor_add(&s, ev->group, &g->event.list[i]);
	}
	for (i = 0; i < g->trigger.cnt; i++)
		governor_add(&s, TRIGGERS, &g->trigger.list[i]);
	for (i = 0; i < g->incident.cnt; i++)
		governor_add(&s, INCIDENTS, &g->incident.list[i]);
	return s;
}

/* The cost of each group since the window began. */
static void governor_measure(const struct fr_governor *g, struct fr_govern_group group[GROUP_CNT])
{
	const struct sums s = governor_sum_up(g);
	const struct fr_govern_window w = {fr_now_ns(CLOCK_MONOTONIC) - g->begun_ns, clock_read_ns(), governor_online_cnt()};
	u32 i;

	for (i = 0; i < GROUP_CNT; i++)
		group[i] = fr_govern_cost(levels_of(g, i), s.run_ns[i], s.run_cnt[i], &w);
}

static void governor_decide(struct fr_governor *g, const struct fr_govern_group *group)
{
	struct fr_govern_step step = fr_govern_measure(&g->policy, group);

	governor_store(&fr_sess_shared(g->s)->governing.cost, step.cost);
	governor_store(&fr_sess_shared(g->s)->governing.trigger_cost, group[TRIGGERS].cost);
	if (step.what == FR_GOVERN_stuck && !g->told_stuck)
		fr_warn("recording costs %.2f %% of each CPU, of %.2f %% allowed, and there is nothing left to leave out: "
			"raise the budget, or record less",
			step.cost / 1000.0, g->budget / 1000.0);
	g->told_stuck = step.what == FR_GOVERN_stuck;
	if ((step.what == FR_GOVERN_up || step.what == FR_GOVERN_down) && do_step(g, &step))
		governor_tell(g, &step);
}

static void on_window(void *arg, u32 events)
{
	struct fr_govern_group group[GROUP_CNT];
	struct fr_governor *g = arg;

	(void)events;
	fr_daemon_drop(g->d, &g->window_fd);
	governor_measure(g, group);
	fr_daemon_drop(g->d, &g->on_fd);
	governor_decide(g, group);
}

static void free_progs(struct progs *p)
{
	fr_sess_progs_free(p->list, p->cnt);
	*p = (struct progs){};
}

/* The current ones: a reload loads other programs for triggers. */
static void read_programs(struct fr_governor *g)
{
	free_progs(&g->event);
	free_progs(&g->trigger);
	free_progs(&g->incident);
	if (fr_sess_progs(g->s, &g->event.list, &g->event.cnt) ||
	    fr_sess_trigger_progs(g->s, &g->trigger.list, &g->trigger.cnt) ||
	    fr_sess_incident_progs(g->s, &g->incident.list, &g->incident.cnt))
		fr_warn("the governor cannot see what all programs cost: too little memory, or too many open files");
}

/* The helper ends at once where it has not the capability: then nobody reads what it is asked. */
static const char *governor_why(int err)
{
	if (err == -ETIMEDOUT)
		return "the helper process did not answer, and was ended";
	return err == -EPIPE ? "the helper process has ended" : strerror(-err);
}

/* Whoever cannot measure does not know what may come back. */
static void governor_stop(struct fr_governor *g)
{
	fr_daemon_drop(g->d, &g->tick_fd);
	fr_daemon_drop(g->d, &g->window_fd);
	fr_daemon_drop(g->d, &g->on_fd);
	governor_release(g);
}

static void on_tick(void *arg, u32 events)
{
	struct fr_governor *g = arg;

	(void)events;
	if (g->window_fd >= 0)
		return;
	g->on_fd = fr_admin_stats_on(fr_daemon_admin(g->d));
	if (g->on_fd < 0) {
		fr_warn("the overhead governor cannot measure any more: %s: everything is recorded; restart the recorder to "
			"keep to the budget again",
			governor_why(g->on_fd));
		governor_stop(g);
		return;
	}
	read_programs(g);
	g->begun_ns = fr_now_ns(CLOCK_MONOTONIC);
	g->window_fd = fr_daemon_timer(g->d, WINDOW_NS, 0, on_window, g);
	if (g->window_fd < 0)
		fr_daemon_drop(g->d, &g->on_fd);
}

/* ---- start, change and end ---- */

static void governor_refuse(int err)
{
	fr_warn("no overhead governor: BPF run-time statistics are unavailable: %s: it needs CAP_SYS_ADMIN at the start, and "
		"a budget then, or samples",
		governor_why(err));
}

static int try_statistics(struct fr_admin *admin)
{
	int fd = admin ? fr_admin_stats_on(admin) : -EPERM;

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* By the configuration in force. */
static int governor_start(struct fr_governor *g)
{
	const struct fr_config *conf = fr_daemon_config(g->d);
	int err;

	g->budget = conf->budget;
	g->interval_ns = conf->governor_ns > INTERVAL_MIN ? conf->governor_ns : INTERVAL_MIN;
	if (!g->budget)
		return 0;
	fr_sess_hold_progs(g->s); /* finding them takes privileges that will be dropped */
	err = try_statistics(fr_daemon_admin(g->d));
	if (err) {
		governor_refuse(err);
		return 0;
	}
	fr_govern_init(&g->policy, g->budget, GROUP_CNT);
	g->thin_levels = FR_GOVERN_THIN;
	g->told_rate = false;
	g->tick_fd = fr_daemon_timer(g->d, g->interval_ns, g->interval_ns, on_tick, g);
	if (g->tick_fd < 0)
		return g->tick_fd;
	governor_store(&fr_sess_shared(g->s)->governing.budget, g->budget);
	return 0;
}

int fr_governor_new(struct fr_daemon *d, struct fr_governor **out)
{
	struct fr_governor *g = calloc(1, sizeof(*g));
	int err;

	if (!g)
		return -ENOMEM;
	*g = (struct fr_governor){.d = d, .s = fr_daemon_sess(d), .tick_fd = -1, .window_fd = -1, .on_fd = -1};
	g->hz = full_hz(g->s);
	g->hz_now = fr_sess_sample_hz(g->s);
	governor_release(g);
	err = governor_start(g);
	if (err) {
		fr_err_errno(err, "cannot start the overhead governor");
		fr_governor_free(g);
		return err;
	}
	*out = g;
	return 0;
}

int fr_governor_change(struct fr_governor *g)
{
	const struct fr_config *conf = fr_daemon_config(g->d);
	int err;

	if (conf->budget == g->budget && conf->governor_ns == g->interval_ns)
		return 0;
	governor_stop(g);
	err = governor_start(g);
	if (err)
		g->budget = 0; /* so that the next change tries again */
	return err;
}

void fr_governor_free(struct fr_governor *g)
{
	if (!g)
		return;
	governor_stop(g);
	free_progs(&g->event);
	free_progs(&g->trigger);
	free_progs(&g->incident);
	free(g);
}
