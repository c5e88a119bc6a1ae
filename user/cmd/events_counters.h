/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* events_counters: the host's counters that snapshots have, as a list: base/counter/counter.h. */
#ifndef FR_CMD_EVENTS_COUNTERS_H
#define FR_CMD_EVENTS_COUNTERS_H

#include "base/text/out.h"

void fr_events_counters_text(struct fr_out *o);
void fr_events_counters_json(struct fr_out *o);
void fr_events_counters_md(struct fr_out *o); /* docs/counters.md */

#endif
