/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_CNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct unit {
	const char *name;
	u64 worth;
} size_units[] = {{"", 1}, {"K", 1ULL << 10}, {"M", 1ULL << 20}, {"G", 1ULL << 30}, {"T", 1ULL << 40}},
  duration_units[] = {{"ns", 1},	  {"us", 1000},		{"ms", 1000000},      {"s", 1000000000},
		      {"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000}},
  percent_units[] = {{"%", 1000}};

static int units_find_unit(const struct unit *unit, size_t cnt, const char *name, u64 *worth)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		if (!strcmp(unit[i].name, name)) {
			*worth = unit[i].worth;
			return 0;
		}
	return -EINVAL;
}

/* Digits, an optional fraction, and a unit: exact for whole numbers. A little is at least 1: 0 often means no limit. */
static int units_parse(const char *text, const struct unit *unit, size_t cnt, u64 *out)
{
	u64 whole, worth, frac = 0, scale = 1;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	whole = strtoull(text, &end, 10);
	if (errno)
		return -EINVAL;
	if (*end == '.')
		for (end++; isdigit((unsigned char)*end) && scale < 1000000000; end++, scale *= 10)
			frac = frac * 10 + *end - '0';
	if (units_find_unit(unit, cnt, end, &worth) || __builtin_mul_overflow(whole, worth, &whole))
		return -EINVAL;
	if (__builtin_add_overflow(whole, (u64)((double)frac * worth / scale), out))
		return -EINVAL;
	if (frac && !*out)
		*out = 1;
	return 0;
}

int fr_parse_size(const char *text, u64 *bytes)
{
	return units_parse(text, size_units, ARRAY_CNT(size_units), bytes);
}

int fr_parse_duration(const char *text, u64 *ns)
{
	return units_parse(text, duration_units, ARRAY_CNT(duration_units), ns);
}

int fr_parse_percent(const char *text, u32 *thousandths)
{
	u64 v;

	if (units_parse(text, percent_units, ARRAY_CNT(percent_units), &v) || v > 100000)
		return -EINVAL;
	*thousandths = v;
	return 0;
}

const char *fr_show_size(u64 bytes, char *buf, size_t sz)
{
	static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB"};
	double v = bytes / 1024.0;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(buf, sz, "%llu B", bytes);
		return buf;
	}
	for (; v >= 1023.5 && i + 1 < ARRAY_CNT(unit); i++) /* not 1024 of a unit, nor 10.0 */
		v /= 1024;
	snprintf(buf, sz, v < 9.95 ? "%.1f %s" : "%.0f %s", v, unit[i]);
	return buf;
}

/*
 * Turn the decimal separator into a point, whatever the locale of the program that uses the library: it is what follows the
 * first digits of a text, unless that is a blank.
 */
static const char *with_point(char *buf)
{
	size_t at = strspn(buf, "0123456789"), digits;

	if (!buf[at] || strchr(". ", buf[at]))
		return buf;
	digits = at + strcspn(buf + at, "0123456789");
	buf[at] = '.';
	memmove(buf + at + 1, buf + digits, strlen(buf + digits) + 1);
	return buf;
}

/* Three digits, of what is 1 or more, and less than 1000. */
static int units_decimals(double v)
{
	return v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
}

const char *fr_show_duration(u64 ns, char *buf, size_t sz)
{
	if (ns < 1000)
		snprintf(buf, sz, "%llu ns", ns);
	else if (ns < 999500) /* above this it would be 1e+03 */
		snprintf(buf, sz, "%.3g us", ns / 1e3);
	else if (ns < 999500000)
		snprintf(buf, sz, "%.3g ms", ns / 1e6);
	else if (ns < 600000000000)
		snprintf(buf, sz, "%.*f s", units_decimals(ns / 1e9), ns / 1e9);
	else if (ns < 2 * 3600000000000ULL)
		snprintf(buf, sz, "%.*f min", units_decimals(ns / 6e10), ns / 6e10);
	else if (ns < 2 * 86400000000000ULL)
		snprintf(buf, sz, "%.1f h", ns / 3.6e12);
	else
		snprintf(buf, sz, "%.*f d", ns < 99 * 86400000000000ULL ? 1 : 0, ns / 8.64e13);
	return with_point(buf);
}

const char *fr_show_count(u64 cnt, char *buf, size_t sz)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", cnt), i;
	size_t to = 0;

	for (i = 0; i < len && to + 2 < sz; i++) {
		if (i && (len - i) % 3 == 0)
			buf[to++] = ',';
		buf[to++] = digits[i];
	}
	buf[to] = 0;
	return buf;
}

const char *fr_plural(u64 cnt)
{
	return cnt == 1 ? "" : "s";
}
