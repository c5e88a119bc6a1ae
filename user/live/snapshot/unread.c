/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/snapshot/unread.h"

#include <stdio.h>
#include <string.h>

void fr_unread_add(struct fr_unread *u, u32 pid, const char *what, enum fr_errand_why why)
{
	/* what had no turn can be hundreds, and tells the least: it leaves room for who kept others waiting */
	size_t len = strlen(u->text), room = why == FR_ERRAND_TIME ? sizeof(u->text) / 2 : sizeof(u->text);
	char item[64];

	snprintf(item, sizeof(item), "%s%u %s %s", len ? ";" : "", pid, what, fr_errand_why_text(why));
	u->cnt++;
	if (len + strlen(item) < room)
		strcpy(u->text + len, item);
	else
		u->unnamed++;
}
