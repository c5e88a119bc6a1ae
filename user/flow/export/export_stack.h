/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* export_stack: the frames of an event's stacks with their symbols, for formats that show them. */
#ifndef FR_EXPORT_STACK_H
#define FR_EXPORT_STACK_H

#include "flow/export/export.h"
#include "flow/symbols/symbols.h"

#define FR_EXPORT_FRAME_MAX 1024u /* of both stacks, inlined functions included; what is more is left out */

struct fr_export_frame {
	u64 ip;
	bool kernel;
	struct fr_symbol symbol; /* without symbols all 0 */
};

/* Has the event stacks? */
bool fr_export_has_stack(const struct fr_event *ev);

/*
 * The frames of a row, innermost first: the kernel's, then the user's; of a sample without stacks the instruction alone.
 * Returns how many, FR_EXPORT_FRAME_MAX at most; out has that room. 0: nothing is known.
 */
u32 fr_export_frames(struct fr_export *x, const struct fr_view *v, const struct fr_row *r, struct fr_export_frame *out);

#endif
