/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* list: its two output forms. */
#ifndef FR_CMD_LIST_H
#define FR_CMD_LIST_H

#include "base/show/table.h"
#include "base/text/out.h"
#include "live/snapshot/store.h"

extern const struct fr_table fr_stored_dir; /* what is told of a directory */

/* The cnt snapshots of dir, in this order: a line each; as one JSON object (docs/json.md). */
void fr_list_text(struct fr_out *o, const char *dir, const struct fr_stored *s, size_t cnt);
void fr_list_json(struct fr_out *o, const char *dir, const struct fr_stored *s, size_t cnt);

#endif
