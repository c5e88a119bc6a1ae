/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * format_gap: where events of a CPU are missing, as a line among those of the events. Pure.
 *
 *	14:02:11.123456789 [001] --- events are missing until 14:02:11.125000000 (1.88 ms): overwritten while it was read
 *	{"ts":8123456789,"cpu":1,"gap":"overwritten","until_ns":8125333000}
 *
 * "gap" is where an event has its name, "event", so that neither is taken for the other.
 */
#ifndef FR_FORMAT_GAP_H
#define FR_FORMAT_GAP_H

#include "show/format/format_text.h"

struct fr_gap_line {
	u16 cpu;
	u64 since_ns, until_ns; /* 0: no limit is known */
	u64 at_ns;		/* what the line of text has as its time */
	const char *why;	/* in a word for JSON, in words for text */
};

/* Write a gap in a CPU's history as a line of replay: as text; as NDJSON. */
void fr_gap_line_text(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_gap_line *g);
void fr_gap_line_json(struct fr_out *o, const struct fr_gap_line *g);

#endif
