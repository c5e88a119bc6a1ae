/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kmsg: the kernel's log, one record after another, beside the events. */
#include <errno.h>

#include "base/text/kmsg.h"
#include "lib/handle.h"

static int kmsg_find(struct flightrec *fr)
{
	if (fr->klogs.item || !fr_klogs_find(fr->replay, &fr->klogs))
		return 0;
	return fr_lib_no_memory(fr);
}

/* Records before this have come. */
static u64 kmsg_key_now(const struct flightrec *fr)
{
	if (fr->ended)
		return ~0ULL;
	return fr->event.row.b ? flightrec_event_order_ns(&fr->event) : 0;
}

int flightrec_next_kmsg(struct flightrec *fr, const struct flightrec_kmsg **kmsg)
{
	int err = fr_lib_check_open(fr);

	err = err ? err : kmsg_find(fr);
	if (err)
		return err;
	if (fr->klog_at == fr->klogs.cnt || (!fr->ended && fr->klogs.item[fr->klog_at].key >= kmsg_key_now(fr)))
		return 0;
	fr->kmsg = (struct flightrec_kmsg){.fr = fr, .item = &fr->klogs.item[fr->klog_at++]};
	*kmsg = &fr->kmsg;
	return 1;
}

int flightrec_has_kmsg(struct flightrec *fr)
{
	int err = fr_lib_check_open(fr);

	err = err ? err : kmsg_find(fr);
	return err ? err : fr->klogs.recorded;
}

unsigned flightrec_kmsg_file(const struct flightrec_kmsg *kmsg)
{
	return kmsg->item->file;
}

uint64_t flightrec_kmsg_ts(const struct flightrec_kmsg *kmsg)
{
	return kmsg->item->line->ts;
}

uint64_t flightrec_kmsg_uncertainty_ns(const struct flightrec_kmsg *kmsg)
{
	return kmsg->item->line->uncertainty_ns;
}

uint64_t flightrec_kmsg_seq(const struct flightrec_kmsg *kmsg)
{
	return kmsg->item->line->seq;
}

const char *flightrec_kmsg_level(const struct flightrec_kmsg *kmsg)
{
	return fr_kmsg_level(kmsg->item->line->level);
}

const char *flightrec_kmsg_text(const struct flightrec_kmsg *kmsg)
{
	return kmsg->item->line->text;
}
