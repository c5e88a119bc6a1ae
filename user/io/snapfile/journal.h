/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * journal: a line with structured fields for the host's log: journald by its native protocol; where there is none syslog's
 * /dev/log, with the fields behind the message as NAME="VALUE". Where there is neither, the line that the recorder writes to
 * standard error anyway is all. Never waits.
 */
#ifndef FR_JOURNAL_H
#define FR_JOURNAL_H

#include <stddef.h>

#include "types.h"

#define FR_JOURNAL_SOCKET "/run/systemd/journal/socket"
#define FR_SYSLOG_SOCKET  "/dev/log"
#define FR_JOURNAL_SZ	  (16u << 10) /* of an entry; fields that do not fit are left out */

enum fr_journal_how { FR_JOURNAL_NATIVE = 1, FR_JOURNAL_SYSLOG };

/* Where to: the constants above, or a test's. */
struct fr_journal_to {
	const char *native, *syslog;
};

struct fr_journal_field {
	const char *name;  /* [A-Z0-9_], not beginning with _ or a digit; MESSAGE, PRIORITY, ... */
	const char *value; /* any bytes; NULL or "": left out */
};

/* Write one entry. How it went out, or -errno: nowhere. MESSAGE and PRIORITY (digit, as syslog's) are expected among them. */
int fr_journal_write(const struct fr_journal_to *to, const struct fr_journal_field *field, u32 cnt);

/* The datagram of journald's protocol, in buf: its size, or -EMSGSIZE. */
int fr_journal_pack(char *buf, size_t sz, const struct fr_journal_field *field, u32 cnt);

#endif
