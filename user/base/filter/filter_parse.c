/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From text to tree: a scanner with one token of lookahead, and one function for all levels of precedence, by a table. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/filter/filter_node.h"
#include "base/text/digits.h"

#define EXPR_MAX 65536 /* bytes */

enum kind { END, NUMBER, STRING, REGEX, NAME, PUNCT };

struct token {
	enum kind kind;
	size_t at, len;
	fr_wide num;
	char punct[3];
	bool ignores_case; /* REGEX */
};

struct parser {
	struct fr_filter *f;
	const char *expr;
	size_t at; /* after tok */
	struct token tok;
	u32 depth;
	bool failed;
	bool wants_pattern; /* a / begins a regular expression instead of dividing */
};

static void filter_parse_fail(struct parser *p, size_t at, const char *what)
{
	fr_filter_fail(p->f, at, "%s", what);
	p->failed = true;
	p->tok.kind = END;
}

static void filter_parse_quotes(struct parser *p, size_t at, size_t len)
{
	fr_filter_fail(p->f, at, "a text needs quotes: \"%.*s\"", (int)len, p->expr + at);
	filter_parse_fail(p, at, "a text needs quotes");
}

/* Up to a blank, or what may stand behind a text. */
static size_t bare_len(const char *from)
{
	return strcspn(from, " \t\r\n\"'()&|,=!<>~");
}

/* ---- tokens ---- */

static bool filter_parse_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const struct {
	const char *name;
	u64 worth;
} units[] = {
	{"ns", 1},	     {"us", 1000},	   {"ms", 1000000},	 {"s", 1000000000},
	{"m", 60000000000},  {"min", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000},
	{"k", 1ULL << 10},   {"K", 1ULL << 10},	   {"KiB", 1ULL << 10},	 {"M", 1ULL << 20},
	{"MiB", 1ULL << 20}, {"G", 1ULL << 30},	   {"GiB", 1ULL << 30},	 {"T", 1ULL << 40},
	{"TiB", 1ULL << 40},
};

/* The unit after a number: its ns or bytes, 0: none. */
static u64 scan_unit(struct parser *p, const char *from)
{
	size_t len = 0, i;

	while (filter_parse_is_name(from[len]))
		len++;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) == len && !strncmp(from, units[i].name, len)) {
			p->at += len;
			return units[i].worth;
		}
	}
	if (len)
		filter_parse_fail(p, p->at, "not a unit: give ns, us, ms, s, m, h, d, or k, M, G, T (KiB, MiB, GiB, TiB)");
	return 0;
}

#define FRACTION_DIGITS 15

/* The digits after the point of a duration or a size, in ns or bytes; *unit is its unit. */
static fr_wide scan_fraction(struct parser *p, u64 *unit)
{
	const char *digit = p->expr + p->at + 1;
	size_t len = strspn(digit, "0123456789"), i;
	fr_wide num = 0, scale = 1;

	p->at += 1 + len;
	*unit = scan_unit(p, p->expr + p->at);
	if (!*unit && !p->failed)
		filter_parse_fail(p, p->tok.at, "only a duration or a size can have a fraction: 1.5ms, 1.5k");
	for (i = 0; i < len && i < FRACTION_DIGITS; i++) {
		num = num * 10 + (digit[i] - '0');
		scale *= 10;
	}
	return num * *unit / scale;
}

static void scan_number(struct parser *p)
{
	const char *from = p->expr + p->at;
	char *end;
	u64 unit, num;
	fr_wide fraction = 0;

	errno = 0;
	num = strtoull(from, &end, 0);
	if (errno) {
		filter_parse_fail(p, p->at, "this number does not fit 64 bits");
		return;
	}
	if (*from == '0' && (isdigit((unsigned char)*end) || (*end == '.' && end > from + 1))) {
		filter_parse_fail(p, p->at, "a number that begins with 0 is octal, with 0x hexadecimal: leave the 0 out");
		return;
	}
	if (end == from + 1 && (*end == 'x' || *end == 'X')) {
		filter_parse_fail(p, p->at, "0x needs hexadecimal digits");
		return;
	}
	p->tok.kind = NUMBER;
	p->at += end - from;
	if (*end == '.' && isdigit((unsigned char)end[1]))
		fraction = scan_fraction(p, &unit);
	else
		unit = scan_unit(p, end);
	p->tok.num = (fr_wide)num * (unit ? unit : 1) + fraction;
}

static void scan_string(struct parser *p)
{
	size_t i = p->at + 1;

	while (p->expr[i] && p->expr[i] != '"')
		i += p->expr[i] == '\\' && p->expr[i + 1] ? 2 : 1;
	if (!p->expr[i]) {
		filter_parse_fail(p, p->at, "this text has no closing \"");
		return;
	}
	p->tok.kind = STRING;
	p->at = i + 1;
}

/* From / to /, and a following i if it stands alone. */
static void scan_regex(struct parser *p)
{
	size_t i = p->at + 1;

	while (p->expr[i] && p->expr[i] != '/')
		i += p->expr[i] == '\\' && p->expr[i + 1] ? 2 : 1;
	if (!p->expr[i]) {
		filter_parse_fail(p, p->at, "this pattern has no closing /");
		return;
	}
	p->tok.ignores_case = p->expr[i + 1] == 'i' && !filter_parse_is_name(p->expr[i + 2]);
	if (bare_len(p->expr + i + 1 + p->tok.ignores_case)) {
		filter_parse_quotes(p, p->at, bare_len(p->expr + p->at)); /* a path */
		return;
	}
	p->tok.kind = REGEX;
	p->tok.len = i + 1 - p->at;
	p->at = i + 1 + p->tok.ignores_case;
}

static void scan_name(struct parser *p)
{
	size_t i = p->at;

	while (filter_parse_is_name(p->expr[i]))
		i++;
	/* the + and - of SIGRTMIN+3 belong to the name */
	if (i - p->at == 8 && !strncmp(p->expr + p->at, "SIGRTM", 6) && (p->expr[i] == '+' || p->expr[i] == '-') &&
	    isdigit((unsigned char)p->expr[i + 1]))
		for (i++; isdigit((unsigned char)p->expr[i]);)
			i++;
	p->tok.kind = NAME;
	p->at = i;
}

static void scan_punct(struct parser *p)
{
	static const char *const two[] = {"==", "!=", "<=", ">=", "&&", "||", "!~", "=~", "<<", ">>"};
	const char *c = p->expr + p->at;
	size_t i;

	p->tok.kind = PUNCT;
	for (i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
		if (!strncmp(c, two[i], 2)) {
			memcpy(p->tok.punct, two[i], 3);
			p->at += 2;
			return;
		}
	}
	if (!strchr("<>!~|&^+-*/%()[],", *c)) {
		filter_parse_fail(p, p->at,
				  *c == '='    ? "use == to compare"
				  : *c == '\'' ? "a text goes in double quotes: \"...\""
				  : *c == ':'  ? "a name with colons goes in double quotes: \"tp:SYSTEM:NAME\""
					       : "this has no meaning here");
		return;
	}
	p->tok.punct[0] = *c;
	p->tok.punct[1] = 0;
	p->at++;
}

static void filter_parse_next(struct parser *p)
{
	char c;

	if (p->failed)
		return;
	while (isspace((unsigned char)p->expr[p->at]))
		p->at++;
	c = p->expr[p->at];
	p->tok = (struct token){.kind = END, .at = p->at};
	if (isdigit((unsigned char)c))
		scan_number(p);
	else if (c == '"')
		scan_string(p);
	else if (c == '/' && p->wants_pattern)
		scan_regex(p);
	else if (filter_parse_is_name(c))
		scan_name(p);
	else if (c)
		scan_punct(p);
	if (p->tok.kind != REGEX)
		p->tok.len = p->at - p->tok.at;
	p->wants_pattern = false;
}

static bool is_punct(const struct parser *p, const char *punct)
{
	return p->tok.kind == PUNCT && !strcmp(p->tok.punct, punct);
}

static bool filter_parse_is_word(const struct parser *p, const char *word)
{
	return p->tok.kind == NAME && p->tok.len == strlen(word) && !strncmp(p->expr + p->tok.at, word, p->tok.len);
}

static void expect(struct parser *p, const char *punct, const char *what)
{
	if (is_punct(p, punct))
		filter_parse_next(p);
	else if (!p->failed)
		filter_parse_fail(p, p->tok.at, what);
}

/* ---- what was found in place of an operator ---- */

/* Operators of other languages. */
static const struct {
	const char *word, *hint;
} words[] = {
	{"and", "write && for and"},
	{"or", "write || for or"},
	{"is", "write == for is"},
	{"like", "write ~ \"PATTERN\" for like"},
	{"not", "write != for not ==, !~ for not ~, not in (...) for several"},
	{"matches", "write ~ \"PATTERN\" or =~ /EXPRESSION/ for matches"},
	{"contains", "write has for contains"},
	{"AND", "write && for AND"},
	{"OR", "write || for OR"},
};

/* Is it a unit with a blank before it? */
static bool is_lone_unit(const struct parser *p)
{
	size_t at = p->tok.at, i;

	if (p->tok.kind != NAME || at < 2 || !isspace((unsigned char)p->expr[at - 1]))
		return false;
	while (at && isspace((unsigned char)p->expr[at - 1]))
		at--;
	if (!at || !isdigit((unsigned char)p->expr[at - 1]))
		return false;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (filter_parse_is_word(p, units[i].name))
			return true;
	return false;
}

/* Is the name before the token a lone `not`? */
static bool is_behind_not(const struct parser *p)
{
	size_t at = p->tok.at;

	while (at && isspace((unsigned char)p->expr[at - 1]))
		at--;
	return at >= 3 && !strncasecmp(p->expr + at - 3, "not", 3) && (at == 3 || !filter_parse_is_name(p->expr[at - 4]));
}

/* What is wrong with the token, if more is known than `otherwise` says. */
static const char *hint_of(const struct parser *p, const char *otherwise)
{
	size_t i;

	if (is_lone_unit(p))
		return "a unit goes right after its number: 1ms";
	if (is_behind_not(p))
		return "write !(...) for not";
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (filter_parse_is_word(p, words[i].word))
			return words[i].hint;
	return otherwise;
}

/* ---- tree ---- */

static struct fr_node *parse_level(struct parser *p, u32 level);

static struct fr_node *filter_parse_new_node(struct parser *p, enum fr_op op, size_t at)
{
	struct fr_node *n = p->failed ? NULL : fr_node_new(p->f, op, at);

	if (!n) {
		p->failed = true;
		p->tok.kind = END;
	}
	return n;
}

static void filter_parse_keep_text(struct parser *p, struct fr_node *n, const char *s, size_t len)
{
	n->text = strndup(s, len);
	n->len = len;
	if (n->text)
		return;
	p->f->no_memory = true;
	filter_parse_fail(p, n->at, "no memory");
}

#define ESCAPES "\"\\ntx" /* what may follow a backslash */

/* What is wrong with the escape at the backslash s, NULL: nothing. */
static const char *wrong_escape(const char *s)
{
	if (!strchr(ESCAPES, s[1]))
		return "a text knows \\\" \\\\ \\n \\t \\xNN: write \\\\ for a backslash";
	return s[1] == 'x' && fr_hex_byte(s + 2) < 0 ? "\\x needs two hexadecimal digits, as in \\x1b" : NULL;
}

/* The character escaped at s[*i], after the backslash; moves *i past it. */
static char unescape_one(const char *s, size_t *i)
{
	char c = s[(*i)++];

	if (c == 'n')
		return '\n';
	if (c == 't')
		return '\t';
	if (c != 'x')
		return c;
	c = fr_hex_byte(s + *i);
	*i += 2;
	return c;
}

/* In a pattern, \. and the like stay as they are. */
static void filter_parse_unescape(struct parser *p, struct fr_node *n, bool is_pattern)
{
	size_t from = 0, to = 0;

	while (from < n->len) {
		char c = n->text[from++];
		bool is_escape = c == '\\' && (!is_pattern || strchr(ESCAPES, n->text[from]));

		if (is_escape && wrong_escape(n->text + from - 1)) {
			filter_parse_fail(p, n->at + from, wrong_escape(n->text + from - 1));
			return;
		}
		n->text[to++] = is_escape ? unescape_one(n->text, &from) : c;
	}
	n->text[to] = 0;
	n->len = to;
}

/* Between slashes: \/ is a slash, the rest belongs to the pattern. */
static struct fr_node *parse_regex(struct parser *p)
{
	struct fr_node *n = filter_parse_new_node(p, FR_OP_TEXT, p->tok.at);
	size_t from, to = 0;

	if (!n)
		return NULL;
	filter_parse_keep_text(p, n, p->expr + p->tok.at + 1, p->tok.len - 2);
	n->is_regex = true;
	n->ignores_case = p->tok.ignores_case;
	for (from = 0; n->text && from < n->len; from++) {
		from += n->text[from] == '\\' && n->text[from + 1] == '/';
		n->text[to++] = n->text[from];
	}
	if (n->text)
		n->text[to] = 0;
	n->len = to;
	filter_parse_next(p);
	return n;
}

static struct fr_node *parse_string(struct parser *p, bool is_pattern)
{
	struct fr_node *n = filter_parse_new_node(p, FR_OP_TEXT, p->tok.at);

	if (!n)
		return NULL;
	filter_parse_keep_text(p, n, p->expr + p->tok.at + 1, p->tok.len - 2);
	if (n->text)
		filter_parse_unescape(p, n, is_pattern);
	filter_parse_next(p);
	return n;
}

static void parse_index(struct parser *p, struct fr_node *n)
{
	filter_parse_next(p);
	if (p->tok.kind != NUMBER || p->tok.num > 65535) {
		filter_parse_fail(p, p->tok.at, "an index is a number");
		return;
	}
	n->has_index = true;
	n->index = p->tok.num;
	filter_parse_next(p);
	expect(p, "]", "a ] is missing");
}

static struct fr_node *parse_name(struct parser *p)
{
	struct fr_node *n = filter_parse_new_node(p, FR_OP_NAME, p->tok.at);

	if (!n)
		return NULL;
	filter_parse_keep_text(p, n, p->expr + p->tok.at, p->tok.len);
	filter_parse_next(p);
	if (is_punct(p, "["))
		parse_index(p, n);
	return n;
}

static struct fr_node *parse_number(struct parser *p)
{
	struct fr_node *n = filter_parse_new_node(p, FR_OP_NUM, p->tok.at);

	if (n)
		n->num = p->tok.num;
	filter_parse_next(p);
	return n;
}

static struct fr_node *parse_unary(struct parser *p);

static struct fr_node *parse_primary(struct parser *p)
{
	struct fr_node *n;

	if (p->tok.kind == NUMBER)
		return parse_number(p);
	if (p->tok.kind == STRING)
		return parse_string(p, false);
	if (p->tok.kind == NAME)
		return parse_name(p);
	if (!is_punct(p, "(")) {
		if (!p->failed)
			filter_parse_fail(p, p->tok.at, "a name, a number or a \"text\" is missing here");
		return NULL;
	}
	filter_parse_next(p);
	n = parse_level(p, 0);
	expect(p, ")", hint_of(p, "a ) is missing"));
	return n;
}

static struct fr_node *parse_prefix(struct parser *p, enum fr_op op)
{
	struct fr_node *n = filter_parse_new_node(p, op, p->tok.at);

	filter_parse_next(p);
	if (n)
		n->a = parse_unary(p);
	return n && n->a ? n : NULL;
}

static struct fr_node *parse_unary(struct parser *p)
{
	struct fr_node *n;

	if (++p->depth > FR_DEPTH_MAX) {
		filter_parse_fail(p, p->tok.at, "too deep: use fewer brackets");
		return NULL;
	}
	n = is_punct(p, "!")   ? parse_prefix(p, FR_OP_NOT)
	    : is_punct(p, "-") ? parse_prefix(p, FR_OP_NEG)
	    : is_punct(p, "~") ? parse_prefix(p, FR_OP_INV)
			       : parse_primary(p);
	p->depth--;
	return n;
}

#define LEVEL_MAX 9

static const struct {
	u32 level;
	const char *punct;
	enum fr_op op;
} binaries[] = {
	{0, "||", FR_OP_OR},	{1, "&&", FR_OP_AND},	   {2, "==", FR_OP_EQ},	   {2, "!=", FR_OP_NE},
	{2, "<", FR_OP_LT},	{2, "<=", FR_OP_LE},	   {2, ">", FR_OP_GT},	   {2, ">=", FR_OP_GE},
	{2, "~", FR_OP_GLOB},	{2, "!~", FR_OP_NOT_GLOB}, {2, "=~", FR_OP_REGEX}, {3, "|", FR_OP_BITOR},
	{4, "^", FR_OP_BITXOR}, {5, "&", FR_OP_BITAND},	   {6, "<<", FR_OP_SHL},   {6, ">>", FR_OP_SHR},
	{7, "+", FR_OP_ADD},	{7, "-", FR_OP_SUB},	   {8, "*", FR_OP_MUL},	   {8, "/", FR_OP_DIV},
	{8, "%", FR_OP_MOD},
};
#define COMPARE_LEVEL 2

/* Is the token the first word of `not in`? */
static bool filter_parse_is_not_in(const struct parser *p)
{
	const char *rest = p->expr + p->at;

	if (!filter_parse_is_word(p, "not"))
		return false;
	while (isspace((unsigned char)*rest))
		rest++;
	return !strncmp(rest, "in", 2) && !filter_parse_is_name(rest[2]);
}

static bool find_binary(const struct parser *p, u32 level, enum fr_op *op)
{
	size_t i;

	if (level == COMPARE_LEVEL &&
	    (filter_parse_is_word(p, "in") || filter_parse_is_word(p, "has") || filter_parse_is_not_in(p))) {
		*op = filter_parse_is_word(p, "in") ? FR_OP_IN : filter_parse_is_word(p, "has") ? FR_OP_HAS : FR_OP_NOT_IN;
		return true;
	}
	for (i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++) {
		if (binaries[i].level == level && is_punct(p, binaries[i].punct)) {
			*op = binaries[i].op;
			return true;
		}
	}
	return false;
}

/* ---- a text without its quotes ---- */

/* Is it neither a name, an item of an array nor a number: web-1, nginx.service, /usr/bin/x, kworker/0:1, 7zip? */
static bool is_bare_text(const char *from)
{
	size_t digits = strspn(from, "0123456789"), len = bare_len(from), name;

	for (name = 0; filter_parse_is_name(from[name]);)
		name++;
	return digits ? len > digits : len > name && from[name] != '[';
}

/* What follows, behind an operator, ( or comma, is compared with left: if that is a text, and this has no quotes, say so. */
static void check_bare(struct parser *p, const struct fr_node *left)
{
	const char *from = p->expr + p->at, *nearest;
	char word[64];

	while (isspace((unsigned char)*from))
		from++;
	if (p->failed || left->op != FR_OP_NAME || left->has_index || !left->text || !is_bare_text(from) ||
	    !fr_filter_is_text(p->f, left->text))
		return;
	snprintf(word, sizeof(word), "%.*s", (int)bare_len(from), from);
	nearest = strcmp(left->text, fr_builtin_names[FR_BI_event]) || fr_schema_find(p->f->schema, word)
			  ? NULL
			  : fr_filter_nearest_event(p->f->schema, word);
	if (strpbrk(word, "*?["))
		fr_filter_fail(p->f, from - p->expr, "this is a pattern: %.63s ~ \"%s\"", left->text, word);
	if (nearest)
		fr_filter_unknown(p->f, from - p->expr, "event", word, nearest);
	filter_parse_quotes(p, from - p->expr, bare_len(from));
}

/* ( a, b, c ): linked by next */
static struct fr_node *filter_parse_list(struct parser *p, const struct fr_node *left)
{
	struct fr_node *first = NULL, **link = &first;

	if (is_punct(p, "("))
		check_bare(p, left);
	expect(p, "(", "in needs ( and a list");
	while (!p->failed) {
		*link = parse_level(p, COMPARE_LEVEL + 1);
		if (!*link)
			return NULL;
		link = &(*link)->next;
		if (!is_punct(p, ","))
			break;
		check_bare(p, left);
		filter_parse_next(p);
	}
	expect(p, ")", "a ) is missing");
	return p->failed ? NULL : first;
}

static bool filter_parse_is_pattern_op(enum fr_op op)
{
	return op == FR_OP_GLOB || op == FR_OP_NOT_GLOB || op == FR_OP_REGEX;
}

static struct fr_node *parse_right(struct parser *p, struct fr_node *left, enum fr_op op, u32 level)
{
	struct fr_node *n = filter_parse_new_node(p, op, p->tok.at);

	p->wants_pattern = filter_parse_is_pattern_op(op);
	if (fr_op_is_compare(op) && !p->wants_pattern)
		check_bare(p, left);
	filter_parse_next(p);
	if (op == FR_OP_NOT_IN)
		filter_parse_next(p);
	if (!n)
		return NULL;
	n->a = left;
	if (fr_op_is_list(op))
		n->b = filter_parse_list(p, left);
	else if (filter_parse_is_pattern_op(op) && (p->tok.kind == NAME || (p->tok.kind == PUNCT && !is_punct(p, "("))))
		filter_parse_fail(p, p->tok.at, FR_PATTERN_WORDS);
	else if (p->tok.kind == REGEX)
		n->b = parse_regex(p);
	else if (op == FR_OP_REGEX && p->tok.kind == STRING)
		n->b = parse_string(p, true);
	else
		n->b = parse_level(p, level + 1);
	return n->b ? n : NULL;
}

/* A chain like a + b + c grows to the left without recursion here, but its evaluation recurses. */
static struct fr_node *parse_level(struct parser *p, u32 level)
{
	struct fr_node *left;
	u32 chain = 0;
	enum fr_op op;

	if (level == LEVEL_MAX)
		return parse_unary(p);
	left = parse_level(p, level + 1);
	while (left && find_binary(p, level, &op)) {
		if (level == COMPARE_LEVEL && chain) {
			filter_parse_fail(p, p->tok.at, "comparisons cannot be chained: use &&");
			return NULL;
		}
		chain++;
		left = parse_right(p, left, op, level);
	}
	return left;
}

int fr_filter_parse(struct fr_filter *f, const char *expr)
{
	struct parser p = {.f = f, .expr = expr};

	if (strnlen(expr, EXPR_MAX + 1) > EXPR_MAX)
		return fr_filter_fail(f, EXPR_MAX, "the expression is too long: %d bytes at most", EXPR_MAX);
	filter_parse_next(&p);
	if (p.tok.kind == END && !p.failed)
		filter_parse_fail(&p, 0, "the expression is empty");
	f->root = parse_level(&p, 0);
	if (!p.failed && p.tok.kind != END)
		filter_parse_fail(&p, p.tok.at,
				  is_punct(&p, ")") ? "this ) has no ("
						    : hint_of(&p, "an operator is missing here, as && or ||"));
	return p.failed ? -EINVAL : 0;
}
