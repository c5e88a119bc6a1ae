/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cost: measures the overhead of recording on this host, and the length of its history, while it records. */
#ifndef FR_COST_H
#define FR_COST_H

#include "live/session/sess.h"

/* Where standard error is a terminal: measure for half a second with the kernel's own BPF statistics, and print the result. */
void fr_cost_show(struct fr_sess *s);

#endif
