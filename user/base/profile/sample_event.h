/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample_event: what makes a CPU take samples. Cycles, if the CPU counts them: they interrupt code even while interrupts are
 * off (on x86), and leave a sleeping CPU asleep. Otherwise a kernel timer, cpu-clock, which every kernel has. Pure: the
 * functions that ask the kernel are arguments.
 */
#ifndef FR_SAMPLE_EVENT_H
#define FR_SAMPLE_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "types.h"

enum fr_sample_event { FR_SAMPLE_CLOCK, FR_SAMPLE_CYCLES };

/* "cpu-clock" or "cycles". */
const char *fr_sample_event_name(enum fr_sample_event ev);

/* The event of this name; FR_SAMPLE_CLOCK if there is none, or NULL: sessions that began before there was a choice. */
enum fr_sample_event fr_sample_event_find(const char *name);

/* How to ask the kernel. */
struct fr_sample_ops {
	int (*open)(const struct perf_event_attr *attr, u32 cpu); /* fd, or -errno */
	bool (*counts)(void);					  /* do cycles of this process count here? */
};

/* Cycles if they count, on the first CPU as well: virtual machines have counters that stand still. */
enum fr_sample_event fr_sample_event_choose(const struct fr_sample_ops *ops, u32 cpu, u32 hz);

/*
 * Open it for a CPU, hz times a second. Returns an fd, or -errno of the last attempt. A CPU without such a counter, of another
 * kind than the first, gets the timer.
 */
int fr_sample_event_open(const struct fr_sample_ops *ops, enum fr_sample_event ev, u32 cpu, u32 hz);

#endif
