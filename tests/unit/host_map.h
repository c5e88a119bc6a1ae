/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* host_map: a ring of host_ring.h as a reader has it mapped. */
#ifndef FR_HOST_MAP_H
#define FR_HOST_MAP_H

#include "host_ring.h"
#include "live/ring/ring_read.h"

static struct fr_ring_map host_ring_map(const struct host_ring *h)
{
	return (struct fr_ring_map){
		.wr = h->r.wr,
		.sl = h->r.sl,
		.data = fr_ring_page(&h->r, FR_DATA_PAGE),
		.slot_cnt = h->r.slot_cnt,
		.subbuf_pages = h->r.subbuf_pages,
		.epoch = h->r.epoch,
		.cpu = h->r.cpu,
		.tier = h->r.tier,
	};
}

#endif
