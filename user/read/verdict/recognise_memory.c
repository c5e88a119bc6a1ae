/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recognise_memory: a task had to free memory itself, or to wait until others did: what the kernel tells of it in rare events
 * (base/tp/rare.def), and which cgroup was at its limit, by the host's counters.
 */
#include <stdlib.h>
#include <string.h>

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

#define PATH_SHOWN_SZ 80u

/* The limit that a cgroup ran into, by its own count; "": not this one, or it is not known. */
static const char *say_limit(struct fr_case *k, u32 which, const char *cgroup)
{
	struct fr_counter_move m;
	char path[PATH_SHOWN_SZ], limit[32], used[32];
	u64 limit_sz, used_sz, cnt;

	if (!fr_clues_gauge(k->c, limits[which].limit, cgroup, &limit_sz) ||
	    !fr_clues_gauge(k->c, "cgroup.memory", cgroup, &used_sz))
		return "";
	if (fr_clues_count_own(k->c, limits[which].count, cgroup, &cnt))
		return fr_word(k, "cgroup %s has run into %s of %s %s time%s since it began, and had %s then",
			       fr_escape_str(path, sizeof(path), cgroup), limits[which].what,
			       fr_show_size(limit_sz, limit, sizeof(limit)), fr_word_cnt(k, cnt), fr_plural(cnt),
			       fr_show_size(used_sz, used, sizeof(used)));
	if (!fr_clues_moved_own(k->c, limits[which].count, cgroup, &m))
		return "";
	return fr_word(k, "cgroup %s ran into %s of %s %s time%s in %s, and had %s then",
		       fr_escape_str(path, sizeof(path), cgroup), limits[which].what,
		       fr_show_size(limit_sz, limit, sizeof(limit)), fr_word_cnt(k, m.delta), fr_plural(m.delta),
		       fr_word_ns(k, m.to_ns - m.from_ns), fr_show_size(used_sz, used, sizeof(used)));
}

#define LIMIT_CNT (sizeof(limits) / sizeof(limits[0]))

/* The one above it; false: that is the root. */
static bool memory_cgroup_above(char *path)
{
	char *last = strrchr(path, '/');

	if (last)
		*last = 0;
	return last && *path;
}

/* What say() tells of the innermost cgroup of which it tells something: of the cgroup that a task was in and those around it.
 */
static const char *say_innermost(struct fr_case *k, u32 tid, u64 ts, const char *(*say)(struct fr_case *k, const char *cgroup))
{
	const char *of = fr_clues_cgroup(k->c, tid, ts), *word = "";
	char *path = of && *of ? strdup(of) : NULL;

	k->failed |= of && *of && !path;
	if (path)
		do
			word = say(k, path);
		while (!*word && memory_cgroup_above(path));
	free(path);
	return word;
}

static const char *say_any_limit(struct fr_case *k, const char *cgroup)
{
	const char *word = "";
	u32 i;

	for (i = 0; i < LIMIT_CNT && !*word; i++)
		word = say_limit(k, i, cgroup);
	return word;
}

const char *fr_word_cgroup_limit(struct fr_case *k, u32 tid, u64 ts)
{
	return say_innermost(k, tid, ts, say_any_limit);
}

#define PIDS_COUNT "cgroup.pids_max"

/*
 * Before Linux 6.11, a cgroup counts what its own tasks were refused, whichever limit around it that was; since then, whose
 * limit it was counts, and so do those around that. What those below counted is taken off: what is left is of its own tasks, or
 * by its own limit, and there may be more.
 */
static const char *say_pids(struct fr_case *k, const char *cgroup)
{
	struct fr_counter_move m;
	char path[PATH_SHOWN_SZ];

	if (!fr_clues_moved_own(k->c, PIDS_COUNT, cgroup, &m))
		return "";
	return fr_word(
		k,
		"forks were refused in cgroup %s, %s or more in %s, by its limit of tasks (pids.max) or that of one around it",
		fr_escape_str(path, sizeof(path), cgroup), fr_word_cnt(k, m.delta), fr_word_ns(k, m.to_ns - m.from_ns));
}

const char *fr_word_cgroup_pids(struct fr_case *k, u32 tid, u64 ts)
{
	return say_innermost(k, tid, ts, say_pids);
}

/* Of all cgroups: the one that ran into its limit most often. */
static const char *any_limit(struct fr_case *k)
{
	struct fr_counter_move m;
	const char *cgroup, *word = "";
	u32 i;

	for (i = 0; i < LIMIT_CNT && !*word; i++) {
		cgroup = fr_clues_moved_most(k->c, limits[i].count, limits[i].limit, &m);
		word = cgroup ? say_limit(k, i, cgroup) : "";
	}
	return word;
}

/* ", whose limit is X, and which had Y when that was read": of a cgroup's memory; nothing where that is not known. */
static const char *say_full(struct fr_case *k, const char *object)
{
	char limit[32], used[32];
	u64 used_sz, limit_sz;

	if (!fr_clues_gauge(k->c, "cgroup.memory_max", object, &limit_sz) ||
	    !fr_clues_gauge(k->c, "cgroup.memory", object, &used_sz))
		return "";
	return fr_word(k, ", whose limit is %s, and which had %s when that was read",
		       fr_show_size(limit_sz, limit, sizeof(limit)), fr_show_size(used_sz, used, sizeof(used)));
}

/* Did memory run out in this cgroup itself, and was somebody killed for that? What the host lacks counts as killed only. */
static bool ran_out(const struct fr_clues *c, const char *cgroup)
{
	struct fr_counter_move out, kills;

	return fr_clues_moved_own(c, "cgroup.oom", cgroup, &out) && fr_clues_moved(c, "cgroup.oom_kill", cgroup, &kills) &&
	       kills.delta;
}

/* Is this path the cgroup, or below it? Unknown is. */
static bool memory_is_within(const char *path, const char *cgroup)
{
	size_t len = strlen(cgroup);

	return !path || (!strncmp(path, cgroup, len) && (!path[len] || path[len] == '/'));
}

/* The innermost that ran out of memory, of the cgroup that the chosen one was in and those around it: who asked was in it, too.
 */
const char *fr_word_oom_cgroup(struct fr_case *k, const struct fr_clue_victim *v)
{
	const char *of = fr_clues_cgroup(k->c, v->tid, v->ts), *by = fr_clues_cgroup(k->c, v->asker, v->ts), *word = "";
	char *path = of && *of ? strdup(of) : NULL, shown[PATH_SHOWN_SZ];

	k->failed |= of && *of && !path;
	if (path)
		do
			if (ran_out(k->c, path) && memory_is_within(by, path))
				word = fr_word(k, "cgroup %s%s", fr_escape_str(shown, sizeof(shown), path), say_full(k, path));
		while (!*word && memory_cgroup_above(path));
	free(path);
	return word;
}

/* ---- memory that a task frees itself ---- */

static const struct {
	const char *begin, *what;
	bool of_cgroup;
} efforts[] = {
	{"vmscan:mm_vmscan_memcg_reclaim_begin", "freed memory of a cgroup, as at its limit", true},
	{"vmscan:mm_vmscan_direct_reclaim_begin", "freed memory of the host, which is short of it", false},
	{"compaction:mm_compaction_begin", "moved memory together, so that a large piece finds room (compaction)", false},
};

struct effort {
	u64 ns, most_ns;
	u32 cnt;
	bool lacks; /* those of which it is not known how long they took */
};

/* What one task, or one program's tasks, spent on it in a time, as far as it is known. */
static struct effort effort_of(const struct fr_clues *c, const char *begin, u32 tid, u64 program, u64 from_ns, u64 to_ns)
{
	const struct fr_rares_item *it;
	struct effort e = {0};
	size_t i = 0;
	u64 ns;

	while ((it = fr_rares_next(&c->rares, &i, begin, from_ns, to_ns))) {
		if (tid ? it->tid != tid : fr_clues_program(c, it->tid, it->ts) != program)
			continue;
		e.lacks |= it->took_ns == FR_RARES_UNKNOWN;
		if (it->took_ns == FR_RARES_UNKNOWN)
			continue;
		ns = fr_overlap_ns(it->ts, it->ts + it->took_ns, from_ns, to_ns);
		e.cnt++;
		e.ns += ns;
		e.most_ns = ns > e.most_ns ? ns : e.most_ns;
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
	    k->c->at_ns - k->c->value_ns < *from_ns) { /* of a call the whole of it, not its longest wait */
		*from_ns = k->c->at_ns - k->c->value_ns;
		*to_ns = k->c->at_ns;
	}
	return *tid && *from_ns < *to_ns && (k->wait || (k->c->value_ns && !fr_case_is_shared_span(k)));
}

static const char *effort_from(struct fr_case *k, const char *begin, const char *limit)
{
	return fr_word(k, "tp:%s%s", begin, *limit ? ", counters" : "");
}

static const char *effort_more(const struct fr_case *k, const char *begin, const struct effort *e, u64 from_ns)
{
	return e->lacks ? " or more" : fr_word_or_more(k, begin, from_ns);
}

/* ---- by samples: most of these events are not recorded where there are thousands ---- */

#define SAMPLES_LEAST 5u

static const char *const freeing[] = {"try_to_free_mem_cgroup_pages", "try_to_free_pages"};

static bool is_of_cgroup(const char *in)
{
	return !strcmp(in, freeing[0]);
}

static const char *sample_of_freeing(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	size_t i;

	for (i = 0; !s->user && i < sizeof(freeing) / sizeof(freeing[0]); i++)
		if (fr_clues_kernel_at(c, s->kstack_id, freeing[i]) >= 0)
			return freeing[i];
	return NULL;
}

/*
 * It does not sleep, a third of its samples are there, and its samples tell of most of that time: it had a CPU. Of a call,
 * call_ran tells that.
 */
static bool tell_freeing(struct fr_case *k, u32 tid, u64 from_ns, u64 to_ns)
{
	struct fr_whose who = {.tid = tid, .from_ns = from_ns, .to_ns = to_ns};
	const char *limit, *in;
	u32 cnt, all;
	u64 ran_ns;

	if (!k->c->reason || strcmp(k->c->reason, "busy") || !fr_clues_covers_most(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns))
		return false;
	ran_ns = fr_clues_ran(k->c, tid, from_ns, to_ns);
	in = ran_ns >= (to_ns - from_ns) / 2 ? fr_case_hot(k, &who, sample_of_freeing, &cnt, &all) : NULL;
	if (!in || cnt < SAMPLES_LEAST || cnt < all / 3)
		return false;
	limit = is_of_cgroup(in) ? fr_word_cgroup_limit(k, tid, to_ns) : "";
	fr_case_cause(k, *limit ? "sched_switch, cpu_sample, counters" : "sched_switch, cpu_sample",
		      "%s freed memory of %s: it had a CPU for %s of these %s, and %u of its %u samples are in %s%s%s",
		      fr_word_who(k, tid, to_ns),
		      is_of_cgroup(in) ? "a cgroup, as at its limit" : "the host, which is short of it", fr_word_ns(k, ran_ns),
		      fr_word_ns(k, to_ns - from_ns), cnt, all, in, *limit ? "; " : "", limit);
	return true;
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
		e = effort_of(k->c, efforts[i].begin, tid, 0, from_ns, to_ns);
		if (!e.ns || e.ns < (to_ns - from_ns) / 3)
			continue;
		limit = efforts[i].of_cgroup ? fr_word_cgroup_limit(k, tid, to_ns) : "";
		fr_case_cause(k, effort_from(k, efforts[i].begin, limit),
			      "%s %s: %u time%s%s, for %s of these %s, the longest %s%s%s", fr_word_who(k, tid, to_ns),
			      efforts[i].what, e.cnt, fr_plural(e.cnt), effort_more(k, efforts[i].begin, &e, from_ns),
			      fr_word_ns(k, e.ns), fr_word_ns(k, to_ns - from_ns), fr_word_ns(k, e.most_ns), *limit ? "; " : "",
			      limit);
		return true;
	}
	return tell_freeing(k, tid, from_ns, to_ns);
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
		e = effort_of(c, begin, 0, fr_clues_program(c, it->tid, it->ts), c->begin_ns, c->at_ns);
		if (e.ns > out->ns)
			*out = e, *who = it;
	}
	return out->cnt;
}

/* Samples of one program. */
struct freer {
	u64 key;
	const struct fr_clue_sample *s; /* one that frees */
	const char *in;
	u32 cnt, all;
	bool are_several; /* tasks */
};

/* The program that most samples of freeing are of, a quarter of its own. */
static bool top_freer(struct fr_case *k, struct freer *out)
{
	const struct fr_clue_sample *s = k->c->sample.at;
	struct fr_tally t = {.rec_sz = sizeof(*out)};
	size_t i;
	u32 n;

	*out = (struct freer){0};
	for (i = 0; i < k->c->sample.cnt && !k->failed; i++) {
		struct freer *f;

		if (!s[i].tid || s[i].ts < k->c->begin_ns || s[i].ts > k->c->at_ns)
			continue;
		f = fr_tally_get(&t, fr_clues_program(k->c, s[i].tid, s[i].ts));
		k->failed |= !f;
		if (!f)
			break;
		f->all++;
		if (sample_of_freeing(k->c, &s[i])) {
			f->are_several |= f->s && f->s->tid != s[i].tid;
			f->cnt++;
			f->s = &s[i];
			f->in = sample_of_freeing(k->c, &s[i]);
		}
	}
	for (n = 0; n < t.cnt; n++) {
		const struct freer *f = fr_tally_at(&t, n);

		if (f->cnt >= SAMPLES_LEAST && f->cnt >= f->all / 4 && f->cnt > out->cnt)
			*out = *f;
	}
	fr_tally_free(&t);
	return out->cnt;
}

/* A program that freed memory, by its samples. */
static bool tell_top_freer(struct fr_case *k)
{
	const char *limit;
	struct freer f;

	if (!top_freer(k, &f))
		return false;
	limit = is_of_cgroup(f.in) && !f.are_several ? fr_word_cgroup_limit(k, f.s->tid, f.s->ts) : "";
	fr_case_cause(k, *limit ? "cpu_sample, counters" : "cpu_sample",
		      "%s freed memory of %s: %u of %s%u samples in the %s before are in %s%s%s",
		      f.are_several ? fr_word(k, "tasks called %s", fr_word_comm(k, f.s->tid, f.s->ts))
				    : fr_word_who(k, f.s->tid, f.s->ts),
		      is_of_cgroup(f.in) ? "a cgroup, as at its limit" : "the host, which is short of it", f.cnt,
		      f.are_several ? "" : "its ", f.all, fr_word_ns(k, k->c->at_ns - k->c->begin_ns), f.in, *limit ? "; " : "",
		      limit);
	return true;
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
		limit = efforts[i].of_cgroup ? fr_word_cgroup_limit(k, who->tid, who->ts) : "";
		fr_case_cause(k, effort_from(k, efforts[i].begin, limit),
			      "%s %s: %u time%s%s in the %s before, for %s, the longest %s%s%s",
			      fr_word_who(k, who->tid, who->ts), efforts[i].what, e.cnt, fr_plural(e.cnt),
			      effort_more(k, efforts[i].begin, &e, k->c->begin_ns), fr_word_ns(k, k->c->at_ns - k->c->begin_ns),
			      fr_word_ns(k, e.ns), fr_word_ns(k, e.most_ns), *limit ? "; " : "", limit);
		return true;
	}
	if (tell_top_freer(k))
		return true;
	limit = any_limit(k);
	if (!*limit)
		return false;
	fr_case_cause(k, "counters", "memory had to be freed first: %s", limit);
	return true;
}
