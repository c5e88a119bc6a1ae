/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/cost.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "atomic.h"
#include "base/text/units.h"

#define COST_MS 500u

struct sums {
	u64 run_cnt, run_ns;
	u64 bytes; /* from the main tiers' positions */
};

static u64 ring_pos(const struct fr_ring_map *m)
{
	u64 w = fr_writer_w(m->wr);

	return fr_w_seq(w) * m->subbuf_pages * FR_PAGE_SZ + fr_w_off(w) * FR_UNIT_SZ;
}

static void cost_sum(struct fr_sess *s, struct fr_sess_prog *prog, size_t prog_cnt, struct sums *out)
{
	const struct fr_ring_map *ring;
	size_t cnt, i;

	*out = (struct sums){};
	fr_sess_progs_update(prog, prog_cnt);
	for (i = 0; i < prog_cnt; i++) {
		out->run_cnt += prog[i].run_cnt;
		out->run_ns += prog[i].run_ns;
	}
	ring = fr_sess_rings(s, &cnt);
	for (i = 0; i < cnt; i++)
		if (ring[i].tier == FR_TIER_MAIN)
			out->bytes += ring_pos(&ring[i]);
}

static u64 main_capacity(struct fr_sess *s)
{
	const struct fr_ring_map *ring;
	size_t cnt, i;
	u64 sz = 0;

	ring = fr_sess_rings(s, &cnt);
	for (i = 0; i < cnt; i++)
		if (ring[i].tier == FR_TIER_MAIN)
			sz += (u64)ring[i].slot_cnt * ring[i].subbuf_pages * FR_PAGE_SZ;
	return sz;
}

void fr_cost_show(struct fr_sess *s)
{
	const struct timespec nap = {.tv_nsec = COST_MS * FR_MSEC_NS};
	struct fr_sess_prog *prog;
	struct sums a, b;
	char buf[32];
	size_t cnt;
	double runs;
	int stats;

	if (!isatty(STDERR_FILENO)) /* a script need not wait for what no person reads */
		return;
	stats = fr_sess_stats_on();
	if (stats < 0 || fr_sess_progs(s, &prog, &cnt)) {
		if (stats >= 0)
			close(stats);
		return;
	}
	cost_sum(s, prog, cnt, &a);
	nanosleep(&nap, NULL);
	cost_sum(s, prog, cnt, &b);
	close(stats);
	fr_sess_progs_free(prog, cnt);
	runs = b.run_cnt - a.run_cnt;
	if (!runs || b.bytes <= a.bytes)
		return;
	fprintf(stderr, "cost now: %.0f ns an event x %.0f events/s = %.2f %% of one CPU, measured for %u ms\n",
		(b.run_ns - a.run_ns) / runs, runs * 1000 / COST_MS, (b.run_ns - a.run_ns) / (COST_MS * 1e4), COST_MS);
	fprintf(stderr, "history: about %s at this rate\n",
		fr_show_duration(main_capacity(s) * 1e6 * COST_MS / (b.bytes - a.bytes), buf, sizeof(buf)));
}
