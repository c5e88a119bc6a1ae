/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rest of `status`, beside the counters: the cost of recording, the directory of snapshots, problems. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "atomic.h"
#include "base/err.h"
#include "base/text/jsonr.h"
#include "base/text/units.h"
#include "live/ctl/ctl.h"
#include "live/recorder/live.h"
#include "live/session/hits.h"
#include "sys/cpus.h"
#include "sys/now.h"
#include "sys/patience.h"

#define MEASURE_NS     1000000000ULL
#define ASK_TIMEOUT_MS 1000
#define STILL_NS       3000000000ULL /* a disk that is busy may take that long */
#define SAMPLE_SLACK   100	     /* missing samples that are tolerated without a warning */

/* ---- cost ---- */

static void sum_runs(const struct fr_live *l, u64 *cnt, u64 *ns)
{
	size_t i;

	*cnt = *ns = 0;
	for (i = 0; i < l->prog_cnt; i++) {
		*cnt += l->prog[i].run_cnt;
		*ns += l->prog[i].run_ns;
	}
}

int fr_live_measure(struct fr_live *l)
{
	const struct timespec nap = {.tv_sec = MEASURE_NS / FR_SEC_NS, .tv_nsec = MEASURE_NS % FR_SEC_NS};
	u64 cnt, ns, cnt_before, ns_before, begin_ns, end_ns;
	int fd = fr_sess_stats_on();

	if (fd < 0) {
		fr_err("cannot measure the overhead: BPF statistics: %s: run as root", strerror(-fd));
		return fd;
	}
	fr_sess_progs_update(l->prog, l->prog_cnt);
	begin_ns = fr_now_ns(CLOCK_MONOTONIC);
	sum_runs(l, &cnt_before, &ns_before);
	nanosleep(&nap, NULL);
	fr_sess_progs_update(l->prog, l->prog_cnt);
	end_ns = fr_now_ns(CLOCK_MONOTONIC);
	close(fd);
	sum_runs(l, &cnt, &ns);
	l->cost = (struct fr_live_cost){.known = true, .measured = true};
	l->cost.window_ns = end_ns - begin_ns;
	l->cost.percent = (ns - ns_before) * 100.0 / l->cost.window_ns;
	l->cost.event_ns = cnt > cnt_before ? (double)(ns - ns_before) / (cnt - cnt_before) : 0;
	return 0;
}

/* The kernel's counters include every period with statistics on, such as the recorder's calibration at its start. */
static void estimate_cost(struct fr_live *l)
{
	u64 cnt, ns;

	sum_runs(l, &cnt, &ns);
	if (l->cost.known || !cnt || !l->has_rates)
		return;
	l->cost = (struct fr_live_cost){.known = true, .event_ns = (double)ns / cnt};
	l->cost.percent = l->cost.event_ns * fr_live_rate(l) / 1e7;
}

/* ---- the directory ---- */

bool fr_live_store_seen(const struct fr_live_store *s)
{
	return s->known && !(s->usage.err && !s->usage.fs_sz);
}

static void take_connections(struct fr_live_socket *s, const struct fr_jsonr *j)
{
	s->known = fr_jsonr_find(j, "connections_served");
	s->counts.served = fr_jsonr_u64(j, "connections_served", 0);
	s->counts.denied = fr_jsonr_u64(j, "connections_denied", 0);
	s->counts.full = fr_jsonr_u64(j, "connections_full", 0);
	s->counts.rate = fr_jsonr_u64(j, "connections_rate", 0);
	s->counts.failed = fr_jsonr_u64(j, "connections_failed", 0);
}

static void look_take_answer(struct fr_live *l, const char *line)
{
	struct fr_live_store *st = &l->store;
	const char *why;
	struct fr_jsonr j;

	if (fr_jsonr_parse(line, strlen(line), &j, &why))
		return;
	st->known = fr_jsonr_bool(&j, "ok", false) && fr_jsonr_find(&j, "errno");
	st->usage.files = fr_jsonr_u64(&j, "files", 0);
	st->usage.marked = fr_jsonr_u64(&j, "marked", 0);
	st->usage.sz = fr_jsonr_u64(&j, "bytes", 0);
	st->usage.free_sz = fr_jsonr_u64(&j, "free_bytes", 0);
	st->usage.fs_sz = fr_jsonr_u64(&j, "fs_bytes", 0);
	st->usage.removed = fr_jsonr_u64(&j, "removed", 0);
	st->usage.err = -(int)fr_jsonr_u64(&j, "errno", 0);
	st->max_files = fr_jsonr_u64(&j, "max_files", 0);
	st->max_sz = fr_jsonr_u64(&j, "max_bytes", 0);
	st->max_age_ns = fr_jsonr_u64(&j, "max_age_ns", 0);
	st->keep_free = fr_jsonr_u64(&j, "keep_free", 0);
	st->still_ns = fr_jsonr_u64(&j, "still_ns", 0);
	st->failed_err = -(int)fr_jsonr_u64(&j, "failed_errno", 0);
	st->unruled_failed = fr_jsonr_u64(&j, "unruled_failed", 0);
	st->unruled_space = fr_jsonr_u64(&j, "unruled_space", 0);
	l->blind.hung_err = -(int)fr_jsonr_u64(&j, "hung_errno", 0);
	l->blind.psi_cnt = fr_jsonr_u64(&j, "psi_ended", 0);
	take_connections(&l->socket, &j);
	fr_jsonr_free(&j);
}

/* -ETIMEDOUT: there is a recorder, but it does not answer. */
static int look_ask_recorder(struct fr_live *l)
{
	struct fr_ctl_conn *c;
	char *line;
	int err = fr_ctl_connect(fr_sess_name(l->s), &c);

	if (err)
		return err;
	err = fr_ctl_ask(c, "{\"cmd\":\"store\"}");
	err = err ?: fr_ctl_line(c, ASK_TIMEOUT_MS, &line);
	if (!err) {
		look_take_answer(l, line);
		free(line);
	}
	fr_ctl_disconnect(c);
	return err;
}

static void add_problem(struct fr_live *l, const char *what, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void add_problem(struct fr_live *l, const char *what, const char *fmt, ...)
{
	struct fr_live_problem *p = &l->problem[l->problem_cnt];
	va_list ap;

	if (l->problem_cnt == FR_PROBLEM_MAX)
		return;
	l->problem_cnt++;
	p->what = what;
	va_start(ap, fmt);
	vsnprintf(p->text, sizeof(p->text), fmt, ap);
	va_end(ap);
}

void fr_live_read_store(struct fr_live *l)
{
	struct fr_store_conf conf = {};
	struct fr_store *st;
	char *dir;

	if (l->owned && look_ask_recorder(l) == -ETIMEDOUT)
		add_problem(l, "silent", "the recorder does not answer on its control socket: look at its process");
	dir = l->store.known ? NULL : fr_sess_fact(l->s, "dir");
	if (!dir)
		return;
	conf.dir = dir;
	if (!fr_store_open(&conf, &st)) {
		fr_store_usage_soon(l->s, st, &l->store.usage);
		l->store.known = true;
		fr_store_close(st);
	}
	free(dir);
}

/* ---- problems ---- */

static void check_store(struct fr_live *l)
{
	const struct fr_store_usage *u = &l->store.usage;
	char a[32], b[32];

	if (!l->store.known)
		return;
	if (u->err == -ENOENT)
		add_problem(l, "directory", "the directory of snapshots is gone: make it again, recording goes on");
	else if (u->err == -EROFS)
		add_problem(l, "directory", "the directory of snapshots is on a read-only file system: remount it");
	else if (u->err == -EACCES || u->err == -EPERM)
		add_problem(l, "directory",
			    "the directory of snapshots may not be written to: make it root's own, with mode 0700, "
			    "and not immutable (chattr -i)");
	else if (u->err == -ETIMEDOUT)
		add_problem(l, "directory",
			    "the disk of the directory of snapshots does not answer: no snapshot is written until it does, "
			    "recording goes on");
	else if (u->err)
		add_problem(l, "directory", "the directory of snapshots cannot be used: %s", strerror(-u->err));
	else if (u->fs_sz && u->free_sz < (double)u->fs_sz * l->store.keep_free / 100000)
		add_problem(l, "space", "only %s of %s are free on the disk: no snapshot fits beside what must stay free",
			    fr_show_size(u->free_sz, a, sizeof(a)), fr_show_size(u->fs_sz, b, sizeof(b)));
	else if (u->fs_sz && u->free_sz < (1 << 20))
		add_problem(l, "space", "the disk is full: %s are free", fr_show_size(u->free_sz, a, sizeof(a)));
}

static void check_writer(struct fr_live *l)
{
	u32 cnt = l->waiting_cnt;
	char still[32];

	if (l->store.known && l->store.still_ns >= fr_patience_ns(STILL_NS))
		add_problem(
			l, "writer",
			"the process that writes snapshots has stood still for %s: it is stopped, or its disk does not answer; "
			"%u snapshot%s wait%s",
			fr_show_duration(l->store.still_ns, still, sizeof(still)), cnt, fr_plural(cnt), cnt == 1 ? "s" : "");
}

static bool has_ring(const struct fr_live *l, u32 cpu)
{
	size_t i;

	for (i = 0; i < l->ring_cnt; i++)
		if (l->ring[i].map->cpu == cpu)
			return true;
	return false;
}

static void look_check_cpus(struct fr_live *l)
{
	struct fr_cpus *cpus;
	u32 i, cnt = 0;

	if (fr_cpus_online(&cpus))
		return;
	for (i = 0; i < fr_cpus_cnt(cpus); i++)
		cnt += !has_ring(l, fr_cpus_nr(cpus, i));
	fr_cpus_free(cpus);
	if (cnt)
		add_problem(l, "cpus", "%u online CPU%s without rings: what happens there is not recorded%s", cnt,
			    fr_plural(cnt), l->owned ? "" : ": `flightrec record` adds them");
}

static void check_recording(struct fr_live *l)
{
	const struct fr_session *sh = fr_sess_shared(l->s);
	char *missing = fr_sess_fact(l->s, "events_missing");
	u64 due = fr_sess_samples_due(l->s, l->now_ns), taken = fr_load(&sh->sample_taken);

	if (!l->owned && l->triggers && l->triggers->generation)
		add_problem(l, "recorder", "no recorder runs, so no trigger takes a snapshot: start `flightrec record` again");
	if (fr_live_lost(l))
		add_problem(l, "lost", "%llu record%s lost: larger rings (-m) or fewer events (-e) help", fr_live_lost(l),
			    fr_plural(fr_live_lost(l)));
	if (missing && *missing)
		add_problem(l, "events", "not recorded here, though wanted (`flightrec doctor`): %.140s", missing);
	/* an idle CPU has no cycles, and so no samples */
	if (fr_sess_sample_event(l->s) == FR_SAMPLE_CLOCK && due > taken + SAMPLE_SLACK && (due - taken) * 20 > due)
		add_problem(l, "samples", "%llu of %llu samples were not taken", due - taken, due);
	if (sh->governing.budget && sh->governing.step)
		add_problem(l, "governor",
			    "recording costs %.2f %% (allowed %.2f %%) with something left out: step %u, the last: %.8s %.8s",
			    sh->governing.cost / 1000.0, sh->governing.budget / 1000.0, sh->governing.step, sh->governing.what,
			    sh->governing.action);
	free(missing);
}

/* What was full because no recorder read it. Samples that the profile lost stay lost, whoever has read its tables since. */
static void check_tables(struct fr_live *l)
{
	struct fr_hits_totals hits;

	if (!fr_hits_total(l->s, &hits) && hits.lost)
		add_problem(l, "profile", "%llu of %llu samples found the profile's tables full, and were only counted: %s",
			    hits.lost, hits.taken,
			    l->owned ? "a recorder reads them now; if more are lost, lower --hz"
				     : "nobody reads them, start a recorder (`flightrec record`)");
	if (l->has_incidents && l->incidents.dropped)
		add_problem(l, "incidents", "%llu incident%s found the log full, only counted%s", l->incidents.dropped,
			    fr_plural(l->incidents.dropped),
			    l->owned ? ": --incidents N makes it larger, from the session's next start on"
				     : ": `flightrec incidents` saves, a recorder does by itself");
}

static void look_check_clock(struct fr_live *l)
{
	u64 ahead = fr_live_ahead(l);

	if (ahead)
		add_problem(l, "clock", "the shared clock was not believed %llu time%s: it was more than 1 ms ahead", ahead,
			    fr_plural(ahead));
	if (!l->now_ns)
		add_problem(l, "clock", "the recording clock cannot be read: spans of history are not known");
}

static void check_triggers(struct fr_live *l)
{
	u64 full = 0, failed = l->store.unruled_failed, space = l->store.unruled_space;
	u32 i;

	for (i = 0; l->triggers && i < FR_TRIGGER_MAX; i++) {
		if (!l->triggers->slot[i].text[0])
			continue;
		full += l->triggers->slot[i].full;
		failed += l->triggers->slot[i].verdict[FR_TRIGGER_VERDICT_failed];
		space += l->triggers->slot[i].verdict[FR_TRIGGER_VERDICT_space];
	}
	if (full)
		add_problem(l, "queue",
			    "%llu"
			    " alert%s lost, since the queue was full: let rules that fire all the time fire less (filters, "
			    "longer limits)",
			    full, fr_plural(full));
	if (failed)
		add_problem(l, "failed", "%llu snapshot%s could not be written%s%s", failed, fr_plural(failed),
			    l->store.failed_err ? ", the last one: " : ": the recorder's messages say why",
			    l->store.failed_err ? strerror(-l->store.failed_err) : "");
	if (space)
		add_problem(l, "quota",
			    "%llu snapshot%s not taken for lack of room: allow more (MaxFiles=, MaxBytes=, KeepFree=), "
			    "unmark some (`flightrec list --no-keep`), or free some space",
			    space, fr_plural(space));
}

static void check_blind(struct fr_live *l)
{
	if (l->blind.hung_err)
		add_problem(l, "blind",
			    "tasks are not looked at, so rules of hung>, asleep> and busy> miss what does not end: %s",
			    strerror(-l->blind.hung_err));
	if (l->blind.psi_cnt)
		add_problem(l, "blind",
			    "%u rule%s of psi see%s nothing, since the kernel has ended the watch: `flightrec reload`",
			    l->blind.psi_cnt, fr_plural(l->blind.psi_cnt), l->blind.psi_cnt == 1 ? "s" : "");
}

void fr_live_look(struct fr_live *l)
{
	fr_live_read_rates(l);
	estimate_cost(l);
	check_recording(l);
	look_check_cpus(l);
	check_tables(l);
	look_check_clock(l);
	check_store(l);
	check_writer(l);
	check_triggers(l);
	check_blind(l);
	l->looked = true;
}
