/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure/text/wall.h"

#include <stdint.h>
#include <string.h>

#define SLEW_MAX 1000 /* a clock is slewed by less than 1 / this */

void fr_wall_init(struct fr_wall *w)
{
	memset(w, 0, sizeof(*w));
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
}

static u64 shift(const struct fr_wall_sample *s)
{
	return s->real_ns - s->ts;
}

static u64 between(const struct fr_wall_sample *a, const struct fr_wall_sample *b, u64 ts)
{
	u64 span = b->ts - a->ts;
	s64 drift = shift(b) - shift(a);
	u64 apart = drift < 0 ? 0 - (u64)drift : (u64)drift;

	if (apart > span / SLEW_MAX)
		return ts + shift(ts == a->ts ? a : b);
	return ts + shift(a) + (s64)((double)drift * (double)(ts - a->ts) / (double)span);
}

/* How many samples are not later than ts. */
static u32 samples_to(const struct fr_wall *w, u64 ts)
{
	u32 i = 0, step;

	for (step = 1u << (31 - __builtin_clz(w->cnt)); step; step /= 2)
		if (i + step <= w->cnt && w->sample[i + step - 1].ts <= ts)
			i += step;
	return i;
}

static bool is_between(const struct fr_wall *w, u32 i, u64 ts)
{
	return i && i < w->cnt && w->sample[i - 1].ts <= ts && ts < w->sample[i].ts;
}

u64 fr_wall_real_near(const struct fr_wall *w, u64 ts, u32 *near)
{
	u32 i = *near;

	if (!w->cnt)
		return 0;
	if (!is_between(w, i, ts))
		*near = i = samples_to(w, ts);
	if (!i)
		return ts + shift(&w->sample[0]);
	if (i == w->cnt)
		return ts + shift(&w->sample[i - 1]);
	return between(&w->sample[i - 1], &w->sample[i], ts);
}

u64 fr_wall_real(const struct fr_wall *w, u64 ts)
{
	u32 near = 0;

	return fr_wall_real_near(w, ts, &near);
}

u64 fr_wall_shift(const struct fr_wall *w)
{
	return w->cnt ? shift(&w->sample[w->cnt - 1]) : 0;
}

s64 fr_wall_ts(const struct fr_wall *w, u64 real_ns)
{
	s64 ts;

	if (!w->cnt)
		return 0;
	return __builtin_sub_overflow(real_ns, (s64)fr_wall_shift(w), &ts) ? INT64_MAX : ts;
}
