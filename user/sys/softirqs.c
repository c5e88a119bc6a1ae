/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/softirqs.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "types.h"

#define STAT_SOFTIRQ 7 /* of /proc/stat's numbers, from 1: user, nice, system, idle, iowait, irq, softirq */

/* The sum of the numbers in the text. False: there is none. */
static bool softirqs_sum(const char *text, u64 *out)
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
static int softirqs_put_counts(FILE *f, char *text, size_t sz)
{
	char *line = NULL, *colon, *name;
	size_t cap = 0, len = 0;
	u64 cnt;

	while (len < sz && getline(&line, &cap, f) > 0) {
		colon = strchr(line, ':');
		if (!colon || !softirqs_sum(colon + 1, &cnt))
			continue;
		*colon = 0;
		name = line + strspn(line, " ");
		len += snprintf(text + len, sz - len, "%s%s=%llu", len ? ";" : "", name, cnt);
	}
	free(line);
	return len && len < sz ? (int)len : -ENODATA;
}

/* "cpu0 user nice ...": the CPU, and what the kernel has of its softirqs, in units of USER_HZ. "cpu  user ..." is of all. */
static bool read_cpu(const char *line, unsigned int *cpu, u64 *ticks)
{
	unsigned long long v[STAT_SOFTIRQ];
	int cnt =
		sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu", cpu, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]);

	*ticks = v[STAT_SOFTIRQ - 1];
	return cnt == STAT_SOFTIRQ + 1 && isdigit((unsigned char)line[strlen("cpu")]);
}

static int put_ms(FILE *f, char *text, size_t sz)
{
	long hz = sysconf(_SC_CLK_TCK);
	char *line = NULL;
	size_t cap = 0, len = 0;
	unsigned int cpu;
	u64 ticks;

	/* the CPUs' lines come first */
	while (hz > 0 && len < sz && getline(&line, &cap, f) > 0 && !strncmp(line, "cpu", 3))
		if (read_cpu(line, &cpu, &ticks))
			len += snprintf(text + len, sz - len, "%s%u=%llu", len ? ";" : "", cpu, (ticks * 1000 / hz));
	free(line);
	return len && len < sz ? (int)len : -ENODATA;
}

static int read_file(const char *path, int (*put)(FILE *f, char *text, size_t sz), char *text, size_t sz)
{
	FILE *f = fopen(path, "re");
	int len = f ? put(f, text, sz) : -errno;

	if (f)
		fclose(f);
	if (len < 0)
		*text = 0;
	return len < 0 ? len : 0;
}

int fr_softirqs_read(char *text, size_t sz)
{
	return read_file("/proc/softirqs", softirqs_put_counts, text, sz);
}

int fr_softirqs_read_ms(char *text, size_t sz)
{
	return read_file("/proc/stat", put_ms, text, sz);
}
