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

void fr_kmsg_members(struct fr_jsonw *w, const struct fr_snap_klog *l)
{
	fr_jsonw_u64(w, "ts", l->ts);
	fr_jsonw_text(w, "kmsg", l->text);
	fr_jsonw_text(w, "level", fr_kmsg_level(l->level));
	fr_jsonw_text(w, "facility", fr_kmsg_facility(l->facility));
	fr_jsonw_u64(w, "seq", l->seq);
	if (l->uncertainty_ns == FR_KLOG_UNJOINED)
		fr_jsonw_text(w, "uncertainty_ns", NULL);
	else
		fr_jsonw_u64(w, "uncertainty_ns", l->uncertainty_ns);
}

void fr_kmsg_line_json(struct fr_out *o, const struct fr_snap_klog *l)
{
	struct fr_jsonw w = {.o = o};

	fr_jsonw_open(&w, NULL, '{');
	fr_kmsg_members(&w, l);
	fr_jsonw_close(&w, '}');
	fr_out_char(o, '\n');
}
