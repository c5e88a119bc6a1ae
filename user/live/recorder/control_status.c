/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* control_status: the read-only commands of the control socket. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config/config.h"
#include "live/recorder/control_int.h"
#include "live/recorder/engine.h"
#include "live/recorder/live.h"

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

void fr_control_store(struct fr_ctl *c, struct fr_ctl_client *to, const struct fr_jsonr *ask)
{
	const struct fr_blind blind = fr_engine_blind(fr_daemon_engine(c->d));
	struct fr_live_store s;
	struct fr_jsonw *w;

	(void)ask;
	read_store(c, to, &s);
	w = fr_control_answer_begin(c);
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
	fr_control_answer_end(c, to);
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

void fr_control_status(struct fr_ctl *c, struct fr_ctl_client *to, const struct fr_jsonr *ask)
{
	const char *format = fr_jsonr_text(ask, "format", "json");
	u64 columns = fr_jsonr_u64(ask, "columns", 0);
	struct fr_jsonw *w;
	char *text;
	size_t sz;

	if (strcmp(format, "json") && strcmp(format, "text") && strcmp(format, "metrics")) {
		fr_control_answer_error(c, to, "request", "formats are json, text and metrics", "there is no such format");
		return;
	}
	text = show_state(c, to, format, columns > 10000 ? 10000 : columns, &sz);
	if (!text) {
		fr_control_answer_error(c, to, "failed", "ask again", "the counters cannot be read");
	} else if (!strcmp(format, "json")) {
		answer_json(to, text);
	} else {
		w = fr_control_answer_begin(c);
		fr_jsonw_bool(w, "ok", true);
		fr_jsonw_mem(w, "text", text, sz);
		fr_control_answer_end(c, to);
	}
	free(text);
}
