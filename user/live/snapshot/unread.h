/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unread: what could not be read of other processes and files in time, by name. A snapshot says so in its facts. */
#ifndef FR_UNREAD_H
#define FR_UNREAD_H

#include "sys/errand.h"

#define FR_UNREAD_SZ 8192u

struct fr_unread {
	u32 cnt;
	u32 unnamed;		 /* of these, for which text had no room */
	char text[FR_UNREAD_SZ]; /* "PID WHAT WHY;...", PID 0: of no process */
};

/* what: one word. */
void fr_unread_add(struct fr_unread *u, u32 pid, const char *what, enum fr_errand_why why);

#endif
