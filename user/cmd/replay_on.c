/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/replay_on.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/filter/filter.h"
#include "base/schema/syscalls.h"
#include "base/schema/sysnames.h"
#include "base/text/dev.h"
#include "base/text/escape.h"
#include "base/text/jsonw.h"
#include "base/text/units.h"
#include "cmd/pace.h"
#include "read/rehearse/rehearse.h"
#include "show/format/format_text.h"
#include "sys/nss.h"

struct on {
	const struct fr_replay_on *ask;
	struct fr_replay *replay;
	struct fr_trigger rule[FR_TRIGGER_MAX];
	struct fr_rehearse *h;
	struct fr_pace pace;
	struct fr_out out;
};

int fr_replay_on_add(struct fr_replay_on *on, const char *text)
{
	if (on->cnt == FR_TRIGGER_MAX) {
		fr_err("--on: more than %u triggers", FR_TRIGGER_MAX);
		return -EINVAL;
	}
	on->text[on->cnt++] = text;
	return 0;
}

static int replay_find_user(void *arg, const char *name, u32 *uid)
{
	(void)arg;
	return fr_nss_uid(name, NULL, NULL, uid);
}

/* For the files' machine: its names of system calls. Users' names are this host's. */
static int parse_rules(struct on *on)
{
	const char *arch = fr_replay_view(on->replay, 0)->arch;
	struct fr_trigger_error why;
	u32 i;

	for (i = 0; i < on->ask->cnt; i++)
		if (fr_trigger_parse(on->ask->text[i], arch, &on->rule[i], &why) ||
		    fr_trigger_find_user(&on->rule[i], replay_find_user, NULL, &why)) {
			fr_filter_say_at("--on", why.text, on->ask->text[i], why.at);
			return -EINVAL;
		}
	return 0;
}

/* ---- a moment ---- */

/* Its subject in a word or two: the call, the softirq. NULL: nothing with a name. */
static const char *name_of_what(const struct fr_rehearsed *r)
{
	const struct fr_sys sys = {.arch = r->view->arch};

	if (r->m->kind != FR_TRIGGER_latency)
		return NULL;
	if (r->m->latency == FR_LATENCY_syscall)
		return fr_syscall_name(r->view->arch, 0, (s32)r->m->what);
	return r->m->latency == FR_LATENCY_softirq ? fr_sysname(&sys, FR_STYLE_SOFTIRQ, r->m->what) : NULL;
}

static void replay_put_time(struct fr_out *o, const struct fr_wall *wall, u64 ts)
{
	u64 real_ns = fr_wall_real(wall, ts);

	fr_out_paint(o, FR_PAINT_DIM);
	if (real_ns)
		fr_text_wall(o, real_ns);
	else
		fr_out_printf(o, "%llu.%09llu", (ts / FR_SEC_NS), (ts % FR_SEC_NS));
	fr_out_paint(o, FR_PAINT_NONE);
}

static void replay_put_duration(struct fr_out *o, u64 ns)
{
	if (ns >= FR_SEC_NS)
		fr_out_printf(o, "%.3f s", ns / 1e9);
	else if (ns >= FR_MSEC_NS)
		fr_out_printf(o, "%.3f ms", ns / 1e6);
	else
		fr_out_printf(o, "%.3f us", ns / 1e3);
}

static void replay_put_task(struct fr_out *o, const struct fr_moment *m)
{
	if (!m->tid)
		return;
	fr_out_str(o, " of ");
	if (m->comm && *m->comm)
		fr_escape_text(o, m->comm, strlen(m->comm));
	else
		fr_out_str(o, "<...>");
	fr_out_printf(o, " %u", m->pid ?: m->tid);
	if (m->pid && m->tid != m->pid)
		fr_out_printf(o, "/%u", m->tid);
}

static void put_values(struct fr_out *o, const struct fr_rehearsed *r)
{
	const struct fr_moment *m = r->m;
	const char *what = name_of_what(r);

	if (m->kind == FR_TRIGGER_crash)
		fr_out_printf(o, " %s", fr_signal_name(m->sig) ?: "?");
	if (m->kind == FR_TRIGGER_crash && m->ip)
		fr_out_printf(o, " ip 0x%llx", m->ip);
	if (m->kind == FR_TRIGGER_status)
		fr_out_printf(o, " status %d", m->status);
	if (m->kind == FR_TRIGGER_latency)
		fr_out_printf(o, " %s", fr_latency_name(m->latency));
	if (what)
		fr_out_printf(o, " %s", what);
	else if (m->kind == FR_TRIGGER_latency && m->latency == FR_LATENCY_block)
		fr_out_printf(o, " %llu:%llu", m->what >> FR_DEV_MINOR_BITS, m->what & FR_DEV_MINOR_MASK);
	else if (m->kind == FR_TRIGGER_latency && m->latency >= FR_LATENCY_syscall)
		fr_out_printf(o, " %llu", m->what);
	if (m->kind == FR_TRIGGER_hung)
		fr_out_str(o, m->what ? " in D" : " runnable");
	if (m->kind == FR_TRIGGER_rate)
		fr_out_printf(o, ": %llu %s within", m->what, fr_rate_doc(m->rate));
	if (m->value_ns) {
		fr_out_char(o, ' ');
		replay_put_duration(o, m->value_ns);
	}
}

static void show_text(struct on *on, const struct fr_rehearsed *r)
{
	const struct fr_trigger *t = &on->rule[r->rule];
	bool taken = r->verdict == FR_TRIGGER_VERDICT_taken;
	struct fr_out *o = &on->out;

	replay_put_time(o, r->view->wall, r->m->ts);
	fr_out_printf(o, "  rule %-2u ", r->rule);
	fr_out_paint(o, taken ? FR_PAINT_GREEN : FR_PAINT_YELLOW);
	fr_out_printf(o, "%-8s", fr_trigger_verdict_name(r->verdict));
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, "  %s", fr_trigger_reason(r->m->kind));
	put_values(o, r);
	replay_put_task(o, r->m);
	if (*r->m->exe) {
		fr_out_char(o, ' ');
		fr_escape_text(o, r->m->exe, strlen(r->m->exe));
	}
	if (r->text) {
		fr_out_str(o, ": ");
		fr_escape_text(o, r->text, strlen(r->text));
	}
	if (taken && t->post_ns) {
		fr_out_str(o, ", snapshot after ");
		replay_put_duration(o, t->post_ns);
	}
	if (taken && t->last_ns) {
		fr_out_str(o, ", of the last ");
		replay_put_duration(o, t->last_ns);
	}
	fr_out_char(o, '\n');
}

static void put_json_values(struct fr_jsonw *w, const struct fr_rehearsed *r)
{
	const struct fr_moment *m = r->m;

	if (m->kind == FR_TRIGGER_crash) {
		fr_jsonw_s64(w, "sig", m->sig);
		fr_jsonw_u64(w, "ip", m->ip);
	}
	if (m->kind == FR_TRIGGER_status)
		fr_jsonw_s64(w, "status", m->status);
	if (m->kind == FR_TRIGGER_latency) {
		fr_jsonw_text(w, "what", fr_latency_name(m->latency));
		fr_jsonw_u64(w, "id", m->what);
		fr_jsonw_text(w, "id_name", name_of_what(r));
	}
	if (m->kind == FR_TRIGGER_hung)
		fr_jsonw_u64(w, "state", m->what);
	if (m->kind == FR_TRIGGER_rate) {
		fr_jsonw_text(w, "what", fr_rate_name(m->rate));
		fr_jsonw_u64(w, "cnt", m->what);
	}
	if (m->kind == FR_TRIGGER_latency || m->kind == FR_TRIGGER_rate || fr_trigger_has(m->kind, FR_HAS_LOOK))
		fr_jsonw_u64(w, "value_ns", m->value_ns);
	if (r->text)
		fr_jsonw_text(w, m->kind == FR_TRIGGER_event ? "event" : "text", r->text);
}

static const char *or_null(const char *text)
{
	return text && *text ? text : NULL;
}

static void show_json(struct on *on, const struct fr_rehearsed *r)
{
	const struct fr_trigger *t = &on->rule[r->rule];
	struct fr_jsonw w = {.o = &on->out};
	const struct fr_moment *m = r->m;

	fr_jsonw_open(&w, NULL, '{');
	fr_jsonw_text(&w, "type", "moment");
	fr_jsonw_u64(&w, "ts", m->ts);
	fr_jsonw_u64(&w, "real_ns", fr_wall_real(r->view->wall, m->ts));
	fr_jsonw_u64(&w, "rule", r->rule);
	fr_jsonw_text(&w, "trigger", t->text);
	fr_jsonw_text(&w, "reason", fr_trigger_reason(m->kind));
	fr_jsonw_text(&w, "verdict", fr_trigger_verdict_name(r->verdict));
	fr_jsonw_u64(&w, "pid", m->pid);
	fr_jsonw_u64(&w, "tid", m->tid);
	fr_jsonw_text(&w, "comm", or_null(m->comm));
	fr_jsonw_text(&w, "exe", or_null(m->exe));
	fr_jsonw_text(&w, "cgroup", or_null(m->cgroup));
	put_json_values(&w, r);
	if (r->verdict == FR_TRIGGER_VERDICT_taken) {
		fr_jsonw_u64(&w, "post_ns", t->post_ns);
		fr_jsonw_u64(&w, "last_ns", t->last_ns);
	}
	fr_jsonw_close(&w, '}');
	fr_out_char(&on->out, '\n');
}

static int replay_show(void *arg, const struct fr_rehearsed *r)
{
	struct on *on = arg;

	if (on->ask->totals)
		return 0;
	fr_pace_wait(&on->pace, &on->out, r->m->ts + r->shift_ns);
	if (on->ask->json)
		show_json(on, r);
	else
		show_text(on, r);
	return fr_out_error(&on->out);
}

/* ---- totals ---- */

static const char *can_name(enum fr_rehearse_can can)
{
	switch (can) {
	case FR_REHEARSE_CAN:
		return "yes";
	case FR_REHEARSE_PART:
		return "part";
	case FR_REHEARSE_REFUSED:
		return "refused";
	default:
		return "no";
	}
}

static void total_text(struct on *on, u32 rule, const struct fr_rehearse_total *t)
{
	const struct fr_rehearse_notes *n = fr_rehearse_notes(on->h, rule);
	struct fr_out *o = &on->out;
	const char *before = ": ";
	u32 i;

	fr_out_printf(o, "rule %-2u ", rule);
	fr_out_paint(o, FR_PAINT_BOLD);
	fr_escape_text(o, on->rule[rule].text, strlen(on->rule[rule].text));
	fr_out_paint(o, FR_PAINT_NONE);
	if (n->can < FR_REHEARSE_CANNOT) {
		fr_out_printf(o, "  matched %llu, alerted %llu", t->matched, t->alerted);
		for (i = 0; i < FR_TRIGGER_VERDICT_CNT; i++) {
			if (!t->verdict[i])
				continue;
			fr_out_printf(o, "%s%s %llu", before, fr_trigger_verdict_name(i), t->verdict[i]);
			before = ", ";
		}
	}
	fr_out_char(o, '\n');
	for (i = 0; i < n->cnt && i < sizeof(n->text) / sizeof(n->text[0]); i++) {
		fr_out_str(o, "        ");
		fr_escape_text(o, n->text[i], strlen(n->text[i]));
		fr_out_char(o, '\n');
	}
}

static void total_json(struct on *on, u32 rule, const struct fr_rehearse_total *t)
{
	const struct fr_rehearse_notes *n = fr_rehearse_notes(on->h, rule);
	struct fr_jsonw w = {.o = &on->out};
	u32 i;

	fr_jsonw_open(&w, NULL, '{');
	fr_jsonw_text(&w, "type", "rule");
	fr_jsonw_u64(&w, "rule", rule);
	fr_jsonw_text(&w, "trigger", on->rule[rule].text);
	fr_jsonw_text(&w, "evaluated", can_name(n->can));
	fr_jsonw_open(&w, "notes", '[');
	for (i = 0; i < n->cnt && i < sizeof(n->text) / sizeof(n->text[0]); i++)
		fr_jsonw_text(&w, NULL, n->text[i]);
	fr_jsonw_close(&w, ']');
	fr_jsonw_u64(&w, "matched", t->matched);
	fr_jsonw_u64(&w, "alerted", t->alerted);
	fr_jsonw_open(&w, "verdicts", '{');
	for (i = 0; i < FR_TRIGGER_VERDICT_CNT; i++)
		if (t->verdict[i])
			fr_jsonw_u64(&w, fr_trigger_verdict_name(i), t->verdict[i]);
	fr_jsonw_close(&w, '}');
	fr_jsonw_close(&w, '}');
	fr_out_char(&on->out, '\n');
}

static bool measures(const struct on *on)
{
	u32 i;

	for (i = 0; i < on->ask->cnt; i++)
		if (on->rule[i].kind == FR_TRIGGER_latency || fr_trigger_has(on->rule[i].kind, FR_HAS_LOOK))
			return true;
	return false;
}

/* From when on what rules measure can be known, and the assumptions made. */
static void show_window(struct on *on)
{
	u64 begin_ns, end_ns, known_ns = fr_rehearse_known_ns(on->h);
	struct fr_jsonw w = {.o = &on->out};
	struct fr_out *o = &on->out;

	fr_replay_window(on->replay, &begin_ns, &end_ns);
	known_ns = known_ns > begin_ns ? known_ns : begin_ns;
	if (on->ask->json) {
		fr_jsonw_open(&w, NULL, '{');
		fr_jsonw_text(&w, "type", "window");
		fr_jsonw_u64(&w, "begin_ns", begin_ns);
		fr_jsonw_u64(&w, "end_ns", end_ns);
		fr_jsonw_u64(&w, "known_ns", known_ns);
		fr_jsonw_close(&w, '}');
		fr_out_char(o, '\n');
		return;
	}
	if (measures(on)) {
		fr_out_str(o, "what began before ");
		replay_put_time(o, fr_replay_view(on->replay, 0)->wall, known_ns);
		fr_out_str(o, " is not known: such latencies and pauses are missing\n");
	}
}

/* Is there a rule that these files cannot answer, or that could not be deployed as it is? */
static bool show_totals(struct on *on)
{
	struct fr_rehearse_total total;
	bool fails = false;
	u32 i;

	for (i = 0; i < on->ask->cnt; i++) {
		fr_rehearse_total(on->h, i, &total);
		if (on->ask->json)
			total_json(on, i, &total);
		else
			total_text(on, i, &total);
		fails |= fr_rehearse_notes(on->h, i)->can >= FR_REHEARSE_REFUSED;
	}
	show_window(on);
	return fails;
}

/* ---- all ---- */

static int replay_rehearse(struct on *on)
{
	int err, status = FR_EXIT_OK;

	err = parse_rules(on);
	if (err)
		return FR_EXIT_USAGE;
	err = fr_rehearse_new(on->replay, on->rule, on->ask->cnt, &on->h);
	err = err ?: fr_rehearse_run(on->h, replay_show, on);
	if (fr_out_error(&on->out))
		return fr_err_finish(&on->out, FR_EXIT_OK);
	if (err) {
		fr_err_errno(err, "replay stopped");
		return fr_err_finish(&on->out, FR_EXIT_FAIL);
	}
	if (show_totals(on))
		status = FR_EXIT_FAIL;
	fr_out_flush(&on->out);
	if (fr_replay_say_damage(on->replay))
		status = FR_EXIT_CORRUPT;
	return fr_err_finish(&on->out, status);
}

int fr_replay_on_run(const struct fr_replay_on *ask, const struct fr_replay_opts *opts, const char *const *path, u32 cnt)
{
	struct on *on = calloc(1, sizeof(*on));
	int err, status = FR_EXIT_FAIL;

	if (!on) {
		fr_err_memory();
		return FR_EXIT_FAIL;
	}
	on->ask = ask;
	on->pace.speed = ask->speed;
	err = fr_replay_open(path, cnt, opts, &on->replay);
	if (err) {
		status = err == -EINVAL ? FR_EXIT_USAGE : err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	} else {
		fr_out_init(&on->out, STDOUT_FILENO);
		status = replay_rehearse(on);
		fr_rehearse_free(on->h);
		fr_replay_close(on->replay);
	}
	free(on);
	return status;
}
