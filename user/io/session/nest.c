/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/session/nest.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/*
 * Up to here each way into a program that records disables preemption: tracepoints, those of system calls too, test runs, and
 * timers are interrupts. Later ones preempt tracepoints. Nothing that a program can ask tells so: the version is looked at. It
 * does not see what a distribution brings back to an older kernel.
 */
#define NEWEST_MAJOR 6 /* 5: 5.15, the oldest; less: a program made to see an old version */
#define NEWEST_MINOR 18

bool fr_nest_strictly_on(const char *machine, const char *release)
{
	int major, minor;

	/* the commit is a plain store, which only x86 shows after the record's own */
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
