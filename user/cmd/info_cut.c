/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* info_cut: what `flightrec cut` has left out of a snapshot, and which files `flightrec merge` made it from. */
#include <stdio.h>

#include "base/text/escape.h"
#include "cmd/info.h"

static void cut_put_cut(struct fr_out *o, const struct fr_info *s)
{
	fr_info_label(o, "cut");
	fr_info_put(o, s, "from ", "cut_from", "");
	fr_info_put(o, s, ", since ", "cut_since", " ns");
	fr_info_put(o, s, ", until ", "cut_until", " ns");
	fr_info_put(o, s, ", CPUs ", "cut_cpu", "");
	fr_info_put(o, s, ", processes ", "cut_pid", "");
	fr_info_put(o, s, ", cgroups ", "cut_cgroup", "");
	fr_info_put(o, s, ", events that match ", "cut_filter", "");
	fr_info_put(o, s, "; ", "cut_away", " events were cut away: they were not lost");
	fr_info_put(o, s, "; it had ", "cut_damage", " damaged part(s)");
	fr_out_char(o, '\n');
}

static void put_merge(struct fr_out *o, const struct fr_info *s)
{
	char name[32], reason[48];
	u32 i;

	fr_info_label(o, "merged");
	fr_info_put(o, s, "of ", "merge_cnt", " snapshot(s):");
	for (i = 0;; i++) {
		snprintf(name, sizeof(name), "merge_%u", i);
		snprintf(reason, sizeof(reason), "merge_%u_trigger_reason", i);
		if (!fr_info_fact(s, name))
			break;
		fr_info_put(o, s, i ? ", " : " ", name, "");
		fr_info_put(o, s, " (", reason, ")");
	}
	fr_out_char(o, '\n');
}

/* The accuracy of wall time, which orders events of several hosts. */
static void put_uncertainty(struct fr_out *o, const struct fr_info *s)
{
	size_t cnt = flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_CLOCKS), row;
	u64 most_ns = 0, ns;

	for (row = 0; row < cnt; row++) {
		ns = fr_info_num(s, FLIGHTREC_TABLE_CLOCKS, row, "uncertainty_ns");
		most_ns = ns > most_ns ? ns : most_ns;
	}
	if (!cnt)
		return;
	fr_info_label(o, "wall time");
	fr_out_printf(o, "read to within %llu ns; how right the host's own clock was is not known here\n", most_ns);
}

void fr_info_cut_text(struct fr_out *o, const struct fr_info *s)
{
	if (fr_info_fact(s, "cut_from"))
		cut_put_cut(o, s);
	if (fr_info_fact(s, "merge_cnt")) {
		put_merge(o, s);
		put_uncertainty(o, s);
	}
}
