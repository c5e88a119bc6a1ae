/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The C library's own. It makes a node of each repetition: x{1000} is a thousand, (x{1000}){1000} a million. And it goes back
 * and forth for back-references. So both are bounded before it sees the pattern.
 */
#include "pure/filter/regex.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_MAX 256	 /* bytes */
#define REPEAT_MAX  1000 /* of all {n} of a pattern multiplied */
#define DEPTH_MAX   30	 /* of brackets */

struct fr_regex {
	regex_t re;
};

static int fail(char *why, size_t sz, const char *what)
{
	snprintf(why, sz, "%s", what);
	return -EINVAL;
}

/* Behind a [set]: the ] that comes first belongs to it, as do those of [:alpha:]. */
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

/* The larger number of {n,m}, 1 if that is none. */
static unsigned long repeats(const char *p)
{
	unsigned long n = strtoul(p + 1, (char **)&p, 10),
		      m = *p == ',' && isdigit((unsigned char)p[1]) ? strtoul(p + 1, NULL, 10) : 0;

	n = m > n ? m : n;
	return n > 1 ? n : 1;
}

static int check(const char *p, char *why, size_t sz)
{
	unsigned long product = 1;
	int depth = 0;

	while (*p) {
		if (*p == '\\' && p[1] >= '1' && p[1] <= '9')
			return fail(why, sz, "back-references are not known here");
		if (*p == '[') {
			p = skip_set(p);
			continue;
		}
		if (*p == '{' && (repeats(p) > REPEAT_MAX || (product *= repeats(p)) > REPEAT_MAX))
			return fail(why, sz, "this repeats too often: all {n} multiplied are 1000 at most");
		depth += *p == '(';
		depth -= *p == ')';
		if (depth > DEPTH_MAX)
			return fail(why, sz, "too deep: use fewer brackets");
		p += *p == '\\' && p[1] ? 2 : 1;
	}
	return 0;
}

int fr_regex_new(const char *pattern, size_t sz, bool ignores_case, struct fr_regex **out, char *why, size_t why_sz)
{
	struct fr_regex *r;
	int err;

	if (sz > PATTERN_MAX)
		return fail(why, why_sz, "this pattern is too long: 256 bytes at most");
	if (memchr(pattern, 0, sz))
		return fail(why, why_sz, "a pattern cannot hold a NUL");
	if (check(pattern, why, why_sz))
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
