/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/blockstore.h"

#include "base/profile/prof.h"

#define BLOCKED_MAGIC                                                                                          \
	0x434f4c42u /* "BLOC": of no use to who recovers a crash dump, whose rings have the records themselves \
		     */

const struct fr_halves_kind fr_blockstore = {
	.pin = "blocked", .map = "fr_blocked", .max_sz = FR_PROF_SZ_MAX, .magic = BLOCKED_MAGIC};
