/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cpus: the online CPUs and their NUMA nodes, from /sys. */
#ifndef FR_CPUS_H
#define FR_CPUS_H

#include "types.h"

struct fr_cpus; /* opaque */

/* 0 and *out (free with fr_cpus_free, which takes NULL), or -errno with a message. */
int fr_cpus_online(struct fr_cpus **out);
void fr_cpus_free(struct fr_cpus *c);

u32 fr_cpus_cnt(const struct fr_cpus *c);
u32 fr_cpus_nr(const struct fr_cpus *c, u32 i); /* number of the i'th online CPU */
int fr_cpus_node(u32 cpu);			/* its NUMA node, 0 on machines without */

#endif
