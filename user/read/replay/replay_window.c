/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* replay_window: the window of time that is shown. */
#include "read/replay/replay_int.h"

#include <errno.h>

#include "base/err.h"
#include "read/replay/summary.h"

/* From the first to the last row of these tiers; *begin_key > *end_key: there is none. */
static void span_of(const struct fr_replay *r, u32 tiers, u64 *begin_key, u64 *end_key)
{
	u32 i;

	*begin_key = ~0ULL;
	*end_key = 0;
	for (i = 0; i < r->file_cnt; i++) {
		u64 shift = r->boot[r->file[i].boot].shift_ns;
		size_t cnt, j;
		const struct fr_chunk *c = fr_snap_chunks(r->file[i].snap, &cnt);

		for (j = 0; j < cnt; j++) {
			if (c[j].tier >= 32 || !(tiers >> c[j].tier & 1))
				continue;
			if (c[j].first_ts + shift < *begin_key)
				*begin_key = c[j].first_ts + shift;
			if (c[j].last_ts + shift > *end_key)
				*end_key = c[j].last_ts + shift;
		}
	}
}

/* What is shown, and what times of windows count from: the same in each command, whatever it shows. */
static void find_spans(struct fr_replay *r)
{
	span_of(r, r->opts.tiers, &r->begin_key, &r->end_key);
	if (r->begin_key > r->end_key)
		r->begin_key = r->end_key;
	span_of(r, FR_REPLAY_TIERS, &r->first_key, &r->last_key);
	if (r->first_key > r->last_key) /* stacks, and nothing that refers to them */
		span_of(r, ~0u, &r->first_key, &r->last_key);
	if (r->first_key > r->last_key)
		r->first_key = r->last_key;
}

/* When the first of a file's rings was copied: from then on not all of its tiers go on. ~0: nothing tells. */
static u64 first_copied(const struct fr_replay *r, u32 file)
{
	const struct fr_snap *s = r->file[file].snap;
	size_t cnt, i;
	const struct fr_snap_ring *ring = fr_snap_rings(s, &cnt);
	u64 first_ns = ~0ULL;

	for (i = 0; i < cnt; i++)
		if (ring[i].end_ns && ring[i].tier < 32 && FR_REPLAY_TIERS >> ring[i].tier & 1 && ring[i].end_ns < first_ns)
			first_ns = ring[i].end_ns;
	return first_ns == ~0ULL ? first_ns : first_ns + r->boot[r->file[file].boot].shift_ns;
}

/* What -10ms is before: the trigger or, where none lies among the events, the moment at which all tiers of a file end. */
static u64 end_that_counts(const struct fr_replay *r)
{
	u64 end_key = 0, key;
	u32 i;

	if (r->has_trigger && r->trigger_key >= r->first_key && r->trigger_key <= r->last_key)
		return r->trigger_key;
	for (i = 0; i < r->file_cnt; i++) {
		key = first_copied(r, i);
		end_key = key > end_key ? key : end_key;
	}
	return end_key < r->last_key ? end_key : r->last_key;
}

int fr_replay_resolve(const struct fr_replay *r, u32 boot, const struct fr_when *w, s64 *ts)
{
	const struct fr_replay_boot *b = &r->boot[boot];
	struct fr_when at = *w;

	if (r->has_trigger)
		fr_when_know_trigger(&at, r->trigger_key - b->shift_ns);
	if (at.kind == FR_WHEN_END)
		fr_when_know_end(&at, end_that_counts(r) - b->shift_ns);
	return fr_when_resolve(&at, r->first_key - b->shift_ns, r->last_key - b->shift_ns, &b->wall, ts);
}

/* One limit on a boot's clock, or `none` if it is not set. */
static int resolve(const struct fr_replay *r, u32 boot, const struct fr_when *w, s64 none, s64 *ts)
{
	int err;

	*ts = none;
	if (w->kind == FR_WHEN_NEVER)
		return 0;
	err = fr_replay_resolve(r, boot, w, ts);
	if (err == -ENOMSG)
		fr_err("the snapshot does not say when its trigger was: give a time relative to its start (2s) or end (-2s)");
	if (err == -ENODATA)
		fr_err("the snapshot holds no wall time to compare with: give a time relative to its start (2s) or end (-2s)");
	return err ? -EINVAL : 0;
}

/* The moment of the first file that has one: snapshots viewed together were taken for one incident. */
static void window_find_trigger(struct fr_replay *r)
{
	u32 i;
	s64 ts;

	for (i = 0; i < r->file_cnt && !r->has_trigger; i++) {
		r->has_trigger = fr_snap_fact_num(r->file[i].snap, "trigger_ts", &ts) && ts > 0;
		if (r->has_trigger)
			r->trigger_key = ts + r->boot[r->file[i].boot].shift_ns;
	}
}

/* Why no event of this boot can be in the window, NULL: there may be some. */
static const char *why_empty(const struct fr_replay *r, const struct fr_replay_boot *b)
{
	s64 first = r->begin_key - b->shift_ns, last = r->end_key - b->shift_ns;

	return b->until_ns < first	   ? "the window ends before the first event"
	       : b->since_ns > last	   ? "the window begins after the last event"
	       : b->since_ns > b->until_ns ? "the window ends before it begins"
					   : NULL;
}

/* Reported once, and only if it applies to all boots: each has its own clock. */
static void say_empty(const struct fr_replay *r)
{
	const char *why = NULL;
	u32 i;

	for (i = 0; i < r->boot_cnt; i++) {
		why = why_empty(r, &r->boot[i]);
		if (!why)
			return;
	}
	if (why)
		fr_warn("%s: no event is in it; `flightrec info %s` shows what time it covers", why, r->file[0].path);
}

int fr_replay_find_window(struct fr_replay *r)
{
	struct fr_when until = r->opts.until;
	u32 i;
	int err = 0;

	until.last = true;
	find_spans(r);
	window_find_trigger(r);
	for (i = 0; i < r->boot_cnt && !err; i++) {
		struct fr_replay_boot *b = &r->boot[i];

		err = resolve(r, i, &r->opts.since, 0, &b->since_ns);
		err = err ? err : resolve(r, i, &until, INT64_MAX, &b->until_ns);
		if (b->since_ns < 0)
			b->since_ns = 0;
	}
	if (!err && r->end_key)
		say_empty(r);
	return err;
}

void fr_replay_span(const struct fr_replay *r, u64 *begin_ns, u64 *end_ns)
{
	const struct fr_replay_boot *b = r->boot;

	*begin_ns = r->boot_cnt > 1 ? r->begin_key : r->boot_cnt ? fr_wall_real(&b->wall, r->begin_key) : 0;
	*end_ns = r->boot_cnt > 1 ? r->end_key : r->boot_cnt ? fr_wall_real(&b->wall, r->end_key) : 0;
}

/* A moment on a boot's clock; of what was before it began, 0. */
static u64 on_clock(const struct fr_replay_boot *b, u64 key)
{
	s64 ts = key - b->shift_ns;

	return ts > 0 ? ts : 0;
}

static u64 window_within(s64 ts, u64 first, u64 last)
{
	if (ts < 0 || (u64)ts < first)
		return first;
	return (u64)ts > last ? last : (u64)ts;
}

void fr_replay_file_window(const struct fr_replay *r, u32 file, u64 *begin_ns, u64 *end_ns)
{
	const struct fr_replay_boot *b = &r->boot[r->file[file].boot];
	u64 first = on_clock(b, r->begin_key), last = on_clock(b, r->end_key);

	*begin_ns = window_within(b->since_ns, first, last);
	*end_ns = window_within(b->until_ns, first, last);
	if (*end_ns < *begin_ns)
		*end_ns = *begin_ns;
}

u64 fr_replay_since(const struct fr_replay *r, u32 file)
{
	return r->boot[r->file[file].boot].since_ns;
}

u64 fr_replay_shift(const struct fr_replay *r, u32 file)
{
	return r->boot[r->file[file].boot].shift_ns;
}

void fr_replay_window(const struct fr_replay *r, u64 *begin_ns, u64 *end_ns)
{
	fr_replay_file_window(r, 0, begin_ns, end_ns);
}
