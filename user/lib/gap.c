/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* gap: where events are missing, one place after another, beside the events. */
#include <errno.h>

#include "lib/handle.h"

static int gap_find(struct flightrec *fr)
{
	return fr->missing || !fr_missing_new(fr->replay, &fr->missing) ? 0 : fr_lib_no_memory(fr);
}

/* A fr_replay_lost_fn. */
static int gap_take_lost(void *arg, const struct fr_replay_lost *lost)
{
	return fr_missing_add(((struct flightrec *)arg)->missing, lost);
}

int fr_lib_follow_gaps(struct flightrec *fr)
{
	int err = gap_find(fr);

	if (!err)
		fr_replay_tell_lost(fr->replay, gap_take_lost, fr);
	return err;
}

/* Gaps that begin before this have come. */
static u64 key_now(const struct flightrec *fr)
{
	if (fr->ended)
		return ~0ULL;
	return fr->event.row.b ? flightrec_event_order_ns(&fr->event) : 0;
}

static u32 gap_file_of(const struct flightrec *fr, u32 boot)
{
	u32 file = 0;

	while (fr_replay_boot(fr->replay, file) != boot)
		file++;
	return file;
}

int flightrec_next_gap(struct flightrec *fr, const struct flightrec_gap **gap)
{
	int err = fr_lib_check_open(fr);
	const struct fr_gap *next;
	u32 boot;

	if (err)
		return err;
	if (!(fr->flags & FLIGHTREC_GAPS))
		return fr_lib_fail(fr, -EINVAL, "gaps were not asked for: set FLIGHTREC_GAPS before opening");
	next = fr_missing_next(fr->missing, key_now(fr), &boot);
	if (!next)
		return 0;
	fr->gap = (struct flightrec_gap){.fr = fr, .gap = *next, .file = gap_file_of(fr, boot)};
	*gap = &fr->gap;
	return 1;
}

int flightrec_gap_cnt(struct flightrec *fr, uint64_t *cnt)
{
	int err = fr_lib_check_open(fr);

	err = err ? err : gap_find(fr);
	if (!err)
		*cnt = fr_missing_cnt(fr->missing);
	return err;
}

unsigned flightrec_gap_file(const struct flightrec_gap *gap)
{
	return gap->file;
}

unsigned flightrec_gap_cpu(const struct flightrec_gap *gap)
{
	return gap->gap.cpu;
}

uint64_t flightrec_gap_since_ns(const struct flightrec_gap *gap)
{
	return gap->gap.since_ns;
}

uint64_t flightrec_gap_until_ns(const struct flightrec_gap *gap)
{
	return gap->gap.until_ns == FR_GAP_OPEN ? 0 : gap->gap.until_ns;
}

const char *flightrec_gap_why(const struct flightrec_gap *gap)
{
	return fr_gap_word(gap->gap.why);
}
