/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/session/nest.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/*
 * Up to this version, every way into a recording program disables preemption: tracepoints including those of system calls, and
 * test runs; timers are interrupts. In later kernels tracepoints can be preempted. A program cannot query this, so check the
 * version. That misses what a distribution backports to an older kernel.
 */
#define NEWEST_MAJOR 6 /* 5: 5.15, the oldest; lower in a program built to see an old version */
#define NEWEST_MINOR 18

bool fr_nest_strictly_on(const char *machine, const char *release)
{
	int major, minor;

	/* the commit is a plain store, and only x86 orders it after the record's own stores */
	if (strcmp(machine, "x86_64") || sscanf(release, "%d.%d", &major, &minor) != 2)
		return false;
	return major == 5 || (major == NEWEST_MAJOR && minor <= NEWEST_MINOR);
}

bool fr_nest_strictly(void)
{
	struct utsname un;

#ifdef FR_NEST_NEVER
	return false; /* for tests: as on another machine */
#endif
	return !uname(&un) && fr_nest_strictly_on(un.machine, un.release);
}
