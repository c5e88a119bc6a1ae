/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* uevent: the kernel's notification that a CPU came online. */
#ifndef FR_UEVENT_H
#define FR_UEVENT_H

#include "types.h"

/* A socket that becomes readable when a device changes, or -errno. Needs no privilege; seccomp may forbid it later. */
int fr_uevent_open(void);

/*
 * Take one message. 1: CPU *cpu came online; 0: something else; -ENOBUFS: messages were lost, anything may have happened;
 * -EAGAIN: no more; -errno. Messages not from the kernel are skipped.
 */
int fr_uevent_take(int fd, u32 *cpu);

#endif
