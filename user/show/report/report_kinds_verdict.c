/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_kinds_verdict: the kinds of the verdict: its lines, and what they follow from. */
#include "show/report/report_kinds.h"

static const void *verdict_cause(const struct fr_at *at, u32 i)
{
	const struct fr_finding *v = at->rec;

	return i || !v->cause_id ? NULL : v;
}

static const void *verdict_link(const struct fr_at *at, u32 i)
{
	const struct fr_finding *v = at->rec;

	return i < v->chain_cnt ? &v->chain[i] : NULL;
}

static const void *verdict_not(const struct fr_at *at, u32 i)
{
	const struct fr_finding *v = at->rec;

	return i < v->not_cnt ? &v->not_it[i] : NULL;
}

/* clang-format off */
static const struct fr_column line_columns[] = {
	FR_COLUMN(struct fr_verdict_line, text, "text", TEXT, "the sentence, as it is shown: each byte of a name that text does not show as it is is `\\xNN`", .escaped = true),
	FR_COLUMN(struct fr_verdict_line, from, "from", TEXT, "the events that it follows from, separated by commas; `trigger`: what the file says of it; `processes`: what it has of living ones; empty: none was pulled"),
	{},
};
static const struct fr_table kind_line = {"verdict_line", "A sentence of the verdict.", line_columns};

static const struct fr_column cause_columns[] = {
	FR_COLUMN(struct fr_finding, cause_id, "id", TEXT, "[the recogniser](#what-is-recognised)"),
	FR_PART(struct fr_finding, cause, NULL, &kind_line, NULL),
	{},
};
static const struct fr_table kind_cause = {"verdict_cause", "The likely cause.", cause_columns};

static const struct fr_column verdict_columns[] = {
	FR_COLUMN(struct fr_finding, since_ns, "since_ns", CLOCK, "what happened began then; `null`: not known", .null = true),
	FR_PART(struct fr_finding, what, "headline", &kind_line, "what happened, to which task, in which state, since when"),
	FR_PART_MADE(verdict_cause, "cause", &kind_cause, "`null`: no recogniser is sure", .null = true),
	FR_LIST(verdict_link, "chain", &kind_line, "from the trigger's task backwards through waits"),
	FR_LIST(verdict_not, "ruled_out", &kind_line, NULL),
	{},
};
const struct fr_table fr_report_kind_verdict = {"verdict", "[What happened and why](#the-verdict).", verdict_columns};
/* clang-format on */

/* ---- what changed ---- */

static const void *changes_of(const struct fr_at *at, u32 i)
{
	(void)at;
	return i < FR_CHANGE_CNT ? &fr_change_kinds[i] : NULL;
}

static const void *changes_move(const struct fr_at *at, u32 i)
{
	return fr_changes_at(at->rec, i);
}

static const struct fr_changes *changes(const struct fr_at *at)
{
	return &((const struct fr_report *)at->of)->changes;
}

static struct fr_value compared_from(const struct fr_at *at)
{
	size_t of = (const struct fr_change_kind *)at->rec - fr_change_kinds;

	return changes(at)->of[of].is_known ? fr_value_nr(changes(at)->of[of].from_ns) : fr_value_null();
}

static struct fr_value moved_what(const struct fr_at *at)
{
	return fr_value_text(fr_change_kinds[((const struct fr_change *)at->rec)->of].name);
}

static struct fr_value moved_program(const struct fr_at *at)
{
	return fr_value_text(((const struct fr_change *)at->rec)->program);
}

static struct fr_value moved_doing(const struct fr_at *at)
{
	const struct fr_change *ch = at->rec;

	return ch->doing[0] ? fr_value_text(ch->doing) : fr_value_null();
}

/* clang-format off */
static const struct fr_column compared_columns[] = {
	FR_COLUMN(struct fr_change_kind, name, "what", TEXT, "`cpu`: time on CPUs, ns; `waits`: time off a CPU in the part, of waits that have ended, ns; `processes` started, `signals` sent but SIGCHLD, `errors` of calls: how many"),
	FR_COLUMN(struct fr_change_kind, want.event, "event", TEXT, "the event that it is counted from"),
	FR_COLUMN_MADE(compared_from, "from_ns", CLOCK, "the part before begins: complete from then on; `null`: not recorded, or not complete in the last part, or less than half a second before it: it was not compared"),
	{},
};
static const struct fr_table kind_compared = {"compared", "What was counted of each program.", compared_columns};

static const struct fr_column moved_columns[] = {
	FR_COLUMN_MADE(moved_what, "what", TEXT, "what was counted"),
	FR_COLUMN_MADE(moved_program, "program", TEXT, "tasks of this name, as it is shown", .escaped = true),
	FR_COLUMN(struct fr_change, before, "before", NUMBER, "sum over the part before: ns, or how many"),
	FR_COLUMN(struct fr_change, last, "last", NUMBER, "sum over the last part"),
	FR_COLUMN(struct fr_change, before_rate, "before_rate", NUMBER, "a second of it"),
	FR_COLUMN(struct fr_change, last_rate, "last_rate", NUMBER, "a second of it"),
	FR_COLUMN_MADE(moved_doing, "doing", TEXT, "`cpu`: the kernel worker's work, the system call, the softirq that many of its samples of the last part are in: a third, half, a fifth, and five at least; `null`: none"),
	{},
};
static const struct fr_table kind_moved = {"moved", "A rate that moved: by 20 ms a second and a half at least, or by 5 events a second and to twice as many or half. The four largest of each kind.", moved_columns};

static const struct fr_column changes_columns[] = {
	FR_COLUMN(struct fr_changes, split_ns, "since_ns", CLOCK, "the last part begins: as long before the trigger as what pulled it took, at least a second"),
	FR_COLUMN(struct fr_changes, at_ns, "until_ns", CLOCK, "it ends: the trigger"),
	FR_LIST(changes_of, "compared", &kind_compared, NULL),
	FR_LIST(changes_move, "moved", &kind_moved, "by kind, the largest move first"),
	{},
};
const struct fr_table fr_report_kind_changes = {"changes", "[What changed](#what-changed) before the trigger.", changes_columns};
/* clang-format on */
