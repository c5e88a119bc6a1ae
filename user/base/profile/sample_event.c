/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/profile/sample_event.h"

#include <string.h>
#include <unistd.h>

#include "base/text/units.h"

const char *fr_sample_event_name(enum fr_sample_event ev)
{
	return ev == FR_SAMPLE_CYCLES ? "cycles" : "cpu-clock";
}

enum fr_sample_event fr_sample_event_find(const char *name)
{
	return name && !strcmp(name, "cycles") ? FR_SAMPLE_CYCLES : FR_SAMPLE_CLOCK;
}

/* The kernel itself finds the number of cycles for this rate; a sleeping CPU has none. */
static int open_cycles(const struct fr_sample_ops *ops, u32 cpu, u32 hz)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.freq = 1,
		.sample_freq = hz,
	};

	return ops->open(&attr, cpu);
}

static int open_clock(const struct fr_sample_ops *ops, u32 cpu, u32 hz)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = FR_SEC_NS / hz,
	};

	return ops->open(&attr, cpu);
}

int fr_sample_event_open(const struct fr_sample_ops *ops, enum fr_sample_event ev, u32 cpu, u32 hz)
{
	int fd = ev == FR_SAMPLE_CYCLES ? open_cycles(ops, cpu, hz ?: 1) : -1;

	return fd >= 0 ? fd : open_clock(ops, cpu, hz ?: 1);
}

enum fr_sample_event fr_sample_event_choose(const struct fr_sample_ops *ops, u32 cpu, u32 hz)
{
	int fd = open_cycles(ops, cpu, hz ?: 1);

	if (fd < 0)
		return FR_SAMPLE_CLOCK;
	close(fd);
	return ops->counts() ? FR_SAMPLE_CYCLES : FR_SAMPLE_CLOCK;
}
