/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "live/recorder/notify.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "live/ctl/sdnotify.h"
#include "live/hook/hook.h"
#include "live/recorder/daemon.h"
#include "live/recorder/engine.h"
#include "live/recorder/takeover.h"
#include "read/snapfile/journal.h"

#define FIELD_MAX    20u
#define PRIORITY_OK  "5" /* notice */
#define PRIORITY_BAD "4" /* warning */

struct fr_notify {
	struct fr_daemon *d;
	struct fr_sdnotify *manager; /* NULL: none */
	struct fr_hooks *hooks;
	int watchdog_fd;       /* -1: not watched */
	char last[4096 + 256]; /* the last status of our own, with a path */
	u64 taken, failed;
};

/* ---- the service manager ---- */

static void kick(void *arg, u32 events)
{
	struct fr_notify *n = arg;

	(void)events;
	fr_sdnotify_watchdog(n->manager);
}

static int start_watchdog(struct fr_notify *n)
{
	u64 period_ns = fr_sdnotify_watchdog_ns(n->manager);

	if (!period_ns)
		return 0;
	n->watchdog_fd = fr_daemon_timer(n->d, period_ns, period_ns, kick, n);
	return n->watchdog_fd < 0 ? n->watchdog_fd : 0;
}

static void own_status(struct fr_notify *n, const char *more)
{
	if (n->taken + n->failed)
		snprintf(n->last, sizeof(n->last), "recording session '%s'; %llu snapshot%s taken%s%s",
			 fr_sess_name(fr_daemon_sess(n->d)), n->taken, fr_plural(n->taken), more ? ", the last " : "",
			 more ? more : "");
	else
		snprintf(n->last, sizeof(n->last), "recording session '%s'", fr_sess_name(fr_daemon_sess(n->d)));
}

void fr_notify_ready(struct fr_notify *n, const char *status)
{
	if (n)
		fr_sdnotify_ready(n->manager, status ? status : n->last);
}

void fr_notify_reloading(struct fr_notify *n)
{
	if (n)
		fr_sdnotify_reloading(n->manager);
}

void fr_notify_stopping(struct fr_notify *n)
{
	if (n)
		fr_sdnotify_stopping(n->manager, "stopping");
}

/* ---- the journal ---- */

/* Values as text, valid while the entry is written. */
struct entry {
	struct fr_journal_field field[FIELD_MAX];
	u32 cnt;
	char message[sizeof(((struct fr_taken *)NULL)->done.path) + 256];
	char pid[16], tid[16], uid[16], sig[16], code[16], exit_code[16], bytes[24], events[24], took[24], ts[24];
};

static void notify_add(struct entry *e, const char *name, const char *value)
{
	if (e->cnt < FIELD_MAX)
		e->field[e->cnt++] = (struct fr_journal_field){name, value};
}

static void add_num(struct entry *e, const char *name, char *buf, size_t sz, s64 v, bool known)
{
	if (!known)
		return;
	snprintf(buf, sz, "%lld", v);
	notify_add(e, name, buf);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void make_message(const struct fr_taken *t, char *buf, size_t sz)
{
	char bytes[32], took[32], comm[FR_COMM_SZ + 1], escaped[4 * sizeof(comm)], who[sizeof(escaped) + 32] = "";

	snprintf(comm, sizeof(comm), "%.*s", FR_COMM_SZ, t->alert.comm);
	if (t->alert.pid)
		snprintf(who, sizeof(who), " of %s[%u]", fr_escape_str(escaped, sizeof(escaped), comm), t->alert.pid);
	fr_show_size(t->done.bytes, bytes, sizeof(bytes));
	if (t->err)
		snprintf(buf, sz, "no snapshot for %s%s: %s", t->reason, who, strerror(-t->err));
	else if (t->done.found)
		snprintf(buf, sz, "snapshot %s: %s%s, %s", t->done.path, t->reason, who, bytes);
	else
		snprintf(buf, sz, "snapshot %s: %s%s, %llu event%s, %s, in %s", t->done.path, t->reason, who, t->done.events,
			 fr_plural(t->done.events), bytes,
			 fr_show_duration(t->done_mono_ns - t->asked_mono_ns, took, sizeof(took)));
}

/* Named like systemd-coredump's fields (COREDUMP_PID, ...), so that one query finds both. */
static void add_whom(struct entry *e, const struct fr_alert *a)
{
	add_num(e, "FLIGHTREC_PID", e->pid, sizeof(e->pid), a->pid, a->pid);
	add_num(e, "FLIGHTREC_TID", e->tid, sizeof(e->tid), a->tid, a->tid);
	add_num(e, "FLIGHTREC_UID", e->uid, sizeof(e->uid), a->uid, a->exe[0] && a->uid != ~0U);
	notify_add(e, "FLIGHTREC_COMM", a->comm);
	notify_add(e, "FLIGHTREC_EXE", a->exe);
	add_num(e, "FLIGHTREC_SIGNAL", e->sig, sizeof(e->sig), a->sig, a->sig);
	add_num(e, "FLIGHTREC_SIGNAL_CODE", e->code, sizeof(e->code), a->code, a->sig);
	add_num(e, "FLIGHTREC_EXIT_CODE", e->exit_code, sizeof(e->exit_code), a->exit_code, a->kind == FR_TRIGGER_status);
}

static void write_entry(struct fr_notify *n, const struct fr_taken *t)
{
	const struct fr_journal_to to = {FR_JOURNAL_SOCKET, FR_SYSLOG_SOCKET};
	struct entry e = {};

	make_message(t, e.message, sizeof(e.message));
	notify_add(&e, "MESSAGE", e.message);
	notify_add(&e, "MESSAGE_ID", t->err ? FR_MESSAGE_ID_FAILED : FR_MESSAGE_ID_TAKEN);
	notify_add(&e, "PRIORITY", t->err ? PRIORITY_BAD : PRIORITY_OK);
	notify_add(&e, "SYSLOG_IDENTIFIER", "flightrec");
	notify_add(&e, "FLIGHTREC_SESSION", fr_sess_name(fr_daemon_sess(n->d)));
	notify_add(&e, "FLIGHTREC_REASON", t->reason);
	notify_add(&e, "FLIGHTREC_RULE", t->rule ? t->rule->text : NULL);
	if (!t->err) {
		notify_add(&e, "FLIGHTREC_FILE", t->done.path);
		add_num(&e, "FLIGHTREC_BYTES", e.bytes, sizeof(e.bytes), t->done.bytes, true);
		add_num(&e, "FLIGHTREC_EVENTS", e.events, sizeof(e.events), t->done.events, !t->done.found);
		add_num(&e, "FLIGHTREC_TOOK_NS", e.took, sizeof(e.took), t->done_mono_ns - t->asked_mono_ns, !t->done.found);
	}
	add_num(&e, "FLIGHTREC_TS", e.ts, sizeof(e.ts), t->alert.ts, t->alert.ts);
	add_whom(&e, &t->alert);
	fr_journal_write(&to, e.field, e.cnt);
}

/* ---- each snapshot ---- */

static void run_hook(struct fr_notify *n, const struct fr_taken *t)
{
	const struct fr_hook_ask ask = {
		.file = t->done.path,
		.reason = t->reason,
		.session = fr_sess_name(fr_daemon_sess(n->d)),
		.comm = t->alert.comm,
		.exe = t->alert.exe,
		.pid = t->alert.pid,
		.sig = t->alert.sig,
	};

	fr_hooks_run(n->hooks, &ask);
}

static void notify_taken(void *arg, const struct fr_taken *t, u64 cookie)
{
	struct fr_notify *n = arg;

	(void)cookie;
	if (t->err)
		n->failed++;
	else
		n->taken++;
	own_status(n, t->err ? NULL : file_name(t->done.path));
	fr_sdnotify_status(n->manager, n->last);
	if (fr_daemon_config(n->d)->journal)
		write_entry(n, t);
	if (!t->err)
		run_hook(n, t);
}

void fr_notify_saved(struct fr_notify *n, const struct fr_saved *saved)
{
	struct fr_taken t = {.done = saved->done, .done_mono_ns = saved->done.elapsed_ns};

	snprintf(t.reason, sizeof(t.reason), "%s", saved->reason);
	notify_taken(n, &t, 0);
}

static void poll_hooks(void *arg, u32 events)
{
	struct fr_notify *n = arg;

	(void)events;
	fr_hooks_poll(n->hooks);
}

/* The hook matters most for the last snapshot. But a second request to end means: do not wait. */
static void finish_hooks(struct fr_notify *n)
{
	struct fr_hook_count c;
	sigset_t again;
	char limit[32];
	int fd;

	fr_hooks_count(n->hooks, &c);
	if (!c.running && !c.queued)
		return;
	fprintf(stderr, "waiting for hooks (%u), %s at most: another SIGINT or SIGTERM ends them now\n", c.running + c.queued,
		fr_show_duration(FR_HOOK_FINISH_NS, limit, sizeof(limit)));
	sigemptyset(&again);
	sigaddset(&again, SIGINT);
	sigaddset(&again, SIGTERM);
	fd = signalfd(-1, &again, SFD_CLOEXEC | SFD_NONBLOCK);
	fr_hooks_finish(n->hooks, FR_HOOK_FINISH_NS, fd);
	if (fd >= 0)
		close(fd);
}

/* ---- the module ---- */

static struct fr_hook_conf hook_conf(const struct fr_notify *n)
{
	const struct fr_config *c = fr_daemon_config(n->d);

	return (struct fr_hook_conf){
		.command = c->exec,
		.user = c->exec_user,
		.timeout_ns = c->exec_timeout_ns,
		.leave = fr_sess_give_up_rings,
		.leave_arg = fr_daemon_sess(n->d),
	};
}

int fr_notify_change(struct fr_notify *n)
{
	const struct fr_hook_conf conf = hook_conf(n);

	return fr_hooks_change(n->hooks, &conf);
}

bool fr_notify_wants_user(const struct fr_notify *n)
{
	return fr_hooks_wants_user(n->hooks);
}

int fr_notify_new(struct fr_daemon *d, struct fr_notify **out)
{
	struct fr_notify *n = calloc(1, sizeof(*n));
	struct fr_hook_conf conf;
	int err;

	if (!n)
		return -ENOMEM;
	n->d = d;
	n->watchdog_fd = -1;
	conf = hook_conf(n);
	own_status(n, NULL);
	/* a manager that cannot be reached is no reason not to record */
	fr_sdnotify_open(&n->manager);
	err = fr_hooks_new(&conf, &n->hooks);
	err = err ?: fr_daemon_watch(d, fr_hooks_fd(n->hooks), EPOLLIN, poll_hooks, n);
	err = err ?: start_watchdog(n);
	err = err ?: fr_engine_listen(fr_daemon_engine(d), notify_taken, n);
	if (err) {
		fr_notify_free(n);
		return err;
	}
	*out = n;
	return 0;
}

void fr_notify_free(struct fr_notify *n)
{
	if (!n)
		return;
	fr_daemon_drop(n->d, &n->watchdog_fd);
	if (n->hooks) {
		fr_daemon_unwatch(n->d, fr_hooks_fd(n->hooks));
		finish_hooks(n);
	}
	fr_hooks_free(n->hooks);
	fr_sdnotify_close(n->manager);
	free(n);
}
