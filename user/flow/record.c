/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flow/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow/clock_sample.h"
#include "flow/cost.h"
#include "flow/dump.h"
#include "flow/takeover.h"
#include "io/cpus.h"
#include "io/sess.h"
#include "pure/err.h"
#include "pure/facts.h"
#include "pure/units.h"
#include "version.h"

#define GRAIN_PER_CPU_NS 5000u /* see docs/design.md, clock: the smallest that costs under 5 % */
#define GRAIN_MIN_NS	 10000u
#define GRAIN_MAX_NS	 500000u

/* ---- before ---- */

static u64 available_memory(void)
{
	unsigned long long kib = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib * 1024;
}

/* Rings are never given back to the host in need: refuse what would take more than half of what is free. */
static int check_memory(u64 want)
{
	u64 there = available_memory();
	char a[32], b[32];

	if (!there || want <= there / 2)
		return 0;
	fr_err("the rings would take %s of %s memory available: use less per CPU (-m)", fr_show_size(want, a, sizeof(a)),
	       fr_show_size(there, b, sizeof(b)));
	return -ENOMEM;
}

static int plan(struct fr_record_ask *ask, u32 *cpu_cnt)
{
	struct fr_cpus *cpus;
	const char *why;
	int err;

	err = fr_cpus_online(&cpus);
	if (err)
		return err;
	*cpu_cnt = fr_cpus_cnt(cpus);
	fr_cpus_free(cpus);
	if (fr_plan(&ask->plan, ask->load.geo, &why)) {
		fr_err("%s", why);
		return -EINVAL;
	}
	if (!ask->grain_given) {
		ask->load.grain_ns = (u64)*cpu_cnt * GRAIN_PER_CPU_NS;
		if (ask->load.grain_ns < GRAIN_MIN_NS)
			ask->load.grain_ns = GRAIN_MIN_NS;
		if (ask->load.grain_ns > GRAIN_MAX_NS)
			ask->load.grain_ns = GRAIN_MAX_NS;
	}
	return check_memory(*cpu_cnt * fr_plan_cpu_sz(ask->load.geo));
}

/* Absolute, since it stays with the session: who takes the next snapshot works elsewhere. *path is to be freed. */
/* Can a file be made here? Asked now, and not when there is something to lose. */
static int try_file(const char *dir)
{
	char path[4096];
	int fd;

	if (snprintf(path, sizeof(path), "%s/.flightrec-XXXXXX", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	unlink(path);
	return 0;
}

static int make_out_dir(const char *dir, char **path)
{
	struct stat st;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return -errno;
	*path = realpath(dir, NULL);
	if (!*path || stat(*path, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? try_file(*path) : -ENOTDIR;
}

/* ---- facts that stay with the session ---- */

static void put_names(FILE *f, const char *fact, const bool set[FR_EVENT_MAX])
{
	const struct fr_event *ev;
	char list[4096] = "";
	size_t len = 0;
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		ev = set[nr] ? fr_schema_event(fr_schema_builtin(), nr) : NULL;
		if (ev && len < sizeof(list))
			len += snprintf(list + len, sizeof(list) - len, "%s%s", len ? "," : "", ev->name);
	}
	fr_facts_put(f, fact, "%s", list);
}

static void put_clock(FILE *f, struct fr_sess *s)
{
	struct fr_snap_clock c;
	char text[160];

	if (fr_clock_sample(s, &c) || fr_clock_show(&c, text, sizeof(text)))
		return;
	fr_facts_put(f, "begin_ns", "%llu", (unsigned long long)c.ts);
	fr_facts_put(f, "begin_clock", "%s", text);
}

struct facts_arg {
	const struct fr_record_ask *ask;
};

static char *session_facts(void *arg, struct fr_sess *s, const struct fr_load_result *res)
{
	const struct fr_record_ask *ask = ((struct facts_arg *)arg)->ask;
	const struct fr_load_conf *l = &ask->load;
	char *text = NULL;
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	if (!f)
		return NULL;
	fr_facts_put(f, "layout", "%u", FR_LAYOUT_VERSION);
	fr_facts_put(f, "layout_oldest", "%u", FR_LAYOUT_OLDEST);
	fr_facts_put(f, "version", "%s", FR_VERSION);
	fr_facts_put(f, "session", "%s", ask->name);
	fr_facts_put(f, "settings", "%s", ask->settings);
	fr_facts_put(f, "epoch", "%u", l->epoch);
	fr_facts_put(f, "profile", "%s", ask->profile);
	put_names(f, "events", l->enable);
	put_names(f, "events_missing", res->missing);
	fr_facts_put(f, "clock_mode", "%s", l->grain_ns == FR_CLOCK_LOCAL ? "local" : "global");
	fr_facts_put(f, "clock_grain_ns", "%llu", l->grain_ns == FR_CLOCK_LOCAL ? 0ULL : (unsigned long long)l->grain_ns);
	fr_facts_put(f, "cpu_cnt", "%u", res->cpu_cnt);
	fr_facts_put(f, "ring_bytes", "%llu", (unsigned long long)res->cpu_cnt * fr_plan_cpu_sz(l->geo));
	fr_facts_put(f, "fixed_bytes", "%llu", (unsigned long long)res->fixed_sz);
	fr_facts_put(f, "sample_hz", "%u", l->enable[FR_EV_cpu_sample] ? l->sample_hz : 0);
	fr_facts_put(f, "dir", "%s", ask->dir);
	put_clock(f, s);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- start or adopt ---- */

/* -EAGAIN: it was of another version's layout and is ended now: begin anew. */
static int adopt(struct fr_record_ask *ask, struct fr_sess **out)
{
	struct fr_sess *s;
	char *settings;
	int err = fr_sess_open(ask->name, &s);

	if (err)
		return err;
	err = fr_sess_own(s);
	if (err) {
		fr_err("session '%s' has a live recorder: choose another name (-n), or end it with `flightrec stop -n %s`",
		       ask->name, ask->name);
		fr_sess_close(s);
		return -EBUSY;
	}
	if (fr_sess_layout(s) != FR_LAYOUT_VERSION) {
		err = fr_takeover(s, ask->dir);
		fr_sess_close(s);
		return err ?: -EAGAIN;
	}
	settings = fr_sess_fact(s, "settings");
	if (!settings || strcmp(settings, ask->settings)) {
		fr_err("session '%s' records with other settings (%s): give the same, choose another name (-n), or end it with "
		       "`flightrec stop -n %s`",
		       ask->name, settings ? settings : "unknown", ask->name);
		free(settings);
		fr_sess_close(s);
		return -EBUSY;
	}
	free(settings);
	fprintf(stderr, "adopted session '%s': its history is intact\n", ask->name);
	*out = s;
	return 0;
}

static void warn_missing(const struct fr_load_result *res)
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		if (res->missing[nr])
			fr_warn("this kernel offers no %s: left out", fr_schema_event(fr_schema_builtin(), nr)->name);
}

#define START_TRIES 3 /* another process may begin one just when an old one was ended */

static int start(struct fr_record_ask *ask, struct fr_sess **out)
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
	if (!err)
		warn_missing(&res);
	return err;
}

/* ---- while it records ---- */

struct recorder {
	const struct fr_record_ask *ask;
	struct fr_sess *s;
	pid_t child;	  /* -1: no command */
	int child_status; /* exit status to give */
};

static void show_start(const struct recorder *r, u32 cpu_cnt)
{
	u64 rings = cpu_cnt * fr_plan_cpu_sz(r->ask->load.geo);
	char a[32], b[32], c[32];

	fprintf(stderr, "recording session '%s', profile %s, on %u CPUs; snapshots go to %s\n", r->ask->name, r->ask->profile,
		cpu_cnt, r->ask->dir);
	fprintf(stderr, "memory: rings %s; on top task table and stacks %s, and %s while a snapshot is taken\n",
		fr_show_size(rings, a, sizeof(a)), fr_show_size(fr_load_fixed_sz(r->ask->load.task_cnt, cpu_cnt), b, sizeof(b)),
		fr_show_size(FR_DUMP_BUDGET_SZ, c, sizeof(c)));
}

static int snapshot(struct recorder *r, const char *reason, const char *comm, pid_t pid, int sig)
{
	struct fr_dump_ask ask = {.dir = r->ask->dir, .reason = reason, .comm = comm, .pid = pid, .sig = sig};
	struct fr_dump_done done;
	int err = fr_dump(r->s, &ask, &done);

	if (!err)
		fr_dump_say(&done);
	return err;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The child tells by this pipe why it could not become the command; success closes it. */
static pid_t spawn(char **command, const sigset_t *mask, int *exec_errno)
{
	int p[2], e = 0;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		execvp(command[0], command);
		e = errno;
		if (write(p[1], &e, sizeof(e)) != sizeof(e))
			_exit(126);
		_exit(e == ENOENT ? 127 : 126);
	}
	close(p[1]);
	if (pid > 0 && read(p[0], &e, sizeof(e)) == sizeof(e))
		*exec_errno = e;
	close(p[0]);
	return pid;
}

static int start_command(struct recorder *r, const sigset_t *mask)
{
	int exec_errno = 0;

	if (!r->ask->command)
		return 0;
	r->child = spawn(r->ask->command, mask, &exec_errno);
	if (r->child < 0) {
		fr_err("cannot start %s: %s", r->ask->command[0], strerror(errno));
		return FR_EXIT_FAIL;
	}
	if (exec_errno) {
		fr_err("cannot run %s: %s", r->ask->command[0], strerror(exec_errno));
		waitpid(r->child, NULL, 0);
		return exec_errno == ENOENT ? 127 : 126;
	}
	return 0;
}

/* Has the command ended? Then keeps its exit status as a shell gives it. */
static bool command_ended(struct recorder *r, int *sig)
{
	int status;

	if (r->child < 0 || waitpid(r->child, &status, WNOHANG) != r->child)
		return false;
	*sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	r->child_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

/* Sleep until a signal says something; no CPU is used between. Returns an exit status. */
static int wait_signals(struct recorder *r, const sigset_t *set)
{
	bool failed = false;
	int sig, child_sig;

	for (;;) {
		sig = sigwaitinfo(set, NULL);
		if (sig == SIGUSR1)
			failed |= snapshot(r, "signal", NULL, 0, 0) != 0;
		if (sig == SIGCHLD && command_ended(r, &child_sig)) {
			failed |= snapshot(r, "end", base_name(r->ask->command[0]), r->child, child_sig) != 0;
			return r->child_status ?: (failed ? FR_EXIT_FAIL : FR_EXIT_OK);
		}
		/* a terminal's interrupt reaches the command too: it decides, and ends us by ending */
		if ((sig == SIGTERM || sig == SIGHUP) && r->child > 0)
			kill(r->child, sig);
		if ((sig == SIGINT || sig == SIGTERM || sig == SIGHUP) && r->child < 0)
			break;
	}
	if (r->ask->on_exit)
		failed |= snapshot(r, "exit", NULL, 0, 0) != 0;
	return failed ? FR_EXIT_FAIL : FR_EXIT_OK;
}

static void end(struct recorder *r)
{
	if (r->ask->keep) {
		fprintf(stderr,
			"session '%s' goes on recording: `flightrec record` adopts it, `flightrec stop -n %s` ends it\n",
			r->ask->name, r->ask->name);
		return;
	}
	if (fr_sess_lock(r->s, FR_DUMP_TIMEOUT_MS))
		return;
	fr_sess_detach(r->s);
	fr_sess_remove(r->s);
}

/* nohup: a blocked signal would come although it is ignored. */
static bool hangup_is_ignored(void)
{
	struct sigaction act;

	return !sigaction(SIGHUP, NULL, &act) && act.sa_handler == SIG_IGN;
}

static int record_in_foreground(struct recorder *r, u32 cpu_cnt)
{
	sigset_t set, mask;
	int status;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!hangup_is_ignored())
		sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &mask);
	show_start(r, cpu_cnt);
	status = start_command(r, &mask);
	if (!status) {
		if (r->child < 0)
			fr_cost_show(r->s);
		status = wait_signals(r, &set);
	}
	end(r);
	return status;
}

static int record_detached(struct recorder *r, u32 cpu_cnt)
{
	show_start(r, cpu_cnt);
	fr_cost_show(r->s);
	fprintf(stderr, "session '%s' records: `flightrec dump -n %s` takes a snapshot, `flightrec stop -n %s` ends it\n",
		r->ask->name, r->ask->name, r->ask->name);
	return FR_EXIT_OK;
}

static int choose_out_dir(struct fr_record_ask *ask, char **path)
{
	int err = make_out_dir(ask->dir, path);

	if (err)
		fr_err("cannot write to directory %s: %s: %schoose another with -o", ask->dir, strerror(-err),
		       geteuid() ? "run as root, or " : "");
	else
		ask->dir = *path;
	return err;
}

static void be_recorder(struct fr_sess *s)
{
	if (fr_sess_lock(s, FR_DUMP_TIMEOUT_MS))
		return;
	fr_sess_be_self(s, true, NULL);
	fr_sess_unlock(s);
}

static int record_into(struct fr_record_ask *ask, u32 cpu_cnt)
{
	struct recorder r = {.ask = ask, .child = -1};
	int status;

	if (start(ask, &r.s))
		return FR_EXIT_FAIL;
	be_recorder(r.s);
	status = ask->detach ? record_detached(&r, cpu_cnt) : record_in_foreground(&r, cpu_cnt);
	fr_sess_close(r.s);
	return status;
}

int fr_record(struct fr_record_ask *ask)
{
	const char *given = ask->dir;
	char *dir = NULL;
	u32 cpu_cnt = 0;
	int status, err = plan(ask, &cpu_cnt);

	if (err)
		return err == -EINVAL ? FR_EXIT_USAGE : FR_EXIT_FAIL;
	status = choose_out_dir(ask, &dir) ? FR_EXIT_FAIL : record_into(ask, cpu_cnt);
	ask->dir = given;
	free(dir);
	return status;
}
