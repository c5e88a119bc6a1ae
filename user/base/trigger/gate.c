/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/trigger/gate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The last times of something, and whose; the newest is at (next - 1) % max. */
struct times {
	struct time {
		u64 ns;
		struct fr_gate_from from;
	} * at;
	u32 max, cnt, next;
};

struct key {
	u64 key;      /* 0: free */
	u64 last_ns;  /* of the last snapshot */
	u64 prev_ns;  /* of the one before it, for fr_gate_undo() */
	bool prev_ok; /* there was one before it */
};

struct fr_gate {
	struct fr_gate_conf conf;
	struct times storm;
	struct times rule[FR_TRIGGER_MAX];
	struct key key[FR_GATE_KEY_MAX];
};

/* ---- times ---- */

static int times_init(struct times *t, u32 max)
{
	t->at = calloc(max ?: 1, sizeof(*t->at));
	t->max = max;
	return t->at ? 0 : -ENOMEM;
}

/* The i-th newest, i < cnt. */
static struct time *times_nth(const struct times *t, u32 i)
{
	return &t->at[(t->next + t->max - 1 - i) % t->max];
}

static void times_add(struct times *t, struct fr_gate_from from, u64 now_ns)
{
	if (!t->max)
		return;
	t->at[t->next] = (struct time){now_ns, from};
	t->next = (t->next + 1) % t->max;
	if (t->cnt < t->max)
		t->cnt++;
}

/* Remove the newest entry of that value. False: there is none. */
static bool times_remove(struct times *t, u64 then_ns)
{
	u32 i = 0;

	while (i < t->cnt && times_nth(t, i)->ns != then_ns)
		i++;
	if (i == t->cnt)
		return false;
	for (; i; i--)
		*times_nth(t, i) = *times_nth(t, i - 1);
	t->next = (t->next + t->max - 1) % t->max;
	t->cnt--;
	return true;
}

/*
 * Is then less than span before now? Moments of several CPUs are slightly out of order, so a then a little later than now
 * counts; one much later is of another clock, and does not.
 */
static bool gate_within(u64 then_ns, u64 now_ns, u64 span_ns)
{
	return (now_ns > then_ns ? now_ns - then_ns : then_ns - now_ns) < span_ns;
}

/* Were there cnt within the last span? */
static bool times_full(const struct times *t, u32 cnt, u64 now_ns, u64 span_ns)
{
	return cnt && t->cnt >= cnt && gate_within(times_nth(t, cnt - 1)->ns, now_ns, span_ns);
}

/* ---- keys ---- */

static struct key *gate_find_key(struct fr_gate *g, u64 key)
{
	u32 i;

	for (i = 0; i < FR_GATE_KEY_MAX; i++)
		if (g->key[i].key == key)
			return &g->key[i];
	return NULL;
}

/* A free one, otherwise the longest unused. */
static struct key *oldest_key(struct fr_gate *g)
{
	struct key *oldest = &g->key[0];
	u32 i;

	for (i = 0; i < FR_GATE_KEY_MAX; i++) {
		if (!g->key[i].key)
			return &g->key[i];
		if (g->key[i].last_ns < oldest->last_ns)
			oldest = &g->key[i];
	}
	return oldest;
}

static void count_key(struct fr_gate *g, u64 key, u64 now_ns)
{
	struct key *k = gate_find_key(g, key);

	if (k) {
		k->prev_ns = k->last_ns;
		k->prev_ok = true;
	} else {
		k = oldest_key(g);
		*k = (struct key){.key = key};
	}
	k->last_ns = now_ns;
}

static void uncount_key(struct fr_gate *g, u64 key, u64 then_ns)
{
	struct key *k = gate_find_key(g, key);

	if (!k)
		return;
	if (k->last_ns != then_ns)
		k->prev_ok = k->prev_ok && k->prev_ns != then_ns;
	else if (k->prev_ok)
		*k = (struct key){.key = key, .last_ns = k->prev_ns};
	else
		*k = (struct key){};
}

/* ---- the gate ---- */

int fr_gate_new(const struct fr_gate_conf *conf, struct fr_gate **out)
{
	struct fr_gate *g = calloc(1, sizeof(*g));
	int err = g ? times_init(&g->storm, conf->storm_cnt) : -ENOMEM;
	u32 i;

	for (i = 0; !err && i < FR_TRIGGER_MAX; i++)
		err = times_init(&g->rule[i], FR_TRIGGER_CNT_MAX);
	if (err) {
		fr_gate_free(g);
		return err;
	}
	g->conf = *conf;
	*out = g;
	return 0;
}

void fr_gate_free(struct fr_gate *g)
{
	u32 i;

	if (!g)
		return;
	for (i = 0; i < FR_TRIGGER_MAX; i++)
		free(g->rule[i].at);
	free(g->storm.at);
	free(g);
}

static bool cools_key(struct fr_gate *g, const struct fr_trigger *t, u64 key, u64 now_ns)
{
	struct key *k = gate_find_key(g, key);

	return k && gate_within(k->last_ns, now_ns, t->cooldown_ns);
}

/* The last snapshot of an ending recorder is never one too many: nothing follows it. */
static bool gate_ends(const struct fr_trigger *t)
{
	return t->kind == FR_TRIGGER_exit || t->kind == FR_TRIGGER_end;
}

/* Of cnt snapshots, others have had so many: may one have another if it has had own? */
static bool has_share(u32 cnt, u32 others, u32 own)
{
	return others < cnt && own < (cnt - others + 1) / 2;
}

static bool is_counted_user(struct fr_gate_from from)
{
	return from.uid && from.uid != ~0u;
}

/* Its program's and its user's share of what all rules may have; see gate.h. */
static bool within_share(const struct fr_gate *g, struct fr_gate_from from, u64 now_ns)
{
	u32 cnt = 0, program = 0, user = 0, i;
	const struct time *t;

	if (!from.program || !g->conf.storm_cnt)
		return true;
	for (i = 0; i < g->storm.cnt; i++) {
		t = times_nth(&g->storm, i);
		if (!gate_within(t->ns, now_ns, g->conf.storm_ns))
			continue;
		cnt++;
		program += t->from.program == from.program && t->from.uid == from.uid;
		user += t->from.uid == from.uid;
	}
	return has_share(g->conf.storm_cnt, cnt - program, program) &&
	       (!is_counted_user(from) || has_share(g->conf.storm_cnt, cnt - user, user));
}

/* How many of a rule's snapshots were this user's, or this program's where users do not count, in the time of turns. */
static u32 had(const struct times *rule, struct fr_gate_from from, u64 now_ns)
{
	bool by_user = is_counted_user(from);
	const struct time *t;
	u32 cnt = 0, i;

	for (i = 0; i < rule->cnt; i++) {
		t = times_nth(rule, i);
		if (gate_within(t->ns, now_ns, FR_GATE_TURN_NS))
			cnt += t->from.uid == from.uid && (by_user || t->from.program == from.program);
	}
	return cnt;
}

/* Is the rule in its cooldown for it? Not for who has had none, where who began the cooldown had one before; see gate.h. */
static bool cools_rule(const struct fr_trigger *t, const struct times *rule, struct fr_gate_from from, u64 now_ns)
{
	if (!times_full(rule, 1, now_ns, t->cooldown_ns))
		return false;
	return !from.program || had(rule, times_nth(rule, 0)->from, now_ns) < 2 || had(rule, from, now_ns);
}

struct fr_gate_from fr_gate_from(const struct fr_moment *m)
{
	return fr_trigger_has(m->kind, FR_HAS_OWNER) ? (struct fr_gate_from){fr_trigger_program(m), m->owner}
						     : FR_GATE_FROM_NONE;
}

/*
 * A rule that has had no snapshot within the storm's time is given one all the same: a burst of one rule does not cost another
 * its rare moment. So all rules together have at most storm_cnt, and one for each other rule.
 */
static bool storms(const struct fr_gate *g, const struct fr_trigger *t, const struct times *rule, struct fr_gate_from from,
		   u64 now_ns)
{
	const struct fr_gate_conf *c = &g->conf;

	if (gate_ends(t) || !times_full(rule, 1, now_ns, c->storm_ns))
		return false;
	return times_full(&g->storm, c->storm_cnt, now_ns, c->storm_ns) || !within_share(g, from, now_ns);
}

static enum fr_trigger_verdict gate_judge(struct fr_gate *g, const struct fr_trigger *t, const struct times *rule, u64 key,
					  struct fr_gate_from from, u64 now_ns, bool busy)
{
	if (t->dedupe && key) {
		if (cools_key(g, t, key, now_ns))
			return FR_TRIGGER_VERDICT_dedupe;
	} else if (cools_rule(t, rule, from, now_ns)) {
		return FR_TRIGGER_VERDICT_cooldown;
	}
	if (times_full(rule, t->max_cnt, now_ns, t->max_ns))
		return FR_TRIGGER_VERDICT_max;
	if (storms(g, t, rule, from, now_ns))
		return FR_TRIGGER_VERDICT_storm;
	return busy ? FR_TRIGGER_VERDICT_busy : FR_TRIGGER_VERDICT_taken;
}

enum fr_trigger_verdict fr_gate_ask(struct fr_gate *g, const struct fr_trigger *t, u32 nr, u64 key, struct fr_gate_from from,
				    u64 now_ns, bool busy)
{
	enum fr_trigger_verdict verdict = gate_judge(g, t, &g->rule[nr], key, from, now_ns, busy);

	if (verdict == FR_TRIGGER_VERDICT_taken)
		fr_gate_count(g, nr, key, from, now_ns);
	return verdict;
}

void fr_gate_count(struct fr_gate *g, u32 nr, u64 key, struct fr_gate_from from, u64 then_ns)
{
	times_add(&g->rule[nr], from, then_ns);
	times_add(&g->storm, from, then_ns);
	if (key)
		count_key(g, key, then_ns);
}

enum fr_trigger_verdict fr_gate_decide(struct fr_gate *g, const struct fr_trigger *t, u32 nr, const struct fr_moment *m,
				       const struct fr_gate_asked *asked)
{
	struct fr_moment of = *m;

	of.latency = t->latency; /* the kernel has decided that for this rule */
	if (t->kind != FR_TRIGGER_event && !fr_trigger_match(t, &of))
		return FR_TRIGGER_VERDICT_filtered;
	if (asked->granted)
		return FR_TRIGGER_VERDICT_busy;
	return fr_gate_ask(g, t, nr, fr_trigger_key(m), fr_gate_from(m), asked->now_ns, asked->busy);
}

void fr_gate_undo(struct fr_gate *g, u32 nr, u64 key, u64 then_ns)
{
	if (!times_remove(&g->rule[nr], then_ns))
		return;
	times_remove(&g->storm, then_ns);
	if (key)
		uncount_key(g, key, then_ns);
}

void fr_gate_forget(struct fr_gate *g, u64 key)
{
	struct key *k = key ? gate_find_key(g, key) : NULL;

	if (k)
		*k = (struct key){};
}

void fr_gate_seed(struct fr_gate *g, struct fr_gate_from from, u64 then_ns)
{
	times_add(&g->storm, from, then_ns);
}

void fr_gate_renumber(struct fr_gate *g, const int of_nr[FR_TRIGGER_MAX])
{
	struct times old[FR_TRIGGER_MAX];
	bool used[FR_TRIGGER_MAX] = {};
	u32 i, spare = 0;

	memcpy(old, g->rule, sizeof(old));
	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (of_nr[i] >= 0 && of_nr[i] < (int)FR_TRIGGER_MAX && !used[of_nr[i]]) {
			g->rule[i] = old[of_nr[i]];
			used[of_nr[i]] = true;
		} else {
			g->rule[i].at = NULL;
		}
	/* new rules get the memory of those that went */
	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		if (g->rule[i].at)
			continue;
		while (used[spare])
			spare++;
		used[spare] = true;
		g->rule[i] = (struct times){.at = old[spare].at, .max = old[spare].max};
	}
}
