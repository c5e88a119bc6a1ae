/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/trigger/psi.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *psi_total(const char *line, size_t len)
{
	static const char word[] = " total=";
	const char *p = memmem(line, len, word, strlen(word));

	return p ? p + strlen(word) : NULL;
}

bool fr_psi_find(const char *text, bool full, char *line, u32 sz, u64 *total_us)
{
	const char *word = full ? "full " : "some ", *total = NULL;
	size_t len;
	u64 us;

	*line = 0;
	while (*text && strncmp(text, word, strlen(word)))
		text += strcspn(text, "\n") + (strchr(text, '\n') != NULL);
	len = strcspn(text, "\n");
	total = psi_total(text, len);
	if (!total || !isdigit((unsigned char)*total))
		return false;
	errno = 0;
	us = strtoull(total, NULL, 10);
	if (errno)
		return false;
	snprintf(line, sz, "%.*s", (int)len, text);
	*total_us = us;
	return true;
}
