/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rehearse_can: what the files can say about a rule, and why not the rest. A rule must not stay silent without an explanation.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/schema/reasons.h"
#include "base/trigger/watch_set.h"
#include "read/rehearse/rehearse_int.h"
#include "read/replay/thins.h"

#define ANY (-1)

/* What a kind of rule needs, and what it is without it; NULL: nothing. */
static const struct {
	enum fr_trigger_kind kind;
	int part; /* fr_trigger_part() */
	enum fr_re_what what;
	const char *without;
} needs[] = {
	{FR_TRIGGER_crash, ANY, FR_RE_DELIVER, "deaths are seen when the process has ended, without the instruction"},
	{FR_TRIGGER_crash, ANY, FR_RE_EXIT, "deaths that no delivery shows, and survivals, are not seen"},
	{FR_TRIGGER_status, ANY, FR_RE_EXIT, NULL},
	{FR_TRIGGER_oom, ANY, FR_RE_VICTIM, NULL},
	{FR_TRIGGER_hung, ANY, FR_RE_SWITCH, NULL},
	{FR_TRIGGER_hung, ANY, FR_RE_WAKING, NULL},
	{FR_TRIGGER_hung, ANY, FR_RE_WAKEUP_NEW, "new tasks are not seen before they first run"},
	{FR_TRIGGER_asleep, ANY, FR_RE_SWITCH, NULL},
	{FR_TRIGGER_busy, ANY, FR_RE_SWITCH, NULL},
	{FR_TRIGGER_busy, ANY, FR_RE_WAKING, "a task counts as awake from its run on, not from its waking"},
	{FR_TRIGGER_latency, FR_LATENCY_wakeup, FR_RE_SWITCH, NULL},
	{FR_TRIGGER_latency, FR_LATENCY_wakeup, FR_RE_WAKING, NULL},
	{FR_TRIGGER_latency, FR_LATENCY_wakeup, FR_RE_WAKEUP_NEW, "first wakings of new tasks are not seen"},
	{FR_TRIGGER_latency, FR_LATENCY_offcpu, FR_RE_SWITCH, NULL},
	{FR_TRIGGER_latency, FR_LATENCY_syscall, FR_RE_SYS_ENTER, NULL},
	{FR_TRIGGER_latency, FR_LATENCY_syscall, FR_RE_SYS_EXIT, NULL},
	{FR_TRIGGER_latency, FR_LATENCY_block, FR_RE_RQ_ISSUE, NULL},
	{FR_TRIGGER_latency, FR_LATENCY_block, FR_RE_RQ_COMPLETE, NULL},
	{FR_TRIGGER_latency, FR_LATENCY_softirq, FR_RE_SOFTIRQ_ENTRY, NULL},
	{FR_TRIGGER_latency, FR_LATENCY_softirq, FR_RE_SOFTIRQ_EXIT, NULL},
	{FR_TRIGGER_latency, FR_LATENCY_irq, FR_RE_IRQ_ENTRY, NULL},
	{FR_TRIGGER_latency, FR_LATENCY_irq, FR_RE_IRQ_EXIT, NULL},
	{FR_TRIGGER_rate, FR_RATE_fork, FR_RE_FORK, NULL},
	{FR_TRIGGER_rate, FR_RATE_exit, FR_RE_EXIT, NULL},
	{FR_TRIGGER_rate, FR_RATE_signal, FR_RE_SIGNAL, NULL},
	{FR_TRIGGER_rate, FR_RATE_error, FR_RE_SYS_EXIT, NULL},
};

/* The worst comes first. */
__attribute__((format(printf, 4, 5))) static void note(struct fr_rehearse *h, u32 rule, enum fr_rehearse_can can,
						       const char *fmt, ...)
{
	struct fr_rehearse_notes *n = &h->notes[rule];
	u32 max = sizeof(n->text) / sizeof(n->text[0]), at = n->cnt < max ? n->cnt++ : max - 1;
	va_list ap;

	if (can > n->can) {
		memmove(n->text[1], n->text[0], at * sizeof(n->text[0]));
		n->can = can;
		at = 0;
	}
	va_start(ap, fmt);
	vsnprintf(n->text[at], sizeof(n->text[at]), fmt, ap);
	va_end(ap);
}

/* ---- what was recorded ---- */

/* In how many of the files is it missing? */
static u32 lacking(const struct fr_rehearse *h, const char *name)
{
	u32 i, cnt = 0;

	for (i = 0; i < fr_replay_file_cnt(h->replay); i++)
		cnt += !fr_snap_records(fr_replay_snap(h->replay, i), name);
	return cnt;
}

static void can_need(struct fr_rehearse *h, u32 rule, const char *name, const char *without)
{
	u32 files = fr_replay_file_cnt(h->replay), cnt = lacking(h, name);

	if (cnt && cnt < files)
		note(h, rule, FR_REHEARSE_PART, "%s was not recorded in %u of %u files", name, cnt, files);
	else if (cnt && without)
		note(h, rule, FR_REHEARSE_PART, "%s was not recorded: %s", name, without);
	else if (cnt)
		note(h, rule, FR_REHEARSE_CANNOT, "cannot fire: %s was not recorded", name);
}

/* The event is another one of the same name: nothing can be told from it. */
static void need_fields(struct fr_rehearse *h, u32 rule, enum fr_re_what what, const char *without)
{
	u32 files = fr_replay_file_cnt(h->replay), cnt = 0, i;

	for (i = 0; i < files; i++)
		cnt += fr_re_lacks_fields(&h->schema[i], what);
	if (cnt && (cnt < files || without))
		note(h, rule, FR_REHEARSE_PART, "%s lacks fields in %u of %u files", fr_re_event_name(what), cnt, files);
	else if (cnt)
		note(h, rule, FR_REHEARSE_CANNOT, "cannot fire: %s lacks fields", fr_re_event_name(what));
}

/* Did the recording leave events that the rule would have seen? name: of a tracepoint or a program's probe. */
static void check_left(struct fr_rehearse *h, u32 rule, u32 file, const char *name)
{
	char of[FR_NAME_MAX + 2];
	const char *left;
	u32 why;

	snprintf(of, sizeof(of), "%s=", name);
	for (why = 0; why < FR_TP_WHY_CNT; why++) {
		left = fr_snap_fact(fr_replay_snap(h->replay, file), fr_tp_why_name(why));
		if (left && strstr(left, of))
			note(h, rule, FR_REHEARSE_PART, "not each %s was recorded (%s), and live rules see all", name,
			     fr_tp_why_name(why));
	}
}

/* Does a file have marks that begin or end something? */
static bool has_marks(struct fr_rehearse *h, u32 rule, u32 file, enum fr_re_what what)
{
	bool has = false;
	u32 nr;

	for (nr = FR_TP_FIRST; nr <= FR_TP_LAST; nr++)
		if (h->schema[file].what[nr] == what) {
			check_left(h, rule, file, fr_schema_event(h->schema[file].schema, nr)->name);
			has = true;
		}
	return has;
}

static void check_spans(struct fr_rehearse *h, u32 rule)
{
	u32 files = fr_replay_file_cnt(h->replay), lacks = 0, i;

	for (i = 0; i < files; i++)
		lacks += !has_marks(h, rule, i, FR_RE_SPAN_BEGIN) || !has_marks(h, rule, i, FR_RE_SPAN_END);
	if (lacks == files)
		note(h, rule, FR_REHEARSE_CANNOT,
		     "cannot fire: marks that begin and end spans were not recorded (-e mark:PATH)");
	else if (lacks)
		note(h, rule, FR_REHEARSE_PART, "marks that begin and end spans were not recorded in %u of %u files", lacks,
		     files);
}

static void check_needs(struct fr_rehearse *h, u32 rule)
{
	const struct fr_trigger *t = &h->rule[rule];
	size_t i;

	if (*t->span)
		check_spans(h, rule);
	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (needs[i].kind == t->kind && (needs[i].part == ANY || needs[i].part == (int)fr_trigger_part(t))) {
			can_need(h, rule, fr_re_event_name(needs[i].what), needs[i].without);
			need_fields(h, rule, needs[i].what, needs[i].without);
		}
	if (t->kind == FR_TRIGGER_crash && lacking(h, "signal_deliver") && lacking(h, "sched_process_exit"))
		note(h, rule, FR_REHEARSE_CANNOT, "cannot fire: neither signal_deliver nor sched_process_exit was recorded");
}

/* The options of record that chose tasks, as the session was begun; NULL: none. */
static const char *choice(const struct fr_rehearse *h)
{
	const char *settings = NULL;
	u32 file;

	for (file = 0; !settings && file < fr_replay_file_cnt(h->replay); file++)
		settings = fr_snap_choice(fr_replay_snap(h->replay, file));
	return settings;
}

static void check_choice(struct fr_rehearse *h, u32 rule)
{
	const struct fr_trigger *t = &h->rule[rule];
	const char *settings = choice(h);

	if (!settings)
		return;
	if (t->kind == FR_TRIGGER_event ||
	    (t->kind == FR_TRIGGER_latency && (t->latency == FR_LATENCY_syscall || t->latency == FR_LATENCY_span)) ||
	    (t->kind == FR_TRIGGER_rate && t->rate >= FR_RATE_signal) || strstr(settings, "-f "))
		note(h, rule, FR_REHEARSE_PART, "only what was chosen was recorded, and live rules see all: record %s",
		     settings);
}

static u64 lost(const struct fr_rehearse *h)
{
	u64 sum = 0;
	size_t cnt, i;
	u32 file, why;

	for (file = 0; file < fr_replay_file_cnt(h->replay); file++) {
		const struct fr_snap_ring *r = fr_snap_rings(fr_replay_snap(h->replay, file), &cnt);

		for (i = 0; i < cnt; i++)
			for (why = 0; why < FR_LOST_CNT; why++)
				sum += r[i].lost[why];
	}
	return sum;
}

/* ---- event rules ---- */

/* The live recorder skips an event that a rule cannot watch, unless the expression names it. */
static void pass_unwatched(struct fr_rehearse *h, u32 rule, const struct fr_schema *s)
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(s, nr);
		const struct fr_event *known = ev ? fr_schema_find(fr_schema_builtin(), ev->name) : NULL;

		if (known && fr_watch_refuses(known))
			h->unwatched[rule][nr] = true;
	}
}

/* The events that a rule is about, and whether they were recorded. */
static void check_events(struct fr_rehearse *h, u32 rule, u32 file)
{
	const struct fr_filter *f = h->filter[file * FR_TRIGGER_MAX + rule];
	char names[160] = "";
	u32 nr, about = 0, missing = 0;

	for (nr = 0; f && nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(fr_replay_schema(h->replay, file), nr);
		size_t len = strlen(names);

		if (!ev || fr_filter_verdict(f, nr) == FR_VERDICT_NO || h->unwatched[rule][nr])
			continue;
		about++;
		if (fr_snap_records(fr_replay_snap(h->replay, file), ev->name))
			continue;
		missing++;
		snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "", ev->name);
	}
	if (missing && missing == about)
		note(h, rule, FR_REHEARSE_CANNOT, "cannot fire: %s %s not recorded", names, missing > 1 ? "were" : "was");
	else if (missing)
		note(h, rule, FR_REHEARSE_PART, "%s %s not recorded", names, missing > 1 ? "were" : "was");
}

static void check_event_rule(struct fr_rehearse *h, u32 rule)
{
	const struct fr_trigger *t = &h->rule[rule];
	const struct fr_view *v = fr_replay_view(h->replay, 0);
	const char *at = strstr(t->text, t->expr);
	struct fr_filter_error why;
	struct fr_filter *f;
	u32 file;

	if (!*t->tp && fr_watch_check(t->expr, v->arch, &why))
		note(h, rule, FR_REHEARSE_REFUSED, "live would refuse: column %zu: %s", (at ? at - t->text : 0) + why.at + 1,
		     why.text);
	else
		pass_unwatched(h, rule, v->schema);
	for (file = 0; file < fr_replay_file_cnt(h->replay); file++) {
		v = fr_replay_view(h->replay, file);
		if (h->filter[file * FR_TRIGGER_MAX + rule]) {
			check_events(h, rule, file);
			if (*t->tp)
				check_left(h, rule, file, t->tp);
		} else if (!fr_re_filter(t, v, &f, &why)) {
			fr_filter_free(f);
		} else {
			note(h, rule, FR_REHEARSE_CANNOT, "cannot fire: not in this file's events: %s", why.text);
		}
	}
}

/* ---- other kinds ---- */

static bool kernel_was_watched(const struct fr_rehearse *h)
{
	char name[16];
	const char *text;
	u32 file, i;

	for (i = 0; i < h->boot_cnt; i++)
		if (h->boot[i].report_cnt)
			return true;
	for (file = 0; file < fr_replay_file_cnt(h->replay); file++)
		for (i = 0; i < FR_TRIGGER_MAX; i++) {
			snprintf(name, sizeof(name), "rule_%u", i);
			text = fr_snap_fact(fr_replay_snap(h->replay, file), name);
			if (text && !strncmp(text, "kernel", 6))
				return true;
		}
	return false;
}

static void check_kind(struct fr_rehearse *h, u32 rule)
{
	const char *const never = "cannot be evaluated from a file";

	switch (h->rule[rule].kind) {
	case FR_TRIGGER_psi:
		note(h, rule, FR_REHEARSE_NO_EVENT, "%s: pressure is measured by the kernel, and not recorded", never);
		break;
	case FR_TRIGGER_asleep:
		if (*h->rule[rule].call)
			can_need(h, rule, "sys_enter", NULL);
		break;
	case FR_TRIGGER_signal:
		note(h, rule, FR_REHEARSE_NO_EVENT, "%s: it is a person's SIGUSR1 to the recorder", never);
		break;
	case FR_TRIGGER_command:
		note(h, rule, FR_REHEARSE_NO_EVENT, "%s: it is a person's command", never);
		break;
	case FR_TRIGGER_holdoff:
		note(h, rule, FR_REHEARSE_NO_EVENT, "%s: it is what `flightrec watch` finds while it sleeps", never);
		break;
	case FR_TRIGGER_exit:
		note(h, rule, FR_REHEARSE_NO_EVENT, "%s: it is the recorder's own end (a process's is exit:STATUS)", never);
		break;
	case FR_TRIGGER_kernel:
		if (!kernel_was_watched(h))
			note(h, rule, FR_REHEARSE_CANNOT,
			     "cannot fire: kernel reports are recorded only where a rule `kernel` is in force, and none was");
		break;
	case FR_TRIGGER_event:
		check_event_rule(h, rule);
		break;
	default:
		break;
	}
}

/* Rules see what is left out of cgroups that wrote more than their share; the files do not have it. */
static int check_thinned(struct fr_rehearse *h, u32 rule)
{
	const struct fr_trigger *t = &h->rule[rule];
	bool of_calls = t->kind == FR_TRIGGER_latency && fr_trigger_part(t) == FR_LATENCY_syscall;
	u32 files = fr_replay_file_cnt(h->replay), cnt = 0, i;
	struct fr_thins thins;
	u64 begin_ns, end_ns;
	int err = 0;

	of_calls |= t->kind == FR_TRIGGER_rate && (fr_trigger_part(t) == FR_RATE_error || fr_trigger_part(t) == FR_RATE_signal);
	if (!of_calls && t->kind != FR_TRIGGER_event)
		return 0;
	for (i = 0; i < files && !err; i++) {
		fr_replay_file_window(h->replay, i, &begin_ns, &end_ns);
		err = fr_thins_read(fr_replay_file(h->replay, i), begin_ns, end_ns, &thins);
		cnt += fr_thins_any(&thins);
		fr_thins_free(&thins);
	}
	if (cnt)
		note(h, rule, FR_REHEARSE_PART,
		     "calls, faults, signals or tracepoints of cgroups beyond their share were left out, and live rules see "
		     "all");
	return err;
}

static void check_filters(struct fr_rehearse *h, u32 rule)
{
	const struct fr_trigger *t = &h->rule[rule];

	if (t->uid != ~0u && t->kind == FR_TRIGGER_crash)
		note(h, rule, FR_REHEARSE_PART, "uid: known only of deaths that a rule in force had seen (event crash)");
	else if (t->uid != ~0u && t->kind != FR_TRIGGER_oom)
		note(h, rule, FR_REHEARSE_CANNOT, "cannot fire: uid: no event of this kind tells the user");
	if (*t->cgroup)
		note(h, rule, FR_REHEARSE_PART,
		     "cgroup: known only if a task lived in it when the snapshot was taken; others do not match the filter");
	if (*t->exe)
		note(h, rule, FR_REHEARSE_CAN, "exe: of processes that have ended, it is the path given to exec");
}

int fr_re_can(struct fr_rehearse *h)
{
	u64 lost_cnt = lost(h);
	int err = 0;
	u32 i;

	for (i = 0; i < h->rule_cnt && !err; i++) {
		check_kind(h, i);
		if (h->notes[i].can == FR_REHEARSE_NO_EVENT || h->rule[i].kind == FR_TRIGGER_every)
			continue;
		check_needs(h, i);
		check_filters(h, i);
		check_choice(h, i);
		err = check_thinned(h, i);
		if (lost_cnt)
			note(h, i, FR_REHEARSE_PART, "%llu events were lost while recording", lost_cnt);
	}
	return err;
}
