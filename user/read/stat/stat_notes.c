/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stat_notes: what is not known of a result, in sentences. Each says what is missing, and, where there is one, the way to see
 * more. What was not recorded, or is overwritten, must not look like 0.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text/counts.h"
#include "base/text/units.h"
#include "read/replay/missing.h"
#include "read/replay/summary.h"
#include "read/replay/thins.h"
#include "read/stat/stat_int.h"

#define NAMES_SZ 200u

/* May the filter take rows of this event in a file? */
static bool notes_takes(const struct fr_stat *s, u32 file, u32 nr)
{
	const struct fr_filter *f = s->run->filter[file];

	return fr_schema_event(fr_replay_schema(s->replay, file), nr) && (!f || fr_filter_verdict(f, nr) != FR_VERDICT_NO);
}

static bool takes_event(const struct fr_stat *s, u32 file, const char *name)
{
	const struct fr_event *ev = fr_schema_find(fr_replay_schema(s->replay, file), name);

	return ev && notes_takes(s, file, ev->nr);
}

/* A recorded event of this tier. */
static bool takes_tier(const struct fr_stat *s, u32 file, u8 tier)
{
	const struct fr_event *ev;
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		ev = fr_schema_event(fr_replay_schema(s->replay, file), nr);
		if (notes_takes(s, file, nr) && ev->tier == tier && fr_snap_records(fr_replay_snap(s->replay, file), ev->name))
			return true;
	}
	return false;
}

/* ---- events that were not recorded ---- */

static bool chooses_events(const struct fr_stat *s, u32 file)
{
	u32 nr;

	for (nr = 0; s->run->filter[file] && nr < FR_EVENT_MAX; nr++)
		if (fr_schema_event(fr_replay_schema(s->replay, file), nr) && !notes_takes(s, file, nr))
			return true;
	return false;
}

/* Does the filter choose the event, or may a function have a value of it? */
static bool notes_is_asked_for(const struct fr_stat *s, u32 file, u32 nr)
{
	u32 i;

	if (!notes_takes(s, file, nr))
		return false;
	if (chooses_events(s, file))
		return true;
	for (i = 0; i < s->ask->func_cnt; i++) {
		const struct fr_filter *f = s->run->func[file * FR_STAT_FUNC_MAX + i];

		if (f && !fr_filter_is_truth(f) && fr_filter_may_have(f, nr) && !fr_filter_is_everywhere(f))
			return true;
	}
	return false;
}

static void note_not_recorded(struct fr_stat *s)
{
	char names[NAMES_SZ] = "";
	u32 file, nr, cnt = 0;
	size_t len;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		u32 lacking = 0;
		const char *name = NULL;

		for (file = 0; file < s->file_cnt; file++) {
			if (!notes_is_asked_for(s, file, nr))
				continue;
			name = fr_schema_event(fr_replay_schema(s->replay, file), nr)->name;
			lacking += !fr_snap_records(fr_replay_snap(s->replay, file), name);
		}
		len = strlen(names);
		if (!lacking)
			continue;
		if (len + strlen(name) + 40 > NAMES_SZ)
			cnt++;
		else if (lacking < s->file_cnt)
			snprintf(names + len, NAMES_SZ - len, "%s%s (in %u of %u files)", len ? ", " : "", name, lacking,
				 s->file_cnt);
		else
			snprintf(names + len, NAMES_SZ - len, "%s%s", len ? ", " : "", name);
	}
	if (!names[0])
		return;
	if (cnt)
		snprintf(names + strlen(names), NAMES_SZ - strlen(names), " and %u more", cnt);
	fr_stat_note(s, "not_recorded", "not recorded, so not known: %s; `record -e` chooses what is", names);
}

/* ---- waits ---- */

static u64 notes_count_of(const struct fr_snap *snap, const char *what)
{
	u64 v;

	return fr_counts_get(fr_snap_fact(snap, "waits"), what, strlen(what), &v) ? v : 0;
}

static void note_waits(struct fr_stat *s)
{
	u64 beyond = 0;
	s64 min_ns = -1, v;
	char text[32], cnt[32];
	u32 file;

	for (file = 0; file < s->file_cnt; file++) {
		const struct fr_snap *snap = fr_replay_snap(s->replay, file);

		if (!takes_event(s, file, "wait") || !fr_snap_records(snap, "wait"))
			continue;
		if (fr_snap_fact_num(snap, "wait_min_ns", &v) && v > min_ns)
			min_ns = v;
		beyond += notes_count_of(snap, "over") + notes_count_of(snap, "lost") + notes_count_of(snap, "held");
	}
	if (min_ns > 0)
		fr_stat_note(s, "wait_min", "waits shorter than %s have no record, and are in no sum",
			     fr_show_duration(min_ns, text, sizeof(text)));
	if (beyond)
		fr_stat_note(s, "waits_beyond",
			     "%s longer wait%s since the sessions began %s no record: beyond the budget, or lost",
			     fr_show_count(beyond, cnt, sizeof(cnt)), fr_plural(beyond), beyond == 1 ? "has" : "have");
}

/* ---- what is overwritten or lost ---- */

static const u8 tiers[] = {FR_TIER_MAIN, FR_TIER_WAIT, FR_TIER_LIFE};

/* The tiers whose events are complete from this time on, of those that the filter takes: "main, wait". */
static void name_tiers(const struct fr_stat *s, u32 file, const struct fr_summary *m, u64 horizon_ns, char *names, size_t sz)
{
	size_t len = 0;
	u32 i;

	names[0] = 0;
	for (i = 0; i < sizeof(tiers) && len < sz; i++)
		if (takes_tier(s, file, tiers[i]) && fr_summary_horizon(m, tiers[i]) == horizon_ns)
			len += snprintf(names + len, sz - len, "%s%s", len ? ", " : "", fr_tier_name(tiers[i]));
}

/* From when on all CPUs' events are there: tiers with the same time are told together. */
static void note_horizon(struct fr_stat *s, u32 file, const struct fr_summary *m)
{
	u64 begin_ns, end_ns, horizon_ns, told_ns = 0;
	char after[32], names[64];
	u32 i;

	fr_replay_file_window(s->replay, file, &begin_ns, &end_ns);
	for (i = 0; i < sizeof(tiers); i++) {
		horizon_ns = fr_summary_horizon(m, tiers[i]);
		if (!takes_tier(s, file, tiers[i]) || horizon_ns <= begin_ns || begin_ns >= end_ns || horizon_ns == told_ns)
			continue;
		told_ns = horizon_ns;
		name_tiers(s, file, m, horizon_ns, names, sizeof(names));
		fr_stat_note(s, "horizon",
			     "%s%sevents of %s are complete only from %s after the beginning on: before that, some were "
			     "overwritten, or not recorded yet (--since %llu)",
			     s->file_cnt > 1 ? s->run->file[file].path : "", s->file_cnt > 1 ? ": " : "", names,
			     fr_show_duration(horizon_ns - begin_ns, after, sizeof(after)), horizon_ns);
	}
}

static int note_accounts(struct fr_stat *s)
{
	struct fr_summary *m;
	u64 lost = 0;
	char cnt[32];
	u32 file;

	for (file = 0; file < s->file_cnt; file++) {
		if (fr_summary_new(fr_replay_snap(s->replay, file), &m))
			return -ENOMEM;
		lost += m->lost_cnt;
		note_horizon(s, file, m);
		fr_summary_free(m);
	}
	if (lost)
		fr_stat_note(s, "lost", "%s event%s lost since the sessions began: `flightrec info` says why",
			     fr_show_count(lost, cnt, sizeof(cnt)), lost == 1 ? " was" : "s were");
	return 0;
}

/* Of all files: a count of what cgroups were thinned of is of at least so many. */
static int note_thinned(struct fr_stat *s)
{
	struct fr_thinned all = {};
	char what[FR_THINS_TEXT_SZ];
	struct fr_thins thins;
	u64 begin_ns, end_ns;
	u32 file, i;
	int err = 0;

	for (file = 0; file < s->file_cnt && !err; file++) {
		fr_replay_file_window(s->replay, file, &begin_ns, &end_ns);
		err = fr_thins_read(fr_replay_file(s->replay, file), begin_ns, end_ns, &thins);
		for (i = 0; i < FR_THIN_KIND_CNT; i++)
			all.left[i] += thins.all.left[i];
		all.cgroup += thins.of.cnt;
		fr_thins_free(&thins);
	}
	if (all.cgroup)
		fr_stat_note(
			s, "thinned",
			"%s of cgroups beyond their share were left out (--thin): counts of these are of at least so many; "
			"`event == thinned` has whose, and when",
			fr_thins_text(all.left, what, sizeof(what)));
	return err;
}

/* By file, files that overlap have less than they hold. */
static void note_overlap(struct fr_stat *s)
{
	bool by_file = false, overlap = false;
	u32 i, k;

	for (i = 0; i < s->ask->key_cnt; i++)
		by_file |= s->ask->key[i].by == FR_STAT_BY_file;
	for (i = 0; i < s->file_cnt; i++)
		for (k = 0; k < i; k++) {
			const struct fr_stat_file *a = &s->run->file[i], *b = &s->run->file[k];

			overlap |= a->boot_nr == b->boot_nr && a->begin_ns <= b->end_ns && b->begin_ns <= a->end_ns;
		}
	if (by_file && overlap)
		fr_stat_note(
			s, "overlap",
			"files overlap: an event that several of them have is counted once, so a file may show less than it "
			"holds");
}

static void note_gaps(struct fr_stat *s)
{
	size_t cnt = fr_missing_cnt(s->run->missing);

	if (cnt)
		fr_stat_note(s, "gaps",
			     "events of CPUs are missing in %zu place%s of the window: `flightrec replay --gaps` shows where",
			     cnt, fr_plural(cnt));
}

/* ---- values ---- */

/* Has a function before this one the same values? */
static bool was_told(const struct fr_stat_ask *ask, u32 i)
{
	u32 k;

	for (k = 0; k < i; k++)
		if (ask->func[k].expr && !strcmp(ask->func[k].expr, ask->func[i].expr))
			return true;
	return false;
}

static void note_values(struct fr_stat *s)
{
	bool approximate = false, of_next = false, no_room = false;
	char has[32], may[32];
	u32 i;

	for (i = 0; i < s->ask->func_cnt; i++) {
		const struct fr_stat_func *f = &s->ask->func[i];
		const struct fr_stat_met *m = &s->run->met[i];

		approximate |= f->fn == FR_STAT_percentile;
		of_next |= m->of_next;
		no_room |= fr_stat_no_room(&s->total, i);
		if (f->expr && m->has_cnt < m->may_cnt && !was_told(s->ask, i) && !fr_filter_is_truth(s->run->func[i]))
			fr_stat_note(s, "no_value",
				     "%s: %s of %s events have a value; the others have none, or it is not known", f->expr,
				     fr_show_count(m->has_cnt, has, sizeof(has)), fr_show_count(m->may_cnt, may, sizeof(may)));
	}
	if (approximate)
		fr_stat_note(s, "percentiles", "percentiles are never too low, and at most 1/32 too high");
	if (no_room)
		fr_stat_note(s, "no_room",
			     "for some percentiles or numbers of different values there was no memory: --memory allows more");
	if (of_next && fr_stat_by_task(s->ask))
		fr_stat_note(
			s, "next_task",
			"what sched_switch tells of time off the CPU (offcpu, queued, blocked, latency, waker) is the next "
			"task's: group by next_comm or next_pid");
}

int fr_stat_note_all(struct fr_stat *s)
{
	char cnt[32];

	note_not_recorded(s);
	note_waits(s);
	note_gaps(s);
	note_values(s);
	if (s->rest.row_cnt)
		fr_stat_note(s, "groups",
			     "for the groups of %s event%s there was no memory; they are in (other): --memory allows more",
			     fr_show_count(s->rest.row_cnt, cnt, sizeof(cnt)), fr_plural(s->rest.row_cnt));
	note_overlap(s);
	return note_thinned(s) ?: note_accounts(s);
}
