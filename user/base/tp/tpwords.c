/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/tp/tpwords.h"

#include <string.h>

#include "types.h"

#define DEPTH_MAX 64u
#define OPS_MAX	  200u /* in a row, of which that parser calls itself */

#define DIGITS	"0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

/* Where it is. Each function reads what it is named for, and returns false if it is not there. */
struct words {
	const char *p, *fields, *fields_end;
	u32 depth, ops;
};

static void tpwords_skip(struct words *w)
{
	w->p += strspn(w->p, " \t");
}

static bool tpwords_take(struct words *w, const char *what)
{
	tpwords_skip(w);
	if (strncmp(w->p, what, strlen(what)))
		return false;
	w->p += strlen(what);
	return true;
}

static bool name(struct words *w)
{
	tpwords_skip(w);
	if (!*w->p || !strchr(LETTERS, *w->p))
		return false;
	w->p += strspn(w->p, LETTERS DIGITS);
	return true;
}

/* 10, 0x1f, 1UL, from its first digit on. */
static bool tpwords_number(struct words *w)
{
	size_t len;

	len = w->p[0] == '0' && (w->p[1] == 'x' || w->p[1] == 'X') ? 2 + strspn(w->p + 2, DIGITS "abcdefABCDEF")
								   : strspn(w->p, DIGITS);
	if (len > 20 || (len == 2 && (w->p[1] == 'x' || w->p[1] == 'X')))
		return false;
	w->p += len;
	w->p += strspn(w->p, "uUlL");
	return !*w->p || !strchr(LETTERS, *w->p);
}

static bool string(struct words *w)
{
	tpwords_skip(w);
	if (*w->p != '"')
		return false;
	for (w->p++; *w->p && *w->p != '"'; w->p++) {
		if (*w->p == '\n')
			return false;
		if (*w->p == '\\' && w->p[1])
			w->p++;
	}
	return tpwords_take(w, "\"");
}

static bool strings(struct words *w)
{
	if (!string(w))
		return false;
	for (tpwords_skip(w); *w->p == '"'; tpwords_skip(w))
		if (!string(w))
			return false;
	return true;
}

static bool expr(struct words *w);

/* A field of the format: that parser crashes on what is none. */
static bool declared(struct words *w)
{
	const char *at, *begin;
	size_t len;

	if (!name(w))
		return false;
	for (begin = w->p; begin > w->fields && strchr(LETTERS DIGITS, begin[-1]); begin--)
		;
	len = w->p - begin;
	for (at = w->fields; (at = memmem(at, w->fields_end - at, begin, len)); at++)
		if (at > w->fields && (at[-1] == ' ' || at[-1] == '*') && (at[len] == ';' || at[len] == '['))
			return true;
	return false;
}

/* { expr, STRING } after a comma, from the first one on. */
static bool pairs(struct words *w)
{
	while (tpwords_take(w, ",")) {
		w->ops = 0;
		if (!tpwords_take(w, "{") || !expr(w) || !tpwords_take(w, ",") ||
		    !(tpwords_take(w, "((void *)0)") || strings(w)) || !tpwords_take(w, "}"))
			return false;
	}
	return tpwords_take(w, ")");
}

static bool tpwords_more(struct words *w, u32 cnt)
{
	for (; cnt; cnt--) {
		w->ops = 0;
		if (!tpwords_take(w, ",") || !expr(w))
			return false;
	}
	return tpwords_take(w, ")");
}

/* Behind its name and the parenthesis. Others are not known to that library, unless plugins tell it. */
static bool tpwords_call(struct words *w, const char *fn, size_t len)
{
	static const char *const of_field[] = {
		"__get_str",	 "__get_dynamic_array",	    "__get_dynamic_array_len",	   "__get_bitmask",    "__get_cpumask",
		"__get_rel_str", "__get_rel_dynamic_array", "__get_rel_dynamic_array_len", "__get_rel_bitmask"};
	u32 i;

#define IS(s) (len == strlen(s) && !strncmp(fn, s, len))
	for (i = 0; i < sizeof(of_field) / sizeof(of_field[0]); i++)
		if (IS(of_field[i]))
			return declared(w) && tpwords_take(w, ")");
	if (IS("__print_symbolic"))
		return expr(w) && pairs(w);
	if (IS("__print_flags"))
		return expr(w) && tpwords_take(w, ",") && strings(w) && pairs(w);
	if (IS("__print_hex") || IS("__print_hex_str"))
		return expr(w) && tpwords_more(w, 1);
	return IS("__print_array") && expr(w) && tpwords_more(w, 2);
#undef IS
}

/* (type): names, perhaps with stars behind them, and something that is cast. */
static bool cast(struct words *w)
{
	const char *begin = w->p;

	if (tpwords_take(w, "(") && name(w)) {
		while (name(w))
			;
		while (tpwords_take(w, "*"))
			;
		if (tpwords_take(w, ")")) {
			tpwords_skip(w);
			if (*w->p && (strchr(LETTERS DIGITS "(", *w->p)))
				return true;
		}
	}
	w->p = begin;
	return false;
}

static bool primary(struct words *w)
{
	const char *fn;
	size_t len;

	if (tpwords_take(w, "("))
		return expr(w) && tpwords_take(w, ")");
	tpwords_skip(w);
	if (*w->p == '"')
		return strings(w);
	if (*w->p == '\'' && w->p[1] && w->p[1] != '\\' && w->p[1] != '\n' && w->p[2] == '\'') {
		w->p += 3;
		return true;
	}
	if (*w->p >= '0' && *w->p <= '9')
		return tpwords_number(w);
	fn = w->p;
	if (!name(w))
		return false;
	len = w->p - fn;
	if (len == 3 && !strncmp(fn, "REC", 3))
		return tpwords_take(w, "->") && declared(w);
	return tpwords_take(w, "(") ? tpwords_call(w, fn, len) : true;
}

static bool postfix(struct words *w)
{
	while (tpwords_take(w, "["))
		if (!expr(w) || !tpwords_take(w, "]"))
			return false;
	return true;
}

static bool unary(struct words *w)
{
	u32 cnt = 0;

	while (tpwords_take(w, "-") || tpwords_take(w, "!") || tpwords_take(w, "~") || cast(w))
		if (++cnt > 4)
			return false;
	return primary(w) && postfix(w);
}

static bool operator(struct words *w)
{
	static const char *const op[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+",
					 "-",  "*",  "/",  "%",	 "<",  ">",  "&",  "|",	 "^"};
	u32 i;

	tpwords_skip(w);
	if (!strncmp(w->p, "->", 2))
		return false;
	for (i = 0; i < sizeof(op) / sizeof(op[0]); i++)
		if (tpwords_take(w, op[i]))
			return ++w->ops < OPS_MAX;
	return false;
}

static bool expr(struct words *w)
{
	bool good;

	if (++w->depth > DEPTH_MAX)
		return false;
	good = unary(w);
	while (good && operator(w))
		good = unary(w);
	if (good && tpwords_take(w, "?"))
		good = expr(w) && tpwords_take(w, ":") && expr(w);
	w->depth--;
	return good;
}

bool fr_tpwords_are_sound(const char *fields, const char *end, const char *text)
{
	struct words w = {.p = text, .fields = fields, .fields_end = end};

	if (!strings(&w))
		return false;
	while (tpwords_take(&w, ",")) {
		w.ops = 0;
		if (!expr(&w))
			return false;
	}
	tpwords_skip(&w);
	return !*w.p || (*w.p == '\n' && !w.p[1]);
}

/* ---- fields ---- */

static bool literal(const char **p, const char *what)
{
	size_t len = strlen(what);

	if (strncmp(*p, what, len))
		return false;
	*p += len;
	return true;
}

static bool digits(const char **p)
{
	size_t len = strspn(*p, DIGITS);

	*p += len;
	return len && len <= 9;
}

/* Behind a [: up to the ], which is taken. */
static bool brackets(const char **p)
{
	size_t len = strspn(*p, LETTERS DIGITS " ");

	if ((*p)[len] == '(') {
		len += 1 + strspn(*p + len + 1, LETTERS DIGITS " ");
		if ((*p)[len++] != ')')
			return false;
	}
	*p += len;
	return literal(p, "]");
}

static bool declaration(const char **p)
{
	u32 names = 0;
	size_t len;

	while (**p != ';') {
		len = strspn(*p, LETTERS DIGITS);
		if (len && (**p < '0' || **p > '9'))
			names++;
		else if (len)
			return false;
		*p += len;
		if (len)
			continue;
		if (literal(p, "[")) {
			if (!names || !brackets(p))
				return false;
		} else if (!literal(p, " ") && !literal(p, "*")) {
			return false;
		}
	}
	return names >= 2;
}

static bool tpwords_field(const char **p)
{
	return literal(p, "\tfield:") && declaration(p) && literal(p, ";\toffset:") && digits(p) && literal(p, ";\tsize:") &&
	       digits(p) && literal(p, ";\tsigned:") && digits(p) && literal(p, ";");
}

bool fr_tpfields_are_sound(const char *text, const char *end)
{
	const char *p = text;
	size_t len;

	if (!literal(&p, "name: "))
		return false;
	len = strspn(p, LETTERS DIGITS "-");
	p += len;
	if (!len || !literal(&p, "\nID: ") || !digits(&p) || !literal(&p, "\nformat:\n"))
		return false;
	while (p < end)
		if (*p != '\n' && !tpwords_field(&p))
			return false;
		else if (!literal(&p, "\n"))
			return false;
	return true;
}
