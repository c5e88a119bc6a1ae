/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_klog: what the kernel logged around the moment that the report is about: evidence, which the verdict does not read. */
#include <stdio.h>
#include <string.h>

#include "base/text/jsonw.h"
#include "base/text/units.h"
#include "read/replay/klogs.h"
#include "show/format/format_kmsg.h"
#include "show/report/report_text.h"

#define BEFORE_NS (10 * FR_SEC_NS)
#define AFTER_NS  (1 * FR_SEC_NS)
#define SHOWN	  8u /* of a page */

/* Those around the moment: [*from, returned). */
static size_t klog_around(struct fr_report *r, const struct fr_snap_klog *l, size_t cnt, size_t *from)
{
	u64 at_ns = r->res->focus.at_ns, off_ns;
	size_t i, to = 0;

	*from = cnt;
	for (i = 0; i < cnt; i++) {
		off_ns = l[i].uncertainty_ns == FR_KLOG_UNJOINED ? 0 : l[i].uncertainty_ns;
		if (l[i].ts + BEFORE_NS + off_ns < at_ns || l[i].ts > at_ns + AFTER_NS + off_ns)
			continue;
		*from = *from == cnt ? i : *from;
		to = i + 1;
	}
	return *from == cnt ? cnt : to;
}

static void klog_put_when(struct fr_report_page *p, const struct fr_snap_klog *l)
{
	u64 at_ns = p->r->res->focus.at_ns;
	bool later = l->ts > at_ns;
	char text[32];

	fr_show_duration(later ? l->ts - at_ns : at_ns - l->ts, text, sizeof(text));
	fr_out_printf(p->o, "  %c%-10s ", later ? '+' : '-', text);
}

void fr_report_put_klog_line(struct fr_report_page *p)
{
	size_t cnt, from, to;
	const struct fr_snap_klog *l = fr_snap_klog(p->r->snap, &cnt);

	fr_report_label(p, "kernel log");
	if (!fr_klogs_has(p->r->snap)) {
		fr_out_str(p->o, "not recorded\n");
		return;
	}
	to = klog_around(p->r, l, cnt, &from);
	if (from == to)
		fr_out_str(p->o, "nothing");
	else
		fr_out_printf(p->o, "%zu record%s", to - from, fr_plural(to - from));
	fr_out_printf(p->o, " from 10 s before %s to 1 s after it: `flightrec replay --kmsg` has all\n",
		      fr_report_moment_name(p));
}

void fr_report_put_klog(struct fr_report_page *p)
{
	size_t cnt, from, to, i;
	const struct fr_snap_klog *l = fr_snap_klog(p->r->snap, &cnt);
	char note[120];

	to = klog_around(p->r, l, cnt, &from);
	if (from == to)
		return;
	snprintf(note, sizeof(note), "time beside %s", fr_report_moment_name(p));
	fr_report_title(p, "Kernel log", note);
	for (i = p->r->ask->top && to - from > SHOWN ? to - SHOWN : from; i < to; i++) {
		klog_put_when(p, &l[i]);
		fr_kmsg_said(p->o, &l[i]);
		fr_out_char(p->o, '\n');
	}
}

void fr_report_json_klog(struct fr_jsonw *w, struct fr_report *r)
{
	size_t cnt, from, to, i;
	const struct fr_snap_klog *l = fr_snap_klog(r->snap, &cnt);

	if (!fr_klogs_has(r->snap)) {
		fr_jsonw_text(w, "kernel_log", NULL);
		return;
	}
	to = klog_around(r, l, cnt, &from);
	fr_jsonw_open(w, "kernel_log", '{');
	fr_jsonw_u64(w, "records", cnt);
	fr_jsonw_open(w, "around", '[');
	for (i = from; i < to; i++) {
		fr_jsonw_open(w, NULL, '{');
		fr_kmsg_members(w, &l[i]);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
	fr_jsonw_close(w, '}');
}
