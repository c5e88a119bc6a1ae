/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* percpu: what a session has of each CPU: a ring for each tier, a sampling event. Made at load, and when a CPU comes later. */
#ifndef FR_PERCPU_H
#define FR_PERCPU_H

#include "session.h"

/* Whose ring it is. */
struct fr_percpu_ring {
	const struct fr_geometry *geo;
	u32 epoch;
	u32 cpu;
	u32 tier;
};

/* A ring's map on a NUMA node, all zero. Its fd, or -errno with a message. */
int fr_percpu_make_ring(const struct fr_geometry *geo, int node);

/* Set up its slots: from then on a writer may use it. 0 or -errno. */
int fr_percpu_init_ring(int fd, const struct fr_percpu_ring *r);

/* A CPU's timer, hz times a second: its fd, or -errno. The CPU must be online. */
int fr_percpu_open_clock(u32 cpu, u32 hz);

/*
 * Run a program by such a timer, as long as the pin at path exists; takes the place of a pin that is there. 0 or -errno; the
 * fds are the caller's to close.
 */
int fr_percpu_sample(int prog_fd, int clock_fd, const char *path);

#endif
