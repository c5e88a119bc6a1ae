/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nest: do programs nest strictly here, so that whoever interrupts one on its CPU ends before it goes on? Then the rings do
 * without locked instructions (bpf/ring.h).
 */
#ifndef FR_NEST_H
#define FR_NEST_H

#include <stdbool.h>

bool fr_nest_strictly(void);

/* The same of a machine and a release, as uname() tells them. */
bool fr_nest_strictly_on(const char *machine, const char *release);

#endif
