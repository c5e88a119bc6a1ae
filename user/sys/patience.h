/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * patience: for how long others are waited for that do not answer. FLIGHTREC_PATIENCE=PERCENT in the environment makes these
 * times shorter: tests that let somebody stand still do not stand still as long. It never makes one longer, and has no
 * effect where the program has rights that its caller has not (secure_getenv(3)).
 */
#ifndef FR_PATIENCE_H
#define FR_PATIENCE_H

#include "types.h"

u64 fr_patience_ns(u64 ns);
u32 fr_patience_ms(u32 ms);

#endif
