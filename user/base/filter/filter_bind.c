/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the names in a filter mean for each event of the schema, whether operands fit, and what is decided in advance. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filter/filter_node.h"
#include "base/schema/flagnames.h"
#include "tp.h"

#define KIND(k) (1u << (k))
#define NUM	KIND(FR_VAL_NUM)
#define TEXT	KIND(FR_VAL_TEXT)
#define NUMS	KIND(FR_VAL_NUMS)

const char *const fr_builtin_names[FR_BI_CNT] = {
#define B(name, ...) [FR_BI_##name] = #name,
	FR_BUILTINS(B)
#undef B
};

const char *fr_filter_word(u32 i)
{
	static const char *const operators[] = {"in", "not", "has"};

	if (i < FR_BI_CNT)
		return fr_builtin_names[i];
	i -= FR_BI_CNT;
	return i < sizeof(operators) / sizeof(operators[0]) ? operators[i] : NULL;
}

/* ---- names ---- */

/* The events that have this value: latency in all that end something, the others in switches only. */
static int find_pair_events(struct fr_filter *f, struct fr_node *n)
{
	const struct fr_pair_event *e;
	u32 i;

	n->events = calloc(FR_EVENT_MAX, sizeof(*n->events));
	f->no_memory |= !n->events;
	if (!n->events)
		return -ENOMEM;
	for (i = 0; (e = fr_pairs_event(i)); i++)
		if ((n->builtin == FR_BI_latency ? e->ends : e->tells & 1u << FR_PAIR_OFF) &&
		    fr_schema_find(f->schema, e->want.event))
			n->events[fr_schema_find(f->schema, e->want.event)->nr] = true;
	return 0;
}

/*
 * An event may have a field of the same name, which then is what the name means there: blocked of event wait is how long that
 * wait was, in switches how long the next task was in D.
 */
static int find_own_fields(struct fr_filter *f, struct fr_node *n)
{
	u32 nr;

	n->field = calloc(FR_EVENT_MAX, sizeof(*n->field));
	f->no_memory |= !n->field;
	if (!n->field)
		return -ENOMEM;
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(f->schema, nr);
		const struct fr_field *own = ev ? fr_event_field(ev, n->text) : NULL;

		if (!own || fr_field_kind(own) != FR_VAL_NUM)
			continue;
		n->field[nr] = own;
		n->events[nr] = true;
		n->kinds = NUM;
	}
	return 0;
}

/* Find the field in each event of s that has it. Returns their kinds; by_event may be NULL. */
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

/* FR_BI_CNT: none is called so, or a tracepoint's own field of that name is what is meant. */
static u8 builtin_called(const struct fr_filter *f, const char *name)
{
	u8 i;

	for (i = 0; i < FR_BI_CNT && strcmp(name, fr_builtin_names[i]);)
		i++;
	return i >= FR_BI_program && i < FR_BI_CNT && find_fields(f->schema, name, NULL) ? FR_BI_CNT : i;
}

static bool find_builtin(struct fr_filter *f, struct fr_node *n)
{
	u8 i = builtin_called(f, n->text);

	if (i == FR_BI_CNT)
		return false;
	n->builtin = i;
	if (fr_builtin_is_pair(i) && (find_pair_events(f, n) || find_own_fields(f, n)))
		return false;
	n->op = FR_OP_BUILTIN;
	return true;
}

bool fr_filter_is_text(const struct fr_filter *f, const char *name)
{
	const struct fr_node n = {.op = FR_OP_BUILTIN, .builtin = builtin_called(f, name)};

	if (n.builtin < FR_BI_CNT)
		return fr_node_kinds(&n) == TEXT;
	return (find_fields(f->schema, name, NULL) ?: find_fields(fr_schema_builtin(), name, NULL)) == TEXT;
}

/* A field of this build's events that the file's events lack is valid, and never there. */
static bool find_field(struct fr_filter *f, struct fr_node *n)
{
	const struct fr_field **by_event = calloc(FR_EVENT_MAX, sizeof(*by_event));
	u8 kinds;

	f->no_memory |= !by_event;
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

/* SYS_openat: the call's 64-bit number, anywhere. */
static bool find_syscall(const char *arch, const char *name, s64 *v)
{
	struct fr_sys sys = {.arch = arch};

	return !strncmp(name, "SYS_", 4) && !fr_sysname_find(&sys, FR_STYLE_SYSCALL, name + 4, v);
}

static bool find_number(const char *arch, const char *name, s64 *v)
{
	struct fr_sys sys = {0};

	*v = fr_errno_find(name);
	return *v || !fr_sysname_find(&sys, FR_STYLE_SIG, name, v) || !fr_flag_find(arch, name, v) ||
	       find_syscall(arch, name, v);
}

static bool find_constant(const struct fr_filter *f, struct fr_node *n)
{
	s64 v;

	if (!find_number(f->arch, n->text, &v))
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
		return fr_filter_fail(f, n->at, "%s is an array: take one item, as %s[0]", n->text, n->text);
	return 0;
}

/* A name that means nothing here may still be a number or an event, depending on what it is compared with. */
static int bind_name(struct fr_filter *f, struct fr_node *n)
{
	if (!find_builtin(f, n) && !find_field(f, n) && !find_constant(f, n))
		return f->no_memory ? -ENOMEM : 0;
	return check_index(f, n);
}

static bool bind_is_word(const struct fr_node *n)
{
	return n->op == FR_OP_NAME || n->op == FR_OP_TEXT;
}

/* What name means if field f holds a number: a system call, a signal, a state... */
static void find_symbol(const char *arch, const struct fr_field *f, const char *name, struct fr_filter_name *s)
{
	struct fr_sys sys = {.arch = arch};
	u32 abi;

	if (fr_field_kind(f) != FR_VAL_NUM || !fr_sysname_style(f->style))
		return;
	for (abi = 0; abi < 2; abi++) {
		sys.abi = abi;
		s->known[abi] = !fr_sysname_find(&sys, f->style, name, &s->v[abi]);
		if (!s->known[abi] && f->style == FR_STYLE_SYSCALL && !strncmp(name, "SYS_", 4))
			s->known[abi] = !fr_sysname_find(&sys, f->style, name + 4, &s->v[abi]);
	}
}

/* The same by what the file itself says, not the schema. */
static void find_own_word(const struct fr_filter_file *file, u32 nr, const char *field, const char *name,
			  struct fr_filter_name *s)
{
	s64 v;

	if (s->known[0] || s->known[1] || !file->value || file->value(file->of, nr, field, name, &v))
		return;
	s->v[0] = s->v[1] = v;
	s->known[0] = s->known[1] = true;
}

/* ---- names that mean something in a file beside this one ---- */

static bool is_name_in(const struct fr_filter_file *file, const char *name)
{
	s64 v;

	return find_fields(file->schema, name, NULL) || find_number(file->arch, name, &v);
}

static bool is_value_in(const struct fr_filter_file *file, const char *field, const char *name)
{
	struct fr_filter_name s = {0};
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(file->schema, nr);
		const struct fr_field *f = ev ? fr_event_field(ev, field) : NULL;

		if (f) {
			find_symbol(file->arch, f, name, &s);
			find_own_word(file, nr, field, name, &s);
		}
		if (s.known[0] || s.known[1])
			return true;
	}
	return false;
}

/* Does a word that means nothing here do there: by itself, or as a value of what it is compared with (NULL: nothing)? */
static bool is_known_beside(const struct fr_filter *f, const struct fr_node *with, const struct fr_node *n)
{
	bool of_field = with && (with->op == FR_OP_FIELD || with->op == FR_OP_NAME), known = false;
	u32 i;

	for (i = 0; i < f->beside_cnt && !known; i++)
		known = (n->op == FR_OP_NAME && is_name_in(&f->beside[i], n->text)) ||
			(of_field && is_value_in(&f->beside[i], with->text, n->text));
	return known;
}

static bool is_event_beside(const struct fr_filter *f, const char *name)
{
	bool is = false;
	u32 i;

	for (i = 0; i < f->beside_cnt; i++)
		is |= fr_schema_find(f->beside[i].schema, name) != NULL;
	return is;
}

/* ---- comparisons with names ---- */

static int fail_value(struct fr_filter *f, const struct fr_node *field, const struct fr_node *n)
{
	const char *near = fr_filter_nearest_value(f, field, n->text);
	char values[FR_FILTER_VALUES_SZ];

	if (fr_filter_is_call(n->text))
		return fr_filter_unknown_call(f, n);
	if (near)
		return fr_filter_fail(f, n->at, "%s has no value called %s: did you mean %s?", field->text, n->text, near);
	if (fr_filter_list_values(f, field, values))
		return fr_filter_fail(f, n->at, "%s has no value called %.63s: it is one of %s", field->text, n->text, values);
	return fr_filter_fail(f, n->at, "%s has no value called %s", field->text, n->text);
}

/*
 * Turn a word that is compared with a field into its number, event by event. Events may share a name for a number and a text,
 * as reason of a trigger and of kfree_skb: where it is a text, the word is one.
 */
static int bind_symbol(struct fr_filter *f, const struct fr_node *field, struct fr_node *n)
{
	struct fr_filter_name *s = calloc(FR_EVENT_MAX, sizeof(*s));
	bool any = !field->kinds;
	u32 nr;

	if (!s)
		return -ENOMEM;
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		if (field->field[nr])
			find_symbol(f->arch, field->field[nr], n->text, &s[nr]);
		if (field->field[nr])
			find_own_word(f->file, nr, field->text, n->text, &s[nr]);
		s[nr].is_text = field->field[nr] && fr_field_kind(field->field[nr]) == FR_VAL_TEXT;
		any |= s[nr].known[0] || s[nr].known[1];
	}
	n->symbol = s;
	if (!any && field->kinds & TEXT)
		return 0; /* a text it is, or a mistake that is found later */
	if (!any && !is_known_beside(f, field, n))
		return fail_value(f, field, n);
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
	return fr_filter_unknown(f, n->at, "tier", n->text, fr_filter_nearest_tier(n->text));
}

/* Is this the name of an error, compared with a call's result? There it means the negative number, with or without a minus. */
static bool is_returned(const struct fr_node *with, const struct fr_node *n)
{
	u32 nr;

	if (with->op != FR_OP_FIELD || n->op != FR_OP_NUM || !n->text || !fr_errno_find(n->text))
		return false;
	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		if (with->field[nr] && with->field[nr]->style == FR_STYLE_RET)
			return true;
	return false;
}

/*
 * A value may be called as a field of other events is: waker == irq. It is meant as such if it is one, and no event has both
 * fields.
 */
static bool is_value_too(struct fr_filter *f, const struct fr_node *with, const struct fr_node *n)
{
	struct fr_filter_name s = {0};
	u32 nr;

	if (!with->field || n->op != FR_OP_FIELD || n->has_index || !n->text)
		return false;
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		if (n->field[nr] && (with->field[nr] || (with->events && with->events[nr])))
			return false;
		if (with->field[nr])
			find_symbol(f->arch, with->field[nr], n->text, &s);
	}
	return s.known[0] || s.known[1];
}

/* A word is compared with something: find what it means there. */
static int bind_word(struct fr_filter *f, const struct fr_node *with, struct fr_node *n)
{
	if (is_returned(with, n) || is_value_too(f, with, n))
		return bind_symbol(f, with, n);
	if (!bind_is_word(n) || is_builtin(with, FR_BI_event))
		return 0;
	if (is_builtin(with, FR_BI_tier))
		return bind_tier(f, n);
	if (with->op == FR_OP_FIELD && (!with->kinds || with->kinds & NUM))
		return bind_symbol(f, with, n);
	if (with->op == FR_OP_BUILTIN && with->kinds)
		return bind_symbol(f, with, n);
	return 0;
}

/* The field of which a word is a bit: in flags & ONE, flags has ONE|OTHER, flags & ONE == ONE. NULL: none. */
static const struct fr_node *bits_of(const struct fr_node *n)
{
	if (n->op == FR_OP_BITAND)
		return bits_of(n->a) ?: bits_of(n->b);
	return n->op == FR_OP_FIELD ? n : NULL;
}

static int bind_bit(struct fr_filter *f, const struct fr_node *with, struct fr_node *n)
{
	if (n->op == FR_OP_BITOR)
		return bind_bit(f, with, n->a) ?: bind_bit(f, with, n->b);
	return n->op == FR_OP_NAME ? bind_word(f, with, n) : 0;
}

/* Words that are parts of what is compared or masked: before they are taken for names of fields. */
static int bind_bits(struct fr_filter *f, struct fr_node *n)
{
	const struct fr_node *with = bits_of(n->a);
	struct fr_node *b;
	int err = 0;

	for (b = n->b; b && with && !err; b = b->next)
		if (b->op != FR_OP_NAME || n->a->op != FR_OP_FIELD || n->op == FR_OP_BITAND)
			err = bind_bit(f, with, b);
	with = n->op == FR_OP_BITAND ? bits_of(n->b) : NULL;
	return err || !with ? err : bind_bit(f, with, n->a);
}

static bool bind_is_pattern_op(const struct fr_node *n)
{
	return n->op >= FR_OP_GLOB && n->op <= FR_OP_NOT_REGEX;
}

static int bind_words(struct fr_filter *f, struct fr_node *n)
{
	struct fr_node *b;
	int err;

	if (n->op == FR_OP_HAS && (is_builtin(n->a, FR_BI_tier) || is_builtin(n->b, FR_BI_tier)))
		return fr_filter_fail(f, n->at, "tiers have no parts: compare with == != ~ !~ =~ in");
	err = bind_word(f, n->b, n->a);
	if (bind_is_pattern_op(n))
		return 0;
	for (b = n->b; b && !err; b = b->next)
		err = bind_word(f, n->a, b);
	return err;
}

/* ---- patterns ---- */

/* ~ with a pattern between slashes is =~, whose right side is compiled. */
static int check_pattern(struct fr_filter *f, struct fr_node *n)
{
	struct fr_node *p = n->b;
	char why[120];
	int err;

	if (p->op != FR_OP_TEXT)
		return fr_filter_fail(f, p->at, FR_PATTERN_WORDS);
	if (p->is_regex && n->op == FR_OP_GLOB)
		n->op = FR_OP_REGEX;
	if (p->is_regex && n->op == FR_OP_NOT_GLOB)
		n->op = FR_OP_NOT_REGEX;
	if (n->op < FR_OP_REGEX) {
		if (fr_glob_is_closed(p->text, p->len))
			return 0;
		return fr_filter_fail(f, p->at, "this pattern is wrong: a [ has no ]: write [[] for the character");
	}
	err = fr_regex_new(p->text, p->len, p->ignores_case, &p->regex, why, sizeof(why));
	return err == -EINVAL ? fr_filter_fail(f, p->at, "this pattern is wrong: %s", why) : err;
}

/* ---- the event's own name ---- */

static bool event_is(const struct fr_node *n, const struct fr_node *word, const char *name)
{
	if (word->regex)
		return fr_regex_match(word->regex, name, strlen(name));
	return bind_is_pattern_op(n) ? fr_glob(word->text, word->len, name, strlen(name)) : !strcmp(word->text, name);
}

/* An event may have the name of something that is a value elsewhere: event == latency. */
static bool is_event_word(const struct fr_node *n)
{
	return n->text && !n->has_index;
}

/* The name of an event of another kernel or build is no mistake; a name that nobody knows is. */
static int bind_check_event(struct fr_filter *f, const struct fr_node *n, const struct fr_node *word)
{
	if (!is_event_word(word))
		return fr_filter_fail(f, word->at, "event is compared with a name: event == \"sched_switch\"");
	if (bind_is_pattern_op(n) || fr_schema_find(f->schema, word->text) || fr_schema_find(fr_schema_builtin(), word->text) ||
	    is_event_beside(f, word->text))
		return 0;
	if (strpbrk(word->text, "*?["))
		return fr_filter_fail(f, word->at, "this is a pattern: event ~ \"%.63s\"", word->text);
	return fr_filter_unknown(f, word->at, "event", word->text, fr_filter_nearest_event(f->schema, word->text));
}

static int bind_add_events(struct fr_filter *f, struct fr_node *n, struct fr_node *word)
{
	u32 nr;

	if (bind_check_event(f, n, word))
		return -EINVAL;
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(f->schema, nr);

		n->events[nr] |= ev && event_is(n, word, ev->name);
	}
	word->op = FR_OP_TEXT;
	return 0;
}

static bool is_negated(const struct fr_node *n)
{
	return n->op == FR_OP_NE || n->op == FR_OP_NOT_GLOB || n->op == FR_OP_NOT_REGEX || n->op == FR_OP_NOT_IN;
}

/* event == x, event ~ x, event in (x, y) become a set of numbers. */
static int bind_events(struct fr_filter *f, struct fr_node *n)
{
	struct fr_node *word = is_builtin(n->a, FR_BI_event) ? n->b : n->a;
	u32 nr;
	int err = 0;

	if ((n->op >= FR_OP_LT && n->op <= FR_OP_GE) || n->op == FR_OP_HAS)
		return fr_filter_fail(f, n->at, "events have no order and no parts: compare with == != ~ !~ =~ in");
	if (bind_is_pattern_op(n) && check_pattern(f, n))
		return -EINVAL;
	n->events = calloc(FR_EVENT_MAX, sizeof(*n->events));
	if (!n->events)
		return -ENOMEM;
	for (; word && !err; word = fr_op_is_list(n->op) ? word->next : NULL)
		err = bind_add_events(f, n, word);
	for (nr = 0; nr < FR_EVENT_MAX && is_negated(n); nr++)
		n->events[nr] = !n->events[nr];
	n->op = FR_OP_EVENTS;
	return err;
}

/* ---- do operands fit ---- */

/* The kinds that a value can have; a field that is never there can have any. */
u8 fr_node_kinds(const struct fr_node *n)
{
	switch (n->op) {
	case FR_OP_TEXT:
		return TEXT;
	case FR_OP_BUILTIN:
		return n->builtin == FR_BI_comm || n->builtin == FR_BI_program || n->builtin == FR_BI_tier ||
				       n->builtin == FR_BI_event || fr_builtin_is_cgroup(n->builtin)
			       ? TEXT
			       : NUM;
	case FR_OP_FIELD:
		return !n->kinds ? NUM | TEXT : n->has_index ? NUM : n->kinds;
	default:
		return NUM;
	}
}

/* with: what it is compared with, NULL: nothing. A name of another file is that of a field that no event here has. */
static int bind_check_name(struct fr_filter *f, const struct fr_node *with, struct fr_node *n)
{
	if (n->op != FR_OP_NAME)
		return 0;
	if (!is_known_beside(f, with, n))
		return fr_filter_unknown_name(f, n);
	n->op = FR_OP_FIELD;
	n->field = calloc(FR_EVENT_MAX, sizeof(*n->field));
	f->no_memory |= !n->field;
	return n->field ? 0 : -ENOMEM;
}

static int bind_check_number(struct fr_filter *f, struct fr_node *n)
{
	if (bind_check_name(f, NULL, n))
		return -EINVAL;
	return fr_node_kinds(n) & NUM ? 0 : fr_filter_fail(f, n->at, "this is a text where a number is needed");
}

/* A bare word next to a text was meant as a text. */
static int check_quotes(struct fr_filter *f, const struct fr_node *text, const struct fr_node *word)
{
	if (fr_node_kinds(text) == TEXT && text->op != FR_OP_TEXT && word->op == FR_OP_NAME && !is_known_beside(f, text, word))
		return fr_filter_fail(f, word->at, "a text needs quotes: \"%s\"", word->text);
	return 0;
}

static bool is_task_name(const struct fr_node *n)
{
	bool is_any = false;
	u32 nr;

	if (n->op != FR_OP_FIELD)
		return is_builtin(n, FR_BI_comm);
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		if (n->field[nr] && n->field[nr]->type != FR_TYPE_comm)
			return false;
		is_any |= n->field[nr] != NULL;
	}
	return is_any;
}

/* A longer name is no task's: the comparison would never hold. */
static int check_length(struct fr_filter *f, const struct fr_node *name, const struct fr_node *text)
{
	if (text->op != FR_OP_TEXT || text->len < FR_COMM_SZ || !is_task_name(name))
		return 0;
	return fr_filter_fail(f, text->at, "the kernel keeps %d bytes of a name: \"%.*s\"", FR_COMM_SZ - 1, FR_COMM_SZ - 1,
			      text->text);
}

static int check_pair(struct fr_filter *f, const struct fr_node *n, struct fr_node *b)
{
	u8 common;

	if (check_quotes(f, n->a, b) || check_quotes(f, b, n->a) || bind_check_name(f, b, n->a) || bind_check_name(f, n->a, b))
		return -EINVAL;
	common = fr_node_kinds(n->a) & fr_node_kinds(b);
	if (!common)
		return fr_filter_fail(f, n->at, "a text cannot be compared with a number");
	if (common == TEXT && n->op >= FR_OP_LT && n->op <= FR_OP_GE)
		return fr_filter_fail(f, n->at, "texts have no order: compare with == != ~ !~ =~ in");
	return check_length(f, n->a, b) ?: check_length(f, b, n->a);
}

/* Tracepoints' formats have names for some: which, the row tells. */
static bool has_names(const struct fr_node *n)
{
	bool any = n->op == FR_OP_FIELD && !n->kinds;
	u32 nr;

	for (nr = 0; n->field && nr < FR_EVENT_MAX; nr++)
		any |= n->field[nr] && (fr_sysname_style(n->field[nr]->style) || n->field[nr]->style == FR_STYLE_EXIT ||
					(nr >= FR_TP_FIRST && nr <= FR_TP_LAST));
	return any;
}

/* The left side of ~ is a text, or a number that has names. */
static int check_match(struct fr_filter *f, struct fr_node *n)
{
	int err;

	if (check_quotes(f, n->a, n->b) || bind_check_name(f, NULL, n->a) || bind_check_name(f, NULL, n->b))
		return -EINVAL;
	err = check_pattern(f, n);
	if (err)
		return err;
	if (!(fr_node_kinds(n->a) & TEXT) && !has_names(n->a))
		return fr_filter_fail(f, n->at, "only a text can match a pattern, or a number that text output shows by name");
	return n->op >= FR_OP_REGEX || strpbrk(n->b->text, "*?[\\") ? 0 : check_length(f, n->a, n->b);
}

static int check_compare(struct fr_filter *f, struct fr_node *n)
{
	struct fr_node *b;
	int err = 0;

	if (bind_is_pattern_op(n))
		return check_match(f, n);
	for (b = n->b; b && !err; b = b->next)
		err = check_pair(f, n, b);
	return err;
}

static int bind_compare(struct fr_filter *f, struct fr_node *n)
{
	int err;

	if (is_builtin(n->a, FR_BI_event) || (is_builtin(n->b, FR_BI_event) && !fr_op_is_list(n->op)))
		return bind_events(f, n);
	err = bind_words(f, n);
	err = err ?: check_compare(f, n);
	return err ?: fr_filter_bind_args(f, n);
}

static int bind_op(struct fr_filter *f, struct fr_node *n)
{
	if (fr_op_is_compare(n->op))
		return bind_compare(f, n);
	if (n->op == FR_OP_NOT || n->op == FR_OP_AND || n->op == FR_OP_OR)
		return bind_check_name(f, NULL, n->a) || (n->b && bind_check_name(f, NULL, n->b)) ? -EINVAL : 0;
	return bind_check_number(f, n->a) || (n->b && bind_check_number(f, n->b)) ? -EINVAL : 0;
}

/* ---- verdicts ---- */

/* Does this have no value in this event, whatever the row holds? */
bool fr_node_is_missing(const struct fr_node *n, u32 nr)
{
	if (n->op == FR_OP_FIELD)
		return !n->field[nr];
	if (n->op == FR_OP_BUILTIN)
		return n->events && !n->events[nr];
	if (n->op < FR_OP_NEG || n->op > FR_OP_MOD)
		return false;
	return fr_node_is_missing(n->a, nr) || (n->b && fr_node_is_missing(n->b, nr));
}

enum fr_verdict fr_node_verdict(const struct fr_node *n, u32 nr)
{
	enum fr_verdict a, b;

	if (n->op == FR_OP_EVENTS)
		return n->events[nr] ? FR_VERDICT_YES : FR_VERDICT_NO;
	if (n->op == FR_OP_NOT) {
		a = fr_node_verdict(n->a, nr);
		return a == FR_VERDICT_LOOK ? a : a == FR_VERDICT_NO ? FR_VERDICT_YES : FR_VERDICT_NO;
	}
	if (n->op == FR_OP_AND || n->op == FR_OP_OR) {
		enum fr_verdict strong = n->op == FR_OP_AND ? FR_VERDICT_NO : FR_VERDICT_YES;

		a = fr_node_verdict(n->a, nr);
		b = fr_node_verdict(n->b, nr);
		return a == strong || b == strong ? strong : a == b ? a : FR_VERDICT_LOOK;
	}
	if (fr_op_is_compare(n->op))
		return fr_node_is_missing(n->a, nr) || (!fr_op_is_list(n->op) && fr_node_is_missing(n->b, nr))
			       ? FR_VERDICT_NO
			       : FR_VERDICT_LOOK;
	return fr_node_is_missing(n, nr) ? FR_VERDICT_NO : FR_VERDICT_LOOK;
}

static bool is_leaf(const struct fr_node *n)
{
	return n->op <= FR_OP_SYMBOL;
}

/* Nodes are created before their right operands and after their left ones: bind names first, then operators from the inside. */
static int bind_tree(struct fr_filter *f, struct fr_node *n)
{
	struct fr_node *b;
	int err;

	if (is_leaf(n))
		return 0;
	err = n->op == FR_OP_BITAND || (fr_op_is_compare(n->op) && !bind_is_pattern_op(n)) ? bind_bits(f, n) : 0;
	err = err ?: bind_tree(f, n->a);
	for (b = n->b; b && !err; b = b->next)
		err = bind_tree(f, b);
	return err ? err : bind_op(f, n);
}

/* The events that a chain of && names, NULL: it names none. */
static const bool *events_of_chain(const struct fr_node *n)
{
	if (!n || n->op == FR_OP_EVENTS)
		return n ? n->events : NULL;
	return n->op == FR_OP_AND ? events_of_chain(n->a) ?: events_of_chain(n->b) : NULL;
}

/* A field that the events in question would have, had it been recorded, is a mistake, though others have one of that name. */
static int check_lacking(struct fr_filter *f, const struct fr_node *n, const bool *events)
{
	bool any = false;
	u32 nr;

	if (!n)
		return 0;
	if (n->op == FR_OP_AND)
		events = events_of_chain(n) ?: events;
	for (nr = 0; n->op == FR_OP_FIELD && nr < FR_EVENT_MAX; nr++)
		any |= events && events[nr] && n->field[nr];
	if (n->op == FR_OP_FIELD && events && !any && fr_filter_is_lacking(f, n, events))
		return -EINVAL;
	return check_lacking(f, n->a, events) ?: check_lacking(f, n->b, events) ?: check_lacking(f, n->next, events);
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
		err = bind_check_name(f, NULL, f->root);
	if (!err && f->file && f->file->lacks)
		err = check_lacking(f, f->root, NULL);
	for (nr = 0; nr < FR_EVENT_MAX && !err; nr++)
		f->verdict[nr] = fr_node_verdict(f->root, nr);
	return err;
}
