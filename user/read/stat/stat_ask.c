/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stat_ask: what is asked, from its texts: keys and functions. What their expressions mean follows from the files. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text/nearest.h"
#include "base/text/units.h"
#include "read/stat/stat.h"

#define BLANKS	   " \t\n"
#define WHOLE_PPM  1000000u
#define NAME_SZ	   64u
#define WHY_SZ	   240u
#define BRACKETS   "([{"
#define CLOSED_BY  ")]}"
#define DEPTH_MOST 100u

static const struct {
	const char *name;
	enum fr_stat_by by;
	const char *what;
} keys[] = {
	{"program", FR_STAT_BY_program, "the name of its process's first thread"},
	{"call", FR_STAT_BY_call, "system call by name; of a wait also \"user code\", \"kernel\""},
	{"syscall", FR_STAT_BY_call, "the same"},
	{"object", FR_STAT_BY_object, "what a wait was for, in words"},
	{"host", FR_STAT_BY_host, "the file's"},
	{"boot", FR_STAT_BY_boot, "the file's boot_id"},
	{"file", FR_STAT_BY_file, "its path, as given"},
};

static const struct {
	const char *name;
	enum fr_stat_fn fn;
	u32 ppm;
	bool needs; /* an argument */
	const char *what;
} functions[] = {
	{"count", FR_STAT_count, 0, false, "events; count(EXPR): of those for which it holds, or which have a value"},
	{"sum", FR_STAT_sum, 0, true, "of the values"},
	{"avg", FR_STAT_avg, 0, true, "of the values"},
	{"mean", FR_STAT_avg, 0, true, NULL},
	{"min", FR_STAT_min, 0, true, "the least"},
	{"max", FR_STAT_max, 0, true, "the greatest"},
	{"p50", FR_STAT_percentile, 500000, true, "the value that half do not exceed; p90, p99, p99.9 likewise"},
	{"p90", FR_STAT_percentile, 900000, true, NULL},
	{"p99", FR_STAT_percentile, 990000, true, NULL},
	{"median", FR_STAT_percentile, 500000, true, NULL},
	{"first", FR_STAT_first, 0, true, "the first event's value"},
	{"last", FR_STAT_last, 0, true, "the last event's value"},
	{"distinct", FR_STAT_distinct, 0, true, "how many different values"},
	{"rate", FR_STAT_rate, 0, false, "events a second; rate(EXPR): sum of the values a second"},
};

const char *fr_stat_key_name(u32 i, const char **what)
{
	*what = i < sizeof(keys) / sizeof(keys[0]) ? keys[i].what : NULL;
	return i < sizeof(keys) / sizeof(keys[0]) ? keys[i].name : NULL;
}

const char *fr_stat_function_name(u32 i, const char **what)
{
	*what = i < sizeof(functions) / sizeof(functions[0]) ? functions[i].what : NULL;
	return i < sizeof(functions) / sizeof(functions[0]) ? functions[i].name : NULL;
}

/* ---- pieces ---- */

/* The end of what begins here: a text in quotes, or one character. */
static size_t skip_one(const char *text, size_t at)
{
	char quote = text[at];

	if (quote != '"')
		return at + 1;
	for (at++; text[at] && text[at] != quote; at++)
		at += text[at] == '\\' && text[at + 1];
	return at + !!text[at];
}

/* The first of these characters outside brackets and quotes, or the end; *deep: brackets that are open there. */
static size_t find_outside(const char *text, size_t at, const char *these, u32 *deep)
{
	for (*deep = 0; text[at]; at = skip_one(text, at)) {
		if (!*deep && strchr(these, text[at]))
			return at;
		*deep += strchr(BRACKETS, text[at]) != NULL;
		if (strchr(CLOSED_BY, text[at]) && *deep)
			--*deep;
	}
	return at;
}

static char *ask_copy(const char *text, size_t from, size_t to)
{
	while (from < to && strchr(BLANKS, text[from]))
		from++;
	while (to > from && strchr(BLANKS, text[to - 1]))
		to--;
	return strndup(text + from, to - from);
}

static int wrong_keys(const struct fr_stat_ask *ask, size_t at, const char *why)
{
	fr_filter_say_at("--by", why, ask->keys, at);
	return -EINVAL;
}

static int wrong_funcs(const struct fr_stat_ask *ask, size_t at, const char *why)
{
	fr_filter_say_at("the functions", why, ask->funcs, at);
	return -EINVAL;
}

/* ---- keys ---- */

static int parse_time(const struct fr_stat_ask *ask, struct fr_stat_key *k)
{
	k->by = FR_STAT_BY_time;
	if (k->label[4] && !fr_parse_duration(k->label + 5, &k->bucket_ns) && k->bucket_ns)
		return 0;
	return wrong_keys(ask, k->at, "time needs the length of its steps: time:100ms");
}

static int parse_key(const struct fr_stat_ask *ask, struct fr_stat_key *k)
{
	size_t i;

	if (!k->label[0])
		return wrong_keys(ask, k->at, "a key is missing here: --by comm,pid");
	if (!strcmp(k->label, "time") || !strncmp(k->label, "time:", 5))
		return parse_time(ask, k);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(k->label, keys[i].name))
			k->by = keys[i].by;
	for (i = 0; &ask->key[i] < k; i++)
		if (!strcmp(k->label, ask->key[i].label))
			return wrong_keys(ask, k->at, "this key stands there twice");
	return 0;
}

int fr_stat_parse_keys(struct fr_stat_ask *ask, const char *text)
{
	size_t at = 0, end;
	int err = 0;
	u32 deep;

	ask->keys = strdup(text);
	if (!ask->keys)
		return fr_err_memory(), -ENOMEM;
	do {
		struct fr_stat_key *k = &ask->key[ask->key_cnt];

		if (ask->key_cnt == FR_STAT_KEY_MAX)
			return wrong_keys(ask, at, "too many keys: 8 at most");
		end = find_outside(text, at, ",", &deep);
		k->at = at + strspn(text + at, BLANKS);
		k->label = ask_copy(text, at, end);
		if (!k->label)
			return fr_err_memory(), -ENOMEM;
		ask->key_cnt++;
		err = parse_key(ask, k);
		at = end + 1;
	} while (!err && text[end]);
	return err;
}

/* ---- functions ---- */

/* p99, p99.9: the share in millionths. */
static bool parse_percentile(const char *name, u32 *ppm)
{
	u64 scale = WHOLE_PPM / 100, v = 0;
	const char *p = name + 1;

	if (*name != 'p' || !isdigit((unsigned char)*p))
		return false;
	for (; isdigit((unsigned char)*p) && v <= WHOLE_PPM; p++)
		v = v * 10 + (*p - '0') * scale;
	if (*p == '.' && isdigit((unsigned char)p[1]))
		for (p++; isdigit((unsigned char)*p) && scale; p++)
			v += (*p - '0') * (scale /= 10);
	*ppm = v;
	return !*p && v <= WHOLE_PPM;
}

static int unknown_function(const struct fr_stat_ask *ask, size_t at, const char *name)
{
	struct fr_nearest near = {.to = name};
	char why[WHY_SZ];
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		fr_nearest_consider(&near, functions[i].name);
	if (*name == 'p' && isdigit((unsigned char)name[1]))
		snprintf(why, sizeof(why), "%s is no percentile: these are p0 to p100, as p99.9", name);
	else if (fr_nearest_likely(&near))
		snprintf(why, sizeof(why), "there is no function %s: did you mean %s?", name, near.name);
	else
		snprintf(
			why, sizeof(why),
			"there is no function %s: it is one of count, sum, avg, min, max, p50, p90, p99 (any pN), first, last, "
			"distinct, rate",
			name);
	return wrong_funcs(ask, at, why);
}

static int ask_find_function(const struct fr_stat_ask *ask, size_t at, const char *name, struct fr_stat_func *f, bool *needs)
{
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strcmp(functions[i].name, name))
			continue;
		f->fn = functions[i].fn;
		f->ppm = functions[i].ppm;
		*needs = functions[i].needs;
		return 0;
	}
	*needs = true;
	f->fn = FR_STAT_percentile;
	return parse_percentile(name, &f->ppm) ? 0 : unknown_function(ask, at, name);
}

/* needs: a value. */
static bool ask_is_function(const char *name, bool *needs)
{
	u32 ppm;
	size_t i;

	*needs = true;
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strcmp(name, functions[i].name))
			continue;
		*needs = functions[i].needs;
		return true;
	}
	return parse_percentile(name, &ppm);
}

bool fr_stat_is_function(const char *name)
{
	bool needs;

	return ask_is_function(name, &needs);
}

static int no_brackets(const struct fr_stat_ask *ask, size_t at, const char *name)
{
	char why[WHY_SZ];
	bool needs;

	if (ask_is_function(name, &needs))
		snprintf(why, sizeof(why), "%s is a function: %s(%s)", name, name, needs ? "latency" : "");
	else
		snprintf(why, sizeof(why), "a function has brackets: count(), sum(%s)", name[0] ? name : "blocked");
	return wrong_funcs(ask, at, why);
}

/* The function at *at, which moves behind it. */
static int parse_function(struct fr_stat_ask *ask, size_t *at)
{
	struct fr_stat_func *f = &ask->func[ask->func_cnt];
	const char *text = ask->funcs;
	size_t from = *at, len = 0, open, end;
	char name[NAME_SZ];
	bool needs = false;
	u32 deep, i;
	int err;

	while (isalnum((unsigned char)text[from + len]) || strchr("._", text[from + len] ?: ' '))
		len++;
	snprintf(name, sizeof(name), "%.*s", (int)len, text + from);
	open = from + len;
	if (text[open] != '(')
		return no_brackets(ask, from, name);
	err = ask_find_function(ask, from, name, f, &needs);
	if (err)
		return err;
	end = find_outside(text, open + 1, ")", &deep);
	if (!text[end])
		return wrong_funcs(ask, open, "this bracket is not closed");
	*at = end + 1;
	f->at = open + 1 + strspn(text + open + 1, BLANKS);
	f->label = ask_copy(text, from, end + 1);
	f->expr = ask_copy(text, open + 1, end);
	ask->func_cnt++;
	if (!f->label || !f->expr)
		return fr_err_memory(), -ENOMEM;
	if (!f->expr[0]) {
		free(f->expr);
		f->expr = NULL;
	}
	if (needs && !f->expr)
		return wrong_funcs(ask, f->at, "the value is missing here: sum(blocked), p99(latency)");
	for (i = 0; i + 1 < ask->func_cnt; i++)
		if (!strcmp(f->label, ask->func[i].label))
			return wrong_funcs(ask, from, "this function stands there twice");
	return 0;
}

int fr_stat_parse_functions(struct fr_stat_ask *ask, const char *text)
{
	size_t at = 0;
	int err = 0;

	ask->funcs = strdup(text);
	if (!ask->funcs)
		return fr_err_memory(), -ENOMEM;
	for (at = strspn(text, BLANKS ","); text[at] && !err; at += strspn(text + at, BLANKS ",")) {
		if (ask->func_cnt == FR_STAT_FUNC_MAX)
			return wrong_funcs(ask, at, "too many functions: 32 at most");
		err = parse_function(ask, &at);
	}
	if (!err && !ask->func_cnt)
		return wrong_funcs(ask, 0, "name at least one: count()");
	return err;
}

void fr_stat_ask_free(struct fr_stat_ask *ask)
{
	u32 i;

	for (i = 0; i < ask->key_cnt; i++)
		free(ask->key[i].label);
	for (i = 0; i < ask->func_cnt; i++) {
		free(ask->func[i].label);
		free(ask->func[i].expr);
	}
	free(ask->keys);
	free(ask->funcs);
}

/* ---- columns by name ---- */

/* Blanks do not count. */
static bool ask_is_same(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, BLANKS);
		b += strspn(b, BLANKS);
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

int fr_stat_column(const struct fr_stat_ask *ask, const char *name, const char **near)
{
	struct fr_nearest n = {.to = name};
	u32 i;

	for (i = 0; i < ask->key_cnt + ask->func_cnt; i++) {
		const char *label = i < ask->key_cnt ? ask->key[i].label : ask->func[i - ask->key_cnt].label;

		if (ask_is_same(label, name))
			return i;
		fr_nearest_consider(&n, label);
	}
	*near = fr_nearest_likely(&n);
	return -1;
}
