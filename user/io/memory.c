/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/memory.h"

#include <stdio.h>

#include "io/memcg.h"

u64 fr_memory_available(void)
{
	unsigned long long kib = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib * 1024;
}

u64 fr_memory_left(void)
{
	u64 left = fr_memory_available();
	struct fr_memcg cg;

	return fr_memcg_room(FR_MEMCG_PROC, &cg) && cg.room < left ? cg.room : left;
}
