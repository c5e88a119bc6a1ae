/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counterstore: the host's counters of the last ten minutes, kept with the session as bytes (base/counter/counters.h). One
 * process writes, the recorder's helper.
 */
#ifndef FR_COUNTERSTORE_H
#define FR_COUNTERSTORE_H

#include "live/session/halves.h"

extern const struct fr_halves_kind fr_counterstore;

#endif
