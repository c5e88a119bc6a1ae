/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/kmsg.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define PRIO_MAX 0xffffu
#define US_NS	 1000u
#define US_MAX	 (~0ULL / US_NS)

/* A number and the character behind it, at most max; *at moves behind both. */
static int kmsg_number(const char **at, const char *end, char behind, u64 max, u64 *out)
{
	const char *p = *at;
	u64 v = 0;

	while (p < end && isdigit((unsigned char)*p)) {
		if (v > (max - (*p - '0')) / 10)
			return -EINVAL;
		v = v * 10 + (*p++ - '0');
	}
	if (p == *at || p == end || *p != behind)
		return -EINVAL;
	*at = p + 1;
	*out = v;
	return 0;
}

static int kmsg_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What the kernel has written as \xNN. Anything else is itself. */
static size_t kmsg_char(const char *p, const char *end, char *out)
{
	int high, low;

	*out = *p;
	if (end - p < 4 || p[0] != '\\' || p[1] != 'x')
		return 1;
	high = kmsg_digit(p[2]);
	low = kmsg_digit(p[3]);
	if (high < 0 || low < 0)
		return 1;
	*out = high << 4 | low;
	return 4;
}

static void kmsg_text(struct fr_kmsg *k, const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', end - p);

	k->len = 0;
	for (end = nl ? nl : end; p < end && k->len < FR_KMSG_TEXT_MAX; k->len++) {
		p += kmsg_char(p, end, &k->text[k->len]);
		if (!k->text[k->len])
			k->text[k->len] = '?';
	}
	k->text[k->len] = 0;
}

int fr_kmsg_parse(const char *record, size_t sz, struct fr_kmsg *out)
{
	const char *p = record, *end = record + sz, *text = memchr(record, ';', sz);
	u64 prio, us;

	if (!text || kmsg_number(&p, end, ',', PRIO_MAX, &prio) || kmsg_number(&p, end, ',', ~0ULL, &out->seq))
		return -EINVAL;
	if (kmsg_number(&p, end, ',', US_MAX, &us) || p >= text)
		return -EINVAL;
	out->level = prio & 7;
	out->facility = prio >> 3;
	out->stamp_ns = us * US_NS;
	out->flags = *p == 'c' || *p == '+' ? FR_KMSG_PART : 0;
	kmsg_text(out, text + 1, end);
	return 0;
}

const char *fr_kmsg_level(u8 level)
{
	static const char *const names[] = {"emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"};

	return level < sizeof(names) / sizeof(names[0]) ? names[level] : NULL;
}

const char *fr_kmsg_facility(u16 facility)
{
	static const char *const names[] = {"kern", "user", "mail", "daemon", "auth",	  "syslog",
					    "lpr",  "news", "uucp", "cron",   "authpriv", "ftp"};

	return facility < sizeof(names) / sizeof(names[0]) ? names[facility] : "local";
}
