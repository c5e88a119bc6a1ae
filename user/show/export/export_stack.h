/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* export_stack: the frames of an event's stacks with their symbols, for formats that show stacks. */
#ifndef FR_EXPORT_STACK_H
#define FR_EXPORT_STACK_H

#include "read/symbols/symbols.h"
#include "show/export/export.h"

#define FR_EXPORT_FRAME_MAX 1024u /* of both stacks, including inlined functions; more frames are left out */

struct fr_export_frame {
	u64 ip;
	bool kernel;
	struct fr_symbol symbol; /* all 0 without symbols */
};

/* Has the event stacks? */
bool fr_export_has_stack(const struct fr_event *ev);

/*
 * The frames of a row, innermost first: the kernel's, then the user's; for a sample without stacks only the instruction. out
 * has room for FR_EXPORT_FRAME_MAX. Returns how many; 0: nothing is known.
 */
u32 fr_export_frames(struct fr_export *x, const struct fr_view *v, const struct fr_row *r, struct fr_export_frame *out);

#endif
