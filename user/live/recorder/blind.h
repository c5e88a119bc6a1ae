/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* blind: what rules that need user space do not see just now; the recorder knows it, and `status` tells it. */
#ifndef FR_BLIND_H
#define FR_BLIND_H

#include "types.h"

struct fr_blind {
	int hung_err; /* why tasks were not looked at the last time: -errno, 0: they were */
	u32 psi_cnt;  /* rules of psi whose watch the kernel has ended */
};

#endif
