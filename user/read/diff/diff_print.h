/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* diff_print: prints the result of fr_diff_new() as tables and as JSON. */
#ifndef FR_DIFF_PRINT_H
#define FR_DIFF_PRINT_H

#include "base/show/table.h"
#include "base/text/out.h"
#include "read/diff/diff.h"

/* Tables of at most top lines each, for a page width columns wide (at least 60). */
void fr_diff_text(struct fr_out *o, const struct fr_diff *d, u32 top, u32 width);

/* One object with everything, numbers unrounded, as the table says: struct fr_diff. */
extern const struct fr_table fr_diff_table;
void fr_diff_json(struct fr_out *o, const struct fr_diff *d);

#endif
