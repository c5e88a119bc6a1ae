/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* verdict_what: what happened, to which task, in which state, since when: a sentence for each kind of trigger. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/schema/sysnames.h"
#include "base/text/dev.h"
#include "base/text/units.h"
#include "base/trigger/trigger.h"
#include "read/verdict/verdict_int.h"

struct what {
	struct fr_case *k;
	const char *who, *when;
	char who_of[FR_VERDICT_TEXT_SZ]; /* with its container */
	char state[FR_VERDICT_TEXT_SZ];	 /* behind it, or empty */
	const char *state_from;
};

static void what_say(struct what *w, const char *from, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void what_say(struct what *w, const char *from, const char *fmt, ...)
{
	struct fr_verdict_line *line = &w->k->v->what;
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	vsnprintf(line->text, sizeof(line->text), fmt, ap);
	va_end(ap);
	len = strlen(line->text);
	snprintf(line->text + len, sizeof(line->text) - len, "%s", w->state);
	snprintf(line->from, sizeof(line->from), "%s%s%s", from, w->state[0] && *from ? ", " : "",
		 w->state[0] ? w->state_from : "");
}

/* ---- in which state ---- */

static const char *what_state_name(const struct fr_waited *w)
{
	const struct fr_sys sys = {0};

	return fr_sysname(&sys, FR_STYLE_STATE, w->state) ?: "?";
}

/* It waited: where, and for what. */
static void tell_wait(struct what *h)
{
	struct fr_case *k = h->k;
	const struct fr_waited *w = k->wait;
	const char *queued;

	if (!w)
		return;
	h->state_from = k->wait_from;
	if (fr_waited_was_runnable(w)) {
		snprintf(h->state, sizeof(h->state), ": runnable (%s) all the time, stopped %s", what_state_name(w),
			 fr_word_call(k, w));
		return;
	}
	if (w->queued_ns < w->off_ns / 20)
		queued = "";
	else if (w == &k->by_rounds)
		queued = fr_word(k, ", and queued for a CPU for %s", fr_word_ns(k, w->queued_ns));
	else
		queued = fr_word(k, ", then queued for CPU %u for %s", w->cpu, fr_word_ns(k, w->queued_ns));
	snprintf(h->state, sizeof(h->state), ": asleep (%s) for %s %s%s%s%s", what_state_name(w), fr_word_ns(k, w->blocked_ns),
		 fr_word_call(k, w), fr_word_object(k, w), fr_word_rounds(k, w), queued);
}

/* What it did when it ended. */
static void what_tell_end(struct what *h)
{
	struct fr_case *k = h->k;
	const struct fr_an_focus *f = k->c->focus;
	const struct fr_an_step *last = NULL;
	u64 i = f && f->step_cnt > FR_AN_STEP_MAX ? f->step_cnt - FR_AN_STEP_MAX : 0;

	for (; f && i < f->step_cnt && f->step[i % FR_AN_STEP_MAX].ts <= k->c->at_ns; i++)
		last = &f->step[i % FR_AN_STEP_MAX];
	if (!last || last->did != FR_AN_RUNS)
		return;
	h->state_from = "sched_switch";
	snprintf(h->state, sizeof(h->state), "; it ran on CPU %u, for %s", last->cpu, fr_word_ns(k, k->c->at_ns - last->ts));
}

/* In which functions of its own, as a stack tells that was taken of its end; "": not known. */
static const char *ended_in(struct what *h, enum fr_an_stack of)
{
	const struct fr_an_focus *f = h->k->c->focus;

	return f && f->stack_of == of ? fr_word_frames(h->k, f->tid, f->stack_ns, f->ustack_id) : "";
}

/* ---- by the kind of trigger ---- */

/* A signal that dumps no core is delivered to all threads as SIGKILL: the code that came with that is not its own. */
static bool has_own_code(s64 sig)
{
	static const u8 dumps_core[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS};
	size_t i;

	for (i = 0; i < sizeof(dumps_core); i++)
		if (dumps_core[i] == sig)
			return true;
	return false;
}

static void tell_crash(struct what *h)
{
	struct fr_case *k = h->k;
	const struct fr_sys sys = {0};
	s64 sig = fr_case_fact(k, "trigger_sig", 0), code = fr_case_fact(k, "trigger_code", 0);
	const char *name = fr_signal_name(sig), *in;
	const char *why = has_own_code(sig) ? fr_sysname(&sys, FR_STYLE_SICODE, code) : NULL;
	char number[32];

	snprintf(number, sizeof(number), "signal %lld", sig);
	what_tell_end(h);
	in = ended_in(h, FR_AN_STACK_CRASH);
	what_say(h, *in ? "trigger, crash" : "trigger", "%s died of %s%s%s%s at %s%s%s", h->who, name ?: number,
		 why ? " (" : "", why ?: "", why ? ")" : "", h->when, *in ? ", in " : "", in);
}

static void tell_exit(struct what *h)
{
	const char *in = ended_in(h, FR_AN_STACK_EXIT);
	bool returned = !strncmp(in, "__libc_start_call_main", 22) || !strncmp(in, "__libc_start_main", 17);

	what_tell_end(h);
	what_say(h, *in ? "trigger, failure" : "trigger", "%s ended its process with exit status %lld at %s%s%s", h->who,
		 fr_case_fact(h->k, "trigger_status", 0), h->when,
		 returned ? ", by a return from main()"
		 : *in	  ? ", in "
			  : "",
		 returned ? "" : in);
}

static void tell_oom(struct what *h)
{
	what_say(h, "trigger", "the out-of-memory killer chose %s at %s", h->who, h->when);
}

static void tell_kernel(struct what *h)
{
	const char *text = fr_snap_fact(h->k->c->snap, "trigger_text");

	what_say(h, "trigger", "the kernel reported at %s: %s", h->when,
		 text ? fr_word_text(h->k, text, strlen(text)) : "its words are not known");
}

/* The rule measured from one switch of the task to another, and some are missing. */
static bool tell_unknown(struct what *h)
{
	struct fr_case *k = h->k;

	if (k->lacks_switch)
		what_say(h, "trigger, sched_switch, sched_waking",
			 "%s was seen to run again only %s after %s; switches of it are missing in between, so how long it "
			 "waited is not known",
			 h->who, fr_word_ns(k, k->c->value_ns), fr_word_when(k, k->v->since_ns));
	return k->lacks_switch;
}

static void tell_hung(struct what *h)
{
	struct fr_case *k = h->k;

	if (tell_unknown(h))
		return;
	tell_wait(h);
	what_say(h, "trigger", "%s did not run for %s, from %s on", h->who, fr_word_ns(k, k->c->value_ns),
		 fr_word_when(k, k->v->since_ns));
}

static void tell_busy(struct what *h)
{
	struct fr_case *k = h->k;

	what_say(h, "trigger", "%s did not sleep for %s, from %s on", h->who, fr_word_ns(k, k->c->value_ns),
		 fr_word_when(k, k->v->since_ns));
}

static void what_tell_span(struct what *h)
{
	struct fr_case *k = h->k;
	const char *name = fr_snap_fact(k->c->snap, "trigger_span"), *id = fr_snap_fact(k->c->snap, "trigger_what");
	char of[40] = "";

	if (id && strcmp(id, "0"))
		snprintf(of, sizeof(of), " of id %s", fr_word_text(k, id, strlen(id)));
	tell_wait(h);
	what_say(h, "trigger", "span %s%s took %s, from %s on; %s ended it", name ? fr_word_text(k, name, strlen(name)) : "?",
		 of, fr_word_ns(k, k->c->value_ns), fr_word_when(k, k->v->since_ns), h->who);
}

static void tell_latency(struct what *h)
{
	struct fr_case *k = h->k;
	const char *kind = fr_snap_fact(k->c->snap, "trigger_latency") ?: "", *name;
	const char *took = fr_word_ns(k, k->c->value_ns), *since = fr_word_when(k, k->v->since_ns);
	const struct fr_sys sys = {.arch = k->c->arch};
	s64 nr = fr_case_fact(k, "trigger_what", 0);
	char disk[FR_DEV_NAME_SZ];

	if (tell_unknown(h))
		return;
	if (!strcmp(kind, "wakeup")) {
		tell_wait(h);
		what_say(h, "trigger", "%s waited %s for a CPU after it had been woken at %s", h->who, took, since);
	} else if (!strcmp(kind, "offcpu")) {
		tell_wait(h);
		what_say(h, "trigger", "%s had no CPU for %s, from %s on", h->who, took, since);
	} else if (!strcmp(kind, "syscall")) {
		name = fr_sysname(&sys, FR_STYLE_SYSCALL, nr);
		tell_wait(h);
		what_say(h, "trigger", "%s was in %s for %s, from %s on", h->who, name ?: "a system call", took, since);
	} else if (!strcmp(kind, "softirq")) {
		name = fr_sysname(&sys, FR_STYLE_SOFTIRQ, nr);
		what_say(h, "trigger", "softirq %s took %s, from %s on%s%s", name ?: "of an unknown kind", took, since,
			 k->c->tid ? ", on top of " : "", k->c->tid ? h->who : "");
	} else if (!strcmp(kind, "span")) {
		what_tell_span(h);
	} else if (!strcmp(kind, "block")) {
		what_say(h, "trigger", "a request to block device %s took %s, from %s on",
			 fr_dev_name(k->c->view->disks, nr, disk), took, since);
	} else {
		what_say(h, "trigger", "interrupt %lld took %s, from %s on", nr, took, since);
	}
}

static void what_tell_rate(struct what *h)
{
	struct fr_case *k = h->k;
	const char *rate = fr_snap_fact(k->c->snap, "trigger_rate");

	what_say(h, "trigger", "%lld %s within %s until %s, and a rule allows %lld; the last was of %s",
		 fr_case_fact(k, "trigger_cnt", 0), fr_rate_doc(rate ? fr_rate_find(rate) : FR_RATE_CNT),
		 fr_word_ns(k, fr_case_fact(k, "trigger_value_ns", 0)), h->when, fr_case_fact(k, "trigger_limit_cnt", 0),
		 h->who);
}

static void tell_event(struct what *h)
{
	const char *rule = fr_snap_fact(h->k->c->snap, "trigger_rule");

	what_tell_end(h);
	what_say(h, "trigger", "an event that a rule names came at %s%s%s: %s", h->when, h->k->c->tid ? ", from " : "",
		 h->k->c->tid ? h->who : "", rule ? fr_word_text(h->k, rule, strlen(rule)) : "the rule is not known");
}

static void tell_pressure(struct what *h)
{
	const char *rule = fr_snap_fact(h->k->c->snap, "trigger_rule");

	what_say(h, "trigger", "tasks were stalled at %s as much as rule %s says; it is about no task", h->when,
		 rule ? fr_word_text(h->k, rule, strlen(rule)) : "psi");
}

static const struct {
	const char *reason;
	void (*tell)(struct what *h);
} kinds[] = {
	{"asleep", tell_hung}, {"busy", tell_busy},	{"crash", tell_crash},	  {"exit", tell_exit},
	{"oom", tell_oom},     {"kernel", tell_kernel}, {"hung", tell_hung},	  {"latency", tell_latency},
	{"event", tell_event}, {"psi", tell_pressure},	{"rate", what_tell_rate},
};

/* The trigger's task, and its container or pod, if its name is known. */
static void what_find_who(struct what *h)
{
	const struct fr_clues *c = h->k->c;
	struct fr_who who = fr_names_who(c->view->names, c->tid, c->at_ns, 0);
	const struct fr_belongs *b =
		c->view->cgroups ? fr_cgroups_belongs(c->view->cgroups, who.pid, c->at_ns, who.cgroup) : NULL;
	char words[FR_WORD_SZ];

	h->who = c->tid ? fr_word_who(h->k, c->tid, c->at_ns) : "an unknown task";
	if (!c->tid || !b || !fr_belongs_words(b, words, sizeof(words)))
		return;
	snprintf(h->who_of, sizeof(h->who_of), "%s (%s)", h->who, fr_word_text(h->k, words, strlen(words)));
	h->who = h->who_of;
}

void fr_case_what(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	const char *reason = c->reason ?: "";
	struct what h = {.k = k, .when = fr_word_when(k, c->at_ns)};
	u32 i;

	what_find_who(&h);
	if (c->value_ns && c->value_ns <= c->at_ns)
		k->v->since_ns = c->at_ns - c->value_ns;
	else if (c->reason && fr_case_fact(k, "trigger_ts", 0) > 0)
		k->v->since_ns = c->at_ns;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].reason, reason))
			continue;
		kinds[i].tell(&h);
		return;
	}
	what_say(&h, "", "no trigger was pulled: the snapshot was taken at %s%s%s%s", h.when, *reason ? " (" : "",
		 *reason ? fr_word_text(k, reason, strlen(reason)) : "", *reason ? ")" : "");
}
