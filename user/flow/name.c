/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flow/name.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

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
	time_t secs = real_ns / 1000000000;
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
		     (u32)(real_ns % 1000000000 / 1000000), reason, whom, again) >= (int)sz)
		return -ENAMETOOLONG;
	return 0;
}
