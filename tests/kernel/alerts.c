/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * alerts: what triggers tell, without the recorder that acts on it. Loads rules into a session that nobody owns, says so by
 * a line "ready", prints each alert as a line of JSON until standard input ends (a line there loads them anew), then a line of
 * counters; and unloads them, unless --keep.
 *
 * The session may have had other rules, and these: bit i of an alert's rule_set is RULE number i, and counters are of this run.
 * What the queue holds of other rules is left out. --all: counters since the session began.
 *
 *	alerts [--keep|--all] SESSION [RULE]...
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/jsonw.h"
#include "live/session/load.h"
#include "live/trig/trig.h"

struct test {
	struct fr_out out;
	struct fr_sess *s;
	struct fr_alerts *alerts;
	struct fr_trigger rules[FR_TRIGGER_MAX];
	u32 slot_of[FR_TRIGGER_MAX];
	u32 cnt;
	u64 woken_ns;
	struct fr_triggers before; /* as it was found */
};

static u64 mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int parse(struct test *t, char **text, int cnt)
{
	struct fr_trigger_error why;
	struct utsname un;
	int i;

	uname(&un);
	for (i = 0; i < cnt && i < (int)FR_TRIGGER_MAX; i++)
		if (fr_trigger_parse(text[i], un.machine, &t->rules[i], &why)) {
			fr_err("%s: at %zu: %s", text[i], why.at, why.text);
			return -EINVAL;
		}
	t->cnt = i;
	return 0;
}

/* The rules in these slots, by their numbers. */
static u32 rules_in(const struct test *t, u32 slots)
{
	u32 i, set = 0;

	for (i = 0; i < t->cnt; i++)
		set |= (slots >> t->slot_of[i] & 1) << i;
	return set;
}

static int load(struct test *t)
{
	int err;

	fr_load_words(getenv("FR_VERBOSE"));
	err = fr_trig_load(t->s, t->rules, t->cnt, t->slot_of);
	fr_out_str(&t->out, err ? "refused\n" : "ready\n");
	fr_out_flush(&t->out);
	return err;
}

static void put_frames(struct fr_jsonw *w, const char *key, const u64 *frame, u32 cnt)
{
	u32 i;

	fr_jsonw_open(w, key, '[');
	for (i = 0; i < cnt; i++)
		fr_jsonw_u64(w, NULL, frame[i]);
	fr_jsonw_close(w, ']');
}

static void show(void *arg, const struct fr_alert *a)
{
	struct test *t = arg;
	struct fr_jsonw w = {.o = &t->out};

	if (!rules_in(t, a->rule_set))
		return;
	fr_jsonw_open(&w, NULL, '{');
	fr_jsonw_text(&w, "kind", fr_trigger_kind_name(a->kind));
	fr_jsonw_u64(&w, "rule_set", rules_in(t, a->rule_set));
	fr_jsonw_u64(&w, "ts", a->ts);
	fr_jsonw_u64(&w, "mono_ns", a->mono_ns);
	fr_jsonw_u64(&w, "latency_ns", t->woken_ns - a->mono_ns);
	fr_jsonw_u64(&w, "tid", a->tid);
	fr_jsonw_u64(&w, "pid", a->pid);
	fr_jsonw_u64(&w, "uid", a->uid);
	fr_jsonw_s64(&w, "sig", a->sig);
	fr_jsonw_s64(&w, "code", a->code);
	fr_jsonw_s64(&w, "exit_code", a->exit_code);
	fr_jsonw_u64(&w, "addr", a->addr);
	fr_jsonw_u64(&w, "ip", a->ip);
	fr_jsonw_u64(&w, "sp", a->sp);
	fr_jsonw_u64(&w, "value_ns", a->value_ns);
	fr_jsonw_u64(&w, "what", a->what);
	fr_jsonw_u64(&w, "cgroup", a->cgroup);
	fr_jsonw_u64(&w, "start_ns", a->start_ns);
	fr_jsonw_u64(&w, "exe_ino", a->exe_ino);
	fr_jsonw_text(&w, "comm", a->comm);
	fr_jsonw_text(&w, "exe", a->exe);
	fr_jsonw_text(&w, "text", a->text);
	put_frames(&w, "kframes", a->kframe, a->kframe_cnt);
	put_frames(&w, "uframes", a->uframe, a->uframe_cnt);
	fr_jsonw_close(&w, '}');
	fr_out_char(&t->out, '\n');
}

/* What a slot counted before, if it was this rule's then. */
static struct fr_trigger_slot counted_before(const struct test *t, const struct fr_trigger_slot *slot, u32 nr)
{
	const struct fr_trigger_slot *was = &t->before.slot[nr], none = {};

	return strncmp(was->text, slot->text, sizeof(was->text)) ? none : *was;
}

static void show_counters(struct test *t)
{
	const struct fr_triggers *sh = fr_trig_shared(t->s);
	struct fr_jsonw w = {.o = &t->out};
	u32 i;

	fr_jsonw_open(&w, NULL, '{');
	fr_jsonw_u64(&w, "marks", sh->marks - t->before.marks);
	fr_jsonw_u64(&w, "mark_lost", sh->mark_lost - t->before.mark_lost);
	fr_jsonw_u64(&w, "unwatched", sh->unwatched - t->before.unwatched);
	fr_jsonw_u64(&w, "untracked", sh->untracked - t->before.untracked);
	fr_jsonw_u64(&w, "span_left", sh->span_left - t->before.span_left);
	fr_jsonw_open(&w, "rules", '[');
	for (i = 0; i < t->cnt; i++) {
		const struct fr_trigger_slot *slot = &sh->slot[t->slot_of[i]];
		const struct fr_trigger_slot was = counted_before(t, slot, t->slot_of[i]);

		fr_jsonw_open(&w, NULL, '{');
		fr_jsonw_text(&w, "text", slot->text);
		fr_jsonw_u64(&w, "matched", slot->matched - was.matched);
		fr_jsonw_u64(&w, "alerted", slot->alerted - was.alerted);
		fr_jsonw_u64(&w, "full", slot->full - was.full);
		fr_jsonw_close(&w, '}');
	}
	fr_jsonw_close(&w, ']');
	fr_jsonw_close(&w, '}');
	fr_out_char(&t->out, '\n');
}

/* The kinds of rules for which the recorder would look. */
static u32 look_kinds(const struct test *t)
{
	u32 kinds = 0, i;

	for (i = 0; i < t->cnt; i++)
		kinds |= (u32)fr_trigger_has(t->rules[i].kind, FR_HAS_LOOK) << t->rules[i].kind;
	return kinds;
}

/* Until standard input ends, and then what is left in the queue. */
static int follow(struct test *t)
{
	struct pollfd p[2] = {{.fd = fr_alerts_fd(t->alerts), .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
	bool end = false;
	char line[64];
	int err = 0;

	while (!end && err >= 0) {
		poll(p, 2, -1);
		t->woken_ns = mono_ns();
		end = p[1].revents && read(STDIN_FILENO, line, sizeof(line)) <= 0;
		err = fr_alerts_take(t->alerts, show, t);
		if (!end && p[1].revents)
			err = line[0] == 'l' ? fr_trig_look(t->s, look_kinds(t)) : load(t);
		fr_out_flush(&t->out);
	}
	return err < 0 ? err : 0;
}

static int run(struct test *t, bool keep, bool all)
{
	int err = fr_sess_own(t->s);

	if (!err && !all)
		t->before = *fr_trig_shared(t->s);
	err = err ?: fr_alerts_open(t->s, &t->alerts);
	err = err ?: load(t);
	err = err ?: follow(t);
	if (!err)
		show_counters(t);
	if (!keep)
		fr_trig_load(t->s, NULL, 0, t->slot_of);
	fr_alerts_close(t->alerts);
	return fr_err_finish(&t->out, err ? FR_EXIT_FAIL : FR_EXIT_OK);
}

int main(int argc, char **argv)
{
	bool keep = argc > 1 && !strcmp(argv[1], "--keep"), all = argc > 1 && !strcmp(argv[1], "--all");
	static struct test t;
	int status;

	argv += 1 + (keep || all);
	argc -= 1 + (keep || all);
	fr_out_init(&t.out, STDOUT_FILENO);
	if (argc < 1 || parse(&t, argv + 1, argc - 1) || fr_sess_open(argv[0], &t.s))
		return FR_EXIT_USAGE;
	status = run(&t, keep, all);
	fr_sess_close(t.s);
	return status;
}
