/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/dev.h"

#include <stdio.h>
#include <string.h>

const char *fr_dev_name(const char *names, u32 dev, char name[FR_DEV_NAME_SZ])
{
	char begin[FR_DEV_NAME_SZ];
	size_t len = snprintf(begin, sizeof(begin), "%u:%u=", fr_dev_major(dev), fr_dev_minor(dev)), sz;

	for (; names && *names; names += sz + (names[sz] == ';')) {
		sz = strcspn(names, ";");
		if (sz > len && sz - len < FR_DEV_NAME_SZ && !strncmp(names, begin, len)) {
			snprintf(name, FR_DEV_NAME_SZ, "%.*s", (int)(sz - len), names + len);
			return name;
		}
	}
	snprintf(name, FR_DEV_NAME_SZ, "%u,%u", fr_dev_major(dev), fr_dev_minor(dev));
	return name;
}
