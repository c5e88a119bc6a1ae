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
	return !strncmp(what, FR_TP_PREFIX, strlen(FR_TP_PREFIX)) || !strcmp(what, fr_group_name(FR_GROUP_TP));
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

int fr_tpask_parse(const char *what, struct fr_tpask *out, char why[FR_TPASK_WHY_SZ])
{
	const char *at = what + (*what == '-');
	int err;

	*out = (struct fr_tpask){.removes = at > what};
	if (!strcmp(at, fr_group_name(FR_GROUP_TP)))
		return tpask_fail(why,
				  "name tracepoints as tp:SYSTEM:NAME, where * stands for anything: `flightrec events '*:*'` "
				  "lists all");
	at += strlen(FR_TP_PREFIX);
	err = take_pattern(&at, out, why);
	at += strspn(at, " \t");
	if (!err && *at && out->removes)
		return tpask_fail(why, "what is removed has a name, and nothing else");
	if (!err && *at == '@')
		err = take_rate(&at, out, why);
	at += strspn(at, " \t");
	if (!err && *at)
		return tpask_fail(why,
				  "fields and conditions of tracepoints are not supported: record the whole event, and use "
				  "replay -f");
	return err;
}
