/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From text to tree: a scanner of one token ahead, and one function for each level of precedence by a table. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/filter_node.h"

enum kind { END, NUMBER, STRING, NAME, PUNCT };

struct token {
	enum kind kind;
	size_t at, len;
	fr_wide num;
	char punct[3];
};

struct parser {
	struct fr_filter *f;
	const char *expr;
	size_t at; /* behind tok */
	struct token tok;
	u32 depth;
	bool failed;
};

static void fail(struct parser *p, size_t at, const char *what)
{
	fr_filter_fail(p->f, at, "%s", what);
	p->failed = true;
	p->tok.kind = END;
}

/* ---- tokens ---- */

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const struct {
	const char *name;
	u64 ns;
} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000}};

/* The unit behind a number: its ns, 0 if there is none. */
static u64 scan_unit(struct parser *p, const char *from)
{
	size_t len = 0, i;

	while (is_name(from[len]))
		len++;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) == len && !strncmp(from, units[i].name, len)) {
			p->at += len;
			return units[i].ns;
		}
	}
	if (len)
		fail(p, p->at, "this is no unit: ns, us, ms, s, m are");
	return 0;
}

/* The part of a duration behind its point, in ns. */
static fr_wide scan_fraction(struct parser *p, u64 *unit)
{
	const char *digit = p->expr + p->at + 1;
	size_t len = strspn(digit, "0123456789"), i;
	fr_wide ns = 0, scale;

	p->at += 1 + len;
	*unit = scan_unit(p, p->expr + p->at);
	if (!*unit && !p->failed)
		fail(p, p->tok.at, "only a duration can have a fraction: 1.5ms");
	for (i = 0, scale = *unit; i < len && scale; i++) {
		scale /= 10;
		ns += (digit[i] - '0') * scale;
	}
	return ns;
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
		fail(p, p->at, "this number does not fit 64 bits");
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
		fail(p, p->at, "this text has no closing \"");
		return;
	}
	p->tok.kind = STRING;
	p->at = i + 1;
}

static void scan_name(struct parser *p)
{
	size_t i = p->at;

	while (is_name(p->expr[i]))
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
	static const char *const two[] = {"==", "!=", "<=", ">=", "&&", "||", "!~"};
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
	if (!strchr("<>!~|&+-*/%()[],", *c)) {
		fail(p, p->at, *c == '=' ? "use == to compare" : "this has no meaning here");
		return;
	}
	p->tok.punct[0] = *c;
	p->tok.punct[1] = 0;
	p->at++;
}

static void next(struct parser *p)
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
	else if (is_name(c))
		scan_name(p);
	else if (c)
		scan_punct(p);
	p->tok.len = p->at - p->tok.at;
}

static bool is_punct(const struct parser *p, const char *punct)
{
	return p->tok.kind == PUNCT && !strcmp(p->tok.punct, punct);
}

static bool is_word(const struct parser *p, const char *word)
{
	return p->tok.kind == NAME && p->tok.len == strlen(word) && !strncmp(p->expr + p->tok.at, word, p->tok.len);
}

static void expect(struct parser *p, const char *punct, const char *what)
{
	if (is_punct(p, punct))
		next(p);
	else if (!p->failed)
		fail(p, p->tok.at, what);
}

/* ---- tree ---- */

static struct fr_node *parse_level(struct parser *p, u32 level);

static struct fr_node *new_node(struct parser *p, enum fr_op op, size_t at)
{
	struct fr_node *n = p->failed ? NULL : fr_node_new(p->f, op, at);

	if (!n) {
		p->failed = true;
		p->tok.kind = END;
	}
	return n;
}

static void keep_text(struct parser *p, struct fr_node *n, const char *s, size_t len)
{
	n->text = strndup(s, len);
	n->len = len;
	if (!n->text)
		fail(p, n->at, "no memory");
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* One character behind a backslash, *i at it; moves *i behind what it takes. */
static char unescape_one(const char *s, size_t *i)
{
	char c = s[(*i)++];
	int hi, lo;

	if (c == 'n')
		return '\n';
	if (c == 't')
		return '\t';
	if (c != 'x')
		return c;
	hi = hex_digit(s[*i]);
	lo = hi < 0 ? -1 : hex_digit(s[*i + 1]);
	if (lo < 0)
		return c;
	*i += 2;
	return hi << 4 | lo;
}

static void unescape(struct fr_node *n)
{
	size_t from = 0, to = 0;

	while (from < n->len) {
		char c = n->text[from++];

		n->text[to++] = c == '\\' && from < n->len ? unescape_one(n->text, &from) : c;
	}
	n->text[to] = 0;
	n->len = to;
}

static struct fr_node *parse_string(struct parser *p)
{
	struct fr_node *n = new_node(p, FR_OP_TEXT, p->tok.at);

	if (!n)
		return NULL;
	keep_text(p, n, p->expr + p->tok.at + 1, p->tok.len - 2);
	if (n->text)
		unescape(n);
	next(p);
	return n;
}

static void parse_index(struct parser *p, struct fr_node *n)
{
	next(p);
	if (p->tok.kind != NUMBER || p->tok.num > 65535) {
		fail(p, p->tok.at, "an index is a number");
		return;
	}
	n->has_index = true;
	n->index = p->tok.num;
	next(p);
	expect(p, "]", "a ] is missing");
}

static struct fr_node *parse_name(struct parser *p)
{
	struct fr_node *n = new_node(p, FR_OP_NAME, p->tok.at);

	if (!n)
		return NULL;
	keep_text(p, n, p->expr + p->tok.at, p->tok.len);
	next(p);
	if (is_punct(p, "["))
		parse_index(p, n);
	return n;
}

static struct fr_node *parse_number(struct parser *p)
{
	struct fr_node *n = new_node(p, FR_OP_NUM, p->tok.at);

	if (n)
		n->num = p->tok.num;
	next(p);
	return n;
}

static struct fr_node *parse_unary(struct parser *p);

static struct fr_node *parse_primary(struct parser *p)
{
	struct fr_node *n;

	if (p->tok.kind == NUMBER)
		return parse_number(p);
	if (p->tok.kind == STRING)
		return parse_string(p);
	if (p->tok.kind == NAME)
		return parse_name(p);
	if (!is_punct(p, "(")) {
		if (!p->failed)
			fail(p, p->tok.at, "here a name, a number or a \"text\" is missing");
		return NULL;
	}
	next(p);
	n = parse_level(p, 0);
	expect(p, ")", "a ) is missing");
	return n;
}

static struct fr_node *parse_prefix(struct parser *p, enum fr_op op)
{
	struct fr_node *n = new_node(p, op, p->tok.at);

	next(p);
	if (n)
		n->a = parse_unary(p);
	return n && n->a ? n : NULL;
}

static struct fr_node *parse_unary(struct parser *p)
{
	struct fr_node *n;

	if (++p->depth > FR_DEPTH_MAX) {
		fail(p, p->tok.at, "too deep: use fewer brackets");
		return NULL;
	}
	n = is_punct(p, "!") ? parse_prefix(p, FR_OP_NOT) : is_punct(p, "-") ? parse_prefix(p, FR_OP_NEG) : parse_primary(p);
	p->depth--;
	return n;
}

#define LEVEL_MAX 7

static const struct {
	u32 level;
	const char *punct;
	enum fr_op op;
} binaries[] = {
	{0, "||", FR_OP_OR},   {1, "&&", FR_OP_AND},   {2, "==", FR_OP_EQ}, {2, "!=", FR_OP_NE},  {2, "<", FR_OP_LT},
	{2, "<=", FR_OP_LE},   {2, ">", FR_OP_GT},     {2, ">=", FR_OP_GE}, {2, "~", FR_OP_GLOB}, {2, "!~", FR_OP_NOT_GLOB},
	{3, "|", FR_OP_BITOR}, {4, "&", FR_OP_BITAND}, {5, "+", FR_OP_ADD}, {5, "-", FR_OP_SUB},  {6, "*", FR_OP_MUL},
	{6, "/", FR_OP_DIV},   {6, "%", FR_OP_MOD},
};
#define COMPARE_LEVEL 2

static bool find_binary(const struct parser *p, u32 level, enum fr_op *op)
{
	size_t i;

	if (level == COMPARE_LEVEL && is_word(p, "in")) {
		*op = FR_OP_IN;
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

/* ( a, b, c ): linked by next */
static struct fr_node *parse_list(struct parser *p)
{
	struct fr_node *first = NULL, **link = &first;

	expect(p, "(", "after in comes ( and a list");
	while (!p->failed) {
		*link = parse_level(p, COMPARE_LEVEL + 1);
		if (!*link)
			return NULL;
		link = &(*link)->next;
		if (!is_punct(p, ","))
			break;
		next(p);
	}
	expect(p, ")", "a ) is missing");
	return p->failed ? NULL : first;
}

static struct fr_node *parse_right(struct parser *p, struct fr_node *left, enum fr_op op, u32 level)
{
	struct fr_node *n = new_node(p, op, p->tok.at);

	next(p);
	if (!n)
		return NULL;
	n->a = left;
	n->b = op == FR_OP_IN ? parse_list(p) : parse_level(p, level + 1);
	return n->b ? n : NULL;
}

/* A chain like a + b + c grows to the left without recursion here, but not where it is evaluated. */
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
			fail(p, p->tok.at, "comparisons cannot be chained: use &&");
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

	next(&p);
	if (p.tok.kind == END && !p.failed)
		fail(&p, 0, "the expression is empty");
	f->root = parse_level(&p, 0);
	if (!p.failed && p.tok.kind != END)
		fail(&p, p.tok.at, is_punct(&p, ")") ? "this ) has no (" : "here an operator is missing, as && or ||");
	return p.failed ? -EINVAL : 0;
}
