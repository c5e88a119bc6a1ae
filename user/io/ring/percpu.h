/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* percpu: what a session has of each CPU: a ring for each tier, a sampling event. Made at load, and when a CPU comes later. */
#ifndef FR_PERCPU_H
#define FR_PERCPU_H

#include "pure/profile/sample_event.h"
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

/* What takes samples on this host: cycles if they count, on this CPU; else a timer. */
enum fr_sample_event fr_percpu_choose_event(u32 cpu, u32 hz);

/* A CPU's event, hz times a second: its fd, or -errno. The CPU must be online. */
int fr_percpu_open_event(enum fr_sample_event ev, u32 cpu, u32 hz);

/*
 * Run a program by such an event, as long as the pin at path exists; takes the place of a pin that is there. 0 or -errno; the
 * fds are the caller's to close.
 */
int fr_percpu_sample(int prog_fd, int event_fd, const char *path);

#endif
