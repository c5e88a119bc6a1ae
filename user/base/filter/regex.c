/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Uses the C library's. That expands repetitions, also nested ones: x{1000} is a thousand nodes, (x{1000}){1000} a million; x+
 * is xx* and so (x+)+ or x++ four, 22 times + four million. And it backtracks for back-references. So both are bounded before
 * it sees the pattern.
 */
#include "base/filter/regex.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_MAX 256	 /* bytes */
#define WRITTEN_MAX 4096 /* characters with all repetitions expanded: 0.4 KiB each */
#define DEPTH_MAX   30	 /* of brackets */

struct fr_regex {
	regex_t re;
};

static int regex_fail(char *why, size_t sz, const char *what)
{
	snprintf(why, sz, "%s", what);
	return -EINVAL;
}

/* Past a [set]: a ] that comes first belongs to it, as do those of [:alpha:]. */
static const char *skip_set(const char *p)
{
	p++;
	p += *p == '^';
	p += *p == ']';
	while (*p && *p != ']') {
		if (*p == '[' && p[1] == ':' && strstr(p + 2, ":]"))
			p = strstr(p + 2, ":]") + 1;
		p++;
	}
	return *p ? p + 1 : p;
}

/* How often the + or {n,m} at p repeats what is before it; 1 if it is neither. */
static unsigned long repeats(const char *p)
{
	unsigned long n, m;

	if (*p == '+')
		return 2;
	if (*p != '{')
		return 1;
	n = strtoul(p + 1, (char **)&p, 10);
	m = *p != ',' ? n : isdigit((unsigned char)p[1]) ? strtoul(p + 1, NULL, 10) : n < WRITTEN_MAX ? n + 1 : n;
	m = m > n ? m : n;
	return m > 1 ? m : 1;
}

/* The expanded size of a pattern, or of the part in one pair of brackets, in characters. */
struct written {
	unsigned long before; /* all before the last item */
	unsigned long last;   /* the last item: a character, a set, brackets; with all repetitions so far */
};

static void regex_add(struct written *w, unsigned long chars)
{
	w->before += w->last;
	w->last = chars;
}

static bool is_too_long(const struct written *w, unsigned long times)
{
	return times > WRITTEN_MAX || w->before + w->last * times > WRITTEN_MAX;
}

/* Past the character, set or operator at p. */
static const char *regex_next(const char *p)
{
	if (*p == '[')
		return skip_set(p);
	if (*p == '{' && strchr(p, '}'))
		return strchr(p, '}') + 1;
	return p + (*p == '\\' && p[1] ? 2 : 1);
}

static int regex_check(const char *p, char *why, size_t sz)
{
	struct written levels[DEPTH_MAX + 1] = {0}, *w = levels;

	for (; *p; p = regex_next(p)) {
		if (*p == '\\' && p[1] >= '1' && p[1] <= '9')
			return regex_fail(why, sz, "back-references are not known here");
		if (*p == '(' && w == levels + DEPTH_MAX)
			return regex_fail(why, sz, "too deep: use fewer brackets");
		if (is_too_long(w, repeats(p)))
			return regex_fail(
				why, sz,
				"this repeats too often: with all {n} and + written out it is more than 4096 characters");
		if (strchr("+{*?", *p)) {
			w->last *= repeats(p);
		} else if (*p == '(') {
			*++w = (struct written){0};
		} else if (*p == ')' && w > levels) {
			w--;
			regex_add(w, w[1].before + w[1].last + 1);
		} else {
			regex_add(w, 1);
		}
	}
	return 0;
}

int fr_regex_new(const char *pattern, size_t sz, bool ignores_case, struct fr_regex **out, char *why, size_t why_sz)
{
	struct fr_regex *r;
	int err;

	if (sz > PATTERN_MAX)
		return regex_fail(why, why_sz, "this pattern is too long: 256 bytes at most");
	if (memchr(pattern, 0, sz))
		return regex_fail(why, why_sz, "a pattern cannot hold a NUL");
	if (regex_check(pattern, why, why_sz))
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	err = regcomp(&r->re, pattern, REG_EXTENDED | REG_NOSUB | (ignores_case ? REG_ICASE : 0));
	if (err) {
		regerror(err, &r->re, why, why_sz);
		free(r);
		return err == REG_ESPACE ? -ENOMEM : -EINVAL;
	}
	*out = r;
	return 0;
}

void fr_regex_free(struct fr_regex *r)
{
	if (!r)
		return;
	regfree(&r->re);
	free(r);
}

bool fr_regex_match(const struct fr_regex *r, const char *text, size_t len)
{
	regmatch_t all = {.rm_so = 0, .rm_eo = len};

	return !regexec(&r->re, text, 0, &all, REG_STARTEND);
}
