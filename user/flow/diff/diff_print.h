/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* diff_print: what fr_diff_new() found, as tables and as JSON. */
#ifndef FR_DIFF_PRINT_H
#define FR_DIFF_PRINT_H

#include "flow/diff/diff.h"
#include "pure/text/out.h"

/* Tables, at most top lines each, for a page of width columns (60 at least). */
void fr_diff_text(struct fr_out *o, const struct fr_diff *d, u32 top, u32 width);

/* One object: all of it, numbers as they are. */
void fr_diff_json(struct fr_out *o, const struct fr_diff *d);

#endif
