/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/format/format_kmsg.h"

#include <string.h>

#include "base/text/escape.h"
#include "base/text/kmsg.h"
#include "base/text/units.h"

#define SAID_NS FR_MSEC_NS /* a time that may be off by more says so */

void fr_kmsg_said(struct fr_out *o, const struct fr_snap_klog *l)
{
	const char *level = fr_kmsg_level(l->level);

	if (l->facility) {
		fr_out_str(o, fr_kmsg_facility(l->facility));
		fr_out_char(o, '.');
	}
	fr_out_str(o, level ? level : "?");
	fr_out_str(o, ": ");
	fr_escape_text(o, l->text, strlen(l->text));
}

static void kmsg_put_uncertainty(struct fr_out *o, const struct fr_snap_klog *l)
{
	char text[32];

	if (l->uncertainty_ns == FR_KLOG_UNJOINED)
		fr_out_str(o, " (by the log's own clock)");
	else if (l->uncertainty_ns >= SAID_NS)
		fr_out_printf(o, " (+-%s)", fr_show_duration(l->uncertainty_ns, text, sizeof(text)));
}

void fr_kmsg_line_text(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_snap_klog *l)
{
	fr_out_paint(o, FR_PAINT_DIM);
	fr_text_time(t, o, v, l->ts);
	fr_out_str(o, " [---] ");
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_str(o, "kernel log: ");
	fr_kmsg_said(o, l);
	fr_out_paint(o, FR_PAINT_DIM);
	kmsg_put_uncertainty(o, l);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_char(o, '\n');
}

static struct fr_value kmsg_level(const struct fr_at *at)
{
	return fr_value_text(fr_kmsg_level(((const struct fr_snap_klog *)at->rec)->level));
}

static struct fr_value kmsg_facility(const struct fr_at *at)
{
	return fr_value_text(fr_kmsg_facility(((const struct fr_snap_klog *)at->rec)->facility));
}

static struct fr_value kmsg_uncertainty(const struct fr_at *at)
{
	u64 ns = ((const struct fr_snap_klog *)at->rec)->uncertainty_ns;

	return ns == FR_KLOG_UNJOINED ? fr_value_null() : fr_value_nr(ns);
}

/* clang-format off */
#define KLOG(member, name, unit, meaning) FR_COLUMN(struct fr_snap_klog, member, name, unit, meaning)
/* clang-format on */

static const struct fr_column kmsg_columns[] = {
	KLOG(ts, "ts", CLOCK, "when it was logged"),
	KLOG(text, "kmsg", TEXT, "what was logged"),
	FR_COLUMN_MADE(kmsg_level, "level", TEXT, "`emerg` to `debug`"),
	FR_COLUMN_MADE(kmsg_facility, "facility", TEXT, "`kern`: the kernel itself"),
	KLOG(seq, "seq", NUMBER, "the kernel's number of it"),
	FR_COLUMN_MADE(kmsg_uncertainty, "uncertainty_ns", NS,
		       "by which `ts` may be off; `null`: the clocks were not compared"),
	{},
};

const struct fr_table fr_kmsg_kind = {"kmsg", "A record of the kernel's log.", kmsg_columns};

void fr_kmsg_line_json(struct fr_out *o, const struct fr_snap_klog *l)
{
	fr_json_line(o, &fr_kmsg_kind, l, l);
}
