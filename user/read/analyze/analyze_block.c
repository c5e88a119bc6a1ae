/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* analyze_block: requests to block devices, by device and direction: in the device (rq), and as processes wait (io). */
#include <errno.h>

#include "base/text/dev.h"
#include "read/analyze/analyze_int.h"
#include "sys/memory.h"

/* Its rwbs: 8 bytes of text, as they lie in memory. */
static char direction(u64 rwbs)
{
	return fr_rwbs_direction((const char *)&rwbs, sizeof(rwbs));
}

/* An empty write that begins with a flush is nothing else: "FWS" where it begins is "FF" where it ends. */
static char begun(u64 rwbs, u64 bytes)
{
	return !bytes && (char)rwbs == 'F' ? 'F' : direction(rwbs);
}

static struct fr_an_block *analyze_block_find(struct fr_analyze *a, bool io, u64 dev, char rw)
{
	struct fr_an_block *b = fr_an_get(a, FR_AN_LEFT_blocks, &a->res.blocks, (u64)io << 40 | (u64)(u32)dev << 8 | (u8)rw,
					  &a->rest.block, FR_MEMORY_ROWS);

	if (!b)
		return NULL;
	b->io = io;
	b->dev = dev;
	b->rw = rw;
	return b;
}

/* fields: dev, bytes, rwbs */
static int analyze_block_begins(struct fr_analyze *a, const struct fr_an_row *r, bool io)
{
	struct fr_an_block *b = r->counted ? analyze_block_find(a, io, r->v[0], begun(r->v[2], r->v[1])) : NULL;

	if (!b)
		return r->counted ? -ENOMEM : 0;
	b->begin_cnt++;
	b->rated_cnt += r->rated;
	b->bytes += r->v[1];
	if (io) {
		r->task->sum.io_cnt++;
		r->task->sum.io_bytes += r->v[1];
	}
	return 0;
}

static int analyze_block_ends(struct fr_analyze *a, const struct fr_an_row *r, bool io, u64 rwbs, bool error)
{
	struct fr_an_block *b = r->counted ? analyze_block_find(a, io, r->v[0], direction(rwbs)) : NULL;

	if (!b)
		return r->counted ? -ENOMEM : 0;
	b->end_cnt++;
	b->error_cnt += error;
	return r->pair.latency_ns ? fr_hist_add(&b->latency, r->pair.latency_ns) : 0;
}

/* A driver that has no room for a request gets it again later. */
static int issues(struct fr_analyze *a, const struct fr_an_row *r)
{
	return r->pair.again ? 0 : analyze_block_begins(a, r, false);
}

/* fields: dev, error, rwbs */
static int completes(struct fr_analyze *a, const struct fr_an_row *r)
{
	return analyze_block_ends(a, r, false, r->v[2], (s32)r->v[1]);
}

static int starts(struct fr_analyze *a, const struct fr_an_row *r)
{
	return analyze_block_begins(a, r, true);
}

/* fields: dev, rwbs */
static int analyze_block_is_done(struct fr_analyze *a, const struct fr_an_row *r)
{
	return analyze_block_ends(a, r, true, r->v[1], false);
}

const struct fr_an_rule fr_an_block_rules[] = {
	{{"block_rq_issue", {FR_SUB_NUM("dev"), FR_SUB_NUM("bytes"), FR_SUB_TEXT8("rwbs")}}, issues},
	{{"block_rq_complete", {FR_SUB_NUM("dev"), FR_SUB_NUM("error"), FR_SUB_TEXT8("rwbs")}}, completes},
	{{"block_io_start", {FR_SUB_NUM("dev"), FR_SUB_NUM("bytes"), FR_SUB_TEXT8("rwbs")}}, starts},
	{{"block_io_done", {FR_SUB_NUM("dev"), FR_SUB_TEXT8("rwbs")}}, analyze_block_is_done},
	{},
};
