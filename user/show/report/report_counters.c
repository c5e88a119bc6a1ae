/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_counters: which of the host's counters moved notably around the moment that the report is about. Evidence: what is
 * not recorded is not there, and never 0.
 *
 *	Counters  in the ten seconds around the trigger, beside the time before
 *	  netstat.TcpExtListenOverflows  +120 in 10 s, 0 in 9 min before: connections dropped: the queue of accept() was full
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter/counter.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "show/report/report_kinds.h"
#include "show/report/report_text.h"

#define SHOWN	8u  /* of a page */
#define FIRST	3u  /* in the lines of what changed */
#define NOTABLE 64u /* of JSON */

static u32 counters_find(struct fr_report *r, struct fr_counter_notable *n, u32 most)
{
	const struct fr_counters *c = fr_snap_counters(r->snap);

	return c ? fr_counters_notable(c, r->res->focus.at_ns, n, most) : 0;
}

static const char *counters_show(const struct fr_counter *c, u64 value, char *buf, size_t sz)
{
	if (c && c->unit == FR_COUNTER_US && value < ~0ULL / 1000)
		return fr_show_duration(value * 1000, buf, sz);
	if (c && c->unit == FR_COUNTER_BYTES)
		return fr_show_size(value, buf, sz);
	return fr_show_count(value, buf, sz);
}

static void counters_put_move(struct fr_out *o, const struct fr_counter *c, const struct fr_counter_move *m)
{
	char value[40], length[32];

	fr_out_printf(o, "%s in %s", counters_show(c, m->delta, value, sizeof(value)),
		      fr_show_duration(m->to_ns - m->from_ns, length, sizeof(length)));
}

static void counters_put(struct fr_out *o, const struct fr_counter_notable *n)
{
	const struct fr_counter *c = fr_counter_find(n->series->name);

	fr_out_printf(o, "  %s", n->series->name);
	if (*n->series->object) {
		fr_out_char(o, ' ');
		fr_escape_text(o, n->series->object, strlen(n->series->object));
	}
	fr_out_str(o, "  +");
	counters_put_move(o, c, &n->last);
	if (n->before.to_ns) {
		fr_out_str(o, ", ");
		counters_put_move(o, c, &n->before);
		fr_out_str(o, " before");
	} else {
		fr_out_str(o, ", before not known");
	}
	if (c)
		fr_out_printf(o, ": %s", c->meaning);
	fr_out_char(o, '\n');
}

/* The first of them, for the lines of what changed: "NAME +6 in 13 s, 0 before: meaning; ...". "": none moved notably. */
void fr_report_counters_words(struct fr_report *r, char *text, size_t sz)
{
	struct fr_counter_notable n[FIRST];
	u32 cnt = counters_find(r, n, FIRST), i;
	size_t len = 0;

	*text = 0;
	for (i = 0; i < cnt && len < sz; i++) {
		const struct fr_counter *c = fr_counter_find(n[i].series->name);
		char object[80] = "", last[40], took[32], before[48] = "before not known", value[40], length[32];

		if (!c || !c->trouble)
			continue;
		object[fr_escape_mem(object, sizeof(object) - 1, n[i].series->object, strlen(n[i].series->object))] = 0;
		counters_show(c, n[i].last.delta, last, sizeof(last));
		fr_show_duration(n[i].last.to_ns - n[i].last.from_ns, took, sizeof(took));
		if (n[i].before.to_ns)
			snprintf(before, sizeof(before), "%s in %s before",
				 counters_show(c, n[i].before.delta, value, sizeof(value)),
				 fr_show_duration(n[i].before.to_ns - n[i].before.from_ns, length, sizeof(length)));
		len += snprintf(text + len, sz - len, "%s%s%s%s +%s in %s, %s (%s)",
				len ? "; " : "counters: ", n[i].series->name, *object ? " " : "", object, last, took, before,
				c->meaning);
	}
}

void fr_report_put_counters(struct fr_report_page *p)
{
	struct fr_counter_notable n[SHOWN];
	u32 cnt = counters_find(p->r, n, SHOWN), i;
	char note[120];

	if (!cnt)
		return;
	snprintf(note, sizeof(note), "what moved notably up to the reading after %s: `flightrec info --counters` has all",
		 fr_report_moment_name(p));
	fr_report_title(p, "Counters", note);
	for (i = 0; i < cnt; i++)
		counters_put(p->o, &n[i]);
}

/* Those that JSON has, most notable first: found once. */
static const void *counters_moved(const struct fr_at *at, u32 i)
{
	struct fr_report *r = (struct fr_report *)at->of;

	if (!r->notable) {
		r->notable = calloc(NOTABLE, sizeof(*r->notable));
		r->notable_cnt = r->notable ? counters_find(r, r->notable, NOTABLE) : 0;
	}
	return i < r->notable_cnt ? &r->notable[i] : NULL;
}

static struct fr_value counters_readings(const struct fr_at *at)
{
	size_t cnt = 0;

	free(fr_counters_moments(fr_snap_counters(((const struct fr_report *)at->of)->snap), &cnt));
	return fr_value_nr(cnt);
}

static struct fr_value counters_name(const struct fr_at *at)
{
	return fr_value_text(((const struct fr_counter_notable *)at->rec)->series->name);
}

static struct fr_value counters_object(const struct fr_at *at)
{
	const char *object = ((const struct fr_counter_notable *)at->rec)->series->object;

	return fr_value_text(*object ? object : NULL);
}

static struct fr_value counters_unit(const struct fr_at *at)
{
	const struct fr_counter *c = fr_counter_find(((const struct fr_counter_notable *)at->rec)->series->name);

	return fr_value_text(c ? fr_counter_unit_name(c->unit) : NULL);
}

static const void *counters_before(const struct fr_at *at, u32 i)
{
	const struct fr_counter_notable *n = at->rec;

	return !i && n->before.to_ns ? &n->before : NULL;
}

/* clang-format off */
static const struct fr_column counters_move_columns[] = {
	FR_COLUMN(struct fr_counter_move, delta, "delta", COUNT, "by how much it rose"),
	FR_COLUMN(struct fr_counter_move, from_ns, "from_ns", CLOCK, "from this reading"),
	FR_COLUMN(struct fr_counter_move, to_ns, "to_ns", CLOCK, "to this one"),
	{},
};
static const struct fr_table kind_counter_move = {"counter_move", "What a counter did between two readings.", counters_move_columns};

static const struct fr_column counters_moved_columns[] = {
	FR_COLUMN_MADE(counters_name, "name", TEXT, "a counter"),
	FR_COLUMN_MADE(counters_object, "object", TEXT, "what it is of: a disk, a cgroup; `null`: the host"),
	FR_COLUMN_MADE(counters_unit, "unit", TEXT, "of `delta`; `null`: this version does not know the counter"),
	FR_PART(struct fr_counter_notable, last, "last", &kind_counter_move, "in the ten seconds up to the first reading at or after the moment"),
	FR_PART_MADE(counters_before, "before", &kind_counter_move, "in all the time before that; `null`: it is not known", .null = true),
	{},
};
static const struct fr_table kind_counter_moved = {"counter_moved", "A [counter](counters.md) that moved notably.", counters_moved_columns};

static const struct fr_column counters_columns[] = {
	FR_COLUMN_MADE(counters_readings, "readings", COUNT, "moments of which the file has counters"),
	FR_LIST(counters_moved, "moved", &kind_counter_moved, "those that moved notably, the most notable first; at most 64"),
	{},
};
const struct fr_table fr_report_kind_counters = {
	"counters", "The [host's counters](counters.md) around the moment. They are evidence. Text shows the first 8.", counters_columns};
/* clang-format on */
