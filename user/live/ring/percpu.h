/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* percpu: what a session has for each CPU: a ring per tier, and a sampling event. Made at load, or when a CPU comes later. */
#ifndef FR_PERCPU_H
#define FR_PERCPU_H

#include "base/profile/sample_event.h"
#include "session.h"

/* Whose ring it is. */
struct fr_percpu_ring {
	const struct fr_geometry *geo;
	u32 epoch;
	u32 cpu;
	u32 tier;
};

/* Make a ring's map, zeroed, on a NUMA node. Returns its fd, or -errno with a message. */
int fr_percpu_make_ring(const struct fr_geometry *geo, int node);

/* Set up its slots; writers may use it from then on. 0 or -errno. */
int fr_percpu_init_ring(int fd, const struct fr_percpu_ring *r);

/* The event that samples this CPU: cycles if they count here, else a timer. */
enum fr_sample_event fr_percpu_choose_event(u32 cpu, u32 hz);

/* The event of a tracepoint, by its id. It is of all CPUs if a program is attached to it, whatever its own is. Or -errno. */
int fr_percpu_open_tp(u32 id, u32 cpu);

/* The number by which perf knows probes of programs. -ENOENT: this kernel has none. */
int fr_percpu_up_type(void);

/*
 * The perf event of a place in a program's file, for whoever runs it, now or later: off bytes from its start; is_return: of the
 * function's return. counter: where in the file the semaphore of a static mark is, 0: it has none. A descriptor, or -errno.
 */
int fr_percpu_open_up(const char *path, u64 off, u32 counter, bool is_return, u32 cpu);

/* Open a CPU's event at hz samples per second. Returns its fd, or -errno. The CPU must be online. */
int fr_percpu_open_event(enum fr_sample_event ev, u32 cpu, u32 hz);

/*
 * Run a program on such an event for as long as the pin at path exists; replaces a pin that is there. 0 or -errno. The caller
 * closes the fds.
 */
int fr_percpu_sample(int prog_fd, int event_fd, const char *path);

#endif
