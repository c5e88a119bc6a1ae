/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * admin: what a recorder still needs CAP_SYS_ADMIN for after it gave it up: to switch the kernel's BPF run-time statistics on,
 * and, where kernel.perf_event_paranoid is 3 (Debian's default), to open a CPU's event for samples. A helper process keeps the
 * capability, can do nothing else (seccomp), and hands over descriptors. It ends with its maker.
 */
#ifndef FR_ADMIN_H
#define FR_ADMIN_H

#include "pure/profile/sample_event.h"
#include "types.h"

struct fr_admin; /* opaque */

/* Fork the helper. 0 or -errno. A helper that lacks the capability ends at once: what is asked of it fails with -EPIPE. */
int fr_admin_start(struct fr_admin **out);
void fr_admin_stop(struct fr_admin *a); /* NULL is fine */

/* Switch statistics on until the fd that is returned is closed; or -errno. */
int fr_admin_stats_on(struct fr_admin *a);

/* fr_percpu_open_event(). */
int fr_admin_open_event(struct fr_admin *a, enum fr_sample_event ev, u32 cpu, u32 hz);

#endif
