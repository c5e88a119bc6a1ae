/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who may have a snapshot: cooldowns, the same crash again, limits of a rule and of all, and what is given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/config/default.h"
#include "base/trigger/gate.h"

#define SEC 1000000000ULL
#define MIN (60 * SEC)

static const struct fr_gate_conf storm = FR_DEF_GATE;
static const struct fr_gate_conf calm; /* no limit */

static struct fr_gate *made(const struct fr_gate_conf *conf)
{
	struct fr_gate *g;

	assert_int_equal(fr_gate_new(conf, &g), 0);
	return g;
}

static struct fr_trigger rule(const char *text)
{
	struct fr_trigger_error e;
	struct fr_trigger t;

	if (fr_trigger_parse(text, "x86_64", &t, &e))
		fail_msg("%s: %s", text, e.text);
	return t;
}

static void asks(struct fr_gate *g, const struct fr_trigger *t, u32 nr, u64 key, u64 now_ns, const char *verdict)
{
	const char *got = fr_trigger_verdict_name(fr_gate_ask(g, t, nr, key, FR_GATE_FROM_NONE, now_ns, false));

	if (strcmp(got, verdict))
		fail_msg("%s of key %d at %d s: %s, not %s", t->text, (int)key, (int)(now_ns / SEC), got, verdict);
}

/* Who asks a gate without limits, with which key, at what second, and what is said. */
struct asked {
	const char *rule;
	u32 nr;
	u32 key;
	u64 now_ns;
	const char *verdict;
};

static void tell(const struct asked *a)
{
	struct fr_gate *g = made(&calm);

	for (; a->rule; a++) {
		struct fr_trigger t = rule(a->rule);

		asks(g, &t, a->nr, a->key, a->now_ns, a->verdict);
	}
	fr_gate_free(g);
}

static void test_dedupe(void **state)
{
	static const struct asked story[] = {
		{"crash", 0, 1, 100 * SEC, "taken"},
		{"crash", 0, 1, 100 * SEC, "dedupe"},
		{"crash", 0, 2, 100 * SEC, "taken"},
		{"crash", 0, 1, 160 * SEC - 1, "dedupe"},
		/* what was refused does not begin the time anew */
		{"crash", 0, 1, 160 * SEC, "taken"},
		{"crash", 0, 2, 160 * SEC, "taken"},
		{"crash", 0, 1, 161 * SEC, "dedupe"},
		{},
	};

	(void)state;
	tell(story);
}

/* A crash that one rule had a snapshot of is not the other's. */
static void test_overlap(void **state)
{
	static const struct asked story[] = {
		{"crash", 0, 1, 100 * SEC, "taken"},
		{"crash:comm=a,cooldown=10s", 1, 1, 101 * SEC, "dedupe"},
		/* each has its own cooldown */
		{"crash:comm=a,cooldown=10s", 1, 1, 110 * SEC, "taken"},
		{"crash", 0, 1, 165 * SEC, "dedupe"},
		{"crash", 0, 1, 170 * SEC, "taken"},
		{},
	};

	(void)state;
	tell(story);
}

static void test_cooldown(void **state)
{
	static const struct asked story[] = {
		{"hung>1s", 0, 1, 100 * SEC, "taken"},
		{"hung>1s", 0, 2, 159 * SEC, "cooldown"},
		{"hung>1s", 0, 2, 160 * SEC, "taken"},
		{"signal", 1, 0, 160 * SEC, "taken"},
		{"signal", 1, 0, 160 * SEC, "taken"},
		{"crash,dedupe=no", 2, 5, 160 * SEC, "taken"},
		{"crash,dedupe=no", 2, 6, 160 * SEC, "cooldown"},
		/* no key to go by */
		{"crash", 2, 0, 161 * SEC, "cooldown"},
		{},
	};

	(void)state;
	tell(story);
}

/* Alerts of several CPUs come out of order; another clock's times do not count. */
static void test_time_back(void **state)
{
	static const struct asked story[] = {
		{"crash", 0, 1, 1000 * SEC, "taken"},
		{"crash", 0, 1, 1000 * SEC - 5000, "dedupe"},
		{"crash", 0, 1, 5 * SEC, "taken"},
		{},
	};

	(void)state;
	tell(story);
}

static void test_max(void **state)
{
	struct fr_gate *g = made(&calm);
	struct fr_trigger t = rule("crash,max=3/1m"), other = rule("crash:all");
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		asks(g, &t, 0, 10 + i, (100 + i) * SEC, "taken");
	asks(g, &t, 0, 20, 103 * SEC, "max");
	asks(g, &other, 1, 21, 103 * SEC, "taken");
	/* the window slides: at 160 the first is out of it */
	asks(g, &t, 0, 20, 160 * SEC, "taken");
	asks(g, &t, 0, 22, 160 * SEC, "max");
	asks(g, &t, 0, 22, 161 * SEC, "taken");
	/* dedupe is told before max */
	asks(g, &t, 0, 22, 161 * SEC, "dedupe");
	fr_gate_free(g);
}

static void test_storm(void **state)
{
	struct fr_gate *g = made(&storm);
	struct fr_trigger t = rule("crash"), last = rule("exit");
	u32 i;

	(void)state;
	for (i = 0; i < FR_DEF_STORM_CNT; i++)
		asks(g, &t, i % 4, 1 + i, (100 + i) * SEC, "taken");
	for (i = 0; i < 1000; i++)
		asks(g, &t, 0, 100 + i, 130 * SEC, "storm");
	asks(g, &last, 6, 0, 130 * SEC, "taken");
	asks(g, &last, 6, 0, 130 * SEC, "taken");
	/* these two count, too: ten minutes after the third */
	asks(g, &t, 0, 2000, 702 * SEC - 1, "storm");
	asks(g, &t, 0, 2000, 702 * SEC, "taken");
	asks(g, &t, 0, 2001, 702 * SEC, "storm");
	fr_gate_free(g);
}

/* A burst of one rule leaves each other rule one, in any ten minutes. */
static void test_storm_of_another(void **state)
{
	struct fr_gate *g = made(&storm);
	struct fr_trigger noisy = rule("event:event == sched_switch,cooldown=0"), rare = rule("crash"), human = rule("signal");
	u32 i;

	(void)state;
	for (i = 0; i < FR_DEF_STORM_CNT; i++)
		asks(g, &noisy, 0, 0, (100 + i) * SEC, "taken");
	asks(g, &noisy, 0, 0, 130 * SEC, "storm");
	asks(g, &rare, 1, 1, 131 * SEC, "taken");
	asks(g, &rare, 1, 2, 131 * SEC, "storm");
	asks(g, &human, 2, 0, 132 * SEC, "taken");
	asks(g, &human, 2, 0, 132 * SEC, "storm");
	/* these two count, too: ten minutes after the third */
	asks(g, &noisy, 0, 0, 702 * SEC - 1, "storm");
	for (i = 2; i < FR_DEF_STORM_CNT; i++)
		asks(g, &noisy, 0, 0, (700 + i) * SEC, "taken");
	asks(g, &rare, 1, 2, 731 * SEC - 1, "storm");
	asks(g, &rare, 1, 2, 731 * SEC, "taken");
	fr_gate_free(g);
}

/* What a recorder took before counts, or this one under other limits. */
static void test_storm_kept(void **state)
{
	static const struct fr_gate_conf three = {.storm_cnt = 3, .storm_ns = MIN};
	struct fr_gate *g = made(&three);
	struct fr_trigger t = rule("crash");

	(void)state;
	fr_gate_seed(g, FR_GATE_FROM_NONE, 100 * SEC);
	fr_gate_seed(g, FR_GATE_FROM_NONE, 110 * SEC);
	asks(g, &t, 0, 1, 120 * SEC, "taken");
	asks(g, &t, 0, 2, 121 * SEC, "storm");
	asks(g, &t, 0, 2, 160 * SEC, "taken");
	asks(g, &t, 0, 3, 160 * SEC, "storm");
	fr_gate_free(g);
}

/* How many of cnt different deaths of a program, one in a second from then on, get a snapshot. */
static u32 deaths(struct fr_gate *g, u64 program, u32 uid, u64 from_ns, u32 cnt)
{
	static u64 key = 1000000;
	struct fr_trigger t = rule("crash");
	u32 taken = 0, i;

	for (i = 0; i < cnt; i++)
		taken += fr_gate_ask(g, &t, 0, key++, (struct fr_gate_from){program, uid}, from_ns + i * SEC, false) ==
			 FR_TRIGGER_VERDICT_taken;
	return taken;
}

/* A program that dies in ever new ways leaves half of all snapshots to others, the next one half of those. */
static void test_share_of_programs(void **state)
{
	struct fr_gate *g = made(&storm);

	(void)state;
	assert_int_equal(deaths(g, 1, 0, 100 * SEC, 100), 15);
	assert_int_equal(deaths(g, 2, 0, 200 * SEC, 100), 8);
	assert_int_equal(deaths(g, 3, 0, 300 * SEC, 1), 1);
	assert_int_equal(deaths(g, 1, 0, 301 * SEC, 1), 0);
	assert_int_equal(deaths(g, 4, 0, 302 * SEC, 100), 3);
	assert_int_equal(deaths(g, 3, 0, 402 * SEC, 100), 1);
	assert_int_equal(deaths(g, 5, 0, 502 * SEC, 100), 1);
	assert_int_equal(deaths(g, 6, 0, 602 * SEC, 1), 1);
	/* ten minutes after the first one's */
	assert_int_equal(deaths(g, 6, 0, 701 * SEC, 1), 1);
	fr_gate_free(g);
}

/* Likewise a user, whatever programs die. Most of a machine is root's: it has no share. */
static void test_share_of_users(void **state)
{
	struct fr_gate *g = made(&storm);
	u32 i, taken = 0;

	(void)state;
	for (i = 0; i < 100; i++)
		taken += deaths(g, 10 + i, 1000, (100 + i) * SEC, 1);
	assert_int_equal(taken, 15);
	for (i = 0; i < 10; i++)
		assert_int_equal(deaths(g, 200 + i, 0, 200 * SEC, 1), 1);
	for (taken = i = 0; i < 100; i++)
		taken += deaths(g, 300 + i, 1001, 210 * SEC, 1);
	assert_int_equal(taken, 3);
	/* of nobody known: by program only */
	assert_int_equal(deaths(g, 400, ~0u, 211 * SEC, 1), 1);
	fr_gate_free(g);
}

/* Who lets a program die that another user runs, too, takes nothing from that user's share. */
static void test_share_of_same_program(void **state)
{
	struct fr_gate *g = made(&storm);

	(void)state;
	assert_int_equal(deaths(g, 1, 1000, 100 * SEC, 100), 15);
	assert_int_equal(deaths(g, 1, 1001, 200 * SEC, 100), 8);
	assert_int_equal(deaths(g, 1, 0, 300 * SEC, 100), 4);
	fr_gate_free(g);
}

/* What this user's program, which takes so long, is told by a rule with a cooldown. */
static const char *hangs(struct fr_gate *g, const char *text, u64 program, u32 uid, u64 now_ns)
{
	struct fr_trigger t = rule(text);
	struct fr_moment m = {.kind = FR_TRIGGER_hung,
			      .uid = uid,
			      .owner = uid,
			      .exe_id = program,
			      .value_ns = 9 * SEC,
			      .comm = "",
			      .exe = "",
			      .cgroup = ""};
	const struct fr_gate_asked asked = {.now_ns = now_ns};

	return fr_trigger_verdict_name(fr_gate_decide(g, &t, 0, &m, &asked));
}

/* Who hangs as soon as a cooldown is over, again and again, keeps nobody out; two who do so do not either. */
static void test_turns(void **state)
{
	struct fr_gate *g = made(&storm);
	u64 s;

	(void)state;
	assert_string_equal(hangs(g, "hung>1s", 1, 1000, 100 * SEC), "taken");
	/* of one stall many hang: the first one's snapshot shows it */
	assert_string_equal(hangs(g, "hung>1s", 2, 1001, 100 * SEC), "cooldown");
	assert_string_equal(hangs(g, "hung>1s", 3, 1000, 160 * SEC), "taken");
	assert_string_equal(hangs(g, "hung>1s", 4, 1000, 161 * SEC), "cooldown");
	assert_string_equal(hangs(g, "hung>1s", 2, 1001, 161 * SEC), "taken");
	assert_string_equal(hangs(g, "hung>1s", 2, 1001, 162 * SEC), "cooldown");
	/* one turn, then others */
	assert_string_equal(hangs(g, "hung>1s", 5, 1002, 163 * SEC), "cooldown");
	for (s = 221; s < 500; s += 60)
		assert_string_equal(hangs(g, "hung>1s", 2, s / 60 % 2 ? 1000 : 1001, s * SEC), "taken");
	assert_string_equal(hangs(g, "hung>1s", 5, 1002, 499 * SEC), "taken");
	assert_string_equal(hangs(g, "hung>1s", 5, 1002, 500 * SEC), "cooldown");
	fr_gate_free(g);
}

/* Of root's, programs have turns; what is nobody's has none. */
static void test_turns_of_root(void **state)
{
	struct fr_gate *g = made(&calm);
	struct fr_trigger t = rule("latency:softirq>1ms");
	u64 s;

	(void)state;
	for (s = 100; s < 400; s += 60) {
		assert_string_equal(hangs(g, "hung>1s", 1, 0, s * SEC), "taken");
		assert_string_equal(hangs(g, "hung>1s", 1, 0, (s + 59) * SEC), "cooldown");
	}
	assert_string_equal(hangs(g, "hung>1s", 2, 0, 341 * SEC), "taken");
	assert_string_equal(hangs(g, "hung>1s", 1, 0, 342 * SEC), "cooldown");
	/* the rule's own limit stands */
	assert_string_equal(hangs(g, "hung>1s,max=7/1h", 3, 0, 401 * SEC), "taken");
	assert_string_equal(hangs(g, "hung>1s,max=7/1h", 3, 0, 500 * SEC), "max");
	asks(g, &t, 1, 1, 100 * SEC, "taken");
	asks(g, &t, 1, 1, 160 * SEC, "taken");
	asks(g, &t, 1, 2, 161 * SEC, "cooldown");
	fr_gate_free(g);
}

/* A share never keeps a rule from its first, and there are none without a limit. */
static void test_no_share(void **state)
{
	static const struct fr_gate_conf one = {.storm_cnt = 1, .storm_ns = MIN};
	struct fr_gate_from from = {1, 1000};
	struct fr_trigger t = rule("crash");
	struct fr_gate *g = made(&calm);

	(void)state;
	assert_int_equal(deaths(g, 1, 1000, 100 * SEC, 1000), 1000);
	fr_gate_free(g);
	g = made(&one);
	assert_int_equal(deaths(g, 1, 1000, 100 * SEC, 10), 1);
	assert_int_equal(fr_gate_ask(g, &t, 1, 7, from, 110 * SEC, false), FR_TRIGGER_VERDICT_taken);
	fr_gate_free(g);
}

static void test_busy(void **state)
{
	struct fr_gate *g = made(&storm);
	struct fr_trigger t = rule("crash");

	(void)state;
	assert_int_equal(fr_gate_ask(g, &t, 0, 1, FR_GATE_FROM_NONE, 100 * SEC, true), FR_TRIGGER_VERDICT_busy);
	/* it did not have one */
	asks(g, &t, 0, 1, 101 * SEC, "taken");
	assert_int_equal(fr_gate_ask(g, &t, 0, 1, FR_GATE_FROM_NONE, 102 * SEC, true), FR_TRIGGER_VERDICT_dedupe);
	fr_gate_free(g);
}

static void test_undo(void **state)
{
	static const struct fr_gate_conf few = {.storm_cnt = 2, .storm_ns = 600 * SEC};
	struct fr_gate *g = made(&few);
	struct fr_trigger t = rule("crash,max=2/10m");

	(void)state;
	fr_gate_undo(g, 0, 1, 0); /* nothing to give back */
	asks(g, &t, 0, 1, 100 * SEC, "taken");
	fr_gate_undo(g, 0, 1, 100 * SEC);
	asks(g, &t, 0, 1, 101 * SEC, "taken");
	asks(g, &t, 0, 1, 161 * SEC, "taken");
	asks(g, &t, 0, 2, 162 * SEC, "max");
	fr_gate_undo(g, 0, 1, 161 * SEC);
	/* the one before is what counts again */
	asks(g, &t, 0, 1, 160 * SEC, "dedupe");
	asks(g, &t, 0, 1, 163 * SEC, "taken");
	fr_gate_free(g);
}

/* Others may have had snapshots since, or it is no longer among those that count. */
static void test_undo_older(void **state)
{
	static const struct fr_gate_conf two = {.storm_cnt = 2, .storm_ns = 600 * SEC};
	static const struct fr_gate_conf one = {.storm_cnt = 1, .storm_ns = 600 * SEC};
	struct fr_trigger t = rule("crash"), last = rule("exit"), end = last;
	struct fr_gate *g = made(&two);

	(void)state;
	end.kind = FR_TRIGGER_end; /* a recorder's own, no text gives it */
	asks(g, &t, 0, 1, 100 * SEC, "taken");
	asks(g, &t, 1, 2, 200 * SEC, "taken");
	fr_gate_undo(g, 0, 1, 100 * SEC);
	asks(g, &t, 0, 3, 202 * SEC, "taken");
	/* 200 and 202 count, not 100 */
	asks(g, &t, 0, 4, 750 * SEC, "storm");
	asks(g, &t, 0, 4, 800 * SEC, "taken");
	fr_gate_free(g);

	g = made(&one);
	asks(g, &t, 2, 9, 50 * SEC, "taken");
	asks(g, &last, 0, 0, 100 * SEC, "taken");
	asks(g, &end, 1, 0, 300 * SEC, "taken");
	fr_gate_undo(g, 0, 0, 100 * SEC);
	asks(g, &t, 2, 1, 301 * SEC, "storm");
	fr_gate_undo(g, 1, 0, 300 * SEC);
	asks(g, &t, 2, 1, 302 * SEC, "taken");
	/* a rule that had nothing gives nothing back, nor does what is not known */
	fr_gate_undo(g, 5, 1, 302 * SEC);
	fr_gate_undo(g, 2, 1, 0);
	asks(g, &t, 2, 1, 303 * SEC, "dedupe");
	fr_gate_free(g);
}

/* Several wait for their snapshots at a time: the one that fails need not be the one granted last. */
static void test_undo_is_of_that_grant(void **state)
{
	static const struct fr_gate_conf none = {0};
	struct fr_trigger each = rule("crash:cooldown=60s,dedupe=no"), once = rule("crash:cooldown=60s");
	struct fr_gate *g = made(&none);

	(void)state;
	asks(g, &each, 0, 0, 100 * SEC, "taken");
	asks(g, &each, 0, 0, 200 * SEC, "taken");
	fr_gate_undo(g, 0, 0, 100 * SEC);
	asks(g, &each, 0, 0, 210 * SEC, "cooldown");
	asks(g, &once, 1, 7, 300 * SEC, "taken");
	asks(g, &once, 1, 7, 400 * SEC, "taken");
	fr_gate_undo(g, 1, 7, 300 * SEC);
	asks(g, &once, 1, 7, 410 * SEC, "dedupe");
	fr_gate_undo(g, 1, 7, 400 * SEC); /* the one before it is none any more */
	asks(g, &once, 1, 7, 340 * SEC, "taken");
	fr_gate_free(g);
}

/* What was taken before counts, also what would be refused under the limits of now. */
static void test_count(void **state)
{
	static const struct fr_gate_conf few = {.storm_cnt = 2, .storm_ns = 600 * SEC};
	struct fr_gate *g = made(&few);
	struct fr_trigger t = rule("crash,max=1/10m"), other = rule("crash");
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		fr_gate_count(g, 0, 1 + i, FR_GATE_FROM_NONE, (100 + i) * SEC);
	for (i = 0; i < 3; i++)
		asks(g, &t, 0, 1 + i, 110 * SEC, "dedupe");
	asks(g, &t, 0, 9, 110 * SEC, "max");
	asks(g, &other, 0, 9, 110 * SEC, "storm");
	fr_gate_free(g);
}

/* Of more keys than are kept the oldest is forgotten, and only it. */
static void test_many_keys(void **state)
{
	struct fr_gate *g = made(&calm);
	struct fr_trigger t = rule("crash");
	u32 i;

	(void)state;
	for (i = 0; i <= FR_GATE_KEY_MAX; i++)
		asks(g, &t, 0, 1 + i, 100 * SEC + i, "taken");
	for (i = 1; i <= FR_GATE_KEY_MAX; i++)
		asks(g, &t, 0, 1 + i, 101 * SEC, "dedupe");
	asks(g, &t, 0, 1, 101 * SEC, "taken");
	fr_gate_free(g);
}

/* It is not its place that makes a key the oldest. */
static void test_oldest_key(void **state)
{
	struct fr_gate *g = made(&calm);
	struct fr_trigger t = rule("crash,cooldown=10m");
	u32 i;

	(void)state;
	for (i = 0; i < FR_GATE_KEY_MAX; i++)
		asks(g, &t, 0, 1 + i, 100 * SEC + i, "taken");
	fr_gate_count(g, 0, 1, FR_GATE_FROM_NONE, 101 * SEC);
	asks(g, &t, 0, 1 + FR_GATE_KEY_MAX, 102 * SEC, "taken");
	asks(g, &t, 0, 1, 103 * SEC, "dedupe");
	asks(g, &t, 0, 2, 103 * SEC, "taken");
	fr_gate_free(g);
}

static void test_renumber(void **state)
{
	struct fr_gate *g = made(&calm);
	struct fr_trigger a = rule("hung>1s"), b = rule("psi:io:10%");
	int of_nr[FR_TRIGGER_MAX];
	u32 i;

	(void)state;
	asks(g, &a, 0, 0, 100 * SEC, "taken");
	asks(g, &b, 1, 0, 130 * SEC, "taken");
	for (i = 0; i < FR_TRIGGER_MAX; i++)
		of_nr[i] = -1;
	of_nr[5] = 1; /* b is rule 5 now, a is gone */
	fr_gate_renumber(g, of_nr);
	asks(g, &b, 5, 0, 131 * SEC, "cooldown");
	asks(g, &a, 0, 0, 131 * SEC, "taken");
	asks(g, &b, 1, 0, 131 * SEC, "taken");
	for (i = 0; i < FR_TRIGGER_MAX; i++)
		of_nr[i] = 5; /* nonsense: the first has it */
	of_nr[1] = FR_TRIGGER_MAX;
	of_nr[2] = -2;
	fr_gate_renumber(g, of_nr);
	asks(g, &b, 0, 0, 132 * SEC, "cooldown");
	for (i = 1; i < FR_TRIGGER_MAX; i++)
		asks(g, &b, i, 0, 132 * SEC, "taken");
	fr_gate_free(g);
}

/* A thousand crashes in ten seconds, each another. */
static void test_crash_loop(void **state)
{
	struct fr_gate *g = made(&storm);
	struct fr_trigger t = rule("crash");
	u32 i, taken = 0;

	(void)state;
	for (i = 0; i < 1000; i++)
		taken += fr_gate_ask(g, &t, 0, 1 + i, FR_GATE_FROM_NONE, 100 * SEC + i * SEC / 100, false) ==
			 FR_TRIGGER_VERDICT_taken;
	assert_int_equal(taken, FR_DEF_STORM_CNT);
	fr_gate_free(g);
	fr_gate_free(NULL);
}

/* The snapshot of an equal moment exists no more: this is no repeat. Others stay repeats. */
static void test_forget(void **state)
{
	const struct fr_trigger t = {.kind = FR_TRIGGER_crash, .dedupe = true, .cooldown_ns = 60 * SEC};
	const struct fr_gate_conf conf = {0};
	struct fr_gate *g;

	(void)state;
	assert_int_equal(fr_gate_new(&conf, &g), 0);
	assert_int_equal(fr_gate_ask(g, &t, 0, 7, FR_GATE_FROM_NONE, 100 * SEC, false), FR_TRIGGER_VERDICT_taken);
	assert_int_equal(fr_gate_ask(g, &t, 0, 8, FR_GATE_FROM_NONE, 100 * SEC, false), FR_TRIGGER_VERDICT_taken);
	assert_int_equal(fr_gate_ask(g, &t, 0, 7, FR_GATE_FROM_NONE, 101 * SEC, false), FR_TRIGGER_VERDICT_dedupe);
	fr_gate_forget(g, 9);
	fr_gate_forget(g, 0);
	assert_int_equal(fr_gate_ask(g, &t, 0, 7, FR_GATE_FROM_NONE, 101 * SEC, false), FR_TRIGGER_VERDICT_dedupe);
	fr_gate_forget(g, 7);
	assert_int_equal(fr_gate_ask(g, &t, 0, 8, FR_GATE_FROM_NONE, 102 * SEC, false), FR_TRIGGER_VERDICT_dedupe);
	assert_int_equal(fr_gate_ask(g, &t, 0, 7, FR_GATE_FROM_NONE, 102 * SEC, false), FR_TRIGGER_VERDICT_taken);
	assert_int_equal(fr_gate_ask(g, &t, 0, 7, FR_GATE_FROM_NONE, 103 * SEC, false), FR_TRIGGER_VERDICT_dedupe);
	fr_gate_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dedupe),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_cooldown),
		cmocka_unit_test(test_time_back),
		cmocka_unit_test(test_max),
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_storm_of_another),
		cmocka_unit_test(test_storm_kept),
		cmocka_unit_test(test_share_of_programs),
		cmocka_unit_test(test_share_of_users),
		cmocka_unit_test(test_share_of_same_program),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_turns_of_root),
		cmocka_unit_test(test_no_share),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_undo),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_many_keys),
		cmocka_unit_test(test_renumber),
		cmocka_unit_test(test_crash_loop),
		cmocka_unit_test(test_undo_older),
		cmocka_unit_test(test_undo_is_of_that_grant),
		cmocka_unit_test(test_oldest_key),
		cmocka_unit_test(test_forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
