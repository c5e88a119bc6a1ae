/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recognise_memory: a task had to free memory itself, or to wait until others did: what the kernel tells of it in rare events
 * (base/tp/rare.def), and which cgroup was at its limit, by the host's counters.
 */
#include <stdio.h>

#include "base/text/escape.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

/* ---- a cgroup at its limit ---- */

static const struct {
	const char *count, *limit, *what;
} limits[] = {
	{"cgroup.memory_events_max", "cgroup.memory_max", "its limit"},
	{"cgroup.memory_events_high", "cgroup.memory_high", "its high limit"},
};

const char *fr_word_cgroup_limit(struct fr_case *k)
{
	struct fr_counter_move m;
	char path[FR_CLUE_WHO_SZ], limit[32], used[32], text[FR_WORD_SZ];
	const char *object;
	u64 limit_sz, used_sz;
	size_t i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		object = fr_clues_moved_most(k->c, limits[i].count, &m);
		if (!object || !fr_clues_gauge(k->c, limits[i].limit, object, &limit_sz) ||
		    !fr_clues_gauge(k->c, "cgroup.memory", object, &used_sz))
			continue;
		path[fr_escape_mem(path, sizeof(path) - 1, object, strlen(object))] = 0;
		snprintf(text, sizeof(text), "cgroup %s ran into %s of %s %s time%s in %s, and had %s then", path,
			 limits[i].what, fr_show_size(limit_sz, limit, sizeof(limit)), fr_word_cnt(k, m.delta),
			 fr_plural(m.delta), fr_word_ns(k, m.to_ns - m.from_ns), fr_show_size(used_sz, used, sizeof(used)));
		return fr_word_text(k, text, strlen(text));
	}
	return "";
}

/* " of X": of memory that a cgroup has, and may have; "" where that is not known */
static void say_full(const struct fr_case *k, const char *object, char *text, size_t sz)
{
	char limit[32], used[32];
	u64 used_sz, limit_sz;

	text[0] = 0;
	if (fr_clues_gauge(k->c, "cgroup.memory_max", object, &limit_sz) &&
	    fr_clues_gauge(k->c, "cgroup.memory", object, &used_sz))
		snprintf(text, sz, ", whose limit is %s, and which had %s when that was read",
			 fr_show_size(limit_sz, limit, sizeof(limit)), fr_show_size(used_sz, used, sizeof(used)));
}

/* Somebody was killed in it, and it ran into its limit. */
const char *fr_word_oom_cgroup(struct fr_case *k)
{
	struct fr_counter_move kills, full;
	const char *object = fr_clues_moved_most(k->c, "cgroup.oom_kill", &kills);
	char path[FR_CLUE_WHO_SZ], more[120], text[FR_WORD_SZ];

	if (!object || !fr_clues_moved(k->c, "cgroup.memory_events_max", object, &full) || !full.delta)
		return "";
	path[fr_escape_mem(path, sizeof(path) - 1, object, strlen(object))] = 0;
	say_full(k, object, more, sizeof(more));
	snprintf(text, sizeof(text), "cgroup %s%s", path, more);
	return fr_word_text(k, text, strlen(text));
}

/* ---- memory that a task frees itself ---- */

static const struct {
	const char *begin, *from, *what;
	bool of_cgroup;
} efforts[] = {
	{"vmscan:mm_vmscan_memcg_reclaim_begin", "tp:vmscan:mm_vmscan_memcg_reclaim_begin",
	 "freed memory of its cgroup, which is at its limit", true},
	{"vmscan:mm_vmscan_direct_reclaim_begin", "tp:vmscan:mm_vmscan_direct_reclaim_begin",
	 "freed memory of the host, which is short of it", false},
	{"compaction:mm_compaction_begin", "tp:compaction:mm_compaction_begin",
	 "moved memory together, so that a large piece finds room (compaction)", false},
};

struct effort {
	u64 ns, most_ns;
	u32 cnt;
};

/* What one task, or one program's tasks, spent on it in a time, as far as it is known. */
static struct effort effort_of(const struct fr_clues *c, const char *begin, u32 tid, u64 program, u64 from_ns, u64 to_ns)
{
	const struct fr_rares_item *it;
	struct effort e = {0};
	size_t i = 0;

	while ((it = fr_rares_next(&c->rares, &i, begin, from_ns, to_ns))) {
		if (it->took_ns == FR_RARES_UNKNOWN || (tid ? it->tid != tid : fr_clues_program(c, it->tid, it->ts) != program))
			continue;
		e.cnt++;
		e.ns += it->took_ns;
		e.most_ns = it->took_ns > e.most_ns ? it->took_ns : e.most_ns;
	}
	return e;
}

/* The time that it is about, of its task: what took so long. */
static bool memory_time(const struct fr_case *k, u32 *tid, u64 *from_ns, u64 *to_ns)
{
	*tid = k->wait ? k->wait->tid : k->c->tid;
	*from_ns = k->wait ? fr_waited_began_ns(k->wait) : k->c->at_ns - k->c->value_ns;
	*to_ns = k->wait ? k->wait->ts : k->c->at_ns;
	if (*tid == k->c->tid && k->c->value_ns && k->c->value_ns <= k->c->at_ns &&
	    k->c->at_ns - k->c->value_ns < *from_ns) /* of a call the whole of it, not its longest wait */
		*from_ns = k->c->at_ns - k->c->value_ns;
	return *tid && *from_ns < *to_ns && (k->wait || k->c->value_ns);
}

/* A third of its time went there. */
bool fr_recognise_reclaim(struct fr_case *k)
{
	const char *limit;
	u64 from_ns, to_ns;
	struct effort e;
	u32 tid;
	size_t i;

	if (!memory_time(k, &tid, &from_ns, &to_ns))
		return false;
	for (i = 0; i < sizeof(efforts) / sizeof(efforts[0]); i++) {
		e = effort_of(k->c, efforts[i].begin, tid, 0, from_ns, to_ns + 1);
		if (!e.ns || e.ns < (to_ns - from_ns) / 3)
			continue;
		limit = efforts[i].of_cgroup ? fr_word_cgroup_limit(k) : "";
		fr_case_cause(k, *limit ? "tp:vmscan:mm_vmscan_memcg_reclaim_begin, counters" : efforts[i].from,
			      "%s %s: %u time%s, for %s of these %s, the longest %s%s%s", fr_word_who(k, tid, to_ns),
			      efforts[i].what, e.cnt, fr_plural(e.cnt), fr_word_ns(k, e.ns), fr_word_ns(k, to_ns - from_ns),
			      fr_word_ns(k, e.most_ns), *limit ? "; " : "", limit);
		return true;
	}
	return false;
}

/* ---- by program, where a rule is about no task ---- */

/* The program that spent most on one kind of it in the time that is looked at. */
static bool top_effort(const struct fr_case *k, const char *begin, struct effort *out, const struct fr_rares_item **who)
{
	const struct fr_clues *c = k->c;
	const struct fr_rares_item *it;
	size_t i = 0;

	*out = (struct effort){0};
	while ((it = fr_rares_next(&c->rares, &i, begin, c->begin_ns, c->at_ns + 1))) {
		struct effort e;

		if (out->cnt && fr_clues_program(c, it->tid, it->ts) == fr_clues_program(c, (*who)->tid, (*who)->ts))
			continue;
		e = effort_of(c, begin, 0, fr_clues_program(c, it->tid, it->ts), c->begin_ns, c->at_ns + 1);
		if (e.ns > out->ns)
			*out = e, *who = it;
	}
	return out->cnt;
}

bool fr_case_tell_reclaim(struct fr_case *k)
{
	const struct fr_rares_item *who;
	const char *limit;
	struct effort e;
	size_t i;

	for (i = 0; i < sizeof(efforts) / sizeof(efforts[0]); i++) {
		if (!top_effort(k, efforts[i].begin, &e, &who) || e.ns < FR_MSEC_NS)
			continue;
		limit = efforts[i].of_cgroup ? fr_word_cgroup_limit(k) : "";
		fr_case_cause(k, *limit ? "tp:vmscan:mm_vmscan_memcg_reclaim_begin, counters" : efforts[i].from,
			      "%s %s: %u time%s in the %s before, for %s, the longest %s%s%s",
			      fr_word_who(k, who->tid, who->ts), efforts[i].what, e.cnt, fr_plural(e.cnt),
			      fr_word_ns(k, k->c->at_ns - k->c->begin_ns), fr_word_ns(k, e.ns), fr_word_ns(k, e.most_ns),
			      *limit ? "; " : "", limit);
		return true;
	}
	limit = fr_word_cgroup_limit(k);
	if (!*limit)
		return false;
	fr_case_cause(k, "counters", "memory had to be freed first: %s", limit);
	return true;
}
