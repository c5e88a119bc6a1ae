/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroup_soon: paths of cgroups (sys/cgroup.h) for whoever must not wait for them. Whoever makes a cgroup has its parent's lock
 * while others wait for that, as long as the controllers take: moving a process to other nodes of memory waits for its memory's
 * lock, which the process may hold for as long as it likes. So they are asked by an errand (sys/errand.h), for
 * FR_CGROUP_SOON_NS, and kept for a while.
 */
#ifndef FR_CGROUP_SOON_H
#define FR_CGROUP_SOON_H

#include "sys/cgroup.h"

#define FR_CGROUP_SOON_NS  2000000000ULL /* a helper is late on a busy machine */
#define FR_CGROUP_QUIET_NS 4000000000ULL /* after no answer, none is asked for: they all wait for the same */

struct fr_cgroup_soon; /* opaque */

/* leave: as for fr_nss_user(). NULL: no memory. */
struct fr_cgroup_soon *fr_cgroup_soon_new(void (*leave)(void *arg), void *leave_arg);
void fr_cgroup_soon_free(struct fr_cgroup_soon *c); /* NULL is fine */

/*
 * As fr_cgroup_path(); -ETIMEDOUT: there is no answer. A path is kept for FR_CGROUP_KEEP_NS: in a hierarchy of v1 a cgroup may
 * get another name.
 */
#define FR_CGROUP_KEEP_NS 10000000000ULL
int fr_cgroup_soon_path(struct fr_cgroup_soon *c, u64 id, char *buf, size_t sz);

/* As fr_cgroup_can_name(); -ETIMEDOUT as above. */
int fr_cgroup_soon_can_name(struct fr_cgroup_soon *c);

#endif
