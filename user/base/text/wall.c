/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/wall.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text/units.h"

#define SLEW_MAX 1000 /* a clock is slewed by less than 1 / this */

void fr_wall_init(struct fr_wall *w)
{
	memset(w, 0, sizeof(*w));
}

static u64 wall_shift(const struct fr_wall_sample *s)
{
	return s->real_ns - s->ts;
}

/* How wall time goes on to the next sample: found once, as a division takes longer than all the rest. */
static void wall_join(struct fr_wall_sample *s)
{
	const struct fr_wall_sample *next = s + 1;
	u64 span = next->ts - s->ts;
	s64 drift = wall_shift(next) - wall_shift(s);
	u64 apart = drift < 0 ? 0 - (u64)drift : (u64)drift;

	s->step = apart > span / SLEW_MAX ? drift : 0;
	s->slew = s->step ? 0 : (double)drift / (double)span;
}

void fr_wall_add(struct fr_wall *w, u64 ts, u64 real_ns)
{
	u32 i = w->cnt;

	if (!ts || !real_ns)
		return;
	while (i && w->sample[i - 1].ts > ts)
		i--;
	if (i && w->sample[i - 1].ts == ts)
		return;
	if (w->cnt == FR_WALL_MAX) {
		if (!i)
			return;
		memmove(w->sample, w->sample + 1, (--i) * sizeof(w->sample[0]));
	} else {
		memmove(w->sample + i + 1, w->sample + i, (w->cnt++ - i) * sizeof(w->sample[0]));
	}
	w->sample[i] = (struct fr_wall_sample){.ts = ts, .real_ns = real_ns};
	if (i)
		wall_join(&w->sample[i - 1]);
	if (i + 1 < w->cnt)
		wall_join(&w->sample[i]);
}

static u64 between(const struct fr_wall_sample *a, u64 ts)
{
	s64 since = ts - a->ts;

	return a->real_ns + since + (since ? a->step : 0) + (s64)(a->slew * (double)since);
}

/* How many samples are at or before ts. */
static u32 samples_to(const struct fr_wall *w, u64 ts)
{
	u32 i = 0, step;

	for (step = 1u << (31 - __builtin_clz(w->cnt)); step; step /= 2)
		if (i + step <= w->cnt && w->sample[i + step - 1].ts <= ts)
			i += step;
	return i;
}

static bool wall_is_between(const struct fr_wall *w, u32 i, u64 ts)
{
	return i && i < w->cnt && w->sample[i - 1].ts <= ts && ts < w->sample[i].ts;
}

u64 fr_wall_real_near(const struct fr_wall *w, u64 ts, u32 *near)
{
	u32 i = *near;

	if (!w->cnt)
		return 0;
	if (!wall_is_between(w, i, ts))
		*near = i = samples_to(w, ts);
	if (!i)
		return ts + wall_shift(&w->sample[0]);
	if (i == w->cnt)
		return ts + wall_shift(&w->sample[i - 1]);
	return between(&w->sample[i - 1], ts);
}

u64 fr_wall_real(const struct fr_wall *w, u64 ts)
{
	u32 near = 0;

	return fr_wall_real_near(w, ts, &near);
}

u64 fr_wall_shift(const struct fr_wall *w)
{
	return w->cnt ? wall_shift(&w->sample[w->cnt - 1]) : 0;
}

/* Times between two samples in which wall time rises: piece i ends at sample i, the last one never. */
static s64 piece_begin(const struct fr_wall *w, u32 i)
{
	return i ? (s64)(w->sample[i - 1].ts + 1) : INT64_MIN;
}

static s64 piece_end(const struct fr_wall *w, u32 i)
{
	return i < w->cnt ? (s64)w->sample[i].ts : INT64_MAX;
}

static s64 clamp(const struct fr_wall *w, u32 i, s64 ts)
{
	s64 begin = piece_begin(w, i), end = piece_end(w, i);

	return ts < begin ? begin : ts > end ? end : ts;
}

/* Is the moment before the one looked for: the first that is not before real_ns, or the last that is not after it? */
static bool wall_is_before(const struct fr_wall *w, s64 ts, u64 real_ns, bool last)
{
	return last ? fr_wall_real(w, ts + 1) <= real_ns : fr_wall_real(w, ts) < real_ns;
}

/* In a piece, the first moment that is not before real_ns, or the last that is not after it: interpolation rounds. */
static s64 in_piece(const struct fr_wall *w, u32 i, u64 real_ns, bool last)
{
	u64 nearest = wall_shift(&w->sample[i < w->cnt ? i : i - 1]);
	s64 ts;
	u32 k;

	if (__builtin_sub_overflow(real_ns, (s64)nearest, &ts))
		ts = INT64_MAX;
	ts = clamp(w, i, ts);
	if (!i || i == w->cnt)
		return ts;
	/* the clock is slewed by a thousandth: what one step misses, the next finds, except for a nanosecond or two */
	for (k = 0; k < 4; k++)
		ts = clamp(w, i, (s64)(ts + (real_ns - fr_wall_real(w, ts))));
	for (k = 0; k < 4 && ts < piece_end(w, i) && wall_is_before(w, ts, real_ns, last); k++)
		ts++;
	for (k = 0; k < 4 && ts > piece_begin(w, i) && !wall_is_before(w, ts - 1, real_ns, last); k++)
		ts--;
	return ts;
}

static s64 first_ts(const struct fr_wall *w, u64 real_ns)
{
	u32 i = 0;

	while (i < w->cnt && fr_wall_real(w, piece_end(w, i)) < real_ns)
		i++;
	return in_piece(w, i, real_ns, false);
}

static s64 last_ts(const struct fr_wall *w, u64 real_ns)
{
	u32 i = w->cnt;

	while (i && fr_wall_real(w, piece_begin(w, i)) > real_ns)
		i--;
	return in_piece(w, i, real_ns, true);
}

s64 fr_wall_ts(const struct fr_wall *w, u64 real_ns, bool last)
{
	if (!w->cnt)
		return 0;
	return last ? last_ts(w, real_ns) : first_ts(w, real_ns);
}

bool fr_wall_text(u64 real_ns, char to[FR_WALL_TEXT_SZ])
{
	time_t sec = real_ns / FR_SEC_NS;
	char when[24];
	struct tm tm;

	if (!real_ns || !gmtime_r(&sec, &tm) || !strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm))
		return false;
	snprintf(to, FR_WALL_TEXT_SZ, "%s.%09uZ", when, (u32)(real_ns % FR_SEC_NS));
	return true;
}
