/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/when.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/units.h"

#define CLOCK_DIGITS 10
#define EAST_MOST_S  (14 * 3600) /* from UTC; west, too: no zone is further */

static bool when_is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

static int parse_clock(const char *text, struct fr_when *w)
{
	if (strlen(text) < CLOCK_DIGITS)
		return -EINVAL;
	errno = 0;
	w->ns = strtoull(text, NULL, 10);
	w->kind = FR_WHEN_CLOCK;
	return errno ? -EINVAL : 0;
}

/* "12.5%". Parsed by hand: strtod() takes the decimal point of the locale of the program that uses the library. */
static int parse_part(const char *text, struct fr_when *w)
{
	double digits = 0, scale = 100;
	bool behind = false;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	for (; isdigit((unsigned char)*text) || (*text == '.' && !behind); text++) {
		behind |= *text == '.';
		if (*text == '.')
			continue;
		digits = digits * 10 + (*text - '0');
		scale *= behind ? 10 : 1;
	}
	w->part = digits / scale;
	w->kind = FR_WHEN_PART;
	return strcmp(text, "%") || !(w->part <= 1) ? -EINVAL : 0;
}

/* A duration that can be added to any time. */
static int parse_ns(const char *text, u64 *ns)
{
	int err = fr_parse_duration(text, ns);

	return err || *ns > INT64_MAX / 4 ? -EINVAL : 0;
}

static int parse_span(const char *text, struct fr_when *w)
{
	w->kind = *text == '-' ? FR_WHEN_END : FR_WHEN_BEGIN;
	if (*text == '-' || *text == '+')
		text++;
	return parse_ns(text, &w->ns);
}

#define TRIGGER "trigger"

static bool is_trigger(const char *text)
{
	return !strncmp(text, TRIGGER, strlen(TRIGGER));
}

static int parse_trigger(const char *text, struct fr_when *w)
{
	text += strlen(TRIGGER);
	w->kind = FR_WHEN_TRIGGER;
	w->before = *text == '-';
	if (!*text)
		return 0;
	return *text == '-' || *text == '+' ? parse_ns(text + 1, &w->ns) : -EINVAL;
}

/* .5 or .123456789 as ns; *text moves past it */
static u64 parse_fraction(const char **text)
{
	u64 ns = 0, unit = FR_SEC_NS;

	if (**text != '.')
		return 0;
	for ((*text)++; isdigit((unsigned char)**text); (*text)++) {
		unit /= 10;
		ns += unit * (**text - '0');
	}
	return ns;
}

/* Z, +02:00, -0530 or nothing: *local says so, else *east_s. -EINVAL. */
static int parse_zone(const char *text, bool *local, s64 *east_s)
{
	struct tm tm = {0};
	const char *end;

	*local = !*text;
	*east_s = 0;
	if (*local || !strcmp(text, "Z"))
		return 0;
	end = strptime(text, "%z", &tm);
	*east_s = tm.tm_gmtoff;
	return end && !*end && llabs(*east_s) <= EAST_MOST_S ? 0 : -EINVAL; /* strptime() takes +99:00 */
}

/* 14:02:11 or 14:02. Returns what follows, or NULL. */
static const char *parse_time_of_day(const char *text, struct tm *tm)
{
	return strptime(text, "%H:%M:%S", tm) ?: strptime(text, "%H:%M", tm);
}

/* 20260131T140211: the short form of ISO 8601, as in names of snapshots. */
static bool is_short_date(const char *text)
{
	return strspn(text, "0123456789") == 8 && text[8] == 'T' && strspn(text + 9, "0123456789") == 6;
}

/* 2026-01-31T14:02:11, 2026-01-31, 20260131T140211. Returns what follows, or NULL. */
static const char *parse_date(const char *text, struct tm *tm)
{
	const char *rest;

	if (is_short_date(text))
		return strptime(text, "%Y%m%dT%H%M%S", tm);
	rest = strptime(text, "%Y-%m-%d", tm);
	if (!rest || (*rest && *rest != 'T' && *rest != ' '))
		return NULL;
	return *rest ? parse_time_of_day(rest + 1, tm) : rest;
}

/* With summer time or without, as isdst says; -1: there is no such local time. */
static s64 local_with(struct tm tm, int isdst)
{
	struct tm at = tm;
	s64 sec;

	at.tm_isdst = isdst;
	sec = mktime(&at);
	return at.tm_hour == tm.tm_hour && at.tm_min == tm.tm_min && at.tm_sec == tm.tm_sec ? sec : -1;
}

/*
 * The moments of a local time, s since 1970: the end of summer time makes it come twice, mostly first and last are the same. Of
 * a time that its beginning leaves out: what mktime() takes for it.
 */
static void local_moments(struct tm tm, s64 *first, s64 *last)
{
	s64 summer = local_with(tm, 1), winter = local_with(tm, 0);

	tm.tm_isdst = -1;
	if (summer < 0 && winter < 0)
		summer = mktime(&tm);
	if (summer < 0 || winter < 0)
		summer = winter = summer < 0 ? winter : summer;
	*first = summer < winter ? summer : winter;
	*last = summer < winter ? winter : summer;
}

/* s since 1970, and part_ns behind that */
static u64 wall_ns(s64 sec, u64 part_ns)
{
	u64 ns;

	if (__builtin_mul_overflow(sec, FR_SEC_NS, &ns) || __builtin_add_overflow(ns, part_ns, &ns))
		return ~0ULL; /* the year 2555 or later: after anything recorded */
	return ns;
}

static int parse_wall(const char *text, struct fr_when *w)
{
	struct tm tm = {.tm_isdst = -1}, utc;
	const char *rest = parse_date(text, &tm);
	s64 east_s, first, last;
	bool local;
	u64 ns;

	if (!rest)
		return -EINVAL;
	ns = parse_fraction(&rest);
	if (parse_zone(rest, &local, &east_s))
		return -EINVAL;
	utc = tm;
	first = last = timegm(&utc);
	if (local)
		local_moments(tm, &first, &last);
	if (first < east_s || utc.tm_mday != tm.tm_mday) /* there is no 31st of April */
		return -EINVAL;
	w->kind = FR_WHEN_WALL;
	w->ns = wall_ns(first - east_s, ns);
	w->last_ns = wall_ns(last - east_s, ns);
	return 0;
}

static int parse_daytime(const char *text, struct fr_when *w)
{
	struct tm tm = {0};
	const char *rest = parse_time_of_day(text, &tm);

	if (!rest)
		return -EINVAL;
	w->kind = FR_WHEN_DAYTIME;
	w->ns = (tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) * FR_SEC_NS + parse_fraction(&rest);
	return *rest ? -EINVAL : 0;
}

/* 2026-01-31: no duration and no time of day begins like this */
static bool is_day(const char *text)
{
	return is_short_date(text) || (strspn(text, "0123456789") == 4 && text[4] == '-');
}

int fr_when_parse(const char *text, struct fr_when *w)
{
	struct fr_when got = {0};
	int err;

	if (when_is_number(text))
		err = parse_clock(text, &got);
	else if (is_trigger(text))
		err = parse_trigger(text, &got);
	else if (is_day(text))
		err = parse_wall(text, &got);
	else if (strchr(text, '%'))
		err = parse_part(text, &got);
	else if (strchr(text, ':'))
		err = parse_daytime(text, &got);
	else
		err = parse_span(text, &got);
	if (!err)
		*w = got;
	return err;
}

/* One end of a window; an empty one sets no limit. */
static int parse_end(const char *text, size_t len, struct fr_when *w)
{
	char *copy;
	int err;

	*w = (struct fr_when){.kind = FR_WHEN_NEVER};
	if (!len)
		return 0;
	copy = strndup(text, len);
	err = copy ? fr_when_parse(copy, w) : -EINVAL;
	free(copy);
	return err;
}

int fr_when_parse_window(const char *text, struct fr_when *since, struct fr_when *until)
{
	const char *dots = strstr(text, "..");
	struct fr_when a, b;

	if (!dots || !strcmp(text, "..") || parse_end(text, dots - text, &a) || parse_end(dots + 2, strlen(dots + 2), &b))
		return -EINVAL;
	*since = a;
	*until = b;
	return 0;
}

static struct fr_when clock_at(s64 ts)
{
	return (struct fr_when){.kind = FR_WHEN_CLOCK, .ns = ts < 0 ? 0 : ts};
}

void fr_when_know_trigger(struct fr_when *w, s64 trigger_ns)
{
	if (w->kind == FR_WHEN_TRIGGER)
		*w = clock_at(w->before ? trigger_ns - (s64)w->ns : trigger_ns + (s64)w->ns);
}

void fr_when_know_end(struct fr_when *w, s64 end_ns)
{
	if (w->kind == FR_WHEN_END)
		*w = clock_at(end_ns - (s64)w->ns);
}

/* When it is this late on a day; if it is twice, the last that is not after real_ns. */
static u64 daytime_on(struct tm day, u64 daytime_ns, u64 real_ns)
{
	s64 first, last;

	day.tm_hour = daytime_ns / FR_SEC_NS / 3600;
	day.tm_min = daytime_ns / FR_SEC_NS / 60 % 60;
	day.tm_sec = daytime_ns / FR_SEC_NS % 60;
	local_moments(day, &first, &last);
	if (wall_ns(last, daytime_ns % FR_SEC_NS) > real_ns)
		last = first;
	return wall_ns(last, daytime_ns % FR_SEC_NS);
}

/*
 * The last time, not after end_ns, that it was this late in a day; or the next one, if only that is near the time from begin_ns
 * to end_ns. The day before is one by the calendar: days that end summer time, or begin it, do not have 24 hours.
 */
static u64 near_daytime(u64 begin_ns, u64 end_ns, u64 daytime_ns)
{
	time_t t = end_ns / FR_SEC_NS;
	struct tm day;
	u64 last, next;

	if (!localtime_r(&t, &day))
		return 0;
	last = next = daytime_on(day, daytime_ns, end_ns);
	day.tm_mday += last > end_ns ? -1 : 1;
	*(last > end_ns ? &last : &next) = daytime_on(day, daytime_ns, end_ns);
	return last < begin_ns && begin_ns - last > next - end_ns ? next : last;
}

int fr_when_resolve(const struct fr_when *w, s64 begin_ns, s64 end_ns, const struct fr_wall *wall, s64 *ts)
{
	if ((w->kind == FR_WHEN_WALL || w->kind == FR_WHEN_DAYTIME) && !wall->cnt)
		return -ENODATA;
	switch (w->kind) {
	case FR_WHEN_TRIGGER:
		return -ENOMSG;
	case FR_WHEN_CLOCK:
		*ts = w->ns < INT64_MAX ? w->ns : INT64_MAX;
		return 0;
	case FR_WHEN_BEGIN:
		*ts = begin_ns + w->ns;
		return 0;
	case FR_WHEN_END:
		*ts = end_ns - w->ns;
		return 0;
	case FR_WHEN_PART:
		*ts = begin_ns + (s64)((double)(end_ns - begin_ns) * w->part);
		return 0;
	case FR_WHEN_WALL:
		*ts = fr_wall_ts(wall, w->last ? w->last_ns : w->ns, w->last);
		return 0;
	case FR_WHEN_DAYTIME:
		*ts = fr_wall_ts(wall, near_daytime(fr_wall_real(wall, begin_ns), fr_wall_real(wall, end_ns), w->ns), w->last);
		return 0;
	default:
		return -EINVAL;
	}
}
