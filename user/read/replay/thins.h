/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thins: what a snapshot's session left out of cgroups that wrote more than their share (bpf/thin.h), by its events `thinned`.
 * They are in the life tier, and few, so they are read at once: a reader knows before its first row what its counts lack.
 */
#ifndef FR_THINS_H
#define FR_THINS_H

#include "base/set/vec.h"
#include "read/snapfile/snapfile.h"
#include "thin.h"

/* Of one cgroup, on all CPUs. */
struct fr_thinned {
	u64 cgroup;
	u64 since_ns, until_ns; /* the first and the last that was left out; recording clock */
	u64 left[FR_THIN_KIND_CNT];
};

struct fr_thins {
	struct fr_vec of;      /* struct fr_thinned, in the order of their first events */
	struct fr_thinned all; /* of all; its cgroup is 0 */
};

/*
 * Those that may concern a window: an event tells a sum, so all of it counts if some of its time is in the window. 0 or
 * -ENOMEM; what is damaged tells nothing. Free it in any case.
 */
int fr_thins_read(struct fr_snap *s, u64 from_ns, u64 until_ns, struct fr_thins *out);
void fr_thins_free(struct fr_thins *t);

/* Add what t lacks to what another one does; since_ns 0: it lacks nothing yet. */
void fr_thins_add(struct fr_thinned *to, const struct fr_thinned *t);

/* Was anything left out? */
bool fr_thins_any(const struct fr_thins *t);

/* "1,234 system calls, 3 page faults". Returns buf. */
const char *fr_thins_text(const u64 *left, char *buf, size_t sz);
#define FR_THINS_TEXT_SZ 160

#endif
