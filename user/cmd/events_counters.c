/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/events_counters.h"

#include "base/counter/counter.h"
#include "base/text/jsonw.h"

void fr_events_counters_text(struct fr_out *o)
{
	const struct fr_counter *c;

	for (c = fr_counters_all; c < fr_counters_all + fr_counters_all_cnt; c++)
		fr_out_printf(o, "%-36s %-5s %-10s %s\n", c->name, fr_counter_kind_name(c->kind), fr_counter_unit_name(c->unit),
			      c->meaning);
}

void fr_events_counters_json(struct fr_out *o)
{
	struct fr_jsonw w = {.o = o};
	const struct fr_counter *c;

	fr_jsonw_open(&w, NULL, '[');
	for (c = fr_counters_all; c < fr_counters_all + fr_counters_all_cnt; c++) {
		fr_jsonw_open(&w, NULL, '{');
		fr_jsonw_text(&w, "name", c->name);
		fr_jsonw_text(&w, "kind", fr_counter_kind_name(c->kind));
		fr_jsonw_text(&w, "unit", fr_counter_unit_name(c->unit));
		fr_jsonw_bool(&w, "trouble", c->trouble);
		fr_jsonw_text(&w, "meaning", c->meaning);
		fr_jsonw_close(&w, '}');
	}
	fr_jsonw_close(&w, ']');
	fr_out_char(o, '\n');
}

static void md_source(struct fr_out *o, const struct fr_counter_source *s)
{
	if (!s->file)
		return;
	fr_out_printf(o, "`%s`", fr_counter_path(s->file));
	if (*s->key)
		fr_out_printf(o, " %s", s->key);
}

void fr_events_counters_md(struct fr_out *o)
{
	const struct fr_counter *c;

	fr_out_str(
		o,
		"# Counters of the host\n\n"
		"Made by `flightrec events --counters --md` from `user/base/counter/counter.c`.\n\n"
		"A snapshot has what these were at its moment. A recorder whose session counts a [profile](profile.md) also "
		"keeps\n"
		"them every ten seconds, for ten minutes, so that a snapshot has those before it: it wakes for that no more "
		"often than\n"
		"to read the profile. `flightrec info --counters FILE` prints them, per ten seconds; `flightrec report` names\n"
		"those that moved notably in the last ten seconds; the library has them as a table.\n\n"
		"- A **count** only rises: what matters is by how much. A **gauge** is how much there is.\n"
		"- What a kernel or a cgroup does not have is not recorded: it has no line, and is never 0.\n"
		"- Those of the network are of the network namespace of process 1.\n"
		"- Of disks and partitions, those that ever did anything are recorded.\n"
		"- Of cgroups, the 48 that did most since the reading before (time on CPUs, or change of memory), those read "
		"before as\n"
		"  long as there is room, and that of the task that a snapshot is about. At most 1024 cgroups of a hierarchy "
		"are looked at,\n"
		"  from the top; below one that did nothing there is none that did. A snapshot without a recorder has those "
		"that\n"
		"  did most since they were made. Hierarchies of v1 and v2 have the same names here.\n"
		"- Counts marked ! are of trouble, or of time waited: the report names one that moves and stood still before, "
		"or\n"
		"  moves three times as fast as before. Of the others, which count work, it takes a hundred times as much.\n\n"
		"| counter | | kind | unit | from | or, v1 |\n|---|---|---|---|---|---|\n");
	for (c = fr_counters_all; c < fr_counters_all + fr_counters_all_cnt; c++) {
		fr_out_printf(o, "| `%s`%s | %s | %s | %s | ", c->name, c->trouble ? " !" : "", c->meaning,
			      fr_counter_kind_name(c->kind), fr_counter_unit_name(c->unit));
		md_source(o, &c->from[0]);
		fr_out_str(o, " | ");
		md_source(o, &c->from[1]);
		fr_out_str(o, " |\n");
	}
}
