/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The marks as functions, whose places are in the library's own file. */
#define FLIGHTREC_MARK_FUNCTION __attribute__((visibility("default"), noinline, used))
#include "lib/flightrec_mark.h"
