/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* incsnap: the incidents that a snapshot holds. */
#ifndef FR_INCSNAP_H
#define FR_INCSNAP_H

#include "base/incident.h"
#include "read/snapfile/snapfile.h"

/* How many incidents of each kind a snapshot tells of, all of a sum included, and the number of records. */
size_t fr_incsnap_count(const struct fr_snap *s, u64 of_kind[FR_INCIDENT_KIND_MAX]);

/* The incidents of all snapshots in a file. 0; -EBADMSG: none could be read; -errno; *damaged: not all could be read. */
int fr_incsnap_file(const char *path, struct fr_incident_item **out, size_t *cnt, bool *damaged);

#endif
