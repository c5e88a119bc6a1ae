/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/bootid.h"

#include <stdio.h>
#include <string.h>

void fr_boot_id(char *buf, size_t sz)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	buf[0] = 0;
	if (f && fgets(buf, sz, f))
		buf[strcspn(buf, "\n")] = 0;
	if (f)
		fclose(f);
}
