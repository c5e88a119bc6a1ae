/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kinds of triggers, and what follows them. */
#include <errno.h>
#include <stdio.h>

#include "base/filter/filter.h"
#include "base/schema/syscalls.h"
#include "base/text/nearest.h"
#include "base/text/units.h"
#include "base/tp/tpask.h"
#include "base/trigger/trigger_text.h"
#include "fatal.h"

#define EVERY_MIN     100000000ULL
#define PSI_WINDOW_US 1000000ULL
#define PSI_MIN_US    500000ULL /* the kernel's limits for a window */
#define PSI_MAX_US    10000000ULL

static int no_arg(struct fr_tp *p, struct fr_tp_span arg)
{
	return arg.at ? fr_tp_fail(p, arg.at, "%s takes no '%.*s': options follow a comma", fr_tp_kind_shown(p->t.kind),
				   FR_TP_SHOWN(arg))
		      : 0;
}

/* The trigger of deaths by a signal, NULL: there are none. */
static const char *deaths_by(u32 sig)
{
	return fr_sig_in(sig, FR_SIG_HARMLESS) ? NULL : fr_sig_in(sig, FR_SIG_CORE) ? "crash" : "crash:all";
}

static int crash_arg(struct fr_tp *p, struct fr_tp_span arg)
{
	u32 sig;

	if (!arg.at)
		return 0;
	sig = fr_tp_signal(p, arg);
	if (sig && !deaths_by(sig))
		return fr_tp_fail(p, arg.at, "crash:%.*s is unknown: nothing dies of it", FR_TP_SHOWN(arg));
	if (sig)
		return fr_tp_fail(p, arg.at, "crash:%.*s is unknown: a signal is chosen with %s,sig=%.*s", FR_TP_SHOWN(arg),
				  deaths_by(sig), FR_TP_SHOWN(arg));
	if (!span_is(arg, "all"))
		return fr_tp_fail(p, arg.at, "crash:%.*s is unknown: crash:all, or a filter like crash:comm=%.*s",
				  FR_TP_SHOWN(arg), FR_TP_SHOWN(arg));
	p->t.all = true;
	return 0;
}

static int exit_arg(struct fr_tp *p, struct fr_tp_span arg)
{
	u64 v;

	if (!arg.at)
		return 0;
	if (!fr_tp_number(arg, &v) || v > 255)
		return fr_tp_fail(p, arg.at,
				  "exit: '%.*s' is not a status from 0 to 255: exit:2; exit alone is the recorder's end",
				  FR_TP_SHOWN(arg));
	p->t.kind = FR_TRIGGER_status;
	p->t.status = v;
	return 0;
}

/* NAME>T, NAME:T */
static int time_arg(struct fr_tp *p, struct fr_tp_span arg)
{
	const char *name = fr_trigger_kind_name(p->t.kind);

	if (!arg.at)
		return fr_tp_fail(p, FR_TP_PLACE(p), "%s needs a time: %s>20s", name, name);
	return fr_tp_some_time(p, arg, name, &p->t.limit_ns);
}

static int every_arg(struct fr_tp *p, struct fr_tp_span arg)
{
	int err;

	if (!arg.at)
		return fr_tp_fail(p, FR_TP_PLACE(p), "every needs a time: every:10m");
	err = fr_tp_some_time(p, arg, "every", &p->t.every_ns);
	if (!err && p->t.every_ns < EVERY_MIN)
		return fr_tp_fail(p, arg.at, "every: at least 100ms");
	return err;
}

int fr_tp_call(struct fr_tp *p, struct fr_tp_span name, const char *missing, const char *what)
{
	struct fr_nearest near = {.to = p->t.call};
	u64 nr;

	if (!name.sz || !span_copy(name, p->t.call, sizeof(p->t.call)))
		return fr_tp_fail(p, name.at, "%s", missing);
	if (fr_tp_number(name, &nr)) {
		p->t.call_nr = nr;
		return nr <= 0x7fffffff
			       ? 0
			       : fr_tp_fail(p, name.at, "%s: %.*s is no system call's number", what, FR_TP_SHOWN(name));
	}
	p->t.call_nr = fr_syscall_nr(p->arch ? p->arch : "", 0, p->t.call);
	if (p->t.call_nr >= 0)
		return 0;
	for (nr = 0; nr < 1024; nr++)
		if (fr_syscall_name(p->arch ? p->arch : "", 0, nr))
			fr_nearest_consider(&near, fr_syscall_name(p->arch, 0, nr));
	if (near.name)
		return fr_tp_fail(p, name.at, "%s: there is no system call '%s': did you mean %s?", what, p->t.call, near.name);
	return fr_tp_fail(p, name.at, "%s: system calls of %s have no names here: give the number", what,
			  p->arch ?: "this machine");
}

/* Other names of latencies. */
static const char *const latency_others[][2] = {{"hardirq", "irq"}, {"off-cpu", "offcpu"}};

#define LATENCY_OTHER_CNT (sizeof(latency_others) / sizeof(latency_others[0]))

const char *fr_trigger_latency_other(u32 i)
{
	return i < LATENCY_OTHER_CNT ? latency_others[i][0] : NULL;
}

static int latency_what(struct fr_tp *p, struct fr_tp_span what)
{
	char buf[FR_TP_WORD_MAX] = "";
	struct fr_nearest near = {.to = buf};
	u32 i;

	for (i = 0; i < LATENCY_OTHER_CNT; i++)
		if (span_is(what, latency_others[i][0]))
			what = (struct fr_tp_span){latency_others[i][1], strlen(latency_others[i][1])};
	span_copy(what, buf, sizeof(buf));
	for (i = 0; i < FR_LATENCY_CNT; i++) {
		if (!strcmp(buf, fr_latency_name(i))) {
			p->t.latency = i;
			return 0;
		}
		fr_nearest_consider(&near, fr_latency_name(i));
	}
	if (*buf && fr_nearest_likely(&near))
		return fr_tp_fail(p, what.at, "latency: there is no '%s': did you mean %s?", buf, near.name);
	*buf = 0;
	for (i = 0; i < FR_LATENCY_CNT; i++)
		snprintf(buf + strlen(buf), sizeof(buf) - strlen(buf), "%s%s", i ? ", " : "", fr_latency_name(i));
	return fr_tp_fail(p, what.at, "latency: what is one of %s: latency:wakeup>10ms", buf);
}

/* NAME, or "NAME" with quotes: the whole text that the program gives flightrec_begin() and flightrec_end(). */
static int latency_span(struct fr_tp *p, struct fr_tp_span name)
{
	bool quoted = name.sz >= 2 && *name.at == '"' && name.at[name.sz - 1] == '"';
	const char *wild;

	if (quoted)
		name = (struct fr_tp_span){name.at + 1, name.sz - 2};
	if (!name.sz || !span_copy(name, p->t.span, sizeof(p->t.span)))
		return fr_tp_fail(p, name.at, "latency: the name of the span is missing: latency:span:request>50ms");
	wild = quoted ? NULL : strpbrk(p->t.span, "*?[|");
	if (wild)
		return fr_tp_fail(p, name.at + (wild - p->t.span),
				  "latency: a span's name has no wildcards: write it whole, or, if it has this character, in "
				  "quotes: latency:span:\"%s\">50ms",
				  p->t.span);
	return 0;
}

/* WHAT:NAME */
static int latency_name(struct fr_tp *p, const char *colon, struct fr_tp_span name)
{
	if (p->t.latency == FR_LATENCY_span)
		return latency_span(p, name);
	if (p->t.latency == FR_LATENCY_syscall)
		return fr_tp_call(p, name, "latency: a system call's name is missing or too long: latency:syscall:openat>10ms",
				  "latency");
	return fr_tp_fail(p, colon, "latency: %s takes no name: only syscall and span do", fr_latency_name(p->t.latency));
}

static int latency_arg(struct fr_tp *p, struct fr_tp_span arg)
{
	const char *above = arg.at ? span_find_last(arg, '>') : NULL, *colon;
	struct fr_tp_span what;
	int err;

	if (!above)
		return fr_tp_fail(p, arg.at ?: FR_TP_PLACE(p),
				  "latency needs what and how long: latency:WHAT>T, like latency:wakeup>10ms");
	what = span_until(arg, above);
	colon = span_find(what, ':');
	err = latency_what(p, colon ? span_until(what, colon) : what);
	if (!err && colon)
		err = latency_name(p, colon, span_from(what, colon + 1));
	else if (!err && p->t.latency == FR_LATENCY_span)
		err = fr_tp_fail(p, above, "latency: a span has a name: latency:span:request>50ms");
	if (!err && above[1] == '=')
		return fr_tp_fail(p, above, "latency: write > without =");
	return err ?: fr_tp_some_time(p, span_from(arg, above + 1), "latency", &p->t.limit_ns);
}

/* tp:SYSTEM:NAME [if CONDITION], or of a program's probe KIND:NAME: as an expression. Which fields it has, the session's format
 * says. */
static int tracepoint_arg(struct fr_tp *p, struct fr_tp_span arg)
{
	char text[FR_TRIGGER_TEXT_MAX], cond[FR_TRIGGER_TEXT_MAX] = "", why[FR_TPASK_WHY_SZ];
	struct fr_filter_error error;
	struct fr_tpask ask;
	int len;

	span_copy(arg, text, sizeof(text));
	if (fr_tpask_parse_event(text, &ask, why))
		return fr_tp_fail(p, arg.at, "event: %s", why);
	if (strpbrk(ask.pattern, "*?["))
		return fr_tp_fail(p, arg.at, "event: a trigger is about one tracepoint: name it without * ? [");
	if (ask.fields || ask.rate.step_ns)
		return fr_tp_fail(
			p, arg.at,
			"event: a trigger has no {FIELD,...} and no @N/T: cooldown= and max= say how often, behind a comma");
	if (strlen(FR_TP_PREFIX) + strlen(ask.pattern) > FR_NAME_MAX)
		return fr_tp_fail(p, arg.at, "event: this name is longer than any tracepoint's");
	snprintf(p->t.tp, sizeof(p->t.tp), "%s%.*s", ask.kind < FR_UP_KIND_CNT ? "" : FR_TP_PREFIX,
		 (int)(FR_NAME_MAX - strlen(FR_TP_PREFIX)), ask.pattern);
	if (ask.cond) {
		memcpy(cond, ask.cond, ask.cond_sz);
		if (fr_filter_check(cond, &error))
			return fr_tp_fail(p, arg.at + (ask.cond - text) + error.at, "%s", error.text);
	}
	len = snprintf(p->t.expr, sizeof(p->t.expr), ask.cond ? "event == \"%s\" && (%s)" : "event == \"%s\"", p->t.tp, cond);
	return len < (int)sizeof(p->t.expr) ? 0 : fr_tp_fail(p, arg.at, "event: this condition is too long");
}

static int event_arg(struct fr_tp *p, struct fr_tp_span arg)
{
	struct fr_filter_error error;
	struct fr_filter *filter;
	int err;

	if (!arg.at || !arg.sz)
		return fr_tp_fail(p, arg.at ?: FR_TP_PLACE(p), "event needs an expression: event:'event == oom'");
	span_copy(arg, p->t.expr, sizeof(p->t.expr));
	if (fr_tp_is_name(p->t.expr))
		return tracepoint_arg(p, arg);
	err = fr_filter_new(p->t.expr, fr_schema_builtin(), p->arch, &filter, &error);
	if (err == -EINVAL)
		return fr_tp_fail(p, arg.at + error.at, "%s", error.text);
	if (err)
		return fr_tp_fail(p, arg.at, "event: no memory");
	fr_filter_free(filter);
	return 0;
}

/* 20%, or 150ms/1s */
static int psi_share(struct fr_tp *p, struct fr_tp_span s)
{
	const char *slash = span_find(s, '/');
	char buf[FR_TP_WORD_MAX];
	u64 stall = 0, window = 0;
	u32 share;
	int err;

	if (!slash) {
		if (!span_copy(s, buf, sizeof(buf)) || fr_parse_percent(buf, &share))
			return fr_tp_fail(p, s.at,
					  "psi: '%.*s' is neither a share nor a time in a time: psi:memory:20%% or "
					  "psi:memory:150ms/1s",
					  FR_TP_SHOWN(s));
		p->t.psi_window_us = PSI_WINDOW_US;
		p->t.psi_stall_us = PSI_WINDOW_US * share / 100000;
		return p->t.psi_stall_us ? 0 : fr_tp_fail(p, s.at, "psi: a share of 0 would always hold: at least 0.1%%");
	}
	err = fr_tp_some_time(p, span_until(s, slash), "psi", &stall)
		      ?: fr_tp_some_time(p, span_from(s, slash + 1), "psi", &window);
	if (err)
		return err;
	p->t.psi_stall_us = stall / 1000;
	p->t.psi_window_us = window / 1000;
	if (p->t.psi_window_us < PSI_MIN_US || p->t.psi_window_us > PSI_MAX_US)
		return fr_tp_fail(p, slash + 1, "psi: the kernel takes windows of 500ms to 10s");
	if (!p->t.psi_stall_us || p->t.psi_stall_us > p->t.psi_window_us)
		return fr_tp_fail(p, s.at, "psi: the stall must be from 1us to the window");
	return 0;
}

static const char *const psi_names[] = {"cpu", "memory", "io"};

#define PSI_CNT (sizeof(psi_names) / sizeof(psi_names[0]))

const char *fr_trigger_psi_name(u32 i)
{
	return i < PSI_CNT ? psi_names[i] : NULL;
}

static int psi_resource(struct fr_tp *p, struct fr_tp_span s)
{
	char buf[FR_TP_WORD_MAX] = "";
	struct fr_nearest near = {.to = buf};
	u32 i;

	span_copy(s, buf, sizeof(buf));
	for (i = 0; i < PSI_CNT; i++) {
		if (!strcmp(buf, psi_names[i])) {
			strcpy(p->t.psi, psi_names[i]);
			return 0;
		}
		fr_nearest_consider(&near, psi_names[i]);
	}
	if (*buf && fr_nearest_likely(&near))
		return fr_tp_fail(p, s.at, "psi: there is no '%s': did you mean %s?", buf, near.name);
	return fr_tp_fail(p, s.at, "psi: the resource is cpu, memory or io: psi:memory:20%%");
}

/* RESOURCE, RESOURCE.full, RESOURCE:full, and the like with some */
static int psi_who(struct fr_tp *p, struct fr_tp_span s)
{
	const char *mid = span_find(s, '.') ?: span_find(s, ':');
	struct fr_tp_span who = mid ? span_from(s, mid + 1) : (struct fr_tp_span){"some", 4};
	int err = psi_resource(p, mid ? span_until(s, mid) : s);

	if (err)
		return err;
	p->t.psi_full = span_is(who, "full");
	if (!p->t.psi_full && !span_is(who, "some"))
		return fr_tp_fail(p, who.at, "psi: '%.*s' is neither some nor full", FR_TP_SHOWN(who));
	if (p->t.psi_full && !strcmp(p->t.psi, "cpu"))
		return fr_tp_fail(p, s.at, "psi: cpu.full never holds for a whole machine: psi:cpu");
	return 0;
}

static int psi_arg(struct fr_tp *p, struct fr_tp_span arg)
{
	const char *mid = arg.at ? span_find_last(arg, ':') ?: span_find_last(arg, '>') : NULL;

	if (!mid)
		return fr_tp_fail(p, arg.at ?: FR_TP_PLACE(p),
				  "psi needs a resource and a share: psi:memory:20%% or psi:io.full:150ms/1s");
	return psi_who(p, span_until(arg, mid)) ?: psi_share(p, span_from(arg, mid + 1));
}

static int rate_arg(struct fr_tp *p, struct fr_tp_span arg)
{
	return fr_tp_rate(p, arg);
}

#define none_arg NULL
static const struct fr_tp_kind kinds[] = {
#define T(nr, name, arg, has, gap_ns, doc) {FR_TRIGGER_##name, arg##_arg},
	FR_TRIGGERS(T)
#undef T
};

#define KIND_CNT (sizeof(kinds) / sizeof(kinds[0]))

/* What may follow the name, by how that is parsed, separated by spaces; of one that is not here, a colon. */
static const struct {
	int (*arg)(struct fr_tp *p, struct fr_tp_span arg);
	const char *words;
} follows[] = {
	{no_arg, ""},
	{crash_arg, " :all :comm= :sig=SEGV|BUS"},
	{exit_arg, " :2"},
	{time_arg, ">30s >30s:comm="},
	{every_arg, ":10m"},
	{psi_arg, ":memory:20% :io:20% :cpu:40%"},
	{rate_arg, ":fork>500/s :exit>500/s :signal>1000/s :error:openat>1000/s"},
#define L(nr, name, follows, doc) ":" #name follows " "
	{latency_arg, FR_LATENCIES(L)},
#undef L
};

static const char *kind_words(const struct fr_tp_kind *kind)
{
	size_t i;

	for (i = 0; i < sizeof(follows) / sizeof(follows[0]); i++)
		if (follows[i].arg == kind->arg)
			return follows[i].words;
	return ":";
}

const char *fr_trigger_example(u32 nr, char *buf, size_t sz)
{
	const char *words, *end;
	size_t i;

	for (i = 0; i < KIND_CNT; i++) {
		if (!kinds[i].arg || kinds[i].kind == FR_TRIGGER_holdoff) /* which `watch` alone has */
			continue;
		for (words = kind_words(&kinds[i]);; words = end + 1) {
			end = words + strcspn(words, " ");
			if (!nr--) {
				snprintf(buf, sz, "%s%.*s", fr_trigger_kind_name(kinds[i].kind), (int)(end - words), words);
				return buf;
			}
			if (!*end || !end[1])
				break;
		}
	}
	return NULL;
}

bool fr_tp_takes_above(const struct fr_tp_kind *kind)
{
	return kind->arg == time_arg;
}

const char *fr_tp_kinds_shown(char *buf, size_t sz)
{
	size_t len = 0, i;

	*buf = 0;
	for (i = 0; i < KIND_CNT; i++)
		if (kinds[i].arg && len < sz)
			len += snprintf(buf + len, sz - len, "%s%s", len ? ", " : "", fr_trigger_kind_name(kinds[i].kind));
	return buf;
}

/* What others call such a moment. A name that looks like it is that of another one: segfault and signal, oops and oom. */
static const char *other_word(struct fr_tp_span word)
{
	static const char *const other[][2] = {
		{"segfault", "crash"},
		{"coredump", "crash"},
		{"core", "crash"},
		{"oops", "kernel"},
		{"bug", "kernel"},
		{"lockup", "kernel"},
		{"warn", "kernel"},
		{"warning", "kernel"},
		{"panic", "kernel (of a Go program: exit:2)"},
		{"status", "exit:STATUS, like exit:2"},
	};
	u32 i;

	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (span_is(word, other[i][0]))
			return other[i][1];
	return NULL;
}

int fr_tp_find_kind(struct fr_tp *p, struct fr_tp_span name, const struct fr_tp_kind **kind)
{
	const char *other = other_word(name);
	u32 sig = fr_tp_signal(p, name);
	char buf[FR_TP_WORD_MAX] = "", all[FR_TP_KINDS_SZ];
	struct fr_nearest near = {.to = buf};
	size_t i;

	span_copy(name, buf, sizeof(buf));
	for (i = 0; i < KIND_CNT; i++) {
		if (!kinds[i].arg)
			continue;
		if (span_is(name, fr_trigger_kind_name(kinds[i].kind))) {
			*kind = &kinds[i];
			return 0;
		}
		fr_nearest_consider(&near, fr_trigger_kind_name(kinds[i].kind));
	}
	if (sig && deaths_by(sig))
		return fr_tp_fail(p, name.at, "there is no trigger '%s': a death by it is %s,sig=%s", buf, deaths_by(sig), buf);
	if (!other && *buf)
		other = fr_nearest_likely(&near);
	if (other)
		return fr_tp_fail(p, name.at, "there is no trigger '%s': did you mean %s?", buf, other);
	return fr_tp_fail(p, name.at, "there is no trigger '%.*s': %s", FR_TP_SHOWN(name), fr_tp_kinds_shown(all, sizeof(all)));
}
