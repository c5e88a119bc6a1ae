/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * admin: does what a recorder still needs CAP_SYS_ADMIN for after giving it up: enabling the kernel's BPF run-time statistics,
 * and opening a CPU's sampling event where kernel.perf_event_paranoid is 3 (Debian's default). A helper process keeps the
 * capability, can do nothing else (seccomp), and passes descriptors back. It exits with the process that started it.
 */
#ifndef FR_ADMIN_H
#define FR_ADMIN_H

#include "base/profile/sample_event.h"
#include "types.h"

struct fr_admin; /* opaque */

/* Fork the helper. 0 or -errno. Without the capability the helper exits at once, and requests to it fail with -EPIPE. */
int fr_admin_start(struct fr_admin **out);
void fr_admin_stop(struct fr_admin *a); /* NULL is fine */

/* A child has ended: if it was the helper, it is reaped, so that it is no zombie for as long as the recorder lives. */
void fr_admin_reap(struct fr_admin *a); /* NULL is fine */

/*
 * Enable statistics until the returned fd is closed; or -errno. -ETIMEDOUT: the helper did not answer (it is stopped, or
 * frozen) and was ended. -EPIPE: it has ended.
 */
int fr_admin_stats_on(struct fr_admin *a);

/* fr_percpu_open_event(). */
int fr_admin_open_event(struct fr_admin *a, enum fr_sample_event ev, u32 cpu, u32 hz);

#endif
