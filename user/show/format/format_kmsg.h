/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * format_kmsg: a record of the kernel's log, as a line among those of the events. Pure.
 *
 *	14:02:11.123456789 [---] kernel log: err: Out of memory
 *	{"ts":8123456789,"kmsg":"Out of memory","level":"err","facility":"kern","seq":339,"uncertainty_ns":1042}
 *
 * "kmsg" is where an event has its name, "event", so that neither is taken for the other. Anybody may have chosen the text.
 */
#ifndef FR_FORMAT_KMSG_H
#define FR_FORMAT_KMSG_H

#include "base/show/table.h"
#include "read/snapfile/snapfile.h"
#include "show/format/format_text.h"

/* Write it as a line of replay: as text; as NDJSON. */
void fr_kmsg_line_text(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_snap_klog *l);
void fr_kmsg_line_json(struct fr_out *o, const struct fr_snap_klog *l);

/* Its level and text, behind its time: without a newline. */
void fr_kmsg_said(struct fr_out *o, const struct fr_snap_klog *l);

/* The object that JSON has for it: struct fr_snap_klog. */
extern const struct fr_table fr_kmsg_kind;

#endif
