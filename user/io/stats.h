/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stats: switches the kernel's BPF run-time statistics on and off for a process that may not. That takes CAP_SYS_ADMIN: a
 * helper process keeps it, can do nothing else (seccomp), and hands over what keeps them on. It ends with its maker.
 */
#ifndef FR_STATS_H
#define FR_STATS_H

struct fr_stats; /* opaque */

/* Fork the helper. 0; -EPERM or so: statistics are refused here; -errno. */
int fr_stats_start(struct fr_stats **out);
void fr_stats_stop(struct fr_stats *st); /* NULL is fine */

/* Switch them on until the fd that is returned is closed; or -errno. */
int fr_stats_on(struct fr_stats *st);

#endif
