/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* units: sizes and durations as people write and read them. Pure. */
#ifndef FR_UNITS_H
#define FR_UNITS_H

#include <stddef.h>

#include "types.h"

/* Lengths of time, in ns: to convert from one unit to another. Unsigned: cast them where a time may be negative. */
#define FR_MSEC_NS 1000000ULL
#define FR_SEC_NS  1000000000ULL

/* "64K", "8M", "1G", "1T", "4096": bytes. Returns 0, or -EINVAL. */
int fr_parse_size(const char *text, u64 *bytes);

/* Ten years, the longest time that is taken for a setting: sums of times stay far from overflow. */
#define FR_DURATION_MAX_DAYS 3650
#define FR_DURATION_MAX_NS   (FR_DURATION_MAX_DAYS * 86400 * FR_SEC_NS)

/* "250ns", "10us", "5ms", "2s", "1.5s", "3m", "1h", "30d"; a number needs its unit. Returns 0, or -EINVAL. */
int fr_parse_duration(const char *text, u64 *ns);

/* "5%", "0.5%": thousandths of a percent, at most 100%. Returns 0, or -EINVAL. */
int fr_parse_percent(const char *text, u32 *thousandths);

/* "8.0 MiB", "312 B"; "1.25 s", "350 us"; "1,234,567". Written to buf, which is returned. */
const char *fr_show_size(u64 bytes, char *buf, size_t sz);
const char *fr_show_duration(u64 ns, char *buf, size_t sz);
const char *fr_show_count(u64 cnt, char *buf, size_t sz);

/* What follows a noun: "" for one, "s" for any other number. */
const char *fr_plural(u64 cnt);

#endif
