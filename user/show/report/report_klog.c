/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_klog: what the kernel logged around the moment that the report is about: evidence. */
#include <stdio.h>
#include <string.h>

#include "base/text/units.h"
#include "read/replay/klogs.h"
#include "show/format/format_kmsg.h"
#include "show/report/report_kinds.h"
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

/* Where those around the moment are, and the next one. */
struct klog_shown {
	const struct fr_snap_klog *l;
	size_t to;
};

static const void *klog_around_one(const struct fr_at *at, u32 i)
{
	struct fr_report *r = (struct fr_report *)at->of;
	struct klog_shown *s = (struct klog_shown *)at->room;
	size_t cnt, from;

	if (!i) {
		s->l = fr_snap_klog(r->snap, &cnt);
		s->to = klog_around(r, s->l, cnt, &from);
		s->l += from;
		s->to -= from;
	}
	return i < s->to ? &s->l[i] : NULL;
}

static struct fr_value klog_records(const struct fr_at *at)
{
	size_t cnt;

	fr_snap_klog(((const struct fr_report *)at->of)->snap, &cnt);
	return fr_value_nr(cnt);
}

static const struct fr_column klog_columns[] = {
	FR_COLUMN_MADE(klog_records, "records", COUNT, "those that the file has"),
	FR_LIST(klog_around_one, "around", &fr_kmsg_kind, "from 10 s before the moment to 1 s after it"),
	{},
};
const struct fr_table fr_report_kind_klog = {"kernel_log",
					     "What the kernel logged ([format.md](format.md#the-kernels-log)). It is evidence: "
					     "the verdict does not read it. Text shows the last 8 of them, `--top 0` all.",
					     klog_columns};
