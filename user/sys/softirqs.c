/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/softirqs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "types.h"

#define STAT_SOFTIRQ 7 /* of /proc/stat's numbers, from 1: user, nice, system, idle, iowait, irq, softirq */

/* The sum of the numbers in the text. False: there is none. */
static bool sum(const char *text, u64 *out)
{
	char *end;
	u64 v;

	*out = 0;
	for (v = strtoull(text, &end, 10); end != text; v = strtoull(text, &end, 10)) {
		*out += v;
		text = end;
	}
	return text[strspn(text, " \n")] == 0;
}

/* A line for each vector, with a number for each CPU. */
static int put_counts(FILE *f, char *text, size_t sz)
{
	char *line = NULL, *colon, *name;
	size_t cap = 0, len = 0;
	u64 cnt;

	while (len < sz && getline(&line, &cap, f) > 0) {
		colon = strchr(line, ':');
		if (!colon || !sum(colon + 1, &cnt))
			continue;
		*colon = 0;
		name = line + strspn(line, " ");
		len += snprintf(text + len, sz - len, "%s=%llu;", name, (unsigned long long)cnt);
	}
	free(line);
	return len && len < sz ? (int)len : -ENODATA;
}

/* The first line is of all CPUs. */
static int read_time(u64 *ms)
{
	FILE *f = fopen("/proc/stat", "re");
	unsigned long long v[STAT_SOFTIRQ];
	long hz = sysconf(_SC_CLK_TCK);
	int cnt;

	if (!f)
		return -errno;
	cnt = fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]);
	fclose(f);
	if (cnt != STAT_SOFTIRQ || hz <= 0)
		return -ENODATA;
	*ms = v[STAT_SOFTIRQ - 1] * 1000 / (u64)hz;
	return 0;
}

int fr_softirqs_read(char *text, size_t sz)
{
	FILE *f = fopen("/proc/softirqs", "re");
	int len = f ? put_counts(f, text, sz) : -errno, err;
	u64 ms = 0;

	if (f)
		fclose(f);
	err = len < 0 ? len : read_time(&ms);
	if (!err && (size_t)snprintf(text + len, sz - len, "time_ms=%llu", (unsigned long long)ms) >= sz - len)
		err = -ENOBUFS;
	if (err)
		*text = 0;
	return err;
}
