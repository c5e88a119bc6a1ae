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
#include "base/show/table.h"
#include "base/text/dev.h"
#include "base/text/escape.h"
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

/* Its subject in a word or two: the call, the softirq, the span, whose name is its program's. NULL: nothing with a name. */
static const char *name_of_what(const struct fr_rehearsed *r)
{
	const struct fr_sys sys = {.arch = r->view->arch};

	if (r->m->kind != FR_TRIGGER_latency)
		return NULL;
	if (r->m->latency == FR_LATENCY_span)
		return r->text;
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
	if (what) {
		fr_out_char(o, ' ');
		fr_escape_text(o, what, strlen(what));
	}
	if (m->kind == FR_TRIGGER_latency && m->latency == FR_LATENCY_span && m->what)
		fr_out_printf(o, " %llu", m->what);
	else if (m->kind == FR_TRIGGER_latency && m->latency == FR_LATENCY_block)
		fr_out_printf(o, " %llu:%llu", m->what >> FR_DEV_MINOR_BITS, m->what & FR_DEV_MINOR_MASK);
	else if (m->kind == FR_TRIGGER_latency && m->latency >= FR_LATENCY_syscall && !what)
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
	if (r->text && r->m->kind != FR_TRIGGER_latency) {
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

/* ---- JSON: a moment. Its columns are of a struct on ---- */

/* A member of the moment; if arg is given, only of moments of this kind. */
static struct fr_value on_member(const struct fr_at *at)
{
	const struct fr_moment *m = ((const struct fr_rehearsed *)at->rec)->m;
	struct fr_value v;

	if (at->column->arg && strcmp(at->column->arg, fr_trigger_reason(m->kind)))
		return fr_value_absent();
	v = fr_column_member(at, m);
	return v.kind == FR_VALUE_TEXT && !v.text_sz ? fr_value_null() : v;
}

/* A member of its rule. */
static struct fr_value on_rule(const struct fr_at *at)
{
	return fr_column_member(at, &((const struct on *)at->of)->rule[((const struct fr_rehearsed *)at->rec)->rule]);
}

static struct fr_value on_option(const struct fr_at *at)
{
	const struct fr_rehearsed *r = at->rec;

	return r->verdict == FR_TRIGGER_VERDICT_taken ? on_rule(at) : fr_value_absent();
}

static struct fr_value on_real(const struct fr_at *at)
{
	const struct fr_rehearsed *r = at->rec;

	return fr_value_nr(fr_wall_real(r->view->wall, r->m->ts));
}

static struct fr_value on_reason(const struct fr_at *at)
{
	return fr_value_text(fr_trigger_reason(((const struct fr_rehearsed *)at->rec)->m->kind));
}

static struct fr_value on_verdict(const struct fr_at *at)
{
	return fr_value_text(fr_trigger_verdict_name(((const struct fr_rehearsed *)at->rec)->verdict));
}

static struct fr_value on_what(const struct fr_at *at)
{
	const struct fr_moment *m = ((const struct fr_rehearsed *)at->rec)->m;

	return m->kind == FR_TRIGGER_latency ? fr_value_text(fr_latency_name(m->latency))
	       : m->kind == FR_TRIGGER_rate  ? fr_value_text(fr_rate_name(m->rate))
					     : fr_value_absent();
}

static struct fr_value on_id_name(const struct fr_at *at)
{
	const struct fr_rehearsed *r = at->rec;

	return r->m->kind == FR_TRIGGER_latency ? fr_value_text(name_of_what(r)) : fr_value_absent();
}

static struct fr_value on_measured(const struct fr_at *at)
{
	const struct fr_moment *m = ((const struct fr_rehearsed *)at->rec)->m;

	return m->kind == FR_TRIGGER_latency || m->kind == FR_TRIGGER_rate || fr_trigger_has(m->kind, FR_HAS_LOOK)
		       ? fr_column_member(at, m)
		       : fr_value_absent();
}

/* Of moments of event rules, or of all others but spans, whose name has a place of its own. */
static struct fr_value on_said(const struct fr_at *at)
{
	const struct fr_rehearsed *r = at->rec;
	bool of_event = r->m->kind == FR_TRIGGER_event;

	return r->text && r->m->kind != FR_TRIGGER_latency && of_event == !strcmp(at->column->name, "event")
		       ? fr_value_text(r->text)
		       : fr_value_absent();
}

/* clang-format off */
#define MOMENT(member, name, unit, meaning, ...) \
	FR_COLUMN(struct fr_moment, member, name, unit, meaning, .get = on_member, __VA_ARGS__)
#define OPTION(member, name, meaning) FR_COLUMN(struct fr_trigger, member, name, NS, meaning, .get = on_option)
/* clang-format on */

static const struct fr_column moment_columns[] = {
	MOMENT(ts, "ts", CLOCK, "when"),
	FR_COLUMN_MADE(on_real, "real_ns", WALL, "the same moment"),
	FR_COLUMN(struct fr_rehearsed, rule, "rule", NUMBER, "the rule: its place among `--on`, from 0"),
	FR_COLUMN(struct fr_trigger, text, "trigger", TEXT, "the rule, as given", .get = on_rule),
	FR_COLUMN_MADE(on_reason, "reason", TEXT, "kind of the trigger"),
	FR_COLUMN_MADE(on_verdict, "verdict", TEXT, "what the recorder [would have decided](triggers.md#verdicts)"),
	MOMENT(pid, "pid", NUMBER, "the process it is about; 0: none, or not known"),
	MOMENT(tid, "tid", NUMBER, "its task; 0: likewise"),
	MOMENT(comm, "comm", TEXT, "its name; `null`: not known"),
	MOMENT(exe, "exe", TEXT, "its program; `null`: not known"),
	MOMENT(cgroup, "cgroup", TEXT, "path of its cgroup; `null`: not known"),
	MOMENT(sig, "sig", NUMBER, "of `crash`: the signal", .arg = "crash"),
	MOMENT(ip, "ip", NUMBER, "of `crash`: address of the instruction; 0: not known", .arg = "crash"),
	MOMENT(status, "status", NUMBER, "of `exit:STATUS`", .arg = "exit"),
	FR_COLUMN_MADE(on_what, "what", TEXT,
		       "of `latency`: `wakeup`, `syscall`, ...; of `rate`: `fork`, `exit`, `signal`, `error`"),
	MOMENT(what, "id", NUMBER,
	       "of `latency`: the call, interrupt, softirq or device (major << 20 \\| minor), or a span's id",
	       .arg = "latency"),
	FR_COLUMN_MADE(on_id_name, "id_name", TEXT, "of `latency`: name of the call, softirq or span; else `null`"),
	MOMENT(what, "state", NUMBER, "of `hung`: state of the task, as `prev_state`; 0: runnable", .arg = "hung"),
	MOMENT(what, "cnt", COUNT, "of `rate`: so many", .arg = "rate"),
	FR_COLUMN(struct fr_moment, value_ns, "value_ns", NS,
		  "of `latency`, `hung`, `asleep`, `busy`: how long it took; of `rate`: within this time", .get = on_measured),
	FR_COLUMN_MADE(on_said, "event", TEXT, "of `event`: name of the event"),
	FR_COLUMN_MADE(on_said, "text", TEXT, "of `kernel`: line of the report"),
	OPTION(post_ns, "post_ns", "if `taken`: the rule's `post=`; 0: none"),
	OPTION(last_ns, "last_ns", "if `taken`: the rule's `last=`; 0: none"),
	{},
};

static const struct fr_table moment_kind = {"moment", "A moment at which a rule held.", moment_columns};

/* ---- JSON: totals, the window ---- */

struct on_total {
	u32 rule;
	struct fr_rehearse_total sums;
	const struct fr_rehearse_notes *notes;
};

static struct fr_value on_total_trigger(const struct fr_at *at)
{
	return fr_column_member(at, &((const struct on *)at->of)->rule[((const struct on_total *)at->rec)->rule]);
}

static struct fr_value on_can(const struct fr_at *at)
{
	static const char *const names[] = {
		[FR_REHEARSE_CAN] = "yes",   [FR_REHEARSE_PART] = "part",   [FR_REHEARSE_REFUSED] = "refused",
		[FR_REHEARSE_CANNOT] = "no", [FR_REHEARSE_NO_EVENT] = "no",
	};

	return fr_value_text(names[((const struct on_total *)at->rec)->notes->can]);
}

static const char *on_note_of(const struct fr_rehearse_notes *n, u32 i)
{
	return i < n->cnt && i < sizeof(n->text) / sizeof(n->text[0]) ? n->text[i] : NULL;
}

static const void *on_note(const struct fr_at *at, u32 i)
{
	return on_note_of(((const struct on_total *)at->rec)->notes, i);
}

static const void *on_verdicts(const struct fr_at *at, u32 i)
{
	(void)i;
	return ((const struct on_total *)at->rec)->sums.verdict;
}

/* Those that are not 0. */
static bool on_next_verdict(const struct fr_at *at, const char **pos, const char **name, int *len, u64 *nr)
{
	const u64 *first = on_verdicts(at, 0);
	u32 i = (const u64 *)*pos - first;

	while (i < FR_TRIGGER_VERDICT_CNT && !first[i])
		i++;
	if (i == FR_TRIGGER_VERDICT_CNT)
		return false;
	*name = fr_trigger_verdict_name(i);
	*len = strlen(*name);
	*nr = first[i];
	*pos = (const char *)&first[i + 1];
	return true;
}

/* clang-format off */
#define SUM(member, name, meaning) FR_COLUMN(struct on_total, sums.member, name, COUNT, meaning)
#define WINDOW(member, name, meaning) FR_COLUMN(struct on_window, member, name, CLOCK, meaning)
/* clang-format on */

static const struct fr_column rule_columns[] = {
	FR_COLUMN(struct on_total, rule, "rule", NUMBER, "the rule: its place among `--on`, from 0"),
	FR_COLUMN(struct fr_trigger, text, "trigger", TEXT, "the rule, as given", .get = on_total_trigger),
	FR_COLUMN_MADE(on_can, "evaluated", TEXT,
		       "`yes`; `part`: something is missing; `refused`: yes, but a recorder would refuse the rule; `no`"),
	FR_LIST(on_note, "notes", NULL, "what these files cannot show", .from = FR_FROM_TEXT),
	SUM(matched, "matched", "moments at which its condition held"),
	SUM(alerted, "alerted", "of these, told to the recorder"),
	FR_MAP_MADE(on_verdicts, "verdicts", NULL, "moments with this [verdict](triggers.md#verdicts); those with 0 are absent",
		    .next = on_next_verdict),
	{},
};

static const struct fr_table rule_kind = {"rule", "What became of a rule.", rule_columns};

struct on_window {
	u64 begin_ns, end_ns, known_ns;
};

static const struct fr_column window_columns[] = {
	WINDOW(begin_ns, "begin_ns", "first event"),
	WINDOW(end_ns, "end_ns", "last event"),
	WINDOW(known_ns, "known_ns", "from here on it is known when what rules measure began"),
	{},
};

static const struct fr_table window_kind = {"window", "The last line.", window_columns};

static const struct fr_column on_columns[] = {
	FR_COLUMN_MADE(fr_one_name, "type", TEXT, "the kind of the line, whose columns follow"),
	FR_ONE_OF(&moment_kind, "each moment, as it comes"),
	FR_ONE_OF(&rule_kind, "then each rule"),
	FR_ONE_OF(&window_kind, "and at the end"),
	{},
};

const struct fr_table fr_replay_on_kind = {"rehearsal", "What `replay --on` prints, a line each.", on_columns};

static void on_put_json(struct on *on, const struct fr_table *kind, const void *rec)
{
	fr_json_line(&on->out, &fr_replay_on_kind, on, &(struct fr_one){kind, rec});
}

/* ---- lines ---- */

static int replay_show(void *arg, const struct fr_rehearsed *r)
{
	struct on *on = arg;

	if (on->ask->totals)
		return 0;
	fr_pace_wait(&on->pace, &on->out, r->m->ts + r->shift_ns);
	if (on->ask->json)
		on_put_json(on, &moment_kind, r);
	else
		show_text(on, r);
	return fr_out_error(&on->out);
}

static void total_text(struct on *on, const struct on_total *t)
{
	struct fr_out *o = &on->out;
	const char *before = ": ", *note;
	u32 i;

	fr_out_printf(o, "rule %-2u ", t->rule);
	fr_out_paint(o, FR_PAINT_BOLD);
	fr_escape_text(o, on->rule[t->rule].text, strlen(on->rule[t->rule].text));
	fr_out_paint(o, FR_PAINT_NONE);
	if (t->notes->can < FR_REHEARSE_CANNOT) {
		fr_out_printf(o, "  matched %llu, alerted %llu", t->sums.matched, t->sums.alerted);
		for (i = 0; i < FR_TRIGGER_VERDICT_CNT; i++) {
			if (!t->sums.verdict[i])
				continue;
			fr_out_printf(o, "%s%s %llu", before, fr_trigger_verdict_name(i), t->sums.verdict[i]);
			before = ", ";
		}
	}
	fr_out_char(o, '\n');
	for (i = 0; (note = on_note_of(t->notes, i)); i++) {
		fr_out_str(o, "        ");
		fr_escape_text(o, note, strlen(note));
		fr_out_char(o, '\n');
	}
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
	struct on_window w = {.known_ns = fr_rehearse_known_ns(on->h)};
	struct fr_out *o = &on->out;

	fr_replay_window(on->replay, &w.begin_ns, &w.end_ns);
	w.known_ns = w.known_ns > w.begin_ns ? w.known_ns : w.begin_ns;
	if (on->ask->json) {
		on_put_json(on, &window_kind, &w);
	} else if (measures(on)) {
		fr_out_str(o, "what began before ");
		replay_put_time(o, fr_replay_view(on->replay, 0)->wall, w.known_ns);
		fr_out_str(o, " is not known: such latencies and pauses are missing\n");
	}
}

/* Is there a rule that these files cannot answer, or that could not be deployed as it is? */
static bool show_totals(struct on *on)
{
	bool fails = false;
	u32 i;

	for (i = 0; i < on->ask->cnt; i++) {
		struct on_total total = {.rule = i, .notes = fr_rehearse_notes(on->h, i)};

		fr_rehearse_total(on->h, i, &total.sums);
		if (on->ask->json)
			on_put_json(on, &rule_kind, &total);
		else
			total_text(on, &total);
		fails |= total.notes->can >= FR_REHEARSE_REFUSED;
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
