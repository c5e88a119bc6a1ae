/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure/when.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pure/units.h"

#define SEC_NS	     1000000000ULL
#define DAY_S	     86400
#define CLOCK_DIGITS 10

static bool is_number(const char *text)
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

static int parse_part(const char *text, struct fr_when *w)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	w->part = strtod(text, &end) / 100;
	w->kind = FR_WHEN_PART;
	return strcmp(end, "%") || w->part > 1 ? -EINVAL : 0;
}

static int parse_span(const char *text, struct fr_when *w)
{
	w->kind = *text == '-' ? FR_WHEN_END : FR_WHEN_BEGIN;
	if (*text == '-' || *text == '+')
		text++;
	return fr_parse_duration(text, &w->ns);
}

/* .5 or .123456789: ns, *text moved behind it */
static u64 parse_fraction(const char **text)
{
	u64 ns = 0, unit = SEC_NS;

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
	return end && !*end ? 0 : -EINVAL;
}

static int parse_wall(const char *text, struct fr_when *w)
{
	struct tm tm = {.tm_isdst = -1};
	const char *rest = strptime(text, "%Y-%m-%d", &tm);
	bool local;
	s64 east_s, sec;
	u64 ns;

	if (!rest || (*rest != 'T' && *rest != ' '))
		return -EINVAL;
	text = rest + 1;
	rest = strptime(text, "%H:%M:%S", &tm);
	if (!rest)
		rest = strptime(text, "%H:%M", &tm);
	if (!rest)
		return -EINVAL;
	ns = parse_fraction(&rest);
	if (parse_zone(rest, &local, &east_s))
		return -EINVAL;
	sec = local ? mktime(&tm) : timegm(&tm) - east_s;
	w->kind = FR_WHEN_WALL;
	w->ns = sec * SEC_NS + ns;
	return sec < 0 ? -EINVAL : 0;
}

static int parse_daytime(const char *text, struct fr_when *w)
{
	struct tm tm = {0};
	const char *rest = strptime(text, "%H:%M:%S", &tm);

	if (!rest)
		rest = strptime(text, "%H:%M", &tm);
	if (!rest)
		return -EINVAL;
	w->kind = FR_WHEN_DAYTIME;
	w->ns = (tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) * SEC_NS + parse_fraction(&rest);
	return *rest ? -EINVAL : 0;
}

int fr_when_parse(const char *text, struct fr_when *w)
{
	struct fr_when got = {0};
	int err;

	if (is_number(text))
		err = parse_clock(text, &got);
	else if (strchr(text, '%'))
		err = parse_part(text, &got);
	else if (strchr(text, ':'))
		err = text[0] && strchr(text, '-') < strchr(text, ':') && strchr(text, '-') ? parse_wall(text, &got)
											    : parse_daytime(text, &got);
	else
		err = parse_span(text, &got);
	if (!err)
		*w = got;
	return err;
}

/* The last time it was so late in a day that lies not behind real_ns. */
static u64 last_daytime(u64 real_ns, u64 daytime_ns)
{
	time_t t = real_ns / SEC_NS;
	struct tm tm;
	u64 ns;

	if (!localtime_r(&t, &tm))
		return 0;
	tm.tm_hour = daytime_ns / SEC_NS / 3600;
	tm.tm_min = daytime_ns / SEC_NS / 60 % 60;
	tm.tm_sec = daytime_ns / SEC_NS % 60;
	tm.tm_isdst = -1;
	ns = mktime(&tm) * SEC_NS + daytime_ns % SEC_NS;
	return ns > real_ns ? ns - DAY_S * SEC_NS : ns;
}

int fr_when_resolve(const struct fr_when *w, s64 begin_ns, s64 end_ns, const struct fr_wall *wall, s64 *ts)
{
	if ((w->kind == FR_WHEN_WALL || w->kind == FR_WHEN_DAYTIME) && !wall->cnt)
		return -ENODATA;
	switch (w->kind) {
	case FR_WHEN_CLOCK:
		*ts = w->ns;
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
		*ts = fr_wall_ts(wall, w->ns);
		return 0;
	case FR_WHEN_DAYTIME:
		*ts = fr_wall_ts(wall, last_daytime(fr_wall_real(wall, end_ns), w->ns));
		return 0;
	default:
		return -EINVAL;
	}
}
