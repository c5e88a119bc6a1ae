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
	FR_COLUMN(struct fr_verdict_line, text, "text", TEXT, "the sentence"),
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
