/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/counterstore.h"

#include "base/counter/counters.h"
#include "base/text/pages.h"

_Static_assert(FR_COUNTERS_STORE_SZ <= FR_PAGES_COUNTERS_MAX_SZ, "what is stored is believed");

const struct fr_halves_kind fr_counterstore = {
	.pin = "counters", .map = "fr_counters", .max_sz = FR_COUNTERS_STORE_SZ, .magic = FR_COUNTERS_MAGIC};
