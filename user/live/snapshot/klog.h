/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * klog: the last of the kernel's log, read from /dev/kmsg by an errand (sys/errand.h), redacted, its stamps joined to the
 * events' clock (sys/logclock.h).
 */
#ifndef FR_KLOG_H
#define FR_KLOG_H

#include <stddef.h>

#include "live/snapshot/unread.h"
#include "read/snapfile/snapfile.h"
#include "sys/logclock.h"

#define FR_KLOG_MAX_SZ (128u << 10) /* of records, with some bytes for each beside its text */

struct fr_klog; /* opaque */

struct fr_klog_ask {
	struct fr_unread *unread;
	const char *redact;		 /* words of secret keys (base/text/redact.h), NULL: no further ones */
	const struct fr_logclock *clock; /* NULL: the clocks could not be compared */
};

/* What became of the records. */
struct fr_klog_counts {
	u64 older;    /* of the log, before those that are taken */
	u64 lost;     /* times at which the kernel overwrote some while they were read */
	u32 redacted; /* values */
};

/* A job for an errand. NULL: no memory. ask's memory must live until the errand is done. */
#define FR_KLOG_JOB_CNT 1
struct fr_klog *fr_klog_new(const struct fr_klog_ask *ask, struct fr_errand_job job[FR_KLOG_JOB_CNT]);
void fr_klog_free(struct fr_klog *k); /* NULL is fine */

/* Once the errand is done, and only once: was the log read? Then the records, which are k's, oldest first. */
bool fr_klog_get(struct fr_klog *k, const struct fr_snap_klog **line, size_t *cnt, struct fr_klog_counts *counts);

/* Both clocks as the text of a fact, and back. 0, -ENOSPC, -EINVAL. */
int fr_klog_clock_show(const struct fr_logclock *c, char *buf, size_t sz);
int fr_klog_clock_parse(const char *text, struct fr_logclock *c);

#endif
