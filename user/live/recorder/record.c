/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/schema/facts.h"
#include "base/schema/tpname.h"
#include "base/text/memfile.h"
#include "base/text/units.h"
#include "event_fields.h"
#include "live/incident/inclog.h"
#include "live/recorder/background.h"
#include "live/recorder/command.h"
#include "live/recorder/cost.h"
#include "live/recorder/daemon.h"
#include "live/session/sampler.h"
#include "live/session/sess.h"
#include "live/session/tpchoice.h"
#include "live/snapshot/askdir.h"
#include "live/snapshot/clock_sample.h"
#include "live/snapshot/dump.h"
#include "live/snapshot/klog.h"
#include "live/snapshot/name.h"
#include "sys/cpus.h"
#include "sys/memcg.h"
#include "sys/memory.h"
#include "sys/ns.h"
#include "sys/safepath.h"
#include "sys/softirqs.h"
#include "version.h"

#define GRAIN_PER_CPU_NS 25000u /* see docs/design.md, clock: what it costs servers */
#define GRAIN_MIN_NS	 50000u
#define GRAIN_MAX_NS	 500000u

/* ---- checks ---- */

/*
 * Rings are never given back to a host short of memory: refuse to take more than half of what is free. freed: what the session
 * has that is ended for them.
 */
static int check_memory(const struct fr_record_ask *ask, u64 freed)
{
	u64 want = ask->cpu_cnt * fr_plan_cpu_sz(ask->load.geo), there = fr_memory_available();
	char a[32], b[32];

	there += there ? freed : 0;
	if (!there || want <= there / 2)
		return 0;
	fr_err("the rings would take %s of %s memory available: use less per CPU (-m)", fr_show_size(want, a, sizeof(a)),
	       fr_show_size(there, b, sizeof(b)));
	return -ENOMEM;
}

/* One that there is already goes on in the memory it has. */
static bool record_is_there(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), FR_SESSION_ROOT "/%s/meta", name);
	return !access(path, F_OK);
}

/* Memory to take snapshots. */
static u64 dump_sz(const struct fr_record_ask *ask, u64 rings)
{
	struct fr_dump_needs needs;
	u32 largest = 0, i;

	for (i = 0; i < FR_TIER_CNT; i++)
		if (ask->load.geo[i].subbuf_pages > largest)
			largest = ask->load.geo[i].subbuf_pages;
	needs = fr_dump_needs_of(rings, (size_t)largest * FR_PAGE_SZ);
	return needs.sure_sz + needs.rest_sz;
}

/* What a recorder's processes have beside that, and the programs in the kernel; more where there are triggers, or waits that
 * are added up. */
#define PROCESSES_SZ (16ULL << 20)
#define TRIGGERS_SZ  (8ULL << 20)
#define BLOCKING_SZ  (8ULL << 20)

static u64 processes_sz(const struct fr_record_ask *ask)
{
	return PROCESSES_SZ + (ask->live->rule_cnt ? TRIGGERS_SZ : 0) +
	       (ask->load.wait_min_ns && ask->load.profile ? BLOCKING_SZ : 0);
}

/* The kernel's out-of-memory killer, or a snapshot that fails, would come later. */
static int record_check_cgroup(const struct fr_record_ask *ask)
{
	u64 rings = ask->cpu_cnt * fr_plan_cpu_sz(ask->load.geo);
	u64 fixed = fr_load_fixed_sz(&ask->load, ask->cpu_cnt), dump = ask->unattended ? 0 : dump_sz(ask, rings);
	u64 processes = ask->unattended ? 0 : processes_sz(ask);
	struct fr_memcg cg;
	char a[32], b[32], c[32], d[32], e[32];

	if (!fr_memcg_room(FR_MEMCG_PROC, &cg) || rings + fixed + dump + processes <= cg.room)
		return 0;
	fr_err("the rings would take %s, tables and stacks %s, snapshots %s, and the recorder's processes %s, but of the limit "
	       "in %s only %s are left: use less per CPU (-m), or raise that limit",
	       fr_show_size(rings, a, sizeof(a)), fr_show_size(fixed, b, sizeof(b)), fr_show_size(dump, c, sizeof(c)),
	       fr_show_size(processes, d, sizeof(d)), cg.file, fr_show_size(cg.room, e, sizeof(e)));
	return -ENOMEM;
}

static int plan(struct fr_record_ask *ask)
{
	struct fr_cpus *cpus;
	const char *why;
	int err;

	err = fr_cpus_online(&cpus);
	if (err)
		return err;
	ask->cpu_cnt = fr_cpus_cnt(cpus);
	fr_cpus_free(cpus);
	if (fr_plan(&ask->plan, ask->load.geo, &why)) {
		fr_err("%s", why);
		return -EINVAL;
	}
	if (!ask->grain_given) {
		ask->load.grain_ns = (u64)ask->cpu_cnt * GRAIN_PER_CPU_NS;
		if (ask->load.grain_ns < GRAIN_MIN_NS)
			ask->load.grain_ns = GRAIN_MIN_NS;
		if (ask->load.grain_ns > GRAIN_MAX_NS)
			ask->load.grain_ns = GRAIN_MAX_NS;
	}
	return record_is_there(ask->name) ? 0 : check_memory(ask, 0) ?: record_check_cgroup(ask);
}

/* Can a file be created here? Check now, rather than when there is something to lose. */
static int try_file(int dir)
{
	char name[32];
	u64 chance;
	int fd;

	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		return -errno;
	snprintf(name, sizeof(name), ".flightrec-%016llx", chance);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	unlinkat(dir, name, 0);
	return 0;
}

/* Open it, made if it is missing; links only as sys/safepath.h says. A descriptor or -errno. */
static int open_out_dir(const char *dir)
{
	int fd = fr_safepath_dir(dir), err;

	if (fd != -ENOENT)
		return fd;
	err = fr_safepath_mkdir(dir);
	return err && err != -EEXIST ? err : fr_safepath_dir(dir);
}

/* The path of an open directory without links and dots: the kernel's. */
static int path_of_dir(int fd, char text[PATH_MAX])
{
	char link[32];
	ssize_t sz;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	sz = readlink(link, text, PATH_MAX - 1);
	if (sz < 0)
		return -errno;
	text[sz] = 0;
	return sz + FR_NAME_SZ > FR_PENDING_PATH_MAX ? -ENAMETOOLONG : 0;
}

struct out_dir {
	int err;
	char path[PATH_MAX];
};

static void try_out_dir(void *dir, void *out)
{
	struct out_dir *o = out;
	int fd = open_out_dir(dir);

	o->err = fd < 0 ? fd : try_file(fd) ?: path_of_dir(fd, o->path);
	if (fd >= 0)
		close(fd);
}

/* Make it absolute: it is stored with the session, and later processes have other working directories. */
int fr_record_out_dir(struct fr_sess *s, const char *dir, u64 ns, char **path)
{
	struct out_dir o = {};
	int err = fr_askdir(s, dir, ns, try_out_dir, (void *)dir, &o, sizeof(o)) ?: o.err;

	if (err)
		return err;
	o.path[sizeof(o.path) - 1] = 0;
	*path = strdup(o.path);
	return *path ? 0 : -ENOMEM;
}

/* ---- facts stored with the session ---- */

static const char *name_of_event(const struct fr_load_conf *l, u32 nr, char *buf, size_t sz)
{
	const struct fr_event *ev = fr_schema_event(fr_schema_builtin(), nr);
	const struct fr_tpchosen *t;

	if (ev || !l->tp || nr < FR_TP_FIRST || nr - FR_TP_FIRST >= l->tp->cnt)
		return ev ? ev->name : NULL;
	t = &l->tp->chosen[nr - FR_TP_FIRST];
	fr_tp_name(buf, sz, t->system, t->name);
	return buf;
}

static void record_put_names(FILE *f, const char *fact, const struct fr_load_conf *l, const bool set[FR_EVENT_MAX])
{
	char list[FR_EVENT_MAX * (FR_NAME_MAX + 1)] = "", buf[3 * FR_NAME_MAX];
	const char *name;
	size_t len = 0;
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		name = set[nr] ? name_of_event(l, nr, buf, sizeof(buf)) : NULL;
		if (name && len < sizeof(list))
			len += snprintf(list + len, sizeof(list) - len, "%s%s", len ? "," : "", name);
	}
	fr_facts_put_text(f, fact, list);
}

static void record_put_clock(FILE *f, struct fr_sess *s)
{
	struct fr_snap_clock c;
	char text[160];

	if (fr_clock_sample(s, &c) || fr_clock_show(&c, text, sizeof(text)))
		return;
	fr_facts_put(f, "begin_ns", "%llu", c.ts);
	fr_facts_put_text(f, "begin_clock", text);
}

static void put_klog_clock(FILE *f)
{
	struct fr_logclock c;
	char text[80];

	if (!fr_logclock_sample(&c) && !fr_klog_clock_show(&c, text, sizeof(text)))
		fr_facts_put_text(f, "klog_clock", text);
}

/* A path may be another cgroup's by and by. */
static void show_cgroups(const struct fr_load_conf *l, char *buf, size_t sz)
{
	size_t len = 0;
	u32 i;

	*buf = 0;
	for (i = 0; i < l->cgroup_cnt && len < sz; i++)
		len += snprintf(buf + len, sz - len, "%s%llu", i ? "," : "", l->cgroup[i].id);
}

static void put_command(FILE *f, char *const *argv)
{
	char text[4096];

	if (!argv)
		return;
	fr_command_show(argv, text, sizeof(text));
	fr_facts_put_text(f, "command", text);
}

struct facts_arg {
	const struct fr_record_ask *ask;
};

static char *session_facts(void *arg, struct fr_sess *s, const struct fr_load_result *res)
{
	const struct fr_record_ask *ask = ((struct facts_arg *)arg)->ask;
	const struct fr_load_conf *l = &ask->load;
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	char cgroups[FR_CGROUP_FILTER_MAX * 24], softirqs[FR_SOFTIRQS_SZ];

	if (!f)
		return NULL;
	show_cgroups(l, cgroups, sizeof(cgroups));
	fr_facts_put(f, "layout", "%u", FR_LAYOUT_VERSION);
	fr_facts_put_text(f, "version", FR_VERSION);
	fr_facts_put_text(f, "session", ask->name);
	fr_facts_put_text(f, "settings", ask->settings);
	if (*cgroups)
		fr_facts_put_text(f, "settings_cgroups", cgroups);
	fr_facts_put(f, "epoch", "%u", l->epoch);
	fr_facts_put_text(f, "profile", ask->profile);
	record_put_names(f, "events", l, l->enable);
	record_put_names(f, "events_missing", l, res->missing);
	fr_facts_put_text(f, "incidents_missing", res->incidents_missing);
	if (*res->rare_missing)
		fr_facts_put_text(f, "rare_missing", res->rare_missing);
	if (*res->states_missing)
		fr_facts_put_text(f, "states_missing", res->states_missing);
	fr_facts_put_text(f, "clock_mode", l->grain_ns == FR_CLOCK_LOCAL ? "local" : "global");
	fr_facts_put(f, "clock_grain_ns", "%llu", l->grain_ns == FR_CLOCK_LOCAL ? 0ULL : l->grain_ns);
	fr_facts_put(f, "cpu_cnt", "%u", res->cpu_cnt);
	fr_facts_put(f, "ring_bytes", "%llu", res->cpu_cnt * fr_plan_cpu_sz(l->geo));
	fr_facts_put(f, "fixed_bytes", "%llu", res->fixed_sz);
	fr_facts_put(f, "sample_hz", "%u", l->enable[FR_EV_cpu_sample] ? l->sample_hz : 0);
	fr_facts_put_text(f, "sample_event", fr_sample_event_name(res->sample_event));
	fr_facts_put_text(f, "cpu_profile", l->profile ? "yes" : "no");
	if (l->wait_min_ns)
		fr_facts_put(f, "wait_min_ns", "%llu", l->wait_min_ns);
	if (l->thin_ns)
		fr_facts_put(f, "thin_ns", "%llu", l->thin_ns);
	if (!fr_softirqs_read(softirqs, sizeof(softirqs)))
		fr_facts_put_text(f, "softirqs_begin", softirqs);
	if (!fr_softirqs_read_ms(softirqs, sizeof(softirqs)))
		fr_facts_put_text(f, "softirq_ms_begin", softirqs);
	if (ask->redact && *ask->redact)
		fr_facts_put_text(f, "redact", ask->redact);
	fr_facts_put_text(f, "dir", ask->live->config.dir);
	record_put_clock(f, s);
	put_klog_clock(f);
	put_command(f, ask->command);
	return fr_memfile_end(&m, NULL);
}

/* ---- start or adopt ---- */

/* Is there memory for the rings that take the place of those of this session? */
static int check_replaced(const struct fr_record_ask *ask, const struct fr_sess *s)
{
	char *was = fr_sess_fact(s, "ring_bytes");
	int err = check_memory(ask, was ? strtoull(was, NULL, 10) : 0);

	free(was);
	return err;
}

/* A daemon follows its file, which has changed, and nobody is there to choose: save what was recorded. */
static int other_settings(struct fr_record_ask *ask, struct fr_sess *s, const char *was)
{
	int err;

	if (!ask->is_daemon) {
		fr_err("session '%s' records with other settings (%s): give the same, choose another name (-n), or end it with "
		       "`flightrec stop -n %s`",
		       ask->name, was, ask->name);
		return -EBUSY;
	}
	err = check_replaced(ask, s);
	if (err)
		return err;
	err = fr_takeover(s, &ask->live->config, was, &ask->saved);
	if (err != -ECANCELED)
		return err ?: -EAGAIN;
	fr_warn("session '%s' keeps its old settings, since no last snapshot of it could be taken", ask->name);
	return 0;
}

/* Its programs look for cgroups that were removed: those of the same paths are others. */
static bool has_old_cgroups(const struct fr_record_ask *ask, const struct fr_sess *s)
{
	char *was = fr_sess_fact(s, "settings_cgroups"), now[FR_CGROUP_FILTER_MAX * 24];
	bool old;

	show_cgroups(&ask->load, now, sizeof(now));
	old = was && strcmp(was, now);
	free(was);
	return old;
}

/* 0: adopt it. */
static int check_settings(struct fr_record_ask *ask, struct fr_sess *s)
{
	char *was = fr_sess_fact(s, "settings");
	int err = 0;

	if (!was || strcmp(was, ask->settings))
		err = other_settings(ask, s, was ?: "unknown");
	else if (has_old_cgroups(ask, s))
		err = other_settings(ask, s, "cgroups that have been made anew since");
	free(was);
	return err;
}

void fr_record_set_dir(struct fr_sess *s, const char *dir)
{
	int err = fr_sess_set_fact(s, "dir", dir);

	if (err)
		fr_warn("cannot store in session '%s' that its snapshots and incidents now go to %s: %s: give commands that "
			"directory with -o",
			fr_sess_name(s), dir, strerror(-err));
}

#define OWN_TRIES  20
#define OWN_NAP_NS 10000000

/* -ENOENT: somebody ends the session. It may take a moment until this can be seen. */
static int record_own(struct fr_sess *s)
{
	const struct timespec nap = {.tv_nsec = OWN_NAP_NS};
	int tries, err = fr_sess_own(s);

	for (tries = 0; err == -EWOULDBLOCK && tries < OWN_TRIES && !fr_sess_is_ending(s); tries++) {
		nanosleep(&nap, NULL);
		err = fr_sess_own(s);
	}
	return err && fr_sess_is_ending(s) ? -ENOENT : err;
}

/* -EAGAIN: the session has been ended, by another process, or by us because it had other settings: try again. */
static int adopt(struct fr_record_ask *ask, struct fr_sess **out)
{
	struct fr_sess *s;
	int err = fr_sess_find(ask->name, &s);

	if (err)
		return err == -ENOENT ? -EAGAIN : err;
	err = record_own(s);
	if (err == -ENOENT) {
		fr_sess_close(s);
		return -EAGAIN;
	}
	if (err) {
		fr_err("session '%s' has a live recorder: choose another name (-n), or end it with `flightrec stop -n %s`",
		       ask->name, ask->name);
		fr_sess_close(s);
		return -EBUSY;
	}
	ask->found = true;
	err = check_settings(ask, s);
	if (err) {
		fr_sess_close(s);
		return err;
	}
	fprintf(stderr, "adopted session '%s': its history is intact\n", ask->name);
	*out = s;
	return 0;
}

static void warn_missing(const struct fr_load_result *res)
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		if (res->missing[nr] && nr != FR_EV_cpu_sample &&
		    fr_schema_event(fr_schema_builtin(), nr)) /* loading said why */
			fr_warn("this kernel offers no %s: left out", fr_schema_event(fr_schema_builtin(), nr)->name);
}

#define START_TRIES 10 /* another process may create a session just when an old one was ended, or end it */

static int record_start(struct fr_record_ask *ask, struct fr_sess **out)
{
	struct facts_arg arg = {ask};
	struct fr_load_result res;
	int tries, err = -EAGAIN;

	if (getrandom(&ask->load.epoch, sizeof(ask->load.epoch), 0) != sizeof(ask->load.epoch))
		return -errno;
	for (tries = 0; tries < START_TRIES && err == -EAGAIN; tries++) {
		err = fr_sess_create(ask->name, &ask->load, session_facts, &arg, &res, out);
		if (err != -EEXIST)
			break;
		err = adopt(ask, out);
		if (err != -EAGAIN)
			return err;
	}
	if (err == -EAGAIN)
		fr_err("session '%s' is begun and ended by other processes all the time: try again", ask->name);
	if (!err)
		warn_missing(&res);
	return err;
}

/* ---- while it records ---- */

static void show_start(const struct fr_record_ask *ask)
{
	u64 rings = ask->cpu_cnt * fr_plan_cpu_sz(ask->load.geo);
	u64 rate_max = fr_sampler_rate_max(fr_hits_shift_of(fr_load_possible_cnt()));
	char a[32], b[32], c[32], d[32];

	fr_say("recording session '%s', profile %s, on %u CPU%s; snapshots go to %s", ask->name, ask->profile, ask->cpu_cnt,
	       fr_plural(ask->cpu_cnt), ask->live->config.dir);
	if (ask->load.profile && ask->load.sample_hz > rate_max)
		fr_warn("--hz %u may be too much for the profile, which has room for %llu hits a second of different stacks "
			"on each CPU: what exceeds that may be lost, and is counted",
			ask->load.sample_hz, rate_max);
	fprintf(stderr, "memory: rings %s; on top task table and stacks %s, %s to take snapshots, and processes of %s\n",
		fr_show_size(rings, a, sizeof(a)), fr_show_size(fr_load_fixed_sz(&ask->load, ask->cpu_cnt), b, sizeof(b)),
		fr_show_size(dump_sz(ask, rings), c, sizeof(c)), fr_show_size(processes_sz(ask), d, sizeof(d)));
}

static void warn_container(void)
{
	if (!fr_ns_is_first(FR_NS_PID))
		fr_warn("in a pid namespace, snapshots lack the names of tasks that already run, and the command lines, "
			"programs, cgroups and JITed code of live processes: use the host's pid namespace (--pid=host, "
			"hostPID)");
}

/* A thread is none: EINVAL or ENOENT, by the kernel's version. */
static bool is_process(u32 pid)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || (errno != ESRCH && errno != EINVAL && errno != ENOENT);
}

/* In another pid namespace the numbers, which are of the first one, say nothing. */
static void warn_pids(const struct fr_load_conf *l)
{
	u32 cnt = 0, first = 0, i;
	char more[32] = "";

	for (i = 0; i < l->pid_cnt && fr_ns_is_first(FR_NS_PID); i++)
		if (!is_process(l->pid[i]) && !cnt++)
			first = l->pid[i];
	if (cnt > 1)
		snprintf(more, sizeof(more), " (nor %u more)", cnt - 1);
	if (cnt)
		fr_warn("there is no process %u%s, so nothing of it is recorded: `pgrep -a NAME` tells numbers, and --comm "
			"takes names of tasks that are yet to come",
			first, more);
}

/* nohup: a blocked signal comes although it is ignored. */
static bool hangup_is_ignored(void)
{
	struct sigaction act;

	return !sigaction(SIGHUP, NULL, &act) && act.sa_handler == SIG_IGN;
}

void fr_record_signals(const struct fr_record_ask *ask, sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	if (ask->is_daemon || !hangup_is_ignored())
		sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR1);
	sigaddset(set, SIGCHLD);
}

static int record_unattended(const struct fr_record_ask *ask, struct fr_sess *s)
{
	if (ask->found)
		fr_record_set_dir(s, ask->live->config.dir);
	fr_tell_recorder(s, "session begins, unattended");
	fr_cost_show(s);
	fprintf(stderr, "session '%s' records: `flightrec dump -n %s` takes a snapshot, `flightrec stop -n %s` ends it\n",
		ask->name, ask->name, ask->name);
	fputs("nobody stays with it: no crash takes a snapshot, incidents are not saved, counters of the host are not read, "
	      "and "
	      "full tables of the profile lose samples: `flightrec record --detach`, or the service, does all that\n",
	      stderr);
	return FR_EXIT_OK;
}

static int choose_out_dir(struct fr_live_settings *live)
{
	struct fr_config *c = &live->config;
	const char *cure;
	char *path = NULL;
	int err = fr_record_out_dir(NULL, c->dir, FR_OUT_DIR_NS, &path);

	if (err) {
		cure = fr_err_cure(err, "");
		fr_err("cannot write to directory %s: %s: %s%s%schoose another (Directory= or -o)", c->dir, strerror(-err),
		       geteuid() ? "run as root, or " : "", cure, *cure ? ", or " : "");
		return err;
	}
	live->given_dir = c->dir;
	c->dir = path;
	return 0;
}

/* From here on the loop takes signals: one that arrives during load is neither lost nor fatal. */
static void record_block_signals(struct fr_record_ask *ask)
{
	sigset_t set;

	fr_record_signals(ask, &set);
	sigprocmask(SIG_BLOCK, &set, &ask->mask);
}

static int record_status_of(int err)
{
	return err == -EPROTO ? FR_EXIT_OTHER_VERSION : err == -ENOTSUP ? FR_EXIT_UNSUPPORTED : FR_EXIT_FAIL;
}

static int record_into(struct fr_record_ask *ask)
{
	struct fr_sess *s;
	int status, err;

	if (!ask->unattended)
		record_block_signals(ask);
	err = record_start(ask, &s);
	if (err)
		return record_status_of(err);
	fr_sess_be_self(s, true, NULL);
	show_start(ask);
	warn_container();
	warn_pids(&ask->load);
	status = ask->unattended ? record_unattended(ask, s) : fr_daemon_run(ask, s);
	fr_sess_close(s);
	return status;
}

int fr_record_make(struct fr_record_ask *ask, struct fr_sess **out)
{
	int err = plan(ask) ?: record_start(ask, out);

	if (!err && ask->found)
		fr_record_set_dir(*out, ask->live->config.dir);
	return err;
}

int fr_record(struct fr_record_ask *ask)
{
	int err = plan(ask), status;

	if (err)
		return err == -EINVAL ? FR_EXIT_USAGE : FR_EXIT_FAIL;
	status = ask->command ? fr_command_check(ask->command) : 0;
	if (status)
		return status;
	if (choose_out_dir(ask->live))
		return FR_EXIT_FAIL;
	status = ask->detach ? fr_background_begin(&ask->ready) : -1;
	return status < 0 ? record_into(ask) : status;
}
