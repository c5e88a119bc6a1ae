/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests on the control socket and their answers:
 *
 *	{"cmd":"status"}		{"ok":true,...}: as `status --json`; "format":"text" or "metrics":
 *					{"ok":true,"text":"..."}, as wide as "columns"
 *	{"cmd":"store"}			files and bytes of the directory, and its limits
 *	{"cmd":"watch"}			from then on one line per decision and per snapshot
 *	{"cmd":"dump","last_ns":N}	takes a snapshot; the answer comes once it exists
 *	{"cmd":"stop"} {"cmd":"reload"}
 */
#include "live/recorder/control.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/text/jsonr.h"
#include "base/text/jsonw.h"
#include "base/text/units.h"
#include "live/ctl/ctl_server.h"
#include "live/recorder/daemon.h"
#include "live/recorder/engine.h"
#include "live/recorder/live.h"
#include "live/snapshot/store.h"
#include "sys/now.h"
#include "sys/nss.h"

#define NO_GROUP ((gid_t)-1)

struct fr_ctl {
	struct fr_daemon *d;
	struct fr_ctl_server *server; /* NULL: Socket=no */
	bool running;		      /* a request is being answered: the server must stay until then */
	gid_t status_gid, dump_gid;   /* (gid_t)-1: none */
	bool has_looked;
	struct fr_store_usage seen; /* when somebody last had a look at the directory */
	u64 dumped_ns;		    /* last snapshot requested by a group; CLOCK_MONOTONIC, 0 none */
	struct fr_out *out;	    /* an answer is built in it */
	struct fr_jsonw json;
};

enum right { MAY_LOOK = 1, MAY_DUMP = 2, MAY_RULE = 4 };

/* ---- permissions ---- */

static bool control_is_in(const struct fr_ctl_peer *peer, gid_t gid)
{
	u32 i;

	if (gid == NO_GROUP)
		return false;
	for (i = 0; i < peer->group_cnt; i++)
		if (peer->group[i] == gid)
			return true;
	return peer->gid == gid;
}

static u32 rights(const struct fr_ctl *c, const struct fr_ctl_peer *peer)
{
	if (!peer->uid)
		return MAY_LOOK | MAY_DUMP | MAY_RULE;
	if (control_is_in(peer, c->dump_gid))
		return MAY_LOOK | MAY_DUMP;
	return peer->uid == geteuid() || control_is_in(peer, c->status_gid) ? MAY_LOOK : 0;
}

static const char *control_refuse(void *arg, const struct fr_ctl_peer *peer)
{
	if (rights(arg, peer))
		return NULL;
	return "{\"ok\":false,\"error\":\"not permitted\",\"code\":\"denied\","
	       "\"cure\":\"ask as root; members of the configuration's StatusGroup may ask for the status, "
	       "of its DumpGroup also for snapshots\"}";
}

/* ---- answers: one at a time ---- */

static struct fr_jsonw *control_answer_begin(struct fr_ctl *c)
{
	fr_out_init_mem(c->out);
	c->json = (struct fr_jsonw){.o = c->out};
	fr_jsonw_open(&c->json, NULL, '{');
	return &c->json;
}

static char *answer_take(struct fr_ctl *c, size_t *sz)
{
	fr_jsonw_close(&c->json, '}');
	return fr_out_take_mem(c->out, sz);
}

static void control_answer_end(struct fr_ctl *c, struct fr_ctl_client *to)
{
	static const char oom[] = "{\"ok\":false,\"error\":\"out of memory\",\"code\":\"memory\",\"cure\":\"ask again\"}";
	size_t sz;
	char *line = answer_take(c, &sz);

	if (line)
		fr_ctl_reply(to, line, sz);
	else
		fr_ctl_reply(to, oom, sizeof(oom) - 1);
	free(line);
}

static void answer_ok(struct fr_ctl *c, struct fr_ctl_client *to)
{
	fr_jsonw_bool(control_answer_begin(c), "ok", true);
	control_answer_end(c, to);
}

/* {"ok":false, ...}: fmt says what is wrong, code says it for programs, and cure what to do. */
__attribute__((format(printf, 5, 6))) static void control_answer_error(struct fr_ctl *c, struct fr_ctl_client *to,
								       const char *code, const char *cure, const char *fmt, ...)
{
	struct fr_jsonw *w = control_answer_begin(c);
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fr_jsonw_bool(w, "ok", false);
	fr_jsonw_text(w, "error", text);
	fr_jsonw_text(w, "code", code);
	fr_jsonw_text(w, "cure", cure);
	control_answer_end(c, to);
}

/* ---- watch ---- */

static void do_watch(struct fr_ctl *c, struct fr_ctl_client *to, const struct fr_jsonr *ask)
{
	(void)ask;
	if (fr_ctl_watch(to))
		control_answer_error(c, to, "clients", "end another `flightrec follow`", "%u watch already", FR_CTL_WATCH_MAX);
	else
		answer_ok(c, to);
}

static void control_tell_end(struct fr_ctl *c)
{
	size_t sz;
	char *line = answer_take(c, &sz);

	if (line)
		fr_ctl_tell(c->server, line, sz);
	free(line);
}

/* The known facts of the moment, which was at that time. */
static void control_put_moment(struct fr_jsonw *w, const struct fr_alert *a, u64 at_ns)
{
	fr_jsonw_u64(w, "ts", at_ns);
	if (a->pid || a->comm[0]) {
		fr_jsonw_u64(w, "pid", a->pid);
		fr_jsonw_u64(w, "tid", a->tid);
		fr_jsonw_mem(w, "comm", a->comm, strnlen(a->comm, sizeof(a->comm)));
	}
	if (a->sig)
		fr_jsonw_s64(w, "sig", a->sig);
	if (a->value_ns)
		fr_jsonw_u64(w, "value_ns", a->value_ns);
	if (a->exe[0])
		fr_jsonw_mem(w, "exe", a->exe, strnlen(a->exe, sizeof(a->exe)));
}

static void control_put_rule(struct fr_jsonw *w, const struct fr_trigger *rule)
{
	if (rule)
		fr_jsonw_mem(w, "rule", rule->text, strnlen(rule->text, sizeof(rule->text)));
}

void fr_control_decided(struct fr_ctl *c, const struct fr_trigger *rule, const struct fr_alert *a, u64 at_ns, u32 verdict)
{
	struct fr_jsonw *w;

	if (!c || !c->server || !fr_ctl_watchers(c->server))
		return;
	w = control_answer_begin(c);
	fr_jsonw_text(w, "watch", "trigger");
	fr_jsonw_text(w, "reason", fr_trigger_reason(a->kind));
	fr_jsonw_text(w, "verdict", fr_trigger_verdict_name(verdict));
	control_put_rule(w, rule); /* its text: its number is another one after a reload */
	control_put_moment(w, a, at_ns);
	control_tell_end(c);
}

static bool control_is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

static void control_put_counts(struct fr_jsonw *w, const struct fr_dump_done *done)
{
	if (done->found)
		return;
	fr_jsonw_u64(w, "events", done->events);
	fr_jsonw_u64(w, "missed", done->missed);
	fr_jsonw_u64(w, "copied_ns", done->copied_ns);
	fr_jsonw_u64(w, "elapsed_ns", done->elapsed_ns);
}

static void put_error(struct fr_jsonw *w, const char *error, const char *code, const char *cure)
{
	fr_jsonw_text(w, "error", error);
	fr_jsonw_text(w, "code", code);
	fr_jsonw_text(w, "cure", cure);
}

static void put_why_not(struct fr_ctl *c, struct fr_jsonw *w, int err)
{
	if (fr_sess_is_gone(fr_daemon_sess(c->d)))
		put_error(w, "the session was ended by another process", "gone", "begin anew with `flightrec record`");
	else if (control_is_full(err))
		put_error(w, strerror(-err), "space",
			  "make room, or change KeepFree=, MaxFiles= or MaxBytes=: `flightrec status` shows them");
	else
		put_error(w, strerror(-err), "failed", "see the directory of snapshots, and the recorder's messages");
}

/* The description of a snapshot, for the requester and for watchers. */
static void put_taken(struct fr_ctl *c, struct fr_jsonw *w, const struct fr_taken *t)
{
	if (t->err) {
		put_why_not(c, w, t->err);
	} else {
		fr_jsonw_text(w, "file", t->done.path);
		fr_jsonw_u64(w, "bytes", t->done.bytes);
		control_put_counts(w, &t->done);
	}
	fr_jsonw_mem(w, "reason", t->reason, strnlen(t->reason, sizeof(t->reason)));
	if (t->done_mono_ns > t->asked_mono_ns)
		fr_jsonw_u64(w, "took_ns", t->done_mono_ns - t->asked_mono_ns);
	control_put_rule(w, t->rule);
	control_put_moment(w, &t->alert, t->alert.ts);
}

static void control_on_taken(void *arg, const struct fr_taken *t, u64 cookie)
{
	struct fr_ctl *c = arg;
	struct fr_ctl_client *asked;
	struct fr_jsonw *w;

	if (!c->server)
		return;
	asked = cookie ? fr_ctl_find(c->server, cookie) : NULL;
	if (asked) {
		w = control_answer_begin(c);
		fr_jsonw_bool(w, "ok", !t->err);
		put_taken(c, w, t);
		control_answer_end(c, asked);
	}
	if (!fr_ctl_watchers(c->server))
		return;
	w = control_answer_begin(c);
	fr_jsonw_text(w, "watch", "snapshot");
	fr_jsonw_bool(w, "ok", !t->err);
	put_taken(c, w, t);
	control_tell_end(c);
}

/* ---- status, store ---- */

/* A process looks at the directory for whoever may have one forked. */
static void status_look(struct fr_ctl *c, struct fr_ctl_client *to, struct fr_store *st, struct fr_store_usage *out)
{
	if (fr_ctl_may_look(to) || !c->has_looked)
		fr_store_usage_soon(fr_daemon_sess(c->d), st, &c->seen);
	c->has_looked = true;
	*out = c->seen;
}

static void read_store(struct fr_ctl *c, struct fr_ctl_client *to, struct fr_live_store *out)
{
	struct fr_engine *engine = fr_daemon_engine(c->d);
	const struct fr_config *conf = fr_daemon_config(c->d);
	struct fr_store *st = fr_daemon_store(c->d);

	*out = (struct fr_live_store){
		.known = st != NULL,
		.max_files = conf->max_files,
		.max_sz = conf->max_sz,
		.max_age_ns = conf->max_age_ns,
		.keep_free = conf->keep_free,
		.still_ns = fr_engine_still_ns(engine),
		.failed_err = fr_engine_failed_err(engine),
		.unruled_failed = fr_engine_unruled(engine, FR_TRIGGER_VERDICT_failed),
		.unruled_space = fr_engine_unruled(engine, FR_TRIGGER_VERDICT_space),
	};
	if (!st)
		return;
	status_look(c, to, st, &out->usage);
	out->usage.removed = fr_engine_removed(engine);
}

static void put_connections(struct fr_ctl *c, struct fr_jsonw *w)
{
	const struct fr_ctl_counts *n = fr_ctl_server_counts(c->server);

	fr_jsonw_u64(w, "connections_served", n->served);
	fr_jsonw_u64(w, "connections_denied", n->denied);
	fr_jsonw_u64(w, "connections_full", n->full);
	fr_jsonw_u64(w, "connections_rate", n->rate);
	fr_jsonw_u64(w, "connections_failed", n->failed);
}

static void control_store(struct fr_ctl *c, struct fr_ctl_client *to, const struct fr_jsonr *ask)
{
	const struct fr_blind blind = fr_engine_blind(fr_daemon_engine(c->d));
	struct fr_live_store s;
	struct fr_jsonw *w;

	(void)ask;
	read_store(c, to, &s);
	w = control_answer_begin(c);
	fr_jsonw_bool(w, "ok", true);
	if (s.known) {
		if (fr_live_store_seen(&s)) {
			fr_jsonw_u64(w, "files", s.usage.files);
			fr_jsonw_u64(w, "marked", s.usage.marked);
			fr_jsonw_u64(w, "bytes", s.usage.sz);
			fr_jsonw_u64(w, "free_bytes", s.usage.free_sz);
			fr_jsonw_u64(w, "fs_bytes", s.usage.fs_sz);
		}
		fr_jsonw_u64(w, "removed", s.usage.removed);
		fr_jsonw_u64(w, "errno", s.usage.err < 0 ? -s.usage.err : s.usage.err);
		fr_jsonw_u64(w, "max_files", s.max_files);
		fr_jsonw_u64(w, "max_bytes", s.max_sz);
		fr_jsonw_u64(w, "max_age_ns", s.max_age_ns);
		fr_jsonw_u64(w, "keep_free", s.keep_free);
		fr_jsonw_u64(w, "still_ns", s.still_ns);
		fr_jsonw_u64(w, "failed_errno", -s.failed_err);
		fr_jsonw_u64(w, "unruled_failed", s.unruled_failed);
		fr_jsonw_u64(w, "unruled_space", s.unruled_space);
	}
	fr_jsonw_u64(w, "hung_errno", -blind.hung_err);
	fr_jsonw_u64(w, "psi_ended", blind.psi_cnt);
	put_connections(c, w);
	control_answer_end(c, to);
}

/* The state in a text format, malloc'ed; NULL: it could not be read. */
static char *show_state(struct fr_ctl *c, struct fr_ctl_client *to, const char *format, u32 columns, size_t *sz)
{
	struct fr_live l;
	char *text = NULL;

	if (!fr_live_read(fr_daemon_sess(c->d), &l)) {
		read_store(c, to, &l.store);
		l.blind = fr_engine_blind(fr_daemon_engine(c->d));
		l.socket = (struct fr_live_socket){.known = true, .counts = *fr_ctl_server_counts(c->server)};
		l.owned = true;
		fr_live_look(&l);
		fr_out_init_mem(c->out);
		if (!strcmp(format, "text"))
			fr_live_text(&l, c->out, columns);
		else if (!strcmp(format, "metrics"))
			fr_live_metrics(&l, c->out);
		else
			fr_live_json(&l, c->out);
		text = fr_out_take_mem(c->out, sz);
	}
	fr_live_free(&l);
	return text;
}

/* {...}\n becomes {"ok":true,...} */
static void answer_json(struct fr_ctl_client *to, const char *json)
{
	char *line;
	int len = asprintf(&line, "{\"ok\":true,%.*s", (int)strcspn(json + 1, "\n"), json + 1);

	if (len < 0)
		return;
	fr_ctl_reply(to, line, len);
	free(line);
}

static void control_status(struct fr_ctl *c, struct fr_ctl_client *to, const struct fr_jsonr *ask)
{
	const char *format = fr_jsonr_text(ask, "format", "json");
	u64 columns = fr_jsonr_u64(ask, "columns", 0);
	struct fr_jsonw *w;
	char *text;
	size_t sz;

	if (strcmp(format, "json") && strcmp(format, "text") && strcmp(format, "metrics")) {
		control_answer_error(c, to, "request", "formats are json, text and metrics", "there is no such format");
		return;
	}
	text = show_state(c, to, format, columns > 10000 ? 10000 : columns, &sz);
	if (!text) {
		control_answer_error(c, to, "failed", "ask again", "the counters cannot be read");
	} else if (!strcmp(format, "json")) {
		answer_json(to, text);
	} else {
		w = control_answer_begin(c);
		fr_jsonw_bool(w, "ok", true);
		fr_jsonw_mem(w, "text", text, sz);
		control_answer_end(c, to);
	}
	free(text);
}

/* ---- dump, stop, reload ---- */

/* Is it too early for another snapshot requested by a user? Answers so. */
static bool too_early(struct fr_ctl *c, struct fr_ctl_client *to)
{
	u64 interval = fr_daemon_config(c->d)->dump_interval_ns, now = fr_now_ns(CLOCK_MONOTONIC);
	char a[32], b[32];

	if (!fr_ctl_client_peer(to)->uid || !c->dumped_ns || now - c->dumped_ns >= interval)
		return false;
	control_answer_error(c, to, "interval", "ask again then, or as root", "snapshots are taken every %s, the next in %s",
			     fr_show_duration(interval, a, sizeof(a)),
			     fr_show_duration(interval - (now - c->dumped_ns), b, sizeof(b)));
	return true;
}

/* If there is a rule for dumps its options apply, as for any rule. */
static void say_refused(struct fr_ctl *c, struct fr_ctl_client *to, u32 verdict)
{
	control_answer_error(
		c, to, fr_trigger_verdict_name(verdict),
		"ask again later, or change that rule or the limits of [Trigger]; root's `dump -o FILE` always works",
		"the rule `command` refuses: %s", fr_trigger_verdict_doc(verdict));
}

/* What would be taken for "everything" is refused. */
static bool is_duration(const struct fr_jsonr *ask, const char *key)
{
	const struct fr_jsonr_member *m = fr_jsonr_find(ask, key);

	return !m || m->type == FR_JSONR_NULL || (m->type == FR_JSONR_INT && !m->negative && m->number);
}

static void do_dump(struct fr_ctl *c, struct fr_ctl_client *to, const struct fr_jsonr *ask)
{
	u32 verdict = FR_TRIGGER_VERDICT_failed;
	const struct fr_moment_ask moment = {
		.kind = FR_TRIGGER_command,
		.last_ns = fr_jsonr_u64(ask, "last_ns", 0),
		.cookie = fr_ctl_client_id(to),
		.verdict = &verdict,
	};
	int err;

	if (!is_duration(ask, "last_ns")) {
		control_answer_error(c, to, "request",
				     "give a number of nanoseconds, as in \"last_ns\":5000000000; all without it",
				     "last_ns is not a number above 0");
		return;
	}
	if (too_early(c, to))
		return;
	fr_ctl_defer(to);
	err = fr_engine_pull(fr_daemon_engine(c->d), &moment);
	if (err == -EBUSY) {
		control_answer_error(c, to, "busy", "ask again in a moment", "another snapshot is being taken");
	} else if (err == -EAGAIN && verdict < FR_TRIGGER_VERDICT_CNT) {
		say_refused(c, to, verdict);
	} else if (err) {
		control_answer_error(c, to, "failed", "see the recorder's messages", "no snapshot could be taken: %s",
				     strerror(-err));
	} else if (fr_ctl_client_peer(to)->uid) {
		c->dumped_ns = fr_now_ns(CLOCK_MONOTONIC);
	}
}

static void do_stop(struct fr_ctl *c, struct fr_ctl_client *to, const struct fr_jsonr *ask)
{
	answer_ok(c, to);
	fr_daemon_stop(c->d, fr_jsonr_bool(ask, "session", false));
}

static void do_reload(struct fr_ctl *c, struct fr_ctl_client *to, const struct fr_jsonr *ask)
{
	const char *hint = "correct the file: `flightrec record --config FILE --check-config`";
	char why[400] = "";
	int err;

	(void)ask;
	err = fr_daemon_reload(c->d, why, sizeof(why));
	if (err == -EOPNOTSUPP)
		hint = "start the recorder with --config FILE";
	if (err)
		control_answer_error(c, to, "refused", hint, "the old configuration stays: %s", why[0] ? why : strerror(-err));
	else
		answer_ok(c, to);
}

#define KEY_MAX 2

static const struct {
	const char *name;
	u32 right;
	void (*run)(struct fr_ctl *c, struct fr_ctl_client *to, const struct fr_jsonr *ask);
	const char *key[KEY_MAX]; /* beside cmd, NULL: no more */
} commands[] = {
	{"status", MAY_LOOK, control_status, {"format", "columns"}},
	{"store", MAY_LOOK, control_store, {}},
	{"watch", MAY_LOOK, do_watch, {}},
	{"dump", MAY_DUMP, do_dump, {"last_ns"}},
	{"stop", MAY_RULE, do_stop, {"session"}},
	{"reload", MAY_RULE, do_reload, {}},
};

#define COMMAND_CNT (sizeof(commands) / sizeof(commands[0]))

static bool control_takes(size_t cmd, const char *key)
{
	u32 i;

	for (i = 0; i < KEY_MAX && commands[cmd].key[i]; i++)
		if (!strcmp(commands[cmd].key[i], key))
			return true;
	return !strcmp(key, "cmd");
}

/* One that is misspelt would change nothing, and nobody would notice. Answers so. */
static bool has_unknown(struct fr_ctl *c, struct fr_ctl_client *to, size_t cmd, const struct fr_jsonr *ask)
{
	const char *a = commands[cmd].key[0], *b = commands[cmd].key[1];
	char cure[64];
	u32 i;

	for (i = 0; i < ask->cnt && control_takes(cmd, ask->member[i].key); i++)
		;
	if (i == ask->cnt)
		return false;
	snprintf(cure, sizeof(cure), "%s takes %s%s%s", commands[cmd].name, a ?: "no other key than cmd", b ? " and " : "",
		 b ?: "");
	control_answer_error(c, to, "request", cure, "there is no key '%.100s'", ask->member[i].key);
	return true;
}

static void run_command(struct fr_ctl *c, struct fr_ctl_client *from, const struct fr_jsonr *ask)
{
	const char *name = fr_jsonr_text(ask, "cmd", "");
	size_t i;

	for (i = 0; i < COMMAND_CNT && strcmp(commands[i].name, name); i++)
		;
	if (i == COMMAND_CNT)
		control_answer_error(c, from, "request", "commands are status, store, watch, dump, stop and reload",
				     "there is no such command");
	else if (!(rights(c, fr_ctl_client_peer(from)) & commands[i].right))
		control_answer_error(c, from, "denied",
				     commands[i].right == MAY_DUMP ? "ask as root or as a member of DumpGroup" : "ask as root",
				     "%s is not permitted to you", name);
	else if (!has_unknown(c, from, i, ask))
		commands[i].run(c, from, ask);
}

static void request(void *arg, struct fr_ctl_client *from, const char *line, size_t sz)
{
	struct fr_ctl *c = arg;
	const char *why = "";
	struct fr_jsonr ask;
	int err = fr_jsonr_parse(line, sz, &ask, &why);

	if (err) {
		control_answer_error(c, from, "request", "send one JSON object a line: {\"cmd\":\"status\"}",
				     "not a request: %s", err == -EINVAL ? why : strerror(-err));
		return;
	}
	run_command(c, from, &ask);
	fr_jsonr_free(&ask);
}

/* ---- begin and end ---- */

static void close_server(struct fr_ctl *c)
{
	if (!c->server)
		return;
	fr_daemon_unwatch(c->d, fr_ctl_server_fd(c->server));
	fr_ctl_server_free(c->server);
	c->server = NULL;
}

static void control_run(void *arg, u32 events)
{
	struct fr_ctl *c = arg;

	(void)events;
	c->running = true;
	fr_ctl_server_run(c->server);
	c->running = false;
	if (!fr_daemon_config(c->d)->socket)
		close_server(c);
}

/* A group's number; NO_GROUP for none, and, with a warning, for one that does not exist. */
static gid_t control_find_group(const struct fr_ctl *c, const char *key, const char *name)
{
	gid_t gid;
	int err;

	if (!name || !*name)
		return NO_GROUP;
	err = fr_nss_group(name, fr_sess_give_up_rings, fr_daemon_sess(c->d), &gid);
	if (!err)
		return gid;
	if (err == -ENOENT)
		fr_warn("%s=%s: there is no such group, so nobody has its rights: make it with groupadd", key, name);
	else
		fr_warn_errno(err, "%s=%s cannot be looked up, so nobody has its rights until `flightrec reload`", key, name);
	return NO_GROUP;
}

static int open_server(struct fr_ctl *c)
{
	const struct fr_ctl_ops ops = {.refuse = control_refuse, .request = request, .arg = c};
	int err = fr_ctl_server_new(FR_CTL_DIR, fr_sess_name(fr_daemon_sess(c->d)), &ops, &c->server);

	if (err)
		return err;
	err = fr_daemon_watch(c->d, fr_ctl_server_fd(c->server), EPOLLIN, control_run, c);
	if (err) {
		fr_err_errno(err, "cannot watch the control socket");
		fr_ctl_server_free(c->server);
		c->server = NULL;
	}
	return err;
}

static void take_config(struct fr_ctl *c)
{
	const struct fr_config *conf = fr_daemon_config(c->d);

	c->status_gid = control_find_group(c, "StatusGroup", conf->status_group);
	c->dump_gid = control_find_group(c, "DumpGroup", conf->dump_group);
}

void fr_control_change(struct fr_ctl *c)
{
	if (!c)
		return;
	take_config(c);
	if (!c->running && c->server && !(fr_daemon_config(c->d)->socket && fr_ctl_server_is_there(c->server)))
		close_server(c);
	if (fr_daemon_config(c->d)->socket && !c->server)
		open_server(c);
}

int fr_control_new(struct fr_daemon *d, struct fr_ctl **out)
{
	struct fr_ctl *c = calloc(1, sizeof(*c));
	int err = 0;

	if (!c || !(c->out = malloc(sizeof(*c->out)))) {
		free(c);
		return -ENOMEM;
	}
	c->d = d;
	take_config(c);
	if (fr_daemon_config(d)->socket)
		err = open_server(c);
	err = err ?: fr_engine_listen(fr_daemon_engine(d), control_on_taken, c);
	if (err) {
		fr_control_free(c);
		return err;
	}
	*out = c;
	return 0;
}

void fr_control_free(struct fr_ctl *c)
{
	if (!c)
		return;
	close_server(c);
	free(c->out);
	free(c);
}
