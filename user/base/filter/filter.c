/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/filter/filter.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filter/filter_node.h"
#include "base/rows/callargs.h"
#include "base/rows/whose.h"
#include "base/text/dev.h"
#include "base/tp/tps.h"

/* ---- life ---- */

int fr_filter_fail(struct fr_filter *f, size_t at, const char *fmt, ...)
{
	va_list ap;

	if (f->error->text[0])
		return -EINVAL;
	f->error->at = at;
	va_start(ap, fmt);
	vsnprintf(f->error->text, sizeof(f->error->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

struct fr_node *fr_node_new(struct fr_filter *f, enum fr_op op, size_t at)
{
	struct fr_node *n;

	if (f->node_cnt == FR_NODE_MAX) {
		fr_filter_fail(f, at, "the expression is too long: %u parts at most", FR_NODE_MAX);
		return NULL;
	}
	n = calloc(1, sizeof(*n));
	if (!n) {
		f->no_memory = true;
		fr_filter_fail(f, at, "no memory");
		return NULL;
	}
	n->op = op;
	n->at = at;
	f->node[f->node_cnt++] = n;
	return n;
}

void fr_filter_free(struct fr_filter *f)
{
	u32 i;

	if (!f)
		return;
	for (i = 0; i < f->node_cnt; i++) {
		fr_regex_free(f->node[i]->regex);
		free(f->node[i]->text);
		free(f->node[i]->field);
		free(f->node[i]->symbol);
		free(f->node[i]->events);
		free(f->node[i]);
	}
	free(f);
}

int fr_filter_new_beside(const char *expr, const struct fr_filter_file *file, u32 cnt, u32 which, struct fr_filter **out,
			 struct fr_filter_error *error)
{
	struct fr_filter *f = calloc(1, sizeof(*f));
	int err;

	memset(error, 0, sizeof(*error));
	if (!f)
		return -ENOMEM;
	f->schema = file[which].schema;
	f->arch = file[which].arch;
	f->beside = file;
	f->beside_cnt = cnt;
	f->file = &file[which];
	f->error = error;
	err = fr_filter_parse(f, expr);
	if (!err)
		err = fr_filter_bind(f);
	f->error = NULL;
	f->beside = NULL;
	f->beside_cnt = 0;
	f->file = NULL;
	if (err) {
		err = f->no_memory ? -ENOMEM : err;
		fr_filter_free(f);
		return err;
	}
	*out = f;
	return 0;
}

int fr_filter_new(const char *expr, const struct fr_schema *s, const char *arch, struct fr_filter **out,
		  struct fr_filter_error *error)
{
	struct fr_filter_file file = {.schema = s, .arch = arch};

	return fr_filter_new_beside(expr, &file, 1, 0, out, error);
}

int fr_filter_check(const char *expr, struct fr_filter_error *error)
{
	struct fr_filter *f = calloc(1, sizeof(*f));
	int err;

	memset(error, 0, sizeof(*error));
	if (!f)
		return -ENOMEM;
	f->schema = fr_schema_builtin();
	f->error = error;
	err = fr_filter_parse(f, expr);
	fr_filter_free(f);
	return err;
}

/* Not where the event has a field of that name, nor where its name alone decides. */
static bool uses_pair(const struct fr_filter *f, const struct fr_node *n)
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		if (n->events[nr] && !n->field[nr] && f->verdict[nr] == FR_VERDICT_LOOK)
			return true;
	return false;
}

bool fr_filter_uses_pairs(const struct fr_filter *f)
{
	bool uses = false;
	u32 i;

	for (i = 0; i < f->node_cnt; i++)
		uses |= f->node[i]->op == FR_OP_BUILTIN && fr_builtin_is_pair(f->node[i]->builtin) && uses_pair(f, f->node[i]);
	return uses;
}

bool fr_filter_uses_cgroups(const struct fr_filter *f)
{
	bool uses = false;
	u32 i;

	for (i = 0; i < f->node_cnt; i++)
		uses |= f->node[i]->op == FR_OP_BUILTIN && fr_builtin_is_cgroup(f->node[i]->builtin);
	return uses;
}

enum fr_verdict fr_filter_verdict(const struct fr_filter *f, u8 event)
{
	return f->verdict[event];
}

/* ---- globs ---- */

/* Match one set [...] at *p, and move past it. Without a closing bracket it is an ordinary [. */
static bool match_set(const char *pattern, size_t sz, size_t *p, char c)
{
	size_t i = *p + 1;
	bool negated = i < sz && (pattern[i] == '!' || pattern[i] == '^'), found = false;
	size_t first = i += negated;

	for (; i < sz && (pattern[i] != ']' || i == first); i++) {
		if (i + 2 < sz && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
			found |= (unsigned char)pattern[i] <= (unsigned char)c &&
				 (unsigned char)c <= (unsigned char)pattern[i + 2];
			i += 2;
		} else {
			found |= pattern[i] == c;
		}
	}
	if (i >= sz) {
		(*p)++;
		return c == '[';
	}
	*p = i + 1;
	return found != negated;
}

bool fr_glob_one(const char *pattern, size_t sz, size_t *p, char c)
{
	if (pattern[*p] == '[')
		return match_set(pattern, sz, p, c);
	if (pattern[*p] == '\\' && *p + 1 < sz)
		(*p)++;
	else if (pattern[*p] == '?')
		c = '?';
	return pattern[(*p)++] == c;
}

/* Only what begins an open set is one byte long. */
bool fr_glob_is_closed(const char *pattern, size_t sz)
{
	size_t p = 0, from;

	while (p < sz) {
		from = p;
		fr_glob_one(pattern, sz, &p, 0);
		if (pattern[from] == '[' && p == from + 1)
			return false;
	}
	return true;
}

/* Backtracking to the last * is enough: what an earlier one could match, the last one can, too. */
bool fr_glob(const char *pattern, size_t pattern_sz, const char *text, size_t text_sz)
{
	size_t p = 0, t = 0, star = pattern_sz, star_t = 0, try;

	while (t < text_sz) {
		if (p < pattern_sz && pattern[p] == '*') {
			star = p++;
			star_t = t;
			continue;
		}
		try = p;
		if (p < pattern_sz && fr_glob_one(pattern, pattern_sz, &try, text[t])) {
			p = try;
			t++;
		} else if (star < pattern_sz) {
			p = star + 1;
			t = ++star_t;
		} else {
			return false;
		}
	}
	while (p < pattern_sz && pattern[p] == '*')
		p++;
	return p == pattern_sz;
}

/* ---- evaluation ---- */

struct value {
	enum fr_val_kind kind;
	fr_wide num;
	const char *text;
	size_t len;
};

struct env {
	const struct fr_view *view;
	const struct fr_row *row;
};

static struct value filter_number(fr_wide num)
{
	return (struct value){.kind = FR_VAL_NUM, .num = num};
}

static struct value text(const char *s, size_t len)
{
	return (struct value){.kind = FR_VAL_TEXT, .text = s, .len = len};
}

static const struct value none = {.kind = FR_VAL_NONE};

static struct value filter_num_of(u64 num, bool is_signed)
{
	return filter_number(is_signed ? (fr_wide)(s64)num : (fr_wide)num);
}

static struct value from_val(const struct fr_val *v)
{
	if (v->kind == FR_VAL_NUM)
		return filter_num_of(v->num, v->is_signed);
	if (v->kind == FR_VAL_TEXT)
		return text(v->text, v->len);
	return none;
}

/* 0: unknown. */
static struct value pair(const struct env *e, enum fr_builtin b)
{
	const struct fr_pair *p = fr_view_pair(e->view, e->row);
	u64 v = 0;

	if (!p)
		return none;
#define T(name) v = b == FR_BI_##name ? p->name##_ns : v;
	FR_PAIR_TIMES(T)
#undef T
	v = b == FR_BI_waker ? p->waker : v;
	return v ? filter_number(v) : none;
}

static struct value filter_builtin(const struct env *e, enum fr_builtin b)
{
	struct fr_who who;
	const char *found;
	size_t len;

	switch (b) {
	case FR_BI_event:
		return text(e->row->ev->name, strlen(e->row->ev->name));
	case FR_BI_ts:
		return filter_number(e->row->ts);
	case FR_BI_cpu:
		return filter_number(e->row->cpu);
	case FR_BI_tid:
		return filter_number(e->row->tid);
	case FR_BI_tier:
		return fr_tier_name(e->row->tier) ? text(fr_tier_name(e->row->tier), strlen(fr_tier_name(e->row->tier))) : none;
	case FR_BI_cgroup:
		found = fr_view_cgroup(e->view, e->row);
		return found ? text(found, strlen(found)) : none;
	default:
		break;
	}
	if (fr_builtin_is_pair(b))
		return pair(e, b);
	if (fr_builtin_is_belongs(b)) {
		found = fr_view_belongs(e->view, e->row, b - FR_BI_container);
		return found ? text(found, strlen(found)) : none;
	}
	if (b == FR_BI_program) {
		found = fr_whose_text(e->view, e->row, FR_WHOSE_program, &len);
		return found ? text(found, len) : none;
	}
	who = fr_view_who(e->view, e->row);
	if (b == FR_BI_pid)
		return who.pid < 0 ? none : filter_number(who.pid);
	return who.comm ? text(who.comm, who.len) : none;
}

static struct value filter_field(const struct env *e, const struct fr_node *n)
{
	const struct fr_field *f = n->field[e->row->ev->nr];
	struct fr_val v;

	if (!f)
		return none;
	v = fr_view_field(e->view, e->row, f);
	if (!n->has_index)
		return from_val(&v);
	return v.kind == FR_VAL_NUMS && n->index < v.len ? filter_num_of(v.nums[n->index], v.is_signed) : none;
}

static struct value filter_symbol(const struct env *e, const struct fr_node *n)
{
	const struct fr_filter_name *s = &n->symbol[e->row->ev->nr];
	u32 abi = 0;

	if (s->is_text)
		return text(n->text, n->len);
	if (s->known[0] != s->known[1] || s->v[0] != s->v[1])
		abi = fr_view_sys(e->view, e->row).abi & 1;
	return s->known[abi] ? filter_number(s->v[abi]) : none;
}

/* Wrapping, as unsigned of 128 bits: a damaged number must not be undefined behaviour. */
bool fr_op_calculate(enum fr_op op, fr_wide a, fr_wide b, fr_wide *out)
{
	unsigned __int128 x = a, y = b;

	if ((op == FR_OP_DIV || op == FR_OP_MOD) && !b)
		return false;
	if ((op == FR_OP_SHL || op == FR_OP_SHR) && (b < 0 || b > 127))
		return false;
	switch (op) {
	case FR_OP_BITOR:
		*out = x | y;
		break;
	case FR_OP_BITXOR:
		*out = x ^ y;
		break;
	case FR_OP_BITAND:
		*out = x & y;
		break;
	case FR_OP_SHL:
		*out = x << b;
		break;
	case FR_OP_SHR:
		*out = a >> b;
		break;
	case FR_OP_ADD:
		*out = x + y;
		break;
	case FR_OP_SUB:
		*out = x - y;
		break;
	case FR_OP_MUL:
		*out = x * y;
		break;
	case FR_OP_DIV:
		*out = b == -1 ? (fr_wide)(0 - x) : a / b;
		break;
	case FR_OP_MOD:
		*out = b == -1 ? 0 : a % b;
		break;
	default:
		return false;
	}
	return true;
}

static struct value filter_calculate(enum fr_op op, fr_wide a, fr_wide b)
{
	fr_wide v;

	return fr_op_calculate(op, a, b, &v) ? filter_number(v) : none;
}

static bool truth(const struct env *e, const struct fr_node *n);

static struct value eval(const struct env *e, const struct fr_node *n)
{
	struct value a, b;

	switch (n->op) {
	case FR_OP_NUM:
		return filter_number(n->num);
	case FR_OP_TEXT:
		return text(n->text, n->len);
	case FR_OP_BUILTIN:
		return n->field && n->field[e->row->ev->nr] ? filter_field(e, n) : filter_builtin(e, n->builtin);
	case FR_OP_FIELD:
		return filter_field(e, n);
	case FR_OP_SYMBOL:
		return filter_symbol(e, n);
	default:
		break;
	}
	if (n->op > FR_OP_MOD)
		return filter_number(truth(e, n));
	a = eval(e, n->a);
	if (n->op == FR_OP_NEG)
		return a.kind == FR_VAL_NUM ? filter_calculate(FR_OP_SUB, 0, a.num) : none;
	if (n->op == FR_OP_INV)
		return a.kind == FR_VAL_NUM ? filter_number(~a.num) : none;
	b = eval(e, n->b);
	return a.kind == FR_VAL_NUM && b.kind == FR_VAL_NUM ? filter_calculate(n->op, a.num, b.num) : none;
}

static bool is_equal(const struct value *a, const struct value *b)
{
	return a->kind == FR_VAL_NUM ? a->num == b->num : a->len == b->len && !memcmp(a->text, b->text, a->len);
}

static bool filter_compare(enum fr_op op, const struct value *a, const struct value *b)
{
	if (a->kind != b->kind || a->kind == FR_VAL_NONE)
		return false;
	switch (op) {
	case FR_OP_EQ:
		return is_equal(a, b);
	case FR_OP_NE:
		return !is_equal(a, b);
	case FR_OP_LT:
		return a->num < b->num;
	case FR_OP_LE:
		return a->num <= b->num;
	case FR_OP_GT:
		return a->num > b->num;
	default:
		return a->num >= b->num;
	}
}

static bool filter_is_in(const struct env *e, const struct fr_node *n)
{
	struct value a = eval(e, n->a), b;
	const struct fr_node *item;

	for (item = n->b; item; item = item->next) {
		b = eval(e, item);
		if (filter_compare(FR_OP_EQ, &a, &b))
			return true;
	}
	return false;
}

static bool filter_is_not_in(const struct env *e, const struct fr_node *n)
{
	struct value a = eval(e, n->a), b;
	const struct fr_node *item;

	for (item = n->b; item; item = item->next) {
		b = eval(e, item);
		if (!filter_compare(FR_OP_NE, &a, &b))
			return false;
	}
	return true;
}

/* The name of a number, as text prints it; of a tracepoint's, as its format has it. */
static struct value filter_name_of(const struct env *e, const struct fr_node *n, s64 v, char room[FR_SYSNAME_SZ])
{
	const struct fr_field *f = n->field ? n->field[e->row->ev->nr] : NULL;
	struct fr_sys sys = fr_view_sys(e->view, e->row);
	const char *name = f ? fr_sysname_text(&sys, f->style, v, room) : NULL;

	if (f && !name && e->view->tps)
		name = fr_tps_symbol(e->view->tps, e->row, f, v);
	return name ? text(name, strlen(name)) : none;
}

static bool filter_is_match(const struct env *e, const struct fr_node *n)
{
	struct value a = eval(e, n->a);
	char room[FR_SYSNAME_SZ];

	if (a.kind == FR_VAL_NUM)
		a = filter_name_of(e, n->a, a.num, room);
	if (a.kind != FR_VAL_TEXT)
		return false;
	if (n->b->regex)
		return fr_regex_match(n->b->regex, a.text, a.len) == (n->op == FR_OP_REGEX);
	return fr_glob(n->b->text, n->b->len, a.text, a.len) == (n->op == FR_OP_GLOB);
}

/* All bits of a number that is not 0, or a part of a text. */
static bool filter_has(const struct env *e, const struct fr_node *n)
{
	struct value a = eval(e, n->a), b = eval(e, n->b);

	if (a.kind != b.kind)
		return false;
	if (a.kind == FR_VAL_NUM)
		return b.num && (a.num & b.num) == b.num;
	return a.kind == FR_VAL_TEXT && memmem(a.text, a.len, b.text, b.len);
}

static bool filter_holds(const struct env *e, const struct fr_node *n)
{
	struct value a = eval(e, n->a), b = eval(e, n->b);

	return filter_compare(n->op, &a, &b);
}

/* A value used as a truth: true if known, not 0 and not empty. */
static bool filter_is_something(struct value v)
{
	return v.kind == FR_VAL_NUM ? v.num != 0 : v.kind == FR_VAL_TEXT && v.len;
}

static bool truth(const struct env *e, const struct fr_node *n)
{
	switch (n->op) {
	case FR_OP_AND:
		return truth(e, n->a) && truth(e, n->b);
	case FR_OP_OR:
		return truth(e, n->a) || truth(e, n->b);
	case FR_OP_NOT:
		return !truth(e, n->a);
	case FR_OP_EVENTS:
		return n->events[e->row->ev->nr];
	case FR_OP_GLOB:
	case FR_OP_NOT_GLOB:
	case FR_OP_REGEX:
	case FR_OP_NOT_REGEX:
		return filter_is_match(e, n);
	case FR_OP_HAS:
		return filter_has(e, n);
	case FR_OP_IN:
		return filter_is_in(e, n);
	case FR_OP_NOT_IN:
		return filter_is_not_in(e, n);
	default:
		return fr_op_is_compare(n->op) ? filter_holds(e, n) : filter_is_something(eval(e, n));
	}
}

bool fr_filter_match(const struct fr_filter *f, const struct fr_view *v, const struct fr_row *r)
{
	struct env e = {.view = v, .row = r};

	if (f->verdict[r->ev->nr] != FR_VERDICT_LOOK)
		return f->verdict[r->ev->nr] == FR_VERDICT_YES;
	return truth(&e, f->root);
}

/* ---- values ---- */

/* The field that the whole expression is in this row; NULL: none, or it is calculated. */
static const struct fr_field *filter_field_of(const struct fr_node *n, u32 nr)
{
	return (n->op == FR_OP_FIELD || n->op == FR_OP_BUILTIN) && n->field ? n->field[nr] : NULL;
}

/* An argument of a call in words, as text has it; NULL: it has none. */
static const char *name_argument(const struct env *e, const struct fr_node *n, const struct fr_field *f, char *room)
{
	u32 i = n->has_index ? n->index : fr_callargs_at(e->row, f);
	struct fr_callargs a;
	char *end;

	if (!fr_callargs_of(e->row, fr_callargs_call(e->view, e->row), &a) || i >= a.known_cnt)
		return NULL;
	end = fr_callwords_put_named(a.signature, a.v, a.cnt, i, room);
	*end = 0;
	return *room ? room : NULL;
}

static void name_number(const struct env *e, const struct fr_node *n, const struct fr_field *f, struct fr_filter_value *out)
{
	struct fr_sys sys = fr_view_sys(e->view, e->row);
	s64 v = (s64)out->num;

	out->is_hex = f->style == FR_STYLE_HEX || f->style == FR_STYLE_ARG || f->style == FR_STYLE_TAKEN;
	if (f->style == FR_STYLE_DEV) {
		out->text = fr_dev_name(e->view->disks, v, out->room);
	} else if (f->style == FR_STYLE_ARG) {
		out->text = name_argument(e, n, f, out->room);
	} else if (v == out->num) {
		out->text = fr_sysname_text(&sys, f->style, v, out->room);
	}
	if (!out->text && e->view->tps && e->row->ev->group == FR_GROUP_TP)
		out->text = fr_tps_symbol(e->view->tps, e->row, f, (u64)out->num);
	out->len = out->text ? strlen(out->text) : 0;
}

void fr_filter_value(const struct fr_filter *f, const struct fr_view *v, const struct fr_row *r, struct fr_filter_value *out)
{
	struct env e = {.view = v, .row = r};
	struct value got = eval(&e, f->root);
	const struct fr_field *field = filter_field_of(f->root, r->ev->nr);

	out->kind = got.kind;
	out->num = got.num;
	out->text = got.text;
	out->len = got.len;
	out->is_hex = false;
	if (got.kind == FR_VAL_NUM && field)
		name_number(&e, f->root, field, out);
}

bool fr_filter_is_truth(const struct fr_filter *f)
{
	return f->root->op > FR_OP_MOD;
}

bool fr_filter_may_be(const struct fr_filter *f, enum fr_val_kind kind)
{
	return fr_node_kinds(f->root) >> kind & 1;
}

bool fr_filter_may_have(const struct fr_filter *f, u8 event)
{
	return !fr_node_is_missing(f->root, event);
}

_Static_assert(FR_DEV_NAME_SZ <= FR_SYSNAME_SZ, "a disk has room where names have");

static bool is_ns_field(const struct fr_node *n)
{
	bool any = false, all = true;
	u32 nr;

	for (nr = 0; n->field && nr < FR_EVENT_MAX; nr++) {
		any |= n->field[nr] != NULL;
		all &= !n->field[nr] || n->field[nr]->style == FR_STYLE_NS;
	}
	return all && (any || (n->op == FR_OP_BUILTIN && n->builtin != FR_BI_waker));
}

/* A sum of times is one, and so is a multiple of one. */
static bool is_ns(const struct fr_node *n)
{
	switch (n->op) {
	case FR_OP_BUILTIN:
		return n->builtin == FR_BI_ts || (fr_builtin_is_pair(n->builtin) && is_ns_field(n));
	case FR_OP_FIELD:
		return is_ns_field(n);
	case FR_OP_NEG:
		return is_ns(n->a);
	case FR_OP_ADD:
	case FR_OP_SUB:
		return is_ns(n->a) ? is_ns(n->b) || n->b->op == FR_OP_NUM : n->a->op == FR_OP_NUM && is_ns(n->b);
	case FR_OP_MUL:
	case FR_OP_DIV:
		return is_ns(n->a) && n->b->op == FR_OP_NUM;
	default:
		return false;
	}
}

bool fr_filter_is_ns(const struct fr_filter *f)
{
	return is_ns(f->root);
}

bool fr_filter_is_of_next(const struct fr_filter *f)
{
	u32 i;

	for (i = 0; i < f->node_cnt; i++)
		if (f->node[i]->op == FR_OP_BUILTIN && fr_builtin_is_pair(f->node[i]->builtin) &&
		    f->node[i]->builtin != FR_BI_oncpu)
			return true;
	return false;
}

bool fr_filter_is_everywhere(const struct fr_filter *f)
{
	bool is = true;
	u32 i;

	for (i = 0; i < f->node_cnt; i++)
		is &= f->node[i]->op != FR_OP_FIELD &&
		      (f->node[i]->op != FR_OP_BUILTIN || !fr_builtin_is_pair(f->node[i]->builtin));
	return is;
}
