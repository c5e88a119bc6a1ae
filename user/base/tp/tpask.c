/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/tp/tpask.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"

#define RATE_MAX_CNT 1000000u
#define RATE_MAX_NS  (86400 * FR_SEC_NS)
#define ENDS	     "{}@ \t" /* of a pattern */

bool fr_tpask_is(const char *what)
{
	what += *what == '-';
	return fr_tp_is_name(what) || !strcmp(what, fr_group_name(FR_GROUP_TP));
}

static int tpask_fail(char why[FR_TPASK_WHY_SZ], const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int tpask_fail(char why[FR_TPASK_WHY_SZ], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, FR_TPASK_WHY_SZ, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int take_pattern(const char **at, struct fr_tpask *out, char why[FR_TPASK_WHY_SZ])
{
	size_t len = strcspn(*at, ENDS);
	char *colon;

	if (len >= sizeof(out->pattern))
		return tpask_fail(why, "this name is longer than any tracepoint's");
	memcpy(out->pattern, *at, len);
	out->pattern[len] = 0;
	colon = strchr(out->pattern, ':');
	if (!colon || colon == out->pattern || !colon[1] || strchr(colon + 1, ':'))
		return tpask_fail(why,
				  "a tracepoint is tp:SYSTEM:NAME, where * stands for anything: `flightrec events '*:*'` lists "
				  "all");
	*at += len;
	return 0;
}

static bool tpask_is_condition(const char *at)
{
	return !strncmp(at, "if", 2) && strchr(" \t(", at[2]);
}

/*
 * "PATH:SYMBOL+0x10": which there are is the file's to say. A path has no colon, but perhaps spaces. That of mark:, behind
 * which there need be no place, ends where something else may begin.
 */
static int take_place(const char **at, struct fr_tpask *out, char why[FR_TPASK_WHY_SZ])
{
	const char *kind = fr_up_kind_name(out->kind), *path = *at + strlen(kind) + 1, *colon = strchr(path, ':'), *c;
	bool is_usdt = out->kind == FR_UP_usdt;
	const char *place = is_usdt ? "PROVIDER:NAME" : out->kind == FR_UP_mark ? "NAME" : "SYMBOL";

	if (*path != '/')
		return tpask_fail(why, "a place in a program is %s:PATH:%s, and its path begins with /", kind, place);
	out->path = path;
	if (out->kind == FR_UP_mark && (!colon || strcspn(path, ENDS) < (size_t)(colon - path))) { /* all of them */
		out->path_sz = strcspn(path, ENDS);
		out->place = path + out->path_sz;
		c = out->place + strspn(out->place, " \t");
		if (*c && *c != '{' && *c != '@' && !tpask_is_condition(c))
			return tpask_fail(why, "a path of mark: has no spaces, @, {, }: use a link to it");
	} else {
		out->path_sz = colon ? (size_t)(colon - path) : 0;
		out->place = colon ? colon + 1 : NULL;
		out->place_sz = colon ? strcspn(out->place, ENDS) : 0;
		c = out->place_sz ? memchr(out->place, ':', out->place_sz) : NULL;
		if (!out->place_sz || (is_usdt && (!c || c == out->place || c + 1 == out->place + out->place_sz)))
			return tpask_fail(why, "no place is named: %s:PATH:%s, where PATH has no colon", kind, place);
	}
	for (c = path; c < path + out->path_sz; c++)
		if ((u8)*c < 0x20 || *c == 0x7f)
			return tpask_fail(why, "this path has bytes that cannot be printed: use a link to it");
	*at = out->place + out->place_sz;
	return 0;
}

/* "{reason,location}": which fields there are is the format's to say */
static int take_fields(const char **at, struct fr_tpask *out, char why[FR_TPASK_WHY_SZ])
{
	const char *from = *at + 1, *end = from + strcspn(from, "{}");

	if (*end != '}')
		return tpask_fail(why, "the choice of fields has no end: {reason,location}");
	if (strspn(from, " \t,") >= (size_t)(end - from))
		return tpask_fail(why, "no field is chosen: {reason,location}, or leave {} out for all of them");
	out->fields = from;
	out->fields_sz = end - from;
	*at = end + 1;
	return 0;
}

/* "s", "m", "h", or "100ms" */
static bool take_time(const char *text, u64 *ns)
{
	char one[8];

	if (strchr("smh", *text) && *text && !text[1]) {
		snprintf(one, sizeof(one), "1%c", *text);
		text = one;
	}
	return !fr_parse_duration(text, ns) && *ns && *ns <= RATE_MAX_NS;
}

/* "@1000/s" */
static int take_rate(const char **at, struct fr_tpask *out, char why[FR_TPASK_WHY_SZ])
{
	char text[32], *slash;
	size_t len = strcspn(*at + 1, " \t");
	u64 cnt = 0, ns = 0;

	if (len < sizeof(text)) {
		memcpy(text, *at + 1, len);
		text[len] = 0;
		slash = *text >= '0' && *text <= '9' ? strchr(text, '/') : NULL;
		cnt = slash ? strtoull(text, &slash, 10) : 0;
		if (cnt && *slash != '/')
			cnt = 0;
		if (cnt && !take_time(slash + 1, &ns))
			cnt = 0;
	}
	if (!cnt || cnt > RATE_MAX_CNT || cnt > ns)
		return tpask_fail(why, "a rate is @N/T, N up to %u, T a time up to a day: @1000/s, @10/m, @50/100ms",
				  RATE_MAX_CNT);
	out->rate = fr_rate_of(cnt, ns);
	*at += 1 + len;
	return 0;
}

/* The last @ outside of quotes, or the end. */
static const char *rate_behind(const char *at)
{
	const char *found = NULL;
	bool quoted = false;

	for (; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '"')
			quoted = !quoted;
		else if (*at == '@' && !quoted)
			found = at;
	}
	return found ?: at;
}

/* "if CONDITION", perhaps with a rate behind it */
static int take_condition(const char **at, struct fr_tpask *out, char why[FR_TPASK_WHY_SZ])
{
	const char *from = *at + 2, *end;

	from += strspn(from, " \t");
	end = rate_behind(from);
	*at = end;
	while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (end == from)
		return tpask_fail(why, "a condition is missing behind if, like: if reason > 2");
	out->cond = from;
	out->cond_sz = end - from;
	if (!**at)
		return 0;
	if (out->rate.step_ns)
		return tpask_fail(why, "a rate stands before the condition or behind it, once");
	return take_rate(at, out, why);
}

/* What is behind the name, which at begins with. */
static int take_rest(const char *at, struct fr_tpask *out, char why[FR_TPASK_WHY_SZ])
{
	int err = 0;

	at += strspn(at, " \t");
	if (*at && out->removes)
		return tpask_fail(why, "what is removed has a name, and nothing else");
	if (*at == '{')
		err = take_fields(&at, out, why);
	at += strspn(at, " \t");
	if (!err && *at == '@')
		err = take_rate(&at, out, why);
	at += strspn(at, " \t");
	if (!err && tpask_is_condition(at))
		err = take_condition(&at, out, why);
	if (!err && *at)
		return tpask_fail(
			why, "behind the name stand {FIELD,...}, @N/T, if CONDITION, in this order, or nothing: '%.20s'", at);
	return err;
}

int fr_tpask_parse_event(const char *what, struct fr_tpask *out, char why[FR_TPASK_WHY_SZ])
{
	const char *at = what;
	int err;

	*out = (struct fr_tpask){.kind = fr_up_kind_of(what)};
	if (out->kind == FR_UP_KIND_CNT)
		at += strlen(FR_TP_PREFIX);
	else if (at[strlen(fr_up_kind_name(out->kind)) + 1] == '/')
		return tpask_fail(why, "a trigger names the event, as in %s:FILE__PLACE, and not the place in a file",
				  fr_up_kind_name(out->kind));
	err = take_pattern(&at, out, why);
	return err ?: take_rest(at, out, why);
}

int fr_tpask_parse(const char *what, struct fr_tpask *out, char why[FR_TPASK_WHY_SZ])
{
	const char *at = what + (*what == '-');
	int err;

	*out = (struct fr_tpask){.removes = at > what, .kind = fr_up_kind_of(at)};
	if (!strcmp(at, fr_group_name(FR_GROUP_TP))) {
		out->table = true;
		return 0;
	}
	if (out->kind < FR_UP_KIND_CNT) {
		err = take_place(&at, out, why);
	} else {
		at += strlen(FR_TP_PREFIX);
		err = take_pattern(&at, out, why);
	}
	return err ?: take_rest(at, out, why);
}
