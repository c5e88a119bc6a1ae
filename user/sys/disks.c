/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/disks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "major minor #blocks name", after a heading. */
int fr_disks_read(char *text, size_t sz)
{
	FILE *f = fopen("/proc/partitions", "re");
	unsigned int major, minor;
	char *line = NULL, name[64];
	size_t cap = 0, len = 0;

	*text = 0;
	if (!f)
		return -errno;
	while (getline(&line, &cap, f) > 0) {
		size_t need;

		if (sscanf(line, "%u %u %*u %63s", &major, &minor, name) != 3)
			continue;
		need = snprintf(text + len, sz - len, "%s%u:%u=%s", len ? ";" : "", major, minor, name);
		if (need >= sz - len) {
			text[len] = 0;
			break;
		}
		len += need;
	}
	free(line);
	fclose(f);
	return len ? 0 : -ENODATA;
}
