/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cost: what recording costs on this host and how long its history is, measured while it records. */
#ifndef FR_COST_H
#define FR_COST_H

#include "io/session/sess.h"

/* Measure for a moment (FR_COST_MS) by the kernel's own BPF statistics, and print it. */
void fr_cost_show(struct fr_sess *s);

#endif
