/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_rare: tracepoints that are recorded by default, in the window: of what, how often, how long it took. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/hash.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "read/verdict/clues.h"
#include "show/report/report_kinds.h"
#include "show/report/report_text.h"

#define SHOWN 12u /* of a page */

/* Events of one tracepoint that are about the same; of what begins and ends, and has no more to say, of tasks of one name. */
struct rare_group {
	u64 key;
	const struct fr_rares_item *last;
	u64 cnt, took_ns, longest_ns, known; /* known: of how many it is known how long they took */
};

static const struct fr_rares *rares_of(const struct fr_report *r)
{
	return &r->clues->rares;
}

static u64 rare_key(const struct fr_report *r, const struct fr_rares_item *it)
{
	struct fr_who who = fr_names_who(r->view->names, it->tid, it->ts, it->cpu);
	u64 key = fr_hash(FR_HASH_SEED, &it->entry, sizeof(it->entry));

	return *it->what ? fr_hash(key, it->what, strlen(it->what)) : fr_hash(key, who.comm, who.len);
}

static int rare_by_entry(const void *a, const void *b)
{
	const struct rare_group *x = a, *y = b;

	if (x->last->entry != y->last->entry)
		return x->last->entry < y->last->entry ? -1 : 1;
	if (x->cnt != y->cnt)
		return x->cnt > y->cnt ? -1 : 1;
	return x->last->ts < y->last->ts ? -1 : x->last->ts > y->last->ts;
}

/* In the order of rare.def, the most frequent first. */
int fr_report_rare_read(struct fr_report *r)
{
	u64 since_ns = fr_replay_since(r->replay, 0); /* the verdict reads what was before the window, too */
	const struct fr_rares_item *it;
	size_t i;

	r->rare = (struct fr_tally){.rec_sz = sizeof(struct rare_group)};
	for (i = 0; (it = fr_rares_at(rares_of(r), i)); i++) {
		struct rare_group *g;

		if (it->ts < since_ns)
			continue;
		g = fr_tally_get(&r->rare, rare_key(r, it));
		if (!g)
			return -ENOMEM;
		r->rare_cnt++;
		g->last = it;
		g->cnt++;
		if (it->took_ns == FR_RARES_UNKNOWN)
			continue;
		g->known++;
		g->took_ns += it->took_ns;
		if (it->took_ns > g->longest_ns)
			g->longest_ns = it->took_ns;
	}
	fr_tally_sort(&r->rare, rare_by_entry);
	return 0;
}

/* "tcp_retransmit_skb"; of a beginning that has an end, what the two are called: "mm_vmscan_memcg_reclaim" */
static void rare_name(const struct rare_group *g, char name[FR_NAME_MAX + 1])
{
	const char *full = fr_rare_get(g->last->entry)->name;
	size_t len;

	snprintf(name, FR_NAME_MAX + 1, "%s", strchr(full, ':') + 1);
	len = strlen(name);
	if (g->known && len > 6 && !strcmp(name + len - 6, "_begin"))
		name[len - 6] = 0;
}

void fr_report_put_rare_line(struct fr_report_page *p)
{
	const struct fr_rares *s = rares_of(p->r);
	char text[32];

	fr_report_label(p, "rare events");
	if (!s->any)
		fr_out_str(p->o, "not recorded\n");
	else if (!p->r->rare_cnt)
		fr_out_str(p->o, "none: retransmits, drops, reclaim, cgroups ... (`flightrec events`)\n");
	else
		fr_out_printf(p->o, "%s in this window: `flightrec replay --tier rare` has all\n",
			      fr_show_count(p->r->rare_cnt, text, sizeof(text)));
}

#define FIRST 4u /* in the lines of what changed */

/* Events of one tracepoint in a time. */
struct rare_kind {
	const struct fr_rares_item *last;
	u32 cnt;
};

/* Of each tracepoint; returns how many there were in all. */
static u32 rare_count(const struct fr_rares *s, u64 from_ns, u64 to_ns, struct rare_kind kind[FR_RARES_ENTRY_MAX])
{
	const struct fr_rares_item *it;
	u32 all = 0;
	size_t i;

	memset(kind, 0, FR_RARES_ENTRY_MAX * sizeof(*kind));
	for (i = 0; (it = fr_rares_at(s, i)); i++)
		if (it->ts >= from_ns && it->ts < to_ns && it->entry < FR_RARES_ENTRY_MAX)
			kind[it->entry] = (struct rare_kind){.last = it, .cnt = kind[it->entry].cnt + 1}, all++;
	return all;
}

/* The one that there were most of; NULL: there were none. */
static struct rare_kind *rare_top(struct rare_kind kind[FR_RARES_ENTRY_MAX])
{
	struct rare_kind *top = kind;
	u32 e;

	for (e = 1; e < FR_RARES_ENTRY_MAX; e++)
		top = kind[e].cnt > top->cnt ? &kind[e] : top;
	return top->cnt ? top : NULL;
}

/*
 * Those of a time, for the lines of what changed: "rare events of that time: tcp_retransmit_skb 4 (the last: A -> B), ..., 7
 * others", the most frequent first. "": there were none.
 */
void fr_report_rare_words(struct fr_report *r, u64 from_ns, u64 to_ns, char *text, size_t sz)
{
	struct rare_kind kind[FR_RARES_ENTRY_MAX], *top;
	u32 left = rare_count(rares_of(r), from_ns, to_ns, kind), told;
	size_t len = 0;

	*text = 0;
	for (told = 0; told < FIRST && (top = rare_top(kind)) && len < sz; told++) {
		const struct fr_rares_item *last = top->last;
		struct fr_who who = fr_names_who(r->view->names, last->tid, last->ts, last->cpu);
		char what[64];

		what[fr_escape_mem(what, sizeof(what) - 1, *last->what ? last->what : who.comm ?: "",
				   *last->what ? strlen(last->what) : who.len)] = 0;
		len += snprintf(text + len, sz - len, "%s%s %u%s%s%s",
				told ? ", " : "rare events of that time: ", strchr(fr_rare_get(last->entry)->name, ':') + 1,
				top->cnt, *what ? " (the last: " : "", what, *what ? ")" : "");
		left -= top->cnt;
		top->cnt = 0;
	}
	if (left && len < sz)
		snprintf(text + len, sz - len, ", %u other%s", left, fr_plural(left));
}

static void rare_put_group(struct fr_report_page *p, const struct rare_group *g)
{
	u64 at_ns = p->r->res->focus.at_ns;
	bool later = g->last->ts > at_ns;
	char name[FR_NAME_MAX + 1], text[32];

	rare_name(g, name);
	fr_report_count(p->o, g->cnt, 7);
	fr_show_duration(later ? g->last->ts - at_ns : at_ns - g->last->ts, text, sizeof(text));
	fr_out_printf(p->o, "  %c%-9s %-24s ", later ? '+' : '-', text, name);
	if (*g->last->what)
		fr_escape_text_to(p->o, g->last->what, strlen(g->last->what), p->fits && p->width > 60 ? p->width - 46 : 200);
	else
		fr_report_who(p, g->last->tid, g->last->ts, g->last->cpu);
	if (g->known) {
		fr_out_printf(p->o, ", %s in all", fr_show_duration(g->took_ns, text, sizeof(text)));
		fr_out_printf(p->o, ", the longest %s", fr_show_duration(g->longest_ns, text, sizeof(text)));
		if (g->known < g->cnt)
			fr_out_printf(p->o, "; of %llu it is not known how long", g->cnt - g->known);
	}
	fr_out_char(p->o, '\n');
}

void fr_report_put_rare(struct fr_report_page *p)
{
	const struct fr_tally *groups = &p->r->rare;
	char note[80];
	u32 i;

	if (!groups->cnt)
		return;
	snprintf(note, sizeof(note), "how often, the last one beside %s%s", fr_report_moment_name(p),
		 rares_of(p->r)->is_full ? "; some are left out" : "");
	fr_report_title(p, "Rare events", note);
	for (i = 0; i < groups->cnt && (!p->r->ask->top || i < SHOWN); i++)
		rare_put_group(p, fr_tally_at(groups, i));
	if (i < groups->cnt)
		fr_out_printf(p->o, "  %u more lines: --top 0\n", groups->cnt - i);
}

/* ---- JSON ---- */

static struct fr_value rare_event(const struct fr_at *at)
{
	const struct rare_group *g = at->rec;

	snprintf(at->room->text, sizeof(at->room->text), FR_TP_PREFIX "%s", fr_rare_get(g->last->entry)->name);
	return fr_value_text(at->room->text);
}

static struct fr_value rare_about(const struct fr_at *at)
{
	const struct rare_group *g = at->rec;

	return fr_value_text(*g->last->what ? g->last->what : NULL);
}

static struct fr_value rare_last_ts(const struct fr_at *at)
{
	return fr_value_nr(((const struct rare_group *)at->rec)->last->ts);
}

static struct fr_value rare_last_tid(const struct fr_at *at)
{
	return fr_value_nr(((const struct rare_group *)at->rec)->last->tid);
}

static struct fr_value rare_last_comm(const struct fr_at *at)
{
	const struct fr_rares_item *it = ((const struct rare_group *)at->rec)->last;

	return fr_report_comm(at->of, it->tid, it->ts, it->cpu);
}

static const void *rare_group_at(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return i < r->rare.cnt ? fr_tally_at(&r->rare, i) : NULL;
}

static struct fr_value rare_events(const struct fr_at *at)
{
	return fr_value_nr(((const struct fr_report *)at->of)->rare_cnt);
}

static struct fr_value rare_horizon(const struct fr_at *at)
{
	return fr_value_nr(rares_of(at->of)->horizon_ns);
}

/* clang-format off */
#define GROUP(member, ...) FR_COLUMN(struct rare_group, member, __VA_ARGS__)
static const struct fr_column rare_group_columns[] = {
	FR_COLUMN_MADE(rare_event, "event", TEXT, "the tracepoint; of what begins and ends its beginning"),
	FR_COLUMN_MADE(rare_about, "about", TEXT, "addresses and ports, of a packet that was dropped the reason, else the kernel's words; `null`: tasks of one name"),
	GROUP(cnt, "count", COUNT, "events"),
	FR_COLUMN_MADE(rare_last_ts, "last_ts", CLOCK, "the last one"),
	FR_COLUMN_MADE(rare_last_tid, "last_tid", NUMBER, "in whose context that was"),
	FR_COLUMN_MADE(rare_last_comm, "last_comm", TEXT, "its name"),
	GROUP(known, "ended", COUNT, "of how many it is known how long they took"),
	GROUP(took_ns, "took_ns", NS, "these together"),
	GROUP(longest_ns, "longest_ns", NS, "the longest of them"),
	{},
};
static const struct fr_table kind_rare_group = {"rare_group", "Events of a tracepoint that are about the same.", rare_group_columns};

static const struct fr_column rare_columns[] = {
	FR_COLUMN_MADE(rare_events, "events", COUNT, "in the window"),
	FR_COLUMN_MADE(rare_horizon, "horizon_ns", CLOCK, "complete from then on, but for what rates hold back"),
	FR_LIST(rare_group_at, "groups", &kind_rare_group, "in the order of the table of tracepoints"),
	{},
};
/* clang-format on */
const struct fr_table fr_report_kind_rare = {
	"rare", "[Tracepoints that are recorded by default](tracepoints.md#by-default). Text shows 12 lines, `--top 0` all.",
	rare_columns};
