/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/format/softirqs_text.h"

#include "base/text/counts.h"
#include "base/text/escape.h"
#include "base/text/units.h"

#define CPUS_SHOWN  3u
#define NSEC_PER_MS 1000000ull

bool fr_softirqs_put_counts(struct fr_out *o, const struct fr_softirqs_told *t, int width, const char *sep)
{
	const char *at = t->cnt, *name;
	bool any = false;
	char text[32];
	int len;
	u64 v;

	while (fr_counts_since(t->cnt_begin, &at, &name, &len, &v)) {
		if (!v)
			continue;
		fr_out_printf(o, "%s%*s ", any ? sep : "", width, fr_show_count(v, text, sizeof(text)));
		fr_escape_text(o, name, len);
		any = true;
	}
	return any;
}

struct cpu_time {
	const char *cpu;
	int len;
	u64 ms;
};

/* All CPUs, or those with most, the first ones first among equals. */
static void softirqs_keep(struct cpu_time shown[CPUS_SHOWN], u32 nr, const struct cpu_time *one, bool all)
{
	struct cpu_time c = *one, other;
	u32 i;

	if (all)
		shown[nr] = *one;
	for (i = 0; !all && i < CPUS_SHOWN && c.cpu; i++)
		if (!shown[i].cpu || c.ms > shown[i].ms) {
			other = shown[i];
			shown[i] = c;
			c = other;
		}
}

void fr_softirqs_put_time(struct fr_out *o, const struct fr_softirqs_told *t)
{
	struct cpu_time shown[CPUS_SHOWN] = {}, one;
	const char *at = t->ms;
	u32 cnt = 0, nr = 0;
	char text[32];
	u64 sum = 0;

	while (fr_counts_since(t->ms_begin, &at, &one.cpu, &one.len, &one.ms)) {
		sum += one.ms;
		cnt++;
	}
	for (at = t->ms; fr_counts_since(t->ms_begin, &at, &one.cpu, &one.len, &one.ms); nr++)
		softirqs_keep(shown, nr, &one, cnt <= CPUS_SHOWN);
	if (cnt > CPUS_SHOWN)
		fr_out_printf(o, "%s in all: ", fr_show_duration(sum * NSEC_PER_MS, text, sizeof(text)));
	for (nr = 0; nr < CPUS_SHOWN && nr < cnt; nr++)
		fr_out_printf(o, "%sCPU %.*s %s", nr ? ", " : "", shown[nr].len, shown[nr].cpu,
			      fr_show_duration(shown[nr].ms * NSEC_PER_MS, text, sizeof(text)));
	if (cnt > CPUS_SHOWN)
		fr_out_str(o, ", ...");
}
