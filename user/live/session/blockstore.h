/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blockstore: where tasks were blocked in the last hour (base/profile/blocked.h), kept with the session as a profile's bytes.
 * One process writes, the recorder (live/recorder/blocking.h).
 */
#ifndef FR_BLOCKSTORE_H
#define FR_BLOCKSTORE_H

#include "live/session/halves.h"

extern const struct fr_halves_kind fr_blockstore;

#endif
