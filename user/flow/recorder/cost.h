/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cost: measures the overhead of recording on this host, and the length of its history, while it records. */
#ifndef FR_COST_H
#define FR_COST_H

#include "io/session/sess.h"

/* Measure for half a second with the kernel's own BPF statistics, which then tell `status` what an event costs; print it. */
void fr_cost_show(struct fr_sess *s);

/* Measure for `status` alone, in a process that nobody waits for. */
void fr_cost_leave(void);

#endif
