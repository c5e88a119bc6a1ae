/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* daemon: the loop. The modules do the work; here they are created, called and freed. */
#include "live/recorder/daemon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/units.h"
#include "live/incident/inclog.h"
#include "live/recorder/background.h"
#include "live/recorder/command.h"
#include "live/recorder/cost.h"
#include "live/recorder/engine.h"
#include "live/recorder/modules.h"
#include "live/recorder/notify.h"
#include "live/recorder/sampling.h"
#include "live/recorder/stop.h"
#include "live/session/admin.h"
#include "live/snapshot/dump.h"
#include "sys/nss.h"
#include "sys/stdfd.h"

/* ---- the loop ---- */

/* A source may be unwatched while events of the same round are pending: free it after the round. */
struct source {
	struct source *next;
	fr_source_fn fn; /* NULL: unwatched */
	void *arg;
	int fd;
	bool is_timer;
};

struct fr_daemon {
	struct fr_record_ask *ask;
	struct fr_sess *s;
	int epoll_fd, signal_fd;
	struct source *source;
	struct fr_modules mod;
	struct fr_live_settings *live; /* in force */
	const struct fr_config *begun; /* the configuration at the session's start: parts that a reload cannot change */
	struct fr_command command;
	bool over;	/* leave the loop */
	bool stopped;	/* by `flightrec stop`, which ends the session, too */
	bool lost;	/* the session was ended by another process */
	bool failed;	/* a snapshot could not be taken */
	bool unsaved;	/* one at the end could not */
	bool unwatched; /* sources to free */
};

static int daemon_watch(struct fr_daemon *d, const struct source *what, u32 epoll_events)
{
	struct source *src = malloc(sizeof(*src));
	struct epoll_event ev = {.events = epoll_events, .data.ptr = src};

	if (!src)
		return -ENOMEM;
	*src = *what;
	if (epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, src->fd, &ev)) {
		free(src);
		return -errno;
	}
	src->next = d->source;
	d->source = src;
	return 0;
}

int fr_daemon_watch(struct fr_daemon *d, int fd, u32 epoll_events, fr_source_fn fn, void *arg)
{
	const struct source src = {.fd = fd, .fn = fn, .arg = arg};

	return daemon_watch(d, &src, epoll_events);
}

void fr_daemon_unwatch(struct fr_daemon *d, int fd)
{
	struct source *src;

	for (src = d->source; src; src = src->next)
		if (src->fd == fd && src->fn) {
			epoll_ctl(d->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
			src->fn = NULL;
			d->unwatched = true;
		}
}

void fr_daemon_drop(struct fr_daemon *d, int *fd)
{
	if (*fd < 0)
		return;
	fr_daemon_unwatch(d, *fd);
	close(*fd);
	*fd = -1;
}

static void free_sources(struct fr_daemon *d, bool all)
{
	struct source **at = &d->source, *src;

	while ((src = *at)) {
		if (src->fn && !all) {
			at = &src->next;
			continue;
		}
		*at = src->next;
		free(src);
	}
	d->unwatched = false;
}

static struct itimerspec timer_of(u64 delay_ns, u64 period_ns)
{
	return (struct itimerspec){
		.it_value = {delay_ns / FR_SEC_NS, delay_ns % FR_SEC_NS ?: !delay_ns},
		.it_interval = {period_ns / FR_SEC_NS, period_ns % FR_SEC_NS},
	};
}

int fr_daemon_timer(struct fr_daemon *d, u64 delay_ns, u64 period_ns, fr_source_fn fn, void *arg)
{
	const struct itimerspec when = timer_of(delay_ns, period_ns);
	struct source src = {.fn = fn, .arg = arg, .is_timer = true};
	int err;

	src.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (src.fd < 0)
		return -errno;
	err = timerfd_settime(src.fd, 0, &when, NULL) ? -errno : daemon_watch(d, &src, EPOLLIN);
	if (err) {
		close(src.fd);
		return err;
	}
	return src.fd;
}

void fr_daemon_timer_again(int fd, u64 period_ns)
{
	const struct itimerspec when = timer_of(period_ns, period_ns);

	timerfd_settime(fd, 0, &when, NULL);
}

static int arm_jump(int fd)
{
	const struct itimerspec never = {.it_value.tv_sec = (time_t)1 << 40};

	return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) ? -errno : 0;
}

int fr_daemon_jump_timer(struct fr_daemon *d, fr_source_fn fn, void *arg)
{
	int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK), err;

	if (fd < 0)
		return -errno;
	err = arm_jump(fd) ?: fr_daemon_watch(d, fd, EPOLLIN, fn, arg);
	if (!err)
		return fd;
	close(fd);
	return err;
}

bool fr_daemon_jumped(int fd)
{
	u64 ignored;

	if (read(fd, &ignored, sizeof(ignored)) >= 0 || errno != ECANCELED)
		return false;
	arm_jump(fd);
	return true;
}

static void run_source(const struct source *src, u32 events)
{
	u64 expired;

	if (!src->fn || (src->is_timer && read(src->fd, &expired, sizeof(expired)) != sizeof(expired)))
		return;
	src->fn(src->arg, events);
}

static void daemon_loop(struct fr_daemon *d)
{
	struct epoll_event ev[16];
	int cnt, i;

	while (!d->over) {
		cnt = epoll_wait(d->epoll_fd, ev, sizeof(ev) / sizeof(ev[0]), -1);
		for (i = 0; i < cnt; i++)
			run_source(ev[i].data.ptr, ev[i].events);
		if (d->unwatched)
			free_sources(d, false);
	}
}

/* ---- for the modules ---- */

struct fr_sess *fr_daemon_sess(struct fr_daemon *d)
{
	return d->s;
}

const struct fr_config *fr_daemon_config(const struct fr_daemon *d)
{
	return &d->live->config;
}

struct fr_engine *fr_daemon_engine(struct fr_daemon *d)
{
	return d->mod.engine;
}

struct fr_ctl *fr_daemon_ctl(struct fr_daemon *d)
{
	return d->mod.ctl;
}

struct fr_store *fr_daemon_store(struct fr_daemon *d)
{
	return d->mod.store;
}

struct fr_admin *fr_daemon_admin(struct fr_daemon *d)
{
	return d->mod.admin;
}

void fr_daemon_stop(struct fr_daemon *d, bool session)
{
	d->over = true;
	d->stopped |= session;
}

/* A command that is being recorded is not ours to end: it has its time. */
void fr_daemon_lost(struct fr_daemon *d)
{
	if (d->lost)
		return;
	fr_err("session '%s' was ended by another process: nothing is recorded any more, and this recorder ends: "
	       "`flightrec record` begins anew",
	       d->ask->name);
	d->lost = d->failed = true;
	d->over |= d->command.pid < 0;
}

/* ---- reload ---- */

static void free_live(struct fr_live_settings *live)
{
	if (live) {
		fr_config_free(&live->config);
		free(live->given_dir);
	}
	free(live);
}

#define SAME_DIR_NS (FR_SEC_NS / 2) /* moments and the control socket wait as long */

/*
 * Reject unwritable directories now, rather than when there is something to lose. The one that is in force, was: that its disk
 * does not answer just now is no reason to keep the old rules.
 */
static int daemon_check_dir(struct fr_sess *s, const struct fr_live_settings *old, struct fr_live_settings *live, char *why,
			    size_t why_sz)
{
	struct fr_config *c = &live->config;
	bool same = !strcmp(c->dir, old->given_dir) || !strcmp(c->dir, old->config.dir);
	char *path = NULL;
	int err = fr_record_out_dir(s, c->dir, same ? SAME_DIR_NS : FR_OUT_DIR_NS, &path);

	if (same && err == -ETIMEDOUT) {
		path = strdup(old->config.dir);
		err = path ? 0 : -ENOMEM;
	}
	if (err) {
		snprintf(why, why_sz, "Storage.Directory: cannot write there: %s: %s",
			 err == -ETIMEDOUT ? "its disk does not answer" : strerror(-err), c->dir);
		return err;
	}
	live->given_dir = c->dir;
	c->dir = path;
	return 0;
}

/* Nobody would have the rights that the file gives. */
static int daemon_check_group(struct fr_sess *s, const char *key, const char *group, char *why, size_t why_sz)
{
	gid_t gid;
	int err = group && *group ? fr_nss_group(group, fr_sess_give_up_rings, s, &gid) : 0;

	if (err == -ENOENT)
		snprintf(why, why_sz, "Control.%s: no group '%s' on this host", key, group);
	else if (err)
		snprintf(why, why_sz, "Control.%s: cannot look up group '%s': %s", key, group, strerror(-err));
	return err == -ENOENT ? -EINVAL : err;
}

static int daemon_check_config(struct fr_sess *s, const struct fr_live_settings *old, struct fr_live_settings *live, char *why,
			       size_t why_sz)
{
	const struct fr_config *c = &live->config;
	int err = daemon_check_group(s, "StatusGroup", c->status_group, why, why_sz);

	err = err ?: daemon_check_group(s, "DumpGroup", c->dump_group, why, why_sz);
	return err ?: daemon_check_dir(s, old, live, why, why_sz);
}

static void say_new_ring(const struct fr_daemon *d, const struct fr_config *now)
{
	char keys[512];

	if (!fr_config_new_ring(d->begun, now, keys, sizeof(keys)))
		return;
	if (strcmp(d->begun->name, now->name)) /* nobody looks for the old one then */
		fr_warn("reload: takes effect at the next start, which begins session '%s': %s: session '%s' stays as it is, "
			"goes on recording and keeps its memory until `flightrec stop -n %s`, which discards its history: "
			"`flightrec dump -n %s` saves that",
			now->name, keys, d->begun->name, d->begun->name, d->begun->name);
	else
		fr_warn("reload: takes effect when the session is recorded anew, at the next start, which saves its history "
			"first: %s",
			keys);
}

/*
 * A file that somebody is just writing, not by renaming a complete one, is empty for a moment. Nobody would notice that all
 * triggers are gone until one is missed.
 */
static int check_disarmed(const struct fr_live_settings *old, const struct fr_live_settings *now, char *why, size_t why_sz)
{
	if (!old->rule_cnt || now->rule_cnt || now->config.on.is_emptied)
		return 0;
	snprintf(why, why_sz, "the file has no trigger, and %u %s armed: if none is meant, say so: On= without a value",
		 old->rule_cnt, old->rule_cnt == 1 ? "is" : "are");
	return -EINVAL;
}

static int put_in_force(struct fr_daemon *d, struct fr_live_settings *live, char *why, size_t why_sz)
{
	struct fr_live_settings *old = d->live;
	int err = check_disarmed(old, live, why, why_sz) ?: daemon_check_config(d->s, old, live, why, why_sz);

	if (err)
		return err;
	d->live = live;
	err = fr_engine_rules(d->mod.engine, live->rule, live->rule_cnt);
	if (err) {
		d->live = old;
		snprintf(why, why_sz, "its triggers cannot be used: %s", strerror(-err));
		return err;
	}
	say_new_ring(d, &live->config);
	fr_record_set_dir(d->s, live->config.dir);
	fr_modules_change(d, &d->mod);
	if (old != d->ask->live)
		free_live(old);
	return 0;
}

static int read_again(struct fr_daemon *d, char *why, size_t why_sz)
{
	struct fr_live_settings *live;
	int err;

	if (!d->ask->reload) {
		snprintf(why, why_sz, "there is no configuration file: it was started without --config");
		return -EOPNOTSUPP;
	}
	live = calloc(1, sizeof(*live));
	if (!live) {
		snprintf(why, why_sz, "out of memory");
		return -ENOMEM;
	}
	fr_modules_reloading(&d->mod, true);
	err = d->ask->reload(d->ask->reload_arg, d->s, live, why, why_sz);
	if (!err)
		err = put_in_force(d, live, why, why_sz);
	if (err)
		free_live(live);
	fr_modules_reloading(&d->mod, false);
	return err;
}

int fr_daemon_reload(struct fr_daemon *d, char *why, size_t why_sz)
{
	int err = read_again(d, why, why_sz);

	if (err)
		fr_err_lines("reload refused: %s: the old settings stay", why);
	else
		fprintf(stderr, "reloaded: %u trigger%s; nothing of the history is lost\n", d->live->rule_cnt,
			fr_plural(d->live->rule_cnt));
	return err;
}

/* ---- signals ---- */

static void daemon_pull(struct fr_daemon *d, const struct fr_moment_ask *ask)
{
	if (fr_engine_pull(d->mod.engine, ask))
		d->failed = d->unsaved = true;
}

static const char *daemon_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void command_ended(struct fr_daemon *d)
{
	const struct fr_moment_ask ask = {
		.kind = FR_TRIGGER_end,
		.comm = daemon_base_name(d->ask->command[0]),
		.pid = d->command.pid,
		.sig = d->command.sig,
		.sync = true,
	};

	d->command.pid = -1;
	if (!d->lost)
		daemon_pull(d, &ask);
	d->over = true;
}

/* A terminal's interrupt also reaches the command: it decides, and its end ends us. */
static void told_to_end(struct fr_daemon *d, int sig)
{
	if (d->command.pid < 0)
		d->over = true;
	else if (sig != SIGINT)
		kill(d->command.pid, sig);
}

/* Who sent it waits for a file. */
static void asked_by_signal(struct fr_daemon *d)
{
	u32 verdict = FR_TRIGGER_VERDICT_failed;
	const struct fr_moment_ask ask = {.kind = FR_TRIGGER_signal, .verdict = &verdict};

	if (fr_engine_pull(d->mod.engine, &ask))
		fr_warn("SIGUSR1 takes no snapshot: %s", fr_trigger_verdict_doc(verdict));
}

/* One signal may stand for several that ended. */
static void child_ended(struct fr_daemon *d)
{
	fr_admin_reap(d->mod.admin);
	if (fr_command_ended(&d->command))
		command_ended(d);
}

static void daemon_take_signal(struct fr_daemon *d, const struct signalfd_siginfo *si)
{
	int sig = si->ssi_signo;
	char why[512] = "";

	d->stopped |= sig == SIGTERM && si->ssi_code == SI_QUEUE && si->ssi_int == FR_STOP_SESSION;
	if (sig == SIGUSR1)
		asked_by_signal(d);
	else if (sig == SIGCHLD)
		child_ended(d);
	else if (sig == SIGHUP && d->ask->is_daemon)
		fr_daemon_reload(d, why, sizeof(why));
	else if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP)
		told_to_end(d, sig);
}

static void daemon_on_signal(void *arg, u32 events)
{
	struct signalfd_siginfo si;
	struct fr_daemon *d = arg;

	(void)events;
	while (!d->over && read(d->signal_fd, &si, sizeof(si)) == sizeof(si))
		daemon_take_signal(d, &si);
}

/* ---- begin and end ---- */

static int daemon_open_loop(struct fr_daemon *d)
{
	sigset_t set;

	fr_record_signals(d->ask, &set);
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	d->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (d->epoll_fd < 0 || d->signal_fd < 0)
		return -errno;
	return fr_daemon_watch(d, d->signal_fd, EPOLLIN, daemon_on_signal, d);
}

static void say_taken(const struct fr_taken *t)
{
	char took[32];

	fr_dump_say(&t->done);
	if (t->alert.rule_set && t->done_mono_ns > t->asked_mono_ns)
		fprintf(stderr, "complete %s after its moment\n",
			fr_show_duration(t->done_mono_ns - t->asked_mono_ns, took, sizeof(took)));
}

static void daemon_on_taken(void *arg, const struct fr_taken *t, u64 cookie)
{
	struct fr_daemon *d = arg;

	(void)cookie;
	if (!t->err)
		say_taken(t);
	/* for the exit status of interactive recorders; a daemon reports it in its status */
	d->failed |= t->err && !d->ask->is_daemon;
	if (d->over || t->alert.kind == FR_TRIGGER_end)
		d->unsaved = t->err;
}

/*
 * The writer learns the directory of a session that was there before as it begins; a start that fails leaves it what it was.
 * 0, or -1.
 */
static int start_engine(struct fr_daemon *d)
{
	char *was = d->ask->found ? fr_sess_fact(d->s, "dir") : NULL;
	bool failed;

	if (d->ask->found)
		fr_record_set_dir(d->s, d->live->config.dir);
	failed = fr_engine_start(d->mod.engine);
	if (!failed && !d->ask->command && !d->ask->is_daemon)
		fr_cost_show(d->s);
	failed = failed || fr_modules_confine(d, &d->mod);
	if (failed && was)
		fr_record_set_dir(d->s, was);
	free(was);
	return failed ? -1 : 0;
}

/* Signals wait since before the session was loaded: one that came meanwhile means that nothing is to stay. */
static bool daemon_is_called_off(void)
{
	sigset_t set;

	return !sigpending(&set) && (sigismember(&set, SIGINT) || sigismember(&set, SIGTERM) || sigismember(&set, SIGHUP));
}

static void daemon_goes_back(struct fr_daemon *d)
{
	const char *name = d->ask->name;

	fprintf(stderr,
		"recorder of session '%s' stays in the background, as process %d: `flightrec status -n %s` shows both, "
		"`flightrec dump -n %s` takes a snapshot, `flightrec stop -n %s` ends both\n",
		name, getpid(), name, name, name);
	fr_background_ready(d->ask->ready);
}

/* Returns an exit status. */
static int daemon_begin(struct fr_daemon *d)
{
	int err = daemon_open_loop(d), status = FR_EXIT_OK;

	if (err) {
		fr_err_errno(err, "cannot make the recorder's loop");
		return FR_EXIT_FAIL;
	}
	if (fr_modules_new(d, &d->mod) || fr_engine_listen(d->mod.engine, daemon_on_taken, d))
		return FR_EXIT_FAIL;
	err = fr_engine_rules(d->mod.engine, d->live->rule, d->live->rule_cnt);
	if (err)
		return err == -ENOTSUP ? FR_EXIT_UNSUPPORTED : FR_EXIT_FAIL;
	/* what we confine ourselves to would hold for it, too; and it is to begin only if it is recorded */
	if (d->ask->command)
		status = fr_command_fork(&d->command, d->ask->command, &d->ask->mask);
	if (status)
		return status;
	if (start_engine(d)) {
		fr_command_drop(&d->command);
		return FR_EXIT_FAIL;
	}
	if (d->ask->command)
		status = fr_command_start(&d->command);
	if (status)
		return status;
	if (d->live->rule_cnt)
		fprintf(stderr, "triggers: %u armed\n", d->live->rule_cnt);
	if (d->ask->saved.reason)
		fr_notify_saved(d->mod.notify, &d->ask->saved);
	if (d->ask->detach && daemon_is_called_off()) {
		fr_err("told to end before it was ready");
		return FR_EXIT_FAIL;
	}
	fr_modules_ready(d, &d->mod);
	if (d->ask->detach)
		daemon_goes_back(d);
	return FR_EXIT_OK;
}

static bool daemon_has_rule(const struct fr_daemon *d, enum fr_trigger_kind kind)
{
	u32 i;

	for (i = 0; i < d->live->rule_cnt; i++)
		if (d->live->rule[i].kind == kind)
			return true;
	return false;
}

/* Take granted snapshots now, regardless of post time: there may be no later. */
static void last_snapshots(struct fr_daemon *d)
{
	const struct fr_moment_ask last = {.kind = FR_TRIGGER_exit, .sync = true};

	fr_modules_stopping(&d->mod);
	if (d->lost)
		return;
	fr_sampling_last(d->mod.sampling);
	fr_engine_finish(d->mod.engine);
	if (!d->ask->command && daemon_has_rule(d, FR_TRIGGER_exit))
		daemon_pull(d, &last);
	fr_tell_recorder(d->s, "ends");
}

/* Does its session go on when it ends? A start in the background that failed leaves nothing behind. */
static bool daemon_keeps(const struct fr_daemon *d, bool begun)
{
	return d->ask->keep || d->ask->is_daemon || (d->ask->detach && begun);
}

/* A start that failed, for whatever reason, ends no session that recorded before. */
static void daemon_end_session(struct fr_daemon *d, bool begun)
{
	bool saved;
	int err;

	if (d->lost)
		return;
	if (d->stopped && begun && daemon_keeps(d, begun)) {
		fprintf(stderr, "this recorder ends, and `flightrec stop` ends session '%s': its history is discarded\n",
			d->ask->name);
		return;
	}
	if (daemon_keeps(d, begun) || (d->ask->found && !begun)) {
		fprintf(stderr,
			"session '%s' goes on recording: `flightrec record` adopts it, `flightrec stop -n %s` ends it\n",
			d->ask->name, d->ask->name);
		return;
	}
	if (d->unsaved) {
		fr_warn("the last snapshot could not be taken, so session '%s' goes on recording: "
			"`flightrec dump -n %s -o FILE` takes it elsewhere, `flightrec stop -n %s` ends it",
			d->ask->name, d->ask->name, d->ask->name);
		return;
	}
	saved = fr_modules_save(&d->mod);
	/* who has it is known to stand still, where it is our own writer */
	if (fr_sess_lock(d->s, fr_engine_cannot_end(d->mod.engine) ? 0 : FR_DUMP_END_MS, NULL))
		return;
	fr_sess_detach(d->s);
	if (saved)
		fr_inclog_save_last(d->s, d->live->config.dir);
	else
		fr_inclog_say_lost(d->s, -ETIMEDOUT);
	err = fr_sess_remove(d->s);
	if (err)
		fr_warn_errno(err,
			      "session '%s' is ended, but not all of " FR_SESSION_ROOT
			      "/%s is removed: the next `flightrec record` removes it",
			      d->ask->name, d->ask->name);
	if (d->over && !d->ask->command && !daemon_has_rule(d, FR_TRIGGER_exit))
		fprintf(stderr,
			"session '%s' is ended, its history discarded: --on exit saves it, --keep leaves it recording\n",
			d->ask->name);
}

static void free_daemon(struct fr_daemon *d)
{
	fr_modules_free(&d->mod);
	free_sources(d, true);
	if (d->live != d->ask->live)
		free_live(d->live);
	if (d->epoll_fd >= 0)
		close(d->epoll_fd);
	if (d->signal_fd >= 0)
		close(d->signal_fd);
	free(d);
}

int fr_daemon_run(struct fr_record_ask *ask, struct fr_sess *s)
{
	struct fr_daemon *d = calloc(1, sizeof(*d));
	bool begun;
	int status;

	if (!d)
		return FR_EXIT_FAIL;
	fr_stdfd_no_wait();
	*d = (struct fr_daemon){.ask = ask,
				.s = s,
				.live = ask->live,
				.begun = &ask->live->config,
				.epoll_fd = -1,
				.signal_fd = -1,
				.command = {.turn_fd = -1, .said_fd = -1, .pid = -1}};
	status = daemon_begin(d);
	begun = !status;
	if (begun) {
		daemon_loop(d);
		last_snapshots(d);
		if (fr_sess_is_gone(d->s)) /* just now, or it could not be watched */
			fr_daemon_lost(d);
		status = d->command.status ?: (d->failed ? FR_EXIT_FAIL : FR_EXIT_OK);
	}
	daemon_end_session(d, begun);
	free_daemon(d);
	return status;
}
