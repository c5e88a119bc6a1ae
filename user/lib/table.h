/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* table: rows of the tables in the public header. Internal to lib. */
#ifndef FR_LIB_TABLE_H
#define FR_LIB_TABLE_H

#include "lib/handle.h"

/*
 * A row, NULL: there is none. For summary, facts, tiers, names, profile, incidents and counters it is the handle's union
 * fr_lib_row, valid until the next call; for the others what is in the snapshot: fr_sum_cpu, fr_snap_hole, fr_snap_clock,
 * fr_snap_task, fr_chunk.
 */
const void *fr_lib_table_row(struct flightrec *fr, unsigned file, enum flightrec_table table, size_t row);

#endif
