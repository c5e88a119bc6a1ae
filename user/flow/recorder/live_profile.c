/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live_profile: what status says about the profile: the size of its tables, how often they are read, the rate they certainly
 * take.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/recorder/live.h"
#include "io/session/sampler.h"
#include "pure/text/units.h"

/* How often its tables are halved; -1: it counts no profile. */
static int table_shift(const struct fr_live *l)
{
	char *text = fr_sess_fact(l->s, "cpu_profile");
	bool yes = text && !strcmp(text, "yes");

	free(text);
	return yes ? fr_hits_sess_shift(l->s) : -1;
}

static bool exceeds(const struct fr_live *l, u32 shift)
{
	return fr_sess_sample_hz(l->s) > fr_sampler_rate_max(shift);
}

void fr_live_profile_json(const struct fr_live *l, struct fr_out *o)
{
	int shift = table_shift(l);

	if (shift < 0)
		return;
	fr_out_printf(o,
		      "\"cpu_profile\":{\"tables\":2,\"keys\":%u,\"stacks\":%u,\"words\":%u,\"interval_ms\":%llu,"
		      "\"latency_ms\":%llu,\"rate_max\":%llu,\"hz\":%u,\"exceeded\":%s},",
		      fr_hits_cnt(shift), fr_hits_stack_cnt(shift), fr_hits_word_cnt(shift),
		      FR_SAMPLER_INTERVAL_NS / FR_MSEC_NS, FR_SAMPLER_LATENCY_NS / FR_MSEC_NS,
		      (unsigned long long)fr_sampler_rate_max(shift), fr_sess_sample_hz(l->s),
		      exceeds(l, shift) ? "true" : "false");
}

/* Who empties the tables, and how fast that is. */
static void put_reader(const struct fr_live *l, struct fr_out *o, u32 shift)
{
	if (!l->owned) {
		fr_out_str(o, ", which nobody reads without a recorder: full ones lose samples");
		return;
	}
	fr_out_printf(o, ", read when one fills and every %llu s: up to %llu different stacks/s a CPU",
		      FR_SAMPLER_INTERVAL_NS / FR_SEC_NS, (unsigned long long)fr_sampler_rate_max(shift));
	if (exceeds(l, shift)) {
		fr_out_paint(o, FR_PAINT_RED);
		fr_out_printf(o, "; %u Hz is more", fr_sess_sample_hz(l->s));
		fr_out_paint(o, FR_PAINT_NONE);
	}
}

void fr_live_profile_text(const struct fr_live *l, struct fr_out *o)
{
	int shift = table_shift(l);

	if (shift < 0)
		return;
	fr_out_printf(o, "  %-10s ", "profile");
	fr_out_printf(o, "2 tables of %u keys a CPU", fr_hits_cnt(shift));
	put_reader(l, o, shift);
	fr_out_char(o, '\n');
}
