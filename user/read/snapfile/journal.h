/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * journal: writes a line with structured fields to the host's log: to journald by its native protocol, or else to syslog's
 * /dev/log, with the fields appended as NAME="VALUE". Where there is neither, the line that the recorder writes to standard
 * error anyway must do. Never waits.
 */
#ifndef FR_JOURNAL_H
#define FR_JOURNAL_H

#include <stddef.h>

#include "types.h"

#define FR_JOURNAL_SOCKET "/run/systemd/journal/socket"
#define FR_SYSLOG_SOCKET  "/dev/log"
#define FR_JOURNAL_SZ	  (16u << 10) /* per entry; fields that do not fit are left out */

enum fr_journal_how { FR_JOURNAL_NATIVE = 1, FR_JOURNAL_SYSLOG };

/* Where to write: the constants above, or a test's. */
struct fr_journal_to {
	const char *native, *syslog;
};

struct fr_journal_field {
	const char *name;  /* [A-Z0-9_], not beginning with _ or a digit; MESSAGE, PRIORITY, ... */
	const char *value; /* any bytes; NULL or "": left out */
};

/*
 * Write one entry. Returns how it was sent, or -errno if it was not. The fields must include MESSAGE and PRIORITY (a digit, as
 * syslog's).
 */
int fr_journal_write(const struct fr_journal_to *to, const struct fr_journal_field *field, u32 cnt);

/* Build a datagram of journald's protocol in buf: its size, or -EMSGSIZE. */
int fr_journal_pack(char *buf, size_t sz, const struct fr_journal_field *field, u32 cnt);

#endif
