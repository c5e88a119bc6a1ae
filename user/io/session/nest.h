/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nest: do programs nest strictly on this machine, so that a program that interrupts another on the same CPU always ends first?
 * If so, the rings need no locked instructions (bpf/ring.h).
 */
#ifndef FR_NEST_H
#define FR_NEST_H

#include <stdbool.h>

/* On this machine, under the running kernel. */
bool fr_nest_strictly(void);

/* The same for a given machine and release, as uname() reports them. */
bool fr_nest_strictly_on(const char *machine, const char *release);

#endif
