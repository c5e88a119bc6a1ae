/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/snapshot/name.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/text/units.h"

static void reduce(char *out, size_t sz, const char *text)
{
	size_t i;

	for (i = 0; text[i] && i + 1 < sz; i++)
		out[i] = isalnum((unsigned char)text[i]) || strchr("._-", text[i]) ? text[i] : '_';
	out[i] = 0;
	/* a name that begins with a dot would be hidden */
	if (out[0] == '.')
		out[0] = '_';
}

int fr_name_snapshot(char *buf, size_t sz, const char *dir, u64 real_ns, const char *reason, const char *comm, u32 pid, u32 nr)
{
	char host[65], name[32], when[32], whom[64] = "", again[16] = "";
	time_t secs = real_ns / FR_SEC_NS;
	struct utsname un;
	struct tm tm;

	uname(&un);
	reduce(host, sizeof(host), un.nodename);
	gmtime_r(&secs, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%S", &tm);
	if (comm) {
		reduce(name, sizeof(name), comm);
		snprintf(whom, sizeof(whom), "-%s-%u", name, pid);
	}
	if (nr)
		snprintf(again, sizeof(again), ".%u", nr);
	if (snprintf(buf, sz, "%s/%s-%s.%03uZ-%s%s%s.flight", dir, host[0] ? host : "host", when,
		     (u32)(real_ns % FR_SEC_NS / FR_MSEC_NS), reason, whom, again) >= (int)sz)
		return -ENAMETOOLONG;
	return 0;
}

/* ---- from a name to its parts ---- */

#define SUFFIX ".flight"

/* "-YYYYMMDDTHHMMSS.mmmZ-", d a digit */
static const char when_form[] = "-ddddddddTdddddd.dddZ-";

static bool is_when(const char *at)
{
	size_t i;

	for (i = 0; when_form[i]; i++)
		if (when_form[i] == 'd' ? !isdigit((unsigned char)at[i]) : at[i] != when_form[i])
			return false;
	return true;
}

static int snapshot_name_number(const char *at, int digits)
{
	int v = 0;

	while (digits--)
		v = v * 10 + (*at++ - '0');
	return v;
}

static u64 parse_when(const char *at)
{
	struct tm tm = {
		.tm_year = snapshot_name_number(at + 1, 4) - 1900,
		.tm_mon = snapshot_name_number(at + 5, 2) - 1,
		.tm_mday = snapshot_name_number(at + 7, 2),
		.tm_hour = snapshot_name_number(at + 10, 2),
		.tm_min = snapshot_name_number(at + 12, 2),
		.tm_sec = snapshot_name_number(at + 14, 2),
	};
	time_t secs = timegm(&tm);

	/* 64 bits of ns since 1970 last until 2554 */
	return secs < 0 || secs > 18000000000 ? 0 : secs * FR_SEC_NS + snapshot_name_number(at + 17, 3) * FR_MSEC_NS;
}

/* REASON[-COMM-PID][.NR]: a comm may hold '-' and '.', so it is what lies between the first and the last '-'. */
static void parse_whom(const char *text, size_t len, struct fr_name_parts *out)
{
	char buf[NAME_MAX + 1], *dash, *end;
	unsigned long pid;

	snprintf(buf, sizeof(buf), "%.*s", (int)len, text);
	dash = strchr(buf, '-');
	snprintf(out->reason, sizeof(out->reason), "%.*s", dash ? (int)(dash - buf) : (int)strcspn(buf, "."), buf);
	end = dash ? strrchr(dash + 1, '-') : NULL;
	if (!end)
		return;
	pid = strtoul(end + 1, NULL, 10);
	if (!pid || pid > ~0U)
		return;
	out->pid = pid;
	snprintf(out->comm, sizeof(out->comm), "%.*s", (int)(end - dash - 1), dash + 1);
}

bool fr_name_parse(const char *name, struct fr_name_parts *out)
{
	size_t len = strlen(name), suffix = strlen(SUFFIX);
	const char *at = name;

	memset(out, 0, sizeof(*out));
	if (name[0] == '.' || len > NAME_MAX || len < suffix || strcmp(name + len - suffix, SUFFIX))
		return false;
	/* a host name may hold '-' too */
	while ((at = strchr(at + 1, '-')))
		if (is_when(at))
			break;
	if (!at || at == name)
		return false;
	out->real_ns = parse_when(at);
	at += strlen(when_form);
	if (name + len - suffix <= at)
		return false;
	parse_whom(at, name + len - suffix - at, out);
	return true;
}
