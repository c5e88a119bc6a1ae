/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * patience: for how long others are waited for that do not answer, and what looking at them may take of a CPU.
 * FLIGHTREC_PATIENCE=PERCENT in the environment makes these times others, for tests: one that lets somebody stand still does
 * not stand still as long, and what another one looks for is not missing because its machine was busy. Ten times as long is the
 * most; any other number changes nothing, nor does it where the program has rights that its caller has not (secure_getenv(3)).
 */
#ifndef FR_PATIENCE_H
#define FR_PATIENCE_H

#include "types.h"

u64 fr_patience_ns(u64 ns);
u32 fr_patience_ms(u32 ms);

#endif
