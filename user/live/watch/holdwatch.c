/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/watch/holdwatch.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/err.h"
#include "base/text/units.h"
#include "live/recorder/record.h"
#include "live/snapshot/dump.h"
#include "live/watch/holdwatch_int.h"
#include "sys/cpus.h"
#include "sys/now.h"

#define BASELINE_CNT	250u /* wakeups before the baseline is reported */
#define BASELINE_MAX_NS 5000000000ULL

u64 fr_holdwatch_wall_ns(const struct fr_holdwatch *w, u64 ts)
{
	return fr_now_ns(CLOCK_REALTIME) - (fr_holdsess_now(&w->sess) - ts);
}

u64 fr_holdwatch_late(const struct fr_sleeper_stats *st, u32 ppm)
{
	u64 rank = 0, sum = 0, ns;
	u32 i;

	for (i = 0; i < FR_SLEEPER_BUCKET; i++)
		rank += st->late[i];
	rank = rank / 1000000 * ppm + rank % 1000000 * ppm / 1000000;
	for (i = 0; i < FR_SLEEPER_BUCKET; i++) {
		sum += st->late[i];
		if (sum > rank || (sum && sum == rank))
			break;
	}
	if (!sum || i == FR_SLEEPER_BUCKET)
		return st->late_max_ns;
	ns = fr_sleeper_bucket_ns(i);
	return ns < st->late_max_ns ? ns : st->late_max_ns;
}

static const struct fr_holdwatch_printer *printer(const struct fr_holdwatch *w)
{
	return w->ask->json ? &fr_holdwatch_json : &fr_holdwatch_text;
}

/* ---- what was found ---- */

static void holdwatch_sum_up(struct fr_holdwatch *w, struct fr_holdwatch_cpu *cpu, const struct fr_holdoff *h)
{
	struct fr_holdwatch_ran culprit = {.text = "not known"};

	if (h->ran_cnt)
		fr_holdwatch_name(w, h, 0, &culprit);
	fr_culprits_add(&w->who, culprit.text, h->length_ns);
	fr_hist_add(&w->hist, h->length_ns);
	w->incomplete_cnt += h->incomplete;
	cpu->cnt++;
	cpu->sum_ns += h->length_ns;
	cpu->max_ns = h->length_ns > cpu->max_ns ? h->length_ns : cpu->max_ns;
}

/* The CPU whose first waiting holdoff is the earliest of all that began before until_ns, NULL: none. */
static struct fr_holdwatch_cpu *holdwatch_earliest(struct fr_holdwatch *w, u64 until_ns)
{
	struct fr_holdwatch_cpu *best = NULL;
	const struct fr_holdoff *h;
	u32 i;

	for (i = 0; i < w->cpu_cnt; i++) {
		h = fr_sleeper_first(w->cpu[i].sleeper);
		if (!h || h->at_ns >= until_ns)
			continue;
		until_ns = h->at_ns;
		best = &w->cpu[i];
	}
	return best;
}

static void note_stop(struct fr_holdwatch *w)
{
	fr_holdstops_note(&w->stops, fr_holdsess_now(&w->sess));
}

/*
 * Has it been stopped since it was last awake? The stop may come at any place, not only while it waits, and must be known
 * before a holdoff that began in it is taken. The time is read before the question: what comes between them is found the next
 * time.
 */
static void look_for_stop(struct fr_holdwatch *w)
{
	const struct timespec none = {};
	const u64 now = fr_holdsess_now(&w->sess);
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	if (sigtimedwait(&set, NULL, &none) == SIGCONT)
		note_stop(w);
	else
		fr_holdstops_awake(&w->stops, now);
}

static void tell_stop(struct fr_holdwatch *w, struct fr_holdstop *s, const struct fr_holdoff *h)
{
	if (!s->told)
		printer(w)->stopped(w, h);
	s->told = true;
}

/* Free the queue's entry first, however long the rest takes. */
static void holdwatch_take_one(struct fr_holdwatch *w, struct fr_holdwatch_cpu *cpu)
{
	const struct fr_holdoff h = *fr_sleeper_first(cpu->sleeper);
	struct fr_holdstop *s;

	fr_sleeper_drop(cpu->sleeper);
	look_for_stop(w);
	s = fr_holdstops_of(&w->stops, h.at_ns, h.length_ns);
	if (s) {
		tell_stop(w, s, &h);
		cpu->stop_cnt++;
		return;
	}
	fr_holdwatch_gather(w, &h);
	holdwatch_sum_up(w, cpu, &h);
	printer(w)->holdoff(w, &h);
	fr_holdwatch_take(w, &h, printer(w));
}

static void holdwatch_tell_missed(struct fr_holdwatch *w, struct fr_holdwatch_cpu *cpu)
{
	const struct fr_sleeper_stats *st = &cpu->stats;
	const struct fr_holdwatch_missed m = {
		.cpu = fr_sleeper_cpu(cpu->sleeper), .cnt = st->missed - cpu->told_missed, .max_ns = st->missed_max_ns};

	if (m.cnt)
		printer(w)->missed(w, &m);
	cpu->told_missed = st->missed;
}

/* Try again each time for a CPU that went offline: nothing else notices its return. */
static void follow_cpu(struct fr_holdwatch *w, struct fr_holdwatch_cpu *cpu)
{
	const u32 nr = fr_sleeper_cpu(cpu->sleeper);

	if (!fr_sleeper_is_gone(cpu->sleeper))
		return;
	if (!cpu->told_gone)
		fr_warn("CPU %u went offline: it is not watched until it comes again", nr);
	cpu->told_gone = true;
	if (fr_sleeper_resume(cpu->sleeper))
		return;
	fr_holdsess_came(&w->sess, nr);
	fr_warn("CPU %u came online: it is watched again", nr);
	cpu->told_gone = false;
}

static void take_all(struct fr_holdwatch *w)
{
	const u64 now = fr_holdsess_now(&w->sess);
	struct fr_holdwatch_cpu *cpu;
	u32 i;

	fr_holdwatch_forget(w);
	while ((cpu = holdwatch_earliest(w, now)))
		holdwatch_take_one(w, cpu);
	for (i = 0; i < w->cpu_cnt; i++) {
		fr_sleeper_stats(w->cpu[i].sleeper, &w->cpu[i].stats);
		holdwatch_tell_missed(w, &w->cpu[i]);
	}
}

/* Without the priority, waiting behind equals counts as well: report how much that is here. */
static void tell_baseline(struct fr_holdwatch *w)
{
	struct fr_sleeper_stats sum = {};
	char a[32], b[32];
	u32 i, k;

	if (w->is_rt || w->told_baseline)
		return;
	for (i = 0; i < w->cpu_cnt; i++) {
		const struct fr_sleeper_stats *st = &w->cpu[i].stats;

		for (k = 0; k < FR_SLEEPER_BUCKET; k++)
			sum.late[k] += st->late[k];
		sum.woke += st->woke;
		sum.late_max_ns = st->late_max_ns > sum.late_max_ns ? st->late_max_ns : sum.late_max_ns;
	}
	if (sum.woke < BASELINE_CNT * w->cpu_cnt && fr_now_ns(CLOCK_MONOTONIC) - w->begun_ns < BASELINE_MAX_NS)
		return;
	fprintf(stderr,
		"baseline at normal priority: of %llu wakeups half were late by no more than %s, 99 %% by no more than %s\n",
		sum.woke, fr_show_duration(fr_holdwatch_late(&sum, 500000), a, sizeof(a)),
		fr_show_duration(fr_holdwatch_late(&sum, 990000), b, sizeof(b)));
	w->told_baseline = true;
}

/* The governor may thin samples, or another recorder set its own rate: stacks are then rarer than the watch announced. */
static void tell_rate(struct fr_holdwatch *w)
{
	const u32 hz = fr_sess_sample_hz(w->sess.look);

	if (hz < w->sess.hz && hz != w->told_hz)
		fr_warn("samples are taken %u times a second now, not %u: somebody else has changed the rate", hz, w->sess.hz);
	w->told_hz = hz;
}

/* ---- loop ---- */

/* nohup: stays ignored. Without the fd nothing is blocked. */
static int signal_fd(void)
{
	struct sigaction act;
	sigset_t set, was;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCONT);
	if (sigaction(SIGHUP, NULL, &act) || act.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &was);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd >= 0)
		return fd;
	fd = -errno;
	sigprocmask(SIG_SETMASK, &was, NULL);
	return fd;
}

/* Time until the next tick or the end, in ms, rounded up. */
static int wait_ms(const struct fr_holdwatch *w, u64 tick_ns)
{
	u64 now = fr_now_ns(CLOCK_MONOTONIC), until = tick_ns;

	if (w->ask->duration_ns && w->begun_ns + w->ask->duration_ns < until)
		until = w->begun_ns + w->ask->duration_ns;
	return until > now ? (until - now + FR_MSEC_NS - 1) / FR_MSEC_NS : 0;
}

static bool holdwatch_is_over(const struct fr_holdwatch *w)
{
	return w->ask->duration_ns && fr_now_ns(CLOCK_MONOTONIC) - w->begun_ns >= w->ask->duration_ns;
}

/* Handle signals: true: end. SIGCONT is only noted, whatever came with it. */
static bool holdwatch_hear(struct fr_holdwatch *w, int fd)
{
	struct signalfd_siginfo got[8];
	ssize_t i, sz = read(fd, got, sizeof(got)), cnt = sz > 0 ? sz / (ssize_t)sizeof(got[0]) : 0;
	bool to_end = sz < 0;

	for (i = 0; i < cnt; i++) {
		if (got[i].ssi_signo == SIGCONT)
			note_stop(w);
		else
			to_end = true;
	}
	return to_end;
}

/* Wait for the next tick. True: end. */
static bool is_told_to_end(struct fr_holdwatch *w, int fd, u64 tick_ns)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	look_for_stop(w);
	if (poll(&p, 1, wait_ms(w, tick_ns)) > 0 && holdwatch_hear(w, fd))
		return true;
	return holdwatch_is_over(w);
}

static int holdwatch_loop(struct fr_holdwatch *w, int fd)
{
	u64 tick = w->begun_ns + FR_HOLDWATCH_TICK_NS;
	u32 i;

	while (!is_told_to_end(w, fd, tick)) {
		take_all(w);
		for (i = 0; i < w->cpu_cnt; i++)
			follow_cpu(w, &w->cpu[i]);
		tell_baseline(w);
		tell_rate(w);
		if (fr_out_flush(w->o))
			return FR_EXIT_OK;
		if (!fr_holdsess_lives(&w->sess)) {
			fr_err("session '%s' has ended: nothing is recorded any more", fr_sess_name(w->sess.look));
			return FR_EXIT_NO_SESSION;
		}
		tick = fr_holdstop_tick(tick, fr_now_ns(CLOCK_MONOTONIC), FR_HOLDWATCH_TICK_NS);
	}
	return FR_EXIT_OK;
}

/* ---- begin and end ---- */

static int add_cpu(struct fr_holdwatch *w, u32 cpu)
{
	const struct fr_ring_map *ring = fr_holdsess_ring(&w->sess, cpu);
	struct fr_sleeper_conf conf = w->ask->sleep;
	bool is_rt;
	int err;

	if (!ring) {
		fr_err("session '%s' has no ring of CPU %u, so that what it ran is not known: leave it out (--cpu)",
		       fr_sess_name(w->sess.look), cpu);
		return FR_EXIT_FAIL;
	}
	conf.clock_off_ns = w->sess.clock_off_ns;
	err = fr_sleeper_start(&conf, ring, &is_rt, &w->cpu[w->cpu_cnt].sleeper);
	if (err) {
		fr_err("cannot watch CPU %u: %s%s", cpu, strerror(-err),
		       err == -EINVAL ? ": this process may not run there (cpuset): leave it out (--cpu)" : "");
		return FR_EXIT_FAIL;
	}
	w->is_rt &= is_rt;
	w->is_locked &= fr_sleeper_is_locked(w->cpu[w->cpu_cnt].sleeper);
	w->cpu_cnt++;
	return FR_EXIT_OK;
}

static bool holdwatch_is_asked_for(const struct fr_holdwatch_ask *ask, u32 cpu)
{
	return !ask->cpus || fr_ranges_have(ask->cpus, cpu);
}

/* All online CPUs that were requested. */
static int holdwatch_add_cpus(struct fr_holdwatch *w, const struct fr_cpus *cpus)
{
	int status = FR_EXIT_OK;
	u32 i;

	w->cpu = calloc(fr_cpus_cnt(cpus), sizeof(*w->cpu));
	if (!w->cpu)
		return fr_err_memory();
	for (i = 0; i < fr_cpus_cnt(cpus) && !status; i++)
		if (holdwatch_is_asked_for(w->ask, fr_cpus_nr(cpus, i)))
			status = add_cpu(w, fr_cpus_nr(cpus, i));
	return status;
}

static bool is_online(const struct fr_cpus *cpus, u32 cpu)
{
	u32 i;

	for (i = 0; i < fr_cpus_cnt(cpus); i++)
		if (fr_cpus_nr(cpus, i) == cpu)
			return true;
	return false;
}

/* Warn about a named CPU that is not there: it may have been meant. */
static int holdwatch_check_cpus(const struct fr_holdwatch_ask *ask, const struct fr_cpus *cpus)
{
	u32 i, cpu;

	for (i = 0; ask->cpus && i < ask->cpus->cnt; i++)
		for (cpu = ask->cpus->range[i].from; cpu <= ask->cpus->range[i].to; cpu++) {
			if (is_online(cpus, cpu))
				continue;
			fr_err("--cpu: there is no CPU %u online: /sys/devices/system/cpu/online lists them", cpu);
			return FR_EXIT_USAGE;
		}
	return FR_EXIT_OK;
}

static void warn_of_priority(const struct fr_holdwatch *w)
{
	if (!w->is_rt && w->ask->sleep.policy != SCHED_OTHER)
		fr_warn("no right to real-time priority (CAP_SYS_NICE, or ulimit -r): the watch runs at normal priority, so it "
			"also reports waits behind tasks of that priority, and lengths may be too short by up to an interval");
	if (!w->is_locked)
		fr_warn("memory cannot be locked (CAP_IPC_LOCK, or ulimit -l): if memory is short, the watch itself may wait "
			"for its pages");
}

static int holdwatch_prepare(struct fr_holdwatch *w)
{
	static const struct fr_gate_conf storm = FR_DEF_GATE;

	w->same_pids = fr_sess_same_pids(w->sess.look);
	if (!fr_livesym_new(w->sess.look, &w->sym) && !fr_gate_new(&storm, &w->gate))
		return FR_EXIT_OK;
	fr_err("cannot watch: out of memory");
	return FR_EXIT_FAIL;
}

static void holdwatch_stop(struct fr_holdwatch *w)
{
	u32 i;

	for (i = 0; i < w->cpu_cnt; i++)
		if (!fr_sleeper_stop(w->cpu[i].sleeper))
			fr_warn("CPU %u is still held off as the watch ends: that holdoff is not reported",
				fr_sleeper_cpu(w->cpu[i].sleeper));
	w->ended_ns = fr_now_ns(CLOCK_MONOTONIC);
}

static int holdwatch_watch(struct fr_holdwatch *w, const struct fr_cpus *cpus, int fd)
{
	int status = holdwatch_prepare(w);

	mlockall(MCL_CURRENT); /* including code; later allocations need not be locked */
	status = status ?: holdwatch_add_cpus(w, cpus);
	w->begun_ns = fr_now_ns(CLOCK_MONOTONIC);
	if (!status) {
		warn_of_priority(w);
		printer(w)->begin(w);
		fr_out_flush(w->o);
		status = holdwatch_loop(w, fd);
		holdwatch_stop(w);
		take_all(w);
		fr_culprits_sort(&w->who);
		printer(w)->end(w);
	}
	/* a script that watches for a snapshot learns by this that there was a moment and no file */
	return status ?: w->failed_cnt ? FR_EXIT_FAIL : FR_EXIT_OK;
}

static void free_watch(struct fr_holdwatch *w)
{
	u32 i;

	for (i = 0; i < w->cpu_cnt; i++)
		fr_sleeper_free(w->cpu[i].sleeper);
	free(w->cpu);
	fr_names_free(w->names);
	fr_livesym_free(w->sym);
	fr_gate_free(w->gate);
	fr_hist_free(&w->hist);
	free(w);
}

static int open_and_watch(struct fr_holdwatch *w, const struct fr_cpus *cpus)
{
	int status = holdwatch_check_cpus(w->ask, cpus), fd;

	if (status)
		return status;
	fd = signal_fd(); /* a signal that arrives while programs are loaded is neither lost nor fatal */
	if (fd < 0) {
		fr_err("cannot watch: it could not be told to end: signalfd: %s", strerror(-fd));
		return FR_EXIT_FAIL;
	}
	status = fr_holdsess_open(&w->ask->sess, &w->sess);
	if (!status) {
		status = holdwatch_watch(w, cpus, fd);
		fr_out_flush(w->o);
		fr_holdsess_close(&w->sess);
	}
	close(fd);
	return status;
}

int fr_holdwatch(const struct fr_holdwatch_ask *ask, struct fr_out *o)
{
	struct fr_holdwatch *w = calloc(1, sizeof(*w));
	struct fr_cpus *cpus;
	int status = FR_EXIT_FAIL;

	if (!w)
		return fr_err_memory();
	*w = (struct fr_holdwatch){.ask = ask, .o = o, .is_rt = ask->sleep.policy != SCHED_OTHER, .is_locked = true};
	if (!fr_cpus_online(&cpus)) {
		status = open_and_watch(w, cpus);
		fr_cpus_free(cpus);
	}
	free_watch(w);
	return status;
}
