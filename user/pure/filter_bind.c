/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the names in a filter mean for each event of the schema, whether operands fit each other, what is decided at once. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pure/filter_node.h"

#define KIND(k) (1u << (k))
#define NUM	KIND(FR_VAL_NUM)
#define TEXT	KIND(FR_VAL_TEXT)
#define NUMS	KIND(FR_VAL_NUMS)

static const char *const builtin_names[FR_BI_CNT] = {"event", "ts", "cpu", "pid", "tid", "comm", "tier"};

/* ---- names ---- */

static bool find_builtin(struct fr_node *n)
{
	u8 i;

	for (i = 0; i < FR_BI_CNT; i++) {
		if (!strcmp(n->text, builtin_names[i])) {
			n->op = FR_OP_BUILTIN;
			n->builtin = i;
			return true;
		}
	}
	return false;
}

/* The field in each event of s that has it. Returns their kinds; by_event may be NULL. */
static u8 find_fields(const struct fr_schema *s, const char *name, const struct fr_field **by_event)
{
	u8 kinds = 0;
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(s, nr);
		const struct fr_field *f = ev ? fr_event_field(ev, name) : NULL;

		if (f)
			kinds |= KIND(fr_field_kind(f));
		if (f && by_event)
			by_event[nr] = f;
	}
	return kinds;
}

/* A field of this build's events that the file's do not have is one that is never there. */
static bool find_field(struct fr_filter *f, struct fr_node *n)
{
	const struct fr_field **by_event = calloc(FR_EVENT_MAX, sizeof(*by_event));
	u8 kinds;

	if (!by_event)
		return false;
	kinds = find_fields(f->schema, n->text, by_event);
	if (!kinds && !find_fields(fr_schema_builtin(), n->text, NULL)) {
		free(by_event);
		return false;
	}
	n->op = FR_OP_FIELD;
	n->field = by_event;
	n->kinds = kinds;
	return true;
}

static bool find_constant(struct fr_node *n)
{
	struct fr_sys sys = {0};
	s64 v = fr_errno_find(n->text);

	if (!v && fr_sysname_find(&sys, FR_STYLE_SIG, n->text, &v))
		return false;
	n->op = FR_OP_NUM;
	n->num = v;
	return true;
}

/* An index belongs to an array, and an array needs one. */
static int check_index(struct fr_filter *f, const struct fr_node *n)
{
	bool is_array = n->op == FR_OP_FIELD && n->kinds & NUMS;

	if (n->has_index && !is_array && (n->op != FR_OP_FIELD || n->kinds))
		return fr_filter_fail(f, n->at, "%s is no array: leave [%u] out", n->text, n->index);
	if (!n->has_index && is_array)
		return fr_filter_fail(f, n->at, "%s is an array: take one of it, as %s[0]", n->text, n->text);
	return 0;
}

/* A name that is nothing here may still stand for a number or an event, by what it is compared with. */
static int bind_name(struct fr_filter *f, struct fr_node *n)
{
	if (!find_builtin(n) && !find_field(f, n) && !find_constant(n))
		return 0;
	return check_index(f, n);
}

/* ---- nearest names, for messages ---- */

/* How many insertions, deletions and changes make b of a; names longer than 31 are far from everything. */
static u32 distance(const char *a, const char *b)
{
	u32 row[32], la = strlen(a), lb = strlen(b), i, j;

	if (la > 31 || lb > 31)
		return 99;
	for (j = 0; j <= lb; j++)
		row[j] = j;
	for (i = 1; i <= la; i++) {
		u32 diagonal = row[0];

		row[0] = i;
		for (j = 1; j <= lb; j++) {
			u32 above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);

			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			row[j] = above + 1 < best ? above + 1 : best;
			diagonal = above;
		}
	}
	return row[lb];
}

struct nearest {
	const char *to, *name;
	u32 distance;
};

static void consider(struct nearest *best, const char *name)
{
	u32 d = distance(best->to, name);

	if (d < best->distance) {
		best->distance = d;
		best->name = name;
	}
}

static const char *nearest_event(const struct fr_schema *s, const char *to)
{
	struct nearest best = {.to = to, .distance = strlen(to) / 2 + 1};
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		if (fr_schema_event(s, nr))
			consider(&best, fr_schema_event(s, nr)->name);
	}
	return best.name;
}

static const char *nearest_name(const struct fr_schema *s, const char *to)
{
	struct nearest best = {.to = to, .distance = strlen(to) / 2 + 1};
	u32 nr, i;

	for (i = 0; i < FR_BI_CNT; i++)
		consider(&best, builtin_names[i]);
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(s, nr);

		for (i = 0; ev && i < ev->field_cnt; i++)
			consider(&best, ev->fields[i].name);
	}
	return best.name;
}

static int fail_unknown(struct fr_filter *f, size_t at, const char *what, const char *name, const char *nearest)
{
	if (nearest)
		return fr_filter_fail(f, at, "no %s is called %s: did you mean %s?", what, name, nearest);
	return fr_filter_fail(f, at, "no %s is called %s: `flightrec events` lists all", what, name);
}

/* ---- comparisons with names ---- */

static bool is_word(const struct fr_node *n)
{
	return n->op == FR_OP_NAME || n->op == FR_OP_TEXT;
}

/* What name stands for where field f holds a number: a system call, a signal, a state... */
static void find_symbol(const struct fr_filter *filter, const struct fr_field *f, const char *name, struct fr_symbol *s)
{
	struct fr_sys sys = {.arch = filter->arch};
	u32 abi;

	if (fr_field_kind(f) != FR_VAL_NUM || !fr_sysname_style(f->style))
		return;
	for (abi = 0; abi < 2; abi++) {
		sys.abi = abi;
		s->known[abi] = !fr_sysname_find(&sys, f->style, name, &s->v[abi]);
	}
}

/* Turn a word that is compared with a field into the number it stands for, event by event. */
static int bind_symbol(struct fr_filter *f, const struct fr_node *field, struct fr_node *n)
{
	struct fr_symbol *s = calloc(FR_EVENT_MAX, sizeof(*s));
	bool any = !field->kinds;
	u32 nr;

	if (!s)
		return -ENOMEM;
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		if (field->field[nr])
			find_symbol(f, field->field[nr], n->text, &s[nr]);
		any |= s[nr].known[0] || s[nr].known[1];
	}
	n->symbol = s;
	if (!any)
		return fr_filter_fail(f, n->at, "%s has no value that is called %s", field->text, n->text);
	n->op = FR_OP_SYMBOL;
	return 0;
}

static bool is_builtin(const struct fr_node *n, enum fr_builtin b)
{
	return n->op == FR_OP_BUILTIN && n->builtin == b;
}

static int bind_tier(struct fr_filter *f, struct fr_node *n)
{
	u32 tier;

	for (tier = 0; fr_tier_name(tier); tier++) {
		if (!strcmp(n->text, fr_tier_name(tier))) {
			n->op = FR_OP_TEXT;
			return 0;
		}
	}
	return fail_unknown(f, n->at, "tier", n->text, fr_tier_name(0));
}

/* A word compared with something: what does it mean there? */
static int bind_word(struct fr_filter *f, const struct fr_node *with, struct fr_node *n)
{
	if (!is_word(n) || is_builtin(with, FR_BI_event))
		return 0;
	if (is_builtin(with, FR_BI_tier))
		return bind_tier(f, n);
	if (with->op == FR_OP_FIELD && (!with->kinds || with->kinds & NUM) && !(with->kinds & TEXT))
		return bind_symbol(f, with, n);
	return 0;
}

static int bind_words(struct fr_filter *f, struct fr_node *n)
{
	struct fr_node *b;
	int err = bind_word(f, n->b, n->a);

	if (n->op == FR_OP_GLOB || n->op == FR_OP_NOT_GLOB)
		return 0;
	for (b = n->b; b && !err; b = b->next)
		err = bind_word(f, n->a, b);
	return err;
}

/* ---- the event's own name ---- */

static bool event_is(const struct fr_node *n, const struct fr_node *word, const char *name)
{
	bool is_glob = n->op == FR_OP_GLOB || n->op == FR_OP_NOT_GLOB;

	return is_glob ? fr_glob(word->text, word->len, name, strlen(name)) : !strcmp(word->text, name);
}

/* An event another kernel or build knows is no mistake; one that nobody knows is. */
static int check_event(struct fr_filter *f, const struct fr_node *n, const struct fr_node *word)
{
	if (!is_word(word))
		return fr_filter_fail(f, word->at, "event is compared with a name: event == \"sched_switch\"");
	if (n->op == FR_OP_GLOB || n->op == FR_OP_NOT_GLOB || fr_schema_find(f->schema, word->text) ||
	    fr_schema_find(fr_schema_builtin(), word->text))
		return 0;
	return fail_unknown(f, word->at, "event", word->text, nearest_event(f->schema, word->text));
}

static int add_events(struct fr_filter *f, struct fr_node *n, const struct fr_node *word)
{
	u32 nr;

	if (check_event(f, n, word))
		return -EINVAL;
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(f->schema, nr);

		n->events[nr] |= ev && event_is(n, word, ev->name);
	}
	return 0;
}

/* event == x, event ~ x, event in (x, y) become a set of numbers. */
static int bind_events(struct fr_filter *f, struct fr_node *n)
{
	const struct fr_node *word = is_builtin(n->a, FR_BI_event) ? n->b : n->a;
	u32 nr;
	int err = 0;

	if (n->op >= FR_OP_LT && n->op <= FR_OP_GE)
		return fr_filter_fail(f, n->at, "events have no order: compare with == != ~ !~ in");
	n->events = calloc(FR_EVENT_MAX, sizeof(*n->events));
	if (!n->events)
		return -ENOMEM;
	for (; word && !err; word = n->op == FR_OP_IN ? word->next : NULL)
		err = add_events(f, n, word);
	for (nr = 0; nr < FR_EVENT_MAX && (n->op == FR_OP_NE || n->op == FR_OP_NOT_GLOB); nr++)
		n->events[nr] = !n->events[nr];
	n->op = FR_OP_EVENTS;
	return err;
}

/* ---- do operands fit ---- */

/* What a value can be; a field that is never there can be anything. */
static u8 kinds_of(const struct fr_node *n)
{
	switch (n->op) {
	case FR_OP_TEXT:
		return TEXT;
	case FR_OP_BUILTIN:
		return n->builtin == FR_BI_comm || n->builtin == FR_BI_tier || n->builtin == FR_BI_event ? TEXT : NUM;
	case FR_OP_FIELD:
		return !n->kinds ? NUM | TEXT : n->has_index ? NUM : n->kinds;
	default:
		return NUM;
	}
}

static int check_name(struct fr_filter *f, const struct fr_node *n)
{
	return n->op == FR_OP_NAME ? fail_unknown(f, n->at, "field", n->text, nearest_name(f->schema, n->text)) : 0;
}

static int check_number(struct fr_filter *f, const struct fr_node *n)
{
	if (check_name(f, n))
		return -EINVAL;
	return kinds_of(n) & NUM ? 0 : fr_filter_fail(f, n->at, "this is a text where a number is needed");
}

/* A bare word beside a text was meant as one. */
static int check_quotes(struct fr_filter *f, const struct fr_node *text, const struct fr_node *word)
{
	if (kinds_of(text) == TEXT && word->op == FR_OP_NAME)
		return fr_filter_fail(f, word->at, "a text needs quotes: \"%s\"", word->text);
	return 0;
}

static int check_pair(struct fr_filter *f, const struct fr_node *n, const struct fr_node *b)
{
	u8 common;

	if (check_quotes(f, n->a, b) || check_quotes(f, b, n->a) || check_name(f, n->a) || check_name(f, b))
		return -EINVAL;
	common = kinds_of(n->a) & kinds_of(b);
	if (!common)
		return fr_filter_fail(f, n->at, "a text cannot be compared with a number");
	if (common == TEXT && n->op >= FR_OP_LT && n->op <= FR_OP_GE)
		return fr_filter_fail(f, n->at, "texts have no order: compare with == != ~ !~ in");
	return 0;
}

/* The left side of ~ is a text, or a number that goes by names. */
static int check_glob(struct fr_filter *f, const struct fr_node *n)
{
	if (check_quotes(f, n->a, n->b) || check_name(f, n->a) || check_name(f, n->b))
		return -EINVAL;
	if (n->b->op != FR_OP_TEXT)
		return fr_filter_fail(f, n->b->at, "a pattern is a text in quotes: \"nginx*\"");
	if (!(kinds_of(n->a) & TEXT) && n->a->op != FR_OP_FIELD)
		return fr_filter_fail(f, n->at, "only a text can match a pattern");
	return 0;
}

static int check_compare(struct fr_filter *f, const struct fr_node *n)
{
	const struct fr_node *b;
	int err = 0;

	if (n->op == FR_OP_GLOB || n->op == FR_OP_NOT_GLOB)
		return check_glob(f, n);
	for (b = n->b; b && !err; b = b->next)
		err = check_pair(f, n, b);
	return err;
}

static int bind_compare(struct fr_filter *f, struct fr_node *n)
{
	int err;

	if (is_builtin(n->a, FR_BI_event) || (is_builtin(n->b, FR_BI_event) && n->op != FR_OP_IN))
		return bind_events(f, n);
	err = bind_words(f, n);
	return err ? err : check_compare(f, n);
}

static int bind_op(struct fr_filter *f, struct fr_node *n)
{
	if (fr_op_is_compare(n->op))
		return bind_compare(f, n);
	if (n->op == FR_OP_NOT || n->op == FR_OP_AND || n->op == FR_OP_OR)
		return check_name(f, n->a) || (n->b && check_name(f, n->b)) ? -EINVAL : 0;
	return check_number(f, n->a) || (n->b && check_number(f, n->b)) ? -EINVAL : 0;
}

/* ---- verdicts ---- */

/* Is there no value in this event, whatever the row holds? */
static bool is_missing(const struct fr_node *n, u32 nr)
{
	if (n->op == FR_OP_FIELD)
		return !n->field[nr];
	if (n->op < FR_OP_NEG || n->op > FR_OP_MOD)
		return false;
	return is_missing(n->a, nr) || (n->b && is_missing(n->b, nr));
}

static enum fr_verdict verdict(const struct fr_node *n, u32 nr)
{
	enum fr_verdict a, b;

	if (n->op == FR_OP_EVENTS)
		return n->events[nr] ? FR_VERDICT_YES : FR_VERDICT_NO;
	if (n->op == FR_OP_NOT) {
		a = verdict(n->a, nr);
		return a == FR_VERDICT_LOOK ? a : a == FR_VERDICT_NO ? FR_VERDICT_YES : FR_VERDICT_NO;
	}
	if (n->op == FR_OP_AND || n->op == FR_OP_OR) {
		enum fr_verdict strong = n->op == FR_OP_AND ? FR_VERDICT_NO : FR_VERDICT_YES;

		a = verdict(n->a, nr);
		b = verdict(n->b, nr);
		return a == strong || b == strong ? strong : a == b ? a : FR_VERDICT_LOOK;
	}
	if (fr_op_is_compare(n->op))
		return is_missing(n->a, nr) || (n->op != FR_OP_IN && is_missing(n->b, nr)) ? FR_VERDICT_NO : FR_VERDICT_LOOK;
	return is_missing(n, nr) ? FR_VERDICT_NO : FR_VERDICT_LOOK;
}

static bool is_leaf(const struct fr_node *n)
{
	return n->op <= FR_OP_SYMBOL;
}

/* Nodes are made before their right operands and after their left ones: so names first, then operators from the inside. */
static int bind_tree(struct fr_filter *f, struct fr_node *n)
{
	struct fr_node *b;
	int err;

	if (is_leaf(n))
		return 0;
	err = bind_tree(f, n->a);
	for (b = n->b; b && !err; b = b->next)
		err = bind_tree(f, b);
	return err ? err : bind_op(f, n);
}

int fr_filter_bind(struct fr_filter *f)
{
	u32 i, nr;
	int err = 0;

	for (i = 0; i < f->node_cnt && !err; i++) {
		if (f->node[i]->op == FR_OP_NAME)
			err = bind_name(f, f->node[i]);
	}
	if (!err)
		err = bind_tree(f, f->root);
	if (!err)
		err = check_name(f, f->root);
	for (nr = 0; nr < FR_EVENT_MAX && !err; nr++)
		f->verdict[nr] = verdict(f->root, nr);
	return err;
}
